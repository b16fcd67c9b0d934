"""CTC decoders at their limits: frames that are impossible."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_impossible_frames_behind_the_end_do_not_count(dtype: type) -> None:
    frames = [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    with np.errstate(divide="ignore"):
        inputs = np.log(np.array(frames, dtype))[:, None]
    with tf.Graph().as_default(), tf.Session() as session:
        (path,), score = tf.nn.ctc_greedy_decoder(inputs, [2])
        labels, found = session.run([path.values, score])
        assert labels.tolist() == [0, 2]
        assert found.tolist() == [[0.0]]
        _, all_frames = tf.nn.ctc_greedy_decoder(inputs, [3])
        assert session.run(all_frames).tolist() == [[np.inf]]


def test_nan_is_no_likeliest_class() -> None:
    nan = np.nan
    inputs = np.array([[[1, nan, 2]], [[nan, 5, 0]], [[-1, nan, nan]]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        (path,), score = tf.nn.ctc_greedy_decoder(inputs, [3], merge_repeated=False)
        labels, found = session.run([path.values, score])
    assert labels.tolist() == [0, 0]  # the blank, then the first class twice
    assert np.isnan(found).all()


def test_a_label_that_is_no_class_ends_a_sequence() -> None:
    logits = np.random.default_rng(0).normal(size=[4, 1, 3]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        values = tf.placeholder(tf.int32, [3])
        labels = tf.SparseTensor([[0, 0], [0, 1], [0, 2]], values, [1, 3])
        loss = tf.nn.ctc_loss(labels, logits, [4])
        short = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([1, 0]), [1, 2])
        wanted = session.run(tf.nn.ctc_loss(short, logits, [4]))
        assert session.run(loss, {values: [1, 0, 2]}) == wanted
        assert session.run(loss, {values: [1, 0, 77]}) == wanted
        for given, words in (([1, 2, 0], "following a null label"), ([1, -1, 0], "nonnegative")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(loss, {values: given})


def test_the_number_of_sequences_is_a_precondition_of_decoding() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        inputs, lengths = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
        _, score = tf.nn.ctc_greedy_decoder(inputs, lengths)
        with pytest.raises(tf.errors.FailedPreconditionError, match="!= batch_size"):
            session.run(score, {inputs: np.zeros([4, 2, 3]), lengths: [4]})
        with pytest.raises(ValueError, match="must be equal"):
            tf.nn.ctc_greedy_decoder(np.zeros([4, 2, 3], np.float32), [4])
