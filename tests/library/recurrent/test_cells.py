"""Cells: the functions that they compute, their variables, scopes, and what they refuse."""

import numpy as np
import pytest

import penstock as tf

cells = tf.nn.rnn_cell
RNG = np.random.RandomState(5)


def draw(*shape):
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def run(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)


# ---- values ------------------------------------------------------------------------------------


def test_lstm_computes_its_formula():
    x, c, h = draw(3, 4), draw(3, 5), draw(3, 5)
    cell = cells.BasicLSTMCell(5, forget_bias=0.7)
    output, state = cell(tf.constant(x), cells.LSTMStateTuple(tf.constant(c), tf.constant(h)))
    found, (new_c, new_h), kernel, bias = run([output, state, *cell.variables])
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ kernel + bias, 4, 1)
    wanted_c = c * sigmoid(f + 0.7) + sigmoid(i) * np.tanh(j)
    wanted = np.tanh(wanted_c) * sigmoid(o)
    np.testing.assert_allclose(new_c, wanted_c, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found, new_h)


def test_gru_computes_its_formula():
    x, h = draw(3, 4), draw(3, 5)
    cell = cells.GRUCell(5)
    output, _ = cell(tf.constant(x), tf.constant(h))
    found, wg, bg, wc, bc = run([output, *cell.variables])
    r, u = np.split(sigmoid(np.concatenate([x, h], 1) @ wg + bg), 2, 1)
    np.testing.assert_array_equal(bg, np.ones(10))
    c = np.tanh(np.concatenate([x, r * h], 1) @ wc + bc)
    np.testing.assert_allclose(found, u * h + (1 - u) * c, rtol=1e-5, atol=1e-6)


