"""Layers on quantized tensors: products, sums, pools and clipping of integers with their ranges.

Each op takes quantized tensors with the two floats that say what their integers stand for, and
gives the same for its result; see ``quantized_range``.  A product of two 8-bit tensors is computed
on integers from which the one that stands for 0.0 has been subtracted, so that the sums of products
stand for the true ones; it has 32 bits and its own range.  ``quantized`` has the ops that bring it
back to 8.

ATen multiplies matrices of integers slowly and convolves none: both run in doubles, which hold
these sums exactly, and are then taken modulo 2^32 as integers would be.

Shape rules, and kernels that look at integers only as such (reshaping, maxima), are those of the
plain ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, broadcast, first_input
from penstock.foundation.opdef.registry import OPS
from penstock.ops.array import join, reshape
from penstock.ops.linalg import matmul
from penstock.ops.nn import conv, pool, window
from penstock.ops.quantized import quantized_range as ranges
from penstock.ops.quantized.quantized import NO_GRADIENT, TYPES, with_ends
from penstock.ops.quantized.quantized_range import F32, end, ends

# Bits that a sum's range is wider by: a bias' and another tensor's.
_BIAS_HEADROOM, _SUM_HEADROOM = 17, 14
_PLAIN = (join, matmul, pool, reshape)  # they define the plain ops


def _wrapped(sums: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Doubles that stand for sums of integers as those, modulo 2^32, and of ``dtype``.

    They are rounded, for a device may compute convolutions by transforms.
    """
    return sums.round().to(torch.int64).to(torch.int32).to(dtype)


def _centred(values: torch.Tensor, low: np.float32, high: np.float32) -> torch.Tensor:
    """Integers less the one that stands for 0.0, as doubles."""
    return values.to(torch.float64) - ranges.unclamped(0.0, low, high, values.dtype)


def _ordered(low: np.float32, high: np.float32, name: str) -> None:
    if not high > low:
        raise invalid(f"max_{name} must be larger than min_{name}.; found {low} to {high}")


def _clamped(values: torch.Tensor, least: int | None, greatest: int | None) -> torch.Tensor:
    wide = values.to(torch.int32) if values.dtype is torch.uint16 else values
    return wide.clamp(least, greatest).to(values.dtype)


# ---- products ------------------------------------------------------------------------------------


def _mat_mul(
    a: Any, b: Any, min_a: Any, max_a: Any, min_b: Any, max_b: Any, Toutput: Any,
    transpose_a: bool, transpose_b: bool,
) -> Any:  # fmt: skip
    one, other = (end(min_a), end(max_a)), (end(min_b), end(max_b))
    _ordered(*one, "a")
    _ordered(*other, "b")
    x, y = _centred(a, *one), _centred(b, *other)
    product = (x.t() if transpose_a else x) @ (y.t() if transpose_b else y)
    found = ranges.of_product(one, other, (a.dtype, b.dtype, Toutput))
    return _wrapped(product, Toutput), *ends(a, *found)


def _conv2d(
    input: Any, filter: Any, min_input: Any, max_input: Any, min_filter: Any, max_filter: Any,
    out_type: Any, strides: Any, padding: str, dilations: Any,
) -> Any:  # fmt: skip
    if not (input.numel() and filter.numel()):
        raise invalid(
            f"input and filter must not be empty; found shapes {list(input.shape)} and"
            f" {list(filter.shape)}"
        )
    one, other = (end(min_input), end(max_input)), (end(min_filter), end(max_filter))
    x = _centred(input, *one).permute(0, 3, 1, 2)
    w = _centred(filter, *other).permute(3, 2, 0, 1)
    geometry = conv.Geometry(x.shape[2:], w.shape[2:], strides, padding, None, "NHWC", dilations)
    made = conv.conv_nchw(x, w, geometry, 1).permute(0, 2, 3, 1)
    found = ranges.of_product(one, other, (input.dtype, filter.dtype, out_type))
    return _wrapped(made, out_type), *ends(input, *found)


