"""Scalars and histograms of NaN, Inf, zeros and nothing: a table dumped from TensorFlow 1.15."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest

import penstock as tf

NAN, INF = math.nan, math.inf
MOST = float(np.finfo(np.float64).max)
LEAST = -MOST

SCALARS: list[tuple[Any, float]] = [
    (NAN, NAN), (INF, INF), (-INF, -INF), (np.float64(1e308), INF), (np.float16(INF), INF),
    (np.int32(3), 3.0), (-0.0, -0.0),
]  # fmt: skip
# Values; min, max, num, sum and sum of squares; limits and counts.
HISTOGRAMS: list[tuple[Any, tuple[float, ...], list[float], list[float]]] = [
    ([], (MOST, LEAST, 0.0, 0.0, 0.0), [MOST], [0.0]),
    ([[]], (MOST, LEAST, 0.0, 0.0, 0.0), [MOST], [0.0]),
    (np.array([True]), (1.0, 1.0, 1.0, 1.0, 1.0),
     [0.917246389039776, 1.0089710279437536, MOST], [0.0, 1.0, 0.0]),
    ([1e-300], (0.0, 0.0, 1.0, 0.0, 0.0), [0.0, 1e-12, MOST], [0.0, 1.0, 0.0]),
    ([0.0, -0.0], (0.0, 0.0, 2.0, 0.0, 0.0), [0.0, 1e-12, MOST], [0.0, 2.0, 0.0]),
    ([-0.0, 0.0], (0.0, 0.0, 2.0, 0.0, 0.0), [0.0, 1e-12, MOST], [0.0, 2.0, 0.0]),
    ([-0.0], (0.0, 0.0, 1.0, 0.0, 0.0), [0.0, 1e-12, MOST], [0.0, 1.0, 0.0]),
    ([1e20, -1e20],
     (-1.0000000200408773e20, 1.0000000200408773e20, 2.0, 0.0, 2.0000000801635102e40),
     [LEAST, -9.920775621859783e19, 9.920775621859783e19, MOST], [0.0, 1.0, 0.0, 1.0]),
]  # fmt: skip
REFUSED: list[tuple[str, Any, Any, str]] = [
    *(("histogram", v, tf.errors.InvalidArgumentError, "Nan in") for v in (NAN, [1.0, NAN, INF])),
    *(("histogram", v, tf.errors.InvalidArgumentError, "Infinity in")
      for v in (INF, -INF, [1.0, INF, NAN], np.float64(1e308))),
    *(("scalar", v, tf.errors.InvalidArgumentError, "not the same shape")
      for v in ([], [[]], [NAN], [1.0, 2.0], [[3.0]])),
    *((kind, v, TypeError, "may not be") for kind in ("scalar", "histogram")
      for v in ("text", 1 + 2j)),
    ("scalar", True, TypeError, "may not be bool"),
]  # fmt: skip


def _run(kind: str, value: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as sess:
        return tf.Summary.FromString(sess.run(getattr(tf.summary, kind)("t", value))).value[0]


def _bits(*values: float) -> bytes:
    """Tells 0.0 from -0.0, and a NaN is itself."""
    return struct.pack(f"{len(values)}d", *values)


@pytest.mark.parametrize(("value", "wanted"), SCALARS, ids=repr)
def test_scalar(value: Any, wanted: float) -> None:
    assert _bits(_run("scalar", value).simple_value) == _bits(wanted)


@pytest.mark.parametrize(("values", "facts", "limits", "counts"), HISTOGRAMS, ids=repr)
def test_histogram(values: Any, facts: Any, limits: list[float], counts: list[float]) -> None:
    found = _run("histogram", values).histo
    assert _bits(found.min, found.max, found.num, found.sum, found.sum_squares) == _bits(*facts)
    assert (list(found.bucket_limit), list(found.bucket)) == (limits, counts)


@pytest.mark.parametrize(("kind", "value", "error", "text"), REFUSED, ids=repr)
def test_refused(kind: str, value: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        _run(kind, value)
