"""The axis of softmax and of its cross entropy: a number or a tensor, as in TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

_LOGITS = np.arange(24, dtype=np.float32).reshape(2, 3, 4) ** 2 / 50


def _expected(axis: int) -> Any:
    powers = np.exp(_LOGITS - _LOGITS.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@pytest.mark.parametrize("rank_known", [True, False])
@pytest.mark.parametrize("axis", [0, 1, -2])
def test_softmax_along_an_axis_that_is_fed(axis: int, rank_known: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 3, 4] if rank_known else None)
        along = tf.placeholder(tf.int32)
        y = tf.nn.softmax(x, along)
        assert y.shape.ndims == (3 if rank_known else None)
        found, logs = session.run([y, tf.nn.log_softmax(x, along)], {x: _LOGITS, along: axis})
    np.testing.assert_allclose(found, _expected(axis), rtol=1e-5)
    np.testing.assert_allclose(np.exp(logs), _expected(axis), rtol=1e-5)


def test_an_axis_that_is_a_constant_is_checked_while_building() -> None:
    with tf.Graph().as_default():
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be in the range \[-3, 3\)"):
            tf.nn.softmax(_LOGITS, tf.constant(3))
        # The two dims that change places are one: TensorFlow's order of dims is none then.
        with pytest.raises(ValueError, match="Requires start <= limit"):
            tf.nn.softmax(_LOGITS, tf.constant(-1))
        with pytest.raises(TypeError):
            tf.nn.softmax(_LOGITS, [0])


def test_cross_entropy_along_an_axis_that_is_fed() -> None:
    labels = np.full([2, 3, 4], 1 / 3, np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x, axis = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [])
        loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels, x, axis)
        found = session.run(loss, {x: _LOGITS, axis: 1})
    np.testing.assert_allclose(found, -np.log(_expected(1)).mean(1), rtol=1e-5)


@pytest.mark.parametrize(("axis", "words"), [(-2, "Requires start"), ([1], "rank 0"), (3, "start")])
def test_cross_entropy_refuses_other_axes(axis: Any, words: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
        tf.nn.softmax_cross_entropy_with_logits_v2(_LOGITS, _LOGITS, axis)
