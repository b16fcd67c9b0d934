"""Convolutions and pools over one to three dims, strided and dilated, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


def _run(fetched: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetched)


def _volumes() -> np.ndarray:
    return np.random.RandomState(0).randn(2, 7, 6, 5, 3).astype(np.float32)


def _filter() -> np.ndarray:
    return np.random.RandomState(1).randn(2, 3, 2, 3, 4).astype(np.float32)


def _spread(filter: np.ndarray, rate: list[int]) -> np.ndarray:
    """The filter with the gaps of its dilation filled with zeros."""
    sizes = [(n - 1) * r + 1 for n, r in zip(filter.shape, rate, strict=False)]
    whole = np.zeros((*sizes, *filter.shape[3:]), filter.dtype)
    whole[tuple(slice(None, None, r) for r in rate)] = filter
    return whole


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("rate", [[1, 1, 1], [2, 1, 2], [2, 2, 1]])
def test_convolution_of_volumes_is_that_of_the_filter_with_gaps(
    rate: list[int], padding: str
) -> None:
    found = tf.nn.convolution(_volumes(), _filter(), padding, dilation_rate=rate)
    direct = tf.nn.conv3d(_volumes(), _spread(_filter(), rate), [1] * 5, padding)
    assert found.shape.is_compatible_with(direct.shape)
    np.testing.assert_allclose(*_run([found, direct]), rtol=1e-4, atol=1e-4)


def test_a_strided_convolution_of_volumes() -> None:
    found = tf.nn.convolution(_volumes(), _filter(), "VALID", strides=[1, 2, 2])
    direct = tf.nn.conv3d(_volumes(), _filter(), [1, 1, 2, 2, 1], "VALID")
    assert found.shape.as_list() == [2, 6, 2, 2, 4]
    np.testing.assert_array_equal(*_run([found, direct]))


def test_one_stride_or_rate_for_all_dims() -> None:
    x, f = tf.placeholder(tf.float32, [1, 5, 5, 5, 3]), tf.zeros([2, 2, 2, 3, 5])
    for strides in (2, [2], [2, 2, 2], [1, 2, 2, 2, 1]):
        assert tf.nn.convolution(x, f, "VALID", strides=strides).shape.as_list()[1:4] == [2] * 3
    for rate in (2, [2], [2, 2, 2], [1, 2, 2, 2, 1]):
        found = tf.nn.convolution(x, f, "VALID", dilation_rate=rate)
        assert found.shape.as_list()[1:4] == [3] * 3


def _windows(x: np.ndarray, sizes: list[int], rate: list[int]) -> np.ndarray:
    """All that each window sees, along a new last axis."""
    counts = [x.shape[i + 1] - (sizes[i] - 1) * rate[i] for i in range(3)]
    seen = []
    for offset in np.ndindex(*sizes):
        at = [offset[i] * rate[i] for i in range(3)]
        seen.append(x[:, *(slice(a, a + n) for a, n in zip(at, counts, strict=True))])
    return np.stack(seen, -1)


@pytest.mark.parametrize("rate", [[1, 1, 1], [2, 1, 1], [1, 2, 3]])
def test_pools_of_volumes(rate: list[int]) -> None:
    x, sizes = _volumes(), [2, 3, 2]
    most = tf.nn.pool(x, sizes, "MAX", "VALID", dilation_rate=rate)
    mean = tf.nn.pool(x, sizes, "AVG", "VALID", dilation_rate=rate)
    most_value, mean_value = _run([most, mean])
    np.testing.assert_array_equal(most_value, _windows(x, sizes, rate).max(-1))
    np.testing.assert_allclose(mean_value, _windows(x, sizes, rate).mean(-1), atol=1e-5)


def test_the_channels_of_volumes_may_be_second() -> None:
    x = tf.placeholder(tf.float32, [1, 3, 7, 6, 5])
    made = tf.nn.convolution(x, _filter(), "VALID", data_format="NCDHW")
    assert made.shape.as_list() == [1, 4, 6, 4, 4]
    made = tf.nn.pool(x, [2, 3, 2], "MAX", "VALID", strides=[2, 1, 1], data_format="NCDHW")
    assert made.op.type == "MaxPool3D" and made.shape.as_list() == [1, 3, 3, 4, 4]


def test_the_rank_comes_from_what_is_known() -> None:
    unknown = tf.placeholder(tf.float32)
    made = tf.nn.convolution(unknown, tf.zeros([1, 2, 3, 4, 5]), "VALID")
    assert made.shape.as_list() == [None, None, None, None, 5]
    made = tf.nn.convolution(tf.zeros([1, 5, 5, 5, 3]), unknown, "VALID")
    assert made.shape.as_list() == [1, None, None, None, None]
    assert tf.nn.pool(unknown, [2, 1, 3], "MAX", "VALID").shape.as_list() == [None] * 5


def test_conv_transpose_of_volumes() -> None:
    x, f = np.ones([1, 3, 3, 3, 2], np.float32), np.ones([2, 2, 2, 4, 2], np.float32)
    shape = [1, 6, 6, 6, 4]
    found = tf.nn.conv_transpose(x, f, shape, 2)
    direct = tf.nn.conv3d_transpose(x, f, shape, [1, 2, 2, 2, 1])
    assert found.shape.as_list() == shape
    np.testing.assert_array_equal(*_run([found, direct]))


def test_the_gradient_of_a_dilated_convolution_of_volumes() -> None:
    x = tf.constant(_volumes())
    found = tf.nn.convolution(x, _filter(), "SAME", dilation_rate=[2, 1, 2])
    direct = tf.nn.conv3d(x, _spread(_filter(), [2, 1, 2]), [1] * 5, "SAME")
    gradients = _run([tf.gradients(y * y, x)[0] for y in (found, direct)])
    np.testing.assert_allclose(*gradients, rtol=1e-4, atol=1e-3)


_X4, _X5 = np.zeros([1, 5, 5, 3], np.float32), np.zeros([1, 5, 5, 5, 3], np.float32)
_F5 = np.zeros([2, 2, 2, 3, 5], np.float32)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: tf.nn.convolution(np.zeros([1] * 6, "f"), np.zeros([1] * 6, "f"), "VALID"),
            "must be of rank 3, 4 or 5 but was 6",
        ),
        (
            lambda: tf.nn.convolution(
                tf.placeholder(tf.float32), tf.placeholder(tf.float32), "SAME"
            ),
            "rank of input or filter must be known",
        ),
        (
            lambda: tf.nn.convolution(_X5, _F5, "SAME", strides=[1, 1]),
            "strides should be of length 1, 3 or 5 but was 2",
        ),
        (
            lambda: tf.nn.convolution(_X5, _F5, "SAME", dilation_rate=[1, 1]),
            "dilations should be of length 1, 3 or 5 but was 2",
        ),
        (
            lambda: tf.nn.convolution(_X5, _F5, "SAME", strides=2, dilation_rate=2),
            "strides > 1 not supported in conjunction with dilation_rate > 1",
        ),
        (
            lambda: tf.nn.pool(_X5, [1] * 4, "MAX", "VALID"),
            "It is required that 1 <= num_spatial_dims <= 3",
        ),
        (lambda: tf.nn.pool(_X4, [1], "MAX", "VALID"), "must have rank 3"),
        (lambda: tf.nn.pool(_X4, [1, 1], "MIN", "VALID"), "2-D MIN pooling is not supported"),
        (
            lambda: tf.nn.pool(_X4, [2, 2], "MAX", "VALID", dilation_rate=[2]),
            r"len\(dilation_rate\)=1 but should be 2",
        ),
        (
            lambda: tf.nn.pool(_X4, [2, 2], "MAX", "VALID", strides=[0, 1]),
            "all values of strides must be positive",
        ),
        (
            lambda: tf.nn.pool(_X4, [2, 1], "MAX", "VALID", strides=[1, 2]),
            "strides > window_shape not supported",
        ),
        (
            lambda: tf.nn.pool(_X4, [2, 2], "MAX", "SAME", dilation_rate=[1, 2]),
            "pooling with SAME padding is not implemented for dilation_rate > 1",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()
