"""ONNX rules: sums by segment, and sparse tensors, which embeddings of lists of ids are made of."""

from __future__ import annotations

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.storage.interchange.onnx_arrays import rank_of, scattered
from penstock.storage.interchange.onnx_writer import MOST, Rule, Writer


def _column(w: Writer, matrix: str, index: int) -> str:
    """A column of a matrix of int64."""
    return w.node("Gather", matrix, w.const(np.int64(index)), axis=1)


def _rows_after(w: Writer, name: str) -> str:
    """The dims of a value but the first."""
    return w.node("Slice", w.node("Shape", name), w.ints(1), w.ints(MOST))


def _sums(w: Writer, data: str, ids: str, count: str, dtype: object) -> str:
    """Sums of rows by segment; ``count``: how many segments, a vector of one."""
    size = w.node("Concat", count, _rows_after(w, data), axis=0)
    return scattered(w, size, w.node("Unsqueeze", ids, w.ints(-1)), data, dtype)


def _count_of(w: Writer, ids: str) -> str:
    """One more than the last of sorted ids, as a vector of one; 0 where there is none."""
    none = w.ints(-1)
    last = w.node("ReduceMax", w.node("Concat", none, ids, axis=0), keepdims=1)
    return w.node("Add", last, w.ints(1))


def _segment_sum(w: Writer, op: Operation) -> str:
    data, ids = w[op.inputs[0]], w.long(op.inputs[1])
    return _sums(w, data, ids, _count_of(w, ids), op.outputs[0].dtype)


def _segment_mean(w: Writer, op: Operation) -> str:
    data, ids = w[op.inputs[0]], w.long(op.inputs[1])
    return _mean(w, op, data, ids, root=False)


def _mean(w: Writer, op: Operation, data: str, ids: str, root: bool) -> str:
    dtype, rank = op.outputs[0].dtype, rank_of(op.inputs[0])
    count = _count_of(w, ids)
    ones = w.node("Expand", w.number(1, dtype), w.node("Shape", ids))
    many = scattered(w, count, w.node("Unsqueeze", ids, w.ints(-1)), ones, dtype)
    many = w.node("Max", many, w.number(1, dtype))
    if root:
        many = w.node("Sqrt", many)
    wide = w.node("Reshape", many, w.ints(-1, *[1] * (rank - 1)))
    return w.node("Div", _sums(w, data, ids, count, dtype), wide)


def _unsorted_segment_sum(w: Writer, op: Operation) -> str:
    data, ids, count = op.inputs
    if rank_of(ids) != 1:
        raise ValueError("its segments are no vector")
    many = w.node("Reshape", w.long(count), w.ints(1))
    # Rows of no segment, whose ids are less than zero, get one more, which is cut off.
    below = w.node("Less", w.long(ids), w.ints(0))
    places = w.node("Where", below, many, w.long(ids))
    one_more = w.node("Add", many, w.ints(1))
    made = _sums(w, w[data], places, one_more, op.outputs[0].dtype)
    return w.node("Slice", made, w.ints(0), many, w.ints(0))


def _sparse_segment(kind: str) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        data, index, ids = op.inputs[:3]
        rows = w.node("Gather", w[data], w[index], axis=0)
        segments = w.long(ids)
        if kind == "sum":
            return _sums(w, rows, segments, _count_of(w, segments), op.outputs[0].dtype)
        return _mean(w, op, rows, segments, root=kind == "root")

    return rule


# ---- sparse tensors ------------------------------------------------------------------------------


def _sparse_to_dense(w: Writer, op: Operation) -> str:
    index, shape, values, default = op.inputs
    whole = w.node("Expand", w[default], w.long(shape))
    places, given = w.long(index), w[values]
    if rank_of(index) == 0:
        places, given = w.node("Reshape", places, w.ints(1, 1)), w.node("Reshape", given, w.ints(1))
    elif rank_of(index) == 1:
        places = w.node("Unsqueeze", places, w.ints(-1))
    if rank_of(values) == 0:
        count = w.node("Slice", w.node("Shape", places), w.ints(0), w.ints(1))
        given = w.node("Expand", given, count)
    return w.node("ScatterND", whole, places, given)


def _strides(w: Writer, shape: str, rank: int) -> str:
    """How many elements lie between neighbours along each dim."""
    one = w.ints(1)
    parts = [one]
    for axis in range(rank - 1, 0, -1):
        size = w.node("Slice", shape, w.ints(axis), w.ints(axis + 1))
        parts.insert(0, w.node("Mul", parts[0], size))
    return w.node("Concat", *parts, axis=0) if rank > 1 else one


