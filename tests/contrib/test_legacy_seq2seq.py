"""``tf.contrib.legacy_seq2seq`` without TensorFlow."""

import numpy as np
import pytest

import penstock as tf
from tests.both_executors import both_ways as pytest_generate_tests, executor

assert executor and pytest_generate_tests
legacy = tf.contrib.legacy_seq2seq
RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def run(fetches, feed=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feed)


def ids(*rows):
    return [tf.constant(row) for row in rows]


def test_rnn_decoder_is_static_rnn():
    inputs = [tf.constant(RNG.normal(size=(2, 3)), tf.float32) for _ in range(3)]
    cell = tf.nn.rnn_cell.GRUCell(4)
    outputs, state = legacy.rnn_decoder(inputs, cell.zero_state(2, tf.float32), cell, scope="s")
    with tf.variable_scope("s", reuse=True) as scope:
        others, last = tf.nn.static_rnn(cell, inputs, dtype=tf.float32, scope=scope)
    found = run([outputs, others, state, last])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[3])


@pytest.mark.parametrize("attention", [False, True])
def test_a_bool_tensor_chooses_what_the_decoder_is_fed(attention):
    build = legacy.embedding_attention_seq2seq if attention else legacy.embedding_rnn_seq2seq
    choice = tf.placeholder(tf.bool, [])
    encoder, decoder = ids([0, 1], [2, 3]), ids([1, 1], [0, 3], [2, 2])

    def model(feed_previous, reuse=None):
        with tf.variable_scope("model", reuse=reuse):
            cell = tf.nn.rnn_cell.BasicLSTMCell(4)
            return build(encoder, decoder, cell, 4, 5, 3, feed_previous=feed_previous)

    chosen, fed, given = model(choice), model(True, True), model(False, True)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for flag, wanted in ((True, fed), (False, given)):
            outputs, state = sess.run(chosen, {choice: flag})
            others, last = sess.run(wanted)
            np.testing.assert_allclose(outputs, others, rtol=1e-6)
            np.testing.assert_allclose(state, last, rtol=1e-6)


def test_feeding_back_takes_the_most_likely_id():
    cell, state = tf.nn.rnn_cell.GRUCell(5), tf.zeros([2, 5])
    first, *_ = run(legacy.embedding_rnn_decoder(
        ids([1, 2], [0, 0]), state, cell, 5, 3, feed_previous=True, scope="s")[0])  # fmt: skip
    assert first.shape == (2, 5)


def softmax_losses(logits, targets):
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -np.take_along_axis(logs, targets[..., None], -1)[..., 0]


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("batch", [False, True])
def test_losses_by_hand(steps, batch):
    logits = RNG.normal(size=(3, 4, 5)).astype(np.float32)
    targets = RNG.integers(0, 5, (3, 4))
    weights = RNG.uniform(0.1, 1, (3, 4)).astype(np.float32)
    lists = [[tf.constant(part) for part in array] for array in (logits, targets, weights)]
    each = legacy.sequence_loss_by_example(*lists, average_across_timesteps=steps)
    whole = legacy.sequence_loss(*lists, average_across_timesteps=steps, average_across_batch=batch)
    wanted = (softmax_losses(logits, targets) * weights).sum(0)
    if steps:
        wanted = wanted / weights.sum(0)
    found = run([each, whole])
    np.testing.assert_allclose(found[0], wanted, rtol=1e-4)
    np.testing.assert_allclose(found[1], wanted.mean() if batch else wanted.sum(), rtol=1e-4)


def test_buckets_share_variables():
    encoder, decoder = ids(*[[0, 1]] * 3), ids(*[[1, 2]] * 4)
    weights = [tf.ones([2])] * 4

    def seq2seq(inputs, outputs):
        return legacy.basic_rnn_seq2seq(
            [tf.one_hot(one, 6) for one in inputs], [tf.one_hot(one, 6) for one in outputs],
            tf.nn.rnn_cell.GRUCell(6))  # fmt: skip

    outputs, losses = legacy.model_with_buckets(
        encoder, decoder, decoder, weights, [(1, 2), (3, 4)], seq2seq, per_example_loss=True
    )
    assert [len(found) for found in outputs] == [2, 4]
    assert len(tf.trainable_variables()) == 8
    assert [found.shape for found in run(losses)] == [(2,), (2,)]


REFUSALS = {
    "lists": ("Lengths of logits", lambda: legacy.sequence_loss_by_example([1], [1, 2], [1])),
    "bucket": ("encoder_inputs", lambda: legacy.model_with_buckets(
        [1], [1], [1], [1], [(2, 1)], None)),
    "inputs": ("at least 1 input", lambda: legacy.attention_decoder(
        [], None, tf.zeros([1, 2, 3]), None)),
    "heads": ("heads", lambda: legacy.attention_decoder(
        [tf.zeros([1, 2])], None, tf.zeros([1, 2, 3]), None, num_heads=0)),
    "states": ("attention_states", lambda: legacy.attention_decoder(
        [tf.zeros([1, 2])], None, tf.placeholder(tf.float32, [1, 2, None]), None)),
    "projection": ("(?i)shape", lambda: legacy.embedding_rnn_decoder(
        ids([1]), None, None, 5, 3, output_projection=(tf.zeros([4, 6]), tf.zeros([6])))),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_wrong_arguments_are_refused(name):
    words, make = REFUSALS[name]
    with pytest.raises(ValueError, match=words):
        make()
