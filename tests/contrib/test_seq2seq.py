"""Decoding, attention and beam search against NumPy, without TensorFlow."""

import itertools

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.seq2seq.dense import Dense
from tests.both_executors import both_ways as pytest_generate_tests, executor

assert executor and pytest_generate_tests
s2s = tf.contrib.seq2seq
RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(5))
    with tf.Graph().as_default() as made:
        yield made


def run(fetches, feed=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feed)


class Chain:
    """A cell whose logits after token i are row i of a table; its state counts the steps."""

    state_size = 1

    def __init__(self, table):
        self.table, self.output_size = tf.constant(table, tf.float32), table.shape[1]

    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 1], dtype)

    def __call__(self, inputs, state, scope=None):
        return tf.matmul(inputs, self.table), state + 1.0


def one_hot(depth):
    return lambda ids: tf.one_hot(ids, depth)


NEXT = np.roll(np.eye(6), 1, axis=1) * 5  # token i is followed by i + 1


def greedy(start, end, table=NEXT, **options):
    cell = Chain(table)
    helper = s2s.GreedyEmbeddingHelper(one_hot(6), start, end)
    decoder = s2s.BasicDecoder(cell, helper, cell.zero_state(len(start), tf.float32))
    return s2s.dynamic_decode(decoder, **options)


# ---- decoding ------------------------------------------------------------------------------------


def test_greedy_decoding_ends_each_sequence_at_its_end_token():
    outputs, state, lengths = run(greedy([0, 2, 3], 4))
    assert lengths.tolist() == [4, 2, 1]
    assert outputs.sample_id.tolist() == [[1, 2, 3, 4], [3, 4, 5, 0], [4, 5, 0, 1]]
    assert state.ravel().tolist() == [4, 4, 4]


def test_impute_finished_keeps_states_and_zeroes_outputs():
    outputs, state, lengths = run(greedy([0, 2, 3], 4, impute_finished=True))
    assert lengths.tolist() == [4, 2, 1]
    assert outputs.sample_id.tolist() == [[1, 2, 3, 4], [3, 4, 0, 0], [4, 0, 0, 0]]
    assert state.ravel().tolist() == [4, 2, 1]
    assert not outputs.rnn_output[2, 1:].any()


@pytest.mark.parametrize("bound", [0, 1, 3])
def test_maximum_iterations_bounds_the_steps(bound):
    outputs, _, lengths = run(greedy([0, 1], 5, maximum_iterations=bound))
    assert outputs.rnn_output.shape == (2, bound, 6)
    assert lengths.tolist() == [min(bound, 5), min(bound, 4)]


def test_the_bound_can_be_fed():
    bound = tf.placeholder(tf.int32, [])
    made = greedy([0, 1], 5, maximum_iterations=bound)
    assert [run(made, {bound: n})[2].max() for n in (2, 4)] == [2, 4]


def test_time_major_outputs():
    major = run(greedy([0, 2], 4, output_time_major=True))[0].sample_id
    assert major.T.tolist() == run(greedy([0, 2], 4))[0].sample_id.tolist()


def test_training_helper_feeds_zeros_past_the_end_and_gives_gradients():
    x = tf.constant(RNG.normal(size=(2, 4, 3)), tf.float32)
    cell = tf.nn.rnn_cell.GRUCell(5)
    helper = s2s.TrainingHelper(x, [4, 2])
    decoder = s2s.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    outputs, state, lengths = s2s.dynamic_decode(decoder, impute_finished=True)
    with tf.variable_scope("decoder", reuse=True):
        again, last = tf.nn.dynamic_rnn(cell, x, [4, 2], dtype=tf.float32, scope="none")
    slope = tf.gradients(outputs.rnn_output, x)[0]
    found = run([outputs.rnn_output, again, state, last, slope, lengths])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    np.testing.assert_allclose(found[2], found[3], rtol=1e-5)
    assert found[4][0].any(axis=1).all() and not found[4][1, 2:].any()
    assert found[5].tolist() == [4, 2]


def test_sampled_ids_follow_the_logits():
    count, table = 4000, np.tile(np.log([0.1, 0.2, 0.3, 0.4, 1e-9, 1e-9]), (6, 1))
    cell = Chain(table)
    helper = s2s.SampleEmbeddingHelper(one_hot(6), tf.zeros([count], tf.int32), 5, seed=3)
    decoder = s2s.BasicDecoder(cell, helper, cell.zero_state(count, tf.float32))
    ids = run(s2s.dynamic_decode(decoder, maximum_iterations=2))[0].sample_id
    for step in (0, 1):
        shares = np.bincount(ids[:, step], minlength=6) / count
        np.testing.assert_allclose(shares[:4], [0.1, 0.2, 0.3, 0.4], atol=0.03)


