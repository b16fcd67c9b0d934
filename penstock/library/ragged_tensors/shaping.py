"""What else takes ragged tensors: ranks and sizes, one-hot rows, partitions, joined strings."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.scopes import name_scope
from penstock.library.ragged_tensors.mapping import stack_dynamic_partitions, unary
from penstock.library.ragged_tensors.reducing import Reduction, reduce_along
from penstock.library.ragged_tensors.tensor import convert, positive_axis
from penstock.ops.array import onehot, ranks
from penstock.ops.strings import string_reduce


def rank(input: Any, name: str | None = None) -> Any:
    """The number of dims, ragged ones too."""
    with name_scope(name, "RaggedRank"):
        rt = convert(input)
        known = rt.shape.ndims
        if known is not None:
            return constant(known, dtypes.int32)
        return ranks.rank(rt.flat_values) + rt.ragged_rank


def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Any:
    """The number of elements."""
    return ranks.size(convert(input).flat_values, name=name, out_type=out_type)


def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None,
    dtype: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """A row of ``depth`` for each element; as ``tf.one_hot`` along the last dim."""
    with name_scope(name, "RaggedOneHot"):
        rt = convert(indices)
        if isinstance(axis, int):
            count = rt.shape.ndims
            at = positive_axis(axis, None if count is None else count + 1)
            if at <= rt.ragged_rank:
                raise ValueError("axis must be greater than indices.ragged_rank.")
            axis = at - rt.ragged_rank
        return unary(onehot.one_hot, rt, depth, on_value, off_value, axis, dtype)


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    """The slices of ``data`` by their partition's number; as ``tf.dynamic_partition``."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    made = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [made[number] for number in range(num_partitions)]


def reduce_join(
    inputs: Any, axis: Any = None, keep_dims: Any = None, separator: str = "",
    name: str | None = None, reduction_indices: Any = None, keepdims: Any = None,
) -> Any:  # fmt: skip
    """Joins strings along dims; as ``tf.reduce_join``."""
    axis = reduction_indices if axis is None else axis

    def whole(values: Any, along: Any) -> Any:
        return string_reduce.reduce_join(values, axis=along, separator=separator)

    def segment(data: Any, ids: Any, count: Any) -> Any:
        return string_reduce.unsorted_segment_join(data, ids, count, separator=separator)

    with name_scope(name, "RaggedReduceJoin"):
        kind = Reduction(whole, segment)
        return reduce_along(kind, inputs, axis, bool(keepdims or keep_dims))
