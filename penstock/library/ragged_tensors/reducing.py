"""``tf.reduce_sum`` and its kin, and segment sums, of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.ragged_tensors import splits as rows
from penstock.library.ragged_tensors.joining import expanded
from penstock.library.ragged_tensors.tensor import RaggedTensor, convert, positive_axis
from penstock.ops.array import cast, gather as gather_ops, reshape as reshape_ops
from penstock.ops.math import binary, elementwise, reduction, reductions, unsorted_segment

Segments = Callable[[Any, Any, Any], Any]


# ---- segments ------------------------------------------------------------------------------------


def _aggregated(function: Segments, data: Any, ids: Any, count: Any) -> Any:
    """Sums (or other aggregates) of the rows of each segment; ids are a dense vector, or ragged."""
    data, ids = convert(data), convert(ids)
    if isinstance(ids, RaggedTensor):
        if not isinstance(data, RaggedTensor):
            raise ValueError("segment_ids.shape must be a prefix of data.shape, but segment_ids is"
                             " ragged and data is not.")  # fmt: skip
        return _aggregated(function, data.values, ids.values, count)
    if not isinstance(data, RaggedTensor):
        return function(data, ids, count)
    if ids.dtype not in rows.SPLIT_TYPES:
        raise ValueError("segment_ids must have dtype int32 or int64.")
    dtype = data.row_splits.dtype
    ids = cast.cast(ids, dtype)
    count = cast.cast(convert_to_tensor(count), dtype)
    # A segment's row is as long as the longest of its rows.
    lengths = data.row_lengths()
    longest = unsorted_segment.unsorted_segment_max(lengths, ids, count)
    splits = rows.of_lengths(binary.maximum(longest, cast.cast(0, dtype)))
    first = gather_ops.gather(splits, ids)
    row = data.value_rowids()
    places = rows.gathered(first, row) + rows.columns(data.row_splits)
    return RaggedTensor(
        _aggregated(function, data.values, places, splits[-1]), splits, internal=True
    )


def segments(function: Segments, name: str) -> Callable[..., Any]:
    """The form for ragged data of an ``unsorted_segment`` function."""

    def aggregate(data: Any, segment_ids: Any, num_segments: Any, name: str | None = name) -> Any:
        with name_scope(name, "RaggedSegment", [num_segments]):
            return _aggregated(function, data, segment_ids, num_segments)

    return aggregate


# ---- reductions ----------------------------------------------------------------------------------


class Reduction:
    """How one kind of reduction treats a dense tensor, and the segments of one."""

    def __init__(self, whole: Callable[..., Any], segment: Segments) -> None:
        self.whole, self.segment = whole, segment


SUM = Reduction(reduction.reduce_sum, unsorted_segment.unsorted_segment_sum)
PROD = Reduction(reductions.reduce_prod, unsorted_segment.unsorted_segment_prod)
MIN = Reduction(reductions.reduce_min, unsorted_segment.unsorted_segment_min)
MAX = Reduction(reductions.reduce_max, unsorted_segment.unsorted_segment_max)


def reduce_along(kind: Reduction, input_tensor: Any, axis: Any, keepdims: bool) -> Any:
    """A reduction of a ragged tensor.

    Args:
      kind: which one.
      input_tensor: a RaggedTensor.
      axis: None for all, a number, or several.
      keepdims: whether reduced dims stay, with size 1.

    Raises:
      ValueError: the axis is no constant, or several are given for an unknown rank.
    """
    rt = convert(input_tensor)
    if isinstance(axis, Tensor):
        axis = static.constant_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
        axis = axis.tolist()
    if axis is None:
        made = kind.whole(rt.flat_values, None)
        for _ in range((rt.shape.ndims or 0) if keepdims else 0):
            made = reshape_ops.expand_dims(made, 0)
        return made
    several = isinstance(axis, list | tuple)
    axes = [positive_axis(a, rt.shape.ndims) for a in (axis if several else [axis])]
    made = rt
    for one in sorted(set(axes), reverse=True):
        made = _reduced(kind, made, one)
        if keepdims:
            made = _kept(made, one, rt.row_splits.dtype)
    return made


def _kept(value: Any, axis: int, dtype: dtypes.DType) -> Any:
    if isinstance(value, RaggedTensor):
        return expanded(value, axis, dtype)
    return reshape_ops.expand_dims(value, axis)


def _reduced(kind: Reduction, rt: Any, axis: int) -> Any:
    if not isinstance(rt, RaggedTensor):
        return kind.whole(rt, axis)
    if axis == 0:
        # Elements of one column belong together.
        longest = reductions.reduce_max(rt.row_lengths())
        count = binary.maximum(longest, cast.cast(0, longest.dtype))
        return _aggregated(kind.segment, rt.values, rows.columns(rt.row_splits), count)
    if axis == 1:
        made = _aggregated(kind.segment, rt.values, rt.value_rowids(), rt.nrows())
        known = dimension_value(rt.shape[0])
        if not isinstance(made, RaggedTensor) and made.shape.ndims:
            made.set_shape([known, *[None] * (made.shape.ndims - 1)])
        return made
    return rt.with_values(_reduced(kind, rt.values, axis - 1))


def reduction_of(kind: Reduction, scope: str) -> Callable[..., Any]:
    """The form for ragged tensors of a reduction."""

    def reduce(
        input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None,
        reduction_indices: Any = None, keep_dims: Any = None,
    ) -> Any:  # fmt: skip
        axis = reduction_indices if axis is None else axis
        with name_scope(name, scope, [input_tensor.flat_values]):
            return reduce_along(kind, input_tensor, axis, bool(keepdims or keep_dims))

    return reduce


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None,
    reduction_indices: Any = None, keep_dims: Any = None,
) -> Any:  # fmt: skip
    """The sum by the count; as ``tf.reduce_mean``."""
    axis = reduction_indices if axis is None else axis
    keep = bool(keepdims or keep_dims)
    with name_scope(name, "RaggedReduceMean", [input_tensor.flat_values]):
        rt = convert(input_tensor)
        total = reduce_along(SUM, rt, axis, keep)
        if not rt.dtype.is_floating:
            rt = rt.with_flat_values(cast.cast(rt.flat_values, dtypes.float32))
        ones = rt.with_flat_values(make("OnesLike", rt.flat_values))
        count = reduce_along(SUM, ones, axis, keep)
        if isinstance(total, RaggedTensor):
            if total.dtype is not count.dtype:
                whole = cast.cast(total.flat_values, dtypes.float64)
                whole = whole / cast.cast(count.flat_values, dtypes.float64)
                return total.with_flat_values(whole)
            return total.with_flat_values(total.flat_values / count.flat_values)
        if total.dtype is not count.dtype:
            return cast.cast(total, dtypes.float64) / cast.cast(count, dtypes.float64)
        return total / count


def _truth(kind: Reduction, scope: str) -> Callable[..., Any]:
    numbers = reduction_of(kind, scope)

    def reduce(
        input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None,
        reduction_indices: Any = None, keep_dims: Any = None,
    ) -> Any:  # fmt: skip
        rt = convert(input_tensor)
        counted = rt.with_flat_values(cast.cast(rt.flat_values, dtypes.int32))
        made = numbers(counted, axis, keepdims, name, reduction_indices, keep_dims)
        if isinstance(made, RaggedTensor):
            return made.with_flat_values(cast.cast(made.flat_values, dtypes.bool))
        return cast.cast(made, dtypes.bool)

    return reduce


reduce_sum = reduction_of(SUM, "RaggedReduceSum")
reduce_prod = reduction_of(PROD, "RaggedReduceProd")
reduce_min = reduction_of(MIN, "RaggedReduceMin")
reduce_max = reduction_of(MAX, "RaggedReduceMax")
reduce_any = _truth(SUM, "RaggedReduceAny")
reduce_all = _truth(PROD, "RaggedReduceAll")


segment_sum = segments(unsorted_segment.unsorted_segment_sum, "RaggedSegmentSum")
segment_prod = segments(unsorted_segment.unsorted_segment_prod, "RaggedSegmentProd")
segment_min = segments(unsorted_segment.unsorted_segment_min, "RaggedSegmentMin")
segment_max = segments(unsorted_segment.unsorted_segment_max, "RaggedSegmentMax")


def segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sums of segments by their counts."""
    with name_scope(name, "RaggedSegmentMean", [num_segments]):
        return _scaled_segments(data, segment_ids, num_segments, lambda count: count)


def segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sums of segments by the square roots of their counts."""
    with name_scope(name, "RaggedSegmentSqrtN", [num_segments]):
        return _scaled_segments(data, segment_ids, num_segments, elementwise.sqrt)


def _scaled_segments(data: Any, ids: Any, count: Any, scale: Callable[[Any], Any]) -> Any:
    data = convert(data)
    total = segment_sum(data, ids, count)
    ones = data.with_flat_values(make("OnesLike", data.flat_values))
    counts = segment_sum(ones, ids, count)
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(total.flat_values / scale(counts.flat_values))
    return total / scale(counts)
