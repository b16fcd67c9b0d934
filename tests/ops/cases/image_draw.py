"""Rows of drawing and of windows; what is drawn at random is tested in test_image_draw."""

import numpy as np

from tests.ops.cases.image_codec import pixels
from tests.ops.opcase import OpCase, const, feed, ints, real

_BOXES = np.array(
    [
        (0, 0, 1, 1), (0.2, 0.1, 0.7, 0.93), (-0.4, 0.3, 0.55, 1.6), (0.31, 0.31, 0.31, 0.31),
        (2, 2, 3, 3), (0.5, 0.6, 0.4, 0.9), (-1, -1, 2, 2), (0.4, -3, 0.8, 4),
    ]
)  # fmt: skip
_TWO = np.stack((_BOXES, np.roll(_BOXES, 3, 0)))
_RANDOM = "windows are drawn: tests/ops/test_image_draw.py"
_WINDOWS = {"use_image_if_no_bounding_boxes": True, "seed": 3}
_SIZES = ("uint8", "int8", "int16", "int32", "int64")

CASES = [
    *(
        OpCase("DrawBoundingBoxes", [real(2, 9, 11, depth), feed(_TWO, "float32")], {},
               ("float32", "half"))
        for depth in (1, 3, 4)
    ),
    OpCase("DrawBoundingBoxes", [real(2, 9, 11, 3), real(2, 0, 4, dtype="float32")]),
    OpCase("DrawBoundingBoxes", [real(2, 9, 11, 2), feed(_TWO, "float32")], raises=True),
    OpCase("DrawBoundingBoxes", [real(2, 9, 11, 3), feed(_TWO[:1], "float32")], raises=True),
    *(
        OpCase("DrawBoundingBoxesV2",
               [real(2, 9, 11, depth), feed(_TWO, "float32"), real(n, 4, dtype="float32")], {},
               ("float32", "half"))
        for depth in (1, 3, 4)
        for n in (3, 1, 0)
    ),
    *(
        OpCase(
            "ExtractGlimpse", [real(3, 8, 7, 2), const(size), feed(offsets, "float32")],
            {"centered": centered, "normalized": normalized, "uniform_noise": False,
             "noise": "zero"},
        )
        for size in ((3, 4), (5, 3), (12, 2))
        for centered, normalized, offsets in (
            (True, True, [(0, 0), (0.3, -0.4), (0.9, -1)]),
            (False, True, [(0.5, 0.5), (0.1, 0.3), (3, 0)]),
            (True, False, [(1, 0), (-2.7, 3.2), (9, -20)]),
            (False, False, [(4, 3), (2.2, 5.5), (-3, 0)]),
        )
    ),
    OpCase("ExtractGlimpse", [real(2, 8, 7, 2), const((3, 2)), feed([(0, 0), (0.2, 0.1)],
                                                                     "float32")]),
    OpCase("ExtractGlimpse", [real(2, 8, 7, 2), const((3, -1)), feed([(0, 0), (0.2, 0.1)],
                                                                     "float32")], raises=True),
    OpCase("ExtractGlimpse", [real(2, 8, 7, 2), const((3, 3)), feed([(0, 0)], "float32")],
           raises=True),
    OpCase("SampleDistortedBoundingBox", [feed((50, 40, 3)), real(1, 4, 4, lo=0, hi=1,
                                                                  dtype="float32")],
           _WINDOWS, _SIZES, reason=_RANDOM),
    OpCase("SampleDistortedBoundingBoxV2", [feed((50, 40, 3)), real(1, 0, 4, dtype="float32"),
                                            const(0.1, "float32")],
           _WINDOWS, _SIZES, reason=_RANDOM),
    OpCase("SampleDistortedBoundingBoxV2", [const((50, 40, 3)), real(1, 0, 4, dtype="float32"),
                                            const(0.1, "float32")], raises=True),
    OpCase("SampleDistortedBoundingBoxV2", [const((50, 40)), real(1, 2, 4, dtype="float32"),
                                            const(0.1, "float32")], _WINDOWS, raises=True),
    OpCase("SampleDistortedBoundingBoxV2", [const((50, 40, 3)), real(1, 2, 4, lo=1, hi=2,
                                                                     dtype="float32"),
                                            const(0.1, "float32")], _WINDOWS, raises=True),
    OpCase("RandomCrop", [real(5, 6, 3), const((5, 6), "int64")], {},
           ("uint8", "int8", "int16", "int32", "int64", "float32", "float64"),
           ref=lambda image, size: image),
    OpCase("EncodeJpegVariableQuality",
           [ints(8, 8, 3, lo=100, hi=120, dtype="uint8"), feed(80, "int32")],
           compare=pixels, atol=2.0, rtol=0.0,
           tol_reason="builds of libjpeg round colours differently"),
    OpCase("EncodeJpegVariableQuality", [ints(8, 8, 3, hi=9, dtype="uint8"), const(101)],
           raises=True),
]  # fmt: skip
