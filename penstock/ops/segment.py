"""Reductions over segments of the leading dim: sorted ids, unsorted ids, and gathered rows.

A sorted op makes as many rows as its last id says and refuses ids that decrease; an unsorted one
is told how many, drops rows of negative ids and fills segments that nothing falls into with the
reduction's neutral element (sorted ones with 0, products with 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.base import dtypes
from penstock.graph.build import constant, make
from penstock.graph.convert import convert_to_tensor
from penstock.graph.scopes import name_scope
from penstock.graph.tensor import Tensor
from penstock.opdef import define_op
from penstock.opdef.inference import Dims, ShapeContext, show
from penstock.ops.reduction import (
    BARE_UNSIGNED,
    NUMBERS,
    from_ordered_int64,
    to_ordered_int64,
)

__all__ = [
    "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum",
    "sparse_segment_mean", "sparse_segment_sqrt_n", "sparse_segment_sum",
    "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min",
    "unsorted_segment_prod", "unsorted_segment_sqrt_n", "unsorted_segment_sum",
]  # fmt: skip

REAL_NUMBERS = (
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
)
_IDS = "Tindices: {int32, int64}"
_COUNT = "Tnumsegments: {int32, int64} = int32"


# ---- shape rules -----------------------------------------------------------------------------


def _sorted_shape(ctx: ShapeContext) -> Dims:
    data = ctx.rank_at_least("data", 1)
    ids = ctx.rank("segment_ids", 1)
    if data is None:
        return None
    if None not in (ids[0], data[0]) and ids[0] != data[0]:
        raise ValueError(f"segment_ids has {ids[0]} element(s), data {data[0]} row(s)")
    return (None, *data[1:])


def _count(ctx: ShapeContext) -> int | None:
    ctx.rank("num_segments", 0)
    value = ctx.value("num_segments")
    if value is not None and value < 0:
        raise ValueError(f"num_segments must not be negative; found {int(value)}")
    return None if value is None else int(value)


def _unsorted_shape(ctx: ShapeContext) -> Dims:
    data, ids = ctx["data"], ctx["segment_ids"]
    count = _count(ctx)
    if data is None or ids is None:
        return None
    fits = len(data) >= len(ids) and all(
        a is None or b is None or a == b for a, b in zip(ids, data, strict=False)
    )
    if not fits:
        raise ValueError(
            f"the shape of data, {show(data)}, must start with that of segment_ids, {show(ids)}"
        )
    return (count, *data[len(ids) :])


def _sparse_shape(ctx: ShapeContext) -> Dims:
    data = ctx.rank_at_least("data", 1)
    indices, ids = ctx.rank("indices", 1), ctx.rank("segment_ids", 1)
    if None not in (indices[0], ids[0]) and indices[0] != ids[0]:
        raise ValueError(f"indices has {indices[0]} element(s), segment_ids {ids[0]}")
    count = _count(ctx) if "num_segments" in {a.name for a in ctx.op.op_def.inputs} else None
    return None if data is None else (count, *data[1:])


def _sparse_grad_shape(ctx: ShapeContext) -> Dims:
    grad = ctx.rank_at_least("grad", 1)
    ctx.rank("indices", 1)
    ctx.rank("segment_ids", 1)
    ctx.rank("output_dim0", 0)
    size = ctx.value("output_dim0")
    return None if grad is None else (None if size is None else int(size), *grad[1:])


# ---- kernels ---------------------------------------------------------------------------------


def _scatter(kind: str, data: Any, ids: Any, count: int, fill: Any) -> Any:
    """Reduces rows of ``data`` into ``count`` rows; ids are int64 and in range."""
    if data.dtype in BARE_UNSIGNED:
        ordered = kind in ("amax", "amin")
        wide = to_ordered_int64(data) if ordered else data.to(torch.int64)
        made = _scatter(kind, wide, ids, count, int(kind == "prod"))
        result = from_ordered_int64(made, data.dtype) if ordered else made.to(data.dtype)
        empty = torch.bincount(ids, minlength=count) == 0
        if bool(empty.any()):
            mask = empty.reshape(-1, *[1] * (data.dim() - 1)).expand(result.shape)
            result = torch.where(mask, torch.full_like(result, fill), result)
        return result
    out = data.new_full((count, *data.shape[1:]), fill)
    if kind == "sum":
        return out.index_add_(0, ids, data)
    index = _per_row(ids, data).expand(data.shape)
    return out.scatter_reduce_(0, index, data, kind, include_self=kind == "prod")


def _checked_ids(ids: Any, rows: int, what: str = "data") -> Any:
    if ids.dim() != 1 or ids.shape[0] != rows:
        raise ValueError(
            f"segment_ids must be a vector with one element for each row of {what} ({rows});"
            f" its shape is {list(ids.shape)}"
        )
    ids = ids.to(torch.int64)
    if rows:
        if int(ids[0]) < 0:
            raise ValueError(f"segment ids must not be negative; found {int(ids[0])}")
        if rows > 1 and bool((ids[1:] < ids[:-1]).any()):
            raise ValueError("segment ids are not increasing")
    return ids


def _rows(ids: Any) -> int:
    return int(ids[-1]) + 1 if ids.numel() else 0


def _per_row(values: Any, like: Any) -> Any:
    return values.reshape(-1, *[1] * (like.dim() - 1))


def _counts(ids: Any, count: int) -> Any:
    return torch.bincount(ids, minlength=count).clamp_(min=1)


def _divided(total: Any, counts: Any) -> Any:
    counts = _per_row(counts, total)
    if total.dtype.is_floating_point or total.dtype.is_complex:
        return total / counts.to(total.dtype)
    wide = torch.div(total.to(torch.int64), counts, rounding_mode="trunc")
    return wide.to(total.dtype)


def _sorted_kernel(kind: str, fill: int) -> Any:
    def kernel(data: Any, segment_ids: Any) -> Any:
        ids = _checked_ids(segment_ids, data.shape[0])
        return _scatter(kind, data, ids, _rows(ids), fill)

    kernel.__name__ = f"_segment_{kind}"
    return kernel


def _segment_mean(data: Any, segment_ids: Any) -> Any:
    ids = _checked_ids(segment_ids, data.shape[0])
    count = _rows(ids)
    return _divided(_scatter("sum", data, ids, count, 0), _counts(ids, count))


def _neutral(kind: str, dtype: torch.dtype) -> Any:
    if kind in ("sum", "prod"):
        return int(kind == "prod")
    info = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    return info.min if kind == "amax" else info.max


def _unsorted_kernel(kind: str) -> Any:
    def kernel(data: Any, segment_ids: Any, num_segments: int) -> Any:
        if num_segments < 0:
            raise ValueError(f"num_segments must not be negative; found {num_segments}")
        rank = segment_ids.dim()
        if data.shape[:rank] != segment_ids.shape:
            raise ValueError(
                f"the shape of data, {list(data.shape)}, must start with that of segment_ids,"
                f" {list(segment_ids.shape)}"
            )
        ids = segment_ids.reshape(-1).to(torch.int64)
        rows = data.reshape(ids.shape[0], *data.shape[rank:])
        if ids.numel():
            low, high = (int(v) for v in ids.aminmax())
            if high >= num_segments:
                raise ValueError(
                    f"segment_ids holds {high}; ids must be below num_segments, {num_segments}"
                )
            if low < 0:
                kept = (ids >= 0).nonzero().reshape(-1)
                ids, rows = ids[kept], rows[kept]
        return _scatter(kind, rows, ids, num_segments, _neutral(kind, data.dtype))

    kernel.__name__ = f"_unsorted_segment_{kind}"
    return kernel


def _sparse_scale(how: str, counts: Any, dtype: torch.dtype) -> Any:
    counts = counts.to(dtype)
    return counts if how == "mean" else counts.sqrt()


def _sparse(how: str, data: Any, indices: Any, segment_ids: Any, count: int | None) -> Any:
    ids = _checked_ids(segment_ids, indices.shape[0], "indices")
    rows = _rows(ids)
    if count is not None:
        if rows > count:
            raise ValueError(f"segment ids must be below num_segments, {count}; found {rows - 1}")
        rows = count
    total = _scatter("sum", _picked(data, indices), ids, rows, 0)
    if how == "sum":
        return total
    return total / _per_row(_sparse_scale(how, _counts(ids, rows), data.dtype), total)


def _picked(data: Any, indices: Any) -> Any:
    if indices.numel():
        low, high = (int(v) for v in indices.aminmax())
        if low < 0 or high >= data.shape[0]:
            bad = low if low < 0 else high
            raise ValueError(f"indices holds {bad}, which is not in [0, {data.shape[0]})")
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
            raise ValueError(f"segment ids must be below {grad.shape[0]}; found {int(ids.max())}")
        scale = _sparse_scale(how, _counts(ids, grad.shape[0]), grad.dtype)
        rows = (grad / _per_row(scale, grad)).index_select(0, ids)
        out = grad.new_zeros((output_dim0, *grad.shape[1:]))
        return out.index_add_(0, indices.to(torch.int64), rows)

    kernel.__name__ = f"_sparse_segment_{how}_grad"
    return kernel


# ---- gradients -------------------------------------------------------------------------------


def _segment_sum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    from penstock.ops import nodes

    return [nodes.gather(grad, op.inputs[1]), None]


def _segment_mean_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    from penstock.ops import nodes

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
    from penstock.ops import nodes

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
    from penstock.ops import nodes

    data, ids = op.inputs
    zeros = nodes.zeros_like(data)
    chosen = nodes.equal(data, nodes.gather(op.outputs[0], ids))
    count = make("SegmentSum", nodes.cast(chosen, grad.dtype), ids)
    shared = nodes.gather(nodes.div(grad, count), ids)
    return [make("Select", chosen, shared, zeros), None]


def _gather_or_zero(
    params: Tensor, ids: Tensor, clipped: Tensor | None = None, valid: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of ``params`` by id, zeros for negative ids; the clipped ids and the mask, for reuse."""
    from penstock.ops import nodes

    if clipped is None:
        clipped = nodes.maximum(ids, nodes.zeros_like(ids))
    gathered = nodes.gather(params, clipped)
    if valid is None:
        valid = nodes.greater_equal(ids, 0)
        missing = 0
        if gathered._dims is not None and valid._dims is not None:
            missing = len(gathered._dims) - len(valid._dims)
        for _ in range(missing):
            valid = make("ExpandDims", valid, -1)
        if gathered._dims is None or ids._dims is None:
            valid = _expanded(valid, gathered)
        valid = make("LogicalAnd", valid, nodes.ones_like(gathered, dtypes.bool), name="and")
    return make("Select", valid, gathered, nodes.zeros_like(gathered)), clipped, valid


