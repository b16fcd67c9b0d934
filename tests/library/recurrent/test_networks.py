"""Functions over steps: values against plain Python, sequence lengths, work saved, errors."""

import numpy as np
import pytest

import penstock as tf

cells = tf.nn.rnn_cell
RNG = np.random.RandomState(6)
X = RNG.uniform(-1, 1, (4, 6, 3)).astype(np.float32)
LENGTHS = np.array([4, 0, 6, 1], np.int32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def run(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)


def plain_gru(x, lengths, wg, bg, wc, bc, reverse=False):
    """Outputs and states of each example alone."""
    units = bc.size
    outputs, states = np.zeros((*x.shape[:2], units)), np.zeros((len(x), units))
    for example, length in enumerate(lengths):
        h = np.zeros(units)
        order = reversed(range(length)) if reverse else range(length)
        for step in order:
            gates = 1 / (1 + np.exp(-(np.concatenate([x[example, step], h]) @ wg + bg)))
            r, u = gates[:units], gates[units:]
            c = np.tanh(np.concatenate([x[example, step], r * h]) @ wc + bc)
            h = u * h + (1 - u) * c
            outputs[example, step] = h
        states[example] = h
    return outputs, states


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def unrolled(cell, lengths):
    steps = tf.unstack(tf.constant(X), axis=1)
    outputs, state = tf.nn.static_rnn(cell, steps, sequence_length=lengths, dtype=tf.float32)
    return tf.stack(outputs, 1), state


def looped(cell, lengths):
    return tf.nn.dynamic_rnn(cell, X, sequence_length=lengths, dtype=tf.float32)


def time_major(cell, lengths):
    outputs, state = tf.nn.dynamic_rnn(
        cell, X.transpose(1, 0, 2), lengths, dtype=tf.float32, time_major=True
    )
    return tf.transpose(outputs, [1, 0, 2]), state


@pytest.mark.parametrize("build", [unrolled, looped, time_major])
@pytest.mark.parametrize("lengths", [LENGTHS, np.array([2, 3, 3, 2]), None])
def test_each_example_ends_with_its_sequence(build, lengths):
    cell = cells.GRUCell(5)
    outputs, state = build(cell, None if lengths is None else tf.constant(lengths))
    found, last, *weights = run([outputs, state, *cell.variables])
    wanted = plain_gru(X, [6] * 4 if lengths is None else lengths, *weights)
    close(found, wanted[0])
    close(last, wanted[1])
    if lengths is not None:
        for row, length in zip(found, lengths, strict=True):
            assert (row[length:] == 0).all()


def test_both_directions_read_the_sequence_only():
    fw, bw = cells.GRUCell(5), cells.GRUCell(5)
    (out_fw, out_bw), states = tf.nn.bidirectional_dynamic_rnn(fw, bw, X, LENGTHS, dtype=tf.float32)
    a, b, (s, t), forward, backward = run([out_fw, out_bw, states, fw.variables, bw.variables])
    for found, state, weights, reverse in ((a, s, forward, False), (b, t, backward, True)):
        outputs, last = plain_gru(X, LENGTHS, *weights, reverse=reverse)
        close(found, outputs)
        close(state, last)


def test_loops_and_copies_of_the_cell_have_the_same_gradients():
    x, gradients = tf.constant(X), []
    for build in (unrolled, looped):
        with tf.variable_scope("shared", reuse=tf.AUTO_REUSE):
            outputs, state = build(cells.BasicLSTMCell(5), tf.constant(LENGTHS))
        loss = tf.reduce_sum(tf.square(outputs)) + tf.reduce_sum(state.c)
        gradients.append(tf.gradients(loss, tf.trainable_variables()))
    assert len(tf.trainable_variables()) == 2
    assert x.shape == (4, 6, 3)
    for one, other in zip(*run(gradients), strict=True):
        close(one, other)


class Counting(cells.RNNCell):
    """Counts how often it is called while a step runs."""

    output_size = state_size = 3

    def __init__(self):
        super().__init__()
        self.calls = 0

    def call(self, inputs, state):
        def count(value):
            self.calls += 1
            return value

        counted = tf.py_func(count, [inputs], tf.float32)
        counted.set_shape(inputs.shape)
        return counted + state, counted + state


@pytest.mark.parametrize("build", [unrolled, looped])
@pytest.mark.parametrize(("lengths", "calls"), [([2, 3, 1, 0], 3), ([6, 1, 1, 1], 6)])
def test_nothing_is_computed_past_the_longest_sequence(build, lengths, calls):
    cell, given = Counting(), tf.placeholder(tf.int32, [4])
    outputs, _ = build(cell, given)
    run(outputs, {given: lengths})
    assert cell.calls == calls


def test_time_and_batch_may_be_open():
    x = tf.placeholder(tf.float32, [None, None, 3])
    lengths = tf.placeholder(tf.int32, [None])
    cell = cells.GRUCell(5)
    outputs, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    assert outputs.shape.as_list() == [None, None, 5]
    assert state.shape.as_list() == [None, 5]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        weights = sess.run(cell.variables)
        for batch, steps in ((4, 6), (2, 3), (1, 1)):
            fed, given = X[:batch, :steps], np.minimum(LENGTHS[:batch], steps)
            found, last = sess.run([outputs, state], {x: fed, lengths: given})
            wanted = plain_gru(fed, given, *weights)
            close(found, wanted[0])
            close(last, wanted[1])


def test_nested_inputs_and_outputs():
    class Pair(cells.RNNCell):
        output_size = (3, 2)
        state_size = 3

        def call(self, inputs, state):
            a, b = inputs["a"], inputs["b"]
            return (a + state, b * 2.0), a + state

    inputs = {"a": tf.constant(X), "b": tf.constant(X[:, :, :2])}
    (one, two), state = tf.nn.dynamic_rnn(Pair(), inputs, LENGTHS, dtype=tf.float32)
    a, b, s = run([one, two, state])
    mask = (np.arange(6) < LENGTHS[:, None])[..., None]
    close(a, np.cumsum(X, 1) * mask)
    close(b, 2 * X[:, :, :2] * mask)
    close(s, (X * mask).sum(1))


def test_raw_rnn_decides_inputs_and_end():
    cell = cells.GRUCell(5)
    array = tf.TensorArray(tf.float32, 6, clear_after_read=False).unstack(X.transpose(1, 0, 2))

    def loop_fn(time, output, state, loop_state):
        if output is None:
            state = cell.zero_state(4, tf.float32)
        return time >= LENGTHS, array.read(tf.minimum(time, 5)), state, output, None

    arrays, state, none = tf.nn.raw_rnn(cell, loop_fn)
    assert none is None
    found, last, *weights = run([arrays.stack(), state, *cell.variables])
    wanted = plain_gru(X, LENGTHS, *weights)
    close(found.transpose(1, 0, 2), wanted[0])
    close(last, wanted[1])


@pytest.mark.long
def test_a_network_learns():
    """Whether the first input of a sequence was positive: the state must carry it."""
    tf.set_random_seed(3)
    x, labels = tf.placeholder(tf.float32, [32, 8, 1]), tf.placeholder(tf.float32, [32, 1])
    _, state = tf.nn.dynamic_rnn(cells.BasicLSTMCell(8), x, dtype=tf.float32)
    with tf.variable_scope("out", initializer=tf.random_normal_initializer(seed=1)):
        logits = tf.matmul(state.h, tf.get_variable("w", [8, 1]))
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    rng = np.random.RandomState(0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(200):
            fed = rng.uniform(-1, 1, (32, 8, 1))
            value, _ = sess.run([loss, train], {x: fed, labels: fed[:, 0] > 0})
    assert value < 0.3


def _dynamic(*args, **kwargs):
    return lambda: tf.nn.dynamic_rnn(cells.BasicRNNCell(3), *args, **kwargs)


def _static(*args, **kwargs):
    return lambda: tf.nn.static_rnn(cells.BasicRNNCell(3), *args, **kwargs)


FLOAT = {"dtype": tf.float32}
REFUSED = {
    "no cell": (TypeError, "is not an RNNCell", lambda: tf.nn.static_rnn("cell", [X[0]])),
    "no list": (TypeError, "inputs must be a sequence", _static(X[0])),
    "no inputs": (ValueError, "inputs must not be empty", _static([])),
    "no dtype": (ValueError, "dtype must be specified",
                 lambda: tf.nn.static_rnn(cells.BasicRNNCell(3), [tf.zeros([2, 3])])),
    "open size": (ValueError, "Input size \\(dimension 0 of inputs\\)", lambda: _static(
        [tf.placeholder(tf.float32, [2, None])], **FLOAT)()),
    "length rank": (ValueError, "must be a vector of length batch_size", lambda: _static(
        [tf.zeros([2, 3])], sequence_length=[[1, 1]], **FLOAT)()),
    "loop dtype": (ValueError, "you must give a dtype", _dynamic(X)),
    "loop length rank": (ValueError, "saw shape: \\(1, 1\\)",
                         _dynamic(X, sequence_length=[[1]], **FLOAT)),
    "loop open size": (ValueError, "depth of inputs", lambda: _dynamic(
        tf.placeholder(tf.float32, [None, None, None]), **FLOAT)()),
    "loop rank": (ValueError, "rank at least 2", _dynamic(np.zeros(3, np.float32), **FLOAT)),
    "time differs": (ValueError, "Time steps is not the same",
                     _dynamic((X, X[:, :2]), **FLOAT)),
    "state types": (ValueError, "different inferred_dtypes", lambda: tf.nn.dynamic_rnn(
        cells.BasicLSTMCell(3), X, initial_state=cells.LSTMStateTuple(
            tf.zeros([4, 3]), tf.zeros([4, 3], tf.float64)))),
    "loop_fn": (TypeError, "loop_fn must be a callable",
                lambda: tf.nn.raw_rnn(cells.BasicRNNCell(3), 3)),
    "names": (ValueError, "should be the same type", lambda: tf.nn.static_state_saving_rnn(
        cells.BasicLSTMCell(3), [tf.zeros([2, 3])], None, "state")),
    "depth differs": (ValueError, "same depth", lambda: tf.contrib.rnn.stack_bidirectional_rnn(
        [cells.BasicRNNCell(3)], [], [tf.zeros([2, 3])], **FLOAT)),
    "fused dtype": (ValueError, "Either initial_state or dtype",
                    lambda: tf.contrib.rnn.LSTMBlockFusedCell(3)(tf.zeros([2, 3, 4]))),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_mistakes_are_refused(what):
    kind, text, make = REFUSED[what]
    with pytest.raises(kind, match=text):
        make()


def test_lengths_of_another_batch_are_refused_when_run():
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(cells.GRUCell(5), X, lengths, dtype=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor"):
        run(outputs, {lengths: [1, 2]})


def test_a_state_of_another_form_is_refused():
    class Wrong(cells.BasicRNNCell):
        def call(self, inputs, state):
            output, state = super().call(inputs, state)
            return output, (state, state)

    with pytest.raises((TypeError, ValueError), match="structure"):
        tf.nn.dynamic_rnn(Wrong(3), X, LENGTHS, dtype=tf.float32)
