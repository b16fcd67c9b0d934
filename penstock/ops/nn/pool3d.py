"""Three-dimensional max and average pooling and their gradients; see ``pool`` for two dims."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import nodes
from penstock.ops.nn import window
from penstock.ops.nn.conv3d import (
    FORMAT,
    PADDING,
    channel,
    channels_back,
    channels_first,
    check_five,
    spatial,
)

_WINDOW = ["ksize: list(int) >= 5", "strides: list(int) >= 5", PADDING, FORMAT]
_MAX_TYPES = "{half, bfloat16, float}"
_REAL = "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
_max_pool = torch.ops.aten.max_pool3d_with_indices.default
_avg_pool = torch._C._nn.avg_pool3d
_avg_pool_backward = torch.ops.aten.avg_pool3d_backward.default


class Pooling(NamedTuple):
    """Arguments of ATen's pools, and how much of the front of each dim to drop."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[int, ...]
    ceil: bool
    drop: tuple[int, ...]


def _pooling(size: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Pooling:
    axes = spatial(data_format)
    kernel, pads, drop, ceil = [], [], [], False
    for length, axis in zip(size, axes, strict=True):
        one = window.span(length, ksize[axis], strides[axis], 1, padding)
        # ATen refuses one window that is larger than the image: it holds all of it.
        alone = one.outputs == 1 and one.before + one.after > 0
        uneven = one.before != one.after and not alone
        at_one = uneven and strides[axis] == 1
        kernel.append(length if alone else ksize[axis])
        pads.append(0 if alone else one.after if at_one else one.before)
        drop.append(int(at_one))
        ceil = ceil or (uneven and not at_one)
    steps = tuple(strides[a] for a in axes)
    return Pooling(tuple(kernel), steps, tuple(pads), ceil, tuple(drop))


def _dropped(x: Any, drop: tuple[int, ...]) -> Any:
    d, h, w = drop
    return x[:, :, d:, h:, w:] if any(drop) else x


def _undropped(x: Any, drop: tuple[int, ...]) -> Any:
    d, h, w = drop
    return torch.constant_pad_nd(x, (w, 0, h, 0, d, 0)) if any(drop) else x


# ---- kernels -------------------------------------------------------------------------------------


def _wide(x: Any) -> Any:
    """ATen pools integers nowhere and unsigned ones not at all; float64 holds those of TF's sizes
    but the largest 64-bit ones.
    """
    return x if x.dtype.is_floating_point else x.to(torch.float64)


def _single(x: Any) -> Any:
    """ATen averages no half numbers on CPUs."""
    return x.float() if x.dtype in (torch.half, torch.bfloat16) else x


def _maxima(x: Any, p: Pooling) -> Any:
    return _max_pool(_wide(x).contiguous(), p.kernel, p.strides, p.padding, (1, 1, 1), p.ceil)


def _of_nothing(image, ksize, strides, padding, data_format):
    """The pool of an image without elements, which ATen refuses."""
    dims = list(image.shape)
    for axis in spatial(data_format):
        dims[axis] = window.kernel_size(dims[axis], ksize[axis], strides[axis], 1, padding)
    return image.new_zeros(dims)


def _max_pool3d(input, ksize, strides, padding, data_format):
    if not input.numel():
        return _of_nothing(input, ksize, strides, padding, data_format)
    x = channels_first(input, data_format)
    p = _pooling(x.shape[2:], ksize, strides, padding, data_format)
    return channels_back(_dropped(_maxima(x, p)[0], p.drop), data_format)


def _max_pool3d_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format):
    """Every element equal to its window's maximum gets the gradient, as in TensorFlow on CPUs."""
    x, y, dy = (channels_first(t, data_format) for t in (orig_input, orig_output, grad))
    wide = torch.float32 if grad.dtype in (torch.half, torch.bfloat16) else grad.dtype
    made, dy = torch.zeros_like(x, dtype=wide), dy.to(wide)
    axes = spatial(data_format)
    spans = [
        window.span(size, ksize[a], strides[a], 1, padding)
        for size, a in zip(x.shape[2:], axes, strict=True)
    ]
    if list(dy.shape[2:]) != [s.outputs for s in spans]:
        raise ValueError(
            f"grad has shape {list(grad.shape)}, but the pool's depth, height and width are"
            f" {[s.outputs for s in spans]}"
        )
    for offsets in itertools.product(*(range(ksize[a]) for a in axes)):
        outs, ins = zip(
            *(
                window.overlap(offsets[i] - spans[i].before, x.shape[2 + i], strides[a],
                               spans[i].outputs)
                for i, a in enumerate(axes)
            ),
            strict=True,
        )  # fmt: skip
        if any(s.start == s.stop for s in outs):
            continue
        here, there = (..., *outs), (..., *ins)
        made[there] += dy[here] * (x[there] == y[here])
    return channels_back(made.to(grad.dtype), data_format)


