"""Two-dimensional convolutions and their transposes.

TensorFlow's NHWC tensors *are* channels-last memory: ``x.permute(0, 3, 1, 2)`` is a view in the
layout that oneDNN and cuDNN like best, and the result, permuted back, is contiguous NHWC.  Filters
(H, W, I, O) become (O, I, H, W) views; ``layouts`` asks the engine to keep filter variables in the
physical order O, H, W, I.  So nothing is transposed at run time.

Padding that is alike at both ends goes into the convolution; what ``SAME`` adds at one end only is
padded before.  The gradient of the input is a transposed convolution, which needs no input tensor;
where the padding is uneven it is computed wider and cut.

``Conv2D``, ``Conv2DBackpropInput`` and ``Conv2DBackpropFilter`` are the three derivatives of one
trilinear form, so each one's gradients are the other two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.arithmetic import Flops, Shapes
from penstock.foundation.opdef.inference import FailsAtRun, ShapeContext
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import nodes
from penstock.ops.nn import conv_backprop, window
from penstock.ops.nn.window import from_nchw, to_nchw

ATTRS = [
    "T: {half, bfloat16, float, double}",
    "strides: list(int)",
    "use_cudnn_on_gpu: bool = True",
    "padding: {'SAME', 'VALID', 'EXPLICIT'}",
    "explicit_paddings: list(int) = []",
    "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
    "dilations: list(int) = [1, 1, 1, 1]",
]
_OHWI = (3, 0, 1, 2)
_convolution_backward = torch.ops.aten.convolution_backward.default


# ---- geometry ------------------------------------------------------------------------------------


class Geometry:
    """Strides, dilations and the spans of height and width of one convolution."""

    __slots__ = ("strides", "dilations", "height", "width")

    def __init__(
        self,
        size: Sequence[int],
        kernel: Sequence[int],
        strides: Any,
        padding: str,
        explicit: Any,
        data_format: str,
        dilations: Any,
    ) -> None:
        conv_backprop.check_steps(strides, dilations, data_format)
        h, w = window.spatial(data_format)
        self.strides = (strides[h], strides[w])
        self.dilations = (dilations[h], dilations[w])
        self.height, self.width = (
            window.span(
                size[i], kernel[i], strides[axis], dilations[axis], padding,
                window.explicit_pair(explicit, axis),
            )
            for i, axis in enumerate((h, w))
        )  # fmt: skip

    @property
    def even(self) -> bool:
        """Whether the padding is alike at both ends of each dim."""
        return self.height.before == self.height.after and self.width.before == self.width.after

    @property
    def before(self) -> tuple[int, int]:
        """Padding above and left."""
        return self.height.before, self.width.before

    @property
    def pads(self) -> tuple[int, int, int, int]:
        """Left, right, top, bottom, as ATen's padding takes them."""
        return self.width.before, self.width.after, self.height.before, self.height.after

    def picks_pixels(self, kernel: Sequence[int]) -> bool:
        """Whether a filter's gradient needs only every nth pixel: 1x1, strides, no padding.

        Those pixels are taken first: the threads of oneDNN's AVX2 kernel, which would do the same,
        write over each other's copies, and give a wrong gradient now and then.
        """
        return tuple(kernel) == (1, 1) and self.strides != (1, 1) and not any(self.pads)

    def transposed(self, size: Sequence[int], kernel: Sequence[int]) -> Any:
        """Padding, output padding and first row and column of the transposed convolution."""
        padding, extra, start = [], [], []
        for i, one in enumerate((self.height, self.width)):
            least = min(one.before, one.after)
            reach = (kernel[i] - 1) * self.dilations[i] + 1
            natural = (one.outputs - 1) * self.strides[i] + reach - 2 * least
            first = one.before - least
            padding.append(least)
            start.append(first)
            extra.append(max(0, first + size[i] - natural))
        return padding, extra, start


# ---- kernels: what the generated program calls where static shapes do not say enough -----------


