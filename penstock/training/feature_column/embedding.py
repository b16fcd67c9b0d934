"""Dense columns made of categories: embeddings, own or shared, and indicators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph import collecting, scopes
from penstock.library.nn.safe_embedding import safe_embedding_lookup_sparse
from penstock.library.variables.initializers import truncated_normal_initializer
from penstock.ops.array.onehot import one_hot
from penstock.ops.array.scatter import scatter_nd
from penstock.ops.math.reduction import reduce_sum
from penstock.ops.sparse.sparse import sparse_tensor_to_dense
from penstock.ops.sparse.sparse_compose import sparse_merge
from penstock.ops.sparse.sparse_functions import sparse_slice
from penstock.storage.checkpoint.initialize import init_from_checkpoint
from penstock.training.feature_column.asked import AskedDenseColumn, AskedSequenceDenseColumn
from penstock.training.feature_column.categorical import WeightedCategoricalColumn
from penstock.training.feature_column.column import (
    CategoricalColumn,
    Features,
    IdWeightPair,
    MakeVariable,
    TensorSequenceLengthPair,
)
from penstock.training.feature_column.lengths import sequence_length
from penstock.training.feature_column.sequence import SequenceCategoricalColumn


class _OfCategories(AskedDenseColumn, AskedSequenceDenseColumn):
    """What the columns of this module share: the one below them, which may be of sequences."""

    categorical_column: Any
    _kind: str

    @property
    def parents(self) -> list[Any]:
        """The categories."""
        return [self.categorical_column]

    @property
    def name(self) -> str:
        """The name of the categories, and the kind of the column."""
        return f"{self.categorical_column.name}_{self._kind}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The categories'."""
        found: dict[str, Any] = self.categorical_column.parse_example_spec
        return found

    def _check_sequence(self, wanted: bool) -> None:
        """Checks that the categories are of sequences, or are not."""
        if isinstance(self.categorical_column, SequenceCategoricalColumn) == wanted:
            return
        kind = "embedding" if "embedding" in self._kind else self._kind
        raise ValueError(
            f"In {kind}_column: {self.name}. categorical_column must"
            f" {'' if wanted else 'not '}be of type"
            f" {'' if wanted else '_'}SequenceCategoricalColumn"
            f"{' to use SequenceFeatures' if wanted else ''}. Use"
            f" {'sequence_' if wanted else 'a non-sequence '}categorical_column_with_*. Given (type"
            f" {type(self.categorical_column)}): {self.categorical_column!r}"
        )

    def _lengths(self, pair: IdWeightPair) -> Any:
        return sequence_length(pair.id_tensor)


# ---- embeddings ----------------------------------------------------------------------------------


