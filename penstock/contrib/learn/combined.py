"""``DNNLinearCombined*`` of ``tf.contrib.learn``: a linear model beside a network.

Each part has its own columns and optimizer; their logits are added. Scopes and variables are those
of TensorFlow 1.15.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from penstock.contrib.layers.columns.layers import (
    input_from_feature_columns,
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.optimizers import OPTIMIZER_CLS_NAMES, optimize_loss
from penstock.contrib.layers.shaping import dropout as dropout_layer
from penstock.contrib.learn.canned import Classes, Scores
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.heads import Head, multi_class_head, regression_head
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps
from penstock.foundation.graph import collecting, scopes
from penstock.library.nn.normalization import zero_fraction
from penstock.library.variables.global_step import get_global_step
from penstock.library.variables.partition import min_max_variable_partitioner
from penstock.library.variables.scoping import variable_scope
from penstock.ops.control.control import group
from penstock.ops.nn.activation import relu
from penstock.ops.state.state_update import assign_add
from penstock.storage.summary.build import histogram, scalar

_LARGE_PART = 64 << 20  # bytes: smaller variables are not cut
_RATE_OF_NETWORK = 0.05


def _optimizer(given: Any) -> Any:
    """An optimizer, or for ``optimize_loss`` a class that it gives a rate."""
    if isinstance(given, str):
        return OPTIMIZER_CLS_NAMES[given]
    return given() if callable(given) else given


def _model_fn(
    features: Any, labels: Any, mode: str, params: Mapping[str, Any], config: Any
) -> ModelFnOps:
    features = features if isinstance(features, Mapping) else {"": features}
    head, wide, deep = params["head"], params["linear_columns"], params["dnn_columns"]
    if not wide and not deep:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    parts = config.num_ps_replicas if config else 0
    deep_logits = _network(features, mode, params, parts) if deep else None
    wide_logits = _linear(features, params, parts) if wide else None
    if deep_logits is not None and wide_logits is not None:
        logits = deep_logits + wide_logits
    else:
        logits = wide_logits if deep_logits is None else deep_logits

    def train_op(loss: Any) -> Any:
        return _train_op(loss, params)

    made: ModelFnOps = head.create_model_fn_ops(features, mode, labels, train_op, logits)
    return made


def _network(features: Any, mode: str, params: Mapping[str, Any], parts: int) -> Any:
    if not params["hidden_units"]:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
    values = list(features.values())
    whole = params["input_layer_partitioner"] or min_max_variable_partitioner(
        max_partitions=parts, min_slice_size=_LARGE_PART
    )
    with variable_scope("dnn", values=values, partitioner=min_max_variable_partitioner(parts)):
        with variable_scope(
            "input_from_feature_columns", values=values, partitioner=whole
        ) as inner:
            net = input_from_feature_columns(
                features, params["dnn_columns"], weight_collections=["dnn"], scope=inner
            )
        for number, size in enumerate(params["hidden_units"]):
            with variable_scope(f"hiddenlayer_{number}", values=[net]) as inner:
                net = fully_connected(
                    net, size, activation_fn=params["activation_fn"],
                    variables_collections=["dnn"], scope=inner,
                )  # fmt: skip
                if params["dropout"] is not None and mode == ModeKeys.TRAIN:
                    net = dropout_layer(net, keep_prob=1.0 - params["dropout"])
            _summarize(net, inner.name)
        with variable_scope("logits", values=[net]) as inner:
            logits = fully_connected(
                net, params["head"].logits_dimension, activation_fn=None,
                variables_collections=["dnn"], scope=inner,
            )  # fmt: skip
        _summarize(logits, inner.name)
        return logits


def _summarize(net: Any, name: str) -> None:
    scalar(f"{name}/fraction_of_zero_values", zero_fraction(net))
    histogram(f"{name}/activation", net)


def _linear(features: Any, params: Mapping[str, Any], parts: int) -> Any:
    cut = min_max_variable_partitioner(max_partitions=parts, min_slice_size=_LARGE_PART)
    weigh: Any = weighted_sum_from_feature_columns
    if params["joint_weights"]:
        weigh = joint_weighted_sum_from_feature_columns
    with variable_scope("linear", values=list(features.values()), partitioner=cut) as scope:
        logits, _, _ = weigh(
            features, params["linear_columns"], params["head"].logits_dimension,
            weight_collections=["linear"], scope=scope,
        )  # fmt: skip
        _summarize(logits, scope.name)
        return logits


def _train_op(loss: Any, params: Mapping[str, Any]) -> Any:
    step, once = get_global_step(), params["counts_once"]

    def optimized(name: str, rate: float, optimizer: Any, multipliers: Any = None) -> Any:
        return optimize_loss(
            loss, step, learning_rate=rate, optimizer=optimizer, gradient_multipliers=multipliers,
            clip_gradients=params["gradient_clip_norm"], variables=collecting.get_collection(name),
            name=name, summaries=[], increment_global_step=not once,
        )  # fmt: skip

    ops = []
    if params["dnn_columns"]:
        optimizer = _optimizer(params["dnn_optimizer"] or "Adagrad")
        multipliers = _multipliers(params["embedding_lr_multipliers"])
        ops.append(optimized("dnn", _RATE_OF_NETWORK, optimizer, multipliers))
    if params["linear_columns"]:
        rate = min(0.2, 1.0 / math.sqrt(len(params["linear_columns"])))
        ops.append(optimized("linear", rate, _optimizer(params["linear_optimizer"] or "Ftrl")))
    trained = group(*ops)
    if not once:  # TensorFlow's: each part counts the step
        return trained
    with scopes.control_dependencies([trained]), scopes.colocate_with(step):
        return assign_add(step, 1).op


def _multipliers(by_column: Mapping[Any, float] | None) -> dict[Any, float] | None:
    """What gradients of embeddings are multiplied with, by variable."""
    if not by_column:
        return None
    found = {}
    for column, factor in by_column.items():
        for variable in collecting.get_collection("dnn"):
            if f"/{column.name}/" in variable.op.name:
                found[variable] = factor
    return found


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and a network whose logits are added, with a head.

    Args:
      head: a head, as ``multi_class_head`` makes it.
      model_dir: directory of checkpoints and events.
      linear_feature_columns: columns of the linear model, or None.
      linear_optimizer: an optimizer, its name, or a function that makes it; default FTRL.
      dnn_feature_columns: columns of the network, or None.
      dnn_optimizer: likewise; default Adagrad.
      dnn_hidden_units: the sizes of the hidden layers.
      dnn_activation_fn: of hidden layers; default relu.
      dnn_dropout: what part of a hidden layer's outputs is dropped as it is trained.
      gradient_clip_norm: the norm that the gradients of each part are cut to.
      config: a ``RunConfig``.
      feature_engineering_fn: from features and labels to those of the model.
      embedding_lr_multipliers: what gradients of embeddings are multiplied with, by column.
      fix_global_step_increment_bug: whether a training step counts once; else each part counts it.
      input_layer_partitioner: how variables of the network's columns are cut.

    Raises:
      ValueError: there are no columns at all.
    """

    def __init__(
        self, head: Head, model_dir: Any = None, linear_feature_columns: Any = None,
        linear_optimizer: Any = None, _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None, dnn_optimizer: Any = None, dnn_hidden_units: Any = None,
        dnn_activation_fn: Callable[[Any], Any] | None = None, dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None, config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        fix_global_step_increment_bug: bool = False, input_layer_partitioner: Any = None,
    ) -> None:  # fmt: skip
        linear, dnn = tuple(linear_feature_columns or ()), tuple(dnn_feature_columns or ())
        if not linear + dnn:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )
        params = {
            "head": head, "linear_columns": linear, "linear_optimizer": linear_optimizer,
            "joint_weights": _joint_linear_weights, "dnn_columns": dnn,
            "dnn_optimizer": dnn_optimizer, "hidden_units": dnn_hidden_units,
            "activation_fn": dnn_activation_fn or relu, "dropout": dnn_dropout,
            "gradient_clip_norm": gradient_clip_norm, "counts_once": fix_global_step_increment_bug,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_partitioner": input_layer_partitioner,
        }  # fmt: skip
        super().__init__(_model_fn, model_dir, config, params, feature_engineering_fn)


