"""Columns made of columns of categories: one-hot, embedded, and crossed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from penstock.contrib.layers.columns.column import (
    Column,
    DeepLookup,
    Features,
    Lookup,
    inner_flattened,
)
from penstock.contrib.layers.columns.dense import BucketizedColumn
from penstock.contrib.layers.columns.sparse import SparseColumn, WeightedSparseColumn
from penstock.foundation.graph.composite import SparseTensor
from penstock.library.variables.initializers import (
    truncated_normal_initializer,
    zeros_initializer,
)
from penstock.ops.array.onehot import one_hot
from penstock.ops.math.reduction import reduce_sum
from penstock.ops.sparse.sparse import sparse_tensor_to_dense
from penstock.ops.sparse.sparse_compose import sparse_merge
from penstock.ops.sparse.sparse_feature_cross import sparse_feature_cross


class _OneHot(NamedTuple):
    sparse_id_column: Any


class OneHotColumn(Column, _OneHot):
    """How often an example has each category; made by ``one_hot_column``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The source's with its ending."""
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def length(self) -> int:
        """How many categories there are."""
        size: int = self.sparse_id_column.length
        return size

    @property
    def config(self) -> dict[str, Any]:
        """The source's."""
        features: dict[str, Any] = self.sparse_id_column.config
        return features

    def transform(self, features: Features) -> Any:
        """The source's ids."""
        return features.get(self.sparse_id_column)

    def network_input(self, tensor: Any, output_rank: int) -> Any:
        """Counts, or sums of weights."""
        ids, weights = self.sparse_id_column.id_tensor(tensor), None
        weights = self.sparse_id_column.weight_tensor(tensor)
        if weights is not None:
            merged: Any = sparse_merge(ids, weights, vocab_size=self.length)
            return sparse_tensor_to_dense(merged)
        ids = inner_flattened(ids, output_rank)
        dense: Any = sparse_tensor_to_dense(ids, default_value=-1)
        dense.set_shape([*([None] * (output_rank - 1)), None])
        hot = one_hot(dense, depth=self.length, on_value=1.0, off_value=0.0)
        return reduce_sum(hot, axis=[output_rank - 1])


class _Embedded(NamedTuple):
    sparse_id_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    shared_embedding_name: str | None
    shared_vocab_size: int | None
    max_norm: float | None
    trainable: bool


class EmbeddingColumn(Column, _Embedded):
    """A vector a category; made by ``embedding_column``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The source's with its ending."""
        ending = "_embedding" if self.shared_embedding_name is None else "_shared_embedding"
        return f"{self.sparse_id_column.name}{ending}"

    @property
    def length(self) -> int:
        """How many categories there are."""
        own: int = self.sparse_id_column.length
        return own if self.shared_vocab_size is None else self.shared_vocab_size

    @property
    def key(self) -> str:
        """What columns are sorted by: without the initializer, whose text is another each time."""
        shown = ", ".join(
            f"{name}={getattr(self, name)}" for name in self._fields if name != "initializer"
        )
        return f"_EmbeddingColumn({shown})"

    @property
    def config(self) -> dict[str, Any]:
        """The source's."""
        features: dict[str, Any] = self.sparse_id_column.config
        return features

    @property
    def checkpoint(self) -> tuple[str, str] | None:
        """What was given."""
        if self.ckpt_to_load_from is None or self.tensor_name_in_ckpt is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def transform(self, features: Features) -> Any:
        """The source's ids."""
        return features.get(self.sparse_id_column)

    def deep_lookup(self, tensor: Any) -> DeepLookup:
        """A vector an id."""
        source = self.sparse_id_column
        return DeepLookup(
            source.id_tensor(tensor), source.weight_tensor(tensor), self.length, self.dimension,
            self.initializer, self.combiner, self.shared_embedding_name, None, self.max_norm,
            self.trainable,
        )  # fmt: skip

    def linear_lookup(self, tensor: Any) -> Lookup:
        """Refused.

        Raises:
          ValueError: always.
        """
        raise ValueError(
            f"Column {self} is not supported in linear models. Please use sparse_column."
        )


class _Crossed(NamedTuple):
    columns: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None
    combiner: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None


class CrossedColumn(Column, _Crossed):
    """Combinations of categories; made by ``crossed_column``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The sources' names."""
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def length(self) -> int:
        """How many hashes there are."""
        return self.hash_bucket_size

    @property
    def config(self) -> dict[str, Any]:
        """The sources'."""
        return {key: spec for column in self.columns for key, spec in column.config.items()}

    @property
    def checkpoint(self) -> tuple[str, str] | None:
        """What was given."""
        if self.ckpt_to_load_from is None or self.tensor_name_in_ckpt is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def id_tensor(self, tensor: Any) -> Any:
        """The hashes."""
        return tensor

    def weight_tensor(self, tensor: Any) -> None:
        """None: combinations have no weights."""

    def _leaves(self) -> Iterator[Any]:
        for column in self.columns:
            if isinstance(column, CrossedColumn):
                yield from column._leaves()
            else:
                yield column

    def transform(self, features: Features) -> SparseTensor:
        """The hashes of combinations."""
        crossed = []
        for column in self._leaves():
            if isinstance(column, BucketizedColumn):
                crossed.append(column.to_sparse_tensor(features.get(column)))
            else:
                crossed.append(features.get(column.name))
        return sparse_feature_cross(
            crossed, hashed_output=True, num_buckets=self.hash_bucket_size,
            hash_key=self.hash_key, name="cross",
        )  # fmt: skip

    def linear_lookup(self, tensor: Any) -> Lookup:
        """A weight a hash."""
        return Lookup(tensor, None, self.length, zeros_initializer(), self.combiner)

    def network_input(self, tensor: Any, output_rank: int) -> Any:
        """Refused.

        Raises:
          ValueError: always.
        """
        raise ValueError(
            f"CrossedColumn is not supported in DNN. Please use embedding_column. column: {self}"
        )