def test_scheduled_sampling_feeds_outputs_as_often_as_asked():
    count = 4000
    cell = Chain(np.eye(6) * 50)
    helper = s2s.ScheduledEmbeddingTrainingHelper(
        tf.zeros([count, 1, 6]) + tf.one_hot(2, 6), tf.ones([count], tf.int32), one_hot(6), 0.25,
        seed=1, scheduling_seed=2)  # fmt: skip
    decoder = s2s.BasicDecoder(cell, helper, cell.zero_state(count, tf.float32))
    ids = run(s2s.dynamic_decode(decoder))[0].sample_id
    assert set(ids.ravel()) == {-1, 2}
    assert abs((ids == 2).mean() - 0.25) < 0.03


def test_a_layer_of_the_user_needs_only_a_call_and_a_shape():
    class Doubled:
        def __call__(self, inputs):
            return tf.concat([inputs, inputs], 1)

        def compute_output_shape(self, shape):
            return tf.TensorShape([shape[0], shape[1] * 2])

    cell = Chain(NEXT)
    helper = s2s.GreedyEmbeddingHelper(one_hot(6), [0], 4)
    decoder = s2s.BasicDecoder(cell, helper, cell.zero_state(1, tf.float32), Doubled())
    outputs, _, _ = s2s.dynamic_decode(decoder)
    assert outputs.rnn_output.shape.as_list() == [1, None, 12]
    assert run(outputs.rnn_output).shape == (1, 4, 12)


# ---- attention -----------------------------------------------------------------------------------


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("lengths", [None, [2, 5, 3]])
def test_luong_attention_by_hand(lengths):
    memory, query = RNG.normal(size=(3, 5, 4)), RNG.normal(size=(3, 6))
    mechanism = s2s.LuongAttention(6, tf.constant(memory, tf.float32), lengths)
    state = mechanism.initial_state(3, tf.float32)
    alignments, _ = mechanism(tf.constant(query, tf.float32), state)
    found, kernel = run([alignments, tf.trainable_variables()[0]])
    if lengths:
        memory = memory * (np.arange(5) < np.array(lengths)[:, None])[:, :, None]
    score = np.einsum("bu,btu->bt", query, memory @ kernel)
    if lengths:
        score[np.arange(5) >= np.array(lengths)[:, None]] = -np.inf
    np.testing.assert_allclose(found, softmax(score), rtol=1e-4, atol=1e-6)


def test_bahdanau_attention_by_hand():
    memory, query = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(2, 5))
    mechanism = s2s.BahdanauAttention(6, tf.constant(memory, tf.float32), normalize=True)
    alignments, _ = mechanism(
        tf.constant(query, tf.float32), mechanism.initial_state(2, tf.float32)
    )
    found, values = run([alignments, {v.op.name: v for v in tf.trainable_variables()}])
    scope = "bahdanau_attention/"
    v, g = values[scope + "attention_v"], values[scope + "attention_g"]
    inner = memory @ values["memory_layer/kernel"]
    inner = inner + (query @ values[scope + "query_layer/kernel"])[:, None]
    score = np.tanh(inner + values[scope + "attention_b"]) @ (g * v / np.linalg.norm(v))
    np.testing.assert_allclose(found, softmax(score), rtol=1e-4, atol=1e-6)


def test_alignment_history_holds_every_step():
    memory = tf.constant(RNG.normal(size=(2, 5, 4)), tf.float32)
    cell = s2s.AttentionWrapper(
        tf.nn.rnn_cell.BasicLSTMCell(4), s2s.LuongAttention(4, memory), alignment_history=True
    )
    helper = s2s.TrainingHelper(tf.zeros([2, 3, 2]), [3, 1])
    decoder = s2s.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    _, state, _ = s2s.dynamic_decode(decoder)
    history, last, time = run([state.alignment_history.stack(), state.alignments, state.time])
    assert history.shape == (3, 2, 5) and time == 3
    np.testing.assert_array_equal(history[-1], last)
    np.testing.assert_allclose(history.sum(-1), 1, rtol=1e-5)


