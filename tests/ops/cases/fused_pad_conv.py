"""Rows for convolutions of mirrored and resized images.

Of one image, with known paddings: TensorFlow's kernel gets the images after the first wrong, and
its shape rule refuses paddings that it does not know.  ``test_fused_pad_conv`` has the others.
"""

from tests.ops.opcase import FLOATS_NO_BF16, OpCase, const, real


def _padded(image, kernel, paddings, mode, strides, padding, **more):
    attrs = {"mode": mode, "strides": [1, *strides, 1], "padding": padding}
    return OpCase("FusedPadConv2D", [real(*image), const(paddings), real(*kernel)], attrs, **more)


def _resized(image, kernel, size, paddings, strides, padding, align, **more):
    attrs = {
        "mode": "REFLECT", "strides": [1, *strides, 1], "padding": padding,
        "resize_align_corners": align,
    }  # fmt: skip
    inputs = [real(*image), const(size), const(paddings), real(*kernel)]
    return OpCase("FusedResizeAndPadConv2D", inputs, attrs, **more)


_NONE = [[0, 0]] * 4
_SOME = [[0, 0], [1, 2], [2, 1], [0, 0]]

CASES = [
    _padded((1, 5, 6, 3), (3, 2, 3, 4), _SOME, "REFLECT", (1, 1), "VALID",
            dtypes=FLOATS_NO_BF16),
    _padded((1, 5, 6, 2), (2, 2, 2, 3), _SOME, "SYMMETRIC", (2, 2), "VALID"),
    _padded((1, 5, 6, 2), (2, 3, 2, 3), _NONE, "REFLECT", (2, 2), "SAME"),
    _padded((1, 4, 4, 1), (3, 3, 1, 1), _SOME, "REFLECT", (1, 1), "SAME"),
    _padded((1, 3, 4, 1), (2, 2, 1, 1), [[0, 0], [3, 0], [0, 0], [0, 0]], "REFLECT", (1, 1),
            "VALID", raises=True),
    _padded((1, 3, 4, 2), (2, 2, 1, 1), _NONE, "REFLECT", (1, 1), "VALID", raises=True),
    _resized((1, 3, 4, 2), (2, 3, 2, 3), [6, 7], _SOME, (1, 1), "VALID", False,
             dtypes=FLOATS_NO_BF16),
    _resized((1, 5, 7, 2), (2, 2, 2, 3), [4, 3], _SOME, (2, 2), "VALID", True),
    _resized((1, 5, 7, 2), (2, 2, 2, 3), [5, 7], _NONE, (1, 1), "SAME", False),
    _resized((1, 5, 7, 1), (2, 2, 1, 3), [8, 1], _NONE, (1, 1), "SAME", True),
]  # fmt: skip
