"""Embedding lookups: rows of one matrix, or of a matrix cut into several along its first dim.

Ids are spread over ``n`` parts either by ``mod`` (id ``i`` is row ``i // n`` of part ``i % n``) or
by ``div`` (contiguous runs; the first ``size % n`` parts hold one row more).  Each part is gathered
on its own, so that it may live elsewhere, and the results are stitched together in the ids' order.
"""

from __future__ import annotations

import warnings
from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import colocate_with, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import (
    constant,
    fill,
    gather,
    join,
    ranges,
    ranks,
    reshape,
    shape as shape_ops,
)
from penstock.ops.math import clip, reduction


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor:
    """Rows of ``params`` by ``ids``.

    Args:
      params: a tensor or variable, a list of them (the parts), or a partitioned variable.
      ids: int32 or int64, of any shape.
      partition_strategy: "mod" or "div": how ids are spread over the parts.
      validate_indices: unused: ids out of range are always an error.
      max_norm: rows with a larger l2 norm are scaled down to it; None for no limit.

    Returns:
      A tensor of shape ``shape(ids) + shape(params)[1:]``.

    Raises:
      ValueError: no ``params``, or an unknown strategy.

    Example:
      >>> import penstock as tf
      >>> vectors = tf.constant([[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]])
      >>> with tf.Session() as session:
      ...     session.run(tf.nn.embedding_lookup(vectors, [2, 0])).round(1).tolist()
      [[2.0, 2.0999999046325684], [0.0, 0.10000000149011612]]
    """
    parts = as_parts(params, "embedding_lookup")
    with name_scope(name, "embedding_lookup", [*parts, ids]) as scope:
        if not any(_is_resource(part) for part in parts):
            parts = [convert_to_tensor(part, name=f"params_{i}") for i, part in enumerate(parts)]
        ids = convert_to_tensor(ids, name="ids")
        if len(parts) == 1:
            with colocate_with(parts[0]):
                rows = _clipped(_gather(parts[0], ids, scope), ids, max_norm)
            return make("Identity", rows)
        return _clipped(_from_parts(parts, ids, partition_strategy, scope), ids, max_norm)


def as_parts(params: Any, asker: str) -> list[Any]:
    """``params`` as the list of its parts."""
    if params is None or isinstance(params, list | tuple) and not params:
        raise ValueError(f"{asker}: params must be a tensor or a list of them; found {params!r}")
    listed = getattr(params, "_get_variable_list", None)
    if listed is not None:
        return list(listed())
    return list(params) if isinstance(params, list | tuple) else [params]


def _is_resource(part: Any) -> bool:
    return getattr(getattr(part, "handle", None), "dtype", None) is dtypes.resource


def _gather(part: Any, ids: Any, name: str | None = None) -> Tensor:
    return gather.gather(part, ids, name=name)


def _from_parts(parts: list[Any], ids: Tensor, strategy: str, scope: str) -> Tensor:
    flat = reshape.reshape(ids, [-1])
    positions = ranges.range_(ranks.size(flat))
    part_of, row = part_and_row(parts, flat, strategy)
    rows = make("DynamicPartition", row, part_of, num_partitions=len(parts))
    places = make("DynamicPartition", positions, part_of, num_partitions=len(parts))
    found = []
    for part, wanted in zip(parts, rows, strict=True):
        with colocate_with(part):
            found.append(_gather(part, wanted))
    stitched = make("ParallelDynamicStitch", places, found, name=scope)
    return _restored(parts, ids, stitched)


def part_and_row(parts: list[Any], flat: Tensor, strategy: str) -> tuple[Tensor, Tensor]:
    """The part of each id, of type int32, and its row there."""
    if strategy == "mod":
        part_of, row = flat % len(parts), flat // len(parts)
    elif strategy == "div":
        part_of, row = _div(parts, flat)
    else:
        raise ValueError(f"partition_strategy must be 'mod' or 'div'; found {strategy!r}")
    if part_of.dtype is not dtypes.int32:
        part_of = make("Cast", part_of, DstT=dtypes.int32)
    return part_of, row


