"""Heads of numbers: ``tf.estimator.RegressionHead`` and two that are made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.graph import scopes
from penstock.library.nn import losses
from penstock.library.nn.elementwise_losses import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
)
from penstock.ops.array.cast import to_float
from penstock.ops.math import elementwise
from penstock.training.estimator.canned import head_checks
from penstock.training.estimator.export_outputs import PredictOutput, RegressionOutput
from penstock.training.estimator.heads import checking
from penstock.training.estimator.heads.base import DEFAULT, OwnHead, regularization_metric
from penstock.training.keras_models import metrics
from penstock.training.keras_models.weighting import Reduction

_MEAN = Reduction.SUM_OVER_BATCH_SIZE


class RegressionHead(OwnHead):
    """Numbers; the loss is the mean squared error.

    Args:
      label_dimension: how many numbers an example has.
      weight_column: key or ``numeric_column`` of the examples' weights.
      loss_reduction: how the losses of a batch become one: of Keras's reductions.
      loss_fn: ``f(labels, logits, features)`` in place of the squared error; unreduced.
      inverse_link_fn: from logits to predictions.
      name: stands behind the names of metrics.

    Raises:
      ValueError: an argument that is not allowed.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     loss = tf.estimator.RegressionHead().loss([[1.0], [3.0]], tf.constant([[0.0], [1.0]]))
      ...     float(sess.run(loss))
      2.5
    """

    _each_logit = True

    def __init__(
        self, label_dimension: int = 1, weight_column: Any = None, loss_reduction: str = _MEAN,
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._width, self._inverse_link_fn = label_dimension, inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        """How many numbers an example has."""
        return self._width

    def predictions(  # type: ignore[override]
        self, logits: Any
    ) -> dict[str, Any]:
        """Predictions, and logits where there is a link function.

        Args:
          logits: of shape [batch, label_dimension].
        """
        logits = head_checks.checked_logits(logits, self._width)
        with scopes.name_scope(None, "predictions", (logits,)):
            if self._inverse_link_fn is None:
                return {"predictions": logits}
            return {"predictions": self._inverse_link_fn(logits), "logits": logits}

    def _outputs(self, predictions: dict[Any, Any]) -> dict[str, Any]:
        regressed = RegressionOutput(predictions["predictions"])
        return {
            DEFAULT: regressed, "regression": regressed, "predict": PredictOutput(predictions)
        }  # fmt: skip

    def _labels(self, labels: Any, logits: Any) -> Any:
        return to_float(checking.checked_labels(labels, logits, self._width))

    def _loss_of_each(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn is not None:
            return checking.called_loss(self._loss_fn, labels, logits, features, self._width)
        return losses.mean_squared_error(
            labels=labels, predictions=logits, reduction=losses.Reduction.NONE
        )

    def _new_metrics(self, regularized: bool) -> dict[str, Any]:
        names = ("average_loss", "prediction/mean", "label/mean")
        found = {name: metrics.Mean(name=name) for name in names}
        if regularized:
            found["regularization_loss"] = regularization_metric()
        return found

    def _update(
        self, found: dict[str, Any], labels: Any, logits: Any, each: Any, weights: Any
    ) -> None:
        predicted = self.predictions(logits)["predictions"]
        found["average_loss"].update_state(each, sample_weight=weights)
        found["label/mean"].update_state(labels, sample_weight=weights)
        found["prediction/mean"].update_state(predicted, sample_weight=weights)


class PoissonRegressionHead(RegressionHead):
    """Counts, whose means are the exponentials of logits.

    Args:
      label_dimension, weight_column, loss_reduction, name: as of ``RegressionHead``.
      compute_full_loss: whether the loss has the term of the counts' factorials.

    Raises:
      ValueError: an argument that is not allowed.
    """

    def __init__(
        self, label_dimension: int = 1, weight_column: Any = None, loss_reduction: str = _MEAN,
        compute_full_loss: bool = True, name: str | None = None,
    ) -> None:  # fmt: skip
        def loss(labels: Any, logits: Any) -> Any:
            return log_poisson_loss(
                targets=labels, log_input=logits, compute_full_loss=compute_full_loss
            )

        super().__init__(
            label_dimension, weight_column, loss_reduction, loss, elementwise.exp, name
        )


class LogisticRegressionHead(RegressionHead):
    """One number between 0 and 1, the sigmoid of its logit.

    Args:
      weight_column, loss_reduction, name: as of ``RegressionHead``.

    Raises:
      ValueError: an argument that is not allowed.
    """

    def __init__(
        self, weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None
    ) -> None:
        super().__init__(1, weight_column, loss_reduction, _logistic, elementwise.sigmoid, name)


def _logistic(labels: Any, logits: Any) -> Any:
    labels = checking.in_range(labels, 2, "Labels must be in range [0, 1]")
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
