"""Rows of convolutions: strides, paddings, dilations, groups, both data formats."""

from tests.ops.opcase import FLOATS, OpCase, const, feed, real

_FEW = ("float32", "float64")
# image, filter, strides, padding, dilations
_SHAPES = [
    ((2, 6, 5, 3), (3, 3, 3, 4), (1, 1), "SAME", (1, 1)),
    ((2, 6, 5, 3), (3, 3, 3, 4), (2, 2), "SAME", (1, 1)),
    ((2, 6, 5, 3), (3, 2, 3, 4), (2, 1), "VALID", (1, 1)),
    ((2, 7, 8, 2), (2, 4, 2, 3), (1, 1), "SAME", (1, 1)),
    ((1, 9, 9, 1), (3, 3, 1, 2), (1, 1), "VALID", (2, 3)),
    ((1, 8, 8, 2), (3, 3, 2, 2), (1, 1), "SAME", (2, 2)),
    ((1, 11, 11, 3), (5, 5, 3, 2), (4, 4), "VALID", (1, 1)),
    ((2, 4, 4, 3), (1, 1, 3, 2), (2, 2), "SAME", (1, 1)),
]


def _attrs(strides, padding, dilations):
    return {"strides": [1, *strides, 1], "padding": padding, "dilations": [1, *dilations, 1]}


def _out(image, kernel, strides, padding, dilations):
    sizes = []
    for i in range(2):
        reach = (kernel[i] - 1) * dilations[i] + 1
        size = image[i + 1] if padding == "SAME" else image[i + 1] - reach + 1
        sizes.append(-(-size // strides[i]))
    return (image[0], *sizes, kernel[3])


def _backprop_input(image, kernel, out, attrs, sweep, dilations):
    if dilations != (1, 1):  # TensorFlow 1 does not dilate on CPUs, 2 in single precision only
        return OpCase(
            "Conv2DBackpropInput",
            [feed(list(image), "int32"), real(*kernel), real(*out)],
            attrs,
        )
    # Of constant input_sizes TensorFlow 2 forgets the batch where the gradient's is unknown.
    return OpCase(
        "Conv2DBackpropInput",
        [const(list(image)), real(*kernel), real(*out)],
        attrs,
        tuple(d for d in sweep if d != "bfloat16"),
        oracle="tf1",
    )


def _family(image, kernel, strides, padding, dilations, sweep):
    attrs = _attrs(strides, padding, dilations)
    out = _out(image, kernel, strides, padding, dilations)
    return [
        OpCase("Conv2D", [real(*image), real(*kernel)], attrs, sweep),
        _backprop_input(image, kernel, out, attrs, sweep, dilations),
        OpCase(
            "Conv2DBackpropFilter",
            [real(*image), const(list(kernel)), real(*out)],
            attrs,
            # TensorFlow dilates this one in single precision only.
            sweep if dilations == (1, 1) else ("float32",),
        ),
    ]


_EXPLICIT = {
    "strides": [1, 2, 1, 1],
    "padding": "EXPLICIT",
    "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0],
}
_NCHW = {"strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"}
_DEPTH = {"strides": [1, 1, 1, 1], "padding": "SAME"}

CASES = [
    *(
        row
        for i, shape in enumerate(_SHAPES)
        for row in _family(*shape, FLOATS if i in (0, 2) else _FEW)
    ),
    OpCase("Conv2D", [real(2, 6, 5, 3), real(3, 3, 3, 4)], _EXPLICIT, _FEW),
    OpCase(
        "Conv2DBackpropInput",
        [const([2, 6, 5, 3]), real(3, 3, 3, 4), real(2, 4, 4, 4)],
        _EXPLICIT,
        oracle="tf1",
    ),
    OpCase(
        "Conv2DBackpropInput",
        [feed([2, 6, 5, 3], "int32"), real(3, 3, 3, 4), real(2, 3, 3, 4)],
        _attrs((2, 2), "SAME", (1, 1)),
    ),
    OpCase(
        "Conv2DBackpropFilter", [real(2, 6, 5, 3), const([3, 3, 3, 4]), real(2, 4, 4, 4)], _EXPLICIT
    ),
    OpCase("Conv2D", [real(2, 3, 6, 5), real(3, 3, 3, 4)], _NCHW, _FEW),
    # Groups: each half of the filters sees half of the channels.
    OpCase("Conv2D", [real(2, 6, 5, 4), real(3, 3, 2, 4)], _attrs((1, 1), "SAME", (1, 1))),
    OpCase(
        "Conv2D", [real(2, 6, 5, 4), real(3, 3, 3, 4)], _attrs((1, 1), "SAME", (1, 1)), raises=True
    ),
    OpCase(
        "Conv2D", [real(2, 2, 2, 3), real(3, 3, 3, 4)], _attrs((1, 1), "VALID", (1, 1)), raises=True
    ),
    # Of another class in 2.21.
    OpCase(
        "Conv2D",
        [real(2, 6, 5, 3), real(3, 3, 3, 4)],
        {**_DEPTH, "strides": [1, 1, 1, 2]},
        raises=True,
        oracle="tf1",
    ),
    OpCase("DepthwiseConv2dNative", [real(2, 6, 5, 3), real(3, 3, 3, 2)], _DEPTH, FLOATS),
    OpCase(
        "DepthwiseConv2dNative",
        [real(2, 7, 6, 2), real(3, 2, 2, 1)],
        {"strides": [1, 2, 2, 1], "padding": "VALID"},
        _FEW,
    ),
    OpCase(
        "DepthwiseConv2dNative",
        [real(2, 6, 6, 2), real(3, 3, 2, 3)],
        {"strides": [1, 2, 2, 1], "padding": "SAME"},
        _FEW,
    ),
    OpCase(
        "DepthwiseConv2dNative",
        [real(2, 3, 6, 5), real(3, 3, 3, 2)],
        {**_DEPTH, "data_format": "NCHW"},
    ),
    OpCase("DepthwiseConv2dNative", [real(2, 6, 5, 3), real(3, 3, 2, 2)], _DEPTH, raises=True),
    OpCase(
        "DepthwiseConv2dNativeBackpropInput",
        [const([2, 6, 5, 3]), real(3, 3, 3, 2), real(2, 6, 5, 6)],
        _DEPTH,
        FLOATS,
    ),
    OpCase(
        "DepthwiseConv2dNativeBackpropInput",
        [const([2, 6, 6, 2]), real(3, 3, 2, 3), real(2, 3, 3, 6)],
        {"strides": [1, 2, 2, 1], "padding": "SAME"},
        _FEW,
    ),
    OpCase(
        "DepthwiseConv2dNativeBackpropInput",
        [const([2, 6, 5, 2]), real(3, 3, 3, 2), real(2, 6, 5, 6)],
        _DEPTH,
        raises=True,
    ),
    OpCase(
        "DepthwiseConv2dNativeBackpropFilter",
        [real(2, 6, 5, 3), const([3, 3, 3, 2]), real(2, 6, 5, 6)],
        _DEPTH,
        FLOATS,
    ),
    OpCase(
        "DepthwiseConv2dNativeBackpropFilter",
        [real(2, 6, 6, 2), const([3, 3, 2, 3]), real(2, 3, 3, 6)],
        {"strides": [1, 2, 2, 1], "padding": "SAME"},
        _FEW,
    ),
]
