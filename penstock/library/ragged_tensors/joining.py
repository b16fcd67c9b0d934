"""``tf.concat``, ``stack``, ``tile``, ``expand_dims`` and ``squeeze`` of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.ragged_tensors import splits as rows
from penstock.library.ragged_tensors.gathering import gather, rows_from
from penstock.library.ragged_tensors.tensor import (
    RaggedTensor,
    convert,
    match_splits,
    positive_axis,
)
from penstock.ops.array import (
    cast,
    fill,
    join,
    onehot,
    ranges,
    reshape as reshape_ops,
    squeeze as squeezing,
    tile as tiling,
    transpose,
)
from penstock.ops.control import check, control


def concat(values: Any, axis: int, name: str | None = None) -> Any:
    """Joins ragged tensors along a dim, as ``tf.concat``."""
    values = _listed(values)
    with name_scope(name, "RaggedConcat", [_flat(v) for v in values]):
        return _together(values, axis, stacked=False)


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Stacks tensors and ragged tensors of one rank; their rows may differ in length.

    Args:
      values: a list of tensors or ragged tensors of the same rank and type.
      axis: the new dim.

    Returns:
      A ragged tensor of one dim more.

    >>> with tf.Session() as session:
    ...     session.run(tf.ragged.stack([[1, 2], [3]])).to_list()
    [[1, 2], [3]]
    """
    values = _listed(values)
    with name_scope(name, "RaggedConcat", [_flat(v) for v in values]):
        return _together(values, axis, stacked=True)


def _listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, list | tuple) else [values]


def _together(values: list[Any], axis: int, stacked: bool) -> Any:
    if not values:
        raise ValueError("values may not be empty")
    values = match_splits(*[convert(v) for v in values])
    if len(values) == 1 and not stacked:
        return values[0]
    rank = next((v.shape.ndims for v in values if v.shape.ndims is not None), None)
    for value in values:
        if None not in (rank, value.shape.ndims) and value.shape.ndims != rank:
            raise ValueError(
                f"Shapes must be equal rank, but are {rank} and {value.shape.ndims}: {value}"
            )
    limit = None if rank is None else rank + int(stacked)
    if axis < 0 and limit is None:
        raise ValueError("axis may only be negative if ndims is statically known.")
    axis = positive_axis(axis, limit)
    if rank is None:
        raise ValueError("the rank of values must be known")
    return _joined(values, axis, rank, stacked)


def _joined(values: list[Any], axis: int, rank: int, stacked: bool) -> Any:
    dtype = next((v.row_splits.dtype for v in values if isinstance(v, RaggedTensor)), dtypes.int64)
    if not any(isinstance(v, RaggedTensor) for v in values):
        if not stacked:
            return join.concat(values, axis)
        if rank > 1:
            values = [_deepened(v, rank - 1, dtype) for v in values]
        elif rank <= axis or len({v.sizes for v in values}) == 1:
            return join.stack(values, axis)
    if stacked:
        values = [expanded(v, axis, dtype) for v in values]
    if axis == 0:
        return _end_to_end(values, dtype)
    if axis == 1:
        return _side_by_side(values, dtype)
    values = _as_ragged(values, 1, dtype)
    inner = _joined([v.values for v in values], axis - 1, rank, False)
    checks = [
        check.assert_equal(v.row_splits, values[0].row_splits, message="Inputs must have identical"
                           " ragged splits")
        for v in values[1:]
    ]  # fmt: skip
    with control_dependencies([c for c in checks if c is not None]):
        splits = control.identity(values[0].row_splits)
    return RaggedTensor(inner, splits, internal=True)


def _as_ragged(values: Sequence[Any], at_least: int, dtype: dtypes.DType) -> list[Any]:
    """All with as many ragged dims as the one that has most."""
    most = max([at_least, *(v.ragged_rank for v in values if isinstance(v, RaggedTensor))])
    return [_deepened(v, most, dtype) for v in values]


def _deepened(value: Any, ragged_rank: int, dtype: dtypes.DType) -> Any:
    if not isinstance(value, RaggedTensor):
        return RaggedTensor.from_tensor(value, ragged_rank=ragged_rank, row_splits_dtype=dtype)
    if value.ragged_rank < ragged_rank:
        return value.with_values(_deepened(value.values, ragged_rank - 1, dtype))
    return value


def _end_to_end(values: list[Any], dtype: dtypes.DType) -> Any:
    if not any(isinstance(v, RaggedTensor) for v in values):
        return join.concat(values, 0)
    values = _as_ragged(values, 1, dtype)
    inner = _end_to_end([v.values for v in values], dtype)
    parts, offset = [values[0].row_splits], values[0].row_splits[-1]
    for value in values[1:]:
        parts.append(value.row_splits[1:] + offset)
        offset = offset + value.row_splits[-1]
    splits = join.concat(parts, 0)
    sizes = [dimension_value(v.shape[0]) for v in values]
    if None not in sizes:
        splits.set_shape([sum(sizes) + 1])
    return RaggedTensor(inner, splits, internal=True)


