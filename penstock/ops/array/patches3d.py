"""Patches of volumes: ``ExtractVolumePatches``, the boxes of a 5-D tensor as its channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch.nn.functional as F

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, RefusedAtBuild, ShapeContext, show
from penstock.ops.array import join, reshape, shape, slicing
from penstock.ops.array.patches import check_windows


def _span(size: int, window: int, stride: int, padding: str) -> tuple[int, int, int]:
    """How many windows fit, and the padding before and after."""
    if padding == "VALID":
        if size - window <= -2 * stride:
            # TF rounds toward zero: windows that miss by less are none, rather than refused.
            raise ValueError(
                "Computed output size would be negative: a window of"
                f" {window} does not fit into {size} places"
            )
        return max((size - window + stride) // stride, 0), 0, 0
    count = -(-size // stride)
    missing = max((count - 1) * stride + window - size, 0)
    return count, missing // 2, missing - missing // 2


def _shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank("input", 5)
    for name in ("ksizes", "strides"):
        if len(ctx.attr(name)) != 5:
            raise ValueError(
                f"ExtractVolumePatches requires the {name} attribute to contain 5 values, but got:"
                f" {len(ctx.attr(name))}"
            )
    result = _counts(ctx, dims)
    check_windows(ctx, ("ksizes", "strides"), result)
    return result


def _counts(ctx: ShapeContext, dims: Any) -> Dims:
    ksizes, strides = ctx.attr("ksizes"), ctx.attr("strides")
    depth = None if dims[4] is None else dims[4] * math.prod(ksizes[1:4])
    if None in dims[1:4]:
        return (dims[0], None, None, None, depth)
    if min(strides[1:4]) < 1:
        raise RefusedAtBuild(f"Stride must be > 0, but got {strides}", "OutOfRangeError")
    inner = [
        _span(size, window, stride, ctx.attr("padding"))[0]
        for size, window, stride in zip(dims[1:4], ksizes[1:4], strides[1:4], strict=True)
    ]
    return (dims[0], *inner, depth)


def _patches(input: Any, ksizes: Any, strides: Any, padding: str) -> Any:
    if input.dim() != 5:
        raise errors.invalid(f"input must have 5 dims; found shape {list(input.shape)}")
    pads: list[int] = []
    counts = []
    for axis in (3, 2, 1):
        count, before, after = _span(input.shape[axis], ksizes[axis], strides[axis], padding)
        counts.insert(0, count)
        pads += [before, after]
    if 0 in counts:
        depth = math.prod(ksizes) * input.shape[4]
        return input.new_empty((input.shape[0], *counts, depth))
    # The channels, last, are not padded.
    wider = F.pad(input, [0, 0, *pads]) if any(pads) else input
    for axis in (1, 2, 3):
        wider = wider.unfold(axis, ksizes[axis], strides[axis])
    # [batch, planes, rows, columns, channels, windows...] to channels last, and all as one dim.
    found = wider.permute(0, 1, 2, 3, 5, 6, 7, 4)
    depth = math.prod(found.shape[4:])
    return found.reshape(*found.shape[:4], depth)


def _patches_grad(op: Any, grad: Tensor) -> Tensor:
    """The sum over all patches of what they give back to each place; padding is dropped."""
    volume = op.inputs[0]
    dims, out = volume.sizes, op.outputs[0].sizes
    if dims is None or None in dims[1:4]:
        raise ValueError(
            f"the gradient of {op.name} needs planes, rows and columns of its input; its shape is"
            f" {show(dims)}"
        )
    places, inner = math.prod(dims[1:4]), list(op.attrs["ksizes"][1:4])
    full = shape.shape(volume)
    batch, channels = slicing.getitem(full, 0), slicing.getitem(full, 4)
    # Places count from 1: the padding reads 0, which becomes -1 and is dropped.
    numbers = np.arange(1, places + 1, dtype=np.int64).reshape(1, *dims[1:4], 1)
    attrs = {name: op.attrs[name] for name in ("ksizes", "strides", "padding")}
    seen = make("ExtractVolumePatches", make("Const", value=numbers, dtype=dtypes.int64), **attrs)
    segments = make("Sub", reshape.reshape(seen, [-1]), 1, name="sub")
    form = join.stack([batch, *out[1:4], *inner, channels])
    parts = make("Transpose", reshape.reshape(grad, form), [1, 2, 3, 4, 5, 6, 0, 7])
    rows = math.prod(out[1:4]) * math.prod(inner)
    flat = reshape.reshape(parts, join.stack([rows, batch, channels]))
    total = make("UnsortedSegmentSum", flat, segments, places)
    whole = reshape.reshape(total, join.stack([*dims[1:4], batch, channels]))
    return make("Transpose", whole, [3, 0, 1, 2, 4])


define_op(
    "ExtractVolumePatches",
    "input: T -> patches: T",
    attrs=[
        "ksizes: list(int) >= 5",
        "strides: list(int) >= 5",
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32,"
        " uint64}",
        "padding: {'SAME', 'VALID'}",
    ],
    shape=_shape,
    kernel=_patches,
    aliases=("input",),
    gradient=_patches_grad,
)


def extract_volume_patches(
    input: Any,
    ksizes: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The boxes of ``ksizes`` at every ``strides``, each as the channels of one place.

    Args:
      input: tensor [batch, planes, rows, columns, channels].
      ksizes: size of a box in each dim; the first and last are 1.
      strides: how far apart the boxes are in each dim; the first and last are 1.
      padding: "VALID", or "SAME" for boxes beyond the edges, filled with zeros.

    Returns:
      Tensor [batch, boxes, boxes, boxes, planes * rows * columns * channels of a box].
    """
    return make(
        "ExtractVolumePatches", input, ksizes=list(ksizes), strides=list(strides),
        padding=padding, name=name,
    )  # fmt: skip
