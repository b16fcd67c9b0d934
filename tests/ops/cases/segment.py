"""Rows of segment reductions."""

from typing import Any

from tests.ops.opcase import (
    COMPLEX,
    FLOAT_DOUBLE,
    FLOATS,
    NUMERIC,
    REALS,
    OpCase,
    const,
    distinct,
    feed,
    real,
)

_SORTED = feed([0, 0, 2, 2, 2, 3], "int32")
_SORTED64 = feed([0, 1, 1, 1, 2, 2], "int64")
_UNSORTED = feed([2, 0, -1, 2, 0, 4], "int32")
_GRID = feed([[2, 0, 1], [0, 0, 3]], "int64")
_PICKED = feed([3, 0, 0, 5, 1], "int32")
_PICKED_IDS = feed([0, 0, 1, 1, 3], "int32")
_DECREASING = feed([0, 2, 1, 3, 3, 3], "int32")

_TF_COMPLEX: dict[str, Any] = {
    "grad": False,
    "grad_reason": "TF's gradient of products, which ours is, lacks a conjugate",
}

_EXTREMA = [
    row
    for kind in ("Max", "Min")
    for row in (
        OpCase(f"Segment{kind}", [distinct(6, 3), _SORTED64], {}, REALS),
        OpCase(f"Segment{kind}", [distinct(6, 3), _SORTED], {}),
        OpCase(
            f"UnsortedSegment{kind}",
            [distinct(6, 3), _UNSORTED, const(5)],
            {},
            REALS,
            grad=False,
            grad_reason="empty segments hold the extreme number, where differences overflow",
        ),
        OpCase(f"UnsortedSegment{kind}", [distinct(2, 3, 2), _GRID, feed(4, "int32")]),
    )
]
_SUMS = [
    row
    for kind in ("Sum", "Mean", "Prod")
    for row in (
        OpCase(f"Segment{kind}", [real(6, 3, lo=0.5), _SORTED64], {}, REALS),
        OpCase(f"Segment{kind}", [real(6, 3), _SORTED64], {}, COMPLEX, **_TF_COMPLEX),
        OpCase(f"Segment{kind}", [real(6), _SORTED], {}, FLOATS),
    )
]
_SPARSE = [
    row
    for kind in ("Sum", "Mean", "SqrtN")
    for row in (
        OpCase(f"SparseSegment{kind}", [real(6, 3), _PICKED, _PICKED_IDS], {}, FLOAT_DOUBLE),
        OpCase(
            f"SparseSegment{kind}WithNumSegments",
            [real(6, 3), _PICKED, _PICKED_IDS, const(6)],
            {},
            FLOAT_DOUBLE,
        ),
    )
]

CASES = [
    *_SUMS,
    *_EXTREMA,
    *_SPARSE,
    OpCase("SegmentSum", [real(6, 3), _DECREASING], raises=True, id="SegmentSum_decreasing"),
    OpCase("SegmentSum", [real(5, 3), _SORTED], raises=True, id="SegmentSum_short"),
    OpCase("UnsortedSegmentSum", [real(6, 3), _UNSORTED, const(5)], {}, NUMERIC),
    OpCase("UnsortedSegmentSum", [real(2, 3, 2), _GRID, feed(4, "int32")]),
    OpCase("UnsortedSegmentSum", [real(6, 3), _UNSORTED, const(3)], raises=True),
    OpCase("UnsortedSegmentProd", [real(6, 3, lo=0.5), _UNSORTED, const(5)], {}, REALS),
    OpCase("UnsortedSegmentProd", [real(6, 3), _UNSORTED, const(5)], {}, COMPLEX, **_TF_COMPLEX),
    OpCase("UnsortedSegmentProd", [feed([0.0, 2.0, 3.0, 0.0, 4.0, 0.0]), _UNSORTED, const(5)]),
    *[
        OpCase(op, [real(4, 3), _PICKED, _PICKED_IDS, const(6)], {}, FLOAT_DOUBLE)
        for op in ("SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad")
    ],
]
