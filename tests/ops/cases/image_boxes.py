"""Rows of non-maximum suppression: overlaps, thresholds, limits, flipped and empty boxes."""

import dataclasses

import numpy as np

from tests.ops.opcase import OpCase, Spec, const, distinct, feed, real

_HALF = ("float32", "half")


def _boxes(*shape: int) -> Spec:
    """Boxes around few middles, so that many overlap; some are given from the other corner."""

    def draw(rng: np.random.Generator, dtype: str, _: list[np.ndarray]) -> np.ndarray:
        middle = rng.integers(0, 3, (*shape, 2)) * 0.3 + rng.uniform(0, 0.12, (*shape, 2))
        reach = rng.uniform(0.05, 0.25, (*shape, 2))
        flipped = np.where(rng.random((*shape, 1)) < 0.2, -1, 1)
        return np.concatenate((middle - flipped * reach, middle + flipped * reach), -1)

    return Spec(draw)


def _scores(*shape: int, dtype: str = "T") -> Spec:
    return distinct(*shape, lo=0, hi=1, dtype=dtype)


_TIES = np.array([(0, 0, 1, 1), (0, 0, 1, 1), (0, 0, 1, 0.9), (2, 2, 2, 2), (2, 2, 2, 2)])
_HALVES = np.array([(0, 0, 1, 1), (0, 0, 1, 0.5), (2, 2, 3, 3)])
_TIED = (0.5, 0.5, 0.7, 0.2, 0.2)


def _overlaps(n: int) -> Spec:
    return Spec(lambda rng, dtype, _: np.maximum(rng.random((n, n)), np.eye(n)))


_ROWS = [
    *(
        OpCase("NonMaxSuppression", [_boxes(n), _scores(n), const(limit)], {"iou_threshold": iou})
        for n, limit, iou in ((30, 10, 0.5), (30, 50, 0.2), (8, 0, 0.5), (0, 3, 0.5), (30, 9, 0.0))
    ),
    *(
        OpCase("NonMaxSuppressionV2", [_boxes(30), _scores(30), const(limit), const(iou, "T")], {},
               _HALF)
        for limit, iou in ((10, 0.5), (50, 0.25), (50, 1.0))
    ),
    *(
        OpCase(
            "NonMaxSuppressionV3",
            [_boxes(30), _scores(30), const(limit), const(iou, "T"), const(least, "T")], {}, _HALF,
        )
        for limit, iou, least in (
            (10, 0.5, -np.inf), (50, 0.25, 0.5), (50, 0.75, 2.0), (3, 0.5, 0.25),
        )
    ),
    *(
        OpCase(op, [feed(_HALVES), feed((0.9, 0.8, 0.7)), const(5),
                    *(const(v, "T") for v in (0.5, *more))])
        for op, more in (
            ("NonMaxSuppressionV2", ()), ("NonMaxSuppressionV3", (0.0,)),
            ("NonMaxSuppressionV4", (0.0,)), ("NonMaxSuppressionV5", (0.0, 0.5)),
        )
    ),
    OpCase("NonMaxSuppressionV3", [feed(_TIES), feed(_TIED), const(5), const(0.95, "T"),
                                   const(0.0, "T")], id="no_area"),
    *(
        OpCase(
            "NonMaxSuppressionV4",
            [_boxes(20), _scores(20), const(limit), const(0.5, "T"), const(0.25, "T")],
            {"pad_to_max_output_size": pad}, _HALF,
        )
        for limit in (4, 40)
        for pad in (True, False)
    ),
    *(
        OpCase(
            "NonMaxSuppressionV5",
            [_boxes(20), _scores(20), const(limit), const(0.75, "T"), const(0.125, "T"),
             const(sigma, "T")],
            {"pad_to_max_output_size": pad}, ("float32",),
        )
        for limit in (4, 40)
        for pad in (True, False)
        for sigma in (0.0, 0.5)
    ),
    OpCase("NonMaxSuppressionV5", [_boxes(20), _scores(20), const(9), const(1.0, "T"),
                                   const(0.01, "T"), const(0.25, "T")]),
    *(
        OpCase(
            "NonMaxSuppressionWithOverlaps",
            [_overlaps(12), _scores(12), const(limit), const(most, "float32"),
             const(least, "float32")],
        )
        for limit, most, least in ((5, 0.5, 0.0), (20, 0.8, 0.4), (20, 0.1, -1.0))
    ),
    *(
        OpCase(
            "CombinedNonMaxSuppression",
            [_boxes(2, 15, q), _scores(2, 15, 3), const(per_class), const(total),
             const(0.4, "float32"), const(0.3, "float32")],
            {"pad_per_class": pad, "clip_boxes": clip},
        )
        for q in (1, 3)
        for per_class, total in ((2, 20), (10, 4))
        for pad in (True, False)
        for clip in (True, False)
    ),
    OpCase("NonMaxSuppressionV3", [_boxes(5), _scores(4), const(3), const(0.5, "T"),
                                   const(0.0, "T")], raises=True),
    OpCase("NonMaxSuppressionV3", [_boxes(5), _scores(5), const(3), const(1.5, "T"),
                                   const(0.0, "T")], raises=True),
    OpCase("NonMaxSuppressionV3", [real(5, 3), _scores(5), const(3), const(0.5, "T"),
                                   const(0.0, "T")], raises=True),
    OpCase("NonMaxSuppressionWithOverlaps", [real(4, 5), _scores(4), const(3),
                                             const(0.5, "float32"), const(0.0, "float32")],
           raises=True),
    OpCase("CombinedNonMaxSuppression", [_boxes(2, 5, 2), _scores(2, 5, 3), const(2), const(3),
                                         const(0.4, "float32"), const(0.3, "float32")],
           raises=True),
]  # fmt: skip
# TensorFlow 2 keeps boxes that overlap by just the threshold.  TensorFlow 1.15 picks boxes without
# an area again and again, and fails on classes that are not known statically.
_IN_TF2 = {"CombinedNonMaxSuppression"}
CASES = [
    row if row.id == "no_area" or row.op in _IN_TF2 else dataclasses.replace(row, oracle="tf1")
    for row in _ROWS
]
