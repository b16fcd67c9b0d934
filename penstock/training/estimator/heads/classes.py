"""Heads of one class: ``tf.estimator.BinaryClassHead`` and ``MultiClassHead``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.nn import losses
from penstock.library.nn.elementwise_losses import sigmoid_cross_entropy_with_logits
from penstock.ops.array import join, reshape
from penstock.ops.array.cast import cast, to_float
from penstock.ops.control import check
from penstock.ops.control.control import no_op
from penstock.ops.math import binary, elementwise, no_nan
from penstock.ops.math.argmax import argmax
from penstock.ops.math.weights import broadcast_weights
from penstock.ops.nn.softmax import softmax
from penstock.training.estimator.canned import head_checks
from penstock.training.estimator.export_outputs import (
    ClassificationOutput,
    PredictOutput,
    RegressionOutput,
)
from penstock.training.estimator.heads import checking
from penstock.training.estimator.heads.base import DEFAULT, OwnHead, regularization_metric
from penstock.training.estimator.heads.class_names import ClassNames
from penstock.training.keras_models import metrics
from penstock.training.keras_models.threshold_metrics import AUC, Precision, Recall
from penstock.training.keras_models.weighting import Reduction


class ClassHead(ClassNames, OwnHead):
    """What the heads of classes share: the classes' names."""

    _keys: tuple[str, ...]

    def _outputs(self, predictions: dict[Any, Any]) -> dict[str, Any]:
        probabilities = predictions["probabilities"]
        classified = ClassificationOutput(probabilities, self._all_classes(probabilities))
        return {
            DEFAULT: classified, "classification": classified, "predict": PredictOutput(predictions)
        }  # fmt: skip

    def _predicted(self, key: str, logits: Any, found: dict[str, Any]) -> Any:
        """One prediction; those that it is made of are in ``found``."""
        if key == "class_ids":
            wide = found.get("two_class_logits", logits)
            return reshape.expand_dims(argmax(wide, axis=-1, name="class_ids"), axis=-1)
        if key == "classes":
            return self._names(self._made("class_ids", logits, found))
        if key == "all_class_ids":
            return self._all_class_ids(logits)
        return self._all_classes(logits)

    def _made(self, key: str, logits: Any, found: dict[str, Any]) -> Any:
        if key not in found:
            found[key] = logits if key == "logits" else self._predicted(key, logits, found)
        return found[key]

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, Any]:
        """Predictions by key.

        Args:
          logits: of shape [batch, logits_dimension].
          keys: those that are wanted; default all.

        Raises:
          ValueError: there is no such key.
        """
        wanted = self._chosen(keys, self._keys)
        logits = head_checks.checked_logits(logits, self.logits_dimension)
        found: dict[str, Any] = {}
        with scopes.name_scope(None, "predictions", (logits,)):
            self._prepare(wanted, logits, found)
            for key in wanted:
                self._made(key, logits, found)
        return {key: found[key] for key in wanted}

    def _prepare(self, wanted: Sequence[str], logits: Any, found: dict[str, Any]) -> None:
        """Makes what several predictions are made of."""


