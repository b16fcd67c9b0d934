"""More heads of ``tf.contrib.learn``: several labels at once, counts, margins."""

from __future__ import annotations

from typing import Any

from penstock.contrib.learn.heads import Head, refuse
from penstock.contrib.learn.model_fn import PredictionKey, ProblemType
from penstock.foundation.base import dtypes
from penstock.library.nn.elementwise_losses import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
)
from penstock.library.nn.losses import hinge_loss
from penstock.library.variables import metrics, metrics_counts
from penstock.ops.array.cast import cast
from penstock.ops.array.join import concat
from penstock.ops.array.ranks import rank
from penstock.ops.array.reshape import reshape
from penstock.ops.array.squeeze import squeeze
from penstock.ops.control.debug import Assert
from penstock.ops.math import elementwise, weights as spread
from penstock.ops.math.argmax import argmax
from penstock.ops.math.comparison import greater, less_equal


class MultiLabelHead(Head):
    """Any number of labels of several, by a logit each."""

    problem_type = ProblemType.CLASSIFICATION
    loss_name = "sigmoid_cross_entropy_loss"

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: elementwise.sigmoid(logits, name="probabilities"),
            PredictionKey.CLASSES: cast(greater(logits, 0), dtypes.int64, name="classes"),
        }

    def _losses(self, logits: Any, labels: Any, name: str) -> Any:
        labels = cast(labels, dtypes.float32)
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)

    def _spread(self, weights: Any, losses: Any) -> Any:
        return spread.broadcast_weights(weights, losses)

    def _metrics(self, labels: Any, predictions: dict[str, Any], weights: Any) -> dict[str, Any]:
        shares = predictions[PredictionKey.PROBABILITIES]
        found = {"accuracy": metrics.accuracy(labels, predictions[PredictionKey.CLASSES], weights)}
        for name, curve in (("auc", "ROC"), ("auc_precision_recall", "PR")):
            truth, each = cast(labels, dtypes.bool), weights
            if weights is not None:
                each = spread.broadcast_weights(weights, shares)
            found[name] = metrics_counts.auc(truth, shares, each, curve=curve)
        return found


class PoissonHead(Head):
    """Counts, by the logarithm of their mean."""

    problem_type = ProblemType.LINEAR_REGRESSION
    loss_name = "_poisson_loss"

    def _predictions(self, logits: Any) -> dict[str, Any]:
        if self.logits_dimension == 1:
            logits = squeeze(logits, axis=[1], name="scores")
        return {PredictionKey.SCORES: elementwise.exp(logits)}

    def _losses(self, logits: Any, labels: Any, name: str) -> Any:
        return log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=True, name=name)


class SvmHead(Head):
    """Two classes, by the side of a margin."""

    problem_type = ProblemType.LOGISTIC_REGRESSION
    loss_name = "hinge_loss"

    def _predictions(self, logits: Any) -> dict[str, Any]:
        both = concat((elementwise.zeros_like(logits), logits), 1)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.CLASSES: argmax(both, 1, name="classes"),
        }

    def _losses(self, logits: Any, labels: Any, name: str) -> Any:
        message = "labels shape should be either [batch_size, 1] or [batch_size]"
        Assert(less_equal(rank(labels), 2), [message])
        labels = reshape(labels, shape=(-1, 1))
        return hinge_loss(labels, logits, scope=name, loss_collection=None, reduction="none")

    def _metrics(self, labels: Any, predictions: dict[str, Any], weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        return {"accuracy": metrics.accuracy(labels, classes, weights)}


# ---- public functions ----------------------------------------------------------------------------


def multi_label_head(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None,
    enable_centered_bias: bool = False, head_name: str | None = None, thresholds: Any = None,
    metric_class_ids: Any = None, loss_fn: Any = None,
) -> Head:  # fmt: skip
    """A head for any number of labels of several.

    Args:
      n_classes: how many labels there are; labels are [batch, n_classes] zeros and ones.
      label_name: which of several labels.
      weight_column_name: the feature that weights examples.
      head_name: its scope; default "multi_label_head".
      enable_centered_bias, thresholds, metric_class_ids, loss_fn: accepted without effect only.

    Raises:
      ValueError: fewer than two.
      NotImplementedError: one of those is used.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    refuse(
        "multi_label_head", enable_centered_bias=enable_centered_bias, thresholds=thresholds,
        metric_class_ids=metric_class_ids, loss_fn=loss_fn,
    )  # fmt: skip
    name = head_name or "multi_label_head"
    return MultiLabelHead(n_classes, label_name, weight_column_name, name).called(head_name)


def poisson_regression_head(
    label_name: str | None = None, weight_column_name: str | None = None,
    label_dimension: int = 1, enable_centered_bias: bool = False, head_name: str | None = None,
) -> Head:  # fmt: skip
    """A head for counts: logits are the logarithms of their means.

    Args:
      label_name, weight_column_name, label_dimension: as of ``regression_head``.
      head_name: its scope; default "regression_head".
      enable_centered_bias: accepted without effect only.

    Raises:
      NotImplementedError: it is used.
    """
    refuse("poisson_regression_head", enable_centered_bias=enable_centered_bias)
    name = head_name or "regression_head"
    return PoissonHead(label_dimension, label_name, weight_column_name, name).called(head_name)


def binary_svm_head(
    label_name: str | None = None, weight_column_name: str | None = None,
    enable_centered_bias: bool = False, head_name: str | None = None, thresholds: Any = None,
) -> Head:  # fmt: skip
    """A head for two classes, with the hinge loss.

    Args:
      label_name, weight_column_name: as of ``multi_class_head``.
      head_name: its scope; default "binary_svm_head".
      enable_centered_bias, thresholds: accepted without effect only.

    Raises:
      NotImplementedError: one of those is used.
    """
    refuse("binary_svm_head", enable_centered_bias=enable_centered_bias, thresholds=thresholds)
    name = head_name or "binary_svm_head"
    return SvmHead(1, label_name, weight_column_name, name).called(head_name)
