"""Rows of pools: windows, strides, paddings, ties, both data formats."""

import numpy as np

from tests.ops.opcase import FLOATS, INTS, REALS, OpCase, const, derived, distinct, ints, real

_FEW = ("float32", "float64")
# image, window, strides, padding
_SHAPES = [
    ((2, 6, 5, 3), (2, 2), (2, 2), "SAME"),
    ((2, 6, 5, 3), (3, 3), (2, 2), "VALID"),
    ((2, 6, 6, 2), (3, 3), (2, 2), "SAME"),
    ((2, 6, 5, 2), (2, 2), (1, 1), "SAME"),
    ((2, 5, 7, 2), (3, 4), (1, 2), "SAME"),
    ((2, 7, 7, 2), (2, 2), (3, 3), "SAME"),
    ((2, 7, 7, 2), (2, 2), (3, 3), "VALID"),
    ((1, 5, 5, 2), (4, 4), (1, 1), "SAME"),
]


def _attrs(window, strides, padding):
    return {"ksize": [1, *window, 1], "strides": [1, *strides, 1], "padding": padding}


def _out(image, window, strides, padding):
    sizes = (
        -(-(image[i + 1] if padding == "SAME" else image[i + 1] - window[i] + 1) // strides[i])
        for i in range(2)
    )
    return (image[0], *sizes, image[3])


def _pooled(window, strides, padding):
    """The maxima, which MaxPoolGrad takes with the input."""

    def function(x: np.ndarray) -> np.ndarray:
        out = _out(x.shape, window, strides, padding)
        result = np.zeros(out, x.dtype)
        for i, j in np.ndindex(out[1:3]):
            corner = []
            for axis, index in enumerate((i, j)):
                total = (out[axis + 1] - 1) * strides[axis] + window[axis] - x.shape[axis + 1]
                before = max(total, 0) // 2 if padding == "SAME" else 0
                start = index * strides[axis] - before
                corner.append(slice(max(start, 0), start + window[axis]))
            result[:, i, j] = x[:, corner[0], corner[1]].max((1, 2))
        return result

    return derived(function)


def _family(image, window, strides, padding, sweep):
    attrs = _attrs(window, strides, padding)
    out = _out(image, window, strides, padding)
    values, pooled = distinct(*image), _pooled(window, strides, padding)
    no_argmax_grad = {"grad": (0,)}
    return [
        OpCase("MaxPool", [values], attrs, sweep, grad2=True),
        OpCase("AvgPool", [real(*image)], attrs, FLOATS, grad2=True),
        OpCase("AvgPoolGrad", [const(list(image)), real(*out)], attrs, FLOATS),
        OpCase("MaxPoolGrad", [values, pooled, real(*out)], attrs, sweep),
        OpCase("MaxPoolGradGrad", [values, pooled, real(*image)], attrs, sweep),
        OpCase("MaxPoolWithArgmax", [values], attrs, _FEW, **no_argmax_grad),
    ]


def _argmax(x: np.ndarray) -> np.ndarray:
    """Positions in the image of the maxima of windows of 2 x 2."""
    n, h, w, c = x.shape
    position = np.broadcast_to(np.arange(h * w * c).reshape(1, h, w, c), x.shape)
    blocks, positions = (
        a.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 5, 2, 4).reshape(-1, 4)
        for a in (x, position)
    )
    picked = np.take_along_axis(positions, blocks.argmax(1)[:, None], 1)
    return picked.reshape(n, h // 2, w // 2, c)


def _picked(_: np.ndarray, grad: np.ndarray, argmax: np.ndarray) -> np.ndarray:
    """The gradient's elements at those positions."""
    flat = grad.reshape(len(grad), -1)
    return np.take_along_axis(flat, argmax.reshape(len(grad), -1), 1).reshape(argmax.shape)


_TWO = _attrs((2, 2), (2, 2), "SAME")

CASES = [
    *(
        row
        for i, shape in enumerate(_SHAPES)
        for row in _family(*shape, REALS if i == 0 else _FEW)
    ),
    # Ties: of equal maxima the first one gets the gradient.
    OpCase(
        "MaxPoolGrad",
        [ints(2, 4, 4, 2, hi=2, dtype="T"), _pooled((2, 2), (2, 2), "SAME"), real(2, 2, 2, 2)],
        _TWO,
        grad=False,
        grad_reason="not differentiable where maxima are equal",
    ),
    OpCase(
        "MaxPoolV2",
        [distinct(2, 6, 5, 3), const([1, 2, 2, 1]), const([1, 2, 2, 1])],
        {"padding": "SAME"},
        FLOATS + INTS,
    ),
    OpCase(
        "MaxPoolGradV2",
        [
            distinct(2, 6, 6, 3),
            _pooled((2, 2), (2, 2), "SAME"),
            real(2, 3, 3, 3),
            const([1, 2, 2, 1]),
            const([1, 2, 2, 1]),
        ],
        {"padding": "SAME"},
        FLOATS,
    ),
    OpCase(
        "MaxPoolGradGradV2",
        [
            distinct(2, 6, 6, 3),
            _pooled((2, 2), (2, 2), "SAME"),
            real(2, 6, 6, 3),
            const([1, 2, 2, 1]),
            const([1, 2, 2, 1]),
        ],
        {"padding": "SAME"},
        FLOATS,
    ),
    OpCase(
        "MaxPoolWithArgmax",
        [distinct(2, 6, 5, 3)],
        {**_TWO, "Targmax": "int32", "include_batch_in_index": True},
        _FEW,
        grad=(0,),
    ),
    OpCase(
        "MaxPoolGradWithArgmax",
        [
            distinct(2, 6, 6, 3),
            real(2, 3, 3, 3),
            derived(lambda x, _: _argmax(x), "int64"),
        ],
        _TWO,
        _FEW,
    ),
    OpCase(
        "MaxPoolGradGradWithArgmax",
        [
            distinct(2, 6, 6, 3),
            real(2, 6, 6, 3),
            derived(lambda x, _: _argmax(x), "int64"),
        ],
        _TWO,
        _FEW,
        reason="TensorFlow has this kernel for GPUs only; compared with NumPy instead",
        ref=_picked,
    ),
    OpCase(
        "MaxPool",
        [distinct(2, 3, 3, 4)],
        {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "VALID"},
        grad=False,
        grad_reason="neither TensorFlow nor Penstock has a gradient of pooling over channels",
    ),
    OpCase(
        "MaxPool",
        [distinct(2, 3, 6, 5)],
        {
            "ksize": [1, 1, 3, 3], "strides": [1, 1, 2, 2], "padding": "SAME",
            "data_format": "NCHW",
        },
    ),
    OpCase(
        "AvgPool",
        [real(2, 3, 6, 5)],
        {
            "ksize": [1, 1, 3, 3], "strides": [1, 1, 2, 2], "padding": "SAME",
            "data_format": "NCHW",
        },
    ),
    OpCase("MaxPool", [real(2, 2, 2, 3)], _attrs((3, 3), (1, 1), "VALID"), raises=True),
    OpCase("AvgPool", [real(2, 2, 3)], _TWO, raises=True),
]  # fmt: skip
