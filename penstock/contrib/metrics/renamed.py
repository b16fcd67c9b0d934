"""``streaming_`` metrics that ``tf.metrics`` has: predictions before labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.scopes import name_scope
from penstock.library.ragged_tensors.dispatched import cast
from penstock.library.variables.metrics import (
    Metric,
    accuracy,
    mean,
    mean_absolute_error,
    mean_cosine_distance,
    mean_iou,
    mean_relative_error,
    mean_squared_error,
    mean_tensor,
    percentage_below,
    root_mean_squared_error,
)
from penstock.library.variables.metrics_at_k import (
    average_precision_at_k,
    precision_at_k,
    precision_at_top_k,
    recall_at_k,
    recall_at_top_k,
    streaming_average_precision,
)
from penstock.library.variables.metrics_counts import (
    auc,
    false_negatives,
    false_positives,
    precision,
    precision_at_thresholds,
    recall,
    recall_at_thresholds,
    sensitivity_at_specificity,
    specificity_at_sensitivity,
    true_negatives,
    true_positives,
)
from penstock.ops.array.sorting import in_top_k


def _named(function: Callable[..., Metric], name: str) -> Callable[..., Metric]:
    function.__name__ = function.__qualname__ = f"streaming_{name}"
    function.__doc__ = f"""``tf.metrics.{name}``, predictions before labels.

    Args and what it returns are that function's.
    """
    return function


def _flipped(name: str, metric: Callable[..., Metric]) -> Callable[..., Metric]:
    def streaming(
        predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
        updates_collections: Any = None, name: str | None = None,
    ) -> Metric:  # fmt: skip
        return metric(
            labels=labels, predictions=predictions, weights=weights,
            metrics_collections=metrics_collections, updates_collections=updates_collections,
            name=name,
        )  # fmt: skip

    return _named(streaming, name)


def _flipped_at_thresholds(name: str, metric: Callable[..., Metric]) -> Callable[..., Metric]:
    def streaming(
        predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None,
        metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
    ) -> Metric:  # fmt: skip
        return metric(
            labels=labels, predictions=predictions, thresholds=thresholds, weights=weights,
            metrics_collections=metrics_collections, updates_collections=updates_collections,
            name=name,
        )  # fmt: skip

    return _named(streaming, name)


def _of_values(name: str, metric: Callable[..., Metric]) -> Callable[..., Metric]:
    def streaming(
        values: Any, weights: Any = None, metrics_collections: Any = None,
        updates_collections: Any = None, name: str | None = None,
    ) -> Metric:  # fmt: skip
        return metric(values, weights, metrics_collections, updates_collections, name)

    return _named(streaming, name)


def _at_k(name: str, metric: Callable[..., Metric]) -> Callable[..., Metric]:
    def streaming(
        predictions: Any, labels: Any, k: int, class_id: int | None = None, weights: Any = None,
        metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
    ) -> Metric:  # fmt: skip
        return metric(
            labels=labels, predictions=predictions, k=k, class_id=class_id, weights=weights,
            metrics_collections=metrics_collections, updates_collections=updates_collections,
            name=name,
        )  # fmt: skip

    return _named(streaming, name)


streaming_accuracy = _flipped("accuracy", accuracy)
streaming_precision = _flipped("precision", precision)
streaming_recall = _flipped("recall", recall)
streaming_true_positives = _flipped("true_positives", true_positives)
streaming_true_negatives = _flipped("true_negatives", true_negatives)
streaming_false_positives = _flipped("false_positives", false_positives)
streaming_false_negatives = _flipped("false_negatives", false_negatives)
streaming_mean_absolute_error = _flipped("mean_absolute_error", mean_absolute_error)
streaming_mean_squared_error = _flipped("mean_squared_error", mean_squared_error)
streaming_root_mean_squared_error = _flipped("root_mean_squared_error", root_mean_squared_error)
streaming_precision_at_thresholds = _flipped_at_thresholds(
    "precision_at_thresholds", precision_at_thresholds
)
streaming_recall_at_thresholds = _flipped_at_thresholds(
    "recall_at_thresholds", recall_at_thresholds
)
streaming_mean = _of_values("mean", mean)
streaming_mean_tensor = _of_values("mean_tensor", mean_tensor)
streaming_sparse_precision_at_k = _at_k("sparse_precision_at_k", precision_at_k)
streaming_sparse_recall_at_k = _at_k("sparse_recall_at_k", recall_at_k)


def streaming_auc(
    predictions: Any, labels: Any, weights: Any = None, num_thresholds: int = 200,
    metrics_collections: Any = None, updates_collections: Any = None, curve: str = "ROC",
    name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.auc``, predictions before labels."""
    return auc(
        labels=labels, predictions=predictions, weights=weights, num_thresholds=num_thresholds,
        metrics_collections=metrics_collections, updates_collections=updates_collections,
        curve=curve, name=name,
    )  # fmt: skip


