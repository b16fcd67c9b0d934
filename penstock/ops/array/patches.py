"""Patches of images: ``ExtractImagePatches``, the windows of a 4-D tensor as its channels.

The gradient sums by position with UnsortedSegmentSum, where TensorFlow builds a sparse matrix
product of the same value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, RefusedAtBuild, ShapeContext, show
from penstock.ops.array import join, reshape as reshape_ops, shape as shape_ops, slicing


def _window(size: int, ksize: int, stride: int, rate: int, padding: str) -> tuple[int, int]:
    """How many windows, and how much is padded in front."""
    reach = (ksize - 1) * rate + 1
    if padding == "VALID":
        if size - reach <= -2 * stride:
            # TF rounds toward zero: windows that miss by less are none, rather than refused.
            raise ValueError(
                "Computed output size would be negative: a window that spans"
                f" {reach} does not fit into {size} places"
            )
        return max((size - reach + stride) // stride, 0), 0
    count = -(-size // stride)
    return count, max((count - 1) * stride + reach - size, 0) // 2


def _patches_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank("images", 4)
    for name in ("ksizes", "strides", "rates"):
        given = ctx.attr(name)
        if len(given) != 4:
            raise ValueError(
                f"ExtractImagePatches requires the {name} attribute to contain 4 values, but got:"
                f" {len(given)}"
            )
    result = _patches_dims(ctx, dims)
    check_windows(ctx, ("ksizes", "strides", "rates"), result)
    return result


def check_windows(ctx: ShapeContext, names: tuple[str, ...], result: Dims) -> None:
    """Refuses, when it is run, what does not say a number of places for each spatial dim."""
    for name in names:
        given = ctx.attr(name)
        if given[0] != 1 or given[-1] != 1:
            raise FailsAtRun(
                f"Only support {name} across space: those of batch and depth must be 1; found"
                f" {given}", result, "UnimplementedError",
            )  # fmt: skip
        if min(given) < 1:
            raise FailsAtRun(
                f"{name} is out of range: they must be positive; found {given}", result,
                "OutOfRangeError",
            )  # fmt: skip


def _patches_dims(ctx: ShapeContext, dims: Any) -> Dims:
    _, kr, kc, _ = ctx.attr("ksizes")
    depth = None if dims[3] is None else dims[3] * kr * kc
    if None in dims[1:3]:
        return (dims[0], None, None, depth)
    if min(ctx.attr("strides")[1:3]) < 1:
        raise RefusedAtBuild(
            f"Stride must be > 0, but got {ctx.attr('strides')}", "OutOfRangeError"
        )
    counts = []
    for axis in (1, 2):
        sizes = (ctx.attr(n)[axis] for n in ("ksizes", "strides", "rates"))
        counts.append(_window(dims[axis], *sizes, ctx.attr("padding"))[0])
    return (dims[0], *counts, depth)


def _patches_kernel(images: Any, ksizes: Any, strides: Any, rates: Any, padding: Any) -> Any:
    batch, _, _, channels = images.shape
    counts = []
    for axis in (1, 2):
        at = 2 * axis - 1
        size, ksize = images.shape[at], ksizes[axis]
        count, before = _window(size, ksize, strides[axis], rates[axis], padding)
        starts = np.arange(count)[:, None] * strides[axis] - before
        index = (starts + np.arange(ksize) * rates[axis]).ravel()
        inside = (index >= 0) & (index < size)
        # Positions outside the image read a row of zeros put after the last.
        if not inside.all():
            after = [0, 0] * (images.dim() - 1 - at) + [0, 1]
            images = torch.constant_pad_nd(images, after, 0)
            index = np.where(inside, index, size)
        rows = torch.from_numpy(index).to(images.device)
        dims = list(images.shape)
        images = images.index_select(at, rows)
        images = images.reshape(*dims[:at], count, ksize, *dims[at + 1 :])
        counts.append(count)
    _, kr, kc, _ = ksizes
    wide = images.permute(0, 1, 3, 2, 4, 5)
    return wide.reshape(batch, *counts, kr * kc * channels)


_PATCH_ATTRS = ("ksizes", "strides", "rates", "padding")


def _patches_grad(op: Any, grad: Tensor) -> Tensor:
    images = op.inputs[0]
    dims, out = images.sizes, op.outputs[0].sizes
    if dims is None or None in dims[1:3]:
        raise ValueError(
            f"the gradient of {op.name} needs the height and width of its images; their shape is"
            f" {show(dims)}"
        )
    _, rows, cols, _ = dims
    _, kr, kc, _ = op.attrs["ksizes"]
    full = shape_ops.shape(images)
    batch, channels = slicing.getitem(full, 0), slicing.getitem(full, 3)
    attrs = {k: op.attrs[k] for k in _PATCH_ATTRS}
    # Positions count from 1: the padding reads 0, which becomes -1 and is dropped.
    places = make("Const", value=_numbered(rows, cols), dtype=dtypes.int64)
    seen = make("ExtractImagePatches", places, **attrs)
    segments = make("Sub", reshape_ops.reshape(seen, [-1]), 1, name="sub")
    form = join.stack([batch, out[1], out[2], kr, kc, channels])
    parts = make("Transpose", reshape_ops.reshape(grad, form), [1, 2, 3, 4, 0, 5])
    flat = reshape_ops.reshape(parts, join.stack([out[1] * out[2] * kr * kc, batch, channels]))
    total = make("UnsortedSegmentSum", flat, segments, rows * cols)
    image = reshape_ops.reshape(total, join.stack([rows, cols, batch, channels]))
    return make("Transpose", image, [2, 0, 1, 3])


def _numbered(rows: int, cols: int) -> np.ndarray:
    return np.arange(1, rows * cols + 1, dtype=np.int64).reshape(1, rows, cols, 1)


define_op(
    "ExtractImagePatches",
    "images: T -> patches: T",
    attrs=[
        "ksizes: list(int) >= 4",
        "strides: list(int) >= 4",
        "rates: list(int) >= 4",
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32,"
        " uint64}",
        "padding: {'SAME', 'VALID'}",
    ],
    shape=_patches_shape,
    kernel=_patches_kernel,
    gradient=_patches_grad,
    moves=True,
)


def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: Any = None,
) -> Tensor:
    """The patches of images that a sliding window sees, flattened into the depth dim.

    Args:
      images: tensor [batch, rows, cols, depth].
      ksizes: ``[1, rows, cols, 1]``, size of a patch; also called ``sizes``.
      strides: ``[1, rows, cols, 1]``, step between patches.
      rates: ``[1, rows, cols, 1]``, step within a patch.
      padding: "SAME" or "VALID".
      sizes: synonym of ``ksizes``.

    Returns:
      Tensor [batch, out_rows, out_cols, rows * cols * depth].
    """
    return make(
        "ExtractImagePatches", images, name=name, strides=strides, rates=rates, padding=padding,
        ksizes=reshape_ops.one_of("sizes", sizes, "ksizes", ksizes),
    )  # fmt: skip
