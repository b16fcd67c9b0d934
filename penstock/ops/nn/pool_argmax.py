"""Max pooling that says where the maxima were, as positions in the flattened image or batch."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext
from penstock.ops.nn import window
from penstock.ops.nn.pool import (
    REAL,
    UNSIGNED,
    WINDOW,
    attrs_of,
    dropped,
    like_pool,
    maxima,
    pooled_dims,
    pooling,
)
from penstock.ops.nn.window import from_nchw, to_nchw


def _max_pool_with_argmax(input, ksize, strides, padding, include_batch_in_index, Targmax):
    if not input.numel():
        sizes = [window.span(input.shape[a], ksize[a], strides[a], 1, padding) for a in (1, 2)]
        dims = [input.shape[0], *(max(one.outputs, 0) for one in sizes), input.shape[3]]
        return input.new_zeros(dims), torch.zeros(dims, dtype=Targmax, device=input.device)
    x = to_nchw(input, "NHWC")
    p = pooling(x.shape[2:], ksize, strides, padding, "NHWC")
    pooled, indices = maxima(x, p)
    pooled = from_nchw(dropped(pooled, p.drop), "NHWC")
    indices = from_nchw(dropped(indices, p.drop), "NHWC")
    n, h, w, c = input.shape
    argmax = indices * c + torch.arange(c, device=input.device)
    if include_batch_in_index:
        argmax += torch.arange(0, n * h * w * c, h * w * c, device=input.device).view(n, 1, 1, 1)
    return pooled, argmax.to(Targmax)


def _flat_positions(argmax, image, include_batch_in_index):
    """Positions in the flattened batch, as a vector."""
    position = argmax.to(torch.int64)
    if not include_batch_in_index:
        n, size = image.shape[0], image[0].numel()
        batch = torch.arange(0, n * size, size, device=image.device)
        position = position + batch.view(n, 1, 1, 1)
    return position.reshape(-1)


def _max_pool_grad_with_argmax(
    input, grad, argmax, ksize, strides, padding, include_batch_in_index
):
    pooled = [input.shape[0], *(
        window.span(input.shape[a], ksize[a], strides[a], 1, padding).outputs for a in (1, 2)
    ), input.shape[3]]  # fmt: skip
    if not list(grad.shape) == list(argmax.shape) == pooled:
        raise ValueError(
            f"grad and argmax must have the shape {pooled} of the pool; found {list(grad.shape)}"
            f" and {list(argmax.shape)}"
        )
    if not (input.numel() and grad.numel()):
        return torch.zeros_like(input)
    position = _flat_positions(argmax, input, include_batch_in_index)
    kind = input.dtype if input.dtype not in UNSIGNED else torch.int64
    flat = torch.zeros(input.numel(), dtype=kind, device=input.device)
    flat.index_add_(0, position, grad.reshape(-1).to(kind))
    return flat.view(input.shape).to(input.dtype)


def _max_pool_grad_grad_with_argmax(input, grad, argmax, include_batch_in_index):
    if not (input.numel() and argmax.numel()):
        return grad.new_zeros(argmax.shape)
    position = _flat_positions(argmax, input, include_batch_in_index)
    wide = grad.to(torch.int64) if grad.dtype in UNSIGNED else grad
    return wide.reshape(-1).take(position).view(argmax.shape).to(grad.dtype)


def _pooled_twice(ctx: ShapeContext) -> Any:
    dims = pooled_dims(ctx, "input", ctx.attr("ksize"), ctx.attr("strides"))
    return [dims, dims]


def _pool_grad_grad_argmax_shape(ctx: ShapeContext) -> Any:
    pooled = pooled_dims(ctx, "input", ctx.attr("ksize"), ctx.attr("strides"))
    return like_pool(ctx, "input", "argmax", pooled)


def _argmax_gradient(op: Any, grad: Tensor, _: Any) -> Tensor:
    names = ("ksize", "strides", "padding", "include_batch_in_index")
    return make("MaxPoolGradWithArgmax", op.inputs[0], grad, op.outputs[1], **attrs_of(op, names))


_WITH_BATCH = "include_batch_in_index: bool = False"

define_op(
    "MaxPoolWithArgmax",
    "input: T -> output: T, argmax: Targmax",
    attrs=[
        *WINDOW[:2],
        "Targmax: {int32, int64} = int64",
        WINDOW[2],
        _WITH_BATCH,
        f"T: {REAL}",
    ],
    shape=_pooled_twice,
    kernel=_max_pool_with_argmax,
    gradient=_argmax_gradient,
)

for _name, _kernel, _shape in (
    ("MaxPoolGradWithArgmax", _max_pool_grad_with_argmax, lambda ctx: ctx.rank("input", 4)),
    ("MaxPoolGradGradWithArgmax", _max_pool_grad_grad_with_argmax, _pool_grad_grad_argmax_shape),
):
    define_op(
        _name,
        "input: T, grad: T, argmax: Targmax -> output: T",
        attrs=[*WINDOW, _WITH_BATCH, "Targmax: {int32, int64}", f"T: {REAL}"],
        shape=_shape,
        kernel=_kernel,
        no_gradient="TensorFlow 1.15 defines none",
    )
