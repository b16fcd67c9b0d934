"""The networks of canned estimators, from features to logits; names are TensorFlow 1.15's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import scopes
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.library.layers.normalization import BatchNormalization
from penstock.library.nn.normalization import zero_fraction
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.library.variables.partition import PartitionedVariable
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import constant, fill, ranks, shape as shaping
from penstock.ops.array.cast import cast, to_float
from penstock.ops.control import check
from penstock.ops.control.control import identity
from penstock.ops.linalg.matmul import matmul
from penstock.ops.math import comparison
from penstock.ops.math.addn import add_n
from penstock.ops.math.binary import multiply
from penstock.ops.nn.bias import bias_add
from penstock.ops.nn.dropout import dropout
from penstock.storage.summary.build import histogram, scalar
from penstock.training.estimator.calling import arguments_of
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.feature_column import layers
from penstock.training.feature_column.column import normalized


def check_features(features: Any) -> None:
    """Checks that features are a dict.

    Raises:
      ValueError: they are not.
    """
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
        )


# ---- deep ----------------------------------------------------------------------------------------


def deep_logits(
    features: Mapping[str, Any],
    mode: str,
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Any,
    activation_fn: Callable[[Any], Any] | None,
    dropout_rate: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool = False,
) -> Any:
    """The logits of a network of dense layers over columns.

    Args:
      features: the features.
      mode: a value of ``ModeKeys``.
      units: how many logits there are.
      hidden_units: the sizes of the hidden layers.
      feature_columns: dense columns.
      activation_fn: of the hidden layers.
      dropout_rate: what part of a hidden layer's outputs is dropped as it is trained.
      input_layer_partitioner: cuts the variables of columns.
      batch_norm: whether a hidden layer's outputs are normalized over the batch.
    """
    with variable_scope("input_from_feature_columns", partitioner=input_layer_partitioner):
        net = layers.dense_features(features, feature_columns, "input_layer")
    for number, size in enumerate(hidden_units):
        with variable_scope(f"hiddenlayer_{number}") as scope:
            net = _dense(net, size, activation_fn)
        if dropout_rate is not None and mode == ModeKeys.TRAIN:
            with scopes.name_scope("dropout"):
                net = dropout(net, rate=dropout_rate)
        if batch_norm:
            net = _normalized(net, scope, f"batchnorm_{number}", mode == ModeKeys.TRAIN)
        summarize(net, scope.name)
    with variable_scope("logits"):
        logits = _dense(net, units, None)
        name = get_variable_scope().name
    summarize(logits, name)
    return logits


def _normalized(net: Any, scope: Any, name: str, training: bool) -> Any:
    """Batch normalization in the variable and name scope of a layer."""
    with (
        variable_scope(scope, auxiliary_name_scope=False, use_resource=True),
        scopes.name_scope(scope.original_name_scope),
    ):
        # 0.99, which is the layer's own default, diverges on some problems.
        return BatchNormalization(momentum=0.999, name=name, _scope=name)(net, training=training)


def _dense(net: Any, size: int, activation_fn: Callable[[Any], Any] | None) -> Any:
    kernel = get_variable(
        "kernel", shape=[dimension_value(net.shape[-1]), size], dtype=dtypes.float32,
        initializer=initializers.glorot_uniform_initializer(), use_resource=True,
    )  # fmt: skip
    bias = get_variable(
        "bias", shape=[size], dtype=dtypes.float32,
        initializer=initializers.zeros_initializer(), use_resource=True,
    )  # fmt: skip
    sums = bias_add(matmul(net, kernel), bias, name="BiasAdd")
    return sums if activation_fn is None else activation_fn(sums)


def summarize(value: Any, tag: str) -> None:
    """Adds the summaries of a layer's values."""
    scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}/activation", value)