def _conv2d_shape(ctx: ShapeContext) -> Dims:
    image, kernel = ctx.rank("input", 4), ctx.rank("filter", 4)
    strides, dilations = ctx.attr("strides"), ctx.attr("dilations")
    for name, values in (("strides", strides), ("dilations", dilations)):
        window.check_four(name, values, "NHWC")
    if None not in (image[3], kernel[2]) and image[3] != kernel[2]:
        raise ValueError(f"input has {image[3]} channels; the filter takes {kernel[2]}")
    height, width = (
        window.static_size(
            image[axis], kernel[axis - 1], strides[axis], dilations[axis], ctx.attr("padding"),
            None, "input",
        )
        for axis in (1, 2)
    )  # fmt: skip
    return image[0], height, width, kernel[3]


def _mul(x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, Toutput: Any) -> Any:
    one, other = (end(min_x), end(max_x)), (end(min_y), end(max_y))
    _ordered(*one, "x")
    _ordered(*other, "y")
    found = ranges.of_product(one, other, (x.dtype, y.dtype, Toutput))
    return _wrapped(_centred(x, *one) * _centred(y, *other), Toutput), *ends(x, *found)


# ---- sums ----------------------------------------------------------------------------------------


def _bias_add(
    input: Any, bias: Any, min_input: Any, max_input: Any, min_bias: Any, max_bias: Any,
    out_type: Any,
) -> Any:  # fmt: skip
    if input.dim() < 2 or bias.dim() != 1 or bias.shape[0] != input.shape[-1]:
        raise invalid(
            "Must provide as many biases as the last dimension of the input tensor: found"
            f" {list(bias.shape)} and {list(input.shape)}"
        )
    if not bias.numel():
        raise invalid("Must provide at least 1 bias; found none")
    one, other = (end(min_input), end(max_input)), (end(min_bias), end(max_bias))
    found = ranges.of_sum(one, other, _BIAS_HEADROOM)
    values = ranges.requantized(input, one, found, out_type)
    added = ranges.requantized(bias, other, found, out_type)
    zero = ranges.quantized(0.0, *found, out_type)
    return values + (added + zero), *ends(input, *found)


def _bias_add_shape(ctx: ShapeContext) -> Dims:
    dims, size = ctx.rank_at_least("input", 2), ctx.rank("bias", 1)[0]
    if dims is None:
        return None
    if None not in (size, dims[-1]) and size != dims[-1]:
        raise ValueError(f"bias has {size} element(s), but input has {dims[-1]} channel(s)")
    return (*dims[:-1], size if dims[-1] is None else dims[-1])


def _addend(
    values: torch.Tensor, given: tuple[np.float32, np.float32],
    wanted: tuple[np.float32, np.float32], dtype: torch.dtype,
) -> torch.Tensor:  # fmt: skip
    """Integers as those of a wide range: whole multiples of what one step is there."""
    first, second = (
        ranges.unclamped(ranges.number(code, *given, values.dtype), *wanted, dtype)
        for code in (0, 1)
    )
    return (first + values.to(torch.int64) * (second - first)).to(dtype)


def _add(x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, Toutput: Any) -> Any:
    one, other = (end(min_x), end(max_x)), (end(min_y), end(max_y))
    _ordered(*one, "x")
    _ordered(*other, "y")
    found = ranges.of_sum(one, other, _SUM_HEADROOM)
    # A single element is put there as exactly as it can; many go by steps.
    put_x = ranges.requantized_exactly if x.numel() == 1 else _addend
    put_y = ranges.requantized_exactly if y.numel() == 1 and x.numel() != 1 else _addend
    total = put_x(x, one, found, Toutput) + put_y(y, other, found, Toutput)
    return total, *ends(x, *found)


# ---- activations ---------------------------------------------------------------------------------


