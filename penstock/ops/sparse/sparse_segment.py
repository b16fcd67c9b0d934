"""Reductions over sorted segments of gathered rows, and their gradients."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.families import SparseSegments
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array import nodes
from penstock.ops.array.row_sums import add_rows
from penstock.ops.math.segment import (
    COUNT,
    REAL_NUMBERS,
    checked_ids,
    per_row,
    row_count,
    rows_per_segment,
    scatter_rows,
    segment_count,
)


def _sparse_shape(ctx: ShapeContext) -> Dims:
    data = ctx.rank_at_least("data", 1)
    indices, ids = ctx.rank("indices", 1), ctx.rank("segment_ids", 1)
    if None not in (indices[0], ids[0]) and indices[0] != ids[0]:
        raise ValueError(
            "segment_ids and indices should have same size: Dimension 0 in both shapes must be"
            f" equal, but are {indices[0]} and {ids[0]}"
        )
    count = segment_count(ctx) if "num_segments" in {a.name for a in ctx.op.op_def.inputs} else None
    return None if data is None else (count, *data[1:])


def _sparse_grad_shape(ctx: ShapeContext) -> Dims:
    grad = ctx.rank_at_least("grad", 1)
    ctx.rank("indices", 1)
    ctx.rank("segment_ids", 1)
    ctx.rank("output_dim0", 0)
    size = ctx.value("output_dim0")
    return None if grad is None else (None if size is None else int(size), *grad[1:])


def _sparse_scale(how: str, counts: Any, dtype: torch.dtype) -> Any:
    counts = counts.to(dtype)
    return counts if how == "mean" else counts.sqrt()


def _sparse(how: str, data: Any, indices: Any, segment_ids: Any, count: int | None) -> Any:
    ids = checked_ids(segment_ids, indices.shape[0], "indices")
    rows = row_count(ids)
    if count is not None:
        if rows > count:
            raise ValueError(f"segment ids must be < num_segments, {count}; found {rows - 1}")
        rows = count
    total = scatter_rows("sum", _picked(data, indices), ids, rows, 0)
    if how == "sum":
        return total
    return total / per_row(_sparse_scale(how, rows_per_segment(ids, rows), data.dtype), total)


def _picked(data: Any, indices: Any) -> Any:
    if indices.numel():
        low, high = (int(v) for v in indices.aminmax())
        if low < 0 or high >= data.shape[0]:
            bad = low if low < 0 else high
            place = int((indices == bad).nonzero()[0, 0])
            raise ValueError(f"Bad: indices[{place}] == {bad} out of range [0, {data.shape[0]})")
    return data.index_select(0, indices)


def _sparse_kernel(how: str) -> Any:
    def kernel(data: Any, indices: Any, segment_ids: Any) -> Any:
        return _sparse(how, data, indices, segment_ids, None)

    kernel.__name__ = f"_sparse_segment_{how}"
    return kernel


def _sparse_counted_kernel(how: str) -> Any:
    def kernel(data: Any, indices: Any, segment_ids: Any, num_segments: int) -> Any:
        return _sparse(how, data, indices, segment_ids, num_segments)

    kernel.__name__ = f"_sparse_segment_{how}_counted"
    return kernel


def _sparse_grad_kernel(how: str) -> Any:
    def kernel(grad: Any, indices: Any, segment_ids: Any, output_dim0: int) -> Any:
        ids = segment_ids.to(torch.int64)
        if ids.numel() and int(ids.max()) >= grad.shape[0]:
            raise ValueError(f"segment ids must be < {grad.shape[0]}; found {int(ids.max())}")
        scale = _sparse_scale(how, rows_per_segment(ids, grad.shape[0]), grad.dtype)
        rows = (grad / per_row(scale, grad)).index_select(0, ids)
        out = grad.new_zeros((output_dim0, *grad.shape[1:]))
        return add_rows(out, indices.to(torch.int64), rows)

    kernel.__name__ = f"_sparse_segment_{how}_grad"
    return kernel


def _sparse_sum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    data, indices, ids = op.inputs[:3]
    rows = nodes.element(nodes.shape(data), 0)
    made = make("UnsortedSegmentSum", nodes.gather(grad, ids), indices, rows)
    return [made, *[None] * (len(op.inputs) - 1)]


def _sparse_scaled_grad(op_type: str) -> Any:
    def gradient(op: Any, grad: Tensor) -> list[Tensor | None]:
        data, indices, ids = op.inputs[:3]
        rows = nodes.element(nodes.shape(data), 0)
        return [make(op_type, grad, indices, ids, rows), *[None] * (len(op.inputs) - 1)]

    return gradient


_TIDX = "Tidx: {int32, int64} = int32"
# A later TensorFlow lets the ids be of another type.
_ID_TYPE = "Tsegmentids: type = int32"
for _name, _how, _types, _gradient in (
    ("SparseSegmentSum", "sum", REAL_NUMBERS, _sparse_sum_grad),
    ("SparseSegmentMean", "mean", "{float, double}", _sparse_scaled_grad("SparseSegmentMeanGrad")),
    ("SparseSegmentSqrtN", "sqrt", "{float, double}",
     _sparse_scaled_grad("SparseSegmentSqrtNGrad")),
):  # fmt: skip
    define_op(
        _name,
        "data: T, indices: Tidx, segment_ids: int32 -> output: T",
        attrs=[f"T: {_types}", _TIDX],
        shape=_sparse_shape,
        kernel=_sparse_kernel(_how),
        gradient=_gradient,
        later=[_ID_TYPE, "sparse_gradient: bool = false"],
    )
    define_op(
        f"{_name}WithNumSegments",
        "data: T, indices: Tidx, segment_ids: int32, num_segments: Tnumsegments -> output: T",
        attrs=[f"T: {_types}", _TIDX, COUNT],
        shape=_sparse_shape,
        kernel=_sparse_counted_kernel(_how),
        host=("num_segments",),
        gradient=_gradient,
        later=[_ID_TYPE, "sparse_gradient: bool = false"],
    )
for _name, _how in (("SparseSegmentMeanGrad", "mean"), ("SparseSegmentSqrtNGrad", "sqrt")):
    define_op(
        _name,
        "grad: T, indices: Tidx, segment_ids: int32, output_dim0: int32 -> output: T",
        attrs=["T: {float, double}", _TIDX],
        shape=_sparse_grad_shape,
        kernel=_sparse_grad_kernel(_how),
        host=("output_dim0",),
        no_gradient="TF defines no second order here",
        later=[_ID_TYPE],
    )


_SPARSE_DOC = """{what} of picked rows of ``data``, segment by segment.

    Args:
      data: tensor of rank at least 1.
      indices: vector of rows of ``data``, int32 or int64.
      segment_ids: int32 vector as long as ``indices``, not decreasing.
      num_segments: how many rows the result has; by default the last id plus one.

    Returns:
      A tensor with a row for each segment.
    """


def _sparse_function(kind: str, public: str, what: str) -> SparseSegments:
    def segment(
        data: Any,
        indices: Any,
        segment_ids: Any,
        name: str | None = None,
        num_segments: Any = None,
    ) -> Tensor:
        inputs = [data, indices, segment_ids]
        op_type = f"SparseSegment{kind}"
        if num_segments is not None:
            inputs.append(num_segments)
            op_type += "WithNumSegments"
        return make(op_type, *inputs, name=name)

    return named(public, _SPARSE_DOC.format(what=what))(segment)


sparse_segment_sum = _sparse_function("Sum", "sparse_segment_sum", "Sums")
sparse_segment_mean = _sparse_function("Mean", "sparse_segment_mean", "Means")
sparse_segment_sqrt_n = _sparse_function(
    "SqrtN", "sparse_segment_sqrt_n", "Sums over the square root of their number"
)
