"""``rt[...]``: Python's indices and slices of ragged tensors."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.ragged_tensors.gathering import gather, rows_from
from penstock.library.ragged_tensors.tensor import RaggedTensor
from penstock.ops.array import cast, fill, join, ranges, reshape as reshape_ops
from penstock.ops.math import binary, comparison, select


def getitem(rt: RaggedTensor, key: Any) -> Any:
    """What ``rt[key]`` is.

    Args:
      rt: the ragged tensor.
      key: an index, slice, ``...`` or ``tf.newaxis``, or a tuple of those.  The rows of a ragged
        dim take slices but no index, since some row may not have it.

    Raises:
      ValueError: an index into an inner ragged dim, or too many keys.
    """
    with name_scope(None, "RaggedGetItem", [rt.flat_values]):
        keys = list(key) if isinstance(key, tuple) else [key]
        return _of(rt, _without_ellipsis(rt, keys))


def _without_ellipsis(rt: RaggedTensor, keys: list[Any]) -> list[Any]:
    places = [i for i, key in enumerate(keys) if key is Ellipsis]
    if not places:
        return keys
    if len(places) > 1:
        raise ValueError("Multiple ellipses not allowed.")
    rank = rt.shape.ndims
    if rank is None:
        raise ValueError("Rank must be known for RaggedTensor slicing with an ellipsis.")
    taken = sum(1 for key in keys if key is not Ellipsis and key is not None)
    at = places[0]
    return [*keys[:at], *[slice(None)] * max(rank - taken, 0), *keys[at + 1 :]]


def _of(rt: Any, keys: list[Any]) -> Any:
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[tuple(keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _of(rt, rest)
        if not isinstance(inner, RaggedTensor):
            return reshape_ops.expand_dims(inner, 0)
        splits = join.stack([cast.cast(0, inner.row_splits.dtype), inner.nrows()])
        return RaggedTensor(inner, splits, internal=True)
    if isinstance(key, slice):
        return _of_rows(_sliced_rows(rt, key), rest)
    start, limit = rt.row_starts()[key], rt.row_limits()[key]
    return _of(_between(rt.values, start, limit), rest)


def _between(values: Any, start: Any, limit: Any) -> Any:
    return (
        _sliced_rows(values, slice(start, limit))
        if isinstance(values, RaggedTensor)
        else values[start:limit]
    )


def _is_all(key: slice) -> bool:
    return key.start is None and key.stop is None and key.step is None


def _sliced_rows(rt: RaggedTensor, key: slice) -> RaggedTensor:
    if _is_all(key):
        return rt
    starts, limits = rt.row_starts()[key], rt.row_limits()[key]
    if key.step is None or (isinstance(key.step, int) and key.step == 1):
        # The rows lie one after another: what they hold is one slice.
        splits = _splits_between(starts, limits)
        offset = splits[0]
        return RaggedTensor(_between(rt.values, offset, splits[-1]), splits - offset, internal=True)
    return rows_from(rt.values, starts, limits)


def _splits_between(starts: Tensor, limits: Tensor) -> Tensor:
    """The splits of rows that lie one after another; of no rows, a zero."""
    zero = fill.zeros([1], starts.dtype)
    first = join.concat([starts[:1], zero], 0)[:1]
    return join.concat([first, limits], 0)


def _of_rows(rt: RaggedTensor, keys: list[Any]) -> Any:
    """Applies keys to each row."""
    if not keys:
        return rt
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _of_rows(rt, rest)
        splits = ranges.range_(rt.nrows() + 1)
        return RaggedTensor(inner, splits, internal=True)
    if not isinstance(key, slice):
        if rt.ragged_rank >= 1:
            raise ValueError("Cannot index into an inner ragged dimension.")
    if not _is_all(key):
        rt = _sliced_columns(rt, key)
    if not rest:
        return rt
    values = rt.values
    inner = (
        _of_rows(values, rest) if isinstance(values, RaggedTensor) else values[(slice(None), *rest)]
    )
    return rt.with_values(inner)


def _sliced_columns(rt: RaggedTensor, key: slice) -> RaggedTensor:
    """A slice of each row, with the bounds that Python gives a slice of a list."""
    dtype = rt.row_splits.dtype
    step = convert_to_tensor(1 if key.step is None else key.step, dtype)
    lengths = rt.row_lengths()
    starts = rt.row_starts()
    backward = comparison.less(step, cast.cast(0, dtype))
    zero, one = cast.cast(0, dtype), cast.cast(1, dtype)

    def bound(given: Any, forward_default: Tensor, backward_default: Tensor) -> Tensor:
        if given is None:
            return _chosen(backward, backward_default, forward_default)
        given = cast.cast(convert_to_tensor(given), dtype)
        counted = select.where_v2(given < zero, lengths + given, given + fill_like(lengths))
        low = _chosen(backward, fill_like(lengths) - one, fill_like(lengths))
        high = _chosen(backward, lengths - one, lengths)
        made: Tensor = binary.minimum(binary.maximum(counted, low), high)
        return made

    first = bound(key.start, fill_like(lengths), lengths - one)
    last = bound(key.stop, lengths, fill_like(lengths) - one)
    made = make("RaggedRange", starts + first, starts + last, step, Tsplits=dtype)
    return RaggedTensor(gather(rt.values, made[1]), made[0], internal=True)


def fill_like(vector: Tensor) -> Tensor:
    """Zeros of its shape."""
    return make_tensor("ZerosLike", vector)


def _chosen(condition: Tensor, one: Tensor, other: Tensor) -> Tensor:
    return select.where_v2(condition, one, other)