def _between(features: torch.Tensor, low: Any, high: Any, top: Any, out_type: torch.dtype) -> Any:
    """Values from 0.0 to ``top`` (None: unbounded); the range stays as it is."""
    pair = end(low), end(high)
    least = ranges.quantized(0.0, *pair, features.dtype)
    greatest = None if top is None else ranges.quantized(top, *pair, features.dtype)
    return _clamped(features, least, greatest).to(out_type), *ends(features, *pair)


def _relu(features: Any, min_features: Any, max_features: Any, out_type: Any) -> Any:
    return _between(features, min_features, max_features, None, out_type)


def _relu6(features: Any, min_features: Any, max_features: Any, out_type: Any) -> Any:
    return _between(features, min_features, max_features, F32(6), out_type)


def _relu_x(
    features: Any, max_value: Any, min_features: Any, max_features: Any, out_type: Any
) -> Any:
    return _between(features, min_features, max_features, end(max_value), out_type)


# ---- pools ---------------------------------------------------------------------------------------


def _spatial(ksize: Any) -> None:
    if ksize[3] != 1:
        raise NotImplementedError(f"Non-spatial pooling is not yet supported; ksize is {ksize}")


def _max_pool(
    input: Any, min_input: Any, max_input: Any, ksize: Any, strides: Any, padding: str
) -> Any:
    _spatial(ksize)
    plain: Any = OPS["MaxPool"].kernel
    made = plain(input, ksize, strides, padding, "NHWC")
    return made, *ends(input, end(min_input), end(max_input))


def _avg_pool(
    input: Any, min_input: Any, max_input: Any, ksize: Any, strides: Any, padding: str
) -> Any:
    _spatial(ksize)
    plain: Any = OPS["AvgPool"].kernel
    means = plain(input.to(torch.float64), ksize, strides, padding, "NHWC")
    made = means.to(torch.int32).to(input.dtype)  # the fraction is dropped, as of integers
    return made, *ends(input, end(min_input), end(max_input))


# ---- joining and reshaping -----------------------------------------------------------------------


def _common(
    lows: Sequence[Any], highs: Sequence[Any], dtype: torch.dtype
) -> tuple[np.float32, np.float32]:
    """A range that holds all the ranges, and 0.0: symmetrical for signed integers."""
    low, high = min(F32(0), *map(end, lows)), max(map(end, highs))
    if not dtype.is_signed:
        return low, high
    largest = max(abs(low), abs(high))
    return -largest, largest


def _concat(concat_dim: int, values: Any, input_mins: Any, input_maxes: Any) -> Any:
    if concat_dim < 0:
        raise invalid(f"concat_dim must be in the range [0, {values[0].dim()}); found {concat_dim}")
    dtype = values[0].dtype
    found = _common(input_mins, input_maxes, dtype)
    parts = []
    for part, low, high in zip(values, input_mins, input_maxes, strict=True):
        given = end(low), end(high)
        parts.append(part if given == found else ranges.requantized(part, given, found, dtype))
    plain: Any = OPS["Concat"].kernel
    return plain(concat_dim, parts), *ends(values[0], *found)


def _reshape(tensor: Any, shape: Any, input_min: Any, input_max: Any) -> Any:
    plain: Any = OPS["Reshape"].kernel
    return plain(tensor, shape), *ends(tensor, end(input_min), end(input_max))


# ---- the ops -------------------------------------------------------------------------------------


def _floats(*names: str) -> str:
    return ", ".join(f"{name}: float" for name in names)


def _type(name: str, default: str = "") -> str:
    return f"{name}: {TYPES}" + (f" = {default}" if default else "")


