"""Parts of metrics, by the names under which ``metrics_impl`` has them.

Packages of that time compose metrics of their own from these: variables that count, operands
brought to one shape, counts at thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import metrics, metrics_at_k, metrics_counts
from penstock.ops.control import control
from penstock.ops.math import no_nan


def metric_variable(
    shape: Any, dtype: Any, validate_shape: bool = True, name: str | None = None
) -> Any:
    """A variable that begins with zeros, is not trained, and is summed over replicas.

    Args:
      shape, dtype: of what it holds.
      validate_shape: whether it keeps this shape.
      name: its name.
    """
    return metrics.metric_variable(shape, dtype, name, validate_shape)


def _remove_squeezable_dimensions(predictions: Any, labels: Any, weights: Any) -> Any:
    return metrics.fitted(predictions, labels, weights)


def _safe_scalar_div(numerator: Any, denominator: Any, name: str) -> Tensor:
    return no_nan.div_no_nan(numerator, denominator, name=name)


def _aggregate_variable(v: Any, collections: Any) -> Any:
    return metrics.collected(collections, control.identity(v))


def _confusion_matrix_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    includes: Sequence[str] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    wanted = metrics_counts.COUNTS if includes is None else tuple(includes)
    for key in wanted:
        if key not in metrics_counts.COUNTS:
            raise ValueError(f"Invalid key: {key}. There are {', '.join(metrics_counts.COUNTS)}")
    kinds = [kind for kind in metrics_counts.COUNTS if kind in wanted]
    return metrics_counts.counts_at_thresholds(labels, predictions, thresholds, weights, kinds)


def _streaming_sparse_average_precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    return metrics_at_k.streaming_average_precision(
        labels, predictions_idx, weights, metrics_collections, updates_collections, name
    )
