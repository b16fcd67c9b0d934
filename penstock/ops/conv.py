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

from collections.abc import Sequence
from typing import Any

import torch

from penstock.graph.build import make
from penstock.graph.scopes import name_scope
from penstock.graph.tensor import Tensor
from penstock.opdef import define_op
from penstock.opdef.inference import ShapeContext, show
from penstock.ops import nodes, window

__all__: list[str] = []

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


def conv_nchw(x, w, g, groups, bias=None):
    """Convolution of (N, C, H, W) with (O, I, H, W), plus a bias for each of the O."""
    if g.even:
        return torch.convolution(
            x, w, bias, g.strides, g.before, g.dilations, False, (0, 0), groups
        )
    x = torch.constant_pad_nd(x, g.pads)
    return torch.convolution(x, w, bias, g.strides, (0, 0), g.dilations, False, (0, 0), groups)


def conv_input_grad_nchw(grad, w, g, size, groups):
    """Gradient of ``conv_nchw`` in its input, whose height and width are ``size``."""
    kernel = w.shape[2:]
    padding, extra, start = g.transposed(size, kernel)
    x = torch.convolution(grad, w, None, g.strides, padding, g.dilations, True, extra, groups)
    if start != [0, 0] or x.shape[2] != size[0] or x.shape[3] != size[1]:
        x = x[:, :, start[0] : start[0] + size[0], start[1] : start[1] + size[1]]
    return x


def conv_filter_grad_nchw(x, w_like, grad, g, groups):
    """Gradient of ``conv_nchw`` in its filter; of ``w_like`` only shape and layout count."""
    before = g.before
    if not g.even:
        x, before = torch.constant_pad_nd(x, g.pads), (0, 0)
    return _convolution_backward(
        grad, x, w_like, None, g.strides, before, g.dilations, False, (0, 0), groups,
        (False, True, False),
    )[1]  # fmt: skip


def _to_nchw(x, data_format):
    return x.permute(0, 3, 1, 2) if data_format == "NHWC" else x


def _from_nchw(x, data_format):
    # A cut result is not channels-last memory any more, and its consumers would each reorder it.
    return x.permute(0, 2, 3, 1).contiguous() if data_format == "NHWC" else x.contiguous()


