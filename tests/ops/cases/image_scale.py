"""Rows of bicubic, area and sampled resizing: up, down, one pixel, every kernel and type."""

from typing import Any

from tests.ops.opcase import FLOATS, OpCase, const, feed, real

_NUMBERS = (
    "float32", "float64", "half", "int8", "uint8", "int16", "uint16", "int32", "int64",
)  # fmt: skip
# The gradient is float32 whatever the type of the image.
_WIDE: dict[str, Any] = {
    "rtol": 1e-4,
    "atol": 1e-5,
    "tol_reason": "the gradient that comes in and the weights are float32",
}
_RULES = ({}, {"align_corners": True}, {"half_pixel_centers": True})
# image, new size
_SIZES = (
    ((2, 6, 5, 3), (3, 4)),
    ((1, 4, 4, 3), (9, 11)),
    ((2, 7, 8, 1), (7, 3)),
    ((1, 3, 5, 2), (1, 1)),
    ((1, 1, 1, 2), (3, 2)),
    ((1, 40, 23, 2), (3, 2)),
)
_KERNELS = (
    "lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic",
    "mitchellcubic",
)  # fmt: skip


def _sampled(image: Any, size: Any, scale: Any, shift: Any, **attrs: Any) -> OpCase:
    types = (*FLOATS, "int8", "uint8", "int16", "uint16", "int32", "int64")
    places = [const(size), const(scale, "float32"), feed(shift, "float32")]
    return OpCase(
        "ScaleAndTranslate", [real(*image, lo=-9, hi=9), *places], attrs,
        types if attrs.get("kernel_type") == "triangle" else ("float32",), grad=(0,),
        type_attr="",  # the gradient is of float32 images alone
    )  # fmt: skip


CASES = [
    *(
        OpCase("ResizeBicubic", [real(*image, lo=-9, hi=9), const(size)], rules, types, **loose)
        for types, loose in (
            (tuple(t for t in _NUMBERS if t != "float64"), {}), (("float64",), _WIDE),
        )
        for rules in _RULES
        for image, size in _SIZES
    ),
    *(
        OpCase(
            "ResizeBicubicGrad", [real(image[0], *size, image[3], dtype="float32"), real(*image)],
            rules, (dtype,), **loose,
        )
        for dtype, loose in (("float32", {}), ("float64", _WIDE))
        for rules in _RULES
        for image, size in _SIZES
    ),
    *(
        # Where all outputs are at one place, TensorFlow 2 shows that place, and 1.15 NaN.
        OpCase("ResizeArea", [real(*image, lo=-9, hi=9), const(size)], rules, _NUMBERS,
               oracle="tf1" if image[1:3] == (1, 1) else "tf2")
        for rules in _RULES[:2]
        for image, size in _SIZES
    ),
    *(
        OpCase(op, [real(1, 4, 4, channels), const(size)], raises=True)
        for channels, size in ((3, (0, 3)), (0, (3, 3)))
        for op in ("ResizeBicubic", "ResizeArea")
    ),
    *(
        _sampled(image, size, scale, shift, kernel_type=kernel, antialias=antialias)
        for kernel in _KERNELS
        for antialias in (True, False)
        for image, size, scale, shift in (
            ((2, 6, 5, 3), (3, 4), (0.5, 0.8), (0.0, 0.0)),
            ((1, 4, 4, 2), (9, 11), (2.25, 2.75), (0.5, -1.0)),
            ((1, 20, 3, 1), (6, 6), (0.2, 1.5), (2.0, 1.0)),
        )
    ),
    *(
        OpCase(
            "ScaleAndTranslateGrad",
            [real(1, *size, 2), real(1, *found, 2), feed(scale, "float32"),
             feed(shift, "float32")],
            {"kernel_type": kernel, "antialias": antialias},
        )
        for kernel in ("lanczos3", "triangle", "keyscubic")
        for antialias in (True, False)
        for size, found, scale, shift in (
            ((3, 4), (6, 5), (0.5, 0.8), (0.0, 0.0)), ((9, 7), (4, 4), (2.25, 1.8), (0.5, -1.0)),
        )
    ),
    OpCase("ScaleAndTranslate", [real(1, 4, 4, 3), const((2, 2)), const((0.0, 1.0), "float32"),
                                 const((0.0, 0.0), "float32")], raises=True),
    OpCase("ScaleAndTranslate", [real(1, 4, 4, 3), const((2, 2)), const((1.0, 1.0), "float32"),
                                 const((0.0, 0.0), "float32")], {"kernel_type": "none"},
           raises=True),
]  # fmt: skip
