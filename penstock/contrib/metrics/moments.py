"""Covariance and correlation, kappa, counts and values gathered over many steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.library.ragged_tensors.dispatched import (
    cast,
    div_no_nan,
    equal,
    identity,
    less_equal,
    multiply,
    ones_like,
    reduce_mean,
    reduce_sum,
    size,
    sqrt,
    squeeze,
    truediv,
    where,
)
from penstock.library.variables.metrics import Metric, collected, fitted, metric_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.linalg.matrix_diag import diag_part
from penstock.ops.math import confusion_matrix as confusion_matrix_ops, weights as spread
from penstock.ops.state.state_update import assign_add


def streaming_covariance(
    predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
    updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The unbiased covariance of predictions and labels, so far.

    Args:
      predictions, labels: floats of one shape.
      weights: how often each counts, or None.
      metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.

    Source: Bennett et al., "Numerically Stable, Single-Pass, Parallel Statistics Algorithms".
    """
    with variable_scope(name, "covariance", [predictions, labels, weights]):
        predictions, labels, weights = fitted(predictions, labels, weights)
        count, mean_p, mean_l, comoment = (
            metric_variable([], dtypes.float32, name=n)
            for n in ("count", "mean_prediction", "mean_label", "comoment")
        )
        if weights is None:
            each: Any = 1.0
            batch: Any = cast(size(labels), dtypes.float32)
        else:
            each = spread.broadcast_weights(weights, labels)
            batch = reduce_sum(each)
        total = assign_add(count, batch)
        before = total - batch

        def moved(mean: Any, values: Any) -> tuple[Any, Any, Any]:
            """The batch's mean, the mean before, and its update."""
            of_batch = div_no_nan(reduce_sum(values * each), batch)
            delta = div_no_nan((of_batch - mean) * batch, total)
            updated = assign_add(mean, delta)
            return of_batch, updated - delta, updated

        batch_p, before_p, _ = moved(mean_p, predictions)
        batch_l, before_l, _ = moved(mean_l, labels)
        residuals = (predictions - batch_p) * (labels - batch_l) * each
        apart = (before_p - batch_p) * (before_l - batch_l) * (before * batch / total)
        updated = assign_add(comoment, reduce_sum(residuals) + apart)

        def covariance(node: str) -> Any:
            few = less_equal(count, 1.0)
            return where(few, float("nan"), truediv(comoment, count - 1), name=node)

        value = collected(metrics_collections, covariance("covariance"))
        with control_dependencies([updated]):
            return value, collected(updates_collections, covariance("update_op"))