def walked(p, previous):
    """The monotonic process, element by element."""
    found = np.zeros_like(p)
    for row, (stops, before) in enumerate(zip(p, previous, strict=True)):
        for start, weight in enumerate(before):
            passed = weight
            for at in range(start, len(stops)):
                found[row, at] += passed * stops[at]
                passed *= 1 - stops[at]
    return found


@pytest.mark.parametrize("mode", ["recursive", "parallel", "hard"])
def test_monotonic_attention_by_hand(mode):
    p = RNG.uniform(0.05, 0.95, (3, 6)).astype(np.float32)
    previous = softmax(RNG.normal(size=(3, 6))).astype(np.float32)
    if mode == "hard":
        p, previous = np.round(p), np.eye(6, dtype=np.float32)[[0, 2, 4]]
    found = run(s2s.monotonic_attention(p, previous, mode))
    np.testing.assert_allclose(found, walked(p, previous), rtol=1e-4, atol=1e-6)


def test_safe_cumprod_is_a_cumulative_product():
    x = RNG.uniform(0.1, 1, (2, 5)).astype(np.float32)
    found = run(s2s.safe_cumprod(x, axis=1, exclusive=True))
    wanted = np.cumprod(np.concatenate([np.ones((2, 1)), x[:, :-1]], 1), 1)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


# ---- beam search ---------------------------------------------------------------------------------


def searched(table, start, width, steps, **options):
    cell = Chain(table)
    state = s2s.tile_batch(cell.zero_state(len(start), tf.float32), width)
    decoder = s2s.BeamSearchDecoder(
        cell, one_hot(table.shape[0]), start, 0, state, width, **options
    )
    outputs, state, lengths = s2s.dynamic_decode(decoder, maximum_iterations=steps)
    return run([outputs.predicted_ids, state.log_probs, state.lengths, lengths])


def hypotheses(table, start, steps):
    """All sequences that end with token 0 or after ``steps``, with log probabilities."""
    logs = np.log(softmax(table))
    found = {}
    for ids in itertools.product(range(table.shape[0]), repeat=steps):
        ids = cut(ids)
        found[ids] = sum(logs[a, b] for a, b in zip((start, *ids[:-1]), ids, strict=True))
    return found


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_wide_beam_finds_what_exhaustive_search_finds(weight):
    table, steps = RNG.normal(size=(4, 4)) * 1.5, 3
    width = 4**steps
    ids, logs, counts, _ = searched(table, [1, 3], width, steps, length_penalty_weight=weight)
    for example, start in enumerate((1, 3)):
        every = hypotheses(table, start, steps)

        def score(one, every=every):
            # As in TensorFlow, the end token counts in the length from the next step on.
            length = len(one) if len(one) < steps else len([i for i in one if i])
            return every[one] / ((5 + length) / 6) ** weight

        best = sorted(map(score, every), reverse=True)[:10]
        found = [cut(ids[example, :, place]) for place in range(10)]
        assert len(set(found)) == 10
        # By score: sequences of the same pairs of tokens tie.
        np.testing.assert_allclose([score(one) for one in found], best, rtol=1e-5)
        np.testing.assert_allclose(logs[example, :10], [every[one] for one in found], rtol=1e-4)
        # Of a beam that ended, the state's length counts the end token.
        assert counts[example, :10].tolist() == [len(one) for one in found]


def cut(ids):
    """A sequence up to its end token."""
    ids = tuple(int(one) for one in ids)
    return ids[: ids.index(0) + 1] if 0 in ids else ids


def test_a_beam_of_one_is_greedy():
    table = RNG.normal(size=(6, 6)) * 2
    ids, *_ = searched(table, [1, 4], 1, 5)
    outputs, _, lengths = run(greedy([1, 4], 0, table, maximum_iterations=5))
    for example, length in enumerate(lengths):
        assert ids[example, :length, 0].tolist() == outputs.sample_id[example, :length].tolist()


