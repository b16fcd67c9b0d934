"""Rows of colours: whole images and single pixels, greys, black, values beyond [0, 1]."""

import numpy as np

from tests.ops.opcase import FLOAT_DOUBLE, OpCase, const, feed, real

# Greys, pure colours, equal largest and smallest channels, black.
_EDGES = np.array(
    [
        (0, 0, 0), (0.5, 0.5, 0.5), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1),
        (1, 0, 1), (0.2, 0.7, 0.7), (0.7, 0.7, 0.2), (0.7, 0.2, 0.7), (0.2, 0.2, 0.7), (1, 1, 1),
    ]
)  # fmt: skip
_NUMBERS = ("uint8", "int8", "int16", "int32", "int64", "float32", "float64")


def _contrast(images: np.ndarray, factor: np.ndarray, low: np.ndarray, high: np.ndarray):
    mean = images.astype(np.float64).mean((-3, -2), keepdims=True)
    return ((images - mean) * factor + mean).clip(low, high).astype(np.float32)


CASES = [
    *(
        OpCase(op, [real(*shape, lo=0, hi=1)], {}, FLOAT_DOUBLE)
        for op in ("RGBToHSV", "HSVToRGB")
        for shape in ((2, 3, 4, 3), (5, 3), (3,))
    ),
    *(OpCase(op, [feed(_EDGES)], {}, FLOAT_DOUBLE, grad=False, grad_reason="kinks: one side each")
      for op in ("RGBToHSV", "HSVToRGB")),
    *(OpCase(op, [real(4, 2)], raises=True) for op in ("RGBToHSV", "HSVToRGB")),
    *(
        OpCase("AdjustContrastv2", [real(*shape), feed(factor, "float32")], {}, ("float32", "half"))
        for shape in ((2, 4, 5, 3), (6, 5, 1), (1, 2, 3, 4, 3))
        for factor in (1.7, 0.0, -0.5)
    ),
    OpCase("AdjustContrastv2", [real(4, 5), feed(1.0, "float32")], raises=True),
    *(
        OpCase(
            "AdjustContrast",
            [real(*shape, lo=-20, hi=20), *(feed(v, "float32") for v in (2.5, -15.0, 18.0))],
            {}, _NUMBERS, ref=_contrast,
        )
        for shape in ((2, 4, 5, 3), (6, 5, 1))
    ),
    *(
        OpCase(op, [real(*shape, lo=0, hi=1), feed(value, "float32")], {}, ("float32", "half"))
        for op, values in (
            ("AdjustHue", (0.0, 0.3, -0.45, 1.0)), ("AdjustSaturation", (0.0, 0.4, 3.0)),
        )
        for shape in ((2, 4, 5, 3), (7, 2, 3))
        for value in values
    ),
    *(
        OpCase(op, [feed(_EDGES[None]), const(0.3, "float32")])
        for op in ("AdjustHue", "AdjustSaturation")
    ),
    *(
        OpCase(op, [real(*shape), feed(0.1, "float32")], raises=True)
        for op in ("AdjustHue", "AdjustSaturation")
        for shape in ((4, 3), (4, 4, 2))
    ),
]  # fmt: skip
