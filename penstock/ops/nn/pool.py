"""Max and average pooling and their gradients.

As in ``conv``, NHWC tensors are channels-last views for ATen.  Windows that ``SAME`` lets hang over
the end need no padded copy: with a stride above 1 they are what ATen calls ceil mode; with stride 1
the padding is made even and the first row or column, which is then too many, dropped.  Padding
never counts: a maximum ignores it, an average divides by the elements that are there.

Of equal maxima the first in row-major order wins, in TensorFlow and in ATen.

``MaxPoolGrad`` is given the input, not where the maxima were, so it looks for them again.  In a
step that holds both, a pass replaces the pair by ``_MaxPoolWithIndices`` and
``_MaxPoolGradWithIndices``.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.arithmetic import Shapes
from penstock.foundation.opdef.inference import RefusedAtBuild, ShapeContext, same_as, show
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import nodes
from penstock.ops.nn import window
from penstock.ops.nn.window import from_nchw, to_nchw

WINDOW = ["ksize: list(int) >= 4", "strides: list(int) >= 4", "padding: {'SAME', 'VALID'}"]
_FORMAT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
REAL = "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
_POOLED = (
    "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = float"
)
_FORMAT_VECT = "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"
_FLOATING = "T: {half, bfloat16, float, double}"
UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)
_max_pool = torch.ops.aten.max_pool2d_with_indices.default
_max_pool_backward = torch.ops.aten.max_pool2d_with_indices_backward.default
_avg_pool_backward = torch.ops.aten.avg_pool2d_backward.default


class Pooling(NamedTuple):
    """Arguments of ATen's pools, and how many leading rows and columns to drop."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    padding: tuple[int, int]
    ceil: bool
    drop: tuple[int, int]


def pooling(size: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Pooling:
    """How ATen pools images of height and width ``size``."""
    window.check_within_images(ksize, strides)
    pads, drop, ceil = [], [], False
    axes = window.spatial(data_format)
    for length, axis in zip(size, axes, strict=True):
        one = window.span(length, ksize[axis], strides[axis], 1, padding)
        uneven = one.before != one.after
        at_one = uneven and strides[axis] == 1
        pads.append(one.after if at_one else one.before)
        drop.append(int(at_one))
        ceil = ceil or (uneven and not at_one)
    kernel, steps = (tuple(values[a] for a in axes) for values in (ksize, strides))
    return Pooling(kernel, steps, tuple(pads), ceil, tuple(drop))


def dropped(x, drop):
    return (
        x
        if drop == (0, 0)
        else x[:, :, drop[0] :, drop[1] :].contiguous(memory_format=torch.channels_last)
    )


def _undropped(grad, drop):
    """Zeros where rows and columns had been dropped."""
    return grad if drop == (0, 0) else torch.constant_pad_nd(grad, (drop[1], 0, drop[0], 0))


# ---- kernels of max pooling --------------------------------------------------------------------


def maxima(x, p):
    """Pooled (N, C, H, W) and positions in the plane, before anything is dropped."""
    if x.dtype in UNSIGNED:
        pooled, indices = _max_pool(
            x.to(torch.int64), p.kernel, p.strides, p.padding, (1, 1), p.ceil
        )
        return pooled.to(x.dtype), indices
    return _max_pool(x, p.kernel, p.strides, p.padding, (1, 1), p.ceil)


def _of_nothing(image, ksize, strides, padding, data_format):
    """The pool of an image without elements, which ATen refuses."""
    dims = list(image.shape)
    for axis in window.spatial(data_format):
        dims[axis] = window.kernel_size(dims[axis], ksize[axis], strides[axis], 1, padding)
    return image.new_zeros(dims)


def _max_pool_kernel(input, ksize, strides, padding, data_format):
    if not input.numel():
        return _of_nothing(input, ksize, strides, padding, data_format)
    if ksize[window.channel(data_format)] > 1:
        return _max_over_channels(input, ksize, strides, data_format)
    x = to_nchw(input, data_format)
    p = pooling(x.shape[2:], ksize, strides, padding, data_format)
    return from_nchw(dropped(maxima(x, p)[0], p.drop), data_format)


def _max_over_channels(input, ksize, strides, data_format):
    c = window.channel(data_format)
    depth = ksize[c]
    if strides[c] != depth or input.shape[c] % depth or max(ksize[:c] + ksize[c + 1 :]) > 1:
        raise NotImplementedError(
            "pooling over channels needs a stride equal to the window, a number of channels that"
            " is a multiple of it, and no window over height and width"
        )
    return input.unflatten(c, (-1, depth)).amax(c + 1)


def _max_pool_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format):
    if not (orig_input.numel() and grad.numel()):
        return torch.zeros_like(orig_input)
    x, dy = to_nchw(orig_input, data_format), to_nchw(grad, data_format)
    p = pooling(x.shape[2:], ksize, strides, padding, data_format)
    dx = _spread(x, _undropped(dy, p.drop), maxima(x, p)[1], p)
    return from_nchw(dx, data_format)


