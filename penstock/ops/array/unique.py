"""Finding elements: Unique and its kin, ListDiff, sorted search, UnravelIndex."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
from penstock.ops.array import integer_order, reshape as reshape_ops, shape as shape_ops, slicing
from penstock.ops.array.unsigned import SIGNED, from_ordered_int64, to_ordered_int64

_INDEX = "{int32, int64}"
_OUT = f"out_idx: {_INDEX} = int32"


# ---- Unique, UniqueV2, UniqueWithCounts, ListDiff ----------------------------------------------


def _comparable(x: Any) -> Any:
    """Unsigned integers in a type that ATen can order, as the same numbers or shifted alike."""
    return to_ordered_int64(x) if x.dtype in SIGNED else x


def _restored(x: Any, dtype: Any) -> Any:
    return from_ordered_int64(x, dtype) if dtype in SIGNED else x


def _first_seen(x: Any, dim: int | None = None) -> tuple[Any, Any]:
    """Unique elements (rows along ``dim``) in order of first occurrence, and which each one is."""
    if isinstance(x, np.ndarray):
        place: dict[Any, int] = {}
        inverse = [place.setdefault(v, len(place)) for v in x.tolist()]
        values = np.empty(len(place), object)
        values[:] = list(place)
        return values, torch.tensor(inverse, dtype=torch.int64)
    if not x.numel():
        return x, torch.zeros(0, dtype=torch.int64, device=x.device)
    found = integer_order.first_seen(x) if dim is None else None
    if found is not None:
        return found
    values, inverse = torch.unique(_comparable(x), return_inverse=True, dim=dim)
    size = values.shape[dim or 0]
    steps = torch.arange(inverse.numel(), device=x.device)
    first = torch.full((size,), inverse.numel(), device=x.device)
    order = torch.argsort(first.scatter_reduce_(0, inverse, steps, "amin"))
    rank = torch.empty_like(order)
    rank[order] = steps[:size]
    values = _restored(values.index_select(dim or 0, order), x.dtype)
    return values, rank[inverse]


def _unique_kernel(x: Any, out_idx: Any) -> Any:
    values, positions = _first_seen(x)
    return values, positions.to(out_idx)


def _unique_counts_kernel(x: Any, out_idx: Any) -> Any:
    if len(x.shape) != 1:
        raise ValueError(f"unique expects a 1D vector; found shape {list(x.shape)}")
    values, positions = _first_seen(x)
    return values, positions.to(out_idx), torch.bincount(positions).to(out_idx)


def _unique_string_rows(x: np.ndarray, axis: int, out_idx: Any) -> Any:
    place: dict[Any, int] = {}
    first: list[int] = []
    positions = []
    for at, row in enumerate(np.moveaxis(x, axis, 0)):
        number = place.setdefault(tuple(row.ravel().tolist()), len(place))
        if number == len(first):
            first.append(at)
        positions.append(number)
    return x.take(first, axis), torch.tensor(positions, dtype=out_idx)


def _unique_v2_kernel(x: Any, axis: Any, out_idx: Any) -> Any:
    if len(axis) > 1:
        raise ValueError(f"axis takes at most one dim; found {axis}")
    rank = len(x.shape)
    if axis and not -rank <= axis[0] < rank:
        raise ValueError(f"axis {axis[0]} is out of range for x of rank {rank}")
    if isinstance(x, np.ndarray) and axis and rank > 1:
        return _unique_string_rows(x, axis[0] % rank, out_idx)
    if not axis:
        if rank != 1:
            raise ValueError(f"without an axis, x must be a vector; it has rank {rank}")
        return _unique_kernel(x, out_idx)
    values, positions = _first_seen(x, axis[0] % rank if rank > 1 else None)
    return values, positions.to(out_idx)


def _unique_counts_v2_kernel(x: Any, axis: Any, out_idx: Any) -> Any:
    values, positions = _unique_v2_kernel(x, axis, out_idx)
    return values, positions, torch.bincount(positions).to(out_idx)


def _unique_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("x", 1)
    return [(None,), ctx["x"], (None,)][: len(ctx.op.outputs)]


def _unique_counts_shape(ctx: ShapeContext) -> list[Dims]:
    dims = ctx["x"]
    if dims is not None and len(dims) != 1:
        raise FailsAtRun(
            f"unique expects a 1D vector; x has shape {show(dims)}", [(None,), dims, (None,)]
        )
    return _unique_shape(ctx)


def _unique_v2_shape(ctx: ShapeContext) -> list[Dims]:
    dims, axis = ctx["x"], ctx.value("axis")
    counts: list[Dims] = [(None,)] * (len(ctx.op.outputs) - 2)
    if dims is None or axis is None:
        return [None, (None,), *counts]
    if axis.size and not -len(dims) <= int(axis.reshape(-1)[0]) < len(dims):
        raise ValueError(f"axis {axis.tolist()} is out of range for x of rank {len(dims)}")
    ctx.rank("axis", 1)
    at = int(axis[0]) % len(dims) if axis.size else 0
    return [(None,) * len(dims), (dims[at],), *counts]


_NO_UNIQUE = "which elements are equal is not differentiable; TensorFlow has none either"

define_op(
    "Unique",
    "x: T -> y: T, idx: out_idx",
    attrs=["T: type", _OUT],
    shape=_unique_shape,
    kernel=_unique_kernel,
    no_gradient=_NO_UNIQUE,
)

define_op(
    "UniqueV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx",
    attrs=["T: type", f"Taxis: {_INDEX} = int64", _OUT],
    shape=_unique_v2_shape,
    kernel=_unique_v2_kernel,
    host=("axis",),
    no_gradient=_NO_UNIQUE,
)

define_op(
    "UniqueWithCounts",
    "x: T -> y: T, idx: out_idx, count: out_idx",
    attrs=["T: type", _OUT],
    shape=_unique_counts_shape,
    kernel=_unique_counts_kernel,
    no_gradient=_NO_UNIQUE,
)

define_op(
    "UniqueWithCountsV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx",
    attrs=["T: type", f"Taxis: {_INDEX} = int64", _OUT],
    shape=_unique_v2_shape,
    kernel=_unique_counts_v2_kernel,
    host=("axis",),
    no_gradient=_NO_UNIQUE,
)


def _diff_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("x", 1)
    ctx.rank("y", 1)
    return [(None,), (None,)]


def _diff_kernel(x: Any, y: Any, out_idx: Any) -> Any:
    if isinstance(x, np.ndarray):
        gone = set(y.tolist())
        kept = [i for i, v in enumerate(x.tolist()) if v not in gone]
        return x[kept], torch.tensor(kept, dtype=out_idx)
    work, dtype = _comparable(x), x.dtype
    rows = torch.isin(work, _comparable(y), invert=True).nonzero().squeeze(1)
    return _restored(work.index_select(0, rows), dtype), rows.to(out_idx)


define_op(
    "ListDiff",
    "x: T, y: T -> out: T, idx: out_idx",
    attrs=["T: type", _OUT],
    shape=_diff_shape,
    kernel=_diff_kernel,
    no_gradient=_NO_UNIQUE,
)


# ---- LowerBound, UpperBound, UnravelIndex ------------------------------------------------------


def _bound_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("sorted_inputs", 2)
    ctx.rank("values", 2)
    return ctx["values"]


def _bound_kernel(right: bool) -> Any:
    def kernel(sorted_inputs: Any, values: Any, out_type: Any) -> Any:
        if sorted_inputs.shape[0] != values.shape[0]:
            raise ValueError(
                f"sorted_inputs {tuple(sorted_inputs.shape)} and values {tuple(values.shape)}"
                " differ in their first dim"
            )
        rows, wanted = (_comparable(x.contiguous()) for x in (sorted_inputs, values))
        found = torch.searchsorted(rows, wanted, right=right)
        return found.to(out_type)

    return kernel


for _type, _right in (("LowerBound", False), ("UpperBound", True)):
    define_op(
        _type,
        "sorted_inputs: T, values: T -> output: out_type",
        attrs=["T: type", f"out_type: {_INDEX} = int32"],
        shape=_bound_shape,
        kernel=_bound_kernel(_right),
        no_gradient="positions are integers",
    )


def _unravel_shape(ctx: ShapeContext) -> Dims:
    indices, dims = ctx["indices"], ctx.rank("dims", 1)
    if indices is None:
        return None
    if len(indices) > 1:
        count = None if None in indices else math.prod(indices)
        raise FailsAtRun(
            f"The indices can only be scalar or vector, got {show(indices)}", (dims[0], count)
        )
    return (dims[0], *indices)


def _unravel_kernel(indices: Any, dims: Any) -> Any:
    if 0 in dims and not indices.numel():
        return indices.new_zeros((len(dims), *indices.shape))
    if 0 in dims:
        raise ValueError(f"dims {dims} must not hold 0")
    size = int(np.prod(dims))
    if indices.numel() and (indices.min() < 0 or indices.max() >= size):
        raise ValueError(
            f"indices {indices.tolist()} are not all in [0, {size}), as dims {dims} say"
        )
    rows, rest = [], indices
    for dim in reversed(dims):
        rows.append(rest % dim)
        rest = torch.div(rest, dim, rounding_mode="floor")
    return torch.stack(rows[::-1])


define_op(
    "UnravelIndex",
    "indices: Tidx, dims: Tidx -> output: Tidx",
    attrs=[f"Tidx: {_INDEX} = int32"],
    shape=_unravel_shape,
    kernel=_unravel_kernel,
    host=("dims",),
    no_gradient="positions are integers",
)


# ---- public functions ------------------------------------------------------------------------


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """Unique elements of a vector, in order of first occurrence.

    Args:
      x: 1-D tensor.
      out_idx: int32 or int64, type of the positions.

    Returns:
      ``(y, idx)``: the elements, and for each of ``x`` its position in ``y``.
    """
    return make("Unique", x, name=name, out_idx=out_idx)


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """As ``unique``, and how often each element occurs: ``(y, idx, count)``."""
    return make("UniqueWithCounts", x, name=name, out_idx=out_idx)


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> Any:
    """The elements of ``x`` that are not in ``y``, and their positions in ``x``.

    Args:
      x: 1-D tensor.
      y: 1-D tensor of that type.
      index_dtype: int32 or int64.

    Returns:
      ``(out, idx)``.
    """
    return make("ListDiff", x, y, name=name, out_idx=index_dtype)


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where ``values`` would go in sorted rows.

    Args:
      sorted_sequence: tensor [..., n], sorted along its last dim.
      values: tensor [..., m] with the same leading dims.
      side: "left" (before equal elements) or "right" (after them).
      out_type: int32 or int64.

    Returns:
      Tensor of the shape of ``values``.

    Raises:
      ValueError: ``side`` is neither "left" nor "right".
    """
    op_type = {"left": "LowerBound", "right": "UpperBound"}.get(side)
    if op_type is None:
        raise ValueError(
            f"side must be either 'right' or 'left'.  Saw: {side}.:"
            f" searchsorted: side must be 'left' or 'right'; found {side!r}"
        )
    last = [slicing.getitem(shape_ops.shape(t), -1) for t in (sorted_sequence, values)]
    rows = reshape_ops.reshape(sorted_sequence, [-1, last[0]])
    wanted = reshape_ops.reshape(values, [-1, last[1]])
    found = make(op_type, rows, wanted, name=name, out_type=out_type)
    return reshape_ops.reshape(found, shape_ops.shape(values))


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """Coordinates of flat positions in an array of shape ``dims``.

    Args:
      indices: integer scalar or vector.
      dims: vector of that type.

    Returns:
      Tensor with one row a dim.
    """
    return make("UnravelIndex", indices, dims, name=name)
