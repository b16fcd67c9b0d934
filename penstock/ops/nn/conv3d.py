"""Three-dimensional convolutions and their transposes.

As in ``conv``: NDHWC tensors are channels-last views for ATen, padding that is alike at both ends
goes into the convolution, what ``SAME`` adds at one end only is padded before, and the three ops
are each other's gradients.  The older ``Conv3DBackpropInput`` and ``Conv3DBackpropFilter`` take a
tensor where the V2 ops take its shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext
from penstock.ops.array import nodes
from penstock.ops.nn import conv_backprop, window

FORMAT = "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"
PADDING = "padding: {'SAME', 'VALID'}"
_DILATIONS = "dilations: list(int) = [1, 1, 1, 1, 1]"
_STRIDES = "strides: list(int) >= 5"
_TYPES = "T: {half, bfloat16, float, double}"
_OLD_TYPES = "T: {half, float, double}"
_convolution_backward = torch.ops.aten.convolution_backward.default


# ---- geometry ------------------------------------------------------------------------------------


def spatial(data_format: str) -> tuple[int, int, int]:
    """Positions of depth, height and width in a shape of ``data_format``."""
    return (1, 2, 3) if data_format == "NDHWC" else (2, 3, 4)


def channel(data_format: str) -> int:
    """Position of the channels."""
    return 4 if data_format == "NDHWC" else 1


def channels_first(x: Any, data_format: str) -> Any:
    """The view (N, C, D, H, W) of a tensor."""
    return x.permute(0, 4, 1, 2, 3) if data_format == "NDHWC" else x


def channels_back(x: Any, data_format: str) -> Any:
    """The inverse of ``channels_first``, contiguous."""
    return (x.permute(0, 2, 3, 4, 1) if data_format == "NDHWC" else x).contiguous()


class Geometry(NamedTuple):
    """Strides, dilations and spans of depth, height and width."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    spans: tuple[window.Span, ...]

    @property
    def even(self) -> bool:
        """Whether the padding is alike at both ends of each dim."""
        return all(s.before == s.after for s in self.spans)

    @property
    def before(self) -> tuple[int, ...]:
        """Padding in front of each dim."""
        return tuple(s.before for s in self.spans)

    @property
    def pads(self) -> list[int]:
        """Padding as ATen takes it, last dim first."""
        return [p for s in reversed(self.spans) for p in (s.before, s.after)]


def _geometry(
    size: Sequence[int],
    kernel: Sequence[int],
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
) -> Geometry:
    axes = spatial(data_format)
    steps, holes = tuple(strides[a] for a in axes), tuple(dilations[a] for a in axes)
    spans = (window.span(size[i], kernel[i], steps[i], holes[i], padding) for i in range(3))
    return Geometry(steps, holes, tuple(spans))


# ---- kernels -------------------------------------------------------------------------------------


def _filter_view(w: Any) -> Any:
    return w.permute(4, 3, 0, 1, 2)


def _conv3d(input, filter, strides, padding, data_format, dilations):
    x, w = channels_first(input, data_format), _filter_view(filter)
    g = _geometry(x.shape[2:], w.shape[2:], strides, padding, data_format, dilations)
    before = g.before
    if w.shape[0] and not w.numel():
        raise ValueError(f"filter must not be empty; its shape is {list(filter.shape)}")
    if not (x.numel() and w.numel()):  # ATen refuses it
        dims = [x.shape[0], w.shape[0], *(s.outputs for s in g.spans)]
        return channels_back(x.new_zeros(dims), data_format)
    if not g.even:
        x, before = torch.constant_pad_nd(x, g.pads), (0, 0, 0)
    y = torch.convolution(x, w, None, g.strides, before, g.dilations, False, (0, 0, 0), 1)
    return channels_back(y, data_format)