# Images and filters without elements make zeros; ATen takes no such filter.


def conv_nchw(x, w, g, groups, bias=None):
    """Convolution of (N, C, H, W) with (O, I, H, W), plus a bias for each of the O."""
    if not (x.numel() and w.numel()):
        made = x.new_zeros((x.shape[0], w.shape[0], g.height.outputs, g.width.outputs))
        return made if bias is None else made + bias[:, None, None]
    if g.even:
        return torch.convolution(
            x, w, bias, g.strides, g.before, g.dilations, False, (0, 0), groups
        )
    x = torch.constant_pad_nd(x, g.pads)
    return torch.convolution(x, w, bias, g.strides, (0, 0), g.dilations, False, (0, 0), groups)


def conv_input_grad_nchw(grad, w, g, size, groups):
    """Gradient of ``conv_nchw`` in its input, whose height and width are ``size``."""
    kernel = w.shape[2:]
    if not (grad.numel() and w.numel() and groups):
        return grad.new_zeros((grad.shape[0], w.shape[1] * groups, *size))
    padding, extra, start = g.transposed(size, kernel)
    x = torch.convolution(grad, w, None, g.strides, padding, g.dilations, True, extra, groups)
    if start != [0, 0] or x.shape[2] != size[0] or x.shape[3] != size[1]:
        x = x[:, :, start[0] : start[0] + size[0], start[1] : start[1] + size[1]]
    return x


def conv_filter_grad_nchw(x, w_like, grad, g, groups):
    """Gradient of ``conv_nchw`` in its filter; of ``w_like`` only shape and layout count."""
    if not (x.numel() and grad.numel() and w_like.numel()):
        return x.new_zeros(w_like.shape)
    before, strides = g.before, g.strides
    if g.picks_pixels(w_like.shape[2:]):
        x, strides = x[:, :, :: strides[0], :: strides[1]], (1, 1)
    elif not g.even:
        x, before = torch.constant_pad_nd(x, g.pads), (0, 0)
    return _convolution_backward(
        grad, x, w_like, None, strides, before, g.dilations, False, (0, 0), groups,
        (False, True, False),
    )[1]  # fmt: skip


def _groups(channels, depth):
    """How often a filter of ``depth`` input channels goes into an image's ``channels``."""
    if not depth or channels % depth:
        raise ValueError(f"{channels} input channel(s) are no multiple of the filter's {depth}")
    return channels // depth


def contiguous_from_nchw(x, data_format):
    """A result with channels first, in ``data_format``."""
    # A cut result is not channels-last memory any more, and its consumers would each reorder it.
    return from_nchw(x, data_format).contiguous()


def _conv2d(input, filter, strides, padding, explicit_paddings, data_format, dilations):
    x, w = to_nchw(input, data_format), filter.permute(3, 2, 0, 1)
    g = Geometry(
        x.shape[2:], w.shape[2:], strides, padding, explicit_paddings, data_format, dilations
    )
    groups = _groups(x.shape[1], w.shape[1])
    conv_backprop.check_groups(groups, w.shape[0])
    return contiguous_from_nchw(conv_nchw(x, w, g, groups), data_format)


def _conv2d_backprop_input(
    input_sizes, filter, out_backprop, strides, padding, explicit_paddings, data_format, dilations
):
    conv_backprop.check_sizes(input_sizes)
    conv_backprop.check_operands(
        tuple(input_sizes), filter.shape, out_backprop.shape, strides, dilations, padding,
        explicit_paddings, data_format,
    )  # fmt: skip
    grad, w = to_nchw(out_backprop, data_format), filter.permute(3, 2, 0, 1)
    h, c = window.spatial(data_format)[0], window.channel(data_format)
    size = input_sizes[h : h + 2]
    g = Geometry(size, w.shape[2:], strides, padding, explicit_paddings, data_format, dilations)
    x = conv_input_grad_nchw(grad, w, g, size, _groups(input_sizes[c], w.shape[1]))
    return contiguous_from_nchw(x, data_format)


