"""Target columns: how logits become predictions, losses and metrics; ``contrib.learn``'s heads
followed them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.contrib.learn.model_fn import ProblemType
from penstock.contrib.losses.measures import hinge_loss
from penstock.contrib.metrics.renamed import (
    streaming_accuracy,
    streaming_auc,
    streaming_mean,
    streaming_precision_at_thresholds,
    streaming_recall_at_thresholds,
)
from penstock.foundation.base import dtypes
from penstock.library.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from penstock.library.nn.elementwise_losses import sigmoid_cross_entropy_with_logits
from penstock.library.ragged_tensors.dispatched import (
    cast,
    concat,
    expand_dims,
    greater_equal,
    multiply,
    rank,
    reduce_mean,
    reduce_sum,
    squared_difference,
    squeeze,
    truediv,
    zeros_like,
)
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.control.debug import Assert
from penstock.ops.math.argmax import argmax
from penstock.ops.math.comparison import less_equal
from penstock.ops.math.elementwise import sigmoid
from penstock.ops.nn.softmax import softmax

Metrics = Mapping[Any, Callable[..., Any]]


class TargetColumn:
    """What makes predictions, losses and metrics of logits.

    Args:
      loss_fn: from logits and labels to the loss of each example.
      num_label_columns: how many logits an example has.
      label_name: which of several labels; None where there is one.
      weight_column_name: the feature that weights examples; None for none.
      problem_type: a value of ``ProblemType``.
    """

    def __init__(
        self, loss_fn: Callable[[Any, Any], Any], num_label_columns: int, label_name: str | None,
        weight_column_name: str | None, problem_type: int,
    ) -> None:  # fmt: skip
        self._loss_fn = loss_fn
        self._num_label_columns = num_label_columns
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._problem_type = problem_type

    @property
    def label_name(self) -> str | None:
        """Which of several labels."""
        return self._label_name

    @property
    def weight_column_name(self) -> str | None:
        """The feature that weights examples."""
        return self._weight_column_name

    @property
    def num_label_columns(self) -> int:
        """How many logits an example has."""
        return self._num_label_columns

    @property
    def problem_type(self) -> int:
        """A value of ``ProblemType``."""
        return self._problem_type

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """Predictions of logits; with ``proba`` probabilities."""
        raise NotImplementedError

    def get_eval_ops(
        self, features: Any, logits: Any, labels: Any, metrics: Metrics | None = None
    ) -> dict[Any, Any]:
        """Metrics by name, the loss among them.

        Args:
          features: features by key.
          logits: the model's.
          labels: labels, or labels by name.
          metrics: from names, or pairs of a name and what is predicted, to functions of
            predictions, labels, and ``weights=`` where examples are weighted.
        """
        raise NotImplementedError

    def get_weight_tensor(self, features: Any) -> Any:
        """The weights [batch] of examples, or None.

        Args:
          features: features by key.
        """
        if not self._weight_column_name:
            return None
        return reshape(cast(features[self._weight_column_name], dtypes.float32), shape=(-1,))

    def loss(self, logits: Any, target: Any, features: Any) -> Any:
        """The weighted mean of examples' losses.

        Args:
          logits: the model's.
          target: labels, or labels by name.
          features: features by key.
        """
        losses, weights = self._losses(logits, target, features)
        if weights is None:
            return reduce_mean(losses, name="loss")
        weighted = self._weighted(losses, weights)
        return truediv(reduce_sum(weighted), cast(reduce_sum(weights), dtypes.float32), name="loss")

    def training_loss(
        self, logits: Any, target: Any, features: Any, name: str = "training_loss"
    ) -> Any:
        """The mean of examples' weighted losses, which gradients are taken of.

        Args:
          logits, target, features: those of ``loss``.
          name: of the node.
        """
        losses, weights = self._losses(logits, target, features)
        weighted = losses if weights is None else self._weighted(losses, weights)
        return reduce_mean(weighted, name=name)

    def _losses(self, logits: Any, target: Any, features: Any) -> tuple[Any, Any]:
        losses = self._loss_fn(logits, self._label(target))
        return losses, self.get_weight_tensor(features)

    def _label(self, target: Any) -> Any:
        return target[self._label_name] if isinstance(target, Mapping) else target

    def _weighted(self, losses: Any, weights: Any) -> Any:
        return multiply(reshape(losses, shape=(-1,)), reshape(weights, shape=(-1,)))


def _of(metric: Callable[..., Any], predictions: Any, labels: Any, weights: Any) -> Any:
    if weights is None:
        return metric(predictions, labels)
    return metric(predictions, labels, weights=weights)


class RegressionTargetColumn(TargetColumn):
    """Numbers by a logit each."""

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """The logits, of one without their last dim."""
        return squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def get_eval_ops(
        self, features: Any, logits: Any, labels: Any, metrics: Metrics | None = None
    ) -> dict[Any, Any]:
        """The loss, and ``metrics`` of the numbers."""
        found = {"loss": streaming_mean(self.loss(logits, labels, features))}
        if metrics:
            predictions = self.logits_to_predictions(logits, proba=False)
            weights = self.get_weight_tensor(features)
            for name, metric in metrics.items():
                found[name] = _of(metric, predictions, self._label(labels), weights)
        return found


class MultiClassTargetColumn(TargetColumn):
    """Classes: two by one logit, more by a logit each."""

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """Classes, or their probabilities."""
        if self.num_label_columns == 1:
            logits = concat([zeros_like(logits), logits], 1)
        return softmax(logits) if proba else argmax(logits, 1)

    def _default_metrics(self) -> Metrics:
        if self._num_label_columns == 1:
            return get_default_binary_metrics_for_eval(thresholds=[0.5])
        return {}

    def get_eval_ops(
        self, features: Any, logits: Any, labels: Any, metrics: Metrics | None = None
    ) -> dict[Any, Any]:
        """The loss, and ``metrics``; default the accuracy, of two classes rates and areas, too.

        A metric's name is a pair with ``"classes"`` or ``"probabilities"``, or a name of one of
        classes.

        Raises:
          ValueError: another pair.
        """
        found: dict[Any, Any] = {"loss": streaming_mean(self.loss(logits, labels, features))}
        scores = sigmoid(logits)
        labels = self._label(labels)
        numbers = cast(labels, dtypes.float32)
        if metrics is None:
            # These are not weighted, as in TensorFlow.
            for name, metric in self._default_metrics().items():
                found[name] = metric(scores, numbers)
            metrics = {("accuracy", "classes"): streaming_accuracy}
        predicted: dict[str, Any] = {}
        for name, metric in metrics.items():
            key, of = self._named(name)
            if of not in predicted:
                predicted[of] = self.logits_to_predictions(logits, of == "probabilities")
            found[key] = _of(metric, predicted[of], labels, self.get_weight_tensor(features))
        return found

    def _named(self, name: Any) -> tuple[Any, str]:
        if not isinstance(name, tuple):
            return name, "classes"
        if len(name) != 2:
            raise ValueError(
                f"Ignoring metric {name}. It returned a tuple with len {len(name)}, expected 2."
            )
        if name[1] not in ("classes", "probabilities"):
            raise ValueError(
                f"Ignoring metric {name}. The 2nd element of its name should be either 'classes'"
                " or 'probabilities'."
            )
        return name


class BinarySvmTargetColumn(MultiClassTargetColumn):
    """Two classes by the side of a margin."""

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """Classes.

        Raises:
          ValueError: probabilities are asked for.
        """
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return super().logits_to_predictions(logits)


# ---- losses and metrics --------------------------------------------------------------------------


def _squared_error(logits: Any, target: Any) -> Any:
    # A target of one dim would be spread over the logits of all examples.
    if len(target.get_shape()) == 1:
        target = expand_dims(target, axis=1)
    logits.get_shape().assert_is_compatible_with(target.get_shape())
    return squared_difference(logits, cast(target, dtypes.float32))


def _logistic(logits: Any, target: Any) -> Any:
    if len(target.get_shape()) == 1:
        target = expand_dims(target, axis=1)
    return sigmoid_cross_entropy_with_logits(labels=cast(target, dtypes.float32), logits=logits)


def _cross_entropy(logits: Any, target: Any) -> Any:
    if len(target.get_shape()) == 2:
        target = squeeze(target, axis=[1])
    return sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


def _hinge(logits: Any, target: Any) -> Any:
    message = "target's shape should be either [batch_size, 1] or [batch_size]"
    Assert(less_equal(rank(target), 2), [message])
    dims: Any = shape_of(target)
    return hinge_loss(logits, reshape(target, shape=[dims[0], 1]))


def _mean_prediction(predictions: Any, unused: Any, weights: Any = None) -> Any:
    return streaming_mean(predictions, weights=weights)


def _mean_label(unused: Any, labels: Any, weights: Any = None) -> Any:
    return streaming_mean(labels, weights=weights)


def _area(predictions: Any, labels: Any, weights: Any = None) -> Any:
    return streaming_auc(predictions, labels, weights=weights)


def _accuracy_at(threshold: float) -> Callable[..., Any]:
    def metric(predictions: Any, labels: Any, weights: Any = None) -> Any:
        above = cast(greater_equal(predictions, threshold), dtypes.float32)
        return streaming_accuracy(predictions=above, labels=labels, weights=weights)

    return metric


def _at(measure: Callable[..., Any], threshold: float) -> Callable[..., Any]:
    def metric(predictions: Any, labels: Any, weights: Any = None) -> Any:
        value, update = measure(predictions, labels=labels, thresholds=(threshold,),
                                weights=weights)  # fmt: skip
        return squeeze(value), update

    return metric


def get_default_binary_metrics_for_eval(thresholds: Sequence[float]) -> dict[str, Any]:
    """Metrics of two classes by name: functions of probabilities, labels and weights.

    Args:
      thresholds: for accuracy, precision and recall; each makes three.
    """
    found: dict[str, Any] = {
        "labels/prediction_mean": _mean_prediction,
        "labels/actual_target_mean": _mean_label,
        # The accuracy of always predicting the mean.
        "accuracy/baseline_target_mean": _mean_label,
        "auc": _area,
    }
    for threshold in thresholds:
        found[f"accuracy/threshold_{threshold:f}_mean"] = _accuracy_at(threshold)
        found[f"precision/positive_threshold_{threshold:f}_mean"] = _at(
            streaming_precision_at_thresholds, threshold
        )
        found[f"recall/positive_threshold_{threshold:f}_mean"] = _at(
            streaming_recall_at_thresholds, threshold
        )
    return found


# ---- public functions ----------------------------------------------------------------------------


def regression_target(
    label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1
) -> RegressionTargetColumn:
    """A target of numbers, with squared errors.

    Args:
      label_name: which of several labels; None where there is one.
      weight_column_name: the feature that weights examples; None for none.
      label_dimension: how many numbers an example has.
    """
    return RegressionTargetColumn(
        _squared_error, label_dimension, label_name, weight_column_name,
        ProblemType.LINEAR_REGRESSION,
    )  # fmt: skip


def multi_class_target(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None
) -> MultiClassTargetColumn:
    """A target of classes, with the cross entropy.

    Args:
      n_classes: how many classes there are, at least two.
      label_name, weight_column_name: those of ``regression_target``.

    Raises:
      ValueError: fewer.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    loss = _logistic if n_classes == 2 else _cross_entropy
    return MultiClassTargetColumn(
        loss, 1 if n_classes == 2 else n_classes, label_name, weight_column_name,
        ProblemType.CLASSIFICATION,
    )  # fmt: skip


def binary_svm_target(
    label_name: str | None = None, weight_column_name: str | None = None
) -> BinarySvmTargetColumn:
    """A target of two classes, with the hinge loss.

    Args:
      label_name, weight_column_name: those of ``regression_target``.
    """
    return BinarySvmTargetColumn(
        _hinge, 1, label_name, weight_column_name, ProblemType.CLASSIFICATION
    )
