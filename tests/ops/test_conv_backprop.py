"""Gradients of convolutions refuse at their run what belongs to no one convolution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make

_PLANE, _VOLUME = [1, 1, 1, 1], [1, 1, 1, 1, 1]
_MISFITS = [
    ("Conv2DBackpropInput", [1, 4, 5, 2], [2, 2, 2], [1, 4, 5, 3], _PLANE, "filter must be 4"),
    ("Conv2DBackpropInput", [0, 4, 5, 2], [2, 2, 2, 3], [1, 4, 5, 3], _PLANE, "same batch size"),
    ("Conv2DBackpropInput", [1, 4, 5, 3], [2, 2, 2, 3], [1, 4, 5, 3], _PLANE, "evenly divisible"),
    ("Conv2DBackpropInput", [1, 4, 5, 4], [2, 2, 2, 3], [1, 4, 5, 3], _PLANE, "number of groups"),
    ("Conv2DBackpropInput", [1, 4, 5, 2], [2, 2, 2, 3], [1, 4, 5, 2], _PLANE, "same out_depth"),
    ("Conv2DBackpropInput", [1, 4, 7, 2], [2, 2, 2, 3], [1, 4, 5, 3], _PLANE, "match computed"),
    ("Conv2DBackpropInput", [1, 4, -1, 2], [2, 2, 2, 3], [1, 4, 5, 3], _PLANE, "must be >= 0"),
    ("Conv2DBackpropInput", [1, 4, 5, 2], [2, 2, 2, 3], [1, 4, 5, 3], [1, 1], "must specify 4"),
    ("Conv2DBackpropFilter", [1, 4, 5, 2], [2, 2, 2, 3], [1, 3, 5, 3], _PLANE, "match computed"),
    ("Conv2DBackpropFilter", [1, 4, 5, 2], [2, 2, 2, 3], [1, 4, 5, 3], [1, 1, 1, 2], "not yet"),
    ("Conv2DBackpropFilter", [1, 4, 5, 2], [2, 2, 2, 3], [1, 4, 5, 3], [1, 0, 1, 1], "larger than"),
    ("Conv3DBackpropInputV2", [1, 3, 3, 3, 2], [2, 2, 2, 1, 2], [1, 3, 3, 3, 2], _VOLUME, "takes"),
    ("Conv3DBackpropFilterV2", [1, 3, 3, 3, 1], [2, 2, 2, 1, 2], [3, 3, 3, 2], _VOLUME, "must be"),
    ("DepthwiseConv2dNativeBackpropInput", [1, 4, 5, 3], [2, 2, 2, 2], [1, 4, 5, 4], _PLANE,
     "same in_depth"),
    ("DepthwiseConv2dNativeBackpropFilter", [1, 4, 5, 2], [2, 2, 2, 2], [1, 4, 5, 3], _PLANE,
     "depth_multiplier"),
]  # fmt: skip


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("op", "image", "kernel", "grad", "strides", "words"), _MISFITS)
def test_misfits_are_errors_of_the_run(
    op: str, image: Any, kernel: Any, grad: Any, strides: Any, words: str, known: bool
) -> None:
    feeds: dict[Any, Any] = {}

    def given(array: Any) -> Any:
        array = np.asarray(array)
        if known:
            return tf.constant(array, array.dtype)
        feeds[made := tf.placeholder(array.dtype)] = array
        return made

    wanted = "filter" if "Filter" in op else "input"
    with tf.Graph().as_default(), tf.Session() as session:
        operands = [
            given(np.array(dims, np.int32) if name == wanted else np.ones(dims, np.float32))
            for name, dims in (("input", image), ("filter", kernel), ("out_backprop", grad))
        ]
        found = make(op, *operands, strides=strides, padding="SAME")
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(found, feeds)


@pytest.mark.parametrize("known", [True, False])
def test_an_image_without_channels_has_a_gradient_without_elements(known: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sizes = [1, 4, 4, 0]
        wanted = tf.constant(sizes) if known else tf.placeholder(tf.int32)
        y = tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 3]), tf.ones([2, 2, 2, 3]), wanted, 2)
        assert session.run(y, {} if known else {wanted: sizes}).shape == (1, 4, 4, 0)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_a_dilated_transpose_takes_a_shape_and_a_filter_that_are_fed(padding: str) -> None:
    draw = np.random.default_rng(0)
    small = [4, 5] if padding == "SAME" else [2, 3]
    image, kernel = draw.normal(size=[1, *small, 3]), draw.normal(size=[2, 2, 2, 3])
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.constant(image), tf.placeholder(tf.float64, [None] * 4)
        sizes = tf.placeholder(tf.int32, [4])
        fed = tf.nn.atrous_conv2d_transpose(x, w, sizes, 2, padding)
        known = tf.nn.atrous_conv2d_transpose(x, kernel, [1, 4, 5, 2], 2, padding)
        assert fed.shape.ndims == 4
        one, two = session.run([fed, known], {w: kernel, sizes: [1, 4, 5, 2]})
    np.testing.assert_array_equal(one, two)