def _side_by_side(values: list[Any], dtype: dtypes.DType) -> Any:
    """Row i of each, one after another, is row i of the result."""
    values = _as_ragged(values, 1, dtype)
    counts = [v.nrows() for v in values]
    message = "Input tensors have incompatible shapes."
    checks = [check.assert_equal(c, counts[0], message=message) for c in counts[1:]]
    everything = _end_to_end(values, dtype)
    number = len(values)
    by_row = transpose.transpose(
        reshape_ops.reshape(ranges.range_(counts[0] * number), join.stack([number, -1]))
    )
    with control_dependencies([c for c in checks if c is not None]):
        order = reshape_ops.reshape(by_row, [-1])
    shuffled = gather(everything, order)
    splits = shuffled.row_splits[::number]
    known = dimension_value(values[0].shape[0])
    splits.set_shape([None if known is None else known + 1])
    return RaggedTensor(shuffled.values, splits, internal=True)


def expanded(value: Any, axis: int, dtype: dtypes.DType) -> Any:
    """A new dim of size 1 at ``axis``, which is not negative."""
    if not isinstance(value, RaggedTensor):
        if axis == 0 and value.shape.ndims and value.shape.ndims > 0:
            made = RaggedTensor.from_tensor(
                reshape_ops.expand_dims(value, 0), row_splits_dtype=dtype
            )
            return made
        return reshape_ops.expand_dims(value, axis)
    if axis == 0:
        splits = join.stack([cast.cast(0, value.row_splits.dtype), value.nrows()])
        return RaggedTensor(value, splits, internal=True)
    if axis == 1:
        return RaggedTensor(value, ranges.range_(value.nrows() + 1), internal=True)
    inner = value.values
    if isinstance(inner, RaggedTensor):
        return value.with_values(expanded(inner, axis - 1, dtype))
    return value.with_values(reshape_ops.expand_dims(inner, axis - 1))


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """A new dim of size 1, as ``tf.expand_dims``."""
    axis = dim if axis is None else axis
    with name_scope(name, "RaggedExpandDims", [_flat(input)]):
        rt = convert(input)
        rank = rt.shape.ndims
        at = positive_axis(axis, None if rank is None else rank + 1)
        return expanded(rt, at, rt.row_splits.dtype)


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """Drops dims of size 1, as ``tf.squeeze``; of a ragged dim, where each row has one element."""
    axis = squeeze_dims if axis is None else axis
    with name_scope(name, "RaggedSqueeze", [_flat(input)]):
        rt = convert(input)
        if axis is None:
            raise ValueError("Ragged.squeeze must have an axis argument.")
        axes = [axis] if isinstance(axis, int) else list(axis)
        rank = rt.shape.ndims
        return _squeezed(rt, sorted({positive_axis(a, rank) for a in axes}))


def _squeezed(rt: Any, axes: list[int]) -> Any:
    if not axes:
        return rt
    if not isinstance(rt, RaggedTensor):
        return squeezing.squeeze(rt, axes)
    below = [a - 1 for a in axes if a > 1]
    result: Any = rt.with_values(_squeezed(rt.values, below)) if below else rt
    one = cast.cast(1, rt.row_splits.dtype)
    if 1 in axes:
        checked = check.assert_equal(
            rt.row_lengths(), one, message="the given axis (axis = 1) is not squeezable!"
        )
        result = _after(checked, result.values)
    if 0 in axes:
        checked = check.assert_equal(
            rt.nrows(), one, message="the given axis (axis = 0) is not squeezable!"
        )
        result = _after(checked, result[0] if 1 in axes else result.values)
    return result


def _after(checked: Any, value: Any) -> Any:
    if checked is None:
        return value
    with control_dependencies([checked]):
        if isinstance(value, RaggedTensor):
            return value.with_flat_values(control.identity(value.flat_values))
        return control.identity(value)


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Repeats a ragged tensor along each dim, as ``tf.tile``."""
    with name_scope(name, "RaggedTile", [_flat(input), multiples]):
        rt = convert(input)
        multiples = convert_to_tensor(multiples, name="multiples")
        if multiples.dtype not in rows.SPLIT_TYPES:
            multiples = convert_to_tensor(multiples, rt.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        multiples = cast.cast(multiples, rt.row_splits.dtype)
        return _tiled(rt, multiples)


def _tiled(rt: Any, multiples: Tensor) -> Any:
    if not isinstance(rt, RaggedTensor):
        return tiling.tile(rt, multiples)
    # What is inside rows first; then each row, then all rows.
    one = fill.ones([1], multiples.dtype)
    inner = _tiled(rt.values, join.concat([one, multiples[2:]], 0))
    made = rt.with_values(inner)
    wide = onehot.repeat(ranges.range_(made.nrows()), multiples[1], axis=0)
    starts = rows.gathered(made.row_starts(), wide)
    limits = rows.gathered(made.row_limits(), wide)
    splits = made.row_splits * multiples[1]
    made = RaggedTensor(rows_from(inner, starts, limits).values, splits, internal=True)
    order = tiling.tile(ranges.range_(made.nrows()), multiples[:1])
    return gather(made, order)


def _flat(value: Any) -> Any:
    return value.flat_values if isinstance(value, RaggedTensor) else value
