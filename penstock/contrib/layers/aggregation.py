"""Embeddings of bags of ids, summed where the parts of the matrix are.

What ``tf.nn.embedding_lookup_sparse`` gives, but that a bag without ids has the mean 0 / 0; only
the sums of a part's rows leave its device, and not the rows.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import colocate_with, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import fill, join, ranks, reshape, shape as shape_ops
from penstock.ops.array.cast import cast
from penstock.ops.array.gather import gather
from penstock.ops.math import clip, reductions
from penstock.ops.math.unsorted_segment import unsorted_segment_sum
from penstock.ops.nn import embedding


def embedding_lookup_sparse_with_distributed_aggregation(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """Sums or means of the rows of a matrix whose ids each row of ``sp_ids`` has.

    Args:
      params: a matrix, or a list of its parts.
      sp_ids: SparseTensor [batch, any] of ids.
      sp_weights: SparseTensor with the weight of each id; None for 1.
      partition_strategy: "mod" or "div": how ids are spread over the parts.
      name: of the scope.
      combiner: "sum", "mean" (default) or "sqrtn".
      max_norm: rows with a larger l2 norm are scaled down to it; None for no limit.

    Returns:
      A tensor [batch, ...]; NaN for a mean of no ids.

    Raises:
      TypeError: ``sp_ids`` or ``sp_weights`` is no SparseTensor.
      ValueError: no ``params``, or an unknown combiner or strategy.

    Example:
      >>> import penstock as tf
      >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 1], [2, 2])
      >>> rows = tf.contrib.slim.embedding_lookup_sparse_with_distributed_aggregation(
      ...     [tf.constant([[1.0], [2.0]]), tf.constant([[4.0]])], ids, None, combiner="sum"
      ... )
      >>> tf.Session().run(rows).tolist()
      [[3.0], [4.0]]
    """
    combiner = combiner or "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    parts = embedding.as_parts(params, "embedding_lookup_sparse")
    for given, what in ((sp_ids, "sp_ids"), (sp_weights, "sp_weights")):
        if not isinstance(given, SparseTensor) and (given is not None or what == "sp_ids"):
            raise TypeError(f"{what} must be SparseTensor")
    with name_scope(name, "embedding_lookup_sparse", [*parts, sp_ids]):
        segments = cast(sp_ids.indices[:, 0], dtypes.int32)
        weights = None if sp_weights is None else sp_weights.values
        sums = _sums(parts, sp_ids.values, weights, segments, partition_strategy, max_norm)
        if combiner == "sum":
            return sums
        if weights is None:
            weights = fill.ones(shape_ops.shape(segments), sums.dtype)
        weights = cast(weights, sums.dtype)
        if combiner == "sqrtn":
            counted = make("Sqrt", make("SegmentSum", weights * weights, segments))
        else:
            counted = make("SegmentSum", weights, segments)
        mean: Tensor = make("RealDiv", sums, _spread(counted, sums), name="div")
        return mean


def _spread(weights: Tensor, rows: Tensor) -> Tensor:
    """Weights with as many trailing dims of size 1 as rows have dims of their own."""
    ones = fill.fill(reshape.expand_dims(ranks.rank(rows) - 1, 0), 1)
    spread = reshape.reshape(weights, join.concat([shape_ops.shape(weights), ones], 0))
    if rows.shape.ndims is not None:
        spread.set_shape(weights.shape.concatenate([1] * (rows.shape.ndims - 1)))
    return spread


def _sums(
    parts: list[Any], ids: Tensor, weights: Tensor | None, segments: Tensor, strategy: str,
    max_norm: float | None,
) -> Tensor:  # fmt: skip
    count = reductions.reduce_max(segments) + 1
    with name_scope(None, "embedding_lookup_with_distributed_aggregation"):
        number = len(parts)
        if number == 1:
            return _sum_of_part(parts[0], ids, weights, segments, count, max_norm)
        part_of, row = embedding.part_and_row(parts, ids, strategy)
        rows = make("DynamicPartition", row, part_of, num_partitions=number)
        places = make("DynamicPartition", segments, part_of, num_partitions=number)
        shares: list[Any] = [None] * number
        if weights is not None:
            shares = make("DynamicPartition", weights, part_of, num_partitions=number)
        found = [
            _sum_of_part(part, wanted, share, place, count, max_norm)
            for part, wanted, share, place in zip(parts, rows, shares, places, strict=True)
        ]
        total: Tensor = make("AddN", found)
        return total


def _sum_of_part(
    part: Any, ids: Any, weights: Any, segments: Any, count: Any, max_norm: float | None
) -> Tensor:
    with colocate_with(part):
        rows = gather(convert_to_tensor(part), ids)
        if max_norm is not None:
            axes = list(range(1, rows.shape.ndims or 1))
            rows = clip.clip_by_norm(rows, max_norm, axes=axes)
        if weights is not None:
            rows = rows * _spread(cast(weights, rows.dtype), rows)
        sums: Tensor = unsorted_segment_sum(rows, segments, count)
        return sums