class MultiClassHead(ClassHead):
    """One class of three or more; the loss is the softmax cross entropy.

    Args:
      n_classes: how many classes there are.
      weight_column: key or ``numeric_column`` of the examples' weights.
      label_vocabulary: names of the classes, where labels are strings.
      loss_reduction: how the losses of a batch become one: of Keras's reductions.
      loss_fn: ``f(labels, logits, features)`` in place of the cross entropy; unreduced.
      name: stands behind the names of metrics.

    Raises:
      ValueError: an argument that is not allowed.

    Example:
      >>> import penstock as tf
      >>> head = tf.estimator.MultiClassHead(3)
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     loss = head.loss(tf.constant([[1]]), tf.constant([[0.0, 0.0, 0.0]]))
      ...     round(float(sess.run(loss)), 4)
      1.0986
    """

    _keys = ("logits", "probabilities", "class_ids", "classes", "all_class_ids", "all_classes")

    def __init__(
        self, n_classes: int, weight_column: Any = None, label_vocabulary: Any = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        checking.check_vocabulary(label_vocabulary)
        if label_vocabulary and len(label_vocabulary) != n_classes:
            raise ValueError(
                '"label_vocabulary" does not have "n_classes" items.'
                f" len(label_vocabulary)={len(label_vocabulary)}, n_classes={n_classes},"
                f" label_vocabulary={label_vocabulary}"
            )
        text = f"n_classes must be > 2: {n_classes}."
        if n_classes <= 2:
            raise ValueError(text)
        above = check.assert_greater(convert_to_tensor(n_classes), 2, message=text)
        with scopes.control_dependencies([above]):
            no_op()
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes, self._label_vocabulary = n_classes, label_vocabulary

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._n_classes

    def _predicted(self, key: str, logits: Any, found: dict[str, Any]) -> Any:
        if key == "probabilities":
            return softmax(logits, name="probabilities")
        return super()._predicted(key, logits, found)

    def _labels(self, labels: Any, logits: Any) -> Any:
        labels = checking.checked_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            if labels.dtype != dtypes.string:
                raise ValueError(
                    "Labels dtype should be string if there is a vocabulary. Instead got"
                    f" {labels.dtype!r}"
                )
            labels = self._ids(labels)
        elif not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype!r}.")
        return checking.in_range(labels, self._n_classes)

    def _loss_of_each(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn is not None:
            return checking.called_loss(self._loss_fn, labels, logits, features)
        each = losses.sparse_softmax_cross_entropy(
            labels=labels, logits=logits, reduction=losses.Reduction.NONE
        )
        return reshape.expand_dims(each, axis=-1)

    def _new_metrics(self, regularized: bool) -> dict[str, Any]:
        found = {"average_loss": metrics.Mean(name="average_loss")}
        if regularized:
            found["regularization_loss"] = regularization_metric()
        return {**found, "accuracy": metrics.Accuracy(name="accuracy")}

    def _update(
        self, found: dict[str, Any], labels: Any, logits: Any, each: Any, weights: Any
    ) -> None:
        ids = self.predictions(logits, ["class_ids"])["class_ids"]
        found["average_loss"].update_state(each, sample_weight=weights)
        found["accuracy"].update_state(labels, ids, sample_weight=weights)


class Baseline(metrics.Mean):
    """How often the more frequent of two classes is right, by the mean of labels."""

    _labels: metrics.Mean

    def follow(self, labels: metrics.Mean) -> None:
        """Sets the mean of labels that it goes by."""
        self.__dict__["_labels"] = labels

    @property
    def weights(self) -> list[Any]:
        """Those of the mean; its own are not used, as in TensorFlow 1.15."""
        return self._labels.weights

    @property
    def updates(self) -> list[Any]:
        """Those of the mean."""
        return self._labels.updates

    def result(self) -> Any:
        """The share of the more frequent class."""
        ones, count = self._labels.total.read_value(), self._labels.count.read_value()
        return no_nan.div_no_nan(binary.maximum(ones, count - ones), count)


class BinaryClassHead(ClassHead):
    """One class of two; the loss is the sigmoid cross entropy.

    Args:
      weight_column: key or ``numeric_column`` of the examples' weights.
      thresholds: of the probability, at which accuracy, precision and recall are measured.
      label_vocabulary: names of the classes, where labels are strings.
      loss_reduction, loss_fn, name: as of ``MultiClassHead``.

    Raises:
      ValueError: an argument that is not allowed.

    Example:
      >>> import penstock as tf
      >>> head = tf.estimator.BinaryClassHead(label_vocabulary=["no", "yes"])
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     found = head.predictions(tf.constant([[0.0]]), ["logistic", "class_ids"])
      ...     {key: value.tolist() for key, value in sess.run(found).items()}
      {'logistic': [[0.5]], 'class_ids': [[0]]}
    """

    _keys = (
        "logits", "logistic", "probabilities", "class_ids", "classes", "all_class_ids",
        "all_classes",
    )  # fmt: skip
    _n_classes = 2

    def __init__(
        self, weight_column: Any = None, thresholds: Iterable[float] | None = None,
        label_vocabulary: Any = None, loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        checking.check_vocabulary(label_vocabulary)
        self._thresholds = checking.check_thresholds(thresholds)
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self) -> int:
        """One logit tells two classes apart."""
        return 1

    def _prepare(self, wanted: Sequence[str], logits: Any, found: dict[str, Any]) -> None:
        if "logistic" in wanted:
            found["logistic"] = elementwise.sigmoid(logits, name="logistic")
        if {"probabilities", "class_ids", "classes"} & set(wanted):
            both = (elementwise.zeros_like(logits), logits)
            found["two_class_logits"] = join.concat(both, axis=-1, name="two_class_logits")

    def _predicted(self, key: str, logits: Any, found: dict[str, Any]) -> Any:
        if key == "probabilities":
            return softmax(found["two_class_logits"], name="probabilities")
        return super()._predicted(key, logits, found)

    def _outputs(self, predictions: dict[Any, Any]) -> dict[str, Any]:
        found = super()._outputs(predictions)
        regressed = RegressionOutput(predictions["logistic"])
        return {
            DEFAULT: found[DEFAULT], "classification": found["classification"],
            "regression": regressed, "predict": found["predict"],
        }  # fmt: skip

    def _labels(self, labels: Any, logits: Any) -> Any:
        labels = checking.checked_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = self._ids(labels)
        return checking.in_range(to_float(labels), 2)

    def _loss_of_each(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn is not None:
            return checking.called_loss(self._loss_fn, labels, logits, features)
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _new_metrics(self, regularized: bool) -> dict[str, Any]:
        found: dict[str, Any] = {
            "average_loss": metrics.Mean(name="average_loss"),
            "accuracy": metrics.Accuracy(name="accuracy"),
            "precision": Precision(name="precision"),
            "recall": Recall(name="recall"),
            "prediction/mean": metrics.Mean(name="prediction/mean"),
            "label/mean": metrics.Mean(name="label/mean"),
            "accuracy_baseline": Baseline(name="accuracy_baseline"),
            "auc": AUC(name="auc"),
            "auc_precision_recall": AUC(curve="PR", name="auc_precision_recall"),
        }
        if regularized:
            found["regularization_loss"] = regularization_metric()
        return found | at_thresholds(self._thresholds, self._key)

    def _update(
        self, found: dict[str, Any], labels: Any, logits: Any, each: Any, weights: Any
    ) -> None:
        made = self.predictions(logits, ["logistic", "class_ids"])
        logistic, ids = made["logistic"], made["class_ids"]
        found["average_loss"].update_state(each, sample_weight=weights)
        for key in ("accuracy", "precision", "recall"):
            found[key].update_state(labels, ids, sample_weight=weights)
        for key, values in (("prediction/mean", logistic), ("label/mean", labels)):
            wide = broadcast_weights(weights, cast(values, dtypes.float32))
            found[key].update_state(values, sample_weight=wide)
        found["accuracy_baseline"].follow(found["label/mean"])
        for key in ("auc", "auc_precision_recall"):
            found[key].update_state(labels, logistic, sample_weight=weights)
        update_at_thresholds(found, self._thresholds, labels, logistic, weights)


def _threshold_keys(threshold: float) -> list[str]:
    return [
        f"{what}/positive_threshold_{threshold:g}" for what in ("accuracy", "precision", "recall")
    ]


def at_thresholds(thresholds: Iterable[float], named: Callable[[str], str]) -> dict[str, Any]:
    """New metrics at thresholds of the probability, by key.

    Args:
      thresholds: the thresholds.
      named: from a key to the metric's name.
    """
    found: dict[str, Any] = {}
    for threshold in thresholds:
        accuracy, precision, recall = _threshold_keys(threshold)
        found[accuracy] = metrics.BinaryAccuracy(name=named(accuracy), threshold=threshold)
        found[precision] = Precision(name=named(precision), thresholds=threshold)
        found[recall] = Recall(name=named(recall), thresholds=threshold)
    return found


def update_at_thresholds(
    found: dict[str, Any], thresholds: Iterable[float], labels: Any, likely: Any, weights: Any
) -> None:
    """Has the metrics of ``at_thresholds`` take a batch in."""
    for threshold in thresholds:
        for key in _threshold_keys(threshold):
            found[key].update_state(labels, likely, sample_weight=weights)
