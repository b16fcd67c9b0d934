"""Bases of columns that others define, by the methods that TensorFlow's columns have.

``OldDenseColumn`` and its kin are ``feature_column._DenseColumn``, whose methods begin with an
underscore and get all features; ``NewDenseColumn`` and its kin are those of ``feature_column_v2``,
whose methods get what keeps tensors, and what keeps state.  A class that is both is used by the old
methods.
"""

from __future__ import annotations

from typing import Any

from penstock.training.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    Features,
    IdWeightPair,
    MakeVariable,
    SequenceDenseColumn,
)


class OldColumn(FeatureColumn):
    """``_FeatureColumn``: what has ``name``, ``_parse_example_spec`` and ``_transform_feature``."""

    @property
    def scope_name(self) -> str:
        own: str = getattr(self, "_var_scope_name", self.name)
        return own

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = self._parse_example_spec  # type: ignore[attr-defined]
        return spec

    def transform(self, features: Features) -> Any:
        return self._transform_feature(features)  # type: ignore[attr-defined]


class OldDenseColumn(OldColumn, DenseColumn):
    """``_DenseColumn``: adds ``_variable_shape`` and ``_get_dense_tensor``."""

    @property
    def variable_shape(self) -> Any:
        return self._variable_shape  # type: ignore[attr-defined]

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        del variables
        return self._get_dense_tensor(features)  # type: ignore[attr-defined]


class OldCategoricalColumn(OldColumn, CategoricalColumn):
    """``_CategoricalColumn``: adds ``_num_buckets`` and ``_get_sparse_tensors``."""

    @property
    def num_buckets(self) -> int:
        count: int = self._num_buckets  # type: ignore[attr-defined]
        return count

    def sparse_tensors(self, features: Features) -> IdWeightPair:
        found = self._get_sparse_tensors(features)  # type: ignore[attr-defined]
        return IdWeightPair(*found)


class OldSequenceDenseColumn(OldColumn, SequenceDenseColumn):
    """``_SequenceDenseColumn``: adds ``_get_sequence_dense_tensor``."""

    def sequence_dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        del variables
        return self._get_sequence_dense_tensor(features)  # type: ignore[attr-defined]


class NewColumn(FeatureColumn):
    """``FeatureColumn``: adds ``transform_feature``, and ``create_state`` where it has some."""

    def transform(self, features: Features) -> Any:
        return self.transform_feature(_Cache(features), None)  # type: ignore[attr-defined]

    def create_state(self, state_manager: Any) -> None:
        """Makes what the column needs; nothing, where it needs nothing."""


class NewDenseColumn(NewColumn, DenseColumn):
    """``DenseColumn``: adds ``variable_shape`` and ``get_dense_tensor``."""

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        state = _State(variables)
        self.create_state(state)
        return self.get_dense_tensor(_Cache(features), state)  # type: ignore[attr-defined]


class NewCategoricalColumn(NewColumn, CategoricalColumn):
    """``CategoricalColumn``: adds ``num_buckets`` and ``get_sparse_tensors``."""

    def sparse_tensors(self, features: Features) -> IdWeightPair:
        found = self.get_sparse_tensors(_Cache(features), None)  # type: ignore[attr-defined]
        return IdWeightPair(*found)


class _Cache:
    """The features as ``transform_feature`` asks for them."""

    def __init__(self, features: Features) -> None:
        self._features = features

    def get(self, key: Any, state_manager: Any) -> Any:
        """A feature by its key, or what a column makes of it."""
        del state_manager
        return self._features.get(key)


class _State:
    """What a column has made of variables and resources: for one use of it, by name."""

    def __init__(self, variables: MakeVariable) -> None:
        self._trainable = True
        self._make, self._made = variables, dict[str, Any]()

    def create_variable(
        self, feature_column: Any, name: str, shape: Any, dtype: Any = None,
        trainable: bool = True, use_resource: bool = True, initializer: Any = None,
    ) -> Any:  # fmt: skip
        """A column's variable, made."""
        del dtype, use_resource
        made = self._make(feature_column, name, shape, initializer, trainable)
        return self._made.setdefault(name, made)

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Keeps something of a column."""
        del feature_column
        self._made[name] = resource

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Whether something is kept under a name."""
        del feature_column
        return name in self._made

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """What is kept under a name."""
        del feature_column
        return self._made[name]

    get_variable = get_resource