def _expanded(mask: Tensor, like: Tensor) -> Tensor:
    """``mask`` with trailing dims of size 1 up to the rank of ``like``, found at run time."""
    from penstock.ops import nodes

    missing = nodes.sub(nodes.rank(like), nodes.rank(mask))
    ones = make("Fill", make("ExpandDims", missing, 0), 1)
    return nodes.reshape(mask, nodes.concat([nodes.shape(mask), ones], 0))


def _unsorted_sum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    return [_gather_or_zero(grad, op.inputs[1])[0], None, None]


def _unsorted_extremum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    from penstock.ops import nodes

    data, ids, count = op.inputs
    found, clipped, valid = _gather_or_zero(op.outputs[0], ids)
    chosen = make("LogicalAnd", nodes.equal(data, found), valid)
    number = make("UnsortedSegmentSum", nodes.cast(chosen, grad.dtype), ids, count)
    shared = _gather_or_zero(nodes.div(grad, number), ids, clipped, valid)[0]
    return [make("Select", chosen, shared, nodes.zeros_like(shared)), None, None]


def _unsorted_prod_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    from penstock.ops import nodes

    data, ids, count = op.inputs
    # A segment with two zeros has gradient 0 everywhere; with one, only at that zero.
    is_zero = nodes.equal(data, 0)
    zeros = make("UnsortedSegmentSum", nodes.cast(is_zero, dtypes.int32), ids, count)
    grad = make("Select", nodes.greater(zeros, 1), nodes.zeros_like(grad), grad)
    nonzero = make("Select", is_zero, nodes.ones_like(data), data)
    rest = make("UnsortedSegmentProd", nonzero, ids, count)
    clipped = nodes.maximum(ids, nodes.zeros_like(ids))
    product = nodes.gather(op.outputs[0], clipped)
    rest = nodes.gather(rest, clipped)
    partial = make("Select", is_zero, rest, nodes.div(product, data))
    return [nodes.mul(_gather_or_zero(grad, ids, clipped)[0], partial), None, None]