def _input_grad(size, filter, out_backprop, strides, padding, data_format, dilations):
    """Gradient in an input of the dims ``size``: a transposed convolution, cut where needed."""
    conv_backprop.check_sizes(size)
    conv_backprop.check_operands(
        tuple(size), filter.shape, out_backprop.shape, strides, dilations, padding, None,
        data_format,
    )  # fmt: skip
    grad, w = channels_first(out_backprop, data_format), _filter_view(filter)
    image = [size[a] for a in spatial(data_format)]
    kernel = w.shape[2:]
    g = _geometry(image, kernel, strides, padding, data_format, dilations)
    if 0 in size or not (filter.numel() and out_backprop.numel()):
        return out_backprop.new_zeros(size)
    least, extra, start = [], [], []
    for i, span in enumerate(g.spans):
        pad = min(span.before, span.after)
        reach = (kernel[i] - 1) * g.dilations[i] + 1
        natural = (span.outputs - 1) * g.strides[i] + reach - 2 * pad
        least.append(pad)
        start.append(span.before - pad)
        extra.append(max(0, span.before - pad + image[i] - natural))
    # ATen wants what it adds at the end to be smaller than a stride; the rest is zeros.
    more = [max(0, e - max(s, d) + 1) for e, s, d in zip(extra, g.strides, g.dilations,
                                                       strict=True)]  # fmt: skip
    extra = [e - m for e, m in zip(extra, more, strict=True)]
    x = torch.convolution(grad, w, None, g.strides, least, g.dilations, True, extra, 1)
    if any(more):
        x = torch.constant_pad_nd(x, [p for m in reversed(more) for p in (0, m)])
    for i in range(3):
        if start[i] or x.shape[2 + i] != image[i]:
            x = x.narrow(2 + i, start[i], image[i])
    return channels_back(x, data_format)


def _filter_grad(input, size, out_backprop, strides, padding, data_format, dilations):
    conv_backprop.check_sizes(size)
    conv_backprop.check_operands(
        input.shape, tuple(size), out_backprop.shape, strides, dilations, padding, None,
        data_format,
    )  # fmt: skip
    x, grad = channels_first(input, data_format), channels_first(out_backprop, data_format)
    *kernel, inputs, outputs = size
    g = _geometry(x.shape[2:], kernel, strides, padding, data_format, dilations)
    if 0 in size or not (input.numel() and out_backprop.numel()):
        return out_backprop.new_zeros(size)
    before = g.before
    if not g.even:
        x, before = torch.constant_pad_nd(x, g.pads), (0, 0, 0)
    like = x.new_empty((outputs, inputs, *kernel))
    made = _convolution_backward(
        grad, x, like, None, g.strides, before, g.dilations, False, (0, 0, 0), 1,
        (False, True, False),
    )[1]  # fmt: skip
    return made.permute(2, 3, 4, 1, 0).contiguous()


def _input_grad_v2(input_sizes, filter, out_backprop, strides, padding, data_format, dilations):
    return _input_grad(input_sizes, filter, out_backprop, strides, padding, data_format, dilations)


def _filter_grad_v2(input, filter_sizes, out_backprop, strides, padding, data_format, dilations):
    return _filter_grad(input, filter_sizes, out_backprop, strides, padding, data_format, dilations)


def _input_grad_v1(input, filter, out_backprop, strides, padding, dilations):
    return _input_grad(input.shape, filter, out_backprop, strides, padding, "NDHWC", dilations)


def _filter_grad_v1(input, filter, out_backprop, strides, padding, dilations):
    return _filter_grad(input, filter.shape, out_backprop, strides, padding, "NDHWC", dilations)


# ---- shape rules ---------------------------------------------------------------------------------


def check_five(name: str, values: Any) -> None:
    """Checks an attr with one entry a dim: five, 1 for the batch."""
    if len(values) != 5:
        raise ValueError(f"{name} must have 5 entries; found {list(values)}")
    if values[0] != 1:
        raise ValueError(f"{name} must be 1 for the batch; found {list(values)}")


