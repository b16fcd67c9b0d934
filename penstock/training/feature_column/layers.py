"""Layers of columns as canned estimators have them: variables first, resources, one scope a column.

Nodes are those of ``DenseFeatures`` and ``LinearModel`` in TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.graph.scopes import name_scope
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join
from penstock.ops.math.addn import add_n
from penstock.ops.nn.bias import bias_add
from penstock.training.feature_column.column import Features, check_batch_sizes, normalized
from penstock.training.feature_column.embedding import EmbeddingColumn
from penstock.training.feature_column.input_layer import check_dense, flattened
from penstock.training.feature_column.linear_model import check_summed, weighted_sum, width_of
from penstock.training.feature_column.own_columns import NewDenseColumn, StateManager


class LinearSum(NamedTuple):
    """The sums of a linear model, its weights (without the bias), and the bias."""

    logits: Any
    weights: list[Any]
    bias: Any


class _Made:
    """The variables of columns, made once, in the scope in which they are first asked for.

    State: the variables by column and name.
    """

    trainable = True

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}
        self.states = StateManager()

    def __call__(
        self, column: Any, name: str, dims: Any, initializer: Any, trainable: bool = True
    ) -> Any:
        key = (id(column), name)
        if key not in self._made:
            self._made[key] = get_variable(
                name, shape=dims, dtype=dtypes.float32, initializer=initializer,
                trainable=trainable, use_resource=True,
            )  # fmt: skip
        return self._made[key]

    def all(self) -> list[Any]:
        """All variables, in the order in which they were made."""
        return list(self._made.values())


def dense_features(features: Mapping[str, Any], columns: Any, name: str) -> Any:
    """Dense columns side by side.

    Args:
      features: the features.
      columns: the columns.
      name: of the layer.

    Returns:
      A float32 tensor [batch, sum of the columns' sizes].

    Raises:
      ValueError: a column is not dense, or a feature is missing.
    """
    ordered = normalized(columns)
    for column in ordered:
        check_dense(column)
    variables = _Made()
    for column in ordered:
        with _scope(name), _scope(column.name):
            _make_own(column, variables)
    found, outputs = Features(features), []
    with name_scope(name):
        for column in ordered:
            with name_scope(column.name):
                outputs.append(flattened(column, column.dense_tensor(found, variables)))
        check_batch_sizes(outputs, ordered)
        return join.concat(outputs, -1)


def linear_sum(
    features: Mapping[str, Any], columns: Any, units: int, combiner: str, name: str
) -> LinearSum:
    """The sum of all columns times weights, and a bias.

    Args:
      features: the features.
      columns: the columns.
      units: how many sums there are.
      combiner: how the weights of an example's categories are combined.
      name: of the model.

    Raises:
      ValueError: a column is of another kind, or a feature is missing.
    """
    ordered = normalized(columns)
    for column in ordered:
        check_summed(column)
    variables, zeros = _Made(), zeros_initializer()
    weights = []
    with _scope(name):
        for column in ordered:
            with _scope(column.name):
                _make_own(column, variables)
                dims = [width_of(column), units]
                weights.append(variables(column, "weights", dims, zeros))
        bias = get_variable(
            "bias_weights", shape=[units], dtype=dtypes.float32, initializer=zeros,
            use_resource=True,
        )  # fmt: skip
    found, sums = Features(features), []
    # The model, its layer, and the layer's own scope.
    with name_scope(name), name_scope(name), name_scope(name):
        for column, own in zip(ordered, weights):
            with name_scope(column.name):
                sums.append(weighted_sum(column, found, variables, own, combiner))
        check_batch_sizes(sums, ordered)
        total = add_n(sums, name="weighted_sum_no_bias")
        logits = bias_add(total, bias, name="weighted_sum")
    return LinearSum(logits, variables.all(), bias)


def _make_own(column: Any, variables: _Made) -> None:
    """Makes the variables that a column has itself."""
    if isinstance(column, EmbeddingColumn):
        column.weights(variables)
    elif isinstance(column, NewDenseColumn):
        column.create_state(variables.states)


def _scope(name: str) -> Any:
    """A scope of variables that leaves the names of nodes alone."""
    return variable_scope(name, auxiliary_name_scope=False)
