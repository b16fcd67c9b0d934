"""Heads of canned estimators: from logits to loss, metrics, predictions and what is exported.

A head holds no state.  Nodes and keys are those of TensorFlow 1.15's canned heads.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.nn import losses
from penstock.library.nn.elementwise_losses import sigmoid_cross_entropy_with_logits
from penstock.library.variables import metrics, metrics_counts
from penstock.library.variables.global_step import get_global_step
from penstock.ops.array import join, reshape, squeeze
from penstock.ops.array.cast import to_float
from penstock.ops.control.control import group
from penstock.ops.math import binary, elementwise, reduction
from penstock.ops.math.addn import add_n
from penstock.ops.math.argmax import argmax
from penstock.ops.math.weights import broadcast_weights
from penstock.ops.nn.softmax import softmax
from penstock.storage.summary.build import scalar
from penstock.training.estimator.canned import head_checks
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.export_outputs import (
    ClassificationOutput,
    PredictOutput,
    RegressionOutput,
)
from penstock.training.estimator.heads.class_names import ClassNames
from penstock.training.estimator.mode_keys import ModeKeys


class HeadLoss(NamedTuple):
    training: Any
    unreduced: Any
    weights: Any
    labels: Any


class Head(abc.ABC):
    """What the heads share.

    Args:
      weight_column: key or ``numeric_column`` of the examples' weights, or None.
      loss_reduction: how the losses of a batch become one: a value of ``tf.losses.Reduction``.
      loss_fn: ``f(labels, logits, features)`` in place of the head's own loss; unreduced.
      name: behind a slash in the names of summaries and metrics.
    """

    logits_dimension: int

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: Any = losses.Reduction.SUM,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        head_checks.check_reduction(loss_reduction)
        if loss_fn is not None:
            head_checks.check_loss_fn(loss_fn)
        self._weight_column = weight_column
        self._loss_reduction, self._loss_fn = loss_reduction, loss_fn
        self.name = name

    def _key(self, key: str) -> str:
        return f"{key}/{self.name}" if self.name else key

    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        regularization_losses: Iterable[Any] | None = None,
    ) -> EstimatorSpec:
        """The ops of a model.

        Args:
          features: the features.
          mode: a value of ``ModeKeys``.
          logits: of shape [batch, logits_dimension].
          labels: the labels.
          optimizer: minimizes the loss.
          train_op_fn: ``f(loss) -> train_op``, in its place.
          regularization_losses: added to the loss.

        Raises:
          ValueError: both or none of ``optimizer`` and ``train_op_fn`` as a model is trained.
        """
        with scopes.name_scope(self.name, "head"):
            predictions, logits, outputs = self._predictions(logits, mode)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=outputs)
            loss = self._loss(features, logits, labels)
            regularization, whole = None, loss.training
            if regularization_losses:
                regularization = add_n(list(regularization_losses))
                whole = add_n([loss.training, regularization])
            if mode == ModeKeys.EVAL:
                found = loss
                if self._measures_given_labels:
                    found = loss._replace(labels=labels)
                made: Any = predictions, found, regularization
            else:
                train_op = _train_op(whole, optimizer, train_op_fn)
                mean = None
                if self._loss_reduction == losses.Reduction.SUM:
                    ones = loss.weights * elementwise.ones_like(loss.unreduced)
                    mean = loss.training / reduction.reduce_sum(ones)
        if mode == ModeKeys.EVAL:
            found_metrics = {self._key(k): v for k, v in self._metrics(*made).items()}
            return EstimatorSpec(mode, predictions, whole, eval_metric_ops=found_metrics)
        with scopes.name_scope(""):
            scalar(self._key("loss"), whole)
            if mean is not None:
                scalar(self._key("average_loss"), mean)
            if regularization is not None:
                scalar(self._key("regularization_loss"), regularization)
        return EstimatorSpec(mode, predictions, whole, train_op)

    _measures_given_labels = False

    @abc.abstractmethod
    def _predictions(self, logits: Any, mode: str) -> tuple[dict[str, Any], Any, dict[str, Any]]:
        """Predictions by key, checked logits, and what is exported (as a model predicts)."""

    @abc.abstractmethod
    def _loss(self, features: Mapping[str, Any], logits: Any, labels: Any) -> HeadLoss:
        """The loss of a batch and what it is made of."""

    @abc.abstractmethod
    def _metrics(
        self, predictions: dict[str, Any], loss: HeadLoss, regularization: Any
    ) -> dict[str, Any]:
        """Pairs of values and update ops by key."""

    def _reduced(
        self, unreduced: Any, features: Any, logits: Any, labels: Any, each_logit: bool = False
    ) -> HeadLoss:
        weights = head_checks.weights_of(features, self._weight_column, logits, each_logit)
        training = losses.compute_weighted_loss(
            unreduced, weights=weights, reduction=self._loss_reduction
        )
        return HeadLoss(training, unreduced, weights, labels)


def _train_op(loss: Any, optimizer: Any, train_op_fn: Callable[[Any], Any] | None) -> Any:
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is not None:
        made = optimizer.minimize(loss, global_step=get_global_step())
    elif train_op_fn is not None:
        made = train_op_fn(loss)
    else:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    updates = collecting.get_collection(GraphKeys.UPDATE_OPS)
    return group(made, *updates) if updates else made


def mean_of(name: str, what: str, values: Any, weights: Any) -> Any:
    """The weighted mean of labels or predictions."""
    with scopes.name_scope(name, f"{what}_mean", (values, weights)) as scope:
        values = to_float(values, name=what)
        weights = broadcast_weights(weights, values)
        return metrics.mean(values, weights=weights, name=scope)


# ---- classes -------------------------------------------------------------------------------------


class ClassHead(ClassNames, Head):
    """What the heads of classes share: their names, and what a model predicts of them."""


class MultiClassHead(ClassHead):
    """One class of three or more; the loss is the softmax cross entropy.

    Args:
      n_classes: how many classes there are.
      label_vocabulary: names of the classes, where labels are strings.
      weight_column, loss_reduction, loss_fn: as of ``Head``.

    Raises:
      ValueError: there are fewer classes, or the vocabulary is no list.
    """

    def __init__(self, n_classes: int, label_vocabulary: Any = None, **shared: Any) -> None:
        if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
            raise ValueError(
                "label_vocabulary should be a list or a tuple. Given type:"
                f" {type(label_vocabulary)}"
            )
        super().__init__(**shared)
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        self._n_classes = self.logits_dimension = n_classes
        self._label_vocabulary = label_vocabulary

    def _predictions(self, logits: Any, mode: str) -> tuple[dict[str, Any], Any, dict[str, Any]]:
        logits = head_checks.checked_logits(logits, self._n_classes)
        with scopes.name_scope(None, "predictions", (logits,)):
            all_ids, all_classes = self._all_class_ids(logits), self._all_classes(logits)
            class_ids = reshape.expand_dims(argmax(logits, axis=-1, name="class_ids"), axis=-1)
            classes = self._names(class_ids)
            probabilities = softmax(logits, name="probabilities")
        found = {
            "logits": logits, "probabilities": probabilities, "class_ids": class_ids,
            "classes": classes, "all_class_ids": all_ids, "all_classes": all_classes,
        }  # fmt: skip
        if mode != ModeKeys.PREDICT:
            return found, logits, {}
        classified = ClassificationOutput(probabilities, self._all_classes(probabilities))
        outputs = {
            "serving_default": classified, "classification": classified,
            "predict": PredictOutput(found),
        }  # fmt: skip
        return found, logits, outputs

    def _loss(self, features: Mapping[str, Any], logits: Any, labels: Any) -> HeadLoss:
        logits = convert_to_tensor(logits)
        labels = head_checks.checked_labels(labels, logits, 1)
        ids = head_checks.in_range(self._label_ids(labels), self._n_classes)
        if self._loss_fn is not None:
            unreduced = head_checks.called_loss(self._loss_fn, ids, logits, features)
        else:
            unreduced = losses.sparse_softmax_cross_entropy(
                labels=ids, logits=logits, reduction=losses.Reduction.NONE
            )
            unreduced = reshape.expand_dims(unreduced, axis=-1)
        return self._reduced(unreduced, features, logits, ids)

    def _label_ids(self, labels: Any) -> Any:
        if self._label_vocabulary is None:
            if not labels.dtype.is_integer:
                raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype!r}.")
            return labels
        if labels.dtype != dtypes.string:
            raise ValueError(
                "Labels dtype should be string if there is a vocabulary. Instead got"
                f" {labels.dtype!r}"
            )
        return self._ids(labels)

    def _metrics(
        self, predictions: dict[str, Any], loss: HeadLoss, regularization: Any
    ) -> dict[str, Any]:
        ids, weights = predictions["class_ids"], loss.weights
        with scopes.name_scope(None, "metrics", (loss.labels, ids, weights, loss.unreduced)):
            found = {
                "average_loss": metrics.mean(loss.unreduced, weights, name="average_loss"),
                "accuracy": metrics.accuracy(loss.labels, ids, weights, name="accuracy"),
            }
            if regularization is not None:
                found["regularization_loss"] = metrics.mean(
                    regularization, name="regularization_loss"
                )
        return found


class BinaryClassHead(ClassHead):
    """One class of two; the loss is the sigmoid cross entropy.

    Args:
      thresholds: of the probability, at which accuracy, precision and recall are measured.
      label_vocabulary: names of the classes, where labels are strings.
      weight_column, loss_reduction, loss_fn: as of ``Head``.

    Raises:
      ValueError: a threshold is not between 0 and 1.
      TypeError: the vocabulary is no list.
    """

    _n_classes = logits_dimension = 2

    def __init__(
        self, thresholds: Iterable[float] | None = None, label_vocabulary: Any = None, **shared: Any
    ) -> None:
        self._thresholds = tuple(thresholds or ())
        if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
            raise TypeError(
                f"label_vocabulary should be a list or tuple. Given type: {type(label_vocabulary)}"
            )
        if not all(0.0 < threshold < 1.0 for threshold in self._thresholds):
            raise ValueError(f"thresholds not in (0, 1): {self._thresholds}.")
        super().__init__(**shared)
        self.logits_dimension = 1
        self._label_vocabulary = label_vocabulary

    def _predictions(self, logits: Any, mode: str) -> tuple[dict[str, Any], Any, dict[str, Any]]:
        with scopes.name_scope(None, "predictions", (logits,)):
            logits = head_checks.checked_logits(logits, 1)
            logistic = elementwise.sigmoid(logits, name="logistic")
            both = (elementwise.zeros_like(logits), logits)
            two = join.concat(both, axis=-1, name="two_class_logits")
            probabilities = softmax(two, name="probabilities")
            class_ids = reshape.expand_dims(argmax(two, axis=-1, name="class_ids"), axis=-1)
            all_ids, all_classes = self._all_class_ids(logits), self._all_classes(logits)
            classes = self._names(class_ids)
        found = {
            "logits": logits, "logistic": logistic, "probabilities": probabilities,
            "class_ids": class_ids, "classes": classes, "all_class_ids": all_ids,
            "all_classes": all_classes,
        }  # fmt: skip
        if mode != ModeKeys.PREDICT:
            return found, logits, {}
        classified = ClassificationOutput(probabilities, self._all_classes(probabilities))
        outputs = {
            "serving_default": classified, "classification": classified,
            "regression": RegressionOutput(logistic), "predict": PredictOutput(found),
        }  # fmt: skip
        return found, logits, outputs

    def _loss(self, features: Mapping[str, Any], logits: Any, labels: Any) -> HeadLoss:
        logits = convert_to_tensor(logits)
        labels = head_checks.checked_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = self._ids(labels)
        labels = head_checks.in_range(to_float(labels), 2)
        if self._loss_fn is not None:
            unreduced = head_checks.called_loss(self._loss_fn, labels, logits, features)
        else:
            unreduced = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return self._reduced(unreduced, features, logits, labels)

    def _metrics(
        self, predictions: dict[str, Any], loss: HeadLoss, regularization: Any
    ) -> dict[str, Any]:
        labels, weights, unreduced = loss.labels, loss.weights, loss.unreduced
        ids, logistic = predictions["class_ids"], predictions["logistic"]
        used = (labels, predictions["logits"], logistic, ids, weights, unreduced)
        with scopes.name_scope(None, "metrics", used):
            label_mean = mean_of("label/mean", "labels", labels, weights)
            found = {
                "average_loss": metrics.mean(unreduced, weights, name="average_loss"),
                "accuracy": metrics.accuracy(labels, ids, weights, name="accuracy"),
                "precision": metrics_counts.precision(labels, ids, weights, name="precision"),
                "recall": metrics_counts.recall(labels, ids, weights, name="recall"),
                "prediction/mean": mean_of("prediction/mean", "predictions", logistic, weights),
                "label/mean": label_mean,
                "accuracy_baseline": _baseline(label_mean),
                "auc": auc_of("auc", labels, logistic, weights, "ROC"),
                "auc_precision_recall": auc_of(
                    "auc_precision_recall", labels, logistic, weights, "PR"
                ),
            }
            if regularization is not None:
                found["regularization_loss"] = metrics.mean(
                    regularization, name="regularization_loss"
                )
            for threshold in self._thresholds:
                found |= at_threshold(threshold, labels, logistic, weights)
        return found


def _baseline(label_mean: Any) -> Any:
    """How often the more frequent class is right."""
    value, update = label_mean
    with scopes.name_scope(None, "accuracy_baseline", label_mean):
        return (
            binary.maximum(value, 1.0 - value, name="value"),
            binary.maximum(update, 1 - update, name="update_op"),
        )


def auc_of(name: str, labels: Any, predictions: Any, weights: Any, curve: str) -> Any:
    with scopes.name_scope(name, "auc", (predictions, labels, weights)) as scope:
        predictions = to_float(predictions, name="predictions")
        weights = broadcast_weights(weights, predictions)
        return metrics_counts.auc(labels, predictions, weights, curve=curve, name=scope)


def at_threshold(threshold: float, labels: Any, logistic: Any, weights: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    key = f"accuracy/positive_threshold_{threshold:g}"
    used = (logistic, labels, weights, threshold)
    with scopes.name_scope(key, f"accuracy_at_{threshold}", used) as scope:
        above = to_float(logistic >= threshold)
        found[key] = metrics.accuracy(labels, above, weights, name=scope)
    for what, measure in (
        ("precision", metrics_counts.precision_at_thresholds),
        ("recall", metrics_counts.recall_at_thresholds),
    ):
        key = f"{what}/positive_threshold_{threshold:g}"
        with scopes.name_scope(key, f"{what}_at_{threshold}", used) as scope:
            pair = measure(labels, logistic, (threshold,), weights=weights, name=scope)
            found[key] = tuple(squeeze.squeeze(each) for each in pair)
    return found


# ---- numbers -------------------------------------------------------------------------------------


class RegressionHead(Head):
    """Numbers; the loss is the mean squared error.

    Args:
      label_dimension: how many numbers an example has.
      inverse_link_fn: from logits to predictions.
      weight_column, loss_reduction, loss_fn: as of ``Head``.

    Raises:
      ValueError: there is no number.
    """

    _measures_given_labels = True

    def __init__(
        self,
        label_dimension: int = 1,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        **shared: Any,
    ) -> None:
        super().__init__(**shared)
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self.logits_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    def _predictions(self, logits: Any, mode: str) -> tuple[dict[str, Any], Any, dict[str, Any]]:
        logits = head_checks.checked_logits(logits, self.logits_dimension)
        found = {"predictions": logits}
        if self._inverse_link_fn is not None:
            found = {"predictions": self._inverse_link_fn(logits), "logits": logits}
        if mode != ModeKeys.PREDICT:
            return found, logits, {}
        regressed = RegressionOutput(found["predictions"])
        outputs = {
            "serving_default": regressed, "regression": regressed,
            "predict": PredictOutput(found),
        }  # fmt: skip
        return found, logits, outputs

    def _loss(self, features: Mapping[str, Any], logits: Any, labels: Any) -> HeadLoss:
        width = self.logits_dimension
        logits = convert_to_tensor(logits)
        labels = to_float(head_checks.checked_labels(labels, logits, width))
        if self._loss_fn is not None:
            unreduced = head_checks.called_loss(self._loss_fn, labels, logits, features, width)
        else:
            unreduced = losses.mean_squared_error(
                labels=labels, predictions=logits, reduction=losses.Reduction.NONE
            )
        return self._reduced(unreduced, features, logits, labels, each_logit=True)

    def _metrics(
        self, predictions: dict[str, Any], loss: HeadLoss, regularization: Any
    ) -> dict[str, Any]:
        weights = loss.weights
        found = {
            "average_loss": metrics.mean(loss.unreduced, weights),
            "prediction/mean": mean_of(
                "prediction/mean", "predictions", predictions["predictions"], weights
            ),
            "label/mean": metrics.mean(loss.labels, weights),
        }
        if regularization is not None:
            found["regularization_loss"] = metrics.mean(regularization, name="regularization_loss")
        return found


def class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: Any
) -> Head:
    """The head of a classifier, by the number of its classes."""
    shared = {"weight_column": weight_column, "loss_reduction": loss_reduction}
    if n_classes == 2:
        return BinaryClassHead(label_vocabulary=label_vocabulary, **shared)
    return MultiClassHead(n_classes, label_vocabulary, **shared)
