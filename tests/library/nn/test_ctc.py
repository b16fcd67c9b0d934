"""CTC: the loss against all alignments counted one by one, its gradient against differences."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import penstock as tf

_TIME, _CLASSES = 5, 4
_ROWS = [[0, 1], [2, 2], [1]]
_LENGTHS = [5, 4, 2]


def _labels() -> Any:
    indices = [[i, j] for i, row in enumerate(_ROWS) for j in range(len(row))]
    values = tf.constant([label for row in _ROWS for label in row])
    return tf.SparseTensor(indices, values, [3, 2])


def _read(path: tuple[int, ...], merge: bool) -> list[int]:
    kept = [c for i, c in enumerate(path) if not (merge and i and path[i - 1] == c)]
    return [c for c in kept if c != _CLASSES - 1]


def _counted(logits: np.ndarray, merge: bool) -> list[float]:
    """Minus the logarithm of the sum over all paths that read as the labels."""
    scores = logits - np.log(np.exp(logits).sum(2, keepdims=True))
    losses = []
    for number, (row, length) in enumerate(zip(_ROWS, _LENGTHS, strict=True)):
        total = sum(
            np.exp(sum(scores[t, number, c] for t, c in enumerate(path)))
            for path in itertools.product(range(_CLASSES), repeat=length)
            if _read(path, merge) == row
        )
        losses.append(-np.log(total))
    return losses


@pytest.mark.parametrize("merge", [True, False])
def test_loss_and_gradient(merge: bool) -> None:
    logits = np.random.default_rng(0).normal(size=(_TIME, 3, _CLASSES))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float64, logits.shape)
        loss = tf.nn.ctc_loss(_labels(), x, _LENGTHS, ctc_merge_repeated=merge)
        found, gradient = session.run([loss, tf.gradients(loss, x)[0]], {x: logits})
        np.testing.assert_allclose(found, _counted(logits, merge))
        for place in np.ndindex(logits.shape):
            moved = logits.copy()
            moved[place] += 1e-6
            slope = (session.run(loss, {x: moved}).sum() - found.sum()) / 1e-6
            np.testing.assert_allclose(gradient[place], slope, atol=1e-5)


def test_decoders_agree_on_clear_frames() -> None:
    path = [3, 0, 0, 3, 1, 1, 2]
    logits = np.full((7, 1, 4), -9.0, np.float32)
    logits[np.arange(7), 0, path] = 9.0
    with tf.Graph().as_default(), tf.Session() as session:
        greedy, _ = tf.nn.ctc_greedy_decoder(logits, [7])
        beam, score = tf.nn.ctc_beam_search_decoder(logits, [7], beam_width=5)
        first, second, value = session.run([greedy[0], beam[0], score])
    assert first.values.tolist() == second.values.tolist() == [0, 1, 2]
    assert first.dense_shape.tolist() == [1, 3]
    assert abs(value[0, 0]) < 1e-3


def test_labels_must_be_sparse() -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match="SparseTensor"):
        tf.nn.ctc_loss(tf.constant([[1]]), tf.zeros([3, 1, 4]), [3])


def test_of_equal_paths_the_beam_keeps_tensorflows() -> None:
    # After three frames two paths of the first sequence have one probability, and one must go.
    scores = np.array(
        [
            [[0.5, -2.0, -1.75], [0.5, 0.375, 0.5]],
            [[-1.125, -0.25, 1.625], [0.875, 0.875, -1.25]],
            [[-0.25, 0.625, 2.0], [1.125, -1.25, -0.625]],
            [[0.0, -1.125, -1.25], [-0.625, -1.375, 1.5]],
        ], np.float32,
    )  # fmt: skip
    # Width of the beam -> the sum of the best path's probabilities in TensorFlow 1.15.
    expected = {2: [-1.083319, -1.184117], 4: [-1.083319, -0.939793], 5: [-0.964073, -0.939793]}
    with tf.Graph().as_default(), tf.Session() as session:
        for width, sums in expected.items():
            _, found = tf.nn.ctc_beam_search_decoder(scores, [4, 3], width, 1)
            np.testing.assert_allclose(session.run(found)[:, 0], sums, atol=2e-6)
