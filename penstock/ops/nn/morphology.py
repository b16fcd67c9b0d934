"""Grayscale dilation of images by a structuring function, and its gradients.

``output[y, x] = max over (i, j) of input[s y + r i, s x + r j] + filter[i, j]``, over what is
inside the image.  Kernels go over the filter's positions, each for the whole batch at once.  Of
equal maxima the first in row-major order of the filter gets the gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array.unsigned import from_ordered_int64
from penstock.ops.nn import window

_REAL = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
)
_ATTRS = [_REAL, "strides: list(int) >= 4", "rates: list(int) >= 4", "padding: {'SAME', 'VALID'}"]
_BARE = (torch.uint16, torch.uint32, torch.uint64)


def _spans(image: Any, kernel: Any, strides: Any, rates: Any, padding: str) -> list[window.Span]:
    return [
        window.span(image[1 + i], kernel[i], strides[1 + i], rates[1 + i], padding)
        for i in range(2)
    ]


def _positions(
    image: Any, kernel: Any, spans: Any, strides: Any, rates: Any
) -> Iterator[tuple[int, int, tuple[Any, Any], tuple[Any, Any]]]:
    """Each filter position with the outputs and inputs that it joins."""
    for i in range(kernel[0]):
        outs, ins = window.overlap(
            i * rates[1] - spans[0].before, image[1], strides[1], spans[0].outputs
        )
        if outs.start == outs.stop:
            continue
        for j in range(kernel[1]):
            columns_out, columns_in = window.overlap(
                j * rates[2] - spans[1].before, image[2], strides[2], spans[1].outputs
            )
            if columns_out.start != columns_out.stop:
                yield i, j, (outs, columns_out), (ins, columns_in)


def _added(x: Any, weight: Any, dtype: Any) -> Any:
    """The sum, wrapping in the type; unsigned ones as int64 in the same order."""
    if dtype not in _BARE:
        return x + weight
    total = x.to(torch.int64) + weight.to(torch.int64)
    if dtype is torch.uint64:
        return total ^ -(1 << 63)
    return total & (0xFFFF if dtype is torch.uint16 else 0xFFFFFFFF)


def _lowest(dtype: Any) -> Any:
    if dtype in _BARE:
        return -(1 << 63)
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def _maxima(x: Any, w: Any, strides: Any, rates: Any, padding: str) -> tuple[Any, Any]:
    """The dilated image, and which filter position each maximum comes from (-1: none is more).

    None is more than the least number of the type, nor is NaN.
    """
    spans = _spans(x.shape, w.shape, strides, rates, padding)
    dims = (x.shape[0], spans[0].outputs, spans[1].outputs, x.shape[3])
    kind = torch.int64 if x.dtype in _BARE else x.dtype
    best = torch.full(dims, _lowest(x.dtype), dtype=kind, device=x.device)
    chosen = torch.full(dims, -1, dtype=torch.int32, device=x.device)
    for i, j, (rows, columns), (rows_in, columns_in) in _positions(
        x.shape, w.shape, spans, strides, rates
    ):
        value = _added(x[:, rows_in, columns_in], w[i, j], x.dtype)
        before = best[:, rows, columns]
        better = value > before
        best[:, rows, columns] = torch.where(better, value, before)
        chosen[:, rows, columns].masked_fill_(better, i * w.shape[1] + j)
    return best, chosen


def _dilation(input, filter, strides, rates, padding):
    best, _ = _maxima(input, filter, strides, rates, padding)
    if input.dtype is torch.uint64:
        return from_ordered_int64(best, input.dtype)
    return best.to(input.dtype)


def _check(best: Any, grad: Any) -> None:
    if best.shape != grad.shape:
        raise ValueError(
            f"out_backprop must have shape {list(best.shape)}; found {list(grad.shape)}"
        )


def _chosen(x: Any, w: Any, grad: Any, strides: Any, rates: Any, padding: str) -> Any:
    """Which filter position each output's gradient belongs to, -1 for none."""
    if x.shape[3] != w.shape[2]:
        raise ValueError(f"input has {x.shape[3]} channel(s), the filter {w.shape[2]}")
    best, chosen = _maxima(x, w, strides, rates, padding)
    _check(best, grad)
    return chosen


