"""``tf.test.compute_gradient``: Jacobians by gradients and by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Any:
    np.random.seed(1)
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_product() -> None:
    matrix = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    x = tf.constant([[1.0, 2.0]])
    y = tf.matmul(x, matrix.T)
    with tf.Session():
        one, other = tf.test.compute_gradient(x, [1, 2], y, [1, 3])
        np.testing.assert_allclose(one, matrix.T, rtol=1e-6)
        np.testing.assert_allclose(other, matrix.T, rtol=1e-2)
        assert tf.test.compute_gradient_error(x, [1, 2], y, [1, 3]) < 1e-2


def test_a_wrong_gradient_shows() -> None:
    @tf.custom_gradient
    def wrong(x: Any) -> Any:
        return tf.square(x), lambda dy: dy * x

    x = tf.constant([1.0, 2.0], tf.float64)
    with tf.Session():
        at = np.array([1.0, 2.0])
        error = tf.test.compute_gradient_error(x, [2], wrong(x), [2], x_init_value=at)
        assert error == pytest.approx(2.0, rel=1e-6)


def test_several_and_variables() -> None:
    x, y = tf.constant([1.0, 2.0], tf.float64), tf.constant([5.0, 7.0], tf.float64)
    v = tf.Variable(tf.constant(3.0, tf.float64))
    scale = tf.placeholder(tf.float64, [])
    with tf.Session():
        pairs = tf.test.compute_gradient(
            [x, y], [[2], [2]], x * y * v * scale, [2],
            x_init_value=[np.array([1.0, 2.0]), np.array([5.0, 7.0])],
            init_targets=[v.initializer], extra_feed_dict={scale: 2.0},
        )  # fmt: skip
        np.testing.assert_allclose(pairs[0][0], np.diag([30.0, 42.0]))
        np.testing.assert_allclose(pairs[1][0], np.diag([6.0, 12.0]))
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def test_complex_numbers_are_two() -> None:
    x = tf.placeholder(tf.complex128, [2])
    with tf.Session():
        one, other = tf.test.compute_gradient(x, [2], tf.square(x), [2])
        assert one.shape == (4, 4)
        np.testing.assert_allclose(one, other, atol=1e-6)
        one, other = tf.test.compute_gradient(x, [2], tf.real(x) * tf.imag(x), [2])
        assert one.shape == (4, 2)
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_slices_and_empty() -> None:
    x = tf.placeholder(tf.float64, [4, 2])
    empty = tf.placeholder(tf.float64, [0, 2])
    with tf.Session():
        y = tf.gather(x, [1, 3, 1])
        assert isinstance(tf.gradients(y, x)[0], tf.IndexedSlices)
        assert tf.test.compute_gradient_error(x, [4, 2], y, [3, 2]) < 1e-8
        assert tf.test.compute_gradient_error(empty, [0, 2], empty * 2.0, [0, 2]) == 0


def test_half_precision() -> None:
    x = tf.placeholder(tf.bfloat16, [2])
    with tf.Session():
        one, other = tf.test.compute_gradient(
            x, [2], x * tf.constant(2, tf.bfloat16), [2], delta=0.125,
            x_init_value=np.ones(2, tf.bfloat16.as_numpy_dtype),
        )  # fmt: skip
        np.testing.assert_allclose(other, np.diag([2.0, 2.0]), rtol=0.1)
        np.testing.assert_allclose(one.astype(np.float32), np.diag([2.0, 2.0]))


def test_what_cannot_be_checked() -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.Session():
        with pytest.raises(TypeError, match="y must have one of the types"):
            tf.test.compute_gradient(x, [2], tf.cast(x, tf.int32), [2])
        with pytest.raises(ValueError, match=r"x_shape is \[2\], and x_init_value has \[3\]"):
            tf.test.compute_gradient(x, [2], x * 2.0, [2], x_init_value=np.ones(3))