def _sparse_sum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    from penstock.ops import nodes

    data, indices, ids = op.inputs[:3]
    rows = nodes.element(nodes.shape(data), 0)
    made = make("UnsortedSegmentSum", nodes.gather(grad, ids), indices, rows)
    return [made, *[None] * (len(op.inputs) - 1)]


def _sparse_scaled_grad(op_type: str) -> Any:
    def gradient(op: Any, grad: Tensor) -> list[Tensor | None]:
        from penstock.ops import nodes

        data, indices, ids = op.inputs[:3]
        rows = nodes.element(nodes.shape(data), 0)
        return [make(op_type, grad, indices, ids, rows), *[None] * (len(op.inputs) - 1)]

    return gradient


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
        attrs=[f"T: {_types}", _IDS],
        shape=_sorted_shape,
        kernel=_kernel,
        **_grad,  # type: ignore[arg-type]
    )
for _name, _types, _kind, _gradient in (
    ("UnsortedSegmentSum", NUMBERS, "sum", _unsorted_sum_grad),
    ("UnsortedSegmentProd", NUMBERS, "prod", _unsorted_prod_grad),
    ("UnsortedSegmentMax", REAL_NUMBERS, "amax", _unsorted_extremum_grad),
    ("UnsortedSegmentMin", REAL_NUMBERS, "amin", _unsorted_extremum_grad),
):
    define_op(
        _name,
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
        attrs=[f"T: {_types}", _IDS, _COUNT],
        shape=_unsorted_shape,
        kernel=_unsorted_kernel(_kind),
        host=("num_segments",),
        gradient=_gradient,
    )
