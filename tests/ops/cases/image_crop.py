"""Rows of boxes cut out of images: inside, outside, flipped, one pixel, both methods."""

import numpy as np

from tests.ops.opcase import FLOATS_NO_BF16, OpCase, const, feed, ints, real

_NUMBERS = (
    "float32", "float64", "half", "int8", "uint8", "int16", "uint16", "int32", "int64",
)  # fmt: skip
_BOXES = np.array(
    [
        (0, 0, 1, 1), (0.2, 0.1, 0.7, 0.93), (0.9, 0.8, 0.15, 0.05), (-0.4, 0.3, 0.55, 1.6),
        (0.31, 0.31, 0.31, 0.31), (2, 2, 3, 3),
    ]
)  # fmt: skip
_IMAGES = [0, 1, 1, 0, 1, 0]
_SIZES = (((2, 6, 5, 3), (4, 3)), ((2, 3, 4, 1), (7, 6)), ((2, 5, 5, 2), (1, 1)))


def _boxes(method: str):
    # The slopes of sampled pixels jump where a sample meets a pixel; these stay between.
    return feed(_BOXES if method == "nearest" else _BOXES * 0.97 + 0.011, "float32")


CASES = [
    *(
        OpCase(
            "CropAndResize",
            [real(*image, lo=-9, hi=9), _boxes(method), feed(_IMAGES, "int32"), const(size)],
            {"method": method, "extrapolation_value": value}, _NUMBERS,
        )
        for method, value in (("bilinear", 0.0), ("bilinear", -2.5), ("nearest", 1.0))
        for image, size in _SIZES
    ),
    *(
        OpCase(
            "CropAndResizeGradImage",
            [real(6, *size, image[3], dtype="float32"), _boxes(method), feed(_IMAGES, "int32"),
             const(image)],
            {"method": method, "T": "T"}, FLOATS_NO_BF16,
        )
        for method in ("bilinear", "nearest")
        for image, size in _SIZES
    ),
    *(
        OpCase(
            "CropAndResizeGradBoxes",
            [real(6, *size, image[3], dtype="float32"), real(*image, lo=-9, hi=9),
             _boxes("bilinear"), feed(_IMAGES, "int32")],
            {}, _NUMBERS,
        )
        for image, size in _SIZES
    ),
    OpCase("CropAndResize", [real(2, 4, 4, 1), real(0, 4, dtype="float32"), ints(0),
                             const((2, 2))], {}),
    OpCase("CropAndResize", [real(2, 4, 4, 1), feed(_BOXES[:2], "float32"), feed([0, 2], "int32"),
                             const((2, 2))], raises=True),
    OpCase("CropAndResize", [real(2, 4, 4, 1), feed(_BOXES[:2], "float32"), feed([0], "int32"),
                             const((2, 2))], raises=True),
    OpCase("CropAndResize", [real(2, 4, 4, 1), feed(_BOXES[:2], "float32"), feed([0, 1], "int32"),
                             const((0, 2))], raises=True),
]  # fmt: skip
