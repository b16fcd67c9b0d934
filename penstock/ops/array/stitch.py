"""DynamicPartition and DynamicStitch: dealing rows out by number, and putting them back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import (
    gather as gather_ops,
    ranges,
    reshape as reshape_ops,
    shape as shape_ops,
)
from penstock.ops.array.movement import moving

# ---- DynamicPartition --------------------------------------------------------------------------


def _partition_shape(ctx: ShapeContext) -> list[Dims]:
    data, partitions, count = ctx["data"], ctx["partitions"], ctx.attr("num_partitions")
    if data is None or partitions is None:
        return [None] * count
    if not shapes.is_compatible_static(data[: len(partitions)], partitions):
        raise ValueError(
            f"data of shape {show(data)} must start with the shape {show(partitions)} of partitions"
        )
    return [(None, *data[len(partitions) :])] * count


def _partition_kernel(data: Any, partitions: Any, num_partitions: Any) -> Any:
    inner = data.shape[partitions.dim() :]
    numbers = partitions.reshape(-1).long()
    if numbers.numel():
        low, high = torch.aminmax(numbers)
        if low < 0 or high >= num_partitions:
            bad = low if low < 0 else high
            place = ",".join(str(int(n)) for n in (partitions == bad).nonzero()[0])
            where = f"[{place}]" if place else ""
            raise ValueError(f"partitions{where} = {int(bad)} is not in [0, {num_partitions})")
    flat = data.reshape(numbers.numel(), *inner)
    order = torch.argsort(numbers, stable=True)
    counts = torch.bincount(numbers, minlength=num_partitions).tolist()
    if isinstance(data, np.ndarray):
        return np.split(flat[order.numpy()], np.cumsum(counts)[:-1])
    return [gather_ops.rows_at(flat, rows) for rows in order.split(counts)]


def _partition_grad(op: Any, *grads: Tensor) -> list[Any]:
    data, partitions = op.inputs
    count = op.attrs["num_partitions"]
    lead = shape_ops.shape(partitions)
    total = make("Prod", lead, make("Const", value=np.array([0], np.int32), dtype="int32"))
    numbers = reshape_ops.reshape(ranges.range_(total), lead)
    dealt = dynamic_partition(numbers, partitions, count)
    back = dynamic_stitch(dealt, list(grads))
    return [reshape_ops.reshape(back, shape_ops.shape(data)), None]


define_op(
    "DynamicPartition",
    "data: T, partitions: int32 -> outputs: num_partitions * T",
    attrs=["num_partitions: int >= 1", "T: type"],
    shape=_partition_shape,
    kernel=_partition_kernel,
    gradient=_partition_grad,
    moves=True,
)


# ---- DynamicStitch, ParallelDynamicStitch ------------------------------------------------------


def _stitch_shape(ctx: ShapeContext) -> Dims:
    inner: Dims = None
    largest: int | None = -1
    for tensor, indices, data in zip(
        ctx.tensor("indices"), ctx["indices"], ctx["data"], strict=True
    ):
        value = static.constant_value(tensor)
        if value is None:
            largest = None
        elif largest is not None and value.size:
            largest = max(largest, int(value.max()))
        if indices is None or data is None:
            continue
        if not shapes.is_compatible_static(data[: len(indices)], indices):
            raise ValueError(
                f"data of shape {show(data)} must start with the shape {show(indices)} of its"
                " indices"
            )
        inner = shapes.merge_static(inner, data[len(indices) :])
    if inner is None:
        return None
    return (None if largest is None else largest + 1, *inner)


def _stitch_kernel(indices: Any, data: Any) -> Any:
    inner = data[0].shape[indices[0].dim() :]
    flat = [i.reshape(-1).long() for i in indices]
    size = max((int(i.max()) + 1 for i in flat if i.numel()), default=0)
    if isinstance(data[0], np.ndarray):
        strings = np.full((size, *inner), b"", object)
        for rows, values in zip(flat, data, strict=True):
            strings[rows.numpy()] = values.reshape(rows.numel(), *inner)
        return strings
    # In the order of the list: a later row wins over an earlier one of the same index.
    merged = data[0].new_zeros((size, math.prod(inner)))
    for rows, values in zip(flat, data, strict=True):
        if rows.numel():
            merged.index_copy_(0, rows, values.reshape(rows.numel(), -1))
    return merged.reshape(size, *inner)


def _stitch_grad(op: Any, grad: Tensor) -> list[Any]:
    count = op.attrs["N"]
    indices = op.inputs[:count]
    return [None] * count + [gather_ops.gather(grad, rows) for rows in indices]


for _type in ("DynamicStitch", "ParallelDynamicStitch"):
    define_op(
        _type,
        "indices: N * int32, data: N * T -> merged: T",
        attrs=["N: int >= 1", "T: type"],
        shape=_stitch_shape,
        kernel=moving(_stitch_kernel),
        moves=True,
        gradient=_stitch_grad,
    )


# ---- public functions ------------------------------------------------------------------------


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> Any:
    """Deals the rows of ``data`` out to as many tensors as there are partitions.

    Args:
      data: a tensor.
      partitions: int32 tensor in [0, num_partitions); its shape is a prefix of that of ``data``.
      num_partitions: how many.

    Returns:
      List of ``num_partitions`` tensors.
    """
    return make("DynamicPartition", data, partitions, name=name, num_partitions=num_partitions)


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """Puts rows of several tensors in their places in one: ``merged[indices[m]] = data[m]``.

    Args:
      indices: list of int32 tensors.
      data: list of tensors, each of the shape of its indices and then a common rest.

    Returns:
      A tensor; where an index is named twice, the later row stands.
    """
    return make("DynamicStitch", indices, data, name=name)


def parallel_dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """As dynamic_stitch, for indices that are all different."""
    return make("ParallelDynamicStitch", indices, data, name=name)
