"""``tf.feature_column.linear_model``: a weighted sum of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.nn.safe_embedding import safe_embedding_lookup_sparse
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.partition import PartitionedVariable
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import shape as shaping
from penstock.ops.linalg.matmul import matmul
from penstock.ops.math.addn import add_n
from penstock.ops.nn.bias import bias_add
from penstock.ops.sparse.sparse_functions import sparse_reshape
from penstock.training.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    Features,
    MakeVariable,
    check_batch_sizes,
    normalized,
)
from penstock.training.feature_column.input_layer import collected, flattened, model_collections


def linear_model(
    features: Mapping[str, Any],
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> Any:
    """The sum of all columns times weights, and a bias.

    Args:
      features: tensors, sparse tensors or arrays by key; the first dim is the batch.
      feature_columns: columns, also of categories, of which each has a weight.
      units: how many sums there are.
      sparse_combiner: how the weights of an example's categories are combined: "sum", "mean",
        "sqrtn".
      weight_collections: more collections for variables.
      trainable: whether variables are trained.
      cols_to_vars: a dict to be filled with a list of variables by column, and by "bias".

    Returns:
      A float32 tensor [batch, units].

    Raises:
      ValueError: a column is of another kind, or a feature is missing.

    Example:
      >>> import penstock as tf
      >>> a = tf.feature_column.numeric_column("a")
      >>> with tf.Graph().as_default():
      ...     y = tf.feature_column.linear_model({"a": [[1.0], [2.0]]}, [a])
      ...     y.shape.as_list(), [v.name for v in tf.trainable_variables()]
      ([2, 1], ['linear_model/a/weights:0', 'linear_model/bias_weights:0'])
    """
    with variable_scope(None, "linear_model") as scope:
        name = last_of(scope.name)
    columns = {}
    for column in normalized(feature_columns):
        with variable_scope(None, default_name=column.scope_name) as scope:
            columns[last_of(scope.name)] = column
    for column in columns.values():
        check_summed(column)
    keys = model_collections(weight_collections)
    variables = collected(weight_collections, trainable)
    found = Features(features)
    sums, owned = [], {}
    with scopes.name_scope(name), variable_scope(name):
        for own_name, column in sorted(columns.items()):
            with variable_scope(own_name):
                weights = _weights("weights", [width_of(column), units], trainable, keys)
                sums.append(weighted_sum(column, found, variables, weights, sparse_combiner))
                scope_name = get_variable_scope().name
            owned[column] = collecting.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope_name)
        check_batch_sizes(sums, [columns[n] for n in sorted(columns)])
        total = add_n(sums, name="weighted_sum_no_bias")
        bias = _weights("bias_weights", [units], trainable, keys)
        result = bias_add(total, bias, name="weighted_sum")
    if cols_to_vars is not None:
        parts = list(bias) if isinstance(bias, PartitionedVariable) else [bias]
        cols_to_vars.update({**owned, "bias": parts})
    return result


def check_summed(column: Any) -> None:
    """Checks that a linear model can have a column.

    Raises:
      ValueError: it cannot.
    """
    if not isinstance(column, DenseColumn | CategoricalColumn):
        raise ValueError(
            "Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. Given:"
            f" {column!r}"
        )


def width_of(column: Any) -> int:
    """How many weights a column has for each sum."""
    if isinstance(column, CategoricalColumn):
        return column.num_buckets
    return int(column.variable_shape.num_elements())


def weighted_sum(
    column: Any, features: Features, variables: MakeVariable, weights: Any, combiner: str
) -> Any:
    """A column times its weights.

    Args:
      column: the column.
      features: the features.
      variables: makes a column's own variables.
      weights: of shape [width, units].
      combiner: how the weights of an example's categories are combined.
    """
    if not isinstance(column, CategoricalColumn):
        tensor = flattened(column, column.dense_tensor(features, variables))
        return matmul(tensor, weights, name="weighted_sum")
    ids, weighting = column.sparse_tensors(features)
    batch: Any = shaping.shape(ids)[0]
    ids = sparse_reshape(ids, [batch, -1])
    if weighting is not None:
        batch = shaping.shape(weighting)[0]
        weighting = sparse_reshape(weighting, [batch, -1])
    return safe_embedding_lookup_sparse(
        weights, ids, sparse_weights=weighting, combiner=combiner, name="weighted_sum"
    )


def _weights(name: str, dims: list[int], trainable: bool, keys: list[str]) -> Any:
    return get_variable(
        name, shape=dims, dtype=dtypes.float32, initializer=zeros_initializer(),
        trainable=trainable, collections=keys, use_resource=True,
    )  # fmt: skip


def last_of(name: str) -> str:
    """The last part of a scope's name."""
    return name.rsplit("/", 1)[-1]
