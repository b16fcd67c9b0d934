"""What the kernels of ops on sparse tensors share: entries as keys, in order, found and moved.

A sparse tensor is three tensors: ``indices`` int64 [n, rank], ``values`` [n], ``shape`` int64
[rank].  Most kernels compare or group entries; they work on one int64 key an entry, its position in
row-major order, wherever the number of positions fits into 63 bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.graph.composite import SparseTensor, SparseTensorValue
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array.unsigned import BARE_UNSIGNED, SIGNED

NUMBERS = (
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32,"
    " bfloat16, uint16, complex128, half, uint32, uint64}"
)
REAL_NUMBERS = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
)
MOST = (1 << 63) - 1


# ---- kernels' parts --------------------------------------------------------------------------


def check(indices: Any, values: Any, shape: Any, what: str = "input") -> None:
    """Raises ValueError unless the three parts make one sparse tensor."""
    if indices.dim() != 2:
        raise ValueError(f"{what}_indices must be a matrix; found shape {list(indices.shape)}")
    if values is not None and (values.ndim != 1 or values.shape[0] != indices.shape[0]):
        raise ValueError(
            f"{what}_values must be a vector of {indices.shape[0]} element(s), one for each row of"
            f" {what}_indices; found shape {list(values.shape)}"
        )
    rank = shape.shape[0] if isinstance(shape, torch.Tensor) else len(shape)
    if indices.shape[1] != rank:
        raise ValueError(
            f"{what}_indices has {indices.shape[1]} column(s), but {what}_shape has {rank}"
            " element(s)"
        )


def check_bounds(indices: Any, dims: list[int], what: str = "indices") -> None:
    """Raises ValueError naming the first index that is not in ``dims``."""
    if not indices.numel():
        return
    low, high = (most.tolist() for most in indices.aminmax(dim=0))
    if all(0 <= least and last < dim for least, last, dim in zip(low, high, dims)):
        return
    limits = torch.tensor(dims, dtype=indices.dtype, device=indices.device)
    row = int(((indices < 0) | (indices >= limits)).any(1).nonzero()[0])
    raise ValueError(
        f"{what}[{row}] = {indices[row].tolist()} is out of bounds: the shape is {dims}"
    )


def wide(values: Any) -> Any:
    """Unsigned types that ATen cannot compute with, as int64: sums wrap alike."""
    return values.to(torch.int64) if values.dtype in BARE_UNSIGNED else values


def keys(indices: Any, dims: Any) -> Any:
    """Row-major position of each entry; None where positions do not fit into int64."""
    if not dims:
        return torch.zeros(indices.shape[0], dtype=torch.int64, device=indices.device)
    if len(dims) == 1:
        return indices[:, 0]
    if math.prod(max(d, 1) for d in dims) > MOST:
        return None
    result = indices[:, 0] * dims[1] + indices[:, 1]
    for axis in range(2, len(dims)):
        result = result * dims[axis] + indices[:, axis]
    return result


def _in_bounds(indices: Any, dims: Any) -> bool:
    """Whether keys have the order of the entries; the first index may be any."""
    if len(dims) < 2 or not indices.shape[0]:
        return True
    low, high = indices[:, 1:].aminmax(dim=0)
    limits = torch.tensor(dims[1:], dtype=indices.dtype, device=indices.device)
    return bool(((low >= 0) & (high < limits)).all())


def order(indices: Any, dims: Any) -> Any:
    """Positions that put entries into row-major order, or None where they are in it already."""
    flat = keys(indices, dims) if _in_bounds(indices, dims) else None
    if flat is not None:
        if bool((flat[1:] >= flat[:-1]).all()):
            return None
        return torch.sort(flat, stable=True)[1]
    result = torch.arange(indices.shape[0], device=indices.device)
    for axis in reversed(range(indices.shape[1])):
        result = result[torch.sort(indices[result, axis], stable=True)[1]]
    return result


def taken(values: Any, positions: Any) -> Any:
    """``values[positions]`` of any dtype, strings too."""
    if isinstance(values, np.ndarray):
        return values[positions.cpu().numpy()]
    signed = SIGNED.get(values.dtype)
    if signed is not None:
        return values.view(signed)[positions].view(values.dtype)
    return values.index_select(0, positions)  # a sixth of the time of values[positions]


def joined(values: list[Any]) -> Any:
    """Vectors of any dtype, one after the other."""
    if isinstance(values[0], np.ndarray):
        return np.concatenate(values)
    signed = SIGNED.get(values[0].dtype)
    if signed is not None:
        return torch.cat([v.view(signed) for v in values]).view(values[0].dtype)
    return torch.cat(values)


def grouped(indices: Any) -> tuple[Any, Any]:
    """Distinct rows of ``indices`` in order, and the number of each row's group."""
    count, rank = indices.shape
    if not count or not rank:
        numbers = torch.zeros(count, dtype=torch.int64, device=indices.device)
        return indices[: min(count, 1)], numbers
    dims = (indices.amax(0) + 1).tolist()
    flat = keys(indices, dims) if int(indices.min()) >= 0 else None
    if flat is None:
        unique, number = torch.unique(indices, dim=0, return_inverse=True)
        return unique, number
    unique, number = torch.unique(flat, return_inverse=True)
    first = torch.full_like(unique, count).scatter_reduce_(
        0, number, torch.arange(count, device=indices.device), "amin"
    )
    return indices[first], number


