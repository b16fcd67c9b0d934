"""Heads: from logits to loss, metrics, predictions and what is exported.

They are those of canned estimators, but the loss of a batch is its mean here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.library.nn.elementwise_losses import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
)
from penstock.library.nn.losses import Reduction
from penstock.ops.math import elementwise
from penstock.training.estimator.canned import head_checks
from penstock.training.estimator.canned.heads import (
    BinaryClassHead,
    Head,
    MultiClassHead,
    RegressionHead,
)
from penstock.training.estimator.canned.multi_label_head import MultiLabelHead

_MEAN = Reduction.SUM_OVER_BATCH_SIZE


def multi_class_head(
    n_classes: int, weight_column: Any = None, label_vocabulary: Any = None,
    loss_reduction: str = _MEAN, loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Head:  # fmt: skip
    """A head of one class of three or more, by softmax cross entropy.

    Args:
      n_classes: how many classes there are.
      weight_column: key or ``numeric_column`` of the examples' weights.
      label_vocabulary: names of the classes, where labels are strings.
      loss_reduction: how the losses of a batch become one.
      loss_fn: ``f(labels, logits, features)`` in place of the cross entropy.
      name: stands behind the names of metrics.

    Raises:
      ValueError: an argument that is not allowed.
    """
    return MultiClassHead(
        n_classes, label_vocabulary, weight_column=weight_column, loss_reduction=loss_reduction,
        loss_fn=loss_fn, name=name,
    )  # fmt: skip


def binary_classification_head(
    weight_column: Any = None, thresholds: Iterable[float] | None = None,
    label_vocabulary: Any = None, loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None, name: str | None = None,
) -> Head:  # fmt: skip
    """A head of one class of two, by sigmoid cross entropy.

    Args:
      thresholds: of the probability, at which accuracy, precision and recall are measured.
      weight_column, label_vocabulary, loss_reduction, loss_fn, name: as of ``multi_class_head``.

    Raises:
      ValueError: an argument that is not allowed.

    Example:
      >>> import penstock as tf
      >>> head = tf.contrib.estimator.binary_classification_head(thresholds=[0.9])
      >>> with tf.Graph().as_default():
      ...     spec = head.create_estimator_spec(
      ...         {"x": tf.ones([2, 1])}, "eval", tf.constant([[4.0], [-4.0]]), [[1], [0]])
      ...     spec.eval_metric_ops["accuracy/positive_threshold_0.9"][1].shape.as_list()
      []
    """
    return BinaryClassHead(
        thresholds, label_vocabulary, weight_column=weight_column, loss_reduction=loss_reduction,
        loss_fn=loss_fn, name=name,
    )  # fmt: skip


def multi_label_head(
    n_classes: int, weight_column: Any = None, thresholds: Iterable[float] | None = None,
    label_vocabulary: Any = None, loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None, classes_for_class_based_metrics: Any = None,
    name: str | None = None,
) -> Head:  # fmt: skip
    """A head of several labels an example, by the mean sigmoid cross entropy of them.

    Args:
      n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name: as of
        ``multi_class_head``.
      thresholds: as of ``binary_classification_head``.
      classes_for_class_based_metrics: classes, or names of them, that are measured apart.

    Raises:
      ValueError: an argument that is not allowed.
    """
    return MultiLabelHead(
        n_classes, thresholds, label_vocabulary, classes_for_class_based_metrics,
        weight_column=weight_column, loss_reduction=loss_reduction, loss_fn=loss_fn, name=name,
    )  # fmt: skip


def regression_head(
    weight_column: Any = None, label_dimension: int = 1, loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None, name: str | None = None,
) -> Head:  # fmt: skip
    """A head of numbers, by the mean squared error.

    Args:
      label_dimension: how many numbers an example has.
      inverse_link_fn: from logits to predictions.
      weight_column, loss_reduction, loss_fn, name: as of ``multi_class_head``.

    Raises:
      ValueError: an argument that is not allowed.
    """
    return RegressionHead(
        label_dimension, inverse_link_fn, weight_column=weight_column,
        loss_reduction=loss_reduction, loss_fn=loss_fn, name=name,
    )  # fmt: skip


def poisson_regression_head(
    weight_column: Any = None, label_dimension: int = 1, loss_reduction: str = _MEAN,
    compute_full_loss: bool = True, name: str | None = None,
) -> Head:  # fmt: skip
    """A head of counts, whose means are the exponentials of logits.

    Args:
      compute_full_loss: whether the loss has the term of the counts' factorials.
      weight_column, label_dimension, loss_reduction, name: as of ``regression_head``.

    Raises:
      ValueError: an argument that is not allowed.
    """

    def loss(labels: Any, logits: Any) -> Any:
        return log_poisson_loss(
            targets=labels, log_input=logits, compute_full_loss=compute_full_loss
        )

    return regression_head(
        weight_column, label_dimension, loss_reduction, loss, elementwise.exp, name
    )


def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None
) -> Head:
    """A head of one number between 0 and 1, the sigmoid of its logit.

    Args:
      weight_column, loss_reduction, name: as of ``regression_head``.

    Raises:
      ValueError: an argument that is not allowed.
    """

    def loss(labels: Any, logits: Any) -> Any:
        labels = head_checks.in_range(labels, 2, "Labels must be in range [0, 1]")
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    return regression_head(weight_column, 1, loss_reduction, loss, elementwise.sigmoid, name)