def _conv2d_backprop_filter(
    input, filter_sizes, out_backprop, strides, padding, explicit_paddings, data_format, dilations
):
    conv_backprop.check_sizes(filter_sizes)
    conv_backprop.check_operands(
        input.shape, tuple(filter_sizes), out_backprop.shape, strides, dilations, padding,
        explicit_paddings, data_format,
    )  # fmt: skip
    x, grad = to_nchw(input, data_format), to_nchw(out_backprop, data_format)
    kh, kw, inputs, outputs = filter_sizes
    w_like = x.new_empty((outputs, kh, kw, inputs)).permute(0, 3, 1, 2)
    g = Geometry(x.shape[2:], (kh, kw), strides, padding, explicit_paddings, data_format, dilations)
    groups = _groups(x.shape[1], inputs)
    return conv_filter_grad_nchw(x, w_like, grad, g, groups).permute(2, 3, 1, 0)


# ---- inline: one line of ATen where the shapes are known ---------------------------------------


def _view(call: Any, name: str) -> str:
    source: str = call.arg[name]
    return f"{source}.permute(0, 3, 1, 2)" if call.attr("data_format") == "NHWC" else source


def _back(call: Any) -> str:
    return ".permute(0, 2, 3, 1)" if call.attr("data_format") == "NHWC" else ""


def _static_geometry(call: Any, image: Any, kernel: Any) -> Any:
    """(geometry, height and width, groups), or None where they are not known."""
    if image is None or kernel is None or None in kernel[:3]:
        return None
    data_format = call.attr("data_format")
    h, w = window.spatial(data_format)
    channels = image[window.channel(data_format)]
    if None in (image[h], image[w], channels) or 0 in (image[h], image[w], channels, *kernel):
        return None
    try:
        conv_backprop.check_steps(call.attr("strides"), call.attr("dilations"), data_format)
    except ValueError:
        return None  # the kernel says so
    g = Geometry(
        (image[h], image[w]),
        kernel[:2],
        call.attr("strides"),
        call.attr("padding"),
        call.attr("explicit_paddings"),
        data_format,
        call.attr("dilations"),
    )
    return g, (image[h], image[w]), channels // kernel[2]


def inline_convolution(call: Any, bias: str = "None") -> str | None:
    """Source of a convolution whose geometry is known, else None."""
    known = _static_geometry(call, call.dims("input"), call.dims("filter"))
    if known is None:
        return None
    g, _, groups = known
    x, before = _view(call, "input"), g.before
    if not g.even:
        x, before = f"torch.constant_pad_nd({x}, {literal(g.pads)})", (0, 0)
    w = f"{call.arg['filter']}.permute(3, 2, 0, 1)"
    return (
        f"torch.convolution({x}, {w}, {bias}, {literal(g.strides)}, {literal(before)},"
        f" {literal(g.dilations)}, False, (0, 0), {literal(groups)}){_back(call)}"
    )


def inline_pointwise(call: Any, bias: str, activation: str) -> str | None:
    """Source of a convolution with an activation as one oneDNN primitive, where it can be."""
    known = _static_geometry(call, call.dims("input"), call.dims("filter"))
    if known is None or not known[0].even:
        return None
    g, _, groups = known
    function = call.function(torch.ops.mkldnn._convolution_pointwise.default, "convolution")
    w = f"{call.arg['filter']}.permute(3, 2, 0, 1)"
    return (
        f"{function}({_view(call, 'input')}, {w}, {bias}, {literal(g.before)},"
        f" {literal(g.strides)}, {literal(g.dilations)}, {literal(groups)},"
        f' "{activation}", [], ""){_back(call)}'
    )