def _conv2d(input, filter, strides, padding, explicit_paddings, data_format, dilations):
    x, w = _to_nchw(input, data_format), filter.permute(3, 2, 0, 1)
    g = Geometry(
        x.shape[2:], w.shape[2:], strides, padding, explicit_paddings, data_format, dilations
    )
    return _from_nchw(conv_nchw(x, w, g, x.shape[1] // w.shape[1]), data_format)


def _conv2d_backprop_input(
    input_sizes, filter, out_backprop, strides, padding, explicit_paddings, data_format, dilations
):
    grad, w = _to_nchw(out_backprop, data_format), filter.permute(3, 2, 0, 1)
    h, c = window.spatial(data_format)[0], window.channel(data_format)
    size = input_sizes[h : h + 2]
    g = Geometry(size, w.shape[2:], strides, padding, explicit_paddings, data_format, dilations)
    x = conv_input_grad_nchw(grad, w, g, size, input_sizes[c] // w.shape[1])
    return _from_nchw(x, data_format)


def _conv2d_backprop_filter(
    input, filter_sizes, out_backprop, strides, padding, explicit_paddings, data_format, dilations
):
    x, grad = _to_nchw(input, data_format), _to_nchw(out_backprop, data_format)
    kh, kw, inputs, outputs = filter_sizes
    w_like = x.new_empty((outputs, kh, kw, inputs)).permute(0, 3, 1, 2)
    g = Geometry(
        x.shape[2:], (kh, kw), strides, padding, explicit_paddings, data_format, dilations
    )
    return conv_filter_grad_nchw(x, w_like, grad, g, x.shape[1] // inputs).permute(2, 3, 1, 0)


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
    if None in (image[h], image[w], channels):
        return None
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
        x, before = f"torch.constant_pad_nd({x}, {g.pads})", (0, 0)
    w = f"{call.arg['filter']}.permute(3, 2, 0, 1)"
    return (
        f"torch.convolution({x}, {w}, {bias}, {g.strides}, {before}, {g.dilations}, False, (0, 0),"
        f" {groups}){_back(call)}"
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
        f"torch.convolution({_view(call, 'out_backprop')}, {w}, None, {g.strides},"
        f" {tuple(padding)}, {g.dilations}, True, {tuple(extra)}, {groups}){_back(call)}"
    )


def _conv2d_backprop_filter_inline(call: Any) -> str | None:
    kernel = call.out_dims()
    known = _static_geometry(call, call.dims("input"), kernel)
    if known is None or kernel[3] is None:
        return None
    g, _, groups = known
    x, before = _view(call, "input"), g.before
    if not g.even:
        x, before = f"torch.constant_pad_nd({x}, {g.pads})", (0, 0)
    kh, kw, inputs, outputs = kernel
    like = (
        f"{call.arg['input']}.new_empty(({outputs}, {kh}, {kw}, {inputs})).permute(0, 3, 1, 2)"
    )
    return (
        f"torch.ops.aten.convolution_backward.default({_view(call, 'out_backprop')}, {x}, {like},"
        f" None, {g.strides}, {before}, {g.dilations}, False, (0, 0), {groups},"
        " (False, True, False))[1].permute(2, 3, 1, 0)"
    )


# ---- shape rules ---------------------------------------------------------------------------------


def conv_shape(ctx: ShapeContext) -> Any:
    """Shape of a convolution; checks channels and that the filter fits."""
    image, kernel = ctx.rank("input", 4), ctx.rank("filter", 4)
    data_format = ctx.attr("data_format")
    _check_attrs(ctx)
    c = window.channel(data_format)
    if image[c] is not None and kernel[2] is not None and (
        kernel[2] == 0 or image[c] % kernel[2]
    ):
        raise ValueError(
            f"input has {image[c]} channel(s) ({data_format}), which is not a multiple of the"
            f" {kernel[2]} input channel(s) of the filter"
        )
    out: list[int | None] = [image[0], None, None, None]
    out[c] = kernel[3]
    for i, axis in enumerate(window.spatial(data_format)):
        out[axis] = spatial_size(ctx, image[axis], kernel[i], axis)
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
    data_format = ctx.attr("data_format")
    window.check_four("strides", ctx.attr("strides"), data_format)
    window.check_four("dilations", ctx.attr("dilations"), data_format)
    window.check_padding(ctx.attr("padding"), ctx.attr("explicit_paddings"), data_format)


def _backprop_input_shape(ctx: ShapeContext) -> Any:
    _check_attrs(ctx)
    kernel, grad = ctx.rank("filter", 4), ctx.rank("out_backprop", 4)
    dims = ctx.shape_value("input_sizes")
    if dims is None:
        dims = (None,) * 4
    if len(dims) != 4:
        raise ValueError(f"input_sizes must have 4 elements; found {show(dims)}")
    c = window.channel(ctx.attr("data_format"))
    if grad[c] is not None and kernel[3] is not None and grad[c] != kernel[3]:
        raise ValueError(
            f"out_backprop has {grad[c]} channel(s), but the filter has {kernel[3]} output(s)"
        )
    for i, axis in enumerate(window.spatial(ctx.attr("data_format"))):
        size = spatial_size(ctx, dims[axis], kernel[i], axis)
        if size is not None and grad[axis] is not None and size != grad[axis]:
            raise ValueError(
                f"out_backprop has size {grad[axis]} in dim {axis}, but a convolution of"
                f" {show(dims)} with {show(kernel)} gives {size}"
            )
    return (dims[0] if dims[0] is not None else grad[0], *dims[1:])


def _backprop_filter_shape(ctx: ShapeContext) -> Any:
    _check_attrs(ctx)
    ctx.rank("input", 4)
    grad = ctx.rank("out_backprop", 4)
    dims = ctx.shape_value("filter_sizes")
    if dims is None:
        return (None,) * 4
    if len(dims) != 4:
        raise ValueError(f"filter_sizes must have 4 elements; found {show(dims)}")
    outputs = grad[window.channel(ctx.attr("data_format"))]
    if None not in (outputs, dims[3]) and outputs != dims[3]:
        raise ValueError(f"out_backprop has {outputs} channel(s), but filter_sizes says {dims[3]}")
    return dims


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


define_op(
    "Conv2D",
    "input: T, filter: T -> output: T",
    attrs=ATTRS,
    shape=conv_shape,
    kernel=_conv2d,
    inline=inline_convolution,
    layouts={"filter": _OHWI},
    gradient=_conv2d_gradient,
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
)


# ---- public arguments ----------------------------------------------------------------------------


def given(new: str, value: Any, old: str, old_value: Any) -> Any:
    """The one of two synonymous arguments that was given; one must be.

    Raises:
      ValueError: both or neither were given.
    """
    if (value is None) == (old_value is None):
        raise ValueError(f"exactly one of {old!r} and {new!r} must be given")
    return old_value if value is None else value


def sequence_of(value: Any, n: int, channel_index: int, name: str) -> list[int]:
    """A strides-like argument, one entry a dim, from an int or a list of 1, n or n + 2."""
    if value is None:
        value = [1]
    elif not hasattr(value, "__len__"):
        value = [value]
    items = [int(v) for v in value]
    if len(items) == 1:
        items = items * n
    if len(items) == n + 2:
        return items
    if len(items) != n:
        raise ValueError(
            f"{name} must be an int or a list of 1, {n} or {n + 2} ints; found {items}"
        )
    return [1, *items, 1] if channel_index == n + 1 else [1, 1, *items]


def padding_attrs(padding: Any) -> dict[str, Any]:
    """The attrs padding and explicit_paddings of a ``padding`` argument.

    Raises:
      ValueError: neither a known name nor one (before, after) pair a dim.
    """
    if isinstance(padding, list | tuple):
        if len(padding) != 4 or not all(
            isinstance(p, list | tuple) and len(p) == 2 for p in padding
        ):
            raise ValueError(
                f"explicit padding must be 4 pairs (before, after); found {padding!r}"
            )
        return {"padding": "EXPLICIT", "explicit_paddings": [int(v) for p in padding for v in p]}
    if padding == "EXPLICIT":
        raise ValueError("explicit padding is given as a list of pairs, not as 'EXPLICIT'")
    return {"padding": padding, "explicit_paddings": []}


def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Convolution (cross-correlation) of images with a filter.

    Args:
      input: floating ``[batch, height, width, channels]`` (``[batch, channels, height, width]``
        with NCHW).
      filter: ``[height, width, input channels, output channels]`` of the same type.  Where
        ``input`` has a multiple of its input channels, the convolution is in groups.
      strides: int, or a list of 1, 2 or 4.
      padding: "SAME", "VALID", or a (before, after) pair for each dim.
      use_cudnn_on_gpu: kept for old programs.
      data_format: "NHWC" or "NCHW".
      dilations: int, or a list of 1, 2 or 4.
      name: name of the node.
      filters: synonym of ``filter``.

    Returns:
      A tensor in the same format.

    Raises:
      ValueError: shapes or attributes that do not fit.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 8]), 2, "SAME").shape.as_list()
      [1, 2, 2, 8]
    """
    filter = given("filters", filters, "filter", filter)
    data_format = data_format or "NHWC"
    c = window.channel(data_format)
    made: Tensor = make(
        "Conv2D",
        input,
        filter,
        name=name,
        strides=sequence_of(strides, 2, c, "strides"),
        dilations=sequence_of(dilations, 2, c, "dilations"),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        **padding_attrs(padding),
    )
    return made


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Gradient of ``conv2d`` in its input.

    Args:
      input_sizes: int32 vector, the shape of the input.
      filter: the filter.
      out_backprop: gradient of the convolution's output.
      strides: as of the convolution.
      padding: as of the convolution.
      use_cudnn_on_gpu: kept for old programs.
      data_format: as of the convolution.
      dilations: as of the convolution.
      name: name of the node.
      filters: synonym of ``filter``.

    Returns:
      A tensor of shape ``input_sizes``.
    """
    c = window.channel(data_format)
    made: Tensor = make(
        "Conv2DBackpropInput",
        input_sizes,
        given("filters", filters, "filter", filter),
        out_backprop,
        name=name,
        strides=sequence_of(strides, 2, c, "strides"),
        dilations=sequence_of(dilations, 2, c, "dilations"),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        **padding_attrs(padding),
    )
    return made


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Gradient of ``conv2d`` in its filter; arguments as of ``conv2d_backprop_input``."""
    c = window.channel(data_format)
    made: Tensor = make(
        "Conv2DBackpropFilter",
        input,
        filter_sizes,
        out_backprop,
        name=name,
        strides=sequence_of(strides, 2, c, "strides"),
        dilations=sequence_of(dilations, 2, c, "dilations"),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        **padding_attrs(padding),
    )
    return made


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose (gradient) of ``conv2d``: from its output's shape to its input's.

    Args:
      value: floating ``[batch, height, width, input channels]``.
      filter: ``[height, width, output channels, input channels]``.
      output_shape: int32 vector of 4.
      strides: int, or a list of 1, 2 or 4.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      name: name of the node.
      input: synonym of ``value``.
      filters: synonym of ``filter``.
      dilations: int, or a list of 1, 2 or 4.

    Returns:
      A tensor of shape ``output_shape``.

    Raises:
      ValueError: shapes that do not fit.
    """
    value = given("input", input, "value", value)
    filter = given("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        data_format = data_format or "NHWC"
        c = window.channel(data_format)
        made: Tensor = make(
            "Conv2DBackpropInput",
            output_shape,
            filter,
            value,
            name=scope,
            strides=sequence_of(strides, 2, c, "strides"),
            dilations=sequence_of(dilations, 2, c, "dilations"),
            data_format=data_format,
            **padding_attrs(padding),
        )
    return made


def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Convolution along one dim: ``conv2d`` with height 1.

    Args:
      value: floating ``[batch, width, channels]`` (``[batch, channels, width]`` with NCW).
      filters: ``[width, input channels, output channels]``.
      stride: int, or a list of 1 or 3.
      padding: "SAME" or "VALID".
      use_cudnn_on_gpu: kept for old programs.
      data_format: "NWC" or "NCW".
      name: name of the scope.
      input: synonym of ``value``.
      dilations: int, or a list of 1 or 3.

    Returns:
      A tensor in the same format.
    """
    value = given("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        layout, axis = _layout_of_1d(data_format)
        strides = [1, *sequence_of(stride, 1, 3 - axis, "stride")]
        spread = [1, *sequence_of(dilations, 1, 3 - axis, "dilations")]
        value = make("ExpandDims", value, axis)
        filters = make("ExpandDims", filters, 0)
        made = make(
            "Conv2D",
            value,
            filters,
            name=scope,
            strides=strides,
            dilations=spread,
            use_cudnn_on_gpu=True if use_cudnn_on_gpu is None else use_cudnn_on_gpu,
            data_format=layout,
            **padding_attrs(padding),
        )
        result: Tensor = make("Squeeze", made, squeeze_dims=[axis])
    return result


def _layout_of_1d(data_format: str | None) -> tuple[str, int]:
    """Format in two dims, and position of the new height."""
    if data_format in (None, "NHWC", "NWC"):
        return "NHWC", 1
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2
    raise ValueError(f"data_format must be 'NWC' or 'NCW'; found {data_format!r}")


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose (gradient) of ``conv1d``.

    Args:
      input: floating ``[batch, width, input channels]``.
      filters: ``[width, output channels, input channels]``.
      output_shape: int32 vector of 3.
      strides: int, or a list of 1 or 3.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW".
      dilations: int, or a list of 1 or 3.
      name: name of the scope.

    Returns:
      A tensor of shape ``output_shape``.
    """
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        layout, axis = _layout_of_1d(data_format)
        steps = [1, *sequence_of(strides, 1, 3 - axis, "strides")]
        spread = [1, *sequence_of(dilations, 1, 3 - axis, "dilations")]
        input = make("ExpandDims", input, axis)
        filters = make("ExpandDims", filters, 0)
        if not isinstance(output_shape, Tensor):
            output_shape = [int(d) for d in output_shape]
        shape = nodes.concat([output_shape[:axis], [1], output_shape[axis:]], 0)
        made = make(
            "Conv2DBackpropInput",
            shape,
            filters,
            input,
            name=scope,
            strides=steps,
            dilations=spread,
            data_format=layout,
            **padding_attrs(padding),
        )
        result: Tensor = make("Squeeze", made, squeeze_dims=[axis])
    return result
