"""Row splits: int32 or int64 vectors of which row i is from element i to element i + 1."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import cast, fill, join, ranges, shape as shape_ops, unique
from penstock.ops.control import check
from penstock.ops.math import cumulative

SPLIT_TYPES = (dtypes.int32, dtypes.int64)


def starts(splits: Tensor) -> Tensor:
    """Where each row starts, [rows]."""
    return splits[:-1]


def limits(splits: Tensor) -> Tensor:
    """Where each row ends, [rows]."""
    return splits[1:]


def lengths(splits: Tensor) -> Tensor:
    """The length of each row, [rows]."""
    return splits[1:] - splits[:-1]


def count(splits: Tensor) -> Tensor:
    """The number of rows."""
    return shape_ops.shape(splits, out_type=splits.dtype)[0] - 1


def row_ids(splits: Tensor, values: int | None = None) -> Tensor:
    """The row of each value; ``values`` is their number where it is known."""
    positions = ranges.range_(splits[-1])
    ids: Tensor = unique.searchsorted(splits, positions, side="right", out_type=splits.dtype) - 1
    ids.set_shape([values])
    return ids


def columns(splits: Tensor, values: int | None = None) -> Tensor:
    """The position of each value in its row."""
    rows = row_ids(splits, values)
    return ranges.range_(splits[-1]) - gathered(starts(splits), rows)


def of_lengths(row_lengths: Tensor) -> Tensor:
    """The splits of rows of given lengths."""
    ends = cumulative.cumsum(row_lengths)
    made = join.concat([fill.zeros([1], row_lengths.dtype), ends], 0)
    known = row_lengths.sizes
    made.set_shape([None if not known or known[0] is None else known[0] + 1])
    return made


def of_row_ids(rows: Tensor, count: Any, dtype: dtypes.DType) -> Tensor:
    """The splits of ``count`` rows, given the row of each value, in order."""
    ones = fill.ones(shape_ops.shape(rows), dtype)
    return of_lengths(make("UnsortedSegmentSum", ones, rows, count))


def uniform(rows: Any, size: Any, dtype: dtypes.DType) -> Tensor:
    """The splits of ``rows`` rows of one size."""
    one_more = cast.cast(rows, dtype) + 1
    made: Tensor = ranges.range_(one_more) * cast.cast(size, dtype)
    return made


def gathered(params: Tensor, indices: Tensor) -> Tensor:
    """Elements of a vector."""
    return make_tensor("GatherV2", params, indices, 0)


def form_one(name: str, splits: Tensor, values: Tensor) -> list[Any]:
    """Assertions that splits are those of values; ``values`` is the number of these."""
    message = f"Arguments to {name} do not form a valid RaggedTensor"
    return [
        check.assert_equal(splits[0], cast.cast(0, splits.dtype), message=message),
        check.assert_non_negative(lengths(splits), message=message),
        check.assert_equal(splits[-1], cast.cast(values, splits.dtype), message=message),
    ]
