"""``linear_model`` as objects, whose calls share variables: by the newer and the older protocol.

Names of variables and nodes are those of TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.layer_base.layer import Layer
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.partition import PartitionedVariable
from penstock.library.variables.scoping import pure_variable_scope, variable_scope
from penstock.ops.math.addn import add_n
from penstock.ops.nn.bias import bias_add
from penstock.training.feature_column.column import (
    Features,
    MakeVariable,
    check_batch_sizes,
    normalized,
)
from penstock.training.feature_column.input_layer import collected, model_collections
from penstock.training.feature_column.keras_layers import OfColumns
from penstock.training.feature_column.linear_model import (
    check_summed,
    last_of,
    weighted_sum,
    width_of,
)
from penstock.training.feature_column.own_columns import KeptVariables


class LinearModelLayer(OfColumns):
    """What ``LinearModel`` has inside: the weights and the sum."""

    units: int
    sparse_combiner: str
    bias: Any

    def __init__(
        self, feature_columns: Any, units: int = 1, sparse_combiner: str = "sum",
        trainable: bool = True, name: str | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(feature_columns, trainable=trainable, name=name, **kwargs)
        self.__dict__.update(units=units, sparse_combiner=sparse_combiner, bias=None)

    def _check(self, column: Any) -> None:
        check_summed(column)

    def _make_states(self, column: Any) -> None:
        super()._make_states(column)
        self._state_manager.create_variable(
            column, name="weights", dtype=dtypes.float32, shape=(width_of(column), self.units),
            initializer=zeros_initializer(), trainable=self.trainable,
        )  # fmt: skip

    def build(self, input_shape: Any) -> None:
        """Makes the columns' variables, their weights and the bias."""
        super().build(input_shape)
        with self._own_scope():
            self.__dict__["bias"] = self.add_weight(
                name="bias_weights", dtype=dtypes.float32, shape=(self.units,),
                initializer=zeros_initializer(), trainable=self.trainable, use_resource=True,
                getter=get_variable,
            )  # fmt: skip

    def call(self, features: Any) -> Any:
        """The sums, [batch, units].

        Args:
          features: tensors by key.
        """
        if not isinstance(features, Mapping):
            raise ValueError("We expected a dictionary here. Instead we got: ", features)
        states, found, sums = self._state_manager, Features(features), []
        kept = KeptVariables(states)
        with scopes.name_scope(self.name):
            for column in self._feature_columns:
                weights = states.get_variable(column, "weights")
                with scopes.name_scope(column.name):
                    made = weighted_sum(column, found, kept, weights, self.sparse_combiner)
                sums.append(made)
            check_batch_sizes(sums, self._feature_columns)
            total = add_n(sums, name="weighted_sum_no_bias")
            return bias_add(total, self.bias, name="weighted_sum")

    def get_config(self) -> dict[str, Any]:
        """What makes a layer like this one."""
        own = {"units": self.units, "sparse_combiner": self.sparse_combiner}
        return {**super().get_config(), **own}


class LinearModel(Layer):
    """The sum of all columns times weights, and a bias.

    Args:
      feature_columns: columns, also of categories, of which each has a weight.
      units: how many sums there are.
      sparse_combiner: how the weights of an example's categories are combined: "sum", "mean",
        "sqrtn".
      trainable: whether variables are trained.
      name: of the model.
      **kwargs: as of ``Layer``.

    Raises:
      ValueError: a column is of another kind.
    """

    def __init__(
        self, feature_columns: Any, units: int = 1, sparse_combiner: str = "sum",
        trainable: bool = True, name: str | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(name=name, **kwargs)
        self.layer = LinearModelLayer(
            feature_columns, units, sparse_combiner, trainable, self.name, **kwargs
        )

    def call(self, features: Any) -> Any:
        """The sums, [batch, units].

        Args:
          features: tensors by key.

        Raises:
          ValueError: the features are no dict, or one is missing.
        """
        return self.layer(features)

    @property
    def bias(self) -> Any:
        """The bias, once the model was called."""
        return self.layer.bias


class OlderLinearModel(Layer):
    """``LinearModel`` by the older protocol; arguments as of it, ``weight_collections`` between.

    Args:
      weight_collections: more collections for variables.
    """

    _named: dict[str, Any]
    _owned: dict[Any, Any]
    _keys: list[str]
    _makes: MakeVariable
    _units: int
    _combiner: str
    _trains: bool

    def __init__(
        self, feature_columns: Any, units: int = 1, sparse_combiner: str = "sum",
        weight_collections: Iterable[str] | None = None, trainable: bool = True,
        name: str | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(name=name, **kwargs)
        columns = normalized(feature_columns)
        for column in columns:
            check_summed(column)
        named = {}
        for column in columns:
            with variable_scope(None, default_name=column.scope_name) as scope:
                named[last_of(scope.name)] = column
        self.__dict__.update(
            _named=named, _units=units, _combiner=sparse_combiner, _owned={},
            _keys=model_collections(weight_collections), _trains=trainable,
            _makes=collected(weight_collections, trainable),
        )  # fmt: skip

    def cols_to_vars(self) -> dict[Any, Any]:
        """The variables by column, and by "bias"."""
        return dict(self._owned)

    def _made(self, name: str, dims: list[int]) -> Any:
        """A variable of the model, in the current scope."""
        return self.add_weight(
            name=name, shape=dims, dtype=dtypes.float32, initializer=zeros_initializer(),
            trainable=self._trains, collections=self._keys, use_resource=True, getter=get_variable,
        )  # fmt: skip

    def call(self, features: Any) -> Any:
        """The sums, [batch, units].

        Args:
          features: tensors by key.
        """
        found, sums, reuse = Features(features), [], bool(self._owned) or None
        with scopes.name_scope(self.name), pure_variable_scope(self.name, reuse=reuse):
            for name, column in sorted(self._named.items()):
                sums.append(self._summed(name, column, found))
            check_batch_sizes(sums, [self._named[name] for name in sorted(self._named)])
            total = add_n(sums, name="weighted_sum_no_bias")
            bias = self._made("bias_weights", [self._units])
            parts = list(bias) if isinstance(bias, PartitionedVariable) else [bias]
            self._owned["bias"] = parts
            return bias_add(total, bias, name="weighted_sum")

    def _summed(self, name: str, column: Any, found: Features) -> Any:
        with scopes.name_scope(name), pure_variable_scope(name) as scope:
            weights = self._made("weights", [width_of(column), self._units])
            total = weighted_sum(column, found, self._makes, weights, self._combiner)
            variables = collecting.get_collection(
                GraphKeys.GLOBAL_VARIABLES, scope=f"{scope.name}/"
            )
            self._owned[column] = variables
        return total