def _conv_shape(ctx: ShapeContext) -> Dims:
    image, kernel = ctx.rank("input", 5), ctx.rank("filter", 5)
    for name in ("strides", "dilations"):
        if len(ctx.attr(name)) != 5:
            raise ValueError(f"{name} must have 5 entries; found {list(ctx.attr(name))}")
    data_format = ctx.attr("data_format")
    c = channel(data_format)
    if None not in (image[c], kernel[3]) and image[c] != kernel[3]:
        raise ValueError(
            f"input has {image[c]} channel(s) ({data_format}), but the filter takes {kernel[3]}"
        )
    out: list[int | None] = [image[0], None, None, None, None]
    out[c] = kernel[4]
    for i, axis in enumerate(spatial(data_format)):
        size, width = image[axis], kernel[i]
        if ctx.attr("padding") == "VALID" and size == 0 and (width or 0) > 1:
            raise ValueError(f"a window of {width} does not fit into 0 elements of input")
        out[axis] = window.static_size(
            image[axis], kernel[i], ctx.attr("strides")[axis], ctx.attr("dilations")[axis],
            ctx.attr("padding"), None, "input",
        )  # fmt: skip
    try:
        conv_backprop.check_steps(ctx.attr("strides"), ctx.attr("dilations"), data_format)
    except ValueError as error:
        raise FailsAtRun(str(error), tuple(out)) from None
    return tuple(out)


def _input_sizes_shape(ctx: ShapeContext) -> Dims:
    dims = conv_backprop.sizes_from(ctx, "input_sizes")
    return conv_backprop.checked(ctx, dims, dims, ctx["filter"])


def _filter_sizes_shape(ctx: ShapeContext) -> Dims:
    dims = conv_backprop.sizes_from(ctx, "filter_sizes")
    return conv_backprop.checked(ctx, dims, ctx["input"], dims)


def _shape_of(name: str) -> Any:
    def rule(ctx: ShapeContext) -> Dims:
        dims = ctx.rank(name, 5)
        return conv_backprop.checked(ctx, dims, ctx["input"], ctx["filter"])

    return rule


# ---- gradients -----------------------------------------------------------------------------------


def _attrs_of(op: Any) -> dict[str, Any]:
    names = ("strides", "padding", "data_format", "dilations")
    return {name: op.attrs[name] for name in names}


def _conv_gradient(op: Any, grad: Tensor) -> list[Any]:
    attrs, (x, w) = _attrs_of(op), op.inputs
    return [
        make("Conv3DBackpropInputV2", nodes.shape(x), w, grad, **attrs),
        make("Conv3DBackpropFilterV2", x, nodes.shape(w), grad, **attrs),
    ]


def _input_gradient(op: Any, grad: Tensor) -> list[Any]:
    attrs, (_, w, out_backprop) = _attrs_of(op), op.inputs
    return [
        None,
        make("Conv3DBackpropFilterV2", grad, nodes.shape(w), out_backprop, **attrs),
        make("Conv3D", grad, w, **attrs),
    ]


def _filter_gradient(op: Any, grad: Tensor) -> list[Any]:
    attrs, (x, _, out_backprop) = _attrs_of(op), op.inputs
    return [
        make("Conv3DBackpropInputV2", nodes.shape(x), grad, out_backprop, **attrs),
        None,
        make("Conv3D", x, grad, **attrs),
    ]


# ---- the ops -------------------------------------------------------------------------------------

_NEW = [_TYPES, _STRIDES, PADDING, FORMAT, _DILATIONS]

define_op(
    "Conv3D",
    "input: T, filter: T -> output: T",
    attrs=_NEW,
    shape=_conv_shape,
    kernel=_conv3d,
    gradient=_conv_gradient,
    work=arithmetic.window(4),
)
define_op(
    "Conv3DBackpropInputV2",
    "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    attrs=[*_NEW, "Tshape: {int32, int64} = int32"],
    shape=_input_sizes_shape,
    kernel=_input_grad_v2,
    host=("input_sizes",),
    gradient=_input_gradient,
)
define_op(
    "Conv3DBackpropFilterV2",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    attrs=_NEW,
    shape=_filter_sizes_shape,
    kernel=_filter_grad_v2,
    host=("filter_sizes",),
    gradient=_filter_gradient,
)
for _name, _kernel, _of in (
    ("Conv3DBackpropInput", _input_grad_v1, "input"),
    ("Conv3DBackpropFilter", _filter_grad_v1, "filter"),
):
    define_op(
        _name,
        "input: T, filter: T, out_backprop: T -> output: T",
        attrs=[_OLD_TYPES, _STRIDES, PADDING, _DILATIONS],
        shape=_shape_of(_of),
        kernel=_kernel,
        no_gradient="TensorFlow 1.15 defines none; the V2 op has one",
    )
