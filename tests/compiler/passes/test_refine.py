"""Refining: shapes from what is fed, and everything that follows from them."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.compiler.passes.prune import prune
from penstock.compiler.passes.refine import refine
from tests.compiler.passes.rewriting import agree, rewritten, types


def _batch_mean() -> tuple[tf.Tensor, tf.Tensor]:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    size = tf.cast(tf.shape(x)[0], tf.float32)
    return x, tf.divide(tf.reduce_sum(x), size)


def test_fed_shapes_reach_every_node() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.transpose(tf.exp(x))
    step = refine(prune(tf.get_default_graph(), [x], [y], []), [(5, 3)])
    assert step.fetches[0].sizes == (3, 5)
    assert y.sizes == (3, None), "the user's graph stays as it was"


def test_what_follows_from_shapes_folds_away() -> None:
    x, y = _batch_mean()
    assert types(rewritten([y], [x], shapes=[(4, 3)])) == ["Sum", "RealDiv"]
    assert "Shape" in types(rewritten([y], [x]))
    assert agree([y], {x: np.ones((4, 3))}) == [3.0]


def test_shapes_follow_from_values_that_are_shapes() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.exp(tf.fill(tf.shape(x), 2.0))
    step = refine(prune(tf.get_default_graph(), [x], [y], []), [(5, 3)])
    assert step.fetches[0].sizes == (5, 3)


def test_none_leaves_what_is_declared() -> None:
    x, y = _batch_mean()
    step = refine(prune(tf.get_default_graph(), [x], [y], []), [None])
    assert step.feeds[0].sizes == (None, 3)


def test_shapes_that_a_node_refuses() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.matmul(x, tf.placeholder_with_default(np.ones((3, 2), np.float32), [None, None]))
    step = prune(tf.get_default_graph(), [x, y.op.inputs[1]], [y], [])
    refined = refine(step, [(2, 3), (4, 2)])
    assert refined.fetches[0].sizes == (None, None)  # as declared
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="MatMul"):
        session.run(y, {x: np.ones((2, 3)), y.op.inputs[1]: np.ones((4, 2))})


def test_conditionals_keep_what_is_declared_against_what_is_fed() -> None:
    x = tf.placeholder(tf.float32)
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: x * 2)
    y.set_shape([None, None, None])
    with tf.Session() as session:
        assert session.run(y, {x: np.ones((2, 3))}).tolist() == [[1.0] * 3] * 2
