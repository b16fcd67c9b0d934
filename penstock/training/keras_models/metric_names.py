"""Metrics by name: what ``compile`` and files of models say of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.library.layer_base import configs
from penstock.training.keras_models import losses, metrics, more_metrics, threshold_metrics

_OF_SAMPLES = (
    metrics.binary_accuracy,
    metrics.categorical_accuracy,
    metrics.sparse_categorical_accuracy,
    metrics.top_k_categorical_accuracy,
    metrics.sparse_top_k_categorical_accuracy,
)
_CLASSES = {
    name: item
    for room in (metrics, more_metrics, threshold_metrics)
    for name, item in vars(room).items()
    if isinstance(item, type) and issubclass(item, metrics.Metric) and not name.startswith("_")
    and item not in (metrics.Metric, metrics.MeanMetricWrapper)
}  # fmt: skip
_KNOWN: dict[str, Any] = {
    **{key: value for key, value in losses.KNOWN.items() if not isinstance(value, type)},
    **{one.__name__: one for one in _OF_SAMPLES}, **_CLASSES,
    "cosine_similarity": metrics.cosine_proximity, "cosine": metrics.cosine_proximity,
    "cosine_proximity": metrics.cosine_proximity,
}  # fmt: skip


def serialize(metric: Any) -> Any:
    """A metric by name, or as a configuration."""
    return configs.serialized(metric)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The metric of that name or configuration."""
    return configs.made_from(config, _KNOWN, "metric function", custom_objects)


def get(identifier: Any) -> Any:
    """The metric that a name, a configuration or itself stands for.

    Raises:
      ValueError: it stands for none.
    """
    if isinstance(identifier, str | dict):
        found = deserialize(identifier)
        return found() if isinstance(found, type) else found
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")
