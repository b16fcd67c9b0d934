"""Repeating along dims: Tile, and the gradient node that TensorFlow had for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
from penstock.ops.array import (
    join,
    ranges,
    ranks,
    reshape as reshape_ops,
    shape as shape_ops,
    slicing,
)
from penstock.ops.array.movement import moving
from penstock.ops.array.transpose import transpose

_INDEX = "{int32, int64}"


def _tile_shape(ctx: ShapeContext) -> Dims:
    dims, times = ctx["input"], ctx.shape_value("multiples")
    ctx.rank("multiples", 1)
    if dims is None:
        return None if times is None else (None,) * len(times)
    times = (None,) * len(dims) if times is None else times
    if len(times) != len(dims):
        raise ValueError(
            f"Shape must be rank {len(times)} but is rank {len(dims)}: Expected multiples argument"
            f" to be a vector of length {len(dims)} but got length {len(times)}: multiples need one"
            f" entry a dim of {show(dims)}"
        )
    _check_multiples(times)
    return tuple(
        0 if 0 in (d, t) else None if d is None or t is None else d * t
        for d, t in zip(dims, times, strict=True)
    )


def _check_multiples(multiples: Sequence[int | None]) -> None:
    for axis, count in enumerate(multiples):
        if count is not None and count < 0:
            raise FailsAtRun(f"Expected multiples[{axis}] >= 0, but got {count}")


def _tile_kernel(input: Any, multiples: Any) -> Any:
    _check_multiples(multiples)
    if len(multiples) != len(input.shape):
        raise ValueError(
            f"tile: {len(multiples)} multiples for an input of rank {len(input.shape)}"
        )
    if isinstance(input, np.ndarray):
        return np.tile(input, multiples)
    if all(d == 1 or n == 1 for d, n in zip(input.shape, multiples)):
        sizes = [d * n for d, n in zip(input.shape, multiples)]
        return input.expand(sizes).clone(memory_format=torch.contiguous_format)
    return input.repeat(multiples)


def _tile_grad(op: Any, grad: Any) -> list[Any]:
    source, multiples = op.inputs
    full = shape_ops.shape(source, out_type=multiples.dtype.base_dtype)
    pairs = join.stack([multiples, full])
    split = reshape_ops.reshape(transpose(pairs), [-1])
    axes = ranges.range_(0, ranks.size(split), 2)
    if isinstance(grad, IndexedSlices):
        grad = _densified_rows(grad, full)
        split = join.concat([[1], split[1:]], axis=0)
    total = make("Sum", reshape_ops.reshape(grad, split), axes)
    if source.sizes is not None:
        total.set_shape(source.sizes)
    return [total, None]


def _densified_rows(grad: IndexedSlices, full: Tensor) -> Tensor:
    count = slicing.getitem(full, 0)
    rows = make("FloorMod", grad.indices, shape_ops.cast_to(count, grad.indices.dtype), name="mod")
    return make("UnsortedSegmentSum", grad.values, rows, count)


define_op(
    "Tile",
    "input: T, multiples: Tmultiples -> output: T",
    attrs=["T: type", f"Tmultiples: {_INDEX} = int32"],
    shape=_tile_shape,
    kernel=_tile_kernel,
    host=("multiples",),
    gradient=_tile_grad,
    moves=True,
)


def _tile_grad_shape(ctx: ShapeContext) -> Dims:
    dims, times = ctx["input"], ctx.shape_value("multiples")
    if dims is None or times is None:
        return None if dims is None else (None,) * len(dims)
    return tuple(None if d is None or not t else d // t for d, t in zip(dims, times, strict=True))


def _tile_grad_kernel(input: Any, multiples: Any) -> Any:
    split = [n for d, t in zip(input.shape, multiples, strict=True) for n in (t, d // t)]
    axes = list(range(0, len(split), 2))
    return input.reshape(split).sum(axes, dtype=input.dtype) if axes else input


define_op(
    "TileGrad",
    "input: T, multiples: int32 -> output: T",
    attrs=["T: type"],
    shape=_tile_grad_shape,
    kernel=moving(_tile_grad_kernel),
    host=("multiples",),
    aliases=("input",),
    no_gradient="TensorFlow has none; Tile's own gradient does not use it",
)


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """``input`` repeated along each dim.

    Args:
      input: a tensor.
      multiples: integer vector, how many times for each dim.

    Returns:
      A tensor of the rank of ``input``.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     session.run(tf.tile([[1, 2]], [2, 3])).tolist()
      [[1, 2, 1, 2, 1, 2], [1, 2, 1, 2, 1, 2]]
    """
    return make("Tile", input, multiples, name=name)