class _Embedding(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: Any
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class EmbeddingColumn(_Embedding, _OfCategories):
    """A column of embeddings; made by ``embedding_column``."""

    _kind = "embedding"

    def transform(self, features: Features) -> Any:
        """The categories."""
        return features.get(self.categorical_column)

    @property
    def variable_shape(self) -> TensorShape:
        """The size of an embedding."""
        return TensorShape([self.dimension])

    def create_state(self, state_manager: Any) -> None:
        """Makes the table of embeddings."""
        state_manager.create_variable(
            self, name="embedding_weights", dtype=dtypes.float32, trainable=self.trainable,
            shape=(self.categorical_column.num_buckets, self.dimension), use_resource=True,
            initializer=self.initializer,
        )  # fmt: skip

    def weights(self, variables: MakeVariable) -> Any:
        """The table of embeddings."""
        dims = (self.categorical_column.num_buckets, self.dimension)
        return variables(self, "embedding_weights", dims, self.initializer, self.trainable)

    def _looked_up(self, pair: IdWeightPair, variables: MakeVariable) -> Any:
        return _looked_up(self, self.weights(variables), pair)

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """The embeddings of each example, combined."""
        self._check_sequence(False)
        return self._looked_up(self.categorical_column.sparse_tensors(features), variables)

    def sequence_dense_tensor(
        self, features: Features, variables: MakeVariable
    ) -> TensorSequenceLengthPair:
        """The embeddings of each step, combined."""
        self._check_sequence(True)
        pair = self.categorical_column.sparse_tensors(features)
        return TensorSequenceLengthPair(self._looked_up(pair, variables), self._lengths(pair))


def _looked_up(column: Any, weights: Any, pair: IdWeightPair) -> Any:
    if column.ckpt_to_load_from is not None:
        init_from_checkpoint(column.ckpt_to_load_from, {column.tensor_name_in_ckpt: weights})
    return safe_embedding_lookup_sparse(
        embedding_weights=weights, sparse_ids=pair.id_tensor, sparse_weights=pair.weight_tensor,
        combiner=column.combiner, name=f"{column.name}_weights", max_norm=column.max_norm,
    )  # fmt: skip


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """A dense column of embeddings of categories.

    Args:
      categorical_column: the categories.
      dimension: the size of an embedding.
      combiner: how the embeddings of an example's categories are combined: "mean", "sqrtn", "sum".
      initializer: of the variable; default a truncated normal one with ``1 / sqrt(dimension)``.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint, and the name in it of what the variable
        begins with.
      max_norm: embeddings with a larger l2 norm are scaled down to it.
      trainable: whether the variable is trained.

    Raises:
      ValueError: no size, an initializer that cannot be called, or half of what a checkpoint needs.

    Example:
      >>> import penstock as tf
      >>> word = tf.feature_column.categorical_column_with_hash_bucket("word", 100)
      >>> embedded = tf.feature_column.embedding_column(word, 8)
      >>> with tf.Graph().as_default():
      ...     layer = tf.feature_column.input_layer({"word": [["a"]]}, [embedded])
      ...     [v.name for v in tf.trainable_variables()], layer.shape.as_list()
      (['input_layer/word_embedding/embedding_weights:0'], [1, 8])
    """
    about = f" Embedding of column_name: {getattr(categorical_column, 'name', categorical_column)}"
    initializer = _checked_initializer(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, about
    )
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, ckpt_to_load_from,
        tensor_name_in_ckpt, max_norm, trainable,
    )  # fmt: skip


def _checked_initializer(
    dimension: Any, initializer: Any, checkpoint: Any, name: Any, about: str
) -> Any:
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (checkpoint is None) != (name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{about}")
    if initializer is None:
        return truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(dimension))
    return initializer


class _Shared(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    shared_embedding_collection_name: str
    ckpt_to_load_from: Any
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class SharedEmbeddingColumn(_Shared, _OfCategories):
    """A column of embeddings that others share; made by ``shared_embedding_columns``."""

    _kind = "shared_embedding"

    _is_v2_column = False  # as in TensorFlow 1.15

    @property
    def _var_scope_name(self) -> str:
        return self.shared_embedding_collection_name

    def transform(self, features: Features) -> Any:
        """The categories."""
        return features.get(self.categorical_column)

    @property
    def variable_shape(self) -> TensorShape:
        """The size of an embedding."""
        return TensorShape([self.dimension])

    def _weights(self, variables: MakeVariable) -> Any:
        key, dims = self.shared_embedding_collection_name, [
            self.categorical_column.num_buckets, self.dimension,
        ]  # fmt: skip
        found = collecting.get_collection(key)
        if len(found) > 1:
            raise ValueError(
                f"Collection {found} can only contain one variable. Choose a unique"
                " shared_embedding_collection_name, and add nothing to that collection"
            )
        if not found:
            made = variables(self, "embedding_weights", dims, self.initializer, self.trainable)
            collecting.add_to_collection(key, made)
            return made
        if found[0].shape.as_list() != dims:
            raise ValueError(
                f"Shared embedding collection {key} contains variable {found[0].name} of"
                f" unexpected shape {found[0].shape}. Expected shape is {dims}. Choose a unique"
                " shared_embedding_collection_name"
            )
        return found[0]

    def _looked_up(self, features: Features, variables: MakeVariable) -> Any:
        with scopes.name_scope(None, self.name):
            pair = self.categorical_column.sparse_tensors(features)
            return _looked_up(self, self._weights(variables), pair)

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """The embeddings of each example, combined."""
        self._check_sequence(False)
        return self._looked_up(features, variables)

    def sequence_dense_tensor(
        self, features: Features, variables: MakeVariable
    ) -> TensorSequenceLengthPair:
        """The embeddings of each step, combined."""
        self._check_sequence(True)
        found = self._looked_up(features, variables)
        # TensorFlow asks for the categories once more, outside of the scope of what is looked up.
        pair = self.categorical_column.sparse_tensors(features)
        return TensorSequenceLengthPair(found, self._lengths(pair))


def shared_embedding_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbeddingColumn]:
    """Dense columns of embeddings, of several features with the same categories.

    Args:
      categorical_columns: columns of one type and with as many categories each.
      dimension, combiner, initializer: as of ``embedding_column``.
      shared_embedding_collection_name: the collection that has the variable; default is made of the
        columns' names.
      ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable: as of ``embedding_column``.

    Returns:
      A column for each of ``categorical_columns``.

    Raises:
      ValueError: as of ``embedding_column``, or columns differ.
    """
    initializer = _checked_initializer(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, ""
    )
    ordered = sorted(categorical_columns, key=lambda column: str(column.name))
    _check_alike(ordered)
    joined = "_".join(column.name for column in ordered) + "_shared_embedding"
    return [
        SharedEmbeddingColumn(
            column, dimension, combiner, initializer, shared_embedding_collection_name or joined,
            ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
        )
        for column in categorical_columns
    ]  # fmt: skip