_POOL_ATTRS = [
    _type("T"), "ksize: list(int)", "strides: list(int)", "padding: {'SAME', 'VALID'}",
]  # fmt: skip
_FEATURES = ("min_features", "max_features")
_INPUT = ("min_input", "max_input")
_A_B = ("min_a", "max_a", "min_b", "max_b")
_X_Y = ("min_x", "max_x", "min_y", "max_y")
_RELU_ATTRS = [_type("Tinput"), _type("out_type", "quint8")]
_ACTIVATIONS = "activations: out_type, min_activations: float, max_activations: float"
_POOLED = f"input: T, {_floats(*_INPUT)} -> output: T, min_output: float, max_output: float"
_BINARY_ATTRS = [_type("T1"), _type("T2"), _type("Toutput", "qint32")]
_BINARY = f"x: T1, y: T2, {_floats(*_X_Y)} -> z: Toutput, min_z: float, max_z: float"
_FILTER_ENDS = (*_INPUT, "min_filter", "max_filter")
_BIAS_ENDS = (*_INPUT, "min_bias", "max_bias")
_ENDS = ("input_min", "input_max")


def _rule_of(op_type: str) -> Any:
    return OPS[op_type].shape


# Op type, signature, attrs, shape rule of the values, kernel, inputs that are Python numbers.
_LAYERS: tuple[tuple[str, str, list[str], Any, Any, tuple[str, ...]], ...] = (
    (
        "QuantizedMatMul",
        f"a: T1, b: T2, {_floats(*_A_B)} -> out: Toutput, min_out: float, max_out: float",
        [
            *_BINARY_ATTRS, "transpose_a: bool = False", "transpose_b: bool = False",
            _type("Tactivation", "quint8"),
        ],
        _rule_of("MatMul"), _mat_mul, _A_B,
    ),
    (
        "QuantizedConv2D",
        f"input: Tinput, filter: Tfilter, {_floats(*_FILTER_ENDS)}"
        " -> output: out_type, min_output: float, max_output: float",
        [
            _type("Tinput"), _type("Tfilter"), _type("out_type", "qint32"), "strides: list(int)",
            "padding: {'SAME', 'VALID'}", "dilations: list(int) = [1, 1, 1, 1]",
        ],
        _conv2d_shape, _conv2d, _FILTER_ENDS,
    ),
    (
        "QuantizedBiasAdd",
        f"input: T1, bias: T2, {_floats(*_BIAS_ENDS)}"
        " -> output: out_type, min_out: float, max_out: float",
        [_type("T1"), _type("T2"), _type("out_type")],
        _bias_add_shape, _bias_add, _BIAS_ENDS,
    ),
    ("QuantizedAdd", _BINARY, _BINARY_ATTRS, broadcast, _add, _X_Y),
    ("QuantizedMul", _BINARY, _BINARY_ATTRS, broadcast, _mul, _X_Y),
    (
        "QuantizedRelu", f"features: Tinput, {_floats(*_FEATURES)} -> {_ACTIVATIONS}",
        _RELU_ATTRS, first_input, _relu, _FEATURES,
    ),
    (
        "QuantizedRelu6", f"features: Tinput, {_floats(*_FEATURES)} -> {_ACTIVATIONS}",
        _RELU_ATTRS, first_input, _relu6, _FEATURES,
    ),
    (
        "QuantizedReluX",
        f"features: Tinput, {_floats('max_value', *_FEATURES)} -> {_ACTIVATIONS}",
        _RELU_ATTRS, first_input, _relu_x, ("max_value", *_FEATURES),
    ),
    ("QuantizedMaxPool", _POOLED, _POOL_ATTRS, _rule_of("MaxPool"), _max_pool, _INPUT),
    ("QuantizedAvgPool", _POOLED, _POOL_ATTRS, _rule_of("MaxPool"), _avg_pool, _INPUT),
    (
        "QuantizedConcat",
        "concat_dim: int32, values: N * T, input_mins: N * float, input_maxes: N * float"
        " -> output: T, output_min: float, output_max: float",
        ["N: int >= 2", "T: type"],
        _rule_of("Concat"), _concat, ("concat_dim", "input_mins", "input_maxes"),
    ),
    (
        "QuantizedReshape",
        f"tensor: T, shape: Tshape, {_floats(*_ENDS)}"
        " -> output: T, output_min: float, output_max: float",
        ["T: type", "Tshape: {int32, int64} = int32"],
        _rule_of("Reshape"), _reshape, ("shape", *_ENDS),
    ),
)  # fmt: skip