def streaming_pearson_correlation(
    predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
    updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """Pearson's correlation of predictions and labels, so far; as ``streaming_covariance``."""
    with variable_scope(name, "pearson_r", [predictions, labels, weights]):
        predictions, labels, weights = fitted(predictions, labels, weights)
        if weights is not None:
            weights = spread.broadcast_weights(weights, labels)
        pairs = {
            "covariance": (predictions, labels),
            "variance_predictions": (predictions, predictions),
            "variance_labels": (labels, labels),
        }
        found = [streaming_covariance(a, b, weights, name=n) for n, (a, b) in pairs.items()]

        def correlation(which: int, node: str) -> Any:
            both, one, other = (metric[which] for metric in found)
            return truediv(both, multiply(sqrt(one), sqrt(other)), name=node)

        value = collected(metrics_collections, correlation(0, "pearson_r"))
        return value, collected(updates_collections, correlation(1, "update_op"))


def count(
    values: Any, weights: Any = None, metrics_collections: Any = None,
    updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The number of values, or the sum of their weights, so far.

    Args:
      values: tensor.
      weights, metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.
    """
    with variable_scope(name, "count", [values, weights]):
        counted = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            added = cast(size(values), dtypes.float32)
        else:
            values, _, weights = fitted(cast(values, dtypes.float32), None, weights)
            each = spread.broadcast_weights(cast(weights, dtypes.float32), values)
            added = reduce_sum(each)
        with control_dependencies([values]):
            updated = assign_add(counted, added)
        value = collected(metrics_collections, identity(counted))
        return value, collected(updates_collections, updated)


def cohen_kappa(
    labels: Any, predictions_idx: Any, num_classes: int, weights: Any = None,
    metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """Cohen's kappa: how far labels and predictions agree beyond chance, so far.

    Args:
      labels: [batch] or [batch, 1] classes.
      predictions_idx: [batch] classes.
      num_classes: at least 2.
      weights, metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.

    Raises:
      ValueError: fewer classes.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2. Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", [labels, predictions_idx, weights]):
        labels.get_shape().with_rank_at_most(2)
        if labels.get_shape().ndims == 2:
            labels = squeeze(labels, axis=[-1])
        predictions_idx, labels, weights = fitted(predictions_idx, labels, weights)
        whole = weights is None or weights.dtype.is_integer
        dtype = dtypes.int64 if whole else dtypes.float32
        agreed, rows, columns = (
            metric_variable([num_classes], dtype, name=n) for n in ("po", "pe_row", "pe_col")
        )
        table = confusion_matrix_ops.confusion_matrix(
            labels, predictions_idx, num_classes=num_classes, weights=weights, dtype=dtype,
            name="counts_in_table",
        )  # fmt: skip
        more_agreed = assign_add(agreed, diag_part(table))
        more_rows = assign_add(rows, reduce_sum(table, axis=0))
        more_columns = assign_add(columns, reduce_sum(table, axis=1))
        value = collected(metrics_collections, _kappa(agreed, rows, columns, "value"))
        update = _kappa(more_agreed, more_rows, more_columns, "update_op")
        return value, collected(updates_collections, update)


def _kappa(agreed: Any, rows: Any, columns: Any, name: str) -> Any:
    total: Any = cast(reduce_sum(rows), dtypes.float64)
    by_chance = reduce_sum(div_no_nan(cast(rows * columns, dtypes.float64), total))
    found: Any = cast(reduce_sum(agreed), dtypes.float64)
    return div_no_nan(found - by_chance, total - by_chance, name=name)


# ---- many metrics at once ------------------------------------------------------------------------


def aggregate_metrics(*value_update_tuples: Metric) -> tuple[list[Any], list[Any]]:
    """The values and the updates of some metrics, as two lists.

    Raises:
      ValueError: no metrics.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(
    names_to_tuples: Mapping[str, Metric],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values and the updates of some metrics, as two dictionaries by name."""
    values = {name: value for name, (value, _) in names_to_tuples.items()}
    return values, {name: update for name, (_, update) in names_to_tuples.items()}


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """The share of predictions of one batch that equal their labels.

    Args:
      predictions, labels: tensors of one shape, neither of them floats.
      weights: that broadcast to them, or None.
      name: name scope.

    Raises:
      ValueError: floats, or different types.
    """
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)) or not (
        predictions.dtype.is_integer or predictions.dtype in (dtypes.bool, dtypes.string)
    ):
        raise ValueError(
            "Labels should have bool, string, or integer dtype, not"
            f" {labels.dtype} (predictions: {predictions.dtype})."
        )
    labels.get_shape().assert_is_compatible_with(predictions.get_shape())
    if labels.dtype != predictions.dtype:
        raise ValueError(
            f"Dtypes of predictions and labels should match. Given: predictions"
            f" ({predictions.dtype!r}) and labels ({labels.dtype!r})"
        )
    with name_scope(name, "accuracy", [predictions, labels]):
        right: Any = cast(equal(predictions, labels), dtypes.float32)
        if weights is None:
            return reduce_mean(right)
        each: Any = cast(weights, right.dtype)
        total = reduce_sum(multiply(ones_like(right), each))
        return div_no_nan(reduce_sum(multiply(right, each)), total)


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = dtypes.int32,
    name: str | None = None, weights: Any = None,
) -> Any:  # fmt: skip
    """``tf.confusion_matrix``."""
    return confusion_matrix_ops.confusion_matrix(
        labels=labels, predictions=predictions, num_classes=num_classes, dtype=dtype, name=name,
        weights=weights,
    )  # fmt: skip