def _spread(x, dy, indices, p):
    if x.dtype in UNSIGNED or not x.dtype.is_floating_point:
        flat = torch.zeros((*x.shape[:2], x.shape[2] * x.shape[3]), dtype=torch.int64)
        flat = flat.to(x.device).scatter_add_(2, indices.flatten(2), dy.to(torch.int64).flatten(2))
        return flat.view(x.shape).to(x.dtype)
    return _max_pool_backward(dy, x, p.kernel, p.strides, p.padding, (1, 1), p.ceil, indices)


def _max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format):
    """The gradient where each window first holds the maximum, which ``orig_output`` says."""
    wide = torch.int64 if grad.dtype in UNSIGNED else grad.dtype
    x, y, dx = (to_nchw(t.to(wide), data_format) for t in (orig_input, orig_output, grad))
    made = torch.zeros_like(y)
    if not (x.numel() and y.numel()):
        return from_nchw(made.to(grad.dtype), data_format)
    axes = window.spatial(data_format)
    steps = [strides[a] for a in axes]
    spans = [
        window.span(size, ksize[a], strides[a], 1, padding)
        for size, a in zip(x.shape[2:], axes, strict=True)
    ]
    reached = [
        range(max(0, s.before - (s.outputs - 1) * step), min(ksize[a], s.before + size))
        for s, step, a, size in zip(spans, steps, axes, x.shape[2:], strict=True)
    ]
    # Back to front, so that of equal elements the first one counts.
    for offsets in itertools.product(*(reversed(r) for r in reached)):
        outs, ins = zip(
            *(
                window.overlap(offset - s.before, size, step, s.outputs)
                for offset, s, size, step in zip(offsets, spans, x.shape[2:], steps, strict=True)
            ),
            strict=True,
        )
        if any(s.start == s.stop for s in outs):
            continue
        here, there = (..., *outs), (..., *ins)
        made[here] = torch.where(x[there] == y[here], dx[there], made[here])
    return from_nchw(made.to(grad.dtype), data_format)


def _max_pool_with_indices(input, ksize, strides, padding, data_format):
    if not input.numel():
        pooled = _of_nothing(input, ksize, strides, padding, data_format)
        return pooled, to_nchw(pooled, data_format).to(torch.int64)
    x = to_nchw(input, data_format)
    p = pooling(x.shape[2:], ksize, strides, padding, data_format)
    pooled, indices = maxima(x, p)
    return from_nchw(dropped(pooled, p.drop), data_format), indices


def _max_pool_grad_with_indices(grad, input, indices, ksize, strides, padding, data_format):
    if not (input.numel() and grad.numel()):
        return torch.zeros_like(input)
    x = to_nchw(input, data_format)
    p = pooling(x.shape[2:], ksize, strides, padding, data_format)
    dx = _spread(x, _undropped(to_nchw(grad, data_format), p.drop), indices, p)
    return from_nchw(dx, data_format)


# ---- kernels of average pooling ----------------------------------------------------------------


def _avg_pool_kernel(value, ksize, strides, padding, data_format):
    if not value.numel():
        return _of_nothing(value, ksize, strides, padding, data_format)
    x = to_nchw(value, data_format)
    p = pooling(x.shape[2:], ksize, strides, padding, data_format)
    y = torch._C._nn.avg_pool2d(x, p.kernel, p.strides, p.padding, p.ceil, False)
    return from_nchw(dropped(y, p.drop), data_format)


