"""Initializers: bounds, variances and shapes of what they make."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.library.variables import initializers


class _Part:
    """Where a part of a variable lies."""

    full_shape = [400, 300]
    var_offset = [100, 0]


def _value(initializer: Any, shape: Any, **more: Any) -> np.ndarray:
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        tensor = initializer(shape, **more)
        with tf.Session() as session:
            return session.run(tensor)


@pytest.mark.parametrize(
    ("initializer", "variance", "bound"),
    [
        (initializers.random_uniform_initializer(-2, 2), 16 / 12, 2.0),
        (initializers.random_normal_initializer(stddev=3.0), 9.0, np.inf),
        (initializers.truncated_normal_initializer(stddev=0.1), 0.1**2 * 0.7737, 0.2),
        (initializers.glorot_uniform_initializer(), 2 / 700, np.sqrt(6 / 700)),
        (initializers.glorot_normal_initializer(), 2 / 700, 2 * np.sqrt(2 / 700) / 0.8796),
        (initializers.he_normal(), 2 / 400, np.inf),
        (initializers.he_uniform(), 2 / 400, np.sqrt(6 / 400)),
        (initializers.lecun_normal(), 1 / 400, np.inf),
        (initializers.lecun_uniform(), 1 / 400, np.sqrt(3 / 400)),
        (initializers.uniform_unit_scaling_initializer(2.0), 4 / 400, 2 * np.sqrt(3 / 400)),
        (initializers.variance_scaling_initializer(3.0, "fan_out", "untruncated_normal"),
         3 / 300, np.inf),
    ],
)  # fmt: skip
def test_random(initializer: Any, variance: float, bound: float) -> None:
    for shape, more in (([400, 300], {}), ([100, 300], {"partition_info": _Part()})):
        value = _value(initializer, shape, **more)
        assert value.shape == tuple(shape) and value.dtype == np.float32
        assert value.var() == pytest.approx(variance, rel=0.02)
        assert abs(value.mean()) < 5 * np.sqrt(variance / value.size)
        assert np.abs(value).max() <= bound * (1 + 1e-6)


def test_fans_of_a_convolution() -> None:
    assert initializers.fans([5, 5, 3, 7]) == (75, 175)
    assert initializers.fans([]) == (1, 1)
    assert initializers.fans([9]) == (9, 9)


def test_plain() -> None:
    np.testing.assert_array_equal(_value(initializers.zeros_initializer(), [2]), [0, 0])
    ones = _value(initializers.ones_initializer(tf.int32), [2])
    assert ones.dtype == np.int32 and ones.tolist() == [1, 1]
    filled = _value(initializers.constant_initializer([1, 2]), [2, 2], dtype=tf.float64)
    np.testing.assert_array_equal(filled, [[1, 2], [2, 2]])
    with pytest.raises((TypeError, ValueError)):
        _value(initializers.constant_initializer([1, 2], verify_shape=True), [3])
    with pytest.raises(TypeError, match="found dict"):
        initializers.constant_initializer({})


def test_identity() -> None:
    eye = _value(initializers.identity_initializer(3.0), [2, 3])
    np.testing.assert_array_equal(eye, 3 * np.eye(2, 3))
    part = _value(initializers.identity_initializer(), [50, 300], partition_info=_Part())
    np.testing.assert_array_equal(part, np.eye(400, 300)[100:150])


@pytest.mark.parametrize("shape", [[6, 4], [4, 6], [2, 3, 4], [5, 5]])
def test_orthogonal(shape: list[int]) -> None:
    value = _value(initializers.orthogonal_initializer(2.0), shape).reshape(-1, shape[-1]) / 2
    product = value @ value.T if value.shape[0] < value.shape[1] else value.T @ value
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-5)


@pytest.mark.parametrize(
    "initializer",
    [
        initializers.random_uniform_initializer(-1, 2, 5),
        initializers.truncated_normal_initializer(1.0, 2.0, 5),
        initializers.variance_scaling_initializer(2.0, "fan_avg", "uniform", 5),
        initializers.glorot_uniform_initializer(5),
        initializers.orthogonal_initializer(0.5, 5),
        initializers.uniform_unit_scaling_initializer(0.5, 5),
    ],
)
def test_config_makes_it_again(initializer: Any) -> None:
    again = type(initializer).from_config(initializer.get_config())
    assert again.get_config() == initializer.get_config()
    np.testing.assert_array_equal(_value(again, [3, 3]), _value(initializer, [3, 3]))


def test_errors() -> None:
    with pytest.raises(ValueError, match="floating-point"):
        initializers.random_normal_initializer(dtype=tf.int32)
    with pytest.raises(ValueError, match="mode must be one of"):
        initializers.variance_scaling_initializer(mode="fan")
    with pytest.raises(ValueError, match="distribution must be one of"):
        initializers.variance_scaling_initializer(distribution="cauchy")
    with pytest.raises(ValueError, match="scale must be positive"):
        initializers.variance_scaling_initializer(0)
    with pytest.raises(ValueError, match="at least two dims"):
        _value(initializers.orthogonal_initializer(), [3])
