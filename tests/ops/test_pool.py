"""Windows that stride over the batch or the channels are built, and refused as they run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

_IMAGES = np.ones([4, 4, 4, 2], np.float32)
_POOLING = "Pooling is not yet supported on the batch dimension"
_STRIDES = "Current implementation does not yet support strides in the batch and depth dimensions"


def _refused(result: Any, feeds: Any, kind: type[Exception], words: str) -> None:
    with tf.Session() as session, pytest.raises(kind, match=words):
        session.run(result, feeds)


@pytest.mark.parametrize("pool", [tf.nn.max_pool, tf.nn.avg_pool])
@pytest.mark.parametrize(
    ("ksize", "strides"),
    [([1, 2, 2, 1], [2, 1, 1, 1]), ([2, 1, 1, 1], [2, 1, 1, 1]), ([2, 2, 1, 1], [1, 1, 1, 1])],
)
@pytest.mark.parametrize("known", [True, False])
def test_pools_over_the_batch(pool: Any, ksize: Any, strides: Any, known: bool) -> None:
    x = tf.placeholder(tf.float32, [4, 4, 4, 2] if known else None)
    pooled = pool(x, ksize, strides, "SAME")
    assert pooled.shape.as_list() == ([4, 4, 4, 2] if known else [None] * 4)
    feeds = {x: _IMAGES}
    _refused(pooled, feeds, tf.errors.UnimplementedError, _POOLING)
    _refused(tf.gradients(pooled, x), feeds, tf.errors.UnimplementedError, _POOLING)


@pytest.mark.parametrize("strides", [[2, 1, 1, 1], [1, 1, 1, 2]])
@pytest.mark.parametrize("known", [True, False])
def test_convolutions_that_stride_over_the_batch(strides: Any, known: bool) -> None:
    x = tf.placeholder(tf.float32, [4, 4, 4, 2] if known else None)
    made = tf.nn.conv2d(x, tf.ones([1, 1, 2, 3]), strides, "SAME")
    assert made.shape.as_list() == ([4, 4, 4, 3] if known else [None, None, None, 3])
    _refused(made, {x: _IMAGES}, tf.errors.InvalidArgumentError, _STRIDES)
    biased = tf.nn.relu(tf.nn.bias_add(made, tf.ones([3])))
    _refused(biased, {x: _IMAGES}, tf.errors.InvalidArgumentError, _STRIDES)