def _max_pool3d_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format):
    if not (orig_input.numel() and grad.numel()):
        return torch.zeros_like(orig_output)
    x, dx = (channels_first(t, data_format) for t in (orig_input, grad))
    p = _pooling(x.shape[2:], ksize, strides, padding, data_format)
    indices = _dropped(_maxima(x, p)[1], p.drop)
    picked = _wide(dx).flatten(2).gather(2, indices.flatten(2)).view(indices.shape)
    return channels_back(picked.to(grad.dtype), data_format)


def _is_small(size: Any, p: Pooling) -> bool:
    """Whether a window is larger than the image; ATen averages no such ones."""
    return any(length < kernel for length, kernel in zip(size, p.kernel, strict=True))


def _means(size: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> list[Any]:
    """A matrix ``[outputs, size]`` a dim: the share that each element has in each mean."""
    made = []
    for length, axis in zip(size, spatial(data_format), strict=True):
        one = window.span(length, ksize[axis], strides[axis], 1, padding)
        first = (torch.arange(one.outputs) * strides[axis] - one.before)[:, None]
        places = torch.arange(length)
        inside = (places >= first) & (places < first + ksize[axis])
        made.append(inside.double() / inside.sum(1, keepdim=True))
    return made


def _weighted(x: Any, matrices: list[Any]) -> Any:
    """Depth, height and width, each multiplied by its matrix ``[new, old]``."""
    for axis, matrix in enumerate(matrices, 2):
        x = torch.tensordot(x, matrix.to(x), ([axis], [1])).movedim(-1, axis)
    return x


def _avg_pool3d(input, ksize, strides, padding, data_format):
    if not input.numel():
        return _of_nothing(input, ksize, strides, padding, data_format)
    x = channels_first(input, data_format)
    size = x.shape[2:]
    p = _pooling(size, ksize, strides, padding, data_format)
    if _is_small(size, p):
        y = _weighted(_single(x), _means(size, ksize, strides, padding, data_format))
        return channels_back(y.to(input.dtype), data_format)
    y = _avg_pool(_single(x), p.kernel, p.strides, p.padding, p.ceil, False)
    return channels_back(_dropped(y, p.drop).to(input.dtype), data_format)


def _avg_pool3d_grad(orig_input_shape, grad, ksize, strides, padding, data_format):
    if not grad.numel() or 0 in orig_input_shape:
        return grad.new_zeros(orig_input_shape)
    upstream = _single(grad)
    like = channels_first(upstream.new_empty(orig_input_shape), data_format)
    size = like.shape[2:]
    p = _pooling(size, ksize, strides, padding, data_format)
    if _is_small(size, p):
        means = _means(size, ksize, strides, padding, data_format)
        dx = _weighted(channels_first(upstream, data_format), [m.T for m in means])
        return channels_back(dx.to(grad.dtype), data_format)
    dy = _undropped(channels_first(upstream, data_format), p.drop)
    dx = _avg_pool_backward(dy, like, p.kernel, p.strides, p.padding, p.ceil, False, None)
    return channels_back(dx.to(grad.dtype), data_format)


# ---- shape rules ---------------------------------------------------------------------------------


def _pooled(name: str) -> Any:
    def rule(ctx: ShapeContext) -> Dims:
        image, ksize, strides = ctx.rank(name, 5), ctx.attr("ksize"), ctx.attr("strides")
        check_five("ksize", ksize)
        check_five("strides", strides)
        data_format = ctx.attr("data_format")
        c = channel(data_format)
        if ksize[c] != 1 or strides[c] != 1:
            raise ValueError(
                f"pooling over channels is not defined; ksize is {list(ksize)}, strides are"
                f" {list(strides)}"
            )
        out = list(image)
        for axis in spatial(data_format):
            out[axis] = window.static_size(
                image[axis], ksize[axis], strides[axis], 1, ctx.attr("padding"), None, name
            )
        return tuple(out)

    return rule


def _original(ctx: ShapeContext) -> Dims:
    return ctx.rank("orig_input", 5)


def _original_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.shape_value("orig_input_shape")
    if dims is None:
        return (None,) * 5
    if len(dims) != 5:
        raise ValueError(f"orig_input_shape must have 5 elements; found {show(dims)}")
    return dims


# ---- gradients -----------------------------------------------------------------------------------


def _attrs_of(op: Any) -> dict[str, Any]:
    return {name: op.attrs[name] for name in ("ksize", "strides", "padding", "data_format")}


def _max_gradient(op: Any, grad: Tensor) -> Tensor:
    return make("MaxPool3DGrad", op.inputs[0], op.outputs[0], grad, **_attrs_of(op))


def _other_way(op_type: str) -> Any:
    """Gradient of MaxPool3DGrad and MaxPool3DGradGrad, each linear in its third input."""

    def gradient(op: Any, grad: Tensor) -> list[Any]:
        x, y = op.inputs[0], op.inputs[1]
        return [
            nodes.zeros(nodes.shape(x), x.dtype),
            nodes.zeros(nodes.shape(y), y.dtype),
            make(op_type, x, y, grad, **_attrs_of(op)),
        ]

    return gradient


def _avg_gradient(op: Any, grad: Tensor) -> Tensor:
    return make("AvgPool3DGrad", nodes.shape(op.inputs[0]), grad, **_attrs_of(op))


def _avg_grad_gradient(op: Any, grad: Tensor) -> list[Any]:
    return [make("StopGradient", op.inputs[0]), make("AvgPool3D", grad, **_attrs_of(op))]


# ---- the ops -------------------------------------------------------------------------------------

define_op(
    "MaxPool3D",
    "input: T -> output: T",
    attrs=[*_WINDOW, f"T: {_MAX_TYPES}"],
    shape=_pooled("input"),
    kernel=_max_pool3d,
    gradient=_max_gradient,
)
define_op(
    "MaxPool3DGrad",
    "orig_input: TInput, orig_output: TInput, grad: T -> output: T",
    attrs=[*_WINDOW, f"T: {_MAX_TYPES} = float", f"TInput: {_MAX_TYPES} = float"],
    shape=_original,
    kernel=_max_pool3d_grad,
    gradient=_other_way("MaxPool3DGradGrad"),
)
define_op(
    "MaxPool3DGradGrad",
    "orig_input: T, orig_output: T, grad: T -> output: T",
    attrs=[*_WINDOW, f"T: {_REAL}"],
    shape=_pooled("orig_input"),
    kernel=_max_pool3d_grad_grad,
    gradient=_other_way("MaxPool3DGrad"),
)
define_op(
    "AvgPool3D",
    "input: T -> output: T",
    attrs=[*_WINDOW, "T: {half, bfloat16, float, double}"],
    shape=_pooled("input"),
    kernel=_avg_pool3d,
    gradient=_avg_gradient,
)
define_op(
    "AvgPool3DGrad",
    "orig_input_shape: int32, grad: T -> output: T",
    attrs=[*_WINDOW, "T: {half, bfloat16, float, double}"],
    shape=_original_shape,
    kernel=_avg_pool3d_grad,
    host=("orig_input_shape",),
    gradient=_avg_grad_gradient,
)
