"""Counts, rates and curves at thresholds of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors import dispatched
from penstock.library.ragged_tensors.dispatched import (
    abs_,
    cast,
    div,
    floor,
    gather,
    greater,
    greater_equal,
    identity,
    maximum,
    reduce_max,
    reduce_sum,
    stack,
)
from penstock.library.variables.metrics import Metric, collected, fitted, metric_variable
from penstock.library.variables.metrics_counts import (
    counts_at_thresholds,
    counts_of_scores,
    false_negatives,
    false_positives,
    true_negatives,
    true_positives,
)
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.constant import constant
from penstock.ops.array.ranges import lin_space
from penstock.ops.array.reshape import reshape
from penstock.ops.control.check import assert_greater_equal, assert_less_equal
from penstock.ops.control.control import group
from penstock.ops.math.argmax import argmax, argmin
from penstock.ops.math.cumulative import cumsum
from penstock.ops.state.state_scatter import scatter_add

_EPSILON = 1e-7
_KINDS = {
    "tp": ("true_positives", True, True),
    "fn": ("false_negatives", True, False),
    "tn": ("true_negatives", False, False),
    "fp": ("false_positives", False, True),
}

Counts = tuple[dict[str, Any], dict[str, Any]]


def counts_at(
    predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any, kinds: Iterable[str]
) -> Counts:
    """Variables [thresholds] of kinds of counts, and their updates.

    Args:
      predictions: scores.
      labels: the truth, of the same shape; cast to bool.
      thresholds: a score above one is a positive prediction.
      weights: of the examples, or None.
      kinds: of ``tp``, ``fn``, ``tn``, ``fp``.
    """
    predictions, labels, weights = fitted(predictions, labels, weights)
    ordered = sorted(kinds, key=list(_KINDS).index)  # TensorFlow's order
    return counts_of_scores(predictions, labels, thresholds, weights, ordered)


def _alone(kind: str) -> Callable[..., Metric]:
    where = f"streaming_{_KINDS[kind][0]}_at_thresholds"

    def counts(
        predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None
    ) -> Metric:
        values, updates = counts_at(predictions, labels, thresholds, weights, [kind])
        return values[kind], updates[kind]

    counts.__name__ = counts.__qualname__ = where
    what = _KINDS[kind][0].replace("_", " ")
    counts.__doc__ = f"""The number of {what} at each threshold, so far.

    Args:
      predictions: scores.
      labels: the truth, of the same shape; cast to bool.
      thresholds: list of numbers.
      weights: of the examples, or None.

    Returns:
      The variable [thresholds], and its update.
    """
    return counts


streaming_true_positives_at_thresholds = _alone("tp")
streaming_false_negatives_at_thresholds = _alone("fn")
streaming_true_negatives_at_thresholds = _alone("tn")
streaming_false_positives_at_thresholds = _alone("fp")


def _evenly(count: int) -> list[float]:
    """Thresholds from just below 0 to just above 1."""
    return [-_EPSILON, *(i / (count - 1) for i in range(1, count - 1)), 1.0 + _EPSILON]


# ---- rates -------------------------------------------------------------------------------------


def _rate(which: str, first: str, second: str) -> Callable[..., Metric]:
    where = f"false_{which}_rate"

    def metric(
        predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
        updates_collections: Any = None, name: str | None = None,
    ) -> Metric:  # fmt: skip
        with variable_scope(name, where, [predictions, labels, weights]):
            predictions, labels, weights = fitted(
                cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights
            )
            counters = {
                "fp": false_positives, "tn": true_negatives,
                "fn": false_negatives, "tp": true_positives,
            }  # fmt: skip
            false, more_false = counters[first](labels, predictions, weights)
            true, more_true = counters[second](labels, predictions, weights)

            def share(a: Any, b: Any, node: str) -> Any:
                return dispatched.where(greater(a + b, 0), div(a, a + b), 0.0, node)

            value = collected(metrics_collections, share(false, true, "value"))
            update = share(more_false, more_true, "update_op")
            return value, collected(updates_collections, update)

    metric.__name__ = metric.__qualname__ = f"streaming_{where}"
    metric.__doc__ = f"""The share of {which}s among what is labelled otherwise, so far.

    Args:
      predictions: tensor, cast to bool.
      labels: the truth, cast to bool.
      weights, metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.
    """
    return metric


streaming_false_positive_rate = _rate("positive", "fp", "tn")
streaming_false_negative_rate = _rate("negative", "fn", "tp")


def _rate_at(which: str, short: str, first: str, second: str) -> Callable[..., Metric]:
    where = f"false_{which}_rate_at_thresholds"

    def metric(
        predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None,
        metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
    ) -> Metric:  # fmt: skip
        with variable_scope(name, where, [predictions, labels, weights]):
            values, updates = counts_at(predictions, labels, thresholds, weights, [first, second])

            def share(counts: dict[str, Any], node: str) -> Any:
                total = _EPSILON + counts[first] + counts[second]
                return div(counts[first], total, name=f"{short}_{node}")

            value = collected(metrics_collections, share(values, "value"))
            return value, collected(updates_collections, share(updates, "update_op"))

    metric.__name__ = metric.__qualname__ = f"streaming_{where}"
    metric.__doc__ = f"""``streaming_false_{which}_rate`` of scores at each threshold.

    Args:
      predictions: scores.
      labels: the truth, cast to bool.
      thresholds: list of numbers.
      weights, metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.
    """
    return metric


streaming_false_positive_rate_at_thresholds = _rate_at("positive", "fpr", "fp", "tn")
streaming_false_negative_rate_at_thresholds = _rate_at("negative", "fnr", "fn", "tp")


# ---- curves, and points of them ------------------------------------------------------------------


def streaming_curve_points(
    labels: Any = None, predictions: Any = None, weights: Any = None, num_thresholds: int = 200,
    metrics_collections: Any = None, updates_collections: Any = None, curve: str = "ROC",
    name: str | None = None,
) -> Metric:  # fmt: skip
    """The points of a curve, so far.

    Args:
      labels: the truth, cast to bool.
      predictions: scores in [0, 1].
      weights: of the examples, or None.
      num_thresholds: number of points.
      metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.
      curve: ``"ROC"`` or ``"PR"``.

    Returns:
      Points [num_thresholds, 2], and the update.

    Raises:
      ValueError: another curve.
    """
    with variable_scope(name, "curve_points", [labels, predictions, weights]):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        counts, updates = counts_at(
            predictions, labels, _evenly(num_thresholds), weights, ["tp", "fn", "tn", "fp"]
        )
        tp, fn, tn, fp = (counts[kind] for kind in ("tp", "fn", "tn", "fp"))
        little = 1e-6
        recall = div(tp + little, tp + fn + little)
        if curve == "ROC":
            xs, ys = div(fp, fp + tn + little), recall
        else:
            xs, ys = recall, div(tp + little, tp + fp + little)
        points = collected(metrics_collections, stack([xs, ys], axis=1))
        return points, collected(updates_collections, group(*updates.values()))


def _at_best(
    where: str, find: Callable[[Any, Any, Any, str], Any], labels: Any, predictions: Any,
    weights: Any, num_thresholds: int, metrics_collections: Any, updates_collections: Any,
    name: str | None,
) -> Metric:  # fmt: skip
    with variable_scope(name, where, [predictions, labels, weights]):
        values, updates = counts_at(predictions, labels, _evenly(num_thresholds), weights, _KINDS)
        value = find(values["tp"], values["fp"], values["fn"], "value")
        # The update waits for all counts, of which the value takes some.
        with control_dependencies(list(updates.values())):
            update = find(updates["tp"], updates["fp"], updates["fn"], "update_op")
        return collected(metrics_collections, value), collected(updates_collections, update)


def f1_score(
    labels: Any, predictions: Any, weights: Any = None, num_thresholds: int = 200,
    metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The best F1 score of any threshold, so far.

    Args:
      labels: the truth, cast to bool.
      predictions: scores in [0, 1].
      weights: of the examples, or None.
      num_thresholds: how many thresholds are tried.
      metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.
    """

    def find(counts: dict[str, Any], when: str) -> Any:
        tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
        precision = div(tp, _EPSILON + tp + fp, name=f"precision_{when}")
        recall = div(tp, _EPSILON + tp + fn, name=f"recall_{when}")
        return reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON))

    with variable_scope(name, "f1", [labels, predictions, weights]):
        values, updates = counts_at_thresholds(
            labels, predictions, _evenly(num_thresholds), weights, ["tp", "fn", "fp"]
        )
        value = collected(metrics_collections, find(values, "value"))
        return value, collected(updates_collections, find(updates, "update"))