for _name, _signature, _attrs, _rule, _kernel, _host in _LAYERS:
    define_op(
        _name,
        _signature,
        attrs=_attrs,
        shape=with_ends(_rule),
        kernel=_kernel,
        host=_host,
        aliases=("tensor",) if _name == "QuantizedReshape" else (),
        no_gradient=NO_GRADIENT,
    )


# ---- public functions ----------------------------------------------------------------------------


def quantized_concat(
    concat_dim: Any, values: Any, input_mins: Any, input_maxes: Any, name: str | None = None
) -> Any:
    """Quantized tensors one after the other along a dim, in one range that holds all of theirs.

    Args:
      concat_dim: int32 scalar: the dim.
      values: two or more tensors of one type, alike in all other dims.
      input_mins, input_maxes: as many float32 scalars: the ends of their ranges.

    Returns:
      A namedtuple ``(output, output_min, output_max)``.
    """
    return make("QuantizedConcat", concat_dim, values, input_mins, input_maxes, name=name)


def quantized_conv2d(
    input: Any, filter: Any, min_input: Any, max_input: Any, min_filter: Any, max_filter: Any,
    strides: Any, padding: str, out_type: Any = dtypes.qint32, dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:  # fmt: skip
    """Convolution of quantized images with a quantized filter.

    Args:
      input: quantized [batch, height, width, in].
      filter: quantized [height, width, in, out].
      min_input, max_input, min_filter, max_filter: float32 scalars: the ends of their ranges.
      strides: 4 ints, 1 for batch and channels.
      padding: "SAME" or "VALID"; what is padded stands for 0.0.
      out_type: type of the result.
      dilations: 4 ints, 1 for batch and channels.

    Returns:
      A namedtuple ``(output, min_output, max_output)``.
    """
    return make(
        "QuantizedConv2D", input, filter, min_input, max_input, min_filter, max_filter,
        strides=strides, padding=padding, out_type=out_type, dilations=dilations, name=name,
    )  # fmt: skip


def quantized_relu_x(
    features: Any, max_value: Any, min_features: Any, max_features: Any,
    out_type: Any = dtypes.quint8, name: str | None = None,
) -> Any:  # fmt: skip
    """Quantized values cut off below 0.0 and above ``max_value``.

    Args:
      features: a quantized tensor.
      max_value: float32 scalar.
      min_features, max_features: float32 scalars: the ends of the range, which stays.
      out_type: type of the result.

    Returns:
      A namedtuple ``(activations, min_activations, max_activations)``.
    """
    return make(
        "QuantizedReluX", features, max_value, min_features, max_features, out_type=out_type,
        name=name,
    )  # fmt: skip


def quantized_max_pool(
    input: Any, min_input: Any, max_input: Any, ksize: Any, strides: Any, padding: str,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The greatest values of windows of quantized images.

    Args:
      input: quantized [batch, height, width, channels].
      min_input, max_input: float32 scalars: the ends of the range, which stays.
      ksize, strides: 4 ints each, 1 for batch and channels.
      padding: "SAME" or "VALID".

    Returns:
      A namedtuple ``(output, min_output, max_output)``.
    """
    return make(
        "QuantizedMaxPool", input, min_input, max_input, ksize=ksize, strides=strides,
        padding=padding, name=name,
    )  # fmt: skip


def quantized_avg_pool(
    input: Any, min_input: Any, max_input: Any, ksize: Any, strides: Any, padding: str,
    name: str | None = None,
) -> Any:  # fmt: skip
    """As ``quantized_max_pool``, with means whose fractions are dropped."""
    return make(
        "QuantizedAvgPool", input, min_input, max_input, ksize=ksize, strides=strides,
        padding=padding, name=name,
    )  # fmt: skip
