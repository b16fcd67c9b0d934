"""The model functions of canned estimators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.global_step import get_global_step
from penstock.library.variables.partition import min_max_variable_partitioner
from penstock.library.variables.scoping import variable_scope
from penstock.ops.control.control import group
from penstock.ops.state.state_update import assign_add
from penstock.training.estimator.canned import networks
from penstock.training.estimator.canned.heads import Head
from penstock.training.estimator.canned.optimizers import optimizer_of
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.feature_column.column import normalized
from penstock.training.feature_column.numeric import NumericColumn
from penstock.training.train.sync_replicas import SyncReplicasOptimizer

_DEEP_RATE, _LINEAR_RATE, _BASELINE_RATE = 0.05, 0.2, 0.3
_COMBINED_DEEP_RATE, _COMBINED_LINEAR_RATE = 0.001, 0.005
_LARGE = 64 << 20


def _cut(config: Any, least: int | None = None) -> Any:
    """The partitioner for as many parameter servers as there are."""
    count = config.num_ps_replicas if config else 0
    more = {} if least is None else {"min_slice_size": least}
    return min_max_variable_partitioner(max_partitions=count, **more)


def deep(
    head: Head,
    hidden_units: Sequence[int],
    feature_columns: Any,
    optimizer: Any,
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool = False,
) -> Callable[..., EstimatorSpec]:
    """A model of dense layers; arguments are those of ``DNNEstimator``."""

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        made = optimizer_of(optimizer, _DEEP_RATE)
        networks.check_features(features)
        with variable_scope("dnn", values=list(features.values()), partitioner=_cut(config)):
            partitioner = input_layer_partitioner or _cut(config, _LARGE)
            logits = networks.deep_logits(
                features, mode, head.logits_dimension, hidden_units, feature_columns,
                activation_fn, dropout, partitioner, batch_norm,
            )  # fmt: skip
            return head.create_estimator_spec(features, mode, logits, labels, optimizer=made)

    return model_fn


def linear(
    head: Head, feature_columns: Any, optimizer: Any, partitioner: Any, sparse_combiner: str
) -> Callable[..., EstimatorSpec]:
    """A linear model; arguments are those of ``LinearEstimator``."""

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        networks.check_features(features)
        columns = normalized(feature_columns)
        fewer = min(_LINEAR_RATE, 1.0 / math.sqrt(len(columns)))
        cut = partitioner or _cut(config, _LARGE)
        with variable_scope("linear", values=tuple(features.values()), partitioner=cut):
            logits = networks.linear_logits(
                features, head.logits_dimension, columns, sparse_combiner
            )
            given, rate = (optimizer, _LINEAR_RATE) if optimizer else ("Ftrl", fewer)
            made = optimizer_of(given, rate)
            return head.create_estimator_spec(features, mode, logits, labels, optimizer=made)

    return model_fn


def combined(
    head: Head,
    linear_feature_columns: Any,
    linear_optimizer: Any,
    dnn_feature_columns: Any,
    dnn_optimizer: Any,
    dnn_hidden_units: Sequence[int] | None,
    dnn_activation_fn: Callable[[Any], Any] | None,
    dnn_dropout: float | None,
    input_layer_partitioner: Any,
    linear_sparse_combiner: str,
    batch_norm: bool = False,
) -> Callable[..., EstimatorSpec]:
    """A linear and a deep model; arguments are those of ``DNNLinearCombinedEstimator``.

    Raises:
      ValueError: neither has columns.
    """
    linear_columns, deep_columns = (
        list(linear_feature_columns or ()),
        list(dnn_feature_columns or ()),
    )
    if not linear_columns and not deep_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    if deep_columns and not dnn_hidden_units:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        networks.check_features(features)
        cut = input_layer_partitioner or _cut(config, _LARGE)
        values, units = list(features.values()), head.logits_dimension
        parts, trained = [], []
        if deep_columns:
            made = _not_in_step(optimizer_of(dnn_optimizer, _COMBINED_DEEP_RATE))
            with variable_scope("dnn", values=values, partitioner=_cut(config)) as scope:
                trained.append((made, scope.name))
                parts.append(
                    networks.deep_logits(
                        features, mode, units, dnn_hidden_units or (), deep_columns,
                        dnn_activation_fn, dnn_dropout, cut, batch_norm,
                    )
                )  # fmt: skip
        if linear_columns:
            rate = min(_COMBINED_LINEAR_RATE, 1.0 / math.sqrt(len(linear_columns)))
            made = _not_in_step(optimizer_of(linear_optimizer, rate))
            with variable_scope("linear", values=values, partitioner=cut) as scope:
                trained.append((made, scope.name))
                found = networks.linear_logits(
                    features, units, linear_columns, linear_sparse_combiner
                )
                networks.summarize(found, scope.name)
                parts.append(found)
        logits = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        return head.create_estimator_spec(
            features, mode, logits, labels, train_op_fn=lambda loss: _all_steps(loss, trained)
        )

    return model_fn


def _not_in_step(optimizer: Any) -> Any:
    if isinstance(optimizer, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support multi optimizers case. Therefore, it is not"
            " supported in DNNLinearCombined model. Use DNNEstimator or LinearEstimator"
        )
    return optimizer


def _all_steps(loss: Any, trained: Sequence[tuple[Any, str]]) -> Any:
    """One step of each optimizer, for the variables of its scope, and of the global step."""
    key = GraphKeys.TRAINABLE_VARIABLES
    steps = [
        optimizer.minimize(loss, var_list=collecting.get_collection(key, scope=name))
        for optimizer, name in trained
    ]
    with scopes.control_dependencies([group(*steps)]):
        return assign_add(get_global_step(), 1).op


def baseline(head: Head, optimizer: Any, weight_column: Any) -> Callable[..., EstimatorSpec]:
    """A model that knows the labels' mean; arguments are those of ``BaselineEstimator``."""
    key = weight_column.key if isinstance(weight_column, NumericColumn) else weight_column

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        logits = networks.baseline_logits(features, head.logits_dimension, key)

        def train(loss: Any) -> Any:
            made = optimizer_of(optimizer, _BASELINE_RATE)
            return made.minimize(loss, global_step=get_global_step())

        return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train)

    return model_fn