def _conv2d_backprop_input_inline(call: Any) -> str | None:
    kernel = call.dims("filter")
    known = _static_geometry(call, call.out_dims(), kernel)
    if known is None:
        return None
    g, size, groups = known
    padding, extra, start = g.transposed(size, kernel[:2])
    for i, one in enumerate((g.height, g.width)):
        reach = (kernel[i] - 1) * g.dilations[i] + 1
        made = (one.outputs - 1) * g.strides[i] + reach - 2 * padding[i] + extra[i]
        if start[i] or made != size[i]:
            return None
    w = f"{call.arg['filter']}.permute(3, 2, 0, 1)"
    return (
        f"torch.convolution({_view(call, 'out_backprop')}, {w}, None,"
        f" {literal(g.strides)}, {literal(tuple(padding))}, {literal(g.dilations)}, True,"
        f" {literal(tuple(extra))}, {literal(groups)}){_back(call)}"
    )


def _conv2d_backprop_filter_inline(call: Any) -> str | None:
    kernel = call.out_dims()
    known = _static_geometry(call, call.dims("input"), kernel)
    if known is None or kernel[3] is None:
        return None
    g, _, groups = known
    x, before, strides = _view(call, "input"), g.before, g.strides
    if g.picks_pixels(kernel[:2]):
        x, strides = f"{x}[:, :, ::{literal(strides[0])}, ::{literal(strides[1])}]", (1, 1)
    elif not g.even:
        x, before = f"torch.constant_pad_nd({x}, {literal(g.pads)})", (0, 0)
    kh, kw, inputs, outputs = kernel
    size = literal((outputs, kh, kw, inputs))
    like = f"{call.arg['input']}.new_empty({size}).permute(0, 3, 1, 2)"
    return (
        f"torch.ops.aten.convolution_backward.default({_view(call, 'out_backprop')}, {x}, {like},"
        f" None, {literal(strides)}, {literal(before)}, {literal(g.dilations)}, False, (0, 0),"
        f" {literal(groups)},"
        " (False, True, False))[1].permute(2, 3, 1, 0)"
    )


# ---- shape rules ---------------------------------------------------------------------------------