def test_histories_are_ordered_as_the_final_beams():
    width, memory = 3, tf.constant(RNG.normal(size=(2, 5, 4)), tf.float32)
    start = tf.placeholder(tf.int32, [None])
    batch = tf.size(start)
    mechanism = s2s.LuongAttention(4, s2s.tile_batch(memory, width))
    cell = s2s.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(4), mechanism, alignment_history=True, output_attention=False
    )
    found = []
    for ordered in (True, False):
        decoder = s2s.BeamSearchDecoder(
            cell, one_hot(5), start, 0, cell.zero_state(batch * width, tf.float32), width,
            output_layer=Dense(5, name="same"), reorder_tensor_arrays=ordered)  # fmt: skip
        with tf.variable_scope("search", reuse=not ordered):
            outputs, state, _ = s2s.dynamic_decode(decoder, maximum_iterations=4)
        history = state.cell_state.alignment_history
        found.append(history if ordered else history.stack())
        steps, lengths = outputs.beam_search_decoder_output, state.lengths
    ordered, raw, parents, lengths = run([*found, steps.parent_ids, lengths], {start: [1, 2]})
    times = raw.shape[0]
    raw = raw.reshape(times, 2, width, 5)
    ordered = ordered.reshape(times, 2, width, 5)
    for example in range(2):
        last = lengths[example].max()
        for beam in range(width):
            at = beam
            for time in range(min(last, times) - 1, -1, -1):
                if time < lengths[example, beam]:
                    np.testing.assert_array_equal(
                        ordered[time, example, beam], raw[time, example, at]
                    )
                at = parents[example, time, at]


def test_tile_batch_keeps_copies_side_by_side():
    x = np.arange(6).reshape(2, 3)
    first, second = run(s2s.tile_batch((tf.constant(x), tf.constant([7, 8])), multiplier=2))
    np.testing.assert_array_equal(first, np.repeat(x, 2, axis=0))
    assert second.tolist() == [7, 7, 8, 8]


def test_a_parent_that_is_no_beam_is_an_error_of_the_run():
    parents = tf.placeholder(tf.int32, [2, 1, 2])
    tree = s2s.gather_tree(np.ones((2, 1, 2), np.int32), parents, [2], 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="parent id"):
        run(tree, {parents: [[[0, 0]], [[0, 2]]]})


# ---- losses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("time", [False, True])
@pytest.mark.parametrize("batch", [False, True])
def test_sequence_loss_by_hand(time, batch):
    logits, targets = RNG.normal(size=(3, 4, 5)), RNG.integers(0, 5, (3, 4))
    weights = RNG.integers(0, 2, (3, 4)).astype(np.float32)
    found = run(s2s.sequence_loss(
        tf.constant(logits, tf.float32), tf.constant(targets), tf.constant(weights),
        average_across_timesteps=time, average_across_batch=batch))  # fmt: skip
    losses = -np.take_along_axis(np.log(softmax(logits)), targets[:, :, None], 2)[:, :, 0]
    losses = losses * weights
    axes = tuple(axis for axis, wanted in ((0, batch), (1, time)) if wanted)
    if axes:
        count = weights.sum(axes)
        losses = np.divide(losses.sum(axes), count, out=np.zeros_like(count), where=count > 0)
    np.testing.assert_allclose(found, losses, rtol=1e-4, atol=1e-6)


# ---- refusals ------------------------------------------------------------------------------------