def precision_at_recall(
    labels: Any, predictions: Any, target_recall: float, weights: Any = None,
    num_thresholds: int = 200, metrics_collections: Any = None, updates_collections: Any = None,
    name: str | None = None,
) -> Metric:  # fmt: skip
    """The precision at the last threshold whose recall is not below a target; as ``f1_score``.

    Args:
      target_recall: the recall, in [0, 1].

    Raises:
      ValueError: it is out of range.
    """
    if not 0 <= target_recall <= 1:
        raise ValueError(f"`target_recall` must be in the range [0, 1]; found {target_recall}.")

    def find(tp: Any, fp: Any, fn: Any, node: str) -> Any:
        enough = greater_equal(div(tp, tp + fn + _EPSILON), target_recall)
        last = reduce_sum(cast(enough, dtypes.int64)) - 1
        hits = gather(tp, last)
        return div(hits + _EPSILON, hits + gather(fp, last) + _EPSILON, node)

    return _at_best(
        "precision_at_recall", find, labels, predictions, weights, num_thresholds,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def recall_at_precision(
    labels: Any, predictions: Any, precision: float, weights: Any = None,
    num_thresholds: int = 200, metrics_collections: Any = None, updates_collections: Any = None,
    name: str | None = None, strict_mode: bool = False,
) -> Metric:  # fmt: skip
    """The recall at the threshold whose precision is nearest to a target; as ``f1_score``.

    Args:
      precision: the precision, in [0, 1].
      strict_mode: whether only a precision that is not below it counts; else the recall is 0.

    Raises:
      ValueError: it is out of range.
    """
    if not 0 <= precision <= 1:
        raise ValueError(f"`precision` must be in the range [0, 1]; found {precision}.")

    def find(tp: Any, fp: Any, fn: Any, node: str) -> Any:
        precisions: Any = div(tp, tp + fp + _EPSILON)

        def recall(place: Any) -> Any:
            hits = gather(tp, place)
            return div(hits, hits + gather(fn, place) + _EPSILON, node)

        if not strict_mode:
            return recall(argmin(abs_(precisions - precision), 0, output_type=dtypes.int32))
        nearest = argmax(div(1.0, precisions - precision + _EPSILON), 0, output_type=dtypes.int32)
        good = greater_equal(gather(precisions, nearest), precision)
        return cond(good, lambda: recall(nearest), lambda: constant(0.0))

    return _at_best(
        "recall_at_precision", find, labels, predictions, weights, num_thresholds,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


class PrecisionRecallData(NamedTuple):
    """Vectors [thresholds] of what was counted, and the thresholds."""

    tp: Any
    fp: Any
    tn: Any
    fn: Any
    precision: Any
    recall: Any
    thresholds: Any


def precision_recall_at_equal_thresholds(
    labels: Any, predictions: Any, weights: Any = None, num_thresholds: int | None = None,
    use_locking: bool | None = None, name: str | None = None,
) -> tuple[PrecisionRecallData, Any]:  # fmt: skip
    """Counts, precision and recall at thresholds with equal distances, so far.

    Each example adds to the bucket of its score alone, so the cost does not grow with the number
    of thresholds.

    Args:
      labels: bools.
      predictions: scores in [0, 1], of the same shape.
      weights: that broadcast to them.
      num_thresholds: default 201.
      use_locking: whether updates take the variables' locks.
      name: variable scope.

    Returns:
      The data, and the update.

    Raises:
      TypeError: other types.
    """
    count = 201 if num_thresholds is None else num_thresholds
    for what, given in (("labels", labels), ("predictions", predictions)):
        wanted = given.dtype.is_bool if what == "labels" else given.dtype.is_floating
        if not wanted:
            kind = "bool" if what == "labels" else "floating"
            raise TypeError(f"{what} must be a {kind} tensor, found {given.dtype.name}.")
    with variable_scope(name, "precision_recall_at_equal_thresholds"):
        in_range = [
            assert_greater_equal(predictions, cast(0.0, predictions.dtype)),
            assert_less_equal(predictions, cast(1.0, predictions.dtype)),
        ]
        with control_dependencies(in_range):
            predictions = identity(predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        truth: Any = cast(labels, dtypes.float64)
        weight: Any = cast(1.0 if weights is None else weights, dtypes.float64)
        hits = reshape(truth * weight, [-1])
        misses = reshape((1.0 - truth) * weight, [-1])
        flat = reshape(predictions, [-1])
        places = cast(floor(flat * (count - 1)), dtypes.int32)
        with name_scope("variables"):
            tp_buckets = metric_variable([count], dtypes.float64, name="tp_buckets")
            fp_buckets = metric_variable([count], dtypes.float64, name="fp_buckets")
        with name_scope("update_op"):
            locking = bool(use_locking)
            more_tp = scatter_add(tp_buckets, places, hits, use_locking=locking)
            more_fp = scatter_add(fp_buckets, places, misses, use_locking=locking)
        tp: Any = cumsum(tp_buckets, reverse=True, name="tp")
        fp: Any = cumsum(fp_buckets, reverse=True, name="fp")
        tn, fn = fp[0] - fp, tp[0] - tp
        least = constant(_EPSILON, dtypes.float64)
        precision = tp / maximum(least, tp + fp)
        recall = tp / maximum(least, tp + fn)
        limits = lin_space(0.0, 1.0, count)
        vectors = (tp, fp, tn, fn, precision, recall, limits)
        data = PrecisionRecallData(*(cast(v, flat.dtype) for v in vectors))
        return data, group(more_tp, more_fp)