# ---- public functions ----------------------------------------------------------------------------


def one_hot_column(sparse_id_column: Any) -> OneHotColumn:
    """A column of how often an example has each category.

    Args:
      sparse_id_column: a column of categories.
    """
    return OneHotColumn(sparse_id_column)


def _check_embedding(
    name: str, initializer: Any, ckpt_to_load_from: Any, tensor_name_in_ckpt: Any
) -> None:
    if initializer is not None and not callable(initializer):
        raise ValueError(
            f"initializer must be callable if specified. Embedding of column_name: {name}"
        )
    _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)


def _check_checkpoint(ckpt_to_load_from: Any, tensor_name_in_ckpt: Any) -> None:
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """A column of vectors, one a category.

    Args:
      sparse_id_column: a column of categories, weighted or not.
      dimension: size of the vectors.
      combiner: "mean", "sqrtn" or "sum": how the vectors of several categories are combined.
      initializer: of the vectors; default a truncated normal, narrower the more categories.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint's tensor that they begin with.
      max_norm: longer vectors are cut.
      trainable: whether they are trained.

    Raises:
      ValueError: ``initializer`` cannot be called, or half a checkpoint is named.

    Example:
      >>> import penstock as tf
      >>> L = tf.contrib.layers
      >>> word = L.embedding_column(L.sparse_column_with_hash_bucket("word", 10), 3)
      >>> with tf.Graph().as_default():
      ...     L.input_from_feature_columns({"word": tf.constant([["a"], ["b"]])}, [word]).shape[1]
      Dimension(3)
    """
    _check_embedding(sparse_id_column.name, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    if initializer is None:
        stddev = 1 / math.sqrt(sparse_id_column.length)
        initializer = truncated_normal_initializer(mean=0.0, stddev=stddev)
    return EmbeddingColumn(
        sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from,
        tensor_name_in_ckpt, None, None, max_norm, trainable,
    )  # fmt: skip


def shared_embedding_columns(
    sparse_id_columns: Any,
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[EmbeddingColumn]:
    """Columns of vectors that read the same ones.

    Args:
      sparse_id_columns: columns of the same categories.
      shared_embedding_name: of the variable; default made of the columns' names.
      dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
        trainable: as of ``embedding_column``.

    Raises:
      TypeError: ``sparse_id_columns`` is no sequence, or has other columns.
      ValueError: it is empty, or the categories differ.
    """
    if not isinstance(sparse_id_columns, list | tuple):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type"
            f" {type(sparse_id_columns)}."
        )
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in sparse_id_columns:
        if not isinstance(column, SparseColumn | WeightedSparseColumn):
            raise TypeError(f"Elements of sparse_id_columns must be _SparseColumn, found {column}.")
    sources: list[Any] = [
        getattr(column, "sparse_id_column", column) for column in sparse_id_columns
    ]
    if not all(sources[0].is_compatible(other) for other in sources[1:]):
        raise ValueError("The input sparse id columns are not compatible.")
    _check_embedding(sources[0].name, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    size = sparse_id_columns[0].length
    if initializer is None:
        initializer = truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(size))
    shared = shared_embedding_name or _shared_name([c.name for c in sparse_id_columns])
    return [
        EmbeddingColumn(
            column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
            shared, size, max_norm, trainable,
        )
        for column in sparse_id_columns
    ]  # fmt: skip


def _shared_name(names: list[str]) -> str:
    names = sorted(names)
    shown = "_".join(names[:3])
    if len(names) > 3:
        shown += f"_plus_{len(names) - 3}_others"
    return f"{shown}_shared_embedding"


def crossed_column(
    columns: Any,
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> CrossedColumn:
    """A column of combinations of categories, by hash.

    Args:
      columns: at least two columns of categories, crossed or bucketized ones.
      hash_bucket_size: how many hashes there are.
      combiner: "sum", "mean" or "sqrtn": how the weights of several are combined.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint's tensor that weights begin with.
      hash_key: where hashing starts; None takes TensorFlow's older hash.

    Raises:
      TypeError: another column.
      ValueError: fewer than two columns or buckets, or half a checkpoint is named.
    """
    for column in columns:
        if not isinstance(column, SparseColumn | CrossedColumn | BucketizedColumn):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn"
                f" instances. (column {column} is a _{type(column).__name__})"
            )
    if len(columns) < 2:
        raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
    if hash_bucket_size < 2:
        raise ValueError(
            f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}"
        )
    _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    ordered = tuple(sorted(columns, key=lambda column: column.name))
    return CrossedColumn(
        ordered, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt
    )