def streaming_specificity_at_sensitivity(
    predictions: Any, labels: Any, sensitivity: float, weights: Any = None,
    num_thresholds: int = 200, metrics_collections: Any = None, updates_collections: Any = None,
    name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.specificity_at_sensitivity``, predictions before labels."""
    return specificity_at_sensitivity(
        labels=labels, predictions=predictions, sensitivity=sensitivity, weights=weights,
        num_thresholds=num_thresholds, metrics_collections=metrics_collections,
        updates_collections=updates_collections, name=name,
    )  # fmt: skip


def streaming_sensitivity_at_specificity(
    predictions: Any, labels: Any, specificity: float, weights: Any = None,
    num_thresholds: int = 200, metrics_collections: Any = None, updates_collections: Any = None,
    name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.sensitivity_at_specificity``, predictions before labels."""
    return sensitivity_at_specificity(
        labels=labels, predictions=predictions, specificity=specificity, weights=weights,
        num_thresholds=num_thresholds, metrics_collections=metrics_collections,
        updates_collections=updates_collections, name=name,
    )  # fmt: skip


def streaming_mean_relative_error(
    predictions: Any, labels: Any, normalizer: Any, weights: Any = None,
    metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.mean_relative_error``, predictions before labels."""
    return mean_relative_error(
        labels=labels, predictions=predictions, normalizer=normalizer, weights=weights,
        metrics_collections=metrics_collections, updates_collections=updates_collections,
        name=name,
    )  # fmt: skip


def streaming_mean_cosine_distance(
    predictions: Any, labels: Any, dim: int, weights: Any = None, metrics_collections: Any = None,
    updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.mean_cosine_distance``, predictions before labels."""
    return mean_cosine_distance(
        labels=labels, predictions=predictions, dim=dim, weights=weights,
        metrics_collections=metrics_collections, updates_collections=updates_collections,
        name=name,
    )  # fmt: skip


def streaming_percentage_less(
    values: Any, threshold: Any, weights: Any = None, metrics_collections: Any = None,
    updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.percentage_below``."""
    return percentage_below(
        values, threshold, weights, metrics_collections, updates_collections, name
    )


def streaming_mean_iou(
    predictions: Any, labels: Any, num_classes: int, weights: Any = None,
    metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.mean_iou``, predictions before labels."""
    return mean_iou(
        labels=labels, predictions=predictions, num_classes=num_classes, weights=weights,
        metrics_collections=metrics_collections, updates_collections=updates_collections,
        name=name,
    )  # fmt: skip


# ---- among the best k ----------------------------------------------------------------------------


def streaming_recall_at_k(
    predictions: Any, labels: Any, k: int, weights: Any = None, metrics_collections: Any = None,
    updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """How often the label is among the k best predictions, so far.

    Args:
      predictions: [batch, classes] floats.
      labels: [batch] ints.
      k: how many count as best.
      weights, metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.
    """
    found = cast(in_top_k(predictions, labels, k), dtypes.float32)
    name = name or f"recall_at_{k}"
    return streaming_mean(found, weights, metrics_collections, updates_collections, name)


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any, labels: Any, class_id: int | None = None, weights: Any = None,
    metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.precision_at_top_k``, predictions before labels."""
    default = "precision_at_k" + ("" if class_id is None else f"_class{class_id}")
    with name_scope(name, default, [top_k_predictions, labels, weights]) as scope:
        return precision_at_top_k(
            labels=labels, predictions_idx=top_k_predictions, class_id=class_id, weights=weights,
            metrics_collections=metrics_collections, updates_collections=updates_collections,
            name=scope,
        )  # fmt: skip


def sparse_recall_at_top_k(
    labels: Any, top_k_predictions: Any, class_id: int | None = None, weights: Any = None,
    metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.recall_at_top_k``."""
    default = "recall_at_k" + ("" if class_id is None else f"_class{class_id}")
    with name_scope(name, default, [top_k_predictions, labels, weights]) as scope:
        return recall_at_top_k(
            labels=labels, predictions_idx=top_k_predictions, class_id=class_id, weights=weights,
            metrics_collections=metrics_collections, updates_collections=updates_collections,
            name=scope,
        )  # fmt: skip


def streaming_sparse_average_precision_at_k(
    predictions: Any, labels: Any, k: int, weights: Any = None, metrics_collections: Any = None,
    updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.average_precision_at_k``, predictions before labels."""
    return average_precision_at_k(
        labels=labels, predictions=predictions, k=k, weights=weights,
        metrics_collections=metrics_collections, updates_collections=updates_collections,
        name=name,
    )  # fmt: skip


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
    updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """``tf.metrics.average_precision_at_k`` of predictions that are the best classes already."""
    return streaming_average_precision(
        cast(labels, dtypes.int64), cast(top_k_predictions, dtypes.int64), weights,
        metrics_collections, updates_collections, name or "average_precision_at_top_k",
    )  # fmt: skip