def union(a_indices: Any, b_indices: Any) -> tuple[Any, Any, Any]:
    """Rows of either matrix in order, and where each row of the first and of the second is."""
    unique, number = grouped(torch.cat([a_indices, b_indices]))
    return unique, number[: len(a_indices)], number[len(a_indices) :]


def merged(a_indices: Any, b_indices: Any) -> tuple[Any, Any, Any]:
    """As ``union``; matrices whose rows are not in order are merged as if they were.

    The smaller of the next row of either goes first, and equal ones become one: what TensorFlow
    does with all, and gives another result for such.
    """
    rows, a_place, b_place = union(a_indices, b_indices)
    if all(bool((p[1:] > p[:-1]).all()) for p in (a_place, b_place)):
        return rows, a_place, b_place
    places: tuple[list[int], list[int]] = ([], [])
    chosen = []
    left = [a_indices.tolist(), b_indices.tolist()]
    while len(places[0]) < len(left[0]) or len(places[1]) < len(left[1]):
        following = [one[len(p)] for one, p in zip(left, places, strict=True) if len(p) < len(one)]
        chosen.append(min(following))
        for one, place in zip(left, places, strict=True):
            if len(place) < len(one) and one[len(place)] == chosen[-1]:
                place.append(len(chosen) - 1)
    rows = a_indices.new_tensor(chosen).reshape(len(chosen), a_indices.shape[1])
    return rows, a_indices.new_tensor(places[0]), a_indices.new_tensor(places[1])


def positions_in(indices: Any, table: Any) -> tuple[Any, Any]:
    """For each row of ``indices`` its position in ``table`` and whether it is there."""
    unique, in_table, wanted = union(table, indices)
    place = torch.full((len(unique),), -1, dtype=torch.int64, device=indices.device)
    # Written back to front, so that of equal rows of the table the first one counts.
    place[in_table.flip(0)] = torch.arange(len(table) - 1, -1, -1, device=indices.device)
    found = place[wanted]
    return found.clamp_min(0), found >= 0


# ---- shape rules -----------------------------------------------------------------------------


def entry_shapes(ctx: ShapeContext, prefix: str = "input_") -> tuple[Any, Any, Any]:
    """Dims of the three parts whose names start with ``prefix``, each completed by the others."""
    indices = ctx.rank(f"{prefix}indices", 2)
    values = ctx.rank(f"{prefix}values", 1)
    shape = ctx.rank(f"{prefix}shape", 1)
    if None not in (indices[0], values[0]) and indices[0] != values[0]:
        raise ValueError(
            f"{prefix}indices has {indices[0]} row(s), {prefix}values {values[0]} element(s)"
        )
    if None not in (indices[1], shape[0]) and indices[1] != shape[0]:
        raise ValueError(
            f"{prefix}indices has shape {show(indices)}: its rows must have {shape[0]} number(s),"
            f" one for each element of {prefix}shape"
        )
    return indices, values, shape


def like_values(prefix: str) -> Any:
    """Rule: one output, with a value for each entry."""

    def rule(ctx: ShapeContext) -> Dims:
        return entry_shapes(ctx, prefix)[1]

    return rule


# ---- building --------------------------------------------------------------------------------


def as_sparse(value: Any, name: str = "sp_input") -> SparseTensor:
    """``value`` as a SparseTensor.

    Raises:
      TypeError: it is neither one nor a SparseTensorValue.
    """
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(f"{name} must be a SparseTensor; found {type(value).__name__}")
    return value
