"""Rows of convolutions and pools over three dims, dilations of images, and fractional pools."""

import numpy as np

from tests.ops.opcase import FLOATS, INTS, OpCase, const, derived, distinct, feed, ints, real

_FEW = ("float32", "float64")
# volume, filter, strides, padding
_SHAPES = [
    ((2, 4, 5, 3, 2), (2, 3, 2, 2, 3), (1, 1, 1), "SAME"),
    ((2, 4, 5, 3, 2), (2, 3, 2, 2, 3), (2, 2, 1), "SAME"),
    ((1, 5, 6, 4, 2), (2, 3, 2, 2, 2), (1, 2, 2), "VALID"),
    ((1, 4, 4, 4, 1), (1, 1, 1, 1, 2), (2, 2, 2), "SAME"),
]


def _out(image, window, strides, padding, channels):
    sizes = (
        -(-(image[i + 1] if padding == "SAME" else image[i + 1] - window[i] + 1) // strides[i])
        for i in range(3)
    )
    return (image[0], *sizes, channels)


def _convolutions(image, kernel, strides, padding, sweep):
    attrs = {"strides": [1, *strides, 1], "padding": padding}
    out = _out(image, kernel, strides, padding, kernel[4])
    return [
        OpCase("Conv3D", [real(*image), real(*kernel)], attrs, sweep, grad2=True),
        OpCase(
            "Conv3DBackpropInputV2", [const(list(image)), real(*kernel), real(*out)], attrs, sweep
        ),
        OpCase(
            "Conv3DBackpropFilterV2", [real(*image), const(list(kernel)), real(*out)], attrs, sweep
        ),
        OpCase("Conv3DBackpropInput", [real(*image), real(*kernel), real(*out)], attrs, _FEW,
               oracle="tf1"),
        OpCase("Conv3DBackpropFilter", [real(*image), real(*kernel), real(*out)], attrs, _FEW,
               oracle="tf1"),
    ]  # fmt: skip


# volume, window, strides, padding
_POOLS = [
    ((2, 4, 5, 3, 2), (2, 2, 2), (2, 2, 2), "SAME"),
    ((1, 5, 6, 4, 2), (3, 3, 2), (2, 2, 1), "VALID"),
    ((1, 4, 5, 4, 2), (2, 3, 2), (1, 1, 1), "SAME"),
    ((1, 5, 5, 7, 1), (2, 2, 2), (3, 3, 3), "SAME"),
]


def _pooled(window, strides, padding):
    """The maxima, which MaxPool3DGrad takes with the input."""

    def function(x: np.ndarray) -> np.ndarray:
        out = _out(x.shape, window, strides, padding, x.shape[4])
        result = np.zeros(out, x.dtype)
        for index in np.ndindex(out[1:4]):
            corner = []
            for axis, i in enumerate(index):
                total = (out[axis + 1] - 1) * strides[axis] + window[axis] - x.shape[axis + 1]
                before = max(total, 0) // 2 if padding == "SAME" else 0
                start = i * strides[axis] - before
                corner.append(slice(max(start, 0), start + window[axis]))
            result[(slice(None), *index)] = x[(slice(None), *corner)].max((1, 2, 3))
        return result

    return derived(function)


def _pools(image, window, strides, padding):
    attrs = {"ksize": [1, *window, 1], "strides": [1, *strides, 1], "padding": padding}
    out = _out(image, window, strides, padding, image[4])
    values, pooled = distinct(*image, lo=-8, hi=8), _pooled(window, strides, padding)
    return [
        OpCase("MaxPool3D", [values], attrs, ("float32", "half", "bfloat16"), grad2=True),
        OpCase("MaxPool3DGrad", [values, pooled, real(*out)], attrs),
        OpCase(
            "MaxPool3DGradGrad",
            [values, pooled, real(*image)],
            attrs,
            grad=False,
            grad_reason="it is MaxPool3DGrad, which takes no double precision",
        ),
        OpCase("AvgPool3D", [real(*image)], attrs, FLOATS, grad2=True),
        OpCase("AvgPool3DGrad", [const(list(image)), real(*out)], attrs, FLOATS),
    ]


_TWO = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}


