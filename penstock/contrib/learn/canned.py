"""Estimators of ``tf.contrib.learn`` that bring their model: linear ones and networks.

Scopes and variables are those of TensorFlow 1.15: ``linear/age/weight``, ``dnn/hiddenlayer_0``.
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
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.heads import Head, multi_class_head, regression_head
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, PredictionKey
from penstock.foundation.graph import collecting
from penstock.library.autodiff.gradients import gradients
from penstock.library.nn.normalization import zero_fraction
from penstock.library.variables.global_step import get_global_step
from penstock.library.variables.partition import min_max_variable_partitioner
from penstock.library.variables.scoping import variable_scope
from penstock.ops.math.clip import clip_by_global_norm
from penstock.ops.nn.activation import relu
from penstock.storage.summary.build import histogram, scalar
from penstock.training.train.ftrl import FtrlOptimizer

_LARGE_PART = 64 << 20  # bytes: smaller variables are not cut
_RATE_OF_NETWORKS = 0.05


def _by_key(features: Any) -> Mapping[str, Any]:
    return features if isinstance(features, Mapping) else {"": features}


def _partitioner(config: Any) -> Any:
    return min_max_variable_partitioner(
        max_partitions=config.num_ps_replicas, min_slice_size=_LARGE_PART
    )


def _made(optimizer: Any, rate: float) -> Any:
    if optimizer is None:
        return FtrlOptimizer(learning_rate=rate)
    if isinstance(optimizer, str):
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    return optimizer() if callable(optimizer) else optimizer


# ---- linear --------------------------------------------------------------------------------------


def _linear_model_fn(
    features: Any, labels: Any, mode: str, params: Mapping[str, Any], config: Any
) -> ModelFnOps:
    head, columns = params["head"], params["feature_columns"]
    features = _by_key(features)
    rate = min(0.2, 1.0 / math.sqrt(len(columns)))
    optimizer = _made(params["optimizer"], rate)
    weigh = weighted_sum_from_feature_columns
    if params["joint_weights"]:
        weigh = joint_weighted_sum_from_feature_columns  # type: ignore[assignment]
    values = list(features.values())
    with variable_scope("linear", values=values, partitioner=_partitioner(config)) as scope:
        logits, _, _ = weigh(
            features, columns, head.logits_dimension, weight_collections=["linear"], scope=scope
        )

        def train_op(loss: Any) -> Any:
            trained = collecting.get_collection("linear")
            found = gradients(loss, trained)
            if params["gradient_clip_norm"]:
                found, _ = clip_by_global_norm(found, params["gradient_clip_norm"])
            pairs = list(zip(found, trained, strict=True))
            return optimizer.apply_gradients(pairs, global_step=get_global_step())

        made: ModelFnOps = head.create_model_fn_ops(features, mode, labels, train_op, logits)
        return made


class LinearEstimator(Estimator):
    """A linear model with a head.

    Args:
      feature_columns: columns of ``tf.contrib.layers``.
      head: a head, as ``multi_class_head`` makes it.
      model_dir: directory of checkpoints and events.
      weight_column_name: accepted for TensorFlow's sake: heads know it.
      optimizer: an optimizer, its name, or a function that makes it; default FTRL.
      gradient_clip_norm: the norm that all gradients are cut to.
      config: a ``RunConfig``.
      feature_engineering_fn: from features and labels to those of the model.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        head: Head,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        params = {
            "head": head, "feature_columns": tuple(feature_columns), "optimizer": optimizer,
            "gradient_clip_norm": gradient_clip_norm, "joint_weights": _joint_weights,
        }  # fmt: skip
        super().__init__(_linear_model_fn, model_dir, config, params, feature_engineering_fn)