def _avg_pool_grad(orig_input_shape, grad, ksize, strides, padding, data_format):
    if not grad.numel() or 0 in orig_input_shape:
        return grad.new_zeros(orig_input_shape)
    h = window.spatial(data_format)[0]
    p = pooling(orig_input_shape[h : h + 2], ksize, strides, padding, data_format)
    # Only the shape and layout of the input count.
    like = to_nchw(grad.new_empty(orig_input_shape), data_format)
    dy = _undropped(to_nchw(grad, data_format), p.drop)
    dx = _avg_pool_backward(dy, like, p.kernel, p.strides, p.padding, p.ceil, False, None)
    return from_nchw(dx, data_format)


# ---- inline ------------------------------------------------------------------------------------


def _static_pooling(call: Any, dims: Any) -> Pooling | None:
    data_format = call.op.attrs.get("data_format", "NHWC")
    ksize = call.attr("ksize")
    if dims is None or data_format not in ("NHWC", "NCHW"):
        return None
    h, w = window.spatial(data_format)
    if dims[h] is None or dims[w] is None or 0 in dims or ksize[window.channel(data_format)] > 1:
        return None
    strides = call.attr("strides")
    if not window.is_within_images(ksize, strides):
        return None  # the kernel says so
    p = pooling((dims[h], dims[w]), ksize, strides, call.attr("padding"), data_format)
    return p if p.drop == (0, 0) else None


def _nchw_source(call: Any, name: str) -> str:
    source: str = call.arg[name]
    nhwc = call.op.attrs.get("data_format", "NHWC") == "NHWC"
    return f"{source}.permute(0, 3, 1, 2)" if nhwc else source


def _nhwc_source(call: Any, source: str) -> str:
    nhwc = call.op.attrs.get("data_format", "NHWC") == "NHWC"
    return f"{source}.permute(0, 2, 3, 1)" if nhwc else source


def _geometry(p: Pooling) -> str:
    """Source of the arguments that say which window goes where."""
    return f"{literal(p.kernel)}, {literal(p.strides)}, {literal(p.padding)}"


def _is_plain(call: Any) -> bool:
    return call.attr("T").name not in ("uint16", "uint32", "uint64")


def _max_pool_inline(call: Any) -> str | None:
    p = _static_pooling(call, call.dims("input"))
    if p is None or not _is_plain(call):
        return None
    x = _nchw_source(call, "input")
    return _nhwc_source(call, f"torch.max_pool2d({x}, {_geometry(p)}, (1, 1), {literal(p.ceil)})")


def _max_pool_grad_with_indices_inline(call: Any) -> str | None:
    p = _static_pooling(call, call.dims("input"))
    if p is None or not call.attr("T").is_floating:
        return None
    grad, x = _nchw_source(call, "grad"), _nchw_source(call, "input")
    return _nhwc_source(
        call,
        f"torch.ops.aten.max_pool2d_with_indices_backward.default({grad}, {x},"
        f" {_geometry(p)}, (1, 1), {literal(p.ceil)}, {call.arg['indices']})",
    )


def _avg_pool_inline(call: Any) -> str | None:
    p = _static_pooling(call, call.dims("value"))
    if p is None:
        return None
    x = _nchw_source(call, "value")
    return _nhwc_source(
        call,
        f"torch._C._nn.avg_pool2d({x}, {_geometry(p)}, {literal(p.ceil)}, False)",
    )


# ---- shape rules -------------------------------------------------------------------------------


def pooled_dims(
    ctx: ShapeContext, name: str, ksize: Any, strides: Any, least: int | None = 1
) -> Any:
    data_format = ctx.op.attrs.get("data_format", "NHWC")
    if data_format == "NCHW_VECT_C":
        raise ValueError("data_format NCHW_VECT_C (8-bit pools of TensorRT) is not implemented")
    image = ctx.rank(name, 4)
    for what, values in (("ksize", ksize), ("strides", strides)):
        if values is not None and len(values) != 4:
            raise ValueError(f"{what} must have 4 entries; found {list(values)}")
    if ksize is None or strides is None:
        return (image[0], None, None, None)
    out: list[int | None] = [image[0], None, None, None]
    c = window.channel(data_format)
    for axis in (c, *window.spatial(data_format)):
        if least is not None and ksize[axis] < least:
            raise ValueError(f"ksize must be positive; found {list(ksize)}")
        padding, size = ctx.attr("padding"), image[axis]
        if axis == c and padding == "VALID" and size is not None and size < ksize[c]:
            if "Avg" not in ctx.op.type:
                raise RefusedAtBuild(
                    f"Negative dimension size caused by subtracting {ksize[c]} from {size}"
                )
        out[axis] = window.static_size(size, ksize[axis], strides[axis], 1, padding, None, name)
    return tuple(out)