def _dilations(image, kernel, strides, rates, padding, out, sweep=("float32",)):
    attrs = {"strides": [1, *strides, 1], "rates": [1, *rates, 1], "padding": padding}
    inputs = [distinct(*image), real(*kernel)]
    return [
        OpCase("Dilation2D", inputs, attrs, sweep),
        OpCase("Dilation2DBackpropInput", [*inputs, real(*out)], attrs, sweep),
        OpCase("Dilation2DBackpropFilter", [*inputs, real(*out)], attrs, sweep),
    ]


_ALL_REAL = (*FLOATS, *INTS)
_ROWS, _COLUMNS = feed([0, 2, 3, 6], "int64"), feed([0, 1, 3, 5], "int64")
_NUMBERS = ("float32", "float64", "int32", "int64")


def _region_maxima(overlapping):
    """The maxima of the windows that _ROWS and _COLUMNS say."""
    rows, columns, more = (0, 2, 3, 6), (0, 1, 3, 5), int(overlapping)

    def function(x: np.ndarray) -> np.ndarray:
        result = np.zeros((len(x), 3, 3, x.shape[3]), x.dtype)
        for i, j in np.ndindex(3, 3):
            region = x[:, rows[i] : rows[i + 1] + more, columns[j] : columns[j + 1] + more]
            result[:, i, j] = region.max((1, 2))
        return result

    return derived(function)


CASES = [
    *(
        row
        for i, shape in enumerate(_SHAPES)
        for row in _convolutions(*shape, FLOATS if i == 1 else _FEW)
    ),
    OpCase("Conv3D", [real(1, 3, 4, 4, 3), real(2, 2, 2, 2, 3)],
           {"strides": [1] * 5, "padding": "SAME"}, raises=True),
    OpCase("Conv3D", [real(1, 3, 4, 4, 3), real(2, 2, 2, 3, 3)],
           {"strides": [1, 1, 1, 1, 2], "padding": "SAME"}, raises=True, oracle="tf1"),
    *(row for shape in _POOLS for row in _pools(*shape)),
    OpCase(
        "MaxPool3DGrad",
        [ints(1, 2, 4, 4, 2, hi=2, dtype="T"), _pooled((2, 2, 2), (2, 2, 2), "SAME"),
         real(1, 1, 2, 2, 2)],
        _TWO, grad=False, grad_reason="not differentiable where maxima are equal",
    ),
    OpCase("MaxPool3D", [real(1, 2, 2, 2, 3)], {**_TWO, "ksize": [1, 3, 3, 3, 1],
                                                "padding": "VALID"}, raises=True),
    OpCase("AvgPool3D", [real(2, 2, 3)], _TWO, raises=True),
    *_dilations((2, 5, 6, 2), (2, 3, 2), (1, 1), (1, 1), "SAME", (2, 5, 6, 2), _ALL_REAL),
    *_dilations((1, 6, 7, 2), (2, 2, 2), (2, 1), (1, 2), "SAME", (1, 3, 7, 2), _FEW),
    *_dilations((1, 6, 7, 2), (2, 3, 2), (1, 2), (2, 1), "VALID", (1, 4, 3, 2), _FEW),
    # Nothing is more than the least number.
    *(
        OpCase(f"Dilation2DBackprop{of}",
               [feed(np.zeros((1, 6, 7, 2))), feed(np.zeros((2, 3, 2))), real(1, 3, 7, 2, lo=0)],
               {"strides": [1, 2, 1, 1], "rates": [1, 2, 1, 1], "padding": "SAME"}, ("uint8",))
        for of in ("Input", "Filter")
    ),
    OpCase("Dilation2D", [real(1, 4, 4, 2), real(2, 2, 3)],
           {"strides": [1] * 4, "rates": [1] * 4, "padding": "SAME"}, raises=True),
    *(
        row
        for overlapping in (False, True)
        for row in (
            OpCase("FractionalMaxPoolGrad",
                   [distinct(2, 6, 5, 2), _region_maxima(overlapping), real(2, 3, 3, 2), _ROWS,
                    _COLUMNS],
                   {"overlapping": overlapping}, _NUMBERS),
            OpCase("FractionalAvgPoolGrad",
                   [const([2, 6, 5, 2], "int64"), real(2, 3, 3, 2, lo=-20, hi=20), _ROWS,
                    _COLUMNS],
                   {"overlapping": overlapping}, _NUMBERS),
        )
    ),
]  # fmt: skip