def refusals():
    cell = tf.nn.rnn_cell.GRUCell(4)
    memory = tf.zeros([2, 3, 4])
    helper = s2s.TrainingHelper(tf.zeros([2, 3, 4]), [3, 3])
    return {
        "decoder": (TypeError, "Decoder", lambda: s2s.dynamic_decode(cell)),
        "helper": (TypeError, "Helper", lambda: s2s.BasicDecoder(cell, None, None)),
        "cell": (TypeError, "RNNCell", lambda: s2s.BasicDecoder(3, helper, None)),
        "layer": (TypeError, "output_layer", lambda: s2s.BasicDecoder(cell, helper, None, 3)),
        "bound": (ValueError, "maximum_iterations", lambda: s2s.dynamic_decode(
            s2s.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32)),
            maximum_iterations=[3])),
        "start": (ValueError, "start_tokens", lambda: s2s.GreedyEmbeddingHelper(memory, 3, 1)),
        "end": (ValueError, "end_token", lambda: s2s.GreedyEmbeddingHelper(memory, [3], [1])),
        "lengths": (ValueError, "vector", lambda: s2s.TrainingHelper(memory, 3)),
        "probability": (ValueError, "sampling_probability", lambda:
            s2s.ScheduledOutputTrainingHelper(memory, [3, 3], [[0.5]])),
        "custom": (ValueError, "initialize", lambda:
            s2s.CustomHelper(None, None, None).batch_size),
        "mechanism": (TypeError, "AttentionMechanism", lambda: s2s.AttentionWrapper(cell, 3)),
        "sizes": (ValueError, "attention_layer_size", lambda: s2s.AttentionWrapper(
            cell, s2s.LuongAttention(4, memory), attention_layer_size=[3, 4])),
        "both": (ValueError, "Only one", lambda: s2s.AttentionWrapper(
            cell, s2s.LuongAttention(4, memory), attention_layer_size=3, attention_layer=Dense(3))),
        "units": (ValueError, "num_units", lambda:
            s2s.LuongAttention(4, memory)(tf.zeros([2, 3]), None)),
        "inner": (ValueError, "inner dims", lambda:
            s2s.LuongAttention(4, tf.placeholder(tf.float32, [2, 3, None]))),
        "mode": (ValueError, "mode", lambda: s2s.monotonic_attention([[1.0]], [[1.0]], "soft")),
        "state": (TypeError, "AttentionWrapperState", lambda: s2s.AttentionWrapper(
            cell, s2s.LuongAttention(4, memory))(tf.zeros([2, 3]), tf.zeros([2, 4]))),
        "tiling": (ValueError, "tile_batch", lambda: s2s.BeamSearchDecoder(
            cell, memory[0], [1, 2], 0, tf.zeros([2, 4]), 3)),
        "coverage": (ValueError, "attentional", lambda: s2s.BeamSearchDecoder(
            cell, memory[0], [1, 2], 0, tf.zeros([6, 4]), 3,
            coverage_penalty_weight=0.5).initialize()),
        "rank": (ValueError, "rank", lambda: s2s.tile_batch(tf.placeholder(tf.float32), 2)),
        "logits": (ValueError, "Logits", lambda:
            s2s.sequence_loss(memory[0], tf.zeros([2, 3], tf.int32), tf.zeros([2, 3]))),
    }  # fmt: skip


@pytest.mark.parametrize("name", [
    "both", "bound", "cell", "coverage", "custom", "decoder", "end", "helper", "inner", "layer",
    "lengths", "logits", "mechanism", "mode", "probability", "rank", "sizes", "start", "state",
    "tiling", "units",
])  # fmt: skip
def test_wrong_arguments_are_refused_by_name(name):
    kind, words, make = refusals()[name]
    with pytest.raises(kind, match=words):
        make()


def test_every_refusal_is_tested():
    assert len(refusals()) == 21


def test_memory_of_another_batch_size_is_refused_in_the_run():
    memory, x = tf.placeholder(tf.float32, [None, 3, 4]), tf.placeholder(tf.float32, [None, 2])
    cell = s2s.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), s2s.LuongAttention(4, memory))
    output, _ = cell(x, cell.zero_state(tf.shape(x)[0], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="tile_batch"):
        run(output, {memory: np.zeros((2, 3, 4)), x: np.zeros((6, 2))})


def test_the_batch_size_is_that_of_the_argument_given_as_in_tensorflow():
    seq2seq = tf.contrib.seq2seq
    with tf.Graph().as_default() as graph:
        seq2seq.TrainingHelper(tf.zeros([2, 4, 3]), [4, 2])
        seq2seq.GreedyEmbeddingHelper(lambda i: tf.one_hot(i, 3), [1, 1], 0)
        names = [op.name for op in graph.get_operations()]
    assert "TrainingHelper/Size/Const" in names and "Size/Const" in names


@pytest.mark.parametrize("shape", [None, [None, None], [2, None]])
def test_a_query_of_unknown_size_is_taken_at_its_word(shape):
    seq2seq = tf.contrib.seq2seq
    with tf.Graph().as_default(), tf.Session() as session:
        attention = seq2seq.LuongAttention(3, tf.ones([2, 4, 3]))
        query = tf.placeholder(tf.float32, shape)
        weights, _ = attention(query, attention.initial_state(2, tf.float32))
        session.run(tf.global_variables_initializer())
        found = session.run(weights, {query: [[0.0, 1.0, 2.0]] * 2})
    assert found.tolist() == [[0.25] * 4] * 2


def test_a_query_of_another_size_is_refused():
    attention_of = tf.contrib.seq2seq.LuongAttention
    with tf.Graph().as_default():
        attention = attention_of(3, tf.ones([2, 4, 3]))
        with pytest.raises(ValueError, match="Incompatible or unknown inner dimensions"):
            attention(tf.ones([2, 5]), attention.initial_state(2, tf.float32))
