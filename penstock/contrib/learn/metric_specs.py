"""The metrics that an evaluation is given, by the names of its results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.contrib.learn.model_fn import MetricSpec


def metric_ops(
    given: Mapping[Any, Any] | None, features: Any, labels: Any, predictions: Any
) -> dict[str, Any]:
    """The metrics of a batch.

    Args:
      given: ``MetricSpec``, or functions of predictions and labels, by name; as a function's key
        also a pair of its name and that of the prediction.
      features, labels, predictions: of the batch.

    Raises:
      ValueError: a key or a metric is something else.
    """
    found: dict[str, Any] = {}
    for key, metric in (given or {}).items():
        if isinstance(metric, MetricSpec):
            found[key] = metric.create_metric_ops(features, labels, predictions)
            continue
        name, prediction = (key, None) if isinstance(key, str) else _pair(key)
        spec = MetricSpec(lambda predictions, labels, f=metric: f(predictions, labels), prediction)
        found[name] = spec.create_metric_ops(features, labels, predictions)
    return found


def _pair(key: Any) -> tuple[str, str]:
    if not isinstance(key, tuple) or len(key) != 2:
        raise ValueError(
            f"Invalid metric key {key!r}: a name, or a pair of its name and the prediction's"
        )
    return key