def test_blocks_compute_what_the_cells_compute():
    x, rnn = tf.constant(draw(6, 3, 4)), tf.contrib.rnn
    found = []
    with tf.variable_scope("w", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)):
        found.append(rnn.LSTMBlockFusedCell(5, name="lstm")(x, dtype=tf.float32))
    for make in (rnn.LSTMBlockCell, cells.LSTMCell):
        with tf.variable_scope("w", reuse=True):
            cell = make(5, name="lstm")
            state, outputs = cell.zero_state(3, tf.float32), []
            for step in tf.unstack(x):
                output, state = cell(step, state)
                outputs.append(output)
            found.append((tf.stack(outputs), state))
    assert len(tf.trainable_variables()) == 2
    (fused, last), *others = run(found)
    for outputs, state in others:
        np.testing.assert_allclose(outputs, fused, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(state, last, rtol=1e-5, atol=1e-6)


def test_fused_networks_take_lists_of_steps():
    x, cell = tf.constant(draw(6, 3, 4)), tf.contrib.rnn.LSTMBlockFusedCell(5)
    steps, last = cell(tf.unstack(x), dtype=tf.float32)
    whole, state = cell(x, dtype=tf.float32, sequence_length=[6, 2, 0])
    adaptor = tf.contrib.rnn.FusedRNNCellAdaptor(cells.GRUCell(5), use_dynamic_rnn=True)
    looped, _ = adaptor(tf.unstack(x), dtype=tf.float32)
    assert (type(steps), len(steps), type(looped), len(looped)) == (list, 6, list, 6)
    a, b, s, t = run([tf.stack(steps), whole, last, state])
    np.testing.assert_allclose(b[:, 0], a[:, 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(b[:2, 1], a[:2, 1], rtol=1e-5, atol=1e-6)
    assert not b[2:, 1].any() and not b[:, 2].any()
    np.testing.assert_allclose(t.h[:2], [s.h[0], a[1, 1]], rtol=1e-5, atol=1e-6)
    assert not t.c[2].any()


def test_ptb_builds_a_second_model_on_the_same_variables():
    """Training and validation models share variables, and differ in their unrolled steps."""

    def model(steps, training):
        def one():
            cell = tf.contrib.rnn.BasicLSTMCell(4, forget_bias=0.0, reuse=not training)
            return tf.contrib.rnn.DropoutWrapper(cell, output_keep_prob=0.5) if training else cell

        stack = tf.contrib.rnn.MultiRNNCell([one() for _ in range(2)], state_is_tuple=True)
        x = tf.ones([3, steps, 4])
        with tf.variable_scope("RNN"):
            outputs, _ = tf.nn.static_rnn(stack, tf.unstack(x, axis=1), dtype=tf.float32)
        return outputs

    with tf.variable_scope("Model"):
        model(3, True)
    with tf.variable_scope("Model", reuse=True):
        outputs = model(1, False)
    assert [v.name for v in tf.trainable_variables()] == [
        f"Model/RNN/rnn/multi_rnn_cell/cell_{i}/basic_lstm_cell/{what}:0"
        for i in range(2)
        for what in ("kernel", "bias")
    ]
    assert run(outputs)[0].shape == (3, 4)


# ---- variables and scopes ------------------------------------------------------------------------


def names(cell):
    return [v.name for v in cell.trainable_variables]


def test_variables_are_named_as_checkpoints_expect():
    stack = cells.MultiRNNCell([cells.BasicLSTMCell(3), cells.GRUCell(3)])
    tf.nn.dynamic_rnn(stack, tf.zeros([2, 5, 4]), dtype=tf.float32)
    assert names(stack) == [
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel:0",
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/bias:0",
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel:0",
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/bias:0",
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel:0",
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/bias:0",
    ]
    assert [v.name for v in tf.trainable_variables()] == names(stack)


def test_a_cell_takes_its_dtype_from_its_first_input():
    cell = cells.GRUCell(3)
    assert cell.dtype is None
    cell(tf.zeros([2, 4], tf.float64), cell.zero_state(2, tf.float64))
    assert cell.dtype == "float64"
    assert {v.dtype.base_dtype for v in cell.variables} == {tf.float64}
    assert cell.count_params() == 7 * 6 + 6 + 7 * 3 + 3


def test_names_of_layers_count_up_and_scopes_are_known_after_use():
    first, second = cells.GRUCell(3), cells.GRUCell(3)
    assert (first.name, second.name, cells.GRUCell(3, name="mine").name) == (
        "gru_cell_1", "gru_cell_2", "mine",
    )  # fmt: skip
    with pytest.raises(ValueError, match="has not been used yet"):
        _ = first.scope_name
    with tf.variable_scope("outer"):
        first(tf.zeros([2, 4]), first.zero_state(2, tf.float32))
    assert first.scope_name == "outer/gru_cell"


def test_two_cells_do_not_share_and_one_cell_does():
    x, zero = tf.zeros([2, 3]), tf.zeros([2, 3])
    one, other = cells.BasicRNNCell(3), cells.BasicRNNCell(3)
    one(x, zero)
    one(x, zero)
    other(x, zero)
    assert names(one) == ["basic_rnn_cell/kernel:0", "basic_rnn_cell/bias:0"]
    assert names(other) == ["basic_rnn_cell_1/kernel:0", "basic_rnn_cell_1/bias:0"]


def test_reuse_asks_for_what_exists():
    x, zero = tf.zeros([2, 3]), tf.zeros([2, 3])
    with pytest.raises(ValueError, match="does not exist"):
        cells.BasicRNNCell(3, reuse=True, name="none")(x, zero)
    first = cells.BasicRNNCell(3)
    first(x, zero)
    again = cells.BasicRNNCell(3, reuse=True)
    again(x, zero)
    assert [v is w for v, w in zip(first.variables, again.variables, strict=True)] == [True, True]
    with tf.variable_scope("s") as scope:
        first = cells.GRUCell(3)
        first(x, zero)
    with tf.variable_scope(scope, reuse=True):
        second = cells.GRUCell(3)
        second(x, zero)
    assert first.variables[0] is second.variables[0]


def test_cells_that_are_not_trainable_have_no_trainable_variables():
    cell = cells.GRUCell(3, trainable=False)
    cell(tf.zeros([2, 4]), cell.zero_state(2, tf.float32))
    assert (cell.trainable_variables, tf.trainable_variables()) == ([], [])
    assert len(cell.non_trainable_variables) == len(tf.global_variables()) == 4


def test_losses_and_regularizers_are_collected():
    with tf.variable_scope("s", regularizer=lambda w: tf.reduce_sum(tf.square(w))):
        cell = cells.BasicRNNCell(3)
        cell(tf.zeros([2, 4]), cell.zero_state(2, tf.float32))
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 2
    cell.add_loss(tf.constant(1.0))
    assert len(cell.losses) == 1


def test_configurations_make_the_same_cells():
    inner = cells.LSTMCell(5, use_peepholes=True, num_proj=3, name="mine")
    cell = cells.MultiRNNCell([cells.DropoutWrapper(inner, 0.5), cells.GRUCell(4)])
    again = cells.MultiRNNCell.from_config(cell.get_config())
    assert again.state_size == cell.state_size
    assert again.get_config() == cell.get_config()

    class Mine(cells.BasicRNNCell):
        pass

    wrapper = cells.ResidualWrapper(Mine(3, activation="relu"))
    made = cells.ResidualWrapper.from_config(wrapper.get_config(), {"Mine": Mine})
    assert type(made.cell) is Mine
    with pytest.raises(ValueError, match="Unknown layer: Nobody"):
        tf.nn.rnn_cell.ResidualWrapper.from_config({"cell": {"class_name": "Nobody", "config": {}}})


def test_zero_states_have_the_nesting_of_the_size():
    stack = cells.MultiRNNCell([cells.BasicLSTMCell(3), cells.GRUCell(2)])
    state = stack.zero_state(4, tf.float32)
    assert isinstance(state[0], cells.LSTMStateTuple)
    assert [t.shape.as_list() for t in (state[0].c, state[0].h, state[1])] == [
        [4, 3], [4, 3], [4, 2],
    ]  # fmt: skip
    batch = tf.placeholder(tf.int32, [])
    open_state = cells.GRUCell(2).zero_state(batch, tf.float32)
    assert open_state.shape.as_list() == [None, 2]
    assert run(open_state, {batch: 7}).shape == (7, 2)
    given = cells.GRUCell(2).get_initial_state(inputs=tf.zeros([5, 3]))
    assert given.shape.as_list() == [5, 2]


def test_object_based_checkpoints_find_the_variables_of_cells(tmp_path):
    stack = cells.MultiRNNCell([cells.DropoutWrapper(cells.BasicLSTMCell(5)), cells.GRUCell(5)])
    tf.nn.dynamic_rnn(stack, tf.zeros([2, 3, 4]), dtype=tf.float32)
    checkpoint = tf.train.Checkpoint(model=stack)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "model"), session=sess)
    keys = {name.partition("/.")[0] for name, _ in tf.train.list_variables(path)}
    # As TensorFlow 1.15 writes them.
    assert keys >= {
        "model/cell-0/cell/kernel", "model/cell-0/cell/bias",
        "model/cell-1/gates.Skernel", "model/cell-1/gates.Sbias",
        "model/cell-1/candidate.Skernel", "model/cell-1/candidate.Sbias",
    }  # fmt: skip


# ---- wrappers ------------------------------------------------------------------------------------


class Same(cells.RNNCell):
    """Puts out its input, and keeps its state."""

    output_size = state_size = 50

    def call(self, inputs, state):
        return inputs, state


def test_dropout_keeps_the_share_that_is_asked_for():
    ones = tf.ones([200, 50])
    cell = cells.DropoutWrapper(Same(), output_keep_prob=0.25, state_keep_prob=0.5, seed=1)
    output, state = run(cell(ones, ones))
    assert set(np.unique(output)) == {0.0, 4.0}
    assert set(np.unique(state)) == {0.0, 2.0}
    assert abs((output > 0).mean() - 0.25) < 0.02
    assert abs((state > 0).mean() - 0.5) < 0.02


def test_dropout_spares_the_memory_of_lstms_unless_told():
    ones = tf.ones([20, 50])
    state = cells.LSTMStateTuple(ones, ones)

    class Keeps(Same):
        state_size = cells.LSTMStateTuple(50, 50)

    usual = cells.DropoutWrapper(Keeps(), state_keep_prob=0.5, seed=1)
    told = cells.DropoutWrapper(
        Keeps(), state_keep_prob=0.5, seed=1, dropout_state_filter_visitor=lambda _: True
    )
    (_, (c, h)), (_, (c2, h2)) = run([usual(ones, state), told(ones, state)])
    assert (c == 1).all()
    assert set(np.unique(h)) == set(np.unique(c2)) == set(np.unique(h2)) == {0.0, 2.0}


def test_variational_dropout_draws_one_mask_for_all_steps():
    cell = cells.DropoutWrapper(
        Same(), 0.5, 0.5, variational_recurrent=True, input_size=50, dtype=tf.float32, seed=3
    )
    outputs, _ = tf.nn.static_rnn(cell, [tf.ones([9, 50])] * 3, dtype=tf.float32)
    looped, _ = tf.nn.dynamic_rnn(cell, tf.ones([9, 3, 50]), dtype=tf.float32, scope="loop")
    usual = cells.DropoutWrapper(Same(), output_keep_prob=0.5)
    others, _ = tf.nn.static_rnn(usual, [tf.ones([9, 50])] * 2, dtype=tf.float32)
    (a, b, c), d, (e, f) = run([outputs, looped, others])
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(a, c)
    np.testing.assert_array_equal(d, np.stack([a] * 3, 1))
    assert 0 < (a > 0).mean() < 1
    # Masks are drawn for 50 features and shared by the examples of a batch.
    np.testing.assert_array_equal(a, np.broadcast_to(a[0], a.shape))
    assert (e != f).any() and not (e[0] == e[1]).all()


def test_a_keep_probability_may_be_fed():
    keep = tf.placeholder(tf.float32, [])
    cell = cells.DropoutWrapper(Same(), output_keep_prob=keep)
    output, _ = cell(tf.ones([20, 50]), tf.ones([20, 50]))
    assert (run(output, {keep: 1.0}) == 1).all()
    assert (run(output, {keep: 0.5}) == 0).any()


def test_device_wrapper_places_its_cell():
    cell = cells.DeviceWrapper(cells.GRUCell(3), "/cpu:0")
    output, _ = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
    assert output.op.device == "/device:CPU:0"
    assert cell.zero_state(2, tf.float32).op.device == "/device:CPU:0"


# ---- refusals ------------------------------------------------------------------------------------


def _flat(size):
    return cells.BasicRNNCell(size)


REFUSED = {
    "rank": (ValueError, "expected ndim=2, found ndim=3",
             lambda: _flat(5)(tf.zeros([2, 3, 4]), tf.zeros([2, 5]))),
    "depth": (ValueError, "Expected inputs.shape\\[-1\\] to be known",
              lambda: _flat(5)(tf.placeholder(tf.float32, [3, None]), tf.zeros([3, 5]))),
    "integers": (ValueError, "only supports floating point inputs",
                 lambda: _flat(3)(tf.zeros([2, 3], tf.int32), tf.zeros([2, 3], tf.int32))),
    "integer dtype": (ValueError, "only supports floating",
                      lambda: cells.GRUCell(3, dtype="int32")),
    "keyword": (TypeError, "zorp", lambda: cells.BasicRNNCell(5, zorp=1)),
    "keep": (ValueError, "input_keep_prob must be between 0 and 1",
             lambda: cells.DropoutWrapper(_flat(5), 1.5)),
    "no cell": (TypeError, "'cell' \\(3\\) is not an RNNCell", lambda: cells.DropoutWrapper(3)),
    "no cells": (ValueError, "at least one cell", lambda: cells.MultiRNNCell([])),
    "no list": (TypeError, "must be a list or tuple", lambda: cells.MultiRNNCell(_flat(3))),
    "tuple state": (ValueError, "state_is_tuple is not set",
                    lambda: cells.MultiRNNCell([cells.GRUCell(3), cells.BasicLSTMCell(3)], False)),
    "variational": (ValueError, "dtype must be provided",
                    lambda: cells.DropoutWrapper(_flat(5), 0.5, variational_recurrent=True)),
    "variational input": (ValueError, "input_size must be provided",
                          lambda: cells.DropoutWrapper(
                              _flat(5), 0.5, variational_recurrent=True, dtype=tf.float32)),
    "residual": (ValueError, "incompatible",
                 lambda: cells.ResidualWrapper(_flat(5))(tf.zeros([2, 3]), tf.zeros([2, 5]))),
    "state type": (TypeError, "Inconsistent internal state",
                   lambda: cells.LSTMStateTuple(tf.zeros([1]), tf.zeros([1], "float64")).dtype),
    "zero state": (ValueError, "prefix or suffix of None",
                   lambda: _flat(3).zero_state(None, tf.float32)),
    "batch": (ValueError, "batch size from input tensor is 5",
              lambda: _flat(3).get_initial_state(tf.zeros([5, 3]), batch_size=4)),
    "activation": (ValueError, "Unknown activation function:zorp",
                   lambda: cells.GRUCell(3, activation="zorp")),
    "params": (ValueError, "isn't built", lambda: _flat(3).count_params()),
    "block size": (ValueError, "exactly one", lambda: tf.contrib.rnn.GRUBlockCell()),
    "attention": (ValueError, "greater than zero",
                  lambda: tf.contrib.rnn.AttentionCellWrapper(_flat(3), 0)),
    "groups": (ValueError, "divisible", lambda: tf.contrib.rnn.GLSTMCell(5, number_of_groups=2)),
    "conv": (ValueError, "Invalid input_shape",
             lambda: tf.contrib.rnn.ConvLSTMCell(2, [3, 4], 2, [3, 3])),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_mistakes_are_refused(what):
    kind, text, make = REFUSED[what]
    with pytest.raises(kind, match=text):
        make()


def _not_trained(getter, name, **arguments):
    return getter(name, **{**arguments, "trainable": False})


def _copied(getter, name, **arguments):
    return tf.identity(getter(name, **arguments))


@pytest.mark.parametrize(
    "make",
    [
        lambda: cells.LSTMCell(3),
        lambda: cells.GRUCell(3),
        lambda: cells.MultiRNNCell([cells.BasicRNNCell(3), cells.BasicLSTMCell(3)]),
    ],
)
@pytest.mark.parametrize(("getter", "in_graph"), [(_not_trained, 0), (_copied, 1)])
def test_a_custom_getter_decides_what_is_trainable(make, getter, in_graph):
    with tf.variable_scope("scope", custom_getter=getter):
        cell = make()
        cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
    assert cell.trainable_variables == []
    assert len(cell.variables) == len(cell.non_trainable_variables) == len(tf.global_variables())
    assert len(tf.trainable_variables()) == in_graph * len(cell.variables)


def test_partitioned_variables_are_listed_as_wholes():
    with tf.variable_scope("scope", partitioner=tf.fixed_size_partitioner(2)):
        cell = cells.LSTMCell(4)
        cell(tf.zeros([2, 4]), cell.zero_state(2, tf.float32))
    assert [v.name for v in cell.variables] == ["scope/lstm_cell/kernel", "scope/lstm_cell/bias"]
    assert cell.trainable_variables == []
