"""Least squares: the nodes that TensorFlow 1.15 builds, and what they give."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import penstock as tf


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).uniform(-1, 1, shape)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 5, 3), (2, 3, 5), (4, 4)])
@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_the_shape_is_asked_for_where_it_is_not_known(shape: Any, penalty: float) -> None:
    a, b = _random(*shape), _random(*shape[:-1], 2)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        fed = tf.placeholder(tf.float64, [None] * len(shape))
        known = tf.matrix_solve_ls(tf.constant(a), b, penalty)
        assert not {"Switch", "MatrixSolveLs"} & {op.type for op in graph.get_operations()}
        asked = tf.matrix_solve_ls(fed, tf.constant(b), penalty)
        assert asked.op.type == "Merge" and asked.op.name == "matrix_solve_ls_1/cond/Merge"
        found, expected = session.run([asked, known], {fed: a})
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        if not penalty and len(shape) == 2:
            exact = np.linalg.lstsq(a, b, rcond=None)[0]
            np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-9)


def test_the_nodes_are_tensorflows() -> None:
    with tf.Graph().as_default() as graph:
        tf.matrix_solve_ls(tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32))
        made = Counter(op.type for op in graph.get_operations())
    assert made["MatrixTriangularSolve"] == 4 and made["Cholesky"] == 2 and made["Merge"] == 1
    assert made["MatMul"] == 3 and made["BatchMatMulV2"] == 1 and made["GreaterEqual"] == 1


def test_gradients_pass_through_the_side_that_runs() -> None:
    a, b = _random(4, 2), _random(4, 1)
    with tf.Graph().as_default(), tf.Session() as session:
        fed, known = tf.placeholder(tf.float64, [None, None]), tf.constant(a)
        grads = [tf.gradients(tf.matrix_solve_ls(x, b, 0.1), x)[0] for x in (fed, known)]
        np.testing.assert_allclose(*session.run(grads, {fed: a}), rtol=1e-9)


def test_without_fast_the_penalty_has_no_effect() -> None:
    a, b = _random(4, 3), _random(4, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        made = [tf.matrix_solve_ls(a, b, penalty, fast=False) for penalty in (0.0, 0.5)]
        assert {x.op.type for x in made} == {"MatrixSolveLs"}
        np.testing.assert_array_equal(*session.run(made))


def test_many_small_matrices_are_one_op() -> None:
    a, b = _random(20000, 3, 2).astype(np.float32), np.ones((20000, 3, 1), np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        made, few = tf.matrix_solve_ls(a, b), tf.matrix_solve_ls(a[:50], b[:50])
        assert (made.op.type, few.op.type) == ("MatrixSolveLs", "MatrixTriangularSolve")
        found, expected = session.run([made, few])
        np.testing.assert_allclose(found[:50], expected, rtol=1e-3, atol=1e-4)