def _pool_shape(name: str) -> Any:
    return lambda ctx: pooled_dims(ctx, name, ctx.attr("ksize"), ctx.attr("strides"))


def _orig_input_shape(ctx: ShapeContext) -> Any:
    ctx.rank("orig_output", 4)
    ctx.rank("grad", 4)
    return ctx.rank("orig_input", 4)


def _pool_v2_shape(ctx: ShapeContext) -> Any:
    ksize, strides = (ctx.value(n) for n in ("ksize", "strides"))
    as_list = [None if v is None else v.tolist() for v in (ksize, strides)]
    return pooled_dims(ctx, "input", *as_list)


def _pool_grad_grad_shape(ctx: ShapeContext) -> Any:
    pooled = pooled_dims(ctx, "orig_input", ctx.attr("ksize"), ctx.attr("strides"))
    return like_pool(ctx, "orig_input", "orig_output", pooled)


def _pool_grad_grad_v2_shape(ctx: ShapeContext) -> Any:
    ksize, strides = (ctx.value(n) for n in ("ksize", "strides"))
    as_list = [None if v is None else v.tolist() for v in (ksize, strides)]
    # In a window of no elements there is no maximum, and the gradient is 0.
    pooled = pooled_dims(ctx, "orig_input", *as_list, least=None)
    return like_pool(ctx, "orig_input", "orig_output", pooled)


def like_pool(ctx: ShapeContext, image: str, output: str, pooled: Any) -> Any:
    """Dims of the pool, which ``output`` has as well, as ``grad`` has those of the image."""
    shapes.merge_static(ctx.rank(image, 4), ctx["grad"])
    return shapes.merge_static(pooled, ctx[output])


def _avg_pool_grad_shape(ctx: ShapeContext) -> Any:
    dims = ctx.shape_value("orig_input_shape")
    if dims is None:
        return (None,) * 4
    if len(dims) != 4:
        raise ValueError(f"orig_input_shape must have 4 elements; found {show(dims)}")
    return dims


# ---- gradients ---------------------------------------------------------------------------------

_NAMES = ("ksize", "strides", "padding", "data_format")


def attrs_of(op: Any, names: Any = _NAMES) -> dict[str, Any]:
    return {name: op.attrs[name] for name in names}


def _max_pool_gradient(op: Any, grad: Tensor) -> Tensor:
    return make("MaxPoolGrad", op.inputs[0], op.outputs[0], grad, **attrs_of(op))


def _max_pool_v2_gradient(op: Any, grad: Tensor) -> tuple[Tensor, None, None]:
    x, ksize, strides = op.inputs
    attrs = attrs_of(op, ("padding", "data_format"))
    return make("MaxPoolGradV2", x, op.outputs[0], grad, ksize, strides, **attrs), None, None


