"""``tf.feature_column.input_layer``: dense columns side by side, as a model's first layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.library.variables.template import make_template
from penstock.ops.array import join, reshape, shape as shaping
from penstock.training.feature_column.column import (
    DenseColumn,
    FeatureColumn,
    Features,
    MakeVariable,
    check_batch_sizes,
    normalized,
)


def input_layer(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Any:
    """All columns' values side by side, in the order of their names.

    Args:
      features: tensors, sparse tensors or arrays by key; the first dim is the batch.
      feature_columns: dense columns; categories are wrapped in an embedding or indicator column.
      weight_collections: more collections for variables.
      trainable: whether variables are trained.
      cols_to_vars: a dict to be filled with a list of variables by column.
      cols_to_output_tensors: a dict to be filled with the tensor by column.

    Returns:
      A float32 tensor [batch, sum of the columns' sizes].

    Raises:
      ValueError: a column is not dense, or a feature is missing.

    Example:
      >>> import penstock as tf
      >>> columns = [tf.feature_column.numeric_column("b"), tf.feature_column.numeric_column("a")]
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.feature_column.input_layer({"a": [[1.0]], "b": [[2.0]]}, columns))
      array([[1., 2.]], dtype=float32)
    """
    return internal_input_layer(
        features, feature_columns, weight_collections, trainable, cols_to_vars,
        cols_to_output_tensors=cols_to_output_tensors,
    )  # fmt: skip


def internal_input_layer(
    features: Mapping[str, Any], feature_columns: Any,
    weight_collections: Iterable[str] | None = None, trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None, scope: Any = None,
    cols_to_output_tensors: dict[Any, Any] | None = None, from_template: bool = False,
) -> Any:  # fmt: skip
    """``input_layer`` in a scope that is given, as what wraps it calls it.

    Args:
      features, feature_columns, weight_collections, trainable, cols_to_vars,
        cols_to_output_tensors: as of ``input_layer``.
      scope: a variable scope, or the name of one; default a new "input_layer".
      from_template: whether a scope was opened already.

    Raises:
      ValueError: a column is not dense, or a feature is missing.
    """
    columns = normalized(feature_columns)
    _check_all(columns)
    variables = collected(weight_collections, trainable)
    given = (features, columns, variables, cols_to_vars, cols_to_output_tensors)
    if from_template:
        return _side_by_side(*given)
    with variable_scope(scope, default_name="input_layer", values=list(features.values())):
        return _side_by_side(*given)


def _side_by_side(
    features: Mapping[str, Any], columns: list[Any], variables: MakeVariable,
    cols_to_vars: dict[Any, Any] | None, cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Any:  # fmt: skip
    found = Features(features)
    outputs = []
    for column in columns:
        with variable_scope(None, default_name=column.scope_name):
            tensor = flattened(column, column.dense_tensor(found, variables))
            outputs.append(tensor)
            if cols_to_vars is not None:
                scope = get_variable_scope().name
                own = collecting.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
                cols_to_vars[column] = own
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensor
    check_batch_sizes(outputs, columns)
    return join.concat(outputs, 1)


class InputLayer:
    """``input_layer`` as an object, whose calls share variables.

    Args:
      feature_columns: dense columns.
      weight_collections: more collections for variables.
      trainable: whether variables are trained.
      cols_to_vars: a dict to be filled with a list of variables by column.
      name: of the variable scope.
      create_scope_now: whether the scope is made unique here; else by the first call.

    Raises:
      ValueError: when called: a column is not dense, or a feature is missing.

    Example:
      >>> import penstock as tf
      >>> layer = tf.contrib.slim.InputLayer([tf.feature_column.numeric_column("a")])
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(layer({"a": [[1.0]]}))
      array([[1.]], dtype=float32)
    """

    def __init__(
        self, feature_columns: Any, weight_collections: Iterable[str] | None = None,
        trainable: bool = True, cols_to_vars: dict[Any, Any] | None = None,
        name: str = "feature_column_input_layer", create_scope_now: bool = True,
    ) -> None:  # fmt: skip
        self._columns = normalized(feature_columns)
        self._variables = collected(weight_collections, trainable)
        self._name = name
        self._cols_to_vars = cols_to_vars
        self._template = make_template(name, self._made, create_scope_now_=create_scope_now)

    def _made(self, features: Mapping[str, Any]) -> Any:
        _check_all(self._columns)
        return _side_by_side(features, self._columns, self._variables, self._cols_to_vars)

    def __call__(self, features: Mapping[str, Any]) -> Any:
        """All columns' values side by side.

        Args:
          features: tensors by key.
        """
        return self._template(features)

    @property
    def name(self) -> str:
        """The name that was given."""
        return self._name

    @property
    def variables(self) -> list[Any]:
        """All variables."""
        return self._template.variables

    @property
    def trainable_variables(self) -> list[Any]:
        """Those that are trained."""
        return self._template.trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The others."""
        return self._template.non_trainable_variables

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


def _check_all(columns: Iterable[Any]) -> None:
    for column in columns:
        check_dense(column)


def check_dense(column: Any) -> None:
    """Checks that a column is dense.

    Raises:
      ValueError: it is not.
    """
    if not isinstance(column, DenseColumn):
        raise ValueError(
            "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column"
            f" with an embedding_column or indicator_column. Given: {column!r}"
        )


def flattened(column: Any, tensor: Any) -> Any:
    """A column's tensor as a matrix of one row an example."""
    batch: Any = shaping.shape(tensor)[0]
    return reshape.reshape(tensor, (batch, column.variable_shape.num_elements()))


def model_collections(more: Iterable[str] | None) -> list[str]:
    """The collections of a model's variables, and more."""
    found = list(more or [])
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES):
        if key not in found:
            found.append(key)
    return found


class _Collected:
    """Makes variables by ``tf.get_variable`` in the current scope, in collections of a model."""

    states = None

    def __init__(self, keys: list[str], trainable: bool) -> None:
        self.keys, self.trainable = keys, trainable

    def __call__(
        self, column: Any, name: str, dims: Any, initializer: Any, trainable: bool = True
    ) -> Any:
        return get_variable(
            name, shape=dims, dtype=dtypes.float32, initializer=initializer,
            trainable=trainable and self.trainable, collections=self.keys,
        )  # fmt: skip


def collected(weight_collections: Iterable[str] | None, trainable: bool) -> MakeVariable:
    """Makes variables by ``tf.get_variable`` in the current scope, in collections of a model."""
    return _Collected(model_collections(weight_collections), trainable)


def make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """How ``tf.parse_example`` reads what columns need.

    Args:
      feature_columns: the columns.

    Returns:
      A dict from keys to ``FixedLenFeature`` or ``VarLenFeature``.

    Raises:
      ValueError: one is no column, or two read one feature in different ways.

    Example:
      >>> import penstock as tf
      >>> tf.feature_column.make_parse_example_spec([tf.feature_column.numeric_column("a")])
      {'a': FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)}
    """
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"All feature_columns must be _FeatureColumn instances. Given: {column!r}"
            )
        for key, spec in column.parse_example_spec.items():
            if found.setdefault(key, spec) != spec:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {spec} and"
                    f" {found[key]}"
                )
    return found
