"""Picking rows and elements: ``tf.gather``, ``batch_gather``, ``gather_nd``, ``boolean_mask``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.ragged_tensors import splits as rows
from penstock.library.ragged_tensors.tensor import RaggedTensor, convert, match_splits
from penstock.ops.array import (
    cast,
    gather as gather_ops,
    join,
    reshape as reshape_ops,
    shape as shape_ops,
    slicing,
    squeeze,
)
from penstock.ops.math import cumulative


def rows_from(values: Any, starts: Tensor, limits: Tensor) -> RaggedTensor:
    """The rows of ``values`` from each of ``starts`` to each of ``limits``."""
    one = cast.cast(1, starts.dtype)
    made = make("RaggedRange", starts, limits, one, Tsplits=starts.dtype)
    known = starts.sizes
    made[0].set_shape([None if not known or known[0] is None else known[0] + 1])
    return RaggedTensor(gather(values, made[1]), made[0], internal=True)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = 0,
    batch_dims: int = 0,
) -> Any:
    """Rows of ``params``, where it or ``indices`` is ragged; as ``tf.gather``."""
    with name_scope(name, "RaggedGather", [_flat(params), _flat(indices)]):
        params, indices = match_splits(convert(params), convert(indices))
        if batch_dims:
            if batch_dims == 1:
                return batch_gather(params, indices)
            raise ValueError(f"gather of ragged tensors takes batch_dims 0 or 1; got {batch_dims}")
        if axis not in (None, 0) and isinstance(params, RaggedTensor):
            raise ValueError("axis != 0 is not supported yet for ragged tensors")
        return _gathered(params, indices)


def _gathered(params: Any, indices: Any) -> Any:
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gathered(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return gather_ops.gather(params, indices)
    rank = indices.shape.ndims
    if rank is None:
        raise ValueError("indices.shape.ndims must be known statically")
    if rank == 0:
        return params[indices]
    if rank > 1:
        ragged = RaggedTensor.from_tensor(
            indices, ragged_rank=rank - 1, row_splits_dtype=params.row_splits.dtype
        )
        return _gathered(params, ragged)
    starts = gather_ops.gather(params.row_starts(), indices)
    return rows_from(params.values, starts, gather_ops.gather(params.row_limits(), indices))


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """Elements of each row of ``params``, by the indices of the same row; as ``batch_gather``."""
    with name_scope(name, "RaggedBatchGather", [_flat(params), _flat(indices)]):
        params, indices = match_splits(convert(params), convert(indices))
        dtype = next(v.row_splits.dtype for v in (params, indices) if isinstance(v, RaggedTensor))
        if not isinstance(indices, RaggedTensor):
            if indices.shape.ndims is None:
                raise ValueError("batch_gather does not allow indices with unknown shape.")
            if indices.shape.ndims == 0:
                raise ValueError("indices.rank must be at least 1.")
            if indices.shape.ndims == 1:  # without a batch
                return _gathered(params, indices)
            if indices.shape.ndims == 2:
                places = cast.cast(indices, dtype) + _beside(params.row_starts(), indices)
                return _gathered(params.values, places)
            indices = RaggedTensor.from_tensor(
                indices, ragged_rank=indices.shape.ndims - 1, row_splits_dtype=dtype
            )
        if not isinstance(params, RaggedTensor):
            params = RaggedTensor.from_tensor(params, row_splits_dtype=dtype)
        if indices.ragged_rank > 1:
            return params.with_values(batch_gather(params.values, indices.values))
        starts = rows.gathered(params.row_starts(), indices.value_rowids())
        places = cast.cast(indices.values, dtype) + _beside(starts, indices.values)
        return indices.with_values(_gathered(params.values, places))


def _beside(vector: Tensor, values: Tensor) -> Tensor:
    """A vector that is broadcast over what its elements are rows of."""
    rank = values.shape.ndims or 1
    for _ in range(rank - 1):
        vector = reshape_ops.expand_dims(vector, -1)
    return vector


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    """Elements or slices by vectors of indices; as ``tf.gather_nd``."""
    if batch_dims:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    with name_scope(name, "RaggedGatherNd", [_flat(params), _flat(indices)]):
        params, indices = match_splits(convert(params), convert(indices))
        depth = dimension_value(indices.shape[-1]) if indices.shape.ndims else None
        if indices.shape.ndims is None:
            raise ValueError("indices.rank be statically known.")
        if indices.shape.ndims == 0:
            raise ValueError("indices.rank must be at least 1.")
        if isinstance(indices, RaggedTensor) and indices.ragged_rank >= indices.shape.ndims - 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        if depth is None:
            raise ValueError("The last dim of indices must be statically known: indices.shape[-1]")
        if depth == 0:
            raise ValueError("gather_nd of ragged tensors needs at least one index an element")
        return _of_vectors(params, indices)


def _of_vectors(params: Any, indices: Any) -> Any:
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_of_vectors(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return gather_ops.gather_nd(params, indices)
    rank, depth = indices.shape.ndims, dimension_value(indices.shape[-1])
    if rank == 1:
        found = params
        for column in range(depth):
            found = found[indices[column]]
        return found
    if rank > 2 and depth > params.ragged_rank:
        flat = _of_vectors(params, reshape_ops.reshape(indices, [-1, depth]))
        dims = join.concat([shape_ops.shape(indices)[:-1], shape_ops.shape(flat)[1:]], 0)
        return reshape_ops.reshape(flat, dims)
    if rank > 2:
        ragged = RaggedTensor.from_tensor(
            indices, ragged_rank=rank - 2, row_splits_dtype=params.row_splits.dtype
        )
        return _of_vectors(params, ragged)
    indices = cast.cast(indices, params.row_splits.dtype)
    place: Any = indices[:, 0]
    inner: Any = params
    for column in range(1, depth):
        if not isinstance(inner, RaggedTensor):
            return gather_ops.gather_nd(
                inner, join.concat([reshape_ops.expand_dims(place, 1), indices[:, column:]], 1)
            )
        place = gather_ops.gather(inner.row_starts(), place) + indices[:, column]
        inner = inner.values
    return _gathered(inner, place)


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements where a mask is true, in rows as before.

    Args:
      data: tensor or ragged tensor.
      mask: bool tensor or ragged tensor whose shape is the first dims of that of ``data``.

    Returns:
      A ragged tensor; where the mask is a vector, what is left of the rows of ``data``.

    Raises:
      ValueError: the mask is a scalar, or of unknown rank.

    >>> data = tf.ragged.constant([[1, 2], [3], [4, 5]])
    >>> mask = tf.ragged.constant([[True, False], [False], [True, True]])
    >>> with tf.Session() as session:
    ...     session.run(tf.ragged.boolean_mask(data, mask)).to_list()
    [[1], [], [4, 5]]
    """
    with name_scope(name, "RaggedMask", [_flat(data), _flat(mask)]):
        data = convert(data)
        mask = convert(mask, dtypes.bool)
        splits_dtype = dtypes.int64
        match_splits(data, mask)
        for value in (data, mask):
            if isinstance(value, RaggedTensor):
                splits_dtype = value.row_splits.dtype
        if mask.shape.ndims is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if mask.shape.ndims == 0:
            raise ValueError("mask cannot be scalar.")
        return _masked(data, mask, splits_dtype)


