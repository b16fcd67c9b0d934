"""Reductions over segments of the leading dim that sorted ids name.

An op makes as many rows as its last id says and refuses ids that decrease; segments that nothing
falls into are 0, of products 1.  ``unsorted_segment`` and ``sparse_segment`` share this file's
kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.families import Segments
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext
from penstock.ops.array import nodes
from penstock.ops.array.row_sums import add_rows
from penstock.ops.array.unsigned import BARE_UNSIGNED, from_ordered_int64, to_ordered_int64
from penstock.ops.math.reduction import NUMBERS

REAL_NUMBERS = (
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
)
IDS = "Tindices: {int32, int64}"
COUNT = "Tnumsegments: {int32, int64} = int32"


# ---- shape rules -----------------------------------------------------------------------------


def _sorted_shape(ctx: ShapeContext) -> Dims:
    data = ctx.rank_at_least("data", 1)
    ids = ctx.rank("segment_ids", 1)
    if data is None:
        return None
    if None not in (ids[0], data[0]) and ids[0] != data[0]:
        raise FailsAtRun(
            "segment_ids should be the same size as dimension 0 of input: it has"
            f" {ids[0]} element(s), data {data[0]} row(s)",
            (None, *data[1:]),
        )
    return (None, *data[1:])


def segment_count(ctx: ShapeContext) -> int | None:
    ctx.rank("num_segments", 0)
    value = ctx.value("num_segments")
    if value is not None and value < 0:
        raise ValueError(
            f"Input num_segments == {int(value)} must not be negative: it is a dimension size"
        )
    return None if value is None else int(value)


# ---- kernels ---------------------------------------------------------------------------------


def scatter_rows(kind: str, data: Any, ids: Any, count: int, fill: Any) -> Any:
    """Reduces rows of ``data`` into ``count`` rows; ids are int64 and in range."""
    if data.dtype in BARE_UNSIGNED:
        ordered = kind in ("amax", "amin")
        wide = to_ordered_int64(data) if ordered else data.to(torch.int64)
        made = scatter_rows(kind, wide, ids, count, int(kind == "prod"))
        result = from_ordered_int64(made, data.dtype) if ordered else made.to(data.dtype)
        empty = torch.bincount(ids, minlength=count) == 0
        if bool(empty.any()):
            mask = empty.reshape(-1, *[1] * (data.dim() - 1)).expand(result.shape)
            result = torch.where(mask, torch.full_like(result, fill), result)
        return result
    out = data.new_full((count, *data.shape[1:]), fill)
    if kind == "sum":
        return add_rows(out, ids, data)
    index = per_row(ids, data).expand(data.shape)
    return out.scatter_reduce_(0, index, data, kind, include_self=kind == "prod")


def checked_ids(ids: Any, rows: int, what: str = "input") -> Any:
    if ids.dim() != 1 or ids.shape[0] != rows:
        raise ValueError(
            f"segment_ids should be the same size as dimension 0 of {what}: it must be a vector"
            f" of {rows} element(s); its shape is {list(ids.shape)}"
        )
    ids = ids.to(torch.int64)
    if rows:
        if int(ids.min()) < 0:
            raise ValueError(f"segment ids must be >= 0; found {int(ids.min())}")
        if rows > 1 and bool((ids[1:] < ids[:-1]).any()):
            raise ValueError("segment ids are not increasing")
    return ids


def row_count(ids: Any) -> int:
    return int(ids[-1]) + 1 if ids.numel() else 0


def per_row(values: Any, like: Any) -> Any:
    return values.reshape(-1, *[1] * (like.dim() - 1))


def rows_per_segment(ids: Any, count: int) -> Any:
    return torch.bincount(ids, minlength=count).clamp_(min=1)


def _divided(total: Any, counts: Any) -> Any:
    counts = per_row(counts, total)
    if total.dtype.is_floating_point or total.dtype.is_complex:
        return total / counts.to(total.dtype)
    wide = torch.div(total.to(torch.int64), counts, rounding_mode="trunc")
    return wide.to(total.dtype)


def _sorted_kernel(kind: str, fill: int) -> Any:
    def kernel(data: Any, segment_ids: Any) -> Any:
        ids = checked_ids(segment_ids, data.shape[0])
        return scatter_rows(kind, data, ids, row_count(ids), fill)

    kernel.__name__ = f"_segment_{kind}"
    return kernel


def _segment_mean(data: Any, segment_ids: Any) -> Any:
    ids = checked_ids(segment_ids, data.shape[0])
    count = row_count(ids)
    return _divided(scatter_rows("sum", data, ids, count, 0), rows_per_segment(ids, count))


# ---- gradients -------------------------------------------------------------------------------


def _segment_sum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    return [nodes.gather(grad, op.inputs[1]), None]


def _segment_mean_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    data, ids = op.inputs
    rank = nodes.rank(data)
    ones_shape = nodes.concat(
        [
            nodes.shape(ids),
            make("Fill", make("ExpandDims", nodes.sub(rank, 1), 0), 1),
        ],
        0,
    )
    one = constant(np.ones((), grad.dtype.as_numpy_dtype), grad.dtype)
    ones = make("Fill", ones_shape, one)
    scaled = nodes.div(grad, make("SegmentSum", ones, ids))
    return [nodes.gather(scaled, ids), None]


def _segment_prod_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    data, ids = op.inputs
    # TF 1.15 has none; as with unsorted ids, zeros are counted so that no division is by zero.
    is_zero = nodes.equal(data, 0)
    zeros = make("SegmentSum", nodes.cast(is_zero, dtypes.int32), ids)
    grad = make("Select", nodes.greater(zeros, 1), nodes.zeros_like(grad), grad)
    rest = make("SegmentProd", make("Select", is_zero, nodes.ones_like(data), data), ids)
    divided = nodes.div(nodes.gather(op.outputs[0], ids), data)
    partial = make("Select", is_zero, nodes.gather(rest, ids), divided)
    return [nodes.mul(nodes.gather(grad, ids), partial), None]


def _segment_extremum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    data, ids = op.inputs
    zeros = nodes.zeros_like(data)
    chosen = nodes.equal(data, nodes.gather(op.outputs[0], ids))
    count = make("SegmentSum", nodes.cast(chosen, grad.dtype), ids)
    shared = nodes.gather(nodes.div(grad, count), ids)
    return [make("Select", chosen, shared, zeros), None]


# ---- the tables ------------------------------------------------------------------------------

for _name, _types, _kernel, _grad in (
    ("SegmentSum", NUMBERS, _sorted_kernel("sum", 0), {"gradient": _segment_sum_grad}),
    ("SegmentMean", NUMBERS, _segment_mean, {"gradient": _segment_mean_grad}),
    ("SegmentProd", NUMBERS, _sorted_kernel("prod", 1), {"gradient": _segment_prod_grad}),
    ("SegmentMax", REAL_NUMBERS, _sorted_kernel("amax", 0), {"gradient": _segment_extremum_grad}),
    ("SegmentMin", REAL_NUMBERS, _sorted_kernel("amin", 0), {"gradient": _segment_extremum_grad}),
):
    define_op(
        _name,
        "data: T, segment_ids: Tindices -> output: T",
        attrs=[f"T: {_types}", IDS],
        shape=_sorted_shape,
        kernel=_kernel,
        **_grad,  # type: ignore[arg-type]
    )


# ---- public functions ------------------------------------------------------------------------

_SORTED_DOC = """{what} of each segment of rows, ids sorted.

    Args:
      data: tensor of rank at least 1.
      segment_ids: int32 or int64 vector, one id a row, not decreasing, from 0.

    Returns:
      A tensor with a row for each id up to the last; ids left out give {empty}.

    Raises:
      InvalidArgumentError: at run time, where ids decrease or are negative.
    """


def _sorted_function(kind: str, what: str, empty: str) -> Segments:
    def segment(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        return make(f"Segment{kind}", data, segment_ids, name=name)

    return named(f"segment_{kind.lower()}", _SORTED_DOC.format(what=what, empty=empty))(segment)


segment_sum = _sorted_function("Sum", "Sum", "0")
segment_mean = _sorted_function("Mean", "Mean", "0")
segment_prod = _sorted_function("Prod", "Product", "1")
segment_max = _sorted_function("Max", "Largest element", "0")
segment_min = _sorted_function("Min", "Smallest element", "0")