def _other_way(op_type: str) -> Any:
    """Gradient of MaxPoolGrad and MaxPoolGradGrad, each linear in its third input."""

    def gradient(op: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, y = op.inputs[0], op.inputs[1]
        return (
            nodes.zeros(nodes.shape(x), x.dtype),
            nodes.zeros(nodes.shape(y), y.dtype),
            make(op_type, x, y, grad, **attrs_of(op)),
        )

    return gradient


def _other_way_v2(op_type: str) -> Any:
    def gradient(op: Any, grad: Tensor) -> Any:
        x, y, _, ksize, strides = op.inputs
        attrs = attrs_of(op, ("padding", "data_format"))
        return (
            nodes.zeros(nodes.shape(x), x.dtype),
            nodes.zeros(nodes.shape(y), y.dtype),
            make(op_type, x, y, grad, ksize, strides, **attrs),
            None,
            None,
        )

    return gradient


def _avg_pool_gradient(op: Any, grad: Tensor) -> Tensor:
    return make("AvgPoolGrad", nodes.shape(op.inputs[0]), grad, **attrs_of(op))


def _avg_pool_grad_gradient(op: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    return make("StopGradient", op.inputs[0]), make("AvgPool", grad, **attrs_of(op))


# ---- float operations ----------------------------------------------------------------------------


def _area(op: Any) -> int:
    return math.prod(op.attrs["ksize"])


def _pool_flops(at: Shapes) -> int:
    return _area(at.op) * math.prod(at.output())


def _avg_pool_grad_flops(at: Shapes) -> int:
    return 2 * _area(at.op) * math.prod(at.input(1))


def _max_pool_grad_flops(at: Shapes) -> int:
    return (_area(at.op) + 1) * math.prod(at.input(1))


# ---- the ops -------------------------------------------------------------------------------------

define_op(
    "MaxPool",
    "input: T -> output: T",
    attrs=[*WINDOW, _FORMAT_VECT, _POOLED],
    shape=_pool_shape("input"),
    kernel=_max_pool_kernel,
    inline=_max_pool_inline,
    gradient=_max_pool_gradient,
    flops=_pool_flops,
    later=["explicit_paddings: list(int) = []"],
)

define_op(
    "MaxPoolV2",
    "input: T, ksize: int32, strides: int32 -> output: T",
    attrs=[WINDOW[2], _FORMAT_VECT, _POOLED],
    shape=_pool_v2_shape,
    kernel=_max_pool_kernel,
    host=("ksize", "strides"),
    gradient=_max_pool_v2_gradient,
)

for _name, _kernel, _shape, _reverse in (
    ("MaxPoolGrad", _max_pool_grad, _orig_input_shape, "MaxPoolGradGrad"),
    ("MaxPoolGradGrad", _max_pool_grad_grad, _pool_grad_grad_shape, "MaxPoolGrad"),
):
    _default = " = float" if _name == "MaxPoolGrad" else ""
    define_op(
        _name,
        "orig_input: T, orig_output: T, grad: T -> output: T",
        attrs=[*WINDOW, _FORMAT, f"T: {REAL}{_default}"],
        shape=_shape,
        kernel=_kernel,
        gradient=_other_way(_reverse),
        flops=_max_pool_grad_flops if _name == "MaxPoolGrad" else None,
        later=["explicit_paddings: list(int) = []"] if _name == "MaxPoolGrad" else (),
    )
    define_op(
        f"{_name}V2",
        "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T",
        attrs=[WINDOW[2], _FORMAT, f"T: {REAL}{_default}"],
        shape=_shape if _name == "MaxPoolGrad" else _pool_grad_grad_v2_shape,
        kernel=_kernel,
        host=("ksize", "strides"),
        gradient=_other_way_v2(f"{_reverse}V2") if _name == "MaxPoolGrad" else None,
        no_gradient=None if _name == "MaxPoolGrad" else "TensorFlow 1.15 defines none",
    )

define_op(
    "_MaxPoolWithIndices",
    "input: T -> output: T, indices: int64",
    attrs=[*WINDOW, _FORMAT, f"T: {REAL}"],
    shape=lambda ctx: [_pool_shape("input")(ctx), None],
    kernel=_max_pool_with_indices,
    no_gradient="made by passes only, after gradients are built",
    internal=True,
)

define_op(
    "_MaxPoolGradWithIndices",
    "grad: T, input: T, indices: int64 -> output: T",
    attrs=[*WINDOW, _FORMAT, f"T: {REAL}"],
    shape=same_as("input"),
    kernel=_max_pool_grad_with_indices,
    inline=_max_pool_grad_with_indices_inline,
    no_gradient="made by passes only, after gradients are built",
    internal=True,
)

define_op(
    "AvgPool",
    "value: T -> output: T",
    attrs=[*WINDOW, _FORMAT, _FLOATING],
    shape=_pool_shape("value"),
    kernel=_avg_pool_kernel,
    inline=_avg_pool_inline,
    gradient=_avg_pool_gradient,
    flops=_pool_flops,
)

define_op(
    "AvgPoolGrad",
    "orig_input_shape: int32, grad: T -> output: T",
    attrs=[*WINDOW, _FORMAT, _FLOATING],
    shape=_avg_pool_grad_shape,
    kernel=_avg_pool_grad,
    host=("orig_input_shape",),
    gradient=_avg_pool_grad_gradient,
    flops=_avg_pool_grad_flops,
)