class Classes(Estimator):
    """What classifiers of ``tf.contrib.learn`` predict."""

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The class of each example.

        Args:
          x, input_fn, batch_size, as_iterable: as of ``Estimator.predict``.
        """
        return self._predicted(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probability of each class for each example.

        Args:
          x, input_fn, batch_size, as_iterable: as of ``Estimator.predict``.
        """
        return self._predicted(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The class of each example; with ``outputs`` the predictions named there."""
        if outputs:
            return Estimator.predict(
                self, x, input_fn, batch_size, outputs, as_iterable, iterate_batches
            )
        return self.predict_classes(x, input_fn, batch_size, as_iterable)

    def _predicted(
        self, key: str, x: Any, input_fn: Any, batch_size: int | None, as_iterable: bool
    ) -> Any:
        found = Estimator.predict(self, x, input_fn, batch_size, [key], as_iterable)
        return (each[key] for each in found) if as_iterable else found[key]


class Scores(Estimator):
    """What regressors of ``tf.contrib.learn`` predict."""

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The number of each example.

        Args:
          x, input_fn, batch_size, as_iterable: as of ``Estimator.predict``.
        """
        key = PredictionKey.SCORES
        found = Estimator.predict(self, x, input_fn, batch_size, [key], as_iterable)
        return (each[key] for each in found) if as_iterable else found[key]

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The number of each example; with ``outputs`` the predictions named there."""
        if outputs:
            return Estimator.predict(
                self, x, input_fn, batch_size, outputs, as_iterable, iterate_batches
            )
        return self.predict_scores(x, input_fn, batch_size, as_iterable)


class LinearClassifier(Classes, LinearEstimator):
    """A linear model of classes.

    Args:
      feature_columns, model_dir, optimizer, gradient_clip_norm, config,
        feature_engineering_fn: as of ``LinearEstimator``.
      n_classes: how many classes there are.
      weight_column_name: the feature that weights examples.
      enable_centered_bias, label_keys: accepted without effect only.

    Raises:
      NotImplementedError: one of those is used.

    Example:
      >>> import penstock as tf
      >>> age = tf.contrib.layers.real_valued_column("age")
      >>> data = lambda: ({"age": tf.constant([[1.0], [9.0]])}, tf.constant([0, 1]))
      >>> model = tf.contrib.learn.LinearClassifier([age]).fit(input_fn=data, steps=100)
      >>> [int(each) for each in model.predict(input_fn=data)]
      [0, 1]
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        label_keys: Any = None,
    ) -> None:
        head = multi_class_head(
            n_classes, weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias, label_keys=label_keys,
        )  # fmt: skip
        super().__init__(
            feature_columns, head, model_dir, None, optimizer, gradient_clip_norm, _joint_weight,
            config, feature_engineering_fn,
        )  # fmt: skip


