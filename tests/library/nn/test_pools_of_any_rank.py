"""``avg_pool_v2`` and ``max_pool_v2``: one, two and three dims, by the rank or the format."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

_SHAPES = {1: (2, 6, 3), 2: (2, 6, 5, 3), 3: (2, 6, 5, 4, 3)}
_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _pooled(x: np.ndarray, reduce: Any) -> np.ndarray:
    """Windows of 2, strides of 2, SAME: the last window of an odd dim has one element."""
    for axis in range(1, x.ndim - 1):
        starts = range(0, x.shape[axis], 2)
        x = np.stack([reduce(x.take(range(i, min(i + 2, x.shape[axis])), axis), axis)
                      for i in starts], axis)  # fmt: skip
    return x


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_every_rank(kind: str, count: int, first: bool) -> None:
    function = {"max": tf.nn.max_pool_v2, "avg": tf.nn.avg_pool_v2}[kind]
    value = np.random.default_rng(0).normal(size=_SHAPES[count]).astype(np.float32)
    wanted = _pooled(value, {"max": np.max, "avg": np.mean}[kind])
    given = np.moveaxis(value, -1, 1) if first else value
    with tf.Graph().as_default(), tf.Session() as session:
        made = function(tf.constant(given), 2, 2, "SAME", _FORMATS[count][first])
        found = session.run(made)
        if not first:
            named = function(tf.constant(given), [2] * count, [1, *[2] * count, 1], "SAME")
            np.testing.assert_array_equal(session.run(named), found)
    np.testing.assert_allclose(np.moveaxis(found, 1, -1) if first else found, wanted, rtol=1e-5)


@pytest.mark.parametrize("function", [tf.nn.max_pool_v2, tf.nn.avg_pool_v2])
def test_ranks_that_no_pool_has(function: Any) -> None:
    with tf.Graph().as_default():
        for shape in ([2, 3], [1, 2, 3, 4, 5, 6]):
            with pytest.raises(ValueError, match="Input tensor must be of rank 3, 4 or 5 but was"):
                function(tf.zeros(shape), 2, 2, "SAME")
        with pytest.raises(ValueError, match="must have a rank or a data format must be given"):
            function(tf.placeholder(tf.float32), 2, 2, "SAME")
