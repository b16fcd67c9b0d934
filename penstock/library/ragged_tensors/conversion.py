"""From tensors and sparse tensors to ragged ones and back.

What makes ragged tensors takes their class, which calls these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.ragged_tensors import splits as rows
from penstock.ops.array import (
    cast,
    fill,
    gather as gather_ops,
    join,
    onehot,
    ranges,
    reshape as reshape_ops,
    shape as shape_ops,
    slicing,
)
from penstock.ops.control import check, control
from penstock.ops.math import binary, comparison, reductions, select

_EMPTY = {dtypes.string: "", dtypes.bool: False}


def nested_in(cls: Any, flat_values: Any, nested_row_splits: Sequence[Any]) -> Any:
    """The values under ragged dims, with splits that are right."""
    made = flat_values
    for splits in reversed(list(nested_row_splits)):
        made = cls(made, splits, internal=True)
    return made


def to_tensor(rt: Any, default_value: Any, name: str | None) -> Tensor:
    """Pads every row to the longest; see ``RaggedTensor.to_tensor``."""
    with name_scope(name, "RaggedToTensor", [rt.flat_values, default_value]):
        if default_value is not None:
            default_value = convert_to_tensor(default_value, rt.dtype, name="default_value")
        return _padded(rt, default_value)


def _padded(rt: Any, default: Any) -> Tensor:
    values: Any = rt.values
    if isinstance(values, type(rt)):
        values = _padded(values, default)
    splits = rt.row_splits
    # One element more, at the end, is what fills rows up.
    filler = _filler(values, default)
    with_filler = join.concat([values, reshape_ops.expand_dims(filler, 0)], 0)
    longest = binary.maximum(
        reductions.reduce_max(rows.lengths(splits)), cast.cast(0, splits.dtype)
    )
    columns = ranges.range_(longest)
    places = reshape_ops.expand_dims(rows.starts(splits), 1) + reshape_ops.expand_dims(columns, 0)
    inside = places < reshape_ops.expand_dims(rows.limits(splits), 1)
    outside = fill.fill(shape_ops.shape(places), shape_ops.shape(values, out_type=splits.dtype)[0])
    made: Tensor = gather_ops.gather(with_filler, select.where(inside, places, outside))
    size = dimension_value(rt.shape[0])
    made.set_shape([size, None, *[None] * (made.shape.ndims - 2 if made.shape.ndims else 0)])
    return made


def _filler(values: Tensor, default: Any) -> Tensor:
    inner = shape_ops.shape(values)[1:]
    if default is None:
        default = convert_to_tensor(_EMPTY.get(values.dtype, 0), values.dtype)
    if default.sizes is not None and default.sizes == ():
        made: Tensor = fill.fill(inner, default)
        return made
    made = make("BroadcastTo", default, inner)
    return made


def to_sparse(rt: Any, name: str | None) -> SparseTensor:
    """The same elements by their positions."""
    with name_scope(name, "RaggedToSparse", [rt.flat_values]):
        parts = make("RaggedTensorToSparse", list(rt.nested_row_splits), rt.flat_values)
        return SparseTensor(*parts)


def from_sparse(cls: Any, st_input: Any, name: str | None, splits_dtype: dtypes.DType) -> Any:
    """The rows of a 2-D sparse tensor; see ``RaggedTensor.from_sparse``."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
    with name_scope(name, "RaggedFromSparse", [st_input.indices, st_input.values]):
        rank = st_input.dense_shape.shape.with_rank(1)[0].value
        if rank is None:
            rank = st_input.indices.shape.with_rank(2)[1].value
        if rank not in (None, 2):
            raise ValueError(f"rank(st_input) must be 2; found {rank}")
        indices = st_input.indices
        columns = cast.cast(indices[:, 1], splits_dtype)
        ids = cast.cast(indices[:, 0], splits_dtype)
        count = cast.cast(st_input.dense_shape[0], splits_dtype)
        made = cls.from_value_rowids(st_input.values, ids, count, validate=False)
        message = "SparseTensor is not right-ragged"
        right = check.assert_equal(columns, rows.columns(made.row_splits), message=message)
        with control_dependencies([right] if right is not None else []):
            return made.with_values(control.identity(st_input.values))


