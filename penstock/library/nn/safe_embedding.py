"""Sparse embedding lookups that cope with ids below 0, weights of 0 and rows without any id."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import gather, join, ranks, reshape, shape as shape_ops
from penstock.ops.array.cast import cast
from penstock.ops.array.slicing import slice_
from penstock.ops.array.tile import tile
from penstock.ops.math import comparison, elementwise, reductions, select
from penstock.ops.nn import embedding
from penstock.ops.sparse.sparse_compose import sparse_retain
from penstock.ops.sparse.sparse_functions import sparse_fill_empty_rows, sparse_reshape


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: Any = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """``embedding_lookup_sparse`` for any ids: bad ones are dropped, empty rows are filled.

    Args:
      embedding_weights: a tensor, variable, partitioned variable, or a list of parts.
      sparse_ids: SparseTensor of ids ``[d0, ..., dn]``; the last dim is combined.
      sparse_weights: SparseTensor of weights at the same places, or None.
      combiner: "mean", "sqrtn" or "sum".
      default_id: id for rows without a valid one; None gives zeros there.
      partition_strategy: "div" or "mod", over several parts.
      max_norm: rows with a larger l2 norm are scaled down to it.

    Returns:
      A tensor ``[d0, ..., dn-1, size of an embedding]``.

    Raises:
      ValueError: no ``embedding_weights``.
    """
    parts = embedding.as_parts(embedding_weights, "safe_embedding_lookup_sparse")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    parts = [_kept_or_tensor(part, dtype) for part in parts]
    with name_scope(name, "embedding_lookup", parts) as scope:
        shape = sparse_ids.dense_shape
        known = shape.sizes[0] if shape.sizes is not None else None
        rank: Any = ranks.size(shape) if known is None else known
        lead = reductions.reduce_prod(slice_(shape, [0], [rank - 1]))
        ids = sparse_reshape(sparse_ids, [lead, gather.gather(shape, rank - 1)])
        weights = sparse_weights
        if weights is not None:
            weights = SparseTensor(ids.indices, weights.values, ids.dense_shape)
        ids, weights = _valid(ids, weights, combiner)
        ids, empty = sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(weights, 1.0)
        result: Any = embedding.embedding_lookup_sparse(
            parts, ids, weights, partition_strategy, None if default_id is None else scope,
            combiner, max_norm,
        )  # fmt: skip
        if default_id is None:
            empty = reshape.reshape(empty, [-1, 1])
            columns: Any = shape_ops.shape(result)
            empty = tile(empty, join.stack([1, columns[1]]))
            result = select.where(empty, elementwise.zeros_like(result), result, name=scope)
        outer = slice_(cast(shape, dtypes.int32), [0], [rank - 1])
        inner = slice_(shape_ops.shape(result), [1], [-1])
        final = reshape.reshape(result, join.concat([outer, inner], 0))
        if known is not None:
            outer_dims = shapes.TensorShape([None] * (known - 1))
            final.set_shape(outer_dims.concatenate(result.shape[1:]))
    return final


def _kept_or_tensor(part: Any, dtype: Any) -> Any:
    handle = getattr(part, "handle", None)
    if getattr(handle, "dtype", None) is dtypes.resource and dtype in (None, part.dtype):
        return part
    return convert_to_tensor(part, dtype)


def _valid(ids: Any, weights: Any, combiner: str) -> tuple[Any, Any]:
    """Without ids below 0 and, unless they are summed, without weights that are not positive."""
    good: Any = comparison.greater_equal(ids.values, 0)
    if weights is not None:
        true = elementwise.ones_like(weights.values, dtype=dtypes.bool)
        good = comparison.logical_and(good, true)
    ids = sparse_retain(ids, good)
    if weights is None:
        return ids, None
    weights = sparse_retain(weights, good)
    if combiner != "sum":
        positive = comparison.greater(weights.values, 0)
        ids, weights = sparse_retain(ids, positive), sparse_retain(weights, positive)
    return ids, weights