_TIDX = "Tidx: {int32, int64} = int32"
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
    )
    define_op(
        f"{_name}WithNumSegments",
        "data: T, indices: Tidx, segment_ids: int32, num_segments: Tnumsegments -> output: T",
        attrs=[f"T: {_types}", _TIDX, _COUNT],
        shape=_sparse_shape,
        kernel=_sparse_counted_kernel(_how),
        host=("num_segments",),
        gradient=_gradient,
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
    )


# ---- public functions ------------------------------------------------------------------------

_SORTED_DOC = """{what} of each segment of rows, ids sorted.

    Args:
      data: tensor of rank at least 1.
      segment_ids: int32 or int64 vector, one id a row, not decreasing, from 0.
      name: name of the node.

    Returns:
      A tensor with a row for each id up to the last; ids left out give {empty}.

    Raises:
      InvalidArgumentError: at run time, where ids decrease or are negative.
    """
_UNSORTED_DOC = """{what} of each segment of ``data``, ids in any order.

    Args:
      data: tensor whose shape starts with that of ``segment_ids``.
      segment_ids: int32 or int64 tensor; elements with negative ids are dropped.
      num_segments: how many rows the result has.
      name: name of the node.

    Returns:
      A tensor of shape ``[num_segments, ...]``; segments without elements hold {empty}.

    Raises:
      InvalidArgumentError: at run time, for an id that is not below ``num_segments``.
    """