def from_tensor(
    cls: Any,
    tensor: Any,
    lengths: Any,
    padding: Any,
    ragged_rank: int,
    name: str | None,
    splits_dtype: dtypes.DType,
) -> Any:
    """Rows of a tensor; see ``RaggedTensor.from_tensor``."""
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with name_scope(name, "RaggedFromTensor", [tensor, padding]):
        tensor = convert_to_tensor(tensor, name="tensor")
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        nested = (
            isinstance(lengths, list | tuple)
            and len(lengths) > 0
            and not isinstance(lengths[0], int | float)
        )
        if nested:
            return _of_nested_lengths(cls, tensor, lengths, ragged_rank, splits_dtype)
        if ragged_rank > 1:
            return _of_more_dims(cls, tensor, lengths, padding, ragged_rank, splits_dtype)
        size = shape_ops.shape(tensor, out_type=splits_dtype)
        if padding is not None:
            lengths = _lengths_before(tensor, padding, size)
        if lengths is not None:
            return _cut(cls, tensor, lengths, size, splits_dtype)
        return _whole(cls, tensor, size, splits_dtype)


def _of_nested_lengths(
    cls: Any, tensor: Tensor, lengths: Any, ragged_rank: int, splits_dtype: dtypes.DType
) -> Any:
    if ragged_rank not in (1, len(lengths)):
        raise ValueError(
            f"If lengths is a tuple of row_lengths, then ragged_rank must be len(lengths),"
            f" {len(lengths)}; found {ragged_rank}"
        )
    made = from_tensor(cls, tensor, lengths[0], None, 1, None, splits_dtype)
    if len(lengths) == 1:
        return made
    inner = from_tensor(
        cls, made.values, list(lengths[1:]), None, len(lengths) - 1, None, splits_dtype
    )
    return made.with_values(inner)


def _of_more_dims(
    cls: Any,
    tensor: Tensor,
    lengths: Any,
    padding: Any,
    ragged_rank: int,
    splits_dtype: dtypes.DType,
) -> Any:
    size = shape_ops.shape(tensor, out_type=splits_dtype)
    flat = reshape_ops.reshape(tensor, join.concat([[-1], size[ragged_rank:]], 0))
    if tensor.sizes is not None:
        flat.set_shape([None, *tensor.sizes[ragged_rank:]])
    made: Any = from_tensor(cls, flat, lengths, padding, 1, None, splits_dtype)
    count: Any = size[0]
    nested = []
    for axis in range(1, ragged_rank):
        nested.append(rows.uniform(count, size[axis], splits_dtype))
        count = count * size[axis]
    return nested_in(cls, made, nested)


def _lengths_before(tensor: Tensor, padding: Any, size: Tensor) -> Tensor:
    """The lengths of rows without the padding that they end with."""
    padding = convert_to_tensor(padding, tensor.dtype, name="padding")
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    pads = comparison.equal(tensor, padding)
    if tensor.shape.ndims is not None and tensor.shape.ndims > 2:
        pads = reductions.reduce_all(pads, axis=list(range(2, tensor.shape.ndims)))
    ends = ranges.range_(1, size[1] + 1)
    kept = cast.cast(elementwise_not(pads), size.dtype) * reshape_ops.expand_dims(ends, 0)
    made: Tensor = binary.maximum(reductions.reduce_max(kept, axis=1), cast.cast(0, size.dtype))
    return made


def elementwise_not(x: Tensor) -> Tensor:
    """Logical not."""
    return make_tensor("LogicalNot", x)


def _cut(cls: Any, tensor: Tensor, lengths: Any, size: Tensor, splits_dtype: dtypes.DType) -> Any:
    lengths = cast.cast(convert_to_tensor(lengths, name="lengths"), splits_dtype)
    lengths.shape.assert_has_rank(1)
    lengths = binary.minimum(lengths, size[1])
    lengths = binary.maximum(lengths, cast.cast(0, splits_dtype))
    inside = onehot.sequence_mask(lengths, size[1])
    kept = slicing.boolean_mask(tensor, inside)
    return cls.from_row_lengths(kept, lengths, validate=False)


def _whole(cls: Any, tensor: Tensor, size: Tensor, splits_dtype: dtypes.DType) -> Any:
    flat = reshape_ops.reshape(tensor, join.concat([[-1], size[2:]], 0))
    dims = tensor.sizes
    if dims is not None:
        outer = None if None in dims[:2] else dims[0] * dims[1]  # type: ignore[operator]
        flat.set_shape([outer, *dims[2:]])
    splits = rows.uniform(size[0], size[1], splits_dtype)
    if dims is not None and dims[0] is not None:
        splits.set_shape([dims[0] + 1])
    return cls(flat, splits, internal=True)
