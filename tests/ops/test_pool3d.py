"""Three-dimensional pools whose windows are larger than the image."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import penstock as tf

_CASES = [
    ((1, 3, 6, 2, 3), (3, 3, 3), (1, 1, 1)),
    ((1, 1, 2, 1, 3), (4, 3, 4), (2, 1, 3)),
    ((1, 2, 2, 2, 3), (5, 4, 3), (1, 1, 1)),
    ((2, 5, 2, 1, 1), (3, 3, 2), (2, 2, 1)),
]


def _means(x: np.ndarray, ksize: Any, strides: Any) -> np.ndarray:
    """What SAME padding makes: means of what lies in the image."""
    sizes = x.shape[1:4]
    outs = [-(-n // s) for n, s in zip(sizes, strides, strict=True)]
    pads = [
        max((o - 1) * s + k - n, 0) // 2
        for o, s, k, n in zip(outs, strides, ksize, sizes, strict=True)
    ]
    made = np.empty((x.shape[0], *outs, x.shape[4]), x.dtype)
    for place in itertools.product(*map(range, outs)):
        window = tuple(
            slice(max(p * s - pad, 0), p * s - pad + k)
            for p, s, pad, k in zip(place, strides, pads, ksize, strict=True)
        )
        made[(slice(None), *place)] = x[(slice(None), *window)].mean((1, 2, 3))
    return made


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16])
@pytest.mark.parametrize(("shape", "ksize", "strides"), _CASES)
def test_means_of_windows_larger_than_the_image(
    shape: Any, ksize: Any, strides: Any, dtype: tf.DType
) -> None:
    value = np.random.default_rng(0).normal(size=shape).astype(dtype.as_numpy_dtype)
    sizes, steps = [1, *ksize, 1], [1, *strides, 1]
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.nn.avg_pool3d(tf.constant(value), sizes, steps, "SAME"))
    wanted = _means(value.astype(np.float64), ksize, strides)
    tolerance = {tf.float16: 1e-3, tf.float32: 1e-6, tf.float64: 1e-12}[dtype]
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("data_format", ["NDHWC", "NCDHW"])
@pytest.mark.parametrize(("shape", "ksize", "strides"), _CASES)
def test_gradients_of_windows_larger_than_the_image(
    shape: Any, ksize: Any, strides: Any, data_format: str
) -> None:
    value = np.random.default_rng(1).normal(size=shape)
    sizes, steps = [1, *ksize, 1], [1, *strides, 1]
    if data_format == "NCDHW":
        value = np.moveaxis(value, 4, 1)
        sizes, steps = [1, 1, *ksize], [1, 1, *strides]
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(value)
        y = tf.nn.avg_pool3d(x, sizes, steps, "SAME", data_format)
        (dx,) = tf.gradients(y * y, x)
        for made in (y, dx):
            error = tf.test.compute_gradient_error(
                x, value.shape, made, made.shape.as_list(), x_init_value=value
            )
            assert error < 1e-6
