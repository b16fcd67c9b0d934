"""``tf.estimator.add_metrics``: an estimator that measures more than its model does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.training.estimator.calling import arguments_of
from penstock.training.estimator.estimator import Estimator
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.mode_keys import ModeKeys

_ARGUMENTS = {"features", "labels", "predictions", "config"}


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Any]) -> Estimator:
    """An estimator with the model and directory of another one, and more metrics.

    Args:
      estimator: the other one.
      metric_fn: takes any of ``features``, ``labels``, ``predictions`` and ``config``, and returns
        a dict of pairs (value, update op), or None; it replaces metrics of the same name.

    Raises:
      ValueError: ``metric_fn`` takes other arguments.

    Example:
      >>> import penstock as tf
      >>> def mean_label(labels):
      ...     return {"mean_label": tf.metrics.mean(labels)}
      >>> data = lambda: tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [3.0, 4.0]))
      >>> made = tf.estimator.add_metrics(tf.estimator.BaselineRegressor(), mean_label)
      >>> float(made.evaluate(data)["mean_label"])
      3.5
    """
    names = set(arguments_of(metric_fn))
    if names - _ARGUMENTS:
        raise ValueError(
            f"metric_fn ({metric_fn}) has following not expected args: {sorted(names - _ARGUMENTS)}"
        )

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        given = {
            "features": features, "labels": labels, "predictions": spec.predictions,
            "config": config,
        }  # fmt: skip
        more = metric_fn(**{k: v for k, v in given.items() if k in names}) or {}
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **more})

    return Estimator(model_fn, estimator.model_dir, estimator.config)
