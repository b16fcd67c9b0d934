"""Functions of each element: ``map_flat_values``, and what operators and ``tf.math`` do.

Two operands of different forms are broadcast: ragged dims must agree, and a dense operand's dims
may be 1 or as long as every row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.ragged_tensors import splits as rows
from penstock.library.ragged_tensors.gathering import gather
from penstock.library.ragged_tensors.joining import concat
from penstock.library.ragged_tensors.tensor import RaggedTensor, convert, is_ragged, match_splits
from penstock.ops.array import (
    cast,
    fill,
    gather as gather_ops,
    join,
    ranges,
    ranks,
    reshape as reshape_ops,
    shape as shape_ops,
    sorting,
)
from penstock.ops.control import check, control
from penstock.ops.math import comparison, select

_DIFFER = "All ragged inputs must have the same ragged splits"


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Applies a function to the flat values of ragged tensors.

    Args:
      op: takes and returns tensors; its result has as many rows as the flat values.
      *args, **kwargs: what it is given; ragged tensors among them, also in lists, stand for their
        flat values and must have the same row splits.

    Returns:
      A ragged tensor with those row splits; what ``op`` returns where nothing is ragged.

    Raises:
      ValueError: the ragged ranks differ.

    >>> rt = tf.ragged.constant([[1, 2], [], [3]])
    >>> with tf.Session() as session:
    ...     session.run(tf.ragged.map_flat_values(tf.one_hot, rt, 4)).shape
    (3, None, 4)
    """
    found: list[RaggedTensor] = []

    def flat(value: Any) -> Any:
        if is_ragged(value):
            value = convert(value)
            found.append(value)
            return value.flat_values
        if isinstance(value, list | tuple):
            return type(value)([flat(item) for item in value])
        return value

    plain = [flat(arg) for arg in args]
    named = {key: flat(arg) for key, arg in kwargs.items()}
    if not found:
        return op(*plain, **named)
    match_splits(*found)
    ranks = {rt.ragged_rank for rt in found}
    if len(ranks) > 1:
        raise ValueError("All ragged inputs must have the same ragged_rank.")
    with control_dependencies(same_splits([rt.nested_row_splits for rt in found])):
        made = op(*plain, **named)
        if len(found) > 1:
            made = control.identity(made)
    return found[0].with_flat_values(made)


def same_splits(nested: Sequence[tuple[Tensor, ...]]) -> list[Any]:
    """Assertions that ragged tensors have the same rows; none for those that share them."""
    first = nested[0]
    checks = []
    for other in nested[1:]:
        for one, two in zip(first, other, strict=True):
            if one is not two:
                checks.append(check.assert_equal(one, two, message=_DIFFER))
    return [one for one in checks if one is not None]


def coordinates(rt: RaggedTensor) -> list[Tensor]:
    """The index of each flat value along each dim down to the last ragged one."""
    splits = rt.row_splits
    size = dimension_value(rt.values.shape[0])
    columns = rows.columns(splits, size)
    found = [rt.value_rowids(), columns]
    inner = rt.values
    while isinstance(inner, RaggedTensor):
        ids = inner.value_rowids()
        found = [gather_ops.gather(one, ids) for one in found]
        found.append(rows.columns(inner.row_splits))
        inner = inner.values
    return found


# ---- functions of one and of two operands --------------------------------------------------------


