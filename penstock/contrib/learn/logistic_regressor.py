"""``LogisticRegressor``: a model function of probabilities, with metrics of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, ProblemType
from penstock.foundation.base import dtypes
from penstock.library.ragged_tensors.dispatched import greater_equal
from penstock.library.variables import metrics, metrics_counts
from penstock.ops.array.cast import cast
from penstock.ops.array.squeeze import squeeze


def LogisticRegressor(
    model_fn: Callable[..., Any], thresholds: Sequence[float] | None = None,
    model_dir: Any = None, config: Any = None,
    feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
) -> Estimator:  # fmt: skip
    """An estimator of a model of two classes, which measures its probabilities.

    Args:
      model_fn: ``f(features, labels, mode)`` that returns probabilities, a loss and a training op.
      thresholds: for accuracy, precision and recall; default 0.5.
      model_dir: directory of checkpoints and events.
      config: a ``RunConfig``.
      feature_engineering_fn: from features and labels to those of the model.

    Returns:
      An ``Estimator``.
    """

    def measured(features: Any, labels: Any, mode: str) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        found = None
        if mode == ModeKeys.EVAL:
            found = _metrics(labels, predictions, thresholds or [0.5])
        alternatives = {"head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})}
        return ModelFnOps(mode, predictions, loss, train_op, found, alternatives)

    return Estimator(measured, model_dir, config, None, feature_engineering_fn)


def _metrics(labels: Any, predictions: Any, thresholds: Sequence[float]) -> dict[str, Any]:
    labels = cast(labels, dtypes.float32)
    found: dict[str, Any] = {
        "labels/prediction_mean": metrics.mean(predictions),
        "labels/actual_label_mean": metrics.mean(labels),
        # The accuracy of always predicting the mean.
        "accuracy/baseline_label_mean": metrics.mean(labels),
        "auc": metrics_counts.auc(labels, predictions),
    }
    for threshold in thresholds:
        at = f"threshold_{threshold:f}_mean"
        above = cast(greater_equal(predictions, threshold), dtypes.float32)
        found[f"accuracy/{at}"] = metrics.accuracy(labels, above)
        for what, measure in (
            ("precision", metrics_counts.precision_at_thresholds),
            ("recall", metrics_counts.recall_at_thresholds),
        ):
            value, update = measure(labels, predictions, (threshold,))
            found[f"{what}/positive_{at}"] = squeeze(value), update
    return found