def deep_logit_fn(
    units: int, hidden_units: Sequence[int], feature_columns: Any,
    activation_fn: Callable[[Any], Any] | None, dropout: float | None,
    input_layer_partitioner: Any, batch_norm: bool,
) -> Callable[..., Any]:  # fmt: skip
    """A function of features and a mode that makes the logits of dense layers over columns.

    Args:
      units: how many logits there are.
      hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm:
        as of ``DNNEstimator``.

    Raises:
      ValueError: ``units`` is no integer.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features: Any, mode: str) -> Any:
        return deep_logits(
            features, mode, units, hidden_units, feature_columns, activation_fn, dropout,
            input_layer_partitioner, batch_norm,
        )  # fmt: skip

    return dnn_logit_fn


# ---- linear --------------------------------------------------------------------------------------


def linear_logits(
    features: Mapping[str, Any], units: int, feature_columns: Any, combiner: str
) -> Any:
    """The logits of a linear model over columns.

    Args:
      features: the features.
      units: how many logits there are.
      feature_columns: the columns.
      combiner: how the weights of an example's categories are combined.
    """
    made = layers.linear_sum(features, feature_columns, units, combiner, "linear_model")
    bias = _parts([made.bias])
    if units > 1:
        histogram("bias", bias)
    else:
        scalar("bias", bias[0][0])
    scalar("fraction_of_zero_weights", _zero_part(_parts(made.weights)))
    return made.logits


def linear_logit_fn(
    units: int, feature_columns: Any, sparse_combiner: str = "sum"
) -> Callable[..., Any]:
    """A function of features that makes the logits of a linear model over columns.

    Args:
      units: how many logits there are.
      feature_columns, sparse_combiner: as of ``LinearEstimator``.
    """

    def linear_logit_fn(features: Any) -> Any:
        return linear_logits(features, units, normalized(feature_columns), sparse_combiner)

    return linear_logit_fn


def called_logit_fn(
    logit_fn: Callable[..., Any], features: Any, mode: str, params: Any, config: Any
) -> Any:
    """Calls a function that makes logits, with what of the other arguments it takes.

    Raises:
      ValueError: it returns neither a tensor nor a dict of them.
    """
    names = arguments_of(logit_fn)
    given = {"mode": mode, "params": params, "config": config}
    found = logit_fn(features=features, **{k: v for k, v in given.items() if k in names})
    each = found.items() if isinstance(found, dict) else [("", found)]
    if not all(isinstance(k, str) and isinstance(v, Tensor) for k, v in each):
        raise ValueError(
            "logit_fn should return a Tensor or a dictionary mapping strings to Tensors. "
            f" logit_fn returned: {found}"
        )
    return found


def _parts(variables: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for each in variables:
        found += list(each) if isinstance(each, PartitionedVariable) else [each]
    return found


def _zero_part(variables: Sequence[Any]) -> Any:
    """How much of all variables together is zero."""
    with scopes.name_scope("zero_fraction"):
        with scopes.name_scope("total_size"):
            sizes = [ranks.size(v, out_type=dtypes.int64) for v in variables]
            whole = add_n(sizes)
        with scopes.name_scope("total_zero"):
            zeros = add_n([_zeros_of(v, size) for v, size in zip(variables, sizes)])
        with scopes.name_scope("compute"):
            found = zeros / cast(whole, dtypes.float32, name="float32_size")
        return identity(found, name="zero_fraction_or_nan")


def _zeros_of(variable: Any, size: Any) -> Any:
    return cond(
        comparison.equal(size, constant.constant(0, dtype=dtypes.int64)),
        true_fn=lambda: constant.constant(0, dtype=dtypes.float32),
        false_fn=lambda: zero_fraction(variable) * to_float(size),
        name="zero_count",
    )


# ---- baseline ------------------------------------------------------------------------------------


def baseline_logits(features: Mapping[str, Any], units: int, weight_key: str | None) -> Any:
    """Logits that are the same for each example.

    Args:
      features: the features, of which only the batch counts.
      units: how many logits there are.
      weight_key: the key of weights, which is no feature.
    """
    checks, batch = [], None
    for key, feature in features.items():
        if key == weight_key:
            continue
        first: Any = shaping.shape(feature)
        if batch is None:
            batch = first[0]
        else:
            checks.append(check.assert_equal(batch, first[0]))
    with scopes.control_dependencies(checks), variable_scope("baseline"):
        bias = get_variable("bias", shape=[units], initializer=initializers.zeros_initializer)
        return multiply(bias, fill.ones([batch, units]))