def _div(parts: list[Any], flat: Tensor) -> tuple[Tensor, Tensor]:
    """The part of each id, and its row there."""
    sizes = [part.shape.dims[0].value if part.shape.dims else None for part in parts]
    if None not in sizes:
        total = constant.constant(sum(sizes), flat.dtype.base_dtype)
    else:
        listed = []
        for part, size in zip(parts, sizes, strict=True):
            if size is not None:
                listed.append(size)
                continue
            with colocate_with(part):
                listed.append(shape_ops.shape(part)[0])
        stacked = join.stack(listed)
        if stacked.dtype is not flat.dtype:
            stacked = make("Cast", stacked, DstT=flat.dtype.base_dtype)
        total = reduction.reduce_sum(stacked)
    each = total // len(parts)
    extras = total % len(parts)
    part_of = make("Maximum", flat // (each + 1), (flat - extras) // each)
    fewer = make("Less", part_of, extras)
    return part_of, make("Select", fewer, flat % (each + 1), (flat - extras) % each)


def _restored(parts: list[Any], ids: Tensor, stitched: Tensor) -> Tensor:
    """The stitched rows with the shape of ``ids`` in front."""
    inner = shapes.as_shape(parts[0].shape)[1:]
    for part in parts[1:]:
        inner = inner.merge_with(shapes.as_shape(part.shape)[1:])
    if inner.is_fully_defined():
        tail: Any = inner.as_list()
    else:
        with colocate_with(parts[0]):
            tail = shape_ops.shape(parts[0])[1:]
    front = shape_ops.shape(ids)
    if isinstance(tail, list) and not tail:
        tail = convert_to_tensor(tail, dtypes.int32, name="concat/values_1")
    shape = join.concat([front, tail], 0)
    rows: Tensor = reshape.reshape(stitched, shape)
    rows.set_shape(ids.shape.concatenate(inner))
    return rows


def _clipped(rows: Tensor, ids: Tensor, max_norm: float | None) -> Tensor:
    if max_norm is None:
        return rows
    outer, whole = ids.shape.ndims, rows.shape.ndims
    if outer is not None and whole is not None:
        axes: Any = list(range(outer, whole))
    else:
        axes = ranges.range_(
            ranks.rank(ids) if outer is None else outer,
            ranks.rank(rows) if whole is None else whole,
        )
    return clip.clip_by_norm(rows, max_norm, axes=axes)


_COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """For each row of ``sp_ids``, the (weighted) sum or mean of the embeddings of its ids.

    Args:
      params, partition_strategy, max_norm: as in ``embedding_lookup``.
      sp_ids: SparseTensor of ids ``[rows, most ids a row]``; no row may be empty.
      sp_weights: SparseTensor of weights at the same places, or None for weights of 1.
      combiner: "sum"; "mean", by the sum of weights; "sqrtn", by the root of the sum of their
        squares; by default "mean", with a warning, as TensorFlow announced a change to "sqrtn".

    Returns:
      A tensor of shape ``[rows] + shape(params)[1:]``; float32 where ``params`` are of half
      precision.

    Raises:
      TypeError: ``sp_ids`` or ``sp_weights`` is not a SparseTensor.
      ValueError: an unknown combiner.
    """
    if combiner is None:
        warnings.warn("embedding_lookup_sparse: combiner is not given: 'mean'", stacklevel=2)
        combiner = "mean"
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of {_COMBINERS}; found {combiner!r}")
    parts = as_parts(params, "embedding_lookup_sparse")
    for what, value in (("sp_ids", sp_ids), ("sp_weights", sp_weights)):
        if not isinstance(value, SparseTensor) and not (what == "sp_weights" and value is None):
            raise TypeError(f"{what} must be a SparseTensor; found {type(value).__name__}")
    values = [sp_ids.indices, sp_ids.values]
    if sp_weights is not None:
        for part in ("values", "indices", "dense_shape"):
            getattr(sp_ids, part).shape.assert_is_compatible_with(getattr(sp_weights, part).shape)
    with name_scope(name, "embedding_lookup_sparse", [*parts, *values]) as scope:
        segments = sp_ids.indices[:, 0]
        if segments.dtype is not dtypes.int32:
            segments = make("Cast", segments, DstT=dtypes.int32)
        ids, places = make("Unique", sp_ids.values)
        rows = embedding_lookup(parts, ids, partition_strategy, max_norm=max_norm)
        if rows.dtype.base_dtype in (dtypes.float16, dtypes.bfloat16):
            rows = make("Cast", rows, DstT=dtypes.float32)  # sums of many rows need the room
        if sp_weights is None:
            op_type = {"sum": "Sum", "mean": "Mean", "sqrtn": "SqrtN"}[combiner]
            return make(f"SparseSegment{op_type}", rows, places, segments, name=scope)
        return _weighted(_gather(rows, places), sp_weights.values, segments, combiner, scope)


def _weighted(rows: Tensor, weights: Tensor, segments: Tensor, combiner: str, scope: str) -> Tensor:
    if weights.dtype is not rows.dtype:
        weights = make("Cast", weights, DstT=rows.dtype)
    # Weights get as many trailing dims of size 1 as the rows have dims of their own.
    ones = fill.fill(reshape.expand_dims(ranks.rank(rows) - 1, 0), 1)
    static = weights.shape.concatenate([1] * (rows.shape.ndims - 1)) if rows.shape.ndims else None
    weights = reshape.reshape(weights, join.concat([shape_ops.shape(weights), ones], 0))
    if static is not None:
        weights.set_shape(static)
    weighted = rows * weights
    if combiner == "sum":
        return make("SegmentSum", weighted, segments, name=scope)
    total = make("SegmentSum", weighted, segments)
    if combiner == "mean":
        by = make("SegmentSum", weights, segments)
    else:
        by = make("Sqrt", make("SegmentSum", make("Pow", weights, 2), segments))
    return make("RealDiv", total, by, name=scope)