def _sparse_reshape(w: Writer, op: Operation) -> list[str]:
    index, old, new = (w.long(t) for t in op.inputs)
    before, after = op.inputs[1].sizes, op.inputs[2].sizes
    if before is None or after is None or None in (before[0], after[0]):
        raise ValueError("the ranks of its shapes are not known")
    total = w.node("ReduceProd", old, keepdims=1)
    given = w.node("ReduceProd", new, keepdims=1)  # with -1: less than zero
    missing = w.node("Div", total, w.node("Min", given, w.ints(-1)))
    unknown = w.node("Less", new, w.ints(0))
    shape = w.node("Where", unknown, w.node("Neg", missing), new)
    first = _strides(w, old, int(before[0] or 0))
    flat = w.node("ReduceSum", w.node("Mul", index, first), w.ints(1), keepdims=1)
    second = _strides(w, shape, int(after[0] or 0))
    places = w.node("Mod", w.node("Div", flat, second), shape)
    return [places, shape]


def _fill_empty_rows(w: Writer, op: Operation) -> list[str]:
    """Entries for rows without one, all in the order of their rows."""
    index, values, shape, default = op.inputs
    places, dims = w.long(index), w.long(shape)
    count = w.node("Slice", dims, w.ints(0), w.ints(1))
    rows = _column(w, places, 0)
    here = w.node("Expand", w.const(np.int64(1)), w.node("Shape", rows))
    spread = w.node("Unsqueeze", rows, w.ints(-1))
    many = scattered(w, count, spread, here, dtypes.int64)
    empty = w.node("Equal", many, w.const(np.int64(0)))
    added = w.node("Reshape", w.node("NonZero", empty), w.ints(-1))
    rest = w.node(
        "Expand",
        w.const(np.int64(0)),
        w.node("Concat", w.node("Shape", added), w.ints(rank_of_index(op) - 1), axis=0),
    )
    new = w.node("Concat", w.node("Unsqueeze", added, w.ints(-1)), rest, axis=1)
    filled = w.node("Expand", w[default], w.node("Shape", added))
    all_rows = w.node("Concat", rows, added, axis=0)
    # Sorted by row, and by place among those of one row: one number orders by both.
    size = w.node("Size", all_rows)
    position = w.node("Range", w.const(np.int64(0)), size, w.const(np.int64(1)))
    key = w.node("Add", w.node("Mul", all_rows, size), position)
    order = w.nodes("TopK", [key, w.node("Reshape", size, w.ints(1))], 2, largest=0, sorted=1)[1]
    both = w.node("Concat", places, new, axis=0)
    taken = w.node("Concat", w[values], filled, axis=0)
    back = w.node("ScatterElements", position, order, position, axis=0)
    reverse = w.node("Slice", back, w.ints(0), w.node("Shape", rows))
    return [
        w.node("Gather", both, order, axis=0), w.node("Gather", taken, order, axis=0), empty,
        reverse,
    ]  # fmt: skip


def rank_of_index(op: Operation) -> int:
    """How many dims the sparse tensor of a node has."""
    sizes = op.inputs[0].sizes
    if sizes is None or sizes[1] is None:
        raise ValueError("the rank of the sparse tensor is not known")
    return int(sizes[1])


def _sparse_product(w: Writer, op: Operation) -> str:
    index, values, shape, dense = op.inputs
    places, matrix = w.long(index), w[dense]
    if op.attrs["adjoint_b"]:
        matrix = w.node("Transpose", matrix, perm=[1, 0])
    own, other = (1, 0) if op.attrs["adjoint_a"] else (0, 1)
    rows = w.node("Gather", matrix, _column(w, places, other), axis=0)
    weighted = w.node("Mul", rows, w.node("Unsqueeze", w[values], w.ints(-1)))
    count = w.node("Slice", w.long(shape), w.ints(own), w.ints(own + 1))
    return _sums(w, weighted, _column(w, places, own), count, op.outputs[0].dtype)


RULES: dict[str, Rule] = {
    "SegmentSum": _segment_sum,
    "SegmentMean": _segment_mean,
    "UnsortedSegmentSum": _unsorted_segment_sum,
    "SparseSegmentSum": _sparse_segment("sum"),
    "SparseSegmentMean": _sparse_segment("mean"),
    "SparseSegmentSqrtN": _sparse_segment("root"),
    "SparseToDense": _sparse_to_dense,
    "SparseReshape": _sparse_reshape,
    "SparseFillEmptyRows": _fill_empty_rows,
    "SparseTensorDenseMatMul": _sparse_product,
}
