"""Depthwise convolutions: every input channel has filters of its own.

In ATen this is a convolution in as many groups as there are input channels.  TensorFlow's filter
(H, W, C, M) read as (H, W, C * M) is exactly ATen's (C * M, 1, H, W), permuted: a view.

The dilation of the public functions goes by way of SpaceToBatchND, as in TensorFlow 1.15; see
``penstock.library.nn.dilation``.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.inference import FailsAtRun, ShapeContext
from penstock.ops.array import nodes
from penstock.ops.nn import conv_backprop, window
from penstock.ops.nn.conv import (
    Geometry,
    contiguous_from_nchw,
    conv_filter_grad_nchw,
    conv_input_grad_nchw,
    conv_nchw,
    spatial_size,
)
from penstock.ops.nn.window import to_nchw

_ATTRS = [
    "T: {half, bfloat16, float, double}",
    "strides: list(int)",
    "padding: {'SAME', 'VALID'}",
    "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
    "dilations: list(int) = [1, 1, 1, 1]",
]


# ---- kernels -------------------------------------------------------------------------------------


def _grouped(filter):
    return filter.flatten(2).permute(2, 0, 1).unsqueeze(1)


def _depthwise(input, filter, strides, padding, data_format, dilations):
    if not filter.numel():  # as TensorFlow 2.21; 1.15 gives zeros, or dies where channels lack
        raise ValueError(f"filter must not have zero elements; found {list(filter.shape)}")
    x = to_nchw(input, data_format)
    g = Geometry(x.shape[2:], filter.shape, strides, padding, None, data_format, dilations)
    return contiguous_from_nchw(conv_nchw(x, _grouped(filter), g, filter.shape[2]), data_format)


def _depthwise_input(input_sizes, filter, out_backprop, strides, padding, data_format, dilations):
    conv_backprop.check_sizes(input_sizes)
    conv_backprop.check_operands(
        tuple(input_sizes), filter.shape, out_backprop.shape, strides, dilations, padding, None,
        data_format, depthwise=True,
    )  # fmt: skip
    h = window.spatial(data_format)[0]
    size = input_sizes[h : h + 2]
    g = Geometry(size, filter.shape, strides, padding, None, data_format, dilations)
    grad = to_nchw(out_backprop, data_format)
    x = conv_input_grad_nchw(grad, _grouped(filter), g, size, filter.shape[2])
    return contiguous_from_nchw(x, data_format)


def _depthwise_filter(input, filter_sizes, out_backprop, strides, padding, data_format, dilations):
    conv_backprop.check_sizes(filter_sizes)
    conv_backprop.check_operands(
        input.shape, tuple(filter_sizes), out_backprop.shape, strides, dilations, padding, None,
        data_format, depthwise=True,
    )  # fmt: skip
    x, grad = to_nchw(input, data_format), to_nchw(out_backprop, data_format)
    g = Geometry(x.shape[2:], filter_sizes, strides, padding, None, data_format, dilations)
    like = _grouped(x.new_empty(filter_sizes))
    w = conv_filter_grad_nchw(x, like, grad, g, filter_sizes[2])
    return w.squeeze(1).permute(1, 2, 0).reshape(filter_sizes)


# ---- shape rules ---------------------------------------------------------------------------------


def _shape(ctx: ShapeContext) -> Any:
    for name in ("strides", "dilations"):
        if len(ctx.attr(name)) != 4:
            raise ValueError(f"{name} must have 4 entries; found {list(ctx.attr(name))}")
    image, kernel = ctx.rank("input", 4), ctx.rank("filter", 4)
    data_format = ctx.attr("data_format")
    c = window.channel(data_format)
    if None not in (image[c], kernel[2]) and image[c] != kernel[2]:
        raise ValueError(
            f"input has {image[c]} channel(s) ({data_format}), but the filter has {kernel[2]}"
        )
    channels = image[c] if image[c] is not None else kernel[2]
    out: list[int | None] = [image[0], None, None, None]
    out[c] = conv_backprop.times(channels, kernel[3])
    for i, axis in enumerate(window.spatial(data_format)):
        out[axis] = spatial_size(ctx, image[axis], kernel[i], axis)
    try:
        conv_backprop.check_steps(ctx.attr("strides"), ctx.attr("dilations"), data_format)
    except ValueError as error:
        raise FailsAtRun(str(error), tuple(out)) from None
    return tuple(out)


def _input_sizes_shape(ctx: ShapeContext) -> Any:
    dims = conv_backprop.sizes_from(ctx, "input_sizes")
    return conv_backprop.checked(ctx, dims, dims, ctx["filter"], depthwise=True)


def _filter_sizes_shape(ctx: ShapeContext) -> Any:
    dims = conv_backprop.sizes_from(ctx, "filter_sizes")
    return conv_backprop.checked(ctx, dims, ctx["input"], dims, depthwise=True)


# ---- gradients -----------------------------------------------------------------------------------

_FORWARD = "DepthwiseConv2dNative"
_INPUT = "DepthwiseConv2dNativeBackpropInput"
_FILTER = "DepthwiseConv2dNativeBackpropFilter"


def _attrs_of(op: Any) -> dict[str, Any]:
    return {n: op.attrs[n] for n in ("strides", "padding", "data_format", "dilations")}


def _gradient(op: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    attrs = _attrs_of(op)
    x, w = op.inputs
    return (
        make(_INPUT, nodes.shape(x), w, grad, **attrs),
        make(_FILTER, x, nodes.shape(w), grad, **attrs),
    )


def _input_gradient(op: Any, grad: Tensor) -> tuple[None, Tensor, Tensor]:
    attrs = _attrs_of(op)
    w, out_backprop = op.inputs[1], op.inputs[2]
    return (
        None,
        make(_FILTER, grad, nodes.shape(w), out_backprop, **attrs),
        make(_FORWARD, grad, w, **attrs),
    )


def _filter_gradient(op: Any, grad: Tensor) -> tuple[Tensor, None, Tensor]:
    attrs = _attrs_of(op)
    x, out_backprop = op.inputs[0], op.inputs[2]
    return (
        make(_INPUT, nodes.shape(x), grad, out_backprop, **attrs),
        None,
        make(_FORWARD, x, grad, **attrs),
    )


define_op(
    _FORWARD,
    "input: T, filter: T -> output: T",
    attrs=_ATTRS,
    shape=_shape,
    kernel=_depthwise,
    gradient=_gradient,
    flops=arithmetic.window(2),
    later=["explicit_paddings: list(int) = []"],
)

define_op(
    _INPUT,
    "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    attrs=_ATTRS,
    shape=_input_sizes_shape,
    kernel=_depthwise_input,
    host=("input_sizes",),
    gradient=_input_gradient,
    later=["explicit_paddings: list(int) = []"],
)

define_op(
    _FILTER,
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    attrs=_ATTRS,
    shape=_filter_sizes_shape,
    kernel=_depthwise_filter,
    host=("filter_sizes",),
    gradient=_filter_gradient,
    later=["explicit_paddings: list(int) = []"],
)


# ---- public functions ----------------------------------------------------------------------------


def depthwise_conv2d_native(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Convolution of every channel with its own filters.

    Args:
      input: floating ``[batch, height, width, channels]``.
      filter: ``[height, width, channels, multiplier]`` of the same type.
      strides: list of 4.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      dilations: list of 4.

    Returns:
      A tensor with ``channels * multiplier`` channels.

    Raises:
      ValueError: shapes that do not fit.
    """
    return make(
        _FORWARD, input, filter, name=name, strides=strides, padding=padding,
        data_format=data_format, dilations=list(dilations),
    )  # fmt: skip


def depthwise_conv2d_native_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Gradient of ``depthwise_conv2d_native`` in its input, whose shape is ``input_sizes``."""
    return make(
        _INPUT, input_sizes, filter, out_backprop, name=name, strides=strides, padding=padding,
        data_format=data_format, dilations=list(dilations),
    )  # fmt: skip


def depthwise_conv2d_native_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Gradient of ``depthwise_conv2d_native`` in its filter, whose shape is ``filter_sizes``."""
    return make(
        _FILTER, input, filter_sizes, out_backprop, name=name, strides=strides, padding=padding,
        data_format=data_format, dilations=list(dilations),
    )  # fmt: skip