def _shares(
    x: Any, w: Any, grad: Any, chosen: Any, strides: Any, rates: Any, padding: str
) -> Iterator[Any]:
    """For each filter position its part of the gradient, and the inputs it belongs to."""
    spans = _spans(x.shape, w.shape, strides, rates, padding)
    wide = grad.to(torch.int64) if grad.dtype in _BARE else grad
    for i, j, (rows, columns), inputs in _positions(x.shape, w.shape, spans, strides, rates):
        hit = chosen[:, rows, columns] == i * w.shape[1] + j
        yield i, j, torch.where(hit, wide[:, rows, columns], 0), inputs


def _dilation_input_grad(input, filter, out_backprop, strides, rates, padding):
    kind = torch.int64 if input.dtype in _BARE else input.dtype
    made = torch.zeros(input.shape, dtype=kind, device=input.device)
    chosen = _chosen(input, filter, out_backprop, strides, rates, padding)
    for _, _, share, (rows, columns) in _shares(
        input, filter, out_backprop, chosen, strides, rates, padding
    ):
        made[:, rows, columns] += share
    none = chosen == -1
    if bool(none.any()):  # what no position wins goes to where the window begins
        rows, columns = (
            (torch.arange(s.outputs, device=made.device) * step - s.before).clamp_(0, most - 1)
            for s, step, most in zip(
                _spans(input.shape, filter.shape, strides, rates, padding), strides[1:3],
                input.shape[1:3], strict=True,
            )
        )  # fmt: skip
        lost = torch.where(none, out_backprop.to(kind), 0)
        folded = made.new_zeros((len(made), made.shape[1], *lost.shape[2:]))
        made.index_add_(2, columns, folded.index_add_(1, rows, lost))
    return made.to(input.dtype)


def _dilation_filter_grad(input, filter, out_backprop, strides, rates, padding):
    kind = torch.int64 if input.dtype in _BARE else input.dtype
    made = torch.zeros(filter.shape, dtype=kind, device=input.device)
    chosen = _chosen(input, filter, out_backprop, strides, rates, padding)
    for i, j, share, _ in _shares(input, filter, out_backprop, chosen, strides, rates, padding):
        made[i, j] = share.sum((0, 1, 2), dtype=kind)
    if made.numel():  # what no position wins goes to the first
        lost = torch.where(chosen == -1, out_backprop.to(kind), 0)
        made[0, 0] += lost.sum((0, 1, 2), dtype=kind)
    return made.to(input.dtype)


# ---- shape rules, gradients, ops -----------------------------------------------------------------


def _dilation_shape(ctx: ShapeContext) -> Dims:
    image, kernel = ctx.rank("input", 4), ctx.rank("filter", 3)
    strides, rates = ctx.attr("strides"), ctx.attr("rates")
    for name, values in (("strides", strides), ("rates", rates)):
        window.check_four(name, values, "NHWC")
    if None not in (image[3], kernel[2]) and image[3] != kernel[2]:
        raise ValueError(f"input has {image[3]} channel(s), the filter {kernel[2]}")
    depth = image[3] if image[3] is not None else kernel[2]
    if None in (*image[1:3], *kernel[:2]):
        return (image[0], None, None, depth)
    sizes = [
        # At a rate of 0 all of the filter lies on one pixel.
        window.static_size(
            image[1 + i], kernel[i], strides[1 + i], rates[1 + i], ctx.attr("padding"), None,
            "input", least_dilation=0,
        )
        for i in range(2)
    ]  # fmt: skip
    return (image[0], *sizes, depth)


def _like(name: str) -> Any:
    def rule(ctx: ShapeContext) -> Dims:
        return ctx[name]

    return rule


def _dilation_gradient(op: Any, grad: Tensor) -> list[Tensor]:
    attrs = {name: op.attrs[name] for name in ("strides", "rates", "padding")}
    return [
        make("Dilation2DBackpropInput", *op.inputs, grad, **attrs),
        make("Dilation2DBackpropFilter", *op.inputs, grad, **attrs),
    ]


define_op(
    "Dilation2D",
    "input: T, filter: T -> output: T",
    attrs=_ATTRS,
    shape=_dilation_shape,
    kernel=_dilation,
    gradient=_dilation_gradient,
)
for _name, _result, _kernel, _of in (
    ("Dilation2DBackpropInput", "in_backprop", _dilation_input_grad, "input"),
    ("Dilation2DBackpropFilter", "filter_backprop", _dilation_filter_grad, "filter"),
):
    define_op(
        _name,
        f"input: T, filter: T, out_backprop: T -> {_result}: T",
        attrs=_ATTRS,
        shape=_like(_of),
        kernel=_kernel,
        no_gradient="TensorFlow defines none",
    )