def _sorted_function(kind: str, what: str, empty: str) -> Any:
    def segment(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        made: Tensor = make(f"Segment{kind}", data, segment_ids, name=name)
        return made

    segment.__name__ = segment.__qualname__ = f"segment_{kind.lower()}"
    segment.__doc__ = _SORTED_DOC.format(what=what, empty=empty)
    return segment


def _unsorted_function(kind: str, what: str, empty: str) -> Any:
    def segment(
        data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
    ) -> Tensor:
        made: Tensor = make(
            f"UnsortedSegment{kind}", data, segment_ids, num_segments, name=name
        )
        return made

    segment.__name__ = segment.__qualname__ = f"unsorted_segment_{kind.lower()}"
    segment.__doc__ = _UNSORTED_DOC.format(what=what, empty=empty)
    return segment


segment_sum = _sorted_function("Sum", "Sum", "0")
segment_mean = _sorted_function("Mean", "Mean", "0")
segment_prod = _sorted_function("Prod", "Product", "1")
segment_max = _sorted_function("Max", "Largest element", "0")
segment_min = _sorted_function("Min", "Smallest element", "0")
unsorted_segment_sum = _unsorted_function("Sum", "Sum", "0")
unsorted_segment_prod = _unsorted_function("Prod", "Product", "1")
unsorted_segment_max = _unsorted_function("Max", "Largest element", "the lowest finite number")
unsorted_segment_min = _unsorted_function("Min", "Smallest element", "the highest finite number")


def _unsorted_scaled(kind: str, data: Any, ids: Any, count: Any, name: str | None) -> Tensor:
    from penstock.ops import nodes

    with name_scope(name, f"UnsortedSegment{kind}"):
        data, ids = convert_to_tensor(data), convert_to_tensor(ids)
        dtype = data.dtype.base_dtype
        ids_shape = nodes.shape(ids)
        with name_scope("ones") as scope:
            one = constant(np.ones((), dtype.as_numpy_dtype), dtype)
            ones = make("Fill", ids_shape, one, name=scope)
        number = make("UnsortedSegmentSum", ones, ids, count)
        number = nodes.reshape(number, _divisor_shape(data, ids, count))
        number = nodes.maximum(number, 1)
        total = make("UnsortedSegmentSum", data, ids, count)
        return nodes.div(total, number if kind == "Mean" else make("Sqrt", number))


def _divisor_shape(data: Tensor, ids: Tensor, count: Any) -> Any:
    from penstock.ops import nodes

    if data._dims is not None and ids._dims is not None:
        ones = [1] * (len(data._dims) - len(ids._dims))
        if isinstance(count, Tensor):
            tail = constant(np.array(ones, np.int32), dtypes.int32)
            return nodes.concat([make("ExpandDims", count, 0), tail], 0)
        return [int(count), *ones]
    missing = nodes.sub(nodes.rank(data), nodes.rank(ids))
    tail = make("Fill", make("ExpandDims", missing, 0), 1)
    rows = convert_to_tensor(count, dtypes.int32)
    return nodes.concat([make("ExpandDims", rows, 0), tail], 0)


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """Mean of each segment of ``data``; arguments as of ``unsorted_segment_sum``."""
    return _unsorted_scaled("Mean", data, segment_ids, num_segments, name)


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """Sum of each segment over the square root of its size; as ``unsorted_segment_sum``."""
    return _unsorted_scaled("SqrtN", data, segment_ids, num_segments, name)


_SPARSE_DOC = """{what} of picked rows of ``data``, segment by segment.

    Args:
      data: tensor of rank at least 1.
      indices: vector of rows of ``data``, int32 or int64.
      segment_ids: int32 vector as long as ``indices``, not decreasing.
      name: name of the node.
      num_segments: how many rows the result has; by default the last id plus one.

    Returns:
      A tensor with a row for each segment.
    """


def _sparse_function(kind: str, public: str, what: str) -> Any:
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
        made: Tensor = make(op_type, *inputs, name=name)
        return made

    segment.__name__ = segment.__qualname__ = public
    segment.__doc__ = _SPARSE_DOC.format(what=what)
    return segment


sparse_segment_sum = _sparse_function("Sum", "sparse_segment_sum", "Sums")
sparse_segment_mean = _sparse_function("Mean", "sparse_segment_mean", "Means")
sparse_segment_sqrt_n = _sparse_function(
    "SqrtN", "sparse_segment_sqrt_n", "Sums over the square root of their number"
)
