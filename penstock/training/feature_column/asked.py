"""How a package asks Penstock's own columns: by either of TensorFlow 1.x's two protocols.

``own_columns.py`` says what these are, and asks the columns of others by them; here is the other
way round.  A column of ``tf.feature_column`` answers both; what ``feature_column._numeric_column``
and its kin make is to be asked by the older one alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph import scopes
from penstock.training.feature_column.column import (
    CategoricalColumn,
    Features,
    IdWeightPair,
    normalized,
)
from penstock.training.feature_column.input_layer import collected
from penstock.training.feature_column.own_columns import (
    KeptVariables,
    NewCategoricalColumn,
    NewColumn,
    NewDenseColumn,
    OldCategoricalColumn,
    OldColumn,
    OldDenseColumn,
    OldSequenceDenseColumn,
    TransformationCache,
)


class _Asked(Features):
    """Features as a package's own cache of them gives them."""

    def __init__(self, cache: Any, state_manager: Any) -> None:
        super().__init__({})
        self._cache, self._state_manager = cache, state_manager

    def get(self, key: Any) -> Any:
        """A feature by its key, or what a column makes of it."""
        return self._cache.get(key, self._state_manager)


def _features(cache: Any, state_manager: Any) -> Features:
    if isinstance(cache, Features):
        return cache
    if isinstance(cache, TransformationCache):
        return cache.features
    return _Asked(cache, state_manager)


class AskedColumn(NewColumn, OldColumn):
    """A column of Penstock's that answers both protocols."""

    @property
    def _is_v2_column(self) -> bool:
        """Whether the newer protocol is to be used; False of what the older functions make."""
        below = getattr(self, "parents", ())
        return all(getattr(each, "_is_v2_column", True) for each in below)

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    def _transform_feature(self, inputs: Any) -> Any:
        return self.transform(inputs)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """What the column makes of its feature.

        Args:
          transformation_cache: gives features, and what other columns make of theirs.
          state_manager: keeps what columns have made.
        """
        return self.transform(_features(transformation_cache, state_manager))


class AskedDenseColumn(AskedColumn, NewDenseColumn, OldDenseColumn):
    """A dense column of Penstock's."""

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        made = collected(weight_collections, trainable is None or bool(trainable))
        return self.dense_tensor(inputs, made)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The tensor, of shape [batch] and ``variable_shape``; arguments as above."""
        found = _features(transformation_cache, state_manager)
        return self.dense_tensor(found, KeptVariables(state_manager))


class AskedCategoricalColumn(AskedColumn, NewCategoricalColumn, OldCategoricalColumn):
    """A column of categories of Penstock's."""

    # Not by the protocols, which its own methods answer.
    sparse_tensors = CategoricalColumn.sparse_tensors

    @property
    def _num_buckets(self) -> int:  # type: ignore[override]
        return self.num_buckets

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> IdWeightPair:
        return self.sparse_tensors(inputs)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> IdWeightPair:
        """The ids, and their weights; arguments as above."""
        return self.sparse_tensors(_features(transformation_cache, state_manager))


class AskedSequenceDenseColumn(AskedColumn, OldSequenceDenseColumn):
    """A dense column of sequences of Penstock's."""

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        made = collected(weight_collections, trainable is None or bool(trainable))
        return self.sequence_dense_tensor(inputs, made)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The tensor, and the lengths of its sequences; arguments as above."""
        found = _features(transformation_cache, state_manager)
        return self.sequence_dense_tensor(found, KeptVariables(state_manager))


def is_feature_column_v2(feature_columns: Iterable[Any]) -> bool:
    """Whether columns answer the newer protocol, all of them.

    Args:
      feature_columns: columns.
    """
    return all(
        isinstance(each, NewColumn) and bool(getattr(each, "_is_v2_column", True))
        for each in feature_columns
    )


def transform_features(features: Mapping[str, Any], feature_columns: Any) -> dict[Any, Any]:
    """What columns make of features: the older protocol.

    Args:
      features: tensors by key.
      feature_columns: columns, of any kind.

    Returns:
      A tensor, or a sparse one, by column.
    """
    ordered, found = normalized(feature_columns), Features(features)
    with scopes.name_scope(None, "transform_features", list(features.values())):
        made = {}
        for column in ordered:
            with scopes.name_scope(None, column.name):
                made[column] = found.get(column)
    return made


def transform_features_v2(
    features: Mapping[str, Any], feature_columns: Any, state_manager: Any
) -> dict[Any, Any]:
    """What columns make of features: the newer protocol.

    Args:
      features: tensors by key.
      feature_columns: columns, of any kind.
      state_manager: keeps what columns have made.

    Returns:
      A tensor, or a sparse one, by column.
    """
    ordered, cache = normalized(feature_columns), TransformationCache(Features(features))
    made = {}
    with scopes.name_scope(None, "transform_features", list(features.values())):
        for column in ordered:
            with scopes.name_scope(None, column.name):
                made[column] = cache.get(column, state_manager)
    return made
