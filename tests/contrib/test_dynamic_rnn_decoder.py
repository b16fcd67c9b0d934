"""The decoder of TensorFlow 1.0, against loops over the same weights in NumPy.

No TensorFlow here has it: it was gone before 1.15.
"""

import numpy as np
import pytest

import penstock as tf

BATCH, STEPS, DEPTH, UNITS, SYMBOLS = 3, 5, 4, 6, 7
RNG = np.random.RandomState(0)
INPUTS = RNG.normal(size=[BATCH, STEPS, DEPTH]).astype("float32")
STATE = RNG.normal(size=[BATCH, UNITS]).astype("float32")
MEMORY = RNG.normal(size=[BATCH, 8, UNITS]).astype("float32")
EMBEDDINGS = RNG.normal(size=[SYMBOLS, DEPTH]).astype("float32")
LOGITS = RNG.normal(size=[UNITS, SYMBOLS]).astype("float32")
LENGTHS = [5, 2, 3]


def run(tensors):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = sess.run(tensors)
        weights = {v.op.name: sess.run(v) for v in tf.global_variables()}
    return found, weights


def rnn_step(weights, x, state, scope="dynamic_rnn_decoder"):
    kernel = weights[f"{scope}/basic_rnn_cell/kernel"]
    return np.tanh(np.concatenate([x, state], 1) @ kernel + weights[f"{scope}/basic_rnn_cell/bias"])


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def attended(weights, option, output):
    keys = MEMORY @ weights["attention_keys/weights"]
    inner = "dynamic_rnn_decoder/attention_construct"
    if option == "luong":
        scores = (keys * output[:, None]).sum(2)
    else:
        turned = output @ weights[f"{inner}/attention_score/attnW"]
        v = weights[f"{inner}/attention_score/attnV"]
        scores = (v * np.tanh(keys + turned[:, None])).sum(2)
    seen = (softmax(scores)[..., None] * MEMORY).sum(1)
    return np.concatenate([output, seen], 1) @ weights[f"{inner}/weights"]


@pytest.mark.parametrize("time_major", [False, True])
def test_training_feeds_what_is_given(time_major):
    with tf.Graph().as_default():
        inputs = INPUTS.swapaxes(0, 1) if time_major else INPUTS
        tensors = tf.contrib.seq2seq.dynamic_rnn_decoder(
            tf.nn.rnn_cell.BasicRNNCell(UNITS),
            tf.contrib.seq2seq.simple_decoder_fn_train(tf.constant(STATE)),
            inputs, LENGTHS, time_major=time_major,
        )  # fmt: skip
        assert tensors[2] is None
        (outputs, last), weights = run(tensors[:2])
    wanted, state = np.zeros([BATCH, STEPS, UNITS]), STATE.copy()
    for step in range(STEPS):
        stepped = rnn_step(weights, INPUTS[:, step], state)
        live = step < np.array(LENGTHS)[:, None]
        state = np.where(live, stepped, state)
        wanted[:, step] = np.where(live, stepped, 0)
    np.testing.assert_allclose(outputs.swapaxes(0, 1) if time_major else outputs, wanted, atol=1e-5)
    np.testing.assert_allclose(last, state, atol=1e-5)


@pytest.mark.parametrize("longest", [3, 20])
def test_inference_feeds_the_likeliest_symbol(longest):
    with tf.Graph().as_default():
        decoder_fn = tf.contrib.seq2seq.simple_decoder_fn_inference(
            lambda x: tf.matmul(x, LOGITS), tf.constant(STATE), tf.constant(EMBEDDINGS),
            1, 2, longest, SYMBOLS,
        )  # fmt: skip
        tensors = tf.contrib.seq2seq.dynamic_rnn_decoder(
            tf.nn.rnn_cell.BasicRNNCell(UNITS), decoder_fn
        )
        (outputs, _), weights = run(tensors[:2])
    state, ids, done, wanted = STATE, np.full(BATCH, 1), np.zeros(BATCH, bool), []
    for step in range(1, 100):
        state = np.where(done[:, None], state, rnn_step(weights, EMBEDDINGS[ids], state))
        logits = state @ LOGITS
        wanted.append(np.where(done[:, None], 0, logits))
        ids = logits.argmax(1)
        done |= (ids == 2) | (step > longest)
        if done.all():
            break
    np.testing.assert_allclose(outputs, np.stack(wanted, 1), atol=1e-5)


@pytest.mark.parametrize("option", ["luong", "bahdanau"])
def test_attention_in_training_and_inference(option):
    seq2seq = tf.contrib.seq2seq
    with tf.Graph().as_default():
        cell = tf.nn.rnn_cell.BasicRNNCell(UNITS)
        parts = seq2seq.prepare_attention(tf.constant(MEMORY), option, UNITS)
        train = seq2seq.attention_decoder_fn_train(tf.constant(STATE), *parts)
        with tf.variable_scope("dynamic_rnn_decoder") as scope:
            trained = seq2seq.dynamic_rnn_decoder(cell, train, INPUTS, scope=scope)[0]
            scope.reuse_variables()
            infer = seq2seq.attention_decoder_fn_inference(
                lambda x: tf.matmul(x, LOGITS), tf.constant(STATE), *parts,
                tf.constant(EMBEDDINGS), 1, SYMBOLS, 2, SYMBOLS,
            )  # fmt: skip
            told = seq2seq.dynamic_rnn_decoder(cell, infer, scope=scope)[0]
        (trained, told), weights = run([trained, told])
    state, seen = STATE, np.zeros([BATCH, UNITS])
    for step in range(STEPS):
        state = rnn_step(weights, np.concatenate([INPUTS[:, step], seen], 1), state)
        seen = attended(weights, option, state)
        np.testing.assert_allclose(trained[:, step], seen, atol=1e-5)
    state, seen, ids = STATE, np.zeros([BATCH, UNITS]), np.full(BATCH, 1)
    # No symbol ends it: it ends in the step after the second.
    assert told.shape == (BATCH, 3, SYMBOLS)
    for step in range(3):
        state = rnn_step(weights, np.concatenate([EMBEDDINGS[ids], seen], 1), state)
        seen = attended(weights, option, state)
        np.testing.assert_allclose(told[:, step], seen @ LOGITS, atol=1e-5)
        ids = (seen @ LOGITS).argmax(1)


def test_refusals():
    seq2seq = tf.contrib.seq2seq
    with tf.Graph().as_default():
        cell, state = tf.nn.rnn_cell.BasicRNNCell(UNITS), tf.constant(STATE)
        with pytest.raises(ValueError, match="Unknown attention option 'x'"):
            seq2seq.prepare_attention(tf.constant(MEMORY), "x", UNITS)
        with pytest.raises(ValueError, match="which examples are done"):
            seq2seq.dynamic_rnn_decoder(cell, lambda *_: (None, state, INPUTS[:, 0], None, None))
        infer = seq2seq.simple_decoder_fn_inference(None, state, EMBEDDINGS, 1, 2, 3, SYMBOLS)
        with pytest.raises(ValueError, match="Expected cell_input to be None"):
            seq2seq.dynamic_rnn_decoder(cell, infer, INPUTS)
