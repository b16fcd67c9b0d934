"""Vectors of categories whose parts are weights found by hash, so that no vocabulary is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.shapes import as_shape
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.variables.partition import PartitionedVariable
from penstock.ops.array.cast import cast
from penstock.ops.array.join import concat
from penstock.ops.array.ranges import range_
from penstock.ops.array.reshape import expand_dims, reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.tile import tile
from penstock.ops.array.unique import unique
from penstock.ops.nn.embedding import embedding_lookup
from penstock.ops.sparse.sparse import sparse_tensor_to_dense
from penstock.ops.sparse.sparse_feature_cross import sparse_feature_cross
from penstock.ops.sparse.sparse_functions import sparse_fill_empty_rows

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE

_NO_VALUE = "6ZxWzWOHxZ"  # TensorFlow's word for a row without values: its hash counts
_COMBINERS = {
    "mean": "SparseSegmentMean",
    "sqrtn": "SparseSegmentSqrtN",
    "sum": "SparseSegmentSum",
}


def scattered_embedding_lookup(
    params: Any, values: Any, dimension: int, name: str | None = None, hash_key: int | None = None
) -> Any:
    """A vector for each value, its parts weights that are found by hash.

    Args:
      params: vector of weights, or a list of its parts: [10] in four is [3], [3], [2], [2].
      values: tensor of categories, of any shape.
      dimension: size of the vectors.
      name: name scope.
      hash_key: where hashing starts; None takes the older hash.

    Returns:
      A tensor, ``values``' shape with ``dimension`` after it.

    Raises:
      ValueError: no params, parts of other sizes, or a dimension that is not positive.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     weights = tf.get_variable("w", [100])
      ...     tf.contrib.slim.scattered_embedding_lookup(weights, tf.constant(["a"]), 3).shape
      TensorShape([Dimension(1), Dimension(3)])

    Source: Weinberger et al., "Feature Hashing for Large Scale Multitask Learning"; Chen et al.,
    "Compressing Neural Networks with the Hashing Trick".
    """
    if isinstance(params, PartitionedVariable):
        params = list(params)
    if not isinstance(params, list):
        params = [params]
    with name_scope(name, "scattered_embedding_lookup", [*params, dimension, values]):
        if dimension <= 0:
            raise ValueError(f"Dimension must be >0. Given is {dimension}")
        return _looked_up(params, convert_to_tensor(values), dimension, hash_key)


def _looked_up(params: Sequence[Any], values: Any, dimension: int, hash_key: int | None) -> Any:
    dims = shape_of(values)
    # Each value beside the number of each part of its vector.
    column = reshape(values, [-1, 1])
    parts = tile(expand_dims(range_(0, dimension), 0), shape_of(column))
    size = _total(params)
    crossed = sparse_feature_cross(
        [cast(parts, dtypes.int64), column], hashed_output=True, num_buckets=size,
        hash_key=hash_key,
    )  # fmt: skip
    ids: Any = sparse_tensor_to_dense(crossed)
    ids.set_shape(parts.shape)
    found = embedding_lookup(list(params), ids, partition_strategy="div")
    return reshape(found, concat([dims, [dimension]], 0))


def _total(params: Sequence[Any]) -> int:
    """How many weights there are; they must lie in the parts as evenly as they can."""
    sizes = []
    for part in params:
        shape = as_shape(part.shape)
        shape.assert_has_rank(1)
        shape.assert_is_fully_defined()
        sizes.append(int(shape[0]))
    total = sum(sizes)
    for place, size in enumerate(sizes):
        wanted = total // len(sizes) + (place < total % len(sizes))
        if size != wanted:
            raise ValueError(f"Tensor {place} in params has size {size}, expected {wanted}.")
    return total


def scattered_embedding_lookup_sparse(
    params: Any, sparse_values: Any, dimension: int, combiner: str | None = None,
    default_value: Any = None, name: str | None = None, hash_key: int | None = None,
) -> Any:  # fmt: skip
    """One vector a row of sparse values: ``scattered_embedding_lookup``'s, combined.

    Args:
      params, dimension, hash_key: those of ``scattered_embedding_lookup``.
      sparse_values: SparseTensor [rows, values].
      combiner: "mean", "sqrtn" or "sum"; default "mean".
      default_value: the value of a row that has none.
      name: name scope.

    Returns:
      [rows, dimension].

    Raises:
      TypeError: values that are not sparse.
      ValueError: another combiner.
    """
    if isinstance(params, PartitionedVariable):
        params = list(params)
    if not isinstance(params, list):
        params = [params]
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError(f"sparse_values must be SparseTensor; found {type(sparse_values).__name__}")
    with name_scope(
        name, "scattered_embedding_lookup_sparse", [*params, sparse_values.values]
    ) as scope:
        default = _NO_VALUE if default_value is None else default_value
        filled, _ = sparse_fill_empty_rows(sparse_values, default)
        segments = filled.indices[:, 0]
        if segments.dtype != dtypes.int32:
            segments = cast(segments, dtypes.int32)
        kept, places = unique(filled.values)
        vectors = scattered_embedding_lookup(params, kept, dimension, hash_key=hash_key)
        if combiner is None:
            combiner = "mean"
        if combiner not in _COMBINERS:
            raise ValueError(
                f"Combiner must be one of 'mean', 'sqrtn' or 'sum'; found {combiner!r}"
            )
        return make(_COMBINERS[combiner], vectors, places, segments, name=scope)
