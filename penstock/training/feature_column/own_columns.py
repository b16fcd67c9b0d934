"""Bases of columns that a program or a package writes itself.

TensorFlow 1.x asks such a column in one of two ways.  ``input_layer`` and ``linear_model`` call
``_get_dense_tensor(inputs, ...)``, which makes what it needs in the current scope (``OldColumn``
and its kin, which are ``feature_column._FeatureColumn`` and so on); the layers of canned estimators
call ``create_state(state_manager)`` once, and then ``get_dense_tensor(cache, state_manager)``
(``NewColumn`` and its kin, those of ``feature_column_v2``).  A column may have both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.foundation.base.shapes import TensorShape
from penstock.library.variables.getting import get_variable
from penstock.training.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    Features,
    IdWeightPair,
    MakeVariable,
    SequenceDenseColumn,
)


class StateManager:
    """What columns keep between the making of their state and its uses.

    Args:
      layer: whose weights the variables are.
      trainable: whether variables are trained.
      make: gives a column its variable; default the layer, by ``tf.get_variable``.
    """

    def __init__(
        self, layer: Any = None, trainable: bool = True, make: MakeVariable | None = None
    ) -> None:
        self._layer, self._trainable, self._make = layer, trainable, make
        self._resources: dict[tuple[Any, str], Any] = {}

    # How a layer is to make variables.
    _by: dict[str, Any] = {"getter": get_variable}

    def create_variable(
        self, feature_column: Any, name: str, shape: Any, dtype: Any = None,
        trainable: bool = True, use_resource: bool = True, initializer: Any = None,
    ) -> Any:  # fmt: skip
        """A column's variable (float32), made and kept.

        Raises:
          ValueError: variables are not made here.
        """
        wanted = trainable and self._trainable
        if self._make is not None:
            made = self._make(feature_column, name, shape, initializer, wanted)
        elif self._layer is not None:
            made = self._layer.add_weight(
                name=name, shape=shape, dtype=dtype, initializer=initializer, trainable=wanted,
                use_resource=use_resource, **self._by,
            )  # fmt: skip
        else:
            raise ValueError(f"column {feature_column} cannot make {name!r}: no layer makes it")
        self.add_resource(feature_column, name, made)
        return made

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable that was made."""
        return self.get_resource(feature_column, name)

    def add_resource(self, feature_column: Any, resource_name: str, resource: Any) -> None:
        """Keeps something of a column."""
        self._resources[feature_column, resource_name] = resource

    def has_resource(self, feature_column: Any, resource_name: str) -> bool:
        """Whether something of a column was kept under a name."""
        return (feature_column, resource_name) in self._resources

    def get_resource(self, feature_column: Any, resource_name: str) -> Any:
        """What was kept.

        Raises:
          ValueError: nothing was.
        """
        if not self.has_resource(feature_column, resource_name):
            raise ValueError(f"column {feature_column} keeps no resource {resource_name!r}")
        return self._resources[feature_column, resource_name]


class NamedStateManager(StateManager):
    """A ``StateManager`` whose variables are named by name scopes, as Keras's are."""

    _by: dict[str, Any] = {}


class KeptVariables:
    """The variables that columns have made in a state manager.

    Args:
      states: the state manager.
    """

    trainable = True

    def __init__(self, states: Any) -> None:
        self.states = states

    def __call__(
        self, column: Any, name: str, dims: Any, initializer: Any, trainable: bool = True
    ) -> Any:
        return self.states.get_variable(column, name)


class TransformationCache:
    """A model's features as the second kind of column asks for them.

    Args:
      features: tensors, sparse tensors or arrays by key.
    """

    def __init__(self, features: Features | Mapping[str, Any]) -> None:
        self.features = features if isinstance(features, Features) else Features(features)

    def get(self, key: Any, state_manager: Any) -> Any:
        """A feature by its key, or what a column makes of it."""
        return self.features.get(key)


class OldColumn(FeatureColumn):
    """A column that is asked with all it needs.

    Subclasses give ``name``, ``_parse_example_spec`` and ``_transform_feature(inputs)``, where
    ``inputs.get(key)`` is a feature or what a column makes of it.
    """

    _parse_example_spec: Any
    _transform_feature: Any

    @property
    def scope_name(self) -> str:
        """The name of the scope of its variables: ``_var_scope_name``, where it has one."""
        return str(getattr(self, "_var_scope_name", self.name))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How ``tf.parse_example`` reads what it needs."""
        found: dict[str, Any] = self._parse_example_spec
        return found

    def transform(self, features: Features) -> Any:
        """The feature, transformed."""
        return self._transform_feature(features)


class OldDenseColumn(OldColumn, DenseColumn):
    """Adds ``_variable_shape`` and ``_get_dense_tensor(inputs, weight_collections, trainable)``."""

    _variable_shape: Any
    _get_dense_tensor: Any

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one example's tensor."""
        found: TensorShape = self._variable_shape
        return found

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """The tensor, of shape [batch] and ``variable_shape``."""
        if isinstance(self, NewDenseColumn) and variables.states is not None:
            return NewDenseColumn.dense_tensor(self, features, variables)
        return self._get_dense_tensor(
            features, weight_collections=None, trainable=variables.trainable
        )


class OldCategoricalColumn(OldColumn, CategoricalColumn):
    """Adds ``_num_buckets`` and ``_get_sparse_tensors(inputs)``."""

    _num_buckets: int
    _get_sparse_tensors: Any

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        return self._num_buckets

    def sparse_tensors(self, features: Features) -> IdWeightPair:
        """The ids, and their weights."""
        return IdWeightPair(*self._get_sparse_tensors(features))


class OldSequenceDenseColumn(OldColumn, SequenceDenseColumn):
    """Adds ``_get_sequence_dense_tensor(inputs)``."""

    _get_sequence_dense_tensor: Any

    def sequence_dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """The tensor of a sequence, and the lengths."""
        return self._get_sequence_dense_tensor(features)


class NewColumn(FeatureColumn):
    """A column that is asked with a cache of tensors and with what keeps its state.

    Subclasses give ``name``, ``parse_example_spec`` and
    ``transform_feature(cache, state_manager)``, where ``cache.get(key, state_manager)`` is a
    feature or what a column makes of it.
    """

    transform_feature: Any

    def transform(self, features: Features) -> Any:
        """The feature, transformed."""
        return self.transform_feature(TransformationCache(features), None)

    def create_state(self, state_manager: StateManager) -> None:
        """Makes what the column needs; nothing, unless a subclass says so."""


class NewDenseColumn(NewColumn, DenseColumn):
    """Adds ``variable_shape`` and ``get_dense_tensor(cache, state_manager)``."""

    get_dense_tensor: Any

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """The tensor, of shape [batch] and ``variable_shape``."""
        states = variables.states
        if states is None:
            states = StateManager(trainable=variables.trainable, make=variables)
            self.create_state(states)
        return self.get_dense_tensor(TransformationCache(features), states)


class NewCategoricalColumn(NewColumn, CategoricalColumn):
    """Adds ``num_buckets`` and ``get_sparse_tensors(cache, state_manager)``."""

    get_sparse_tensors: Any

    def sparse_tensors(self, features: Features) -> IdWeightPair:
        """The ids, and their weights."""
        return IdWeightPair(*self.get_sparse_tensors(TransformationCache(features), None))
