"""Sums of infinite complex numbers: each part is added by itself, and 0 stays 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf

INF = np.inf
X = np.array([[complex(INF, 0), complex(0, INF), 1 + 1j], [1, complex(-INF, 2), complex(0, INF)]])
SUM = [complex(INF, 0), complex(-INF, INF), complex(1, INF)]
DIFFERENCE = [complex(INF, 0), complex(INF, INF), complex(1, -INF)]


@pytest.mark.parametrize("dtype", [tf.complex64, tf.complex128])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x[0] + x[1], SUM),
        (lambda x: x[0] - x[1], DIFFERENCE),
        (lambda x: tf.add_n([x[0], x[1]]), SUM),
        (lambda x: tf.add_n([x[0], x[1], tf.zeros_like(x[0])]), SUM),
        (lambda x: tf.accumulate_n([x[0], x[1]]), SUM),
        (lambda x: tf.nn.bias_add(x[:1], x[1])[0], SUM),
        (lambda x: tf.tensor_scatter_add(x, [[0]], x[1:])[0], SUM),
        (lambda x: tf.tensor_scatter_sub(x, [[0]], x[1:])[0], DIFFERENCE),
        (lambda x: tf.reduce_sum(x, 0), SUM),
        (lambda x: tf.segment_sum(x, [0, 0])[0], SUM),
    ],
)
@pytest.mark.parametrize("shape", [[2, 3], None])
def test_sums(
    function: Callable[[Any], Any], expected: list[complex], dtype: tf.DType, shape: Any
) -> None:
    x = tf.placeholder(dtype, shape)
    with tf.Session() as session:
        found = session.run(function(x), {x: X})
    np.testing.assert_array_equal(found, np.array(expected, dtype.as_numpy_dtype))


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    ("update", "expected"),
    [
        (lambda v: tf.assign_add(v, X[1]), SUM),
        (lambda v: tf.assign_sub(v, X[1]), DIFFERENCE),
        (lambda v: tf.scatter_add(v, [0, 1, 2], X[1]), SUM),
        (lambda v: tf.scatter_sub(v, [0, 1, 2], X[1]), DIFFERENCE),
    ],
)
def test_updates(update: Callable[[Any], Any], expected: list[complex], use_resource: bool) -> None:
    variable = tf.Variable(X[0], use_resource=use_resource)
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(update(variable))
        np.testing.assert_array_equal(session.run(variable), np.array(expected))


def test_the_squared_difference_of_infinite_numbers() -> None:
    x = tf.placeholder(tf.complex128)
    with tf.Session() as session:
        found = session.run(tf.squared_difference(x, 1.0), {x: [complex(INF, 0)]})
    assert found[0].real == INF  # the difference has no nan, as it had
