"""What every column of ``tf.contrib.layers`` is: how a feature becomes a model's input.

A column transforms a feature once; what it became is kept beside the features under the column
itself (``Features``), so that columns made of others find it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.scopes import name_scope
from penstock.ops.array.join import concat
from penstock.ops.array.reshape import expand_dims, reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.slicing import strided_slice
from penstock.ops.control import check
from penstock.ops.math.reductions import reduce_prod
from penstock.ops.sparse.sparse_functions import sparse_reshape


class Lookup(NamedTuple):
    """The weights that a linear model reads of a column, an id each."""

    ids: Any
    weights: Any
    vocab_size: int
    initializer: Any
    combiner: str


class DeepLookup(NamedTuple):
    """The vectors that a network reads of a column."""

    ids: Any
    weights: Any
    vocab_size: int
    dimension: int
    initializer: Any
    combiner: str
    shared_name: str | None = None
    hash_key: int | None = None
    max_norm: float | None = None
    trainable: bool = True


class Column:
    """A column; classes of ``columns`` are tuples with these methods beside.

    Their texts are those of TensorFlow, which columns are sorted by: variables are made in that
    order.
    """

    def __repr__(self) -> str:
        names: tuple[str, ...] = getattr(self, "_fields", ())
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"_{type(self).__name__}({shown})"

    @property
    def key(self) -> str:
        """What columns are sorted by."""
        return repr(self)

    @property
    def name(self) -> str:
        """The column's scope, and the feature's key of one that has no source."""
        raise NotImplementedError

    @property
    def config(self) -> dict[str, Any]:
        """The features to be parsed, by key."""
        raise NotImplementedError

    def transform(self, features: Features) -> Any:
        """The tensor that the column makes of features."""
        raise NotImplementedError

    def linear_lookup(self, tensor: Any) -> Lookup | None:
        """What a linear model reads by id; None of a column of numbers."""
        return None

    def deep_lookup(self, tensor: Any) -> DeepLookup | None:
        """The vectors that a network reads; None of a column that is no embedding."""
        return None

    def network_input(self, tensor: Any, output_rank: int) -> Any:
        """What a network has of a column that is no embedding.

        Raises:
          ValueError: it has nothing of this one.
        """
        raise ValueError(f"{type(self).__name__} is not supported in DNN. column: {self}")

    def dense_tensor(self, tensor: Any) -> Any:
        """Numbers that a linear model multiplies with a weight each.

        Raises:
          ValueError: the column is none of numbers.
        """
        raise ValueError(f"No dense tensor representation for column {self}.")

    @property
    def checkpoint(self) -> tuple[str, str] | None:
        """Path and tensor of a checkpoint that weights begin with."""
        return None


class Features:
    """Features and what columns have made of them.

    Args:
      features: tensors by key; columns as keys are transformed already.
    """

    def __init__(self, features: Mapping[Any, Any]) -> None:
        self.tensors: dict[Any, Any] = dict(features)

    def get(self, key: Any) -> Any:
        """The tensor of a feature, or what a column makes of features; made once.

        Raises:
          KeyError: there is no such feature.
        """
        if key not in self.tensors and isinstance(key, Column):
            self.tensors[key] = key.transform(self)
        return self.tensors[key]


def of_rank(tensor: Any, name: str, rank: int) -> Any:
    """A feature with as many dims as a model takes: its last ones are one, or it gets one more.

    Raises:
      ValueError: its rank is not known, or too small.
    """
    own = tensor.get_shape().ndims
    if own is None and isinstance(tensor, SparseTensor):
        own = tensor.dense_shape.get_shape().as_list()[0]
    if own is None:
        raise ValueError(
            f"Error while processing column {name}. Rank of input Tensor can not be None."
        )
    if rank > own + 1:
        raise ValueError(
            f"Error while processing column {name}. Rank of input Tensor ({own}) should be the same"
            f" as output_rank ({rank}): sequences have 3 dims, other features 2"
        )
    if rank == own + 1:
        return _with_last_dim(tensor)
    return tensor if rank == own else inner_flattened(tensor, rank)


def _with_last_dim(tensor: Any) -> Any:
    if isinstance(tensor, SparseTensor):
        return sparse_reshape(tensor, concat([tensor.dense_shape, [1]], 0))
    made = expand_dims(tensor, -1)
    if tensor.get_shape().dims is not None:
        made.set_shape([*tensor.get_shape().as_list(), 1])
    return made


def inner_flattened(tensor: Any, rank: int) -> Any:
    """A tensor, dense or sparse, whose last dims are one, so that it has ``rank`` of them.

    Raises:
      ValueError: it has fewer.
    """
    with name_scope(None, "InnerFlatten", [tensor, rank]):
        if isinstance(tensor, SparseTensor):
            return _inner_flattened_sparse(tensor, rank)
        own = tensor.get_shape().ndims
        check.assert_rank_at_least(tensor, rank, message="inputs has rank less than new_rank")
        dims: Any = shape_of(tensor)
        kept: Any = strided_slice(dims, [0], [rank - 1])
        flat = reshape(tensor, concat([kept, [-1]], 0))
        if own is not None:
            known = tensor.get_shape().as_list()
            inner = known[rank - 1 :]
            last = None if None in inner else math.prod(inner)
            flat.set_shape([*known[: rank - 1], last])
        return flat


def _inner_flattened_sparse(tensor: SparseTensor, rank: int) -> Any:
    dims: Any = tensor.dense_shape
    outer = dims[: rank - 1]
    inner = reduce_prod(dims[rank - 1 :])
    return sparse_reshape(tensor, concat([outer, [inner]], 0))