def conv_shape(ctx: ShapeContext) -> Any:
    """Shape of a convolution; checks channels and that the filter fits."""
    image, kernel = ctx.rank("input", 4), ctx.rank("filter", 4)
    data_format = ctx.attr("data_format")
    _check_attrs(ctx)
    c = window.channel(data_format)
    if image[c] is not None and kernel[2] is not None and (kernel[2] == 0 or image[c] % kernel[2]):
        raise ValueError(
            f"Depth of input ({image[c]}) is not a multiple of input depth of filter"
            f" ({kernel[2]}): input depth must be evenly divisible by filter depth: {image[c]} vs"
            f" {kernel[2]} ({data_format})"
        )
    out: list[int | None] = [image[0], None, None, None]
    out[c] = kernel[3]
    if image[c] and kernel[2] and kernel[3]:
        conv_backprop.check_groups(image[c] // kernel[2], kernel[3])
    for i, axis in enumerate(window.spatial(data_format)):
        out[axis] = spatial_size(ctx, image[axis], kernel[i], axis)
    try:
        conv_backprop.check_steps(ctx.attr("strides"), ctx.attr("dilations"), data_format)
    except ValueError as error:
        raise FailsAtRun(str(error), tuple(out)) from None
    return tuple(out)


def spatial_size(ctx: ShapeContext, size: int | None, kernel: int | None, axis: int) -> Any:
    """Static size of one spatial dim of a convolution's output."""
    explicit = ctx.op.attrs.get("explicit_paddings")
    return window.static_size(
        size,
        kernel,
        ctx.attr("strides")[axis],
        ctx.attr("dilations")[axis],
        ctx.attr("padding"),
        window.explicit_pair(explicit, axis),
        "input",
    )


def _check_attrs(ctx: ShapeContext) -> None:
    """Checks the attrs, but for strides and dilations that a run refuses."""
    data_format = ctx.attr("data_format")
    for name in ("strides", "dilations"):
        window.check_entries(name, ctx.attr(name))
    window.check_padding(ctx.attr("padding"), ctx.attr("explicit_paddings"), data_format)


def _backprop_input_shape(ctx: ShapeContext) -> Any:
    kernel, grad = ctx["filter"], ctx["out_backprop"]
    dims = conv_backprop.sizes_from(ctx, "input_sizes")
    if dims[0] is None and ctx.value("input_sizes") is None and grad and len(grad) == 4:
        dims = (grad[0], *dims[1:])
    return conv_backprop.checked(ctx, dims, dims, kernel)


def _backprop_filter_shape(ctx: ShapeContext) -> Any:
    dims = conv_backprop.sizes_from(ctx, "filter_sizes")
    return conv_backprop.checked(ctx, dims, ctx["input"], dims)


# ---- gradients -----------------------------------------------------------------------------------


def _attrs_of(op: Any) -> dict[str, Any]:
    names = (
        "strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format", "dilations",
    )  # fmt: skip
    return {name: op.attrs[name] for name in names}


def _conv2d_gradient(op: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    attrs = _attrs_of(op)
    x, w = op.inputs
    x_shape, w_shape = make("ShapeN", [x, w])
    return (
        make("Conv2DBackpropInput", x_shape, w, grad, **attrs),
        make("Conv2DBackpropFilter", x, w_shape, grad, **attrs),
    )


def _backprop_input_gradient(op: Any, grad: Tensor) -> tuple[None, Tensor, Tensor]:
    attrs = _attrs_of(op)
    w, out_backprop = op.inputs[1], op.inputs[2]
    return (
        None,
        make("Conv2DBackpropFilter", grad, nodes.shape(w), out_backprop, **attrs),
        make("Conv2D", grad, w, **attrs),
    )


def _backprop_filter_gradient(op: Any, grad: Tensor) -> tuple[Tensor, None, Tensor]:
    attrs = _attrs_of(op)
    x, out_backprop = op.inputs[0], op.inputs[2]
    return (
        make("Conv2DBackpropInput", nodes.shape(x), grad, out_backprop, **attrs),
        None,
        make("Conv2D", x, grad, **attrs),
    )


_ShapeOf = Callable[[Shapes], tuple[int, ...]]


def _gradient_flops(image: _ShapeOf, kernel: _ShapeOf) -> Flops:
    """As many as the convolution itself has: the strides divide the places of the window."""

    def rule(at: Shapes) -> int:
        picture, weights = image(at), kernel(at)
        first = at.op.attrs["data_format"] in ("NCHW", b"NCHW") and len(picture) > 1
        depth = picture[1] if first else picture[-1]
        strides = at.op.attrs["strides"][2:] if first else at.op.attrs["strides"][1:3]
        return 2 * math.prod(picture) * math.prod(weights) // (max(1, depth) * math.prod(strides))

    return rule


define_op(
    "Conv2D",
    "input: T, filter: T -> output: T",
    attrs=ATTRS,
    shape=conv_shape,
    kernel=_conv2d,
    inline=inline_convolution,
    layouts={"filter": _OHWI},
    gradient=_conv2d_gradient,
    flops=arithmetic.window(3),
)

define_op(
    "Conv2DBackpropInput",
    "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    attrs=ATTRS,
    shape=_backprop_input_shape,
    kernel=_conv2d_backprop_input,
    inline=_conv2d_backprop_input_inline,
    host=("input_sizes",),
    layouts={"filter": _OHWI},
    gradient=_backprop_input_gradient,
    flops=_gradient_flops(lambda at: at.output(), lambda at: at.input(1)),
)

define_op(
    "Conv2DBackpropFilter",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    attrs=ATTRS,
    shape=_backprop_filter_shape,
    kernel=_conv2d_backprop_filter,
    inline=_conv2d_backprop_filter_inline,
    host=("filter_sizes",),
    gradient=_backprop_filter_gradient,
    flops=_gradient_flops(lambda at: at.input(0), lambda at: at.output()),
)