def _partitioner(config: Any, least: int | None) -> Any:
    parts = config.num_ps_replicas if config else 0
    return min_max_variable_partitioner(
        max_partitions=parts, min_slice_size=_LARGE_PART if least is None else least
    )


class DNNLinearCombinedClassifier(Classes, DNNLinearCombinedEstimator):
    """A linear model and a network of classes.

    Args:
      model_dir .. fix_global_step_increment_bug: as of ``DNNLinearCombinedEstimator``.
      n_classes: how many classes there are.
      weight_column_name: the feature that weights examples.
      input_layer_min_slice_size: bytes of a part of a variable of the network's columns.
      enable_centered_bias, label_keys: accepted without effect only.

    Raises:
      ValueError: there are no columns at all, or fewer than two classes.
      NotImplementedError: ``enable_centered_bias`` or ``label_keys`` is used.

    Example:
      >>> import penstock as tf
      >>> layers, learn = tf.contrib.layers, tf.contrib.learn
      >>> age, job = layers.real_valued_column("age"), layers.sparse_column_with_hash_bucket("j", 9)
      >>> def data():
      ...     jobs = tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1])
      ...     return {"age": tf.constant([[0.1], [0.9]]), "j": jobs}, tf.constant([0, 1])
      >>> model = learn.DNNLinearCombinedClassifier(
      ...     linear_feature_columns=[job], dnn_feature_columns=[age], dnn_hidden_units=[4],
      ...     fix_global_step_increment_bug=True)
      >>> [int(each) for each in model.fit(input_fn=data, steps=50).predict(input_fn=data)]
      [0, 1]
    """

    def __init__(
        self, model_dir: Any = None, n_classes: int = 2, weight_column_name: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None, linear_optimizer: Any = None,
        _joint_linear_weights: bool = False, dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = None, dnn_hidden_units: Any = None,
        dnn_activation_fn: Callable[[Any], Any] = relu, dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
        config: Any = None, feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None, label_keys: Any = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:  # fmt: skip
        head = multi_class_head(
            n_classes, weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias, label_keys=label_keys,
        )  # fmt: skip
        super().__init__(
            head, model_dir, linear_feature_columns, linear_optimizer, _joint_linear_weights,
            dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout,
            gradient_clip_norm, config, feature_engineering_fn, embedding_lr_multipliers,
            fix_global_step_increment_bug, _partitioner(config, input_layer_min_slice_size),
        )  # fmt: skip


class DNNLinearCombinedRegressor(Scores, DNNLinearCombinedEstimator):
    """A linear model and a network of numbers.

    Args:
      model_dir .. fix_global_step_increment_bug: as of ``DNNLinearCombinedEstimator``.
      weight_column_name: the feature that weights examples.
      label_dimension: how many numbers an example has.
      input_layer_min_slice_size: bytes of a part of a variable of the network's columns.
      enable_centered_bias: accepted without effect only.

    Raises:
      ValueError: there are no columns at all.
      NotImplementedError: ``enable_centered_bias`` is used.
    """

    def __init__(
        self, model_dir: Any = None, weight_column_name: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None, linear_optimizer: Any = None,
        _joint_linear_weights: bool = False, dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = None, dnn_hidden_units: Any = None,
        dnn_activation_fn: Callable[[Any], Any] = relu, dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
        label_dimension: int = 1, config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:  # fmt: skip
        head = regression_head(
            weight_column_name=weight_column_name, label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )  # fmt: skip
        super().__init__(
            head, model_dir, linear_feature_columns, linear_optimizer, _joint_linear_weights,
            dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout,
            gradient_clip_norm, config, feature_engineering_fn, embedding_lr_multipliers,
            fix_global_step_increment_bug, _partitioner(config, input_layer_min_slice_size),
        )  # fmt: skip
