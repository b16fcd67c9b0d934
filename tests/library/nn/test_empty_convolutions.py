"""Convolutions of images and filters without elements, and their gradients: zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

_SHAPES = [
    ([0, 4, 4, 2], [3, 3, 2, 5], "SAME", [0, 4, 4]),
    ([0, 4, 4, 2], [3, 3, 2, 5], "VALID", [0, 2, 2]),
    ([1, 4, 4, 2], [3, 3, 2, 0], "SAME", [1, 4, 4]),
    ([1, 4, 4, 2], [3, 3, 2, 0], "VALID", [1, 2, 2]),
    ([1, 0, 4, 2], [3, 3, 2, 5], "SAME", [1, 0, 4]),
    ([1, 4, 4, 2], [0, 3, 2, 5], "SAME", [1, 4, 4]),
]


# A depthwise filter without elements is refused: see below.
_CASES = [
    (*case, depthwise) for case in _SHAPES for depthwise in (False, True)
    if not (depthwise and 0 in case[1])
]  # fmt: skip


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("image", "kernel", "padding", "wanted", "depthwise"), _CASES)
def test_nothing_is_convolved_to_zeros(
    image: Any, kernel: Any, padding: str, wanted: Any, depthwise: bool, known: bool
) -> None:
    function = tf.nn.depthwise_conv2d if depthwise else tf.nn.conv2d
    with tf.Graph().as_default(), tf.Session() as session:
        shapes = (image, kernel) if known else ([None] * 4, [None] * 4)
        x, w = (tf.placeholder(tf.float32, shape) for shape in shapes)
        y = function(x, w, [1, 1, 1, 1], padding)
        feeds = {x: np.ones(image), w: np.ones(kernel)}
        found = session.run([y, *tf.gradients(y, [x, w])], feeds)
    channels = kernel[3] * (kernel[2] if depthwise else 1)
    for array, shape in zip(found, ([*wanted, channels], image, kernel), strict=True):
        assert list(array.shape) == shape
        assert not array.any()


@pytest.mark.parametrize("kernel", [[3, 3, 2, 0], [0, 3, 2, 5], [3, 3, 0, 5]])
def test_a_depthwise_filter_without_elements_is_refused(kernel: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.placeholder(tf.float32, [None] * 4), tf.placeholder(tf.float32, [None] * 4)
        y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
        with pytest.raises(tf.errors.InvalidArgumentError, match="must not have zero elements"):
            session.run(y, {x: np.ones([1, 4, 4, kernel[2]]), w: np.ones(kernel)})


def test_a_bias_and_an_activation_after_nothing() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.placeholder(tf.float32, [1, 4, 4, 2]), tf.placeholder(tf.float32, [0, 3, 2, 5])
        y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), [1.0] * 5))
        found = session.run(y, {x: np.ones([1, 4, 4, 2]), w: np.ones([0, 3, 2, 5])})
    np.testing.assert_array_equal(found, np.ones([1, 4, 4, 5]))