def _masked(data: Any, mask: Any, splits_dtype: dtypes.DType) -> Any:
    if isinstance(mask, RaggedTensor) and not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(
            data, ragged_rank=mask.ragged_rank, row_splits_dtype=splits_dtype
        )
    if not isinstance(mask, RaggedTensor) and mask.shape.ndims > 1:
        mask = RaggedTensor.from_tensor(
            mask, ragged_rank=mask.shape.ndims - 1, row_splits_dtype=splits_dtype
        )
        if not isinstance(data, RaggedTensor):
            data = RaggedTensor.from_tensor(
                data, ragged_rank=mask.ragged_rank, row_splits_dtype=splits_dtype
            )
    if isinstance(mask, RaggedTensor):
        inner = _masked(data.values, mask.values, splits_dtype)
        if mask.ragged_rank > 1 or isinstance(mask.values, RaggedTensor):
            return RaggedTensor(inner, data.row_splits, internal=True)
        kept = cast.cast(mask.values, splits_dtype)
        before = join.concat([cast.cast([0], splits_dtype), cumulative.cumsum(kept)], 0)
        return RaggedTensor(inner, rows.gathered(before, mask.row_splits), internal=True)
    if not isinstance(data, RaggedTensor):
        return slicing.boolean_mask(data, mask)
    places = squeeze.squeeze(make("Where", mask), [1])
    return _gathered(data, cast.cast(places, splits_dtype))


def _flat(value: Any) -> Any:
    return value.flat_values if isinstance(value, RaggedTensor) else value
