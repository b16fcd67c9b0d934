"""Fused convolutions are the nodes that they stand for, also where TensorFlow's are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make

_RNG = np.random.RandomState(0)


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("align", [True, False])
def test_several_images_and_paddings_fed(mode: str, known: bool, align: bool) -> None:
    image = _RNG.randn(3, 5, 6, 2).astype(np.float32)
    kernel = _RNG.randn(3, 2, 2, 4).astype(np.float32)
    pads = np.array([[0, 0], [1, 2], [2, 1], [0, 0]], np.int32)
    with tf.Graph().as_default(), tf.Session() as session:
        paddings = tf.placeholder(tf.int32, [4, 2])
        given: Any = pads if known else paddings
        conv = {"strides": [1, 2, 1, 1], "padding": "VALID"}
        padded = make("FusedPadConv2D", image, given, kernel, mode=mode, **conv)
        apart = tf.nn.conv2d(tf.pad(image, given, mode), kernel, **conv)
        size = [7, 8]
        resized = make(
            "FusedResizeAndPadConv2D", image, size, given, kernel, mode=mode,
            resize_align_corners=align, **conv,
        )  # fmt: skip
        larger = tf.image.resize_bilinear(image, size, align)
        resized_apart = tf.nn.conv2d(tf.pad(larger, given, mode), kernel, **conv)
        wanted = [3, 3, 8, 4] if known else [3, None, None, 4]
        assert padded.shape.as_list() == wanted
        found = session.run([padded, apart, resized, resized_apart], {paddings: pads})
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found[2], found[3], rtol=1e-4, atol=1e-4)