class LinearRegressor(Scores, LinearEstimator):
    """A linear model of numbers.

    Args:
      feature_columns, model_dir, optimizer, gradient_clip_norm, config,
        feature_engineering_fn: as of ``LinearEstimator``.
      weight_column_name: the feature that weights examples.
      label_dimension: how many numbers an example has.
      enable_centered_bias: accepted without effect only.

    Raises:
      NotImplementedError: it is used.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        head = regression_head(
            weight_column_name=weight_column_name, label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )  # fmt: skip
        super().__init__(
            feature_columns, head, model_dir, None, optimizer, gradient_clip_norm, _joint_weights,
            config, feature_engineering_fn,
        )  # fmt: skip


# ---- networks ------------------------------------------------------------------------------------


def _dnn_model_fn(
    features: Any, labels: Any, mode: str, params: Mapping[str, Any], config: Any
) -> ModelFnOps:
    head = params["head"]
    features = _by_key(features)
    optimizer = params["optimizer"] or "Adagrad"
    optimizer = optimizer() if callable(optimizer) else optimizer
    values = list(features.values())
    with variable_scope("dnn", values=values, partitioner=_partitioner(config)):
        with variable_scope("input_from_feature_columns", values=values) as inner:
            net = input_from_feature_columns(
                features, params["feature_columns"], weight_collections=["dnn"], scope=inner
            )
        for number, size in enumerate(params["hidden_units"]):
            net = _hidden(net, number, size, mode, params)
        with variable_scope("logits", values=[net]) as inner:
            logits = fully_connected(
                net, head.logits_dimension, activation_fn=None, variables_collections=["dnn"],
                scope=inner,
            )  # fmt: skip
        _summarize(logits, inner.name)

        def train_op(loss: Any) -> Any:
            return optimize_loss(
                loss, get_global_step(), learning_rate=_RATE_OF_NETWORKS, optimizer=optimizer,
                clip_gradients=params["gradient_clip_norm"], name="dnn", summaries=[],
            )  # fmt: skip

        made: ModelFnOps = head.create_model_fn_ops(features, mode, labels, train_op, logits)
        return made


def _hidden(net: Any, number: int, size: int, mode: str, params: Mapping[str, Any]) -> Any:
    with variable_scope(f"hiddenlayer_{number}", values=[net]) as inner:
        net = fully_connected(
            net, size, activation_fn=params["activation_fn"], variables_collections=["dnn"],
            scope=inner,
        )  # fmt: skip
        if params["dropout"] is not None and mode == ModeKeys.TRAIN:
            net = dropout_layer(net, keep_prob=1.0 - params["dropout"])
    _summarize(net, inner.name)
    return net


def _summarize(net: Any, name: str) -> None:
    scalar(f"{name}_fraction_of_zero_values", zero_fraction(net))
    histogram(f"{name}_activation", net)


class DNNEstimator(Estimator):
    """A network with a head.

    Args:
      head: a head, as ``multi_class_head`` makes it.
      hidden_units: the sizes of the hidden layers.
      feature_columns: columns of ``tf.contrib.layers``.
      model_dir: directory of checkpoints and events.
      optimizer: an optimizer, its name, or a function that makes it; default Adagrad.
      activation_fn: of hidden layers.
      dropout: what part of a hidden layer's outputs is dropped as it is trained.
      gradient_clip_norm: the norm that all gradients are cut to.
      config: a ``RunConfig``.
      feature_engineering_fn: from features and labels to those of the model.
    """

    def __init__(
        self,
        head: Head,
        hidden_units: Iterable[int],
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        params = {
            "head": head, "hidden_units": tuple(hidden_units), "optimizer": optimizer,
            "feature_columns": tuple(feature_columns), "activation_fn": activation_fn,
            "dropout": dropout, "gradient_clip_norm": gradient_clip_norm,
        }  # fmt: skip
        super().__init__(_dnn_model_fn, model_dir, config, params, feature_engineering_fn)


class DNNClassifier(Classes, DNNEstimator):
    """A network of classes.

    Args:
      hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
        gradient_clip_norm, config, feature_engineering_fn: as of ``DNNEstimator``.
      n_classes: how many classes there are.
      weight_column_name: the feature that weights examples.
      enable_centered_bias, label_keys: accepted without effect only.

    Raises:
      NotImplementedError: one of those is used.
    """

    def __init__(
        self,
        hidden_units: Iterable[int],
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        label_keys: Any = None,
    ) -> None:
        head = multi_class_head(
            n_classes, weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias, label_keys=label_keys,
        )  # fmt: skip
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
            gradient_clip_norm, config, feature_engineering_fn,
        )  # fmt: skip


class DNNRegressor(Scores, DNNEstimator):
    """A network of numbers.

    Args:
      hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
        gradient_clip_norm, config, feature_engineering_fn: as of ``DNNEstimator``.
      weight_column_name: the feature that weights examples.
      label_dimension: how many numbers an example has.
      enable_centered_bias: accepted without effect only.

    Raises:
      NotImplementedError: it is used.
    """

    def __init__(
        self,
        hidden_units: Iterable[int],
        feature_columns: Iterable[Any],
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        label_dimension: int = 1,
    ) -> None:
        head = regression_head(
            weight_column_name=weight_column_name, label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )  # fmt: skip
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
            gradient_clip_norm, config, feature_engineering_fn,
        )  # fmt: skip
