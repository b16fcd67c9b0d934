"""Heads of ``tf.contrib.learn``: predictions, losses and metrics made of a model's logits."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from penstock.library.nn.elementwise_losses import sigmoid_cross_entropy_with_logits
from penstock.library.variables import metrics, metrics_counts
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.cast import cast
from penstock.ops.array.join import concat
from penstock.ops.array.reshape import expand_dims, reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.squeeze import squeeze
from penstock.ops.control.control import identity, no_op
from penstock.ops.math import elementwise
from penstock.ops.math.argmax import argmax
from penstock.ops.math.binary import multiply, squared_difference
from penstock.ops.math.division import truediv
from penstock.ops.math.reduction import reduce_mean, reduce_sum
from penstock.ops.nn.softmax import softmax
from penstock.storage.summary.build import scalar

_THRESHOLD = 0.5


class Head(abc.ABC):
    """What makes a model of logits.

    Args:
      logits_dimension: how many logits an example has.
      label_name: which of several labels; None where there is one.
      weight_column_name: the feature that weights examples; None for none.
      name: its scope.
    """

    problem_type: int
    loss_name: str

    def __init__(
        self,
        logits_dimension: int,
        label_name: str | None,
        weight_column_name: str | None,
        name: str,
    ) -> None:
        self.logits_dimension = logits_dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._name = name
        self.head_name: str | None = None  # the name that was given, which metrics end with

    def called(self, head_name: str | None) -> Head:
        """The head, which has been given that name."""
        self.head_name = head_name
        return self

    def _ending(self, key: str) -> str:
        return key if self.head_name is None else f"{key}/{self.head_name}"

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """The ops of a model.

        Args:
          features: features by key.
          mode: a value of ``ModeKeys``.
          labels: labels, or labels by name; None to predict.
          train_op_fn: makes the training step of the loss.
          logits: [batch, ``logits_dimension``].
          logits_input: refused: give ``logits``.
          scope: variable scope; default the head's name.

        Raises:
          ValueError: there are no logits, or labels or ``train_op_fn`` are missing.
        """
        ModeKeys.validate(mode)
        if logits is None or logits_input is not None:
            raise ValueError("Must pass exactly one of logits and logits_input; give logits.")
        with variable_scope(scope, self._name, [logits]):
            with scopes.name_scope(None, "predictions", [logits]):
                predictions = self._predictions(logits)
            alternatives = {self._name: (self.problem_type, predictions)}
            if mode == ModeKeys.INFER or labels is None:
                if mode != ModeKeys.INFER:
                    raise ValueError("labels must be given to train and to evaluate")
                return ModelFnOps(mode, predictions, output_alternatives=alternatives)
            return self._fitted(
                features, mode, self._label(labels), train_op_fn, logits, predictions, alternatives
            )

    def _fitted(
        self, features: Any, mode: str, labels: Any, train_op_fn: Callable[[Any], Any] | None,
        logits: Any, predictions: dict[str, Any], alternatives: dict[str, Any],
    ) -> ModelFnOps:  # fmt: skip
        weights = self._weights(features)
        with scopes.name_scope(None, self.loss_name, [logits, labels]) as name:
            losses = self._losses(logits, labels, name)
            loss, average = _weighted_loss(losses, weights, self._spread)
        with scopes.name_scope(""):
            scalar(self._ending("loss"), identity(average))
        train_op = None
        if mode == ModeKeys.TRAIN:
            if train_op_fn is None:
                raise ValueError("train_op_fn can not be None in TRAIN mode")
            shape_of(logits)[0]
            with scopes.name_scope(None, "train_op", [loss, labels]):
                train_op = train_op_fn(loss)
        with scopes.name_scope(None, "metrics", [average, labels]):
            measured = {"loss": metrics.mean(average)}
            measured.update(self._metrics(labels, predictions, weights))
            measured = {self._ending(key): metric for key, metric in measured.items()}
        # The evaluation measures the mean of what is reported; TensorFlow measures this one itself.
        reported = loss if mode == ModeKeys.TRAIN else average
        return ModelFnOps(mode, predictions, reported, train_op, measured, alternatives)

    def _label(self, labels: Any) -> Any:
        if isinstance(labels, Mapping):
            if self._label_name is None and len(labels) != 1:
                raise ValueError(f"label_name must be given of labels {sorted(labels)}")
            name = self._label_name or next(iter(labels))
            if name not in labels:
                raise ValueError(f"Unexpected label name {name!r}; labels are {sorted(labels)}")
            labels = labels[name]
        labels = convert_to_tensor(labels)
        return expand_dims(labels, -1) if labels.get_shape().ndims == 1 else labels

    def _weights(self, features: Any) -> Any:
        if not self._weight_column_name:
            return None
        weights = cast(features[self._weight_column_name], dtypes.float32)
        return expand_dims(weights, 1) if weights.get_shape().ndims == 1 else weights

    @abc.abstractmethod
    def _predictions(self, logits: Any) -> dict[str, Any]:
        """The predictions by name."""

    @abc.abstractmethod
    def _losses(self, logits: Any, labels: Any, name: str) -> Any:
        """The loss of each example."""

    def _spread(self, weights: Any, losses: Any) -> Any:
        """The weights as they multiply losses."""
        return weights

    def _metrics(self, labels: Any, predictions: dict[str, Any], weights: Any) -> dict[str, Any]:
        """The metrics by name, but for the loss."""
        return {}


def _weighted_loss(losses: Any, weights: Any, spread: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """The mean of weighted losses, and the weighted mean."""
    with scopes.name_scope(None, "loss", [losses, weights]) as name:
        if weights is None:
            loss = reduce_mean(losses, name=name)
            return loss, loss
        weights = reshape(weights, [-1, 1]) if weights.get_shape().ndims != 2 else weights
        weights = spread(weights, losses)
        weighted = multiply(losses, weights, name="weighted_loss")
        mean = reduce_mean(weighted, name=name)
        whole = truediv(
            reduce_sum(weighted), cast(reduce_sum(weights), dtypes.float32),
            name="weighted_average_loss",
        )  # fmt: skip
        return mean, whole


class BinaryHead(Head):
    """Two classes by one logit."""

    problem_type = ProblemType.LOGISTIC_REGRESSION
    loss_name = "log_loss_with_two_classes"

    def _predictions(self, logits: Any) -> dict[str, Any]:
        both = concat((elementwise.zeros_like(logits), logits), 1)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.LOGISTIC: elementwise.sigmoid(logits, name="logistic"),
            PredictionKey.PROBABILITIES: softmax(both, name="probabilities"),
            PredictionKey.CLASSES: argmax(both, 1, name="classes"),
        }

    def _losses(self, logits: Any, labels: Any, name: str) -> Any:
        labels = cast(labels, dtypes.float32)
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)

    def _metrics(self, labels: Any, predictions: dict[str, Any], weights: Any) -> dict[str, Any]:
        logistic = predictions[PredictionKey.LOGISTIC]
        at = f"threshold_{_THRESHOLD:f}_mean"
        found: dict[str, Any] = {
            "accuracy": metrics.accuracy(labels, predictions[PredictionKey.CLASSES], weights),
            "labels/prediction_mean": metrics.mean(logistic, weights),
            "labels/actual_label_mean": metrics.mean(labels, weights),
            "accuracy/baseline_label_mean": metrics.mean(labels, weights),
            "auc": metrics_counts.auc(labels, logistic, weights),
            "auc_precision_recall": metrics_counts.auc(labels, logistic, weights, curve="PR"),
        }
        above = cast(logistic >= _THRESHOLD, dtypes.float32)
        found[f"accuracy/{at}"] = metrics.accuracy(labels, above, weights)
        for what, measure in (
            ("precision", metrics_counts.precision_at_thresholds),
            ("recall", metrics_counts.recall_at_thresholds),
        ):
            pair = measure(labels, logistic, (_THRESHOLD,), weights=weights)
            found[f"{what}/positive_{at}"] = tuple(squeeze(each) for each in pair)
        return found


class MultiClassHead(Head):
    """Several classes by a logit each."""

    problem_type = ProblemType.CLASSIFICATION
    loss_name = "softmax_cross_entropy_loss"

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.CLASSES: argmax(logits, 1, name="classes"),
            PredictionKey.PROBABILITIES: softmax(logits, name="probabilities"),
        }

    def _losses(self, logits: Any, labels: Any, name: str) -> Any:
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
        labels = squeeze(labels, axis=[1]) if labels.get_shape().ndims == 2 else labels
        found = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
        return expand_dims(found, axis=1)

    def _metrics(self, labels: Any, predictions: dict[str, Any], weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        return {"accuracy": metrics.accuracy(labels, classes, weights)}


class RegressionHead(Head):
    """Numbers by a logit each."""

    problem_type = ProblemType.LINEAR_REGRESSION
    loss_name = "mean_squared_loss"

    def _predictions(self, logits: Any) -> dict[str, Any]:
        if self.logits_dimension == 1:
            logits = squeeze(logits, axis=[1], name="scores")
        return {PredictionKey.SCORES: identity(logits)}

    def _losses(self, logits: Any, labels: Any, name: str) -> Any:
        return squared_difference(logits, cast(labels, dtypes.float32), name=name)


# ---- public functions ----------------------------------------------------------------------------


def refuse(function: str, **given: Any) -> None:
    """Refuses arguments that are used and not there."""
    used = sorted(name for name, value in given.items() if value)
    if used:
        raise NotImplementedError(
            f"tf.contrib.learn.{function}: {', '.join(used)} is not there; the heads of"
            " tf.contrib.estimator and tf.estimator have more"
        )


def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Any = None,
    metric_class_ids: Any = None,
    loss_fn: Any = None,
    label_keys: Any = None,
) -> Head:
    """A head for classes.

    Args:
      n_classes: how many there are; labels are below it.
      label_name: which of several labels.
      weight_column_name: the feature that weights examples.
      head_name: its scope; default "binary_logistic_head" or "multi_class_head".
      enable_centered_bias, thresholds, metric_class_ids, loss_fn, label_keys: accepted without
        effect only.

    Raises:
      ValueError: fewer than two classes.
      NotImplementedError: one of those is used.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    refuse(
        "multi_class_head", enable_centered_bias=enable_centered_bias, thresholds=thresholds,
        metric_class_ids=metric_class_ids, loss_fn=loss_fn, label_keys=label_keys,
    )  # fmt: skip
    if n_classes == 2:
        name = head_name or "binary_logistic_head"
        return BinaryHead(1, label_name, weight_column_name, name).called(head_name)
    name = head_name or "multi_class_head"
    return MultiClassHead(n_classes, label_name, weight_column_name, name).called(head_name)


def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Any = None,
) -> Head:
    """A head for numbers, by squared differences.

    Args:
      label_name: which of several labels.
      weight_column_name: the feature that weights examples.
      label_dimension: how many numbers an example has.
      head_name: its scope; default "regression_head".
      enable_centered_bias, link_fn: accepted without effect only.

    Raises:
      NotImplementedError: one of those is used.
    """
    refuse("regression_head", enable_centered_bias=enable_centered_bias, link_fn=link_fn)
    name = head_name or "regression_head"
    return RegressionHead(label_dimension, label_name, weight_column_name, name).called(head_name)


def no_op_train_fn(loss: Any) -> Any:
    """A ``train_op_fn`` that does nothing.

    Args:
      loss: not used.
    """
    return no_op()