def unary(function: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of each element of a ragged tensor."""
    rt = convert(x)
    return rt.with_flat_values(function(rt.flat_values, *args, **kwargs))


def binary(function: Callable[..., Any], x: Any, y: Any, **kwargs: Any) -> Any:
    """A function of the elements of two operands, of which one at least is ragged."""
    kind = x.dtype if is_ragged(x) or isinstance(x, Tensor) else None
    if kind is None:
        kind = y.dtype if is_ragged(y) or isinstance(y, Tensor) else None
    x, y = (_operand(v, kind) for v in (x, y))
    x, y = match_splits(x, y)
    if isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor):
        return _of_two(function, x, y, **kwargs)
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(function(*_spread(x, y), **kwargs))
    flat, other = _spread(y, x)
    return y.with_flat_values(function(other, flat, **kwargs))


def _operand(value: Any, kind: Any) -> Any:
    if isinstance(value, RaggedTensor | Tensor):
        return value
    if is_ragged(value):
        return convert(value)
    return convert_to_tensor(value, None if kind is None else dtypes.as_dtype(kind).base_dtype)


def _of_two(function: Callable[..., Any], x: RaggedTensor, y: RaggedTensor, **kwargs: Any) -> Any:
    if x.ragged_rank != y.ragged_rank:
        return _of_different_ranks(function, x, y, **kwargs)
    checks = same_splits([x.nested_row_splits, y.nested_row_splits])
    with control_dependencies(checks):
        made = function(x.flat_values, y.flat_values, **kwargs)
        return x.with_flat_values(control.identity(made) if checks else made)


def _of_different_ranks(
    function: Callable[..., Any], x: RaggedTensor, y: RaggedTensor, **kwargs: Any
) -> Any:
    """One operand has more ragged dims: the other's inner dims are its rows of one length."""
    most = max(x.ragged_rank, y.ragged_rank)
    deep = x if x.ragged_rank == most else y
    if x.shape.ndims != y.shape.ndims:
        raise ValueError(
            f"ragged operands must be of one rank; found the shapes {x.shape} and {y.shape}"
        )
    shallow = y if deep is x else x
    spread = _spread_ragged(deep, shallow)
    pair = (deep.flat_values, spread) if deep is x else (spread, deep.flat_values)
    return deep.with_flat_values(function(*pair, **kwargs))


def _spread_ragged(deep: RaggedTensor, shallow: RaggedTensor) -> Tensor:
    places = coordinates(deep)
    rank = shallow.ragged_rank
    checks = same_splits([deep.nested_row_splits[:rank], shallow.nested_row_splits])
    inner: Any = shallow
    at: Any = places[0]
    for level in range(rank):
        at = gather_ops.gather(inner.row_starts(), at) + places[level + 1]
        inner = inner.values
    with control_dependencies(checks):
        return _picked(inner, [at, *places[rank + 1 :]])


def _spread(rt: RaggedTensor, dense: Tensor) -> tuple[Tensor, Tensor]:
    """Flat values, and for each of them the elements of a dense operand that belong to it."""
    rank, outer = rt.shape.ndims, rt.ragged_rank + 1
    if dense.shape.ndims == 0:
        return rt.flat_values, dense
    if dense.shape.ndims is None or rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    if dense.shape.ndims > rank:
        raise ValueError(
            f"a dense operand of rank {dense.shape.ndims} is not broadcast with a ragged one of"
            f" rank {rank}"
        )
    inner = rank - outer
    if dense.shape.ndims <= inner:
        return rt.flat_values, dense
    for _ in range(rank - dense.shape.ndims):
        dense = reshape_ops.expand_dims(dense, 0)
    sizes = shape_ops.shape(dense, out_type=rt.row_splits.dtype)
    lengths = [rt.nrows(), *(rows.lengths(s) for s in rt.nested_row_splits)]
    checks = []
    one = cast.cast(1, sizes.dtype)
    for axis, length in enumerate(lengths):
        if dense.sizes is not None and dense.sizes[axis] == 1:
            continue
        fits = comparison.logical_or(
            comparison.equal(sizes[axis], one), comparison.equal(length, sizes[axis])
        )
        checks.append(make("All", fits, ranges.range_(make("Rank", fits))))
    places = coordinates(rt)
    asserted = [
        check.assert_equal(fits, True, message="Unable to broadcast: dimension size mismatch in"
                           f" dimension {axis}")
        for axis, fits in enumerate(checks)
    ]  # fmt: skip
    with control_dependencies([c for c in asserted if c is not None]):
        return rt.flat_values, _picked(dense, places)


def _picked(dense: Any, places: Sequence[Any]) -> Tensor:
    """Elements at places, one of them a dim; where a dim is 1, its only element."""
    sizes = shape_ops.shape(dense, out_type=places[0].dtype)
    one = cast.cast(1, sizes.dtype)
    columns = []
    for axis, place in enumerate(places):
        known = dense.sizes[axis] if dense.sizes is not None else None
        if known == 1:
            place = make("ZerosLike", place)
        elif known is None:
            place = place * cast.cast(comparison.not_equal(sizes[axis], one), place.dtype)
        columns.append(place)
    return gather_ops.gather_nd(dense, join.stack(columns, axis=1))


def each_of_list(function: Callable[..., Any], inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of a list of operands of the same rows (``add_n``, ``strings.join``)."""
    return map_flat_values(function, list(inputs), *args, **kwargs)


# ---- ranges, choices, partitions -----------------------------------------------------------------


def range_(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:
    """A row of numbers for each of several ranges, as ``tf.range`` makes one.

    Args:
      starts: vector or scalar of first numbers; limits where ``limits`` is not given.
      limits: vector or scalar of the ends, which are left out.
      deltas: vector or scalar of steps.
      dtype: type of the numbers.
      row_splits_dtype: int32 or int64.

    >>> with tf.Session() as session:
    ...     session.run(tf.ragged.range([2, 0, 5], [5, 0, 7])).to_list()
    [[2, 3, 4], [], [5, 6]]
    """
    splits_dtype = dtypes.as_dtype(row_splits_dtype)
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]):
        parts = [
            convert_to_tensor(value, dtype, name=what)
            for value, what in ((starts, "starts"), (limits, "limits"), (deltas, "deltas"))
        ]
        if dtype is None:
            kinds = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)
            if not all(part.dtype in kinds for part in parts):
                raise ValueError(f"ranges are of {', '.join(k.name for k in kinds)}")
            widest = max((part.dtype for part in parts), key=kinds.index)
            parts = [cast.cast(part, widest) for part in parts]
        made = make("RaggedRange", *parts, Tsplits=splits_dtype)
        return RaggedTensor(made[1], made[0], internal=True)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Places that are true, or a choice between two; as ``tf.where``."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope(name, "RaggedWhere"):
        condition = convert(condition)
        if x is None:
            return _places(condition)
        x, y = convert(x), convert(y)
        condition, x, y = match_splits(condition, x, y)
        if isinstance(condition, RaggedTensor):
            if not (isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor)):
                raise ValueError("Input shapes do not match.")
            return map_flat_values(select.where, condition, x, y)
        if condition.shape.ndims is None:
            raise ValueError("Input shapes do not match: the rank of the condition is unknown")
        if condition.shape.ndims == 0:
            # One condition for all rows.
            return _chosen_rows(reshape_ops.expand_dims(condition, 0), x, y, whole=True)
        return _chosen_rows(condition, x, y, whole=False)


def _places(condition: Any) -> Tensor:
    if not isinstance(condition, RaggedTensor):
        return make_tensor("Where", condition)
    inner = make("Where", condition.flat_values)
    at = inner[:, 0]
    outer = [cast.cast(gather_ops.gather(c, at), dtypes.int64) for c in coordinates(condition)]
    return join.concat([join.stack(outer, axis=1), inner[:, 1:]], 1)


def _chosen_rows(condition: Tensor, x: Any, y: Any, whole: bool) -> Any:
    rt = next(v for v in (x, y) if isinstance(v, RaggedTensor))
    dtype = rt.row_splits.dtype
    both = concat([x, y], 0)
    count = _count(x, dtype)
    if whole:
        condition = make("BroadcastTo", condition, reshape_ops.reshape(_count(rt, dtype), [1]))
    here = ranges.range_(cast.cast(ranks.size(condition), dtype))
    return gather(both, select.where(condition, here, here + count))


def _count(value: Any, dtype: dtypes.DType) -> Tensor:
    if isinstance(value, RaggedTensor):
        return value.nrows(dtype)
    return shape_ops.shape(value, out_type=dtype)[0]


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> RaggedTensor:
    """The slices of ``data`` in rows by their partition's number.

    Args:
      data: tensor or ragged tensor [n, ...].
      partitions: int tensor or ragged tensor whose shape is the first dims of that of ``data``.
      num_partitions: the number of rows.

    >>> with tf.Session() as session:
    ...     session.run(tf.ragged.stack_dynamic_partitions(
    ...         ["a", "b", "c"], [2, 0, 2], 3)).to_list()
    [[b'b'], [], [b'a', b'c']]
    """
    with name_scope(name, "SegmentStack", [num_partitions]):
        data, partitions = convert(data), convert(partitions)
        match_splits(data, partitions)
        if isinstance(partitions, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                data = RaggedTensor.from_tensor(
                    data, ragged_rank=1, row_splits_dtype=partitions.row_splits.dtype
                )
            with control_dependencies(
                same_splits([data.nested_row_splits[:1], partitions.nested_row_splits[:1]])
            ):
                values = data.values
                if not isinstance(values, RaggedTensor):
                    values = control.identity(values)
            return stack_dynamic_partitions(values, partitions.values, num_partitions)
        if partitions.shape.ndims is None:
            raise ValueError("partitions must have known rank")
        if partitions.shape.ndims > 1:
            rank = partitions.shape.ndims
            if isinstance(data, RaggedTensor):
                raise ValueError("data is ragged, and partitions of its inner dims are not")
            inner = shape_ops.shape(data)[rank:]
            data = reshape_ops.reshape(data, join.concat([[-1], inner], 0))
            partitions = reshape_ops.reshape(partitions, [-1])
        order = sorting.argsort(partitions, stable=True)
        numbers = gather_ops.gather(partitions, order)
        if numbers.dtype not in rows.SPLIT_TYPES:
            numbers = cast.cast(numbers, dtypes.int64)
        if isinstance(data, RaggedTensor):
            numbers = cast.cast(numbers, data.row_splits.dtype)
        made: RaggedTensor = RaggedTensor.from_value_rowids(
            gather(data, order), numbers, num_partitions
        )
        return made


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """The row of each value, given row splits.

    >>> with tf.Session() as session:
    ...     session.run(tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5])).tolist()
    [0, 0, 0, 2, 2]
    """
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = convert_to_tensor(splits, preferred_dtype=dtypes.int64, name="splits")
        if splits.dtype not in rows.SPLIT_TYPES:
            raise ValueError("splits must have dtype int32 or int64")
        splits.shape.assert_has_rank(1)
        if splits.sizes and splits.sizes[0] == 0:
            raise ValueError("Invalid row_splits: []")
        made: Tensor = cast.cast(rows.row_ids(splits), out_type or splits.dtype)
        return made


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Row splits, given the row of each value.

    >>> with tf.Session() as session:
    ...     session.run(tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2])).tolist()
    [0, 3, 3, 5]
    """
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        ids = convert_to_tensor(segment_ids, name="segment_ids")
        dtype = dtypes.as_dtype(out_type) if out_type is not None else dtypes.int64
        if ids.dtype not in rows.SPLIT_TYPES:
            raise ValueError("segment_ids must have dtype int32 or int64")
        ids.shape.assert_has_rank(1)
        if num_segments is None:
            last = join.concat([fill.zeros([1], ids.dtype), ids + 1], 0)
            num_segments = make("Max", last, 0)
        return rows.of_row_ids(ids, num_segments, dtype)