def _check_alike(columns: list[Any]) -> None:
    first = columns[0]
    if not isinstance(first, CategoricalColumn):
        raise ValueError(
            "All categorical_columns must be subclasses of _CategoricalColumn. Given:"
            f" {first!r}, of type: {type(first)}"
        )
    bare = [
        c.categorical_column if isinstance(c, WeightedCategoricalColumn) else c for c in columns
    ]
    for column in bare[1:]:
        if not isinstance(column, type(bare[0])):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type,"
                " or be weighted_categorical_column of the same type. Given column:"
                f" {bare[0]!r} of type: {type(bare[0])} does not match given column: {column!r} of"
                f" type: {type(column)}"
            )
        if column.num_buckets != first.num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number"
                f" of buckets. Given column: {bare[0]!r} with buckets: {first.num_buckets} does"
                f" not match column: {column!r} with buckets: {column.num_buckets}"
            )


# ---- indicators ----------------------------------------------------------------------------------


class _Indicator(NamedTuple):
    categorical_column: Any


class IndicatorColumn(_Indicator, _OfCategories):
    """A column of counts of categories; made by ``indicator_column``."""

    _kind = "indicator"

    @property
    def variable_shape(self) -> TensorShape:
        """One element for each category."""
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform(self, features: Features) -> Any:
        """How often each category is there, or the sum of its weights."""
        ids, weights = self.categorical_column.sparse_tensors(features)
        depth = self.categorical_column.num_buckets
        if weights is not None:
            merged = sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=depth)
            merged = sparse_slice(merged, [0, 0], merged.dense_shape)
            return scatter_nd(merged.indices, merged.values, merged.dense_shape)
        dense = sparse_tensor_to_dense(ids, default_value=-1)
        return reduce_sum(one_hot(dense, depth=depth, on_value=1.0, off_value=0.0), axis=[-2])

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """The counts of each example."""
        self._check_sequence(False)
        return features.get(self)

    def sequence_dense_tensor(
        self, features: Features, variables: MakeVariable
    ) -> TensorSequenceLengthPair:
        """The counts of each step."""
        self._check_sequence(True)
        dense = features.get(self)
        pair = self.categorical_column.sparse_tensors(features)
        return TensorSequenceLengthPair(dense, self._lengths(pair))


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """A dense column that has one element for each category: how often it is there.

    Args:
      categorical_column: the categories.

    Example:
      >>> import penstock as tf
      >>> size = tf.feature_column.categorical_column_with_vocabulary_list("size", ["S", "M", "L"])
      >>> shown = tf.feature_column.indicator_column(size)
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     layer = tf.feature_column.input_layer({"size": [["M", "M"]]}, [shown])
      ...     sess.run(tf.tables_initializer())
      ...     sess.run(layer)
      array([[0., 2., 0.]], dtype=float32)
    """
    return IndicatorColumn(categorical_column)
