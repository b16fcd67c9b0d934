"""Rows of resized images: sizes up and down, the three rules for places, every type."""

from typing import Any

from tests.ops.opcase import FLOATS_NO_BF16, OpCase, const, ints, real

# The gradient is float32 whatever the type of the image; TensorFlow multiplies it in float32, too.
_WIDE: dict[str, Any] = {
    "rtol": 1e-5,
    "atol": 1e-6,
    "tol_reason": "the gradient that comes in and the weights are float32",
}
_TYPES = (
    "float32", "float64", "half", "bfloat16", "int8", "uint8", "int16", "uint16", "int32", "int64",
)  # fmt: skip
_NARROW = tuple(t for t in _TYPES if t != "float64")
_RULES = (
    {},
    {"align_corners": True},
    {"half_pixel_centers": True},
)
# image, new size
_SIZES = (
    ((2, 6, 5, 3), (3, 4)),
    ((1, 4, 4, 3), (9, 11)),
    ((2, 7, 8, 1), (7, 3)),
    ((1, 3, 5, 2), (1, 1)),
    ((1, 1, 1, 2), (3, 2)),
)

CASES = [
    *(
        OpCase("ResizeBilinear", [real(*image, lo=-9, hi=9), const(size)], rules, types, **loose)
        for types, loose in ((_NARROW, {}), (("float64",), _WIDE))
        for rules in _RULES
        for image, size in _SIZES
    ),
    *(
        OpCase(
            "ResizeBilinearGrad", [real(image[0], *size, image[3], dtype="float32"), real(*image)],
            rules, types, **loose,
        )
        for types, loose in ((("float32",), {}), (("float64",), _WIDE))
        for rules in _RULES
        for image, size in _SIZES
    ),
    *(
        OpCase(
            "ResizeNearestNeighbor", [real(*image, lo=-9, hi=9), const(size)], rules,
            tuple(t for t in _TYPES if t != "bfloat16"), grad=None,
        )
        for rules in _RULES
        for image, size in _SIZES
    ),
    *(
        OpCase(
            "ResizeNearestNeighborGrad",
            [real(image[0], *size, image[3], lo=-9, hi=9), const(image[1:3])], rules,
            (*FLOATS_NO_BF16, "int8", "uint8", "int32"),
        )
        for rules in _RULES
        for image, size in _SIZES
    ),
    *(
        OpCase("ResizeBilinear", [ints(1, *image, hi=256, dtype="T"), const(size)], rules,
               ("uint8",))
        for rules in _RULES
        for image, size in (
            ((23, 17, 3), (9, 11)), ((8, 9, 1), (20, 31)), ((5, 6, 4), (5, 2)), ((1, 1, 2), (3, 3)),
        )
    ),
    OpCase("ResizeBilinear", [real(1, 4, 4, 3), const((0, 3))], {}, ("float32",), raises=True),
    OpCase("ResizeBilinear", [real(4, 4, 3), const((2, 3))], {}, ("float32",), raises=True),
    OpCase("ResizeNearestNeighbor", [real(1, 4, 4, 3), const((2, 3, 4))], {}, ("float32",),
           raises=True),
]  # fmt: skip
