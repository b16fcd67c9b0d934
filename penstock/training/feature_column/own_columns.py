"""Bases of dense columns that a program or a package writes itself.

TensorFlow 1.x asks such a column in one of two ways.  ``input_layer`` and ``linear_model`` call
``_get_dense_tensor(inputs, ...)``, which makes what it needs in the current scope; the layers of
canned estimators call ``create_state(state_manager)`` once, and then
``get_dense_tensor(cache, state_manager)``.  A column may have both.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base.shapes import TensorShape
from penstock.training.feature_column.column import DenseColumn, Features, MakeVariable


class StateManager:
    """What columns keep between the making of their state and its uses.

    Args:
      layer: accepted for compatibility.
      trainable: whether variables are trained.
    """

    def __init__(self, layer: Any = None, trainable: bool = True) -> None:
        self._trainable = trainable
        self._resources: dict[tuple[Any, str], Any] = {}

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


class TransformationCache:
    """A model's features as the second kind of column asks for them."""

    def __init__(self, features: Features) -> None:
        self._features = features

    def get(self, key: Any, state_manager: Any) -> Any:
        """A feature by its key, or what a column makes of it."""
        return self._features.get(key)


class OwnDenseColumn(DenseColumn):
    """A column that is asked with all it needs.

    Subclasses give ``name``, ``_parse_example_spec``, ``_transform_feature(inputs)``,
    ``_variable_shape`` and ``_get_dense_tensor(inputs, weight_collections, trainable)``, where
    ``inputs.get(key)`` is a feature or what a column makes of it.
    """

    _parse_example_spec: Any
    _variable_shape: Any
    _transform_feature: Any
    _get_dense_tensor: Any

    @property
    def scope_name(self) -> str:
        """The name of the scope of its variables: ``_var_scope_name``, where it has one."""
        return str(getattr(self, "_var_scope_name", self.name))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How ``tf.parse_example`` reads what it needs."""
        found: dict[str, Any] = self._parse_example_spec
        return found

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one example's tensor."""
        found: TensorShape = self._variable_shape
        return found

    def transform(self, features: Features) -> Any:
        """The feature, transformed."""
        return self._transform_feature(features)

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """The tensor, of shape [batch] and ``variable_shape``."""
        if isinstance(self, StatefulDenseColumn) and variables.states is not None:
            return StatefulDenseColumn.dense_tensor(self, features, variables)
        return self._get_dense_tensor(
            features, weight_collections=None, trainable=variables.trainable
        )


class StatefulDenseColumn(DenseColumn):
    """A column whose state is made once.

    Subclasses give ``name``, ``parse_example_spec``, ``variable_shape``,
    ``transform_feature(cache, state_manager)``, ``create_state(state_manager)`` and
    ``get_dense_tensor(cache, state_manager)``, where ``cache.get(key, state_manager)`` is a feature
    or what a column makes of it.
    """

    transform_feature: Any
    get_dense_tensor: Any

    def create_state(self, state_manager: StateManager) -> None:
        """Makes what the column needs; nothing, unless a subclass says so."""

    def transform(self, features: Features) -> Any:
        """The feature, transformed."""
        return self.transform_feature(TransformationCache(features), None)

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """The tensor, of shape [batch] and ``variable_shape``."""
        states = variables.states
        if states is None:
            states = StateManager(trainable=variables.trainable)
            self.create_state(states)
        return self.get_dense_tensor(TransformationCache(features), states)
