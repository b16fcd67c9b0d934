"""``tf.metrics``: counts of right and wrong decisions over many steps, and what is made of them.

Four counts: true and false positives, true and false negatives (``tp``, ``fp``, ``tn``, ``fn``);
of decisions, or of scores in [0, 1] at each of several thresholds.  See ``metrics`` for what a
metric is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import documented_as, named
from penstock.foundation.graph import families
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.metrics import Metric, collected, fitted, mean, metric_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import constant, join, nodes, reshape, shape, tile, transpose
from penstock.ops.array.cast import cast
from penstock.ops.control import check, control
from penstock.ops.math import (
    argmax,
    binary,
    comparison,
    cumulative,
    division,
    elementwise,
    no_nan,
    reduction,
    reductions,
    select,
    weights as spread,
)
from penstock.ops.state import state_update

_TINY = 1e-7

# ---- counts of decisions ------------------------------------------------------------------------

# Kind of count: name of its metric, whether the label is true, whether the prediction is.
COUNTS = {
    "tp": ("true_positives", True, True),
    "fn": ("false_negatives", True, False),
    "tn": ("true_negatives", False, False),
    "fp": ("false_positives", False, True),
}


def _counted(
    holds: Tensor, weights: Any, metrics_collections: Any, updates_collections: Any
) -> Metric:
    check.assert_type(holds, dtypes.bool)
    count = metric_variable([], dtypes.float32, name="count")
    values = cast(holds, dtypes.float32)
    if weights is not None:
        allowed = (0, nodes.rank(values))
        with control_dependencies([check.assert_rank_in(weights, allowed)]):
            values = binary.multiply(values, cast(weights, dtypes.float32))
    value = collected(metrics_collections, control.identity(count))
    update = state_update.assign_add(count, reduction.reduce_sum(values))
    return value, collected(updates_collections, update)


def _of_truths(
    where: str, doc: str, like: Callable[..., Metric], gathered: Callable[..., Metric]
) -> families.Metric:
    """The metric ``where``, which is ``gathered`` of labels and predictions as truth values."""

    @named(where, doc, like)
    def metric(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, where, [predictions, labels, weights]):
            predictions, labels, weights = fitted(
                cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights
            )
            return gathered(labels, predictions, weights, metrics_collections, updates_collections)

    return metric


def _count_of(kind: str) -> families.Metric:
    where, label, prediction = COUNTS[kind]

    def count(labels: Any, predictions: Any, *rest: Any) -> Metric:
        holds = comparison.logical_and(
            comparison.equal(labels, label), comparison.equal(predictions, prediction)
        )
        return _counted(holds, *rest)

    doc = f"""How often a label is {label} and its prediction {prediction}, so far.

    Args:
      labels: the truth; cast to bool.
      predictions: of the same shape; cast to bool.

    Returns:
      The number so far, a float32 scalar, and the update.
    """
    return _of_truths(where, doc, mean, count)


true_positives, false_negatives = _count_of("tp"), _count_of("fn")
true_negatives, false_positives = _count_of("tn"), _count_of("fp")


def _share(first: Any, second: Any, name: str) -> Tensor:
    some = comparison.greater(first + second, 0)
    return select.where(some, division.div(first, first + second), 0, name)


def _share_of(where: str, other: families.Metric, doc: str) -> families.Metric:
    def share(labels: Any, predictions: Any, weights: Any, values: Any, updates: Any) -> Metric:
        right, right_after = true_positives(labels, predictions, weights)
        wrong, wrong_after = other(labels, predictions, weights)
        value = collected(values, _share(right, wrong, "value"))
        return value, collected(updates, _share(right_after, wrong_after, "update_op"))

    return _of_truths(where, f"{doc}; 0 where there is none.", true_positives, share)


precision = _share_of(
    "precision", false_positives, "The share of positive predictions so far that are right"
)
recall = _share_of(
    "recall", false_negatives, "The share of positive labels so far that are predicted"
)


# ---- counts of scores at thresholds -------------------------------------------------------------


def _in_unit_range(predictions: Any) -> list[Any]:
    message = "predictions must be in [0, 1]"
    dtype = predictions.dtype
    return [
        check.assert_greater_equal(predictions, cast(0.0, dtype), message=message),
        check.assert_less_equal(predictions, cast(1.0, dtype), message=message),
    ]


def counts_at_thresholds(
    labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any, kinds: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables [thresholds] of each kind of count, and their updates.

    Args:
      labels: the truth; cast to bool.
      predictions: scores in [0, 1], of the same shape.
      thresholds: a score above one is a positive prediction.
      weights: as of ``tf.metrics.mean``, or None.
      kinds: which counts, of ``tp``, ``fn``, ``tn``, ``fp`` in this order.
    """
    predictions = convert_to_tensor(predictions)
    with control_dependencies(_in_unit_range(predictions)):
        predictions, labels, weights = fitted(
            cast(predictions, dtypes.float32), cast(labels, dtypes.bool), weights
        )
    return counts_of_scores(predictions, labels, thresholds, weights, kinds)


def counts_of_scores(
    predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any, kinds: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """``counts_at_thresholds`` of what fits together, whatever the range of the scores."""
    count = len(thresholds)
    column = reshape.reshape(predictions, [-1, 1])
    row = reshape.reshape(cast(labels, dtypes.bool), [1, -1])
    number: Any = column.get_shape().as_list()[0]
    if number is None:
        sizes: Any = shape.shape(column)
        number = sizes[0]
    limits = tile.tile(
        reshape.expand_dims(constant.constant(thresholds), [1]), join.stack([1, number])
    )
    scores = tile.tile(transpose.transpose(column), [count, 1])
    sides: dict[tuple[str, bool], Any] = {("prediction", True): comparison.greater(scores, limits)}
    if {"fn", "tn"} & set(kinds):
        sides["prediction", False] = elementwise.logical_not(sides["prediction", True])
    sides["label", True] = tile.tile(row, [count, 1])
    if {"fp", "tn"} & set(kinds):
        sides["label", False] = elementwise.logical_not(sides["label", True])
    tiled = None
    if weights is not None:
        weights = spread.broadcast_weights(cast(weights, dtypes.float32), predictions)
        tiled = tile.tile(reshape.reshape(weights, [1, -1]), [count, 1])
        spread.check_same_shape(limits, tiled)
    values, updates = {}, {}
    for kind in kinds:
        where, label, prediction = COUNTS[kind]
        values[kind] = metric_variable([count], dtypes.float32, name=where)
        holds = comparison.logical_and(sides["label", label], sides["prediction", prediction])
        counted = cast(holds, dtypes.float32)
        if tiled is not None:
            counted = counted * tiled
        updates[kind] = state_update.assign_add(values[kind], reduction.reduce_sum(counted, 1))
    return values, updates


def _of_each(
    what: str, doc: str, like: Callable[..., Metric], scope: str, kinds: Sequence[str],
    picked: Callable[[dict[str, Any], str], Any],
) -> Callable[..., Metric]:  # fmt: skip
    """The metric ``what``_at_thresholds: what is ``picked`` of the counts of ``kinds`` at each."""

    @named(f"{what}_at_thresholds", doc, like)
    def metric(
        labels: Any,
        predictions: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, scope, [predictions, labels, weights]):
            values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, kinds)
            value = collected(metrics_collections, picked(values, "value"))
            return value, collected(updates_collections, picked(updates, "update_op"))

    return metric


def _counts_at(kind: str) -> Callable[..., Metric]:
    where, label, prediction = COUNTS[kind]

    def count(counts: dict[str, Any], suffix: str) -> Any:
        return control.identity(counts[kind]) if suffix == "value" else counts[kind]

    side = "above" if prediction else "not above"
    doc = f"""How often a label is {label} and its score {side} each threshold, so far.

    Args:
      labels: the truth; cast to bool.
      predictions: scores in [0, 1], of the same shape.
      thresholds: numbers in [0, 1].

    Returns:
      The numbers so far, float32 [thresholds], and the update.
    """
    return _of_each(where, doc, mean, where, [kind], count)


true_positives_at_thresholds, false_negatives_at_thresholds = _counts_at("tp"), _counts_at("fn")
true_negatives_at_thresholds, false_positives_at_thresholds = _counts_at("tn"), _counts_at("fp")


def _shares_at(what: str, other: str, doc: str) -> Callable[..., Metric]:
    def share(counts: dict[str, Any], suffix: str) -> Tensor:
        total = _TINY + counts["tp"] + counts[other]
        return division.div(counts["tp"], total, name=f"{what}_{suffix}")

    like, scope = true_positives_at_thresholds, f"{what}_at_thresholds"
    return _of_each(what, f"{doc} at each threshold.", like, scope, ["tp", other], share)


precision_at_thresholds = _shares_at("precision", "fp", "``tf.metrics.precision``")
recall_at_thresholds = _shares_at("recall", "fn", "``tf.metrics.recall``")


# ---- curves -------------------------------------------------------------------------------------


def _evenly(count: int) -> list[float]:
    return [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]


def _area(x: Any, y: Any, height: Callable[[Any, Any], Any], last: int, name: str) -> Tensor:
    widths = x[:last] - x[1:]
    heights = height(y[:last], y[1:])
    made: Tensor = reduction.reduce_sum(binary.multiply(widths, heights), name=name)
    return made


_HEIGHTS: dict[str, Callable[[Any, Any], Any]] = {
    "trapezoidal": lambda left, right: (left + right) / 2.0,
    "careful_interpolation": lambda left, right: (left + right) / 2.0,
    "minoring": binary.minimum,
    "majoring": binary.maximum,
}


def _interpolated_area(tp: Any, fp: Any, fn: Any, last: int) -> Tensor:
    """Area below a precision-recall curve, true positives taken as linear between thresholds."""
    gained = tp[:last] - tp[1:]
    positive = tp + fp
    fewer = binary.maximum(positive[:last] - positive[1:], 0)
    slope = no_nan.div_no_nan(gained, fewer, name="prec_slope")
    intercept = tp[1:] - binary.multiply(slope, positive[1:])
    both = comparison.logical_and(positive[:last] > 0, positive[1:] > 0)
    ratio = no_nan.div_no_nan(
        positive[:last], binary.maximum(positive[1:], 0), name="recall_relative_ratio"
    )
    ratio = select.where(both, ratio, elementwise.ones_like(positive[1:]))
    parts = no_nan.div_no_nan(
        slope * (gained + intercept * elementwise.log(ratio)),
        binary.maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment",
    )  # fmt: skip
    made: Tensor = reduction.reduce_sum(parts, name="interpolate_pr_auc")
    return made


def _auc_of(counts: dict[str, Any], curve: str, method: str, last: int, name: str) -> Tensor:
    """The area, over the thresholds before ``last`` and those that follow them."""
    tp, fn, tn, fp = (counts[kind] for kind in ("tp", "fn", "tn", "fp"))
    if curve == "PR" and method == "careful_interpolation":
        return _interpolated_area(tp, fp, fn, last)
    small = 1.0e-6
    found = division.div(tp + small, tp + fn + small)
    if curve == "ROC":
        return _area(division.div(fp, fp + tn + small), found, _HEIGHTS[method], last, name)
    right = division.div(tp + small, tp + fp + small)
    return _area(found, right, _HEIGHTS[method], last, name)


@documented_as(true_positives)
def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """The area under the ROC or the precision-recall curve, so far.

    Args:
      predictions: scores in [0, 1], of the same shape.
      num_thresholds: how many thresholds, evenly in [0, 1], make the curve.
      curve: "ROC" or "PR".
      summation_method: "trapezoidal", "careful_interpolation" (for "PR", the exact one),
        "minoring" or "majoring".
      thresholds: thresholds strictly in (0, 1), in place of ``num_thresholds``.

    Raises:
      ValueError: an unknown curve or method.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    if summation_method not in _HEIGHTS:
        raise ValueError(
            f"Invalid summation_method: {summation_method}; allowed are {', '.join(_HEIGHTS)}"
        )
    with variable_scope(name, "auc", [labels, predictions, weights]):
        inner = sorted(thresholds) if thresholds is not None else _evenly(num_thresholds)
        limits = [0.0 - _TINY, *inner, 1.0 + _TINY]
        values, updates = counts_at_thresholds(labels, predictions, limits, weights, list(COUNTS))
        # Of fewer than two thresholds there is no area, as in TensorFlow.
        last = (num_thresholds if thresholds is None else len(limits)) - 1
        value = _auc_of(values, curve, summation_method, last, "value")
        value = collected(metrics_collections, value)
        update = _auc_of(updates, curve, summation_method, last, "update_op")
        return value, collected(updates_collections, update)


def _sensitivity(counts: dict[str, Any], specificity: float, name: str) -> Tensor:
    tp, fn, tn, fp = (counts[kind] for kind in ("tp", "fn", "tn", "fp"))
    found = division.div(tn, tn + fp + _TINY)
    index = cast(argmax.argmin(elementwise.abs_(found - specificity), 0), dtypes.int32)
    return division.div(tp[index], tp[index] + fn[index] + _TINY, name)


def _specificity(counts: dict[str, Any], sensitivity: float, name: str) -> Tensor:
    tp, fn, tn, fp = (counts[kind] for kind in ("tp", "fn", "tn", "fp"))
    found = division.div(tp, tp + fn + _TINY)
    nearest = reductions.reduce_min(elementwise.abs_(found - sensitivity))
    ties = comparison.equal(elementwise.abs_(found - sensitivity), nearest)
    # Of several thresholds that are as near, the last: the sum grows up to it.
    upto = cumulative.cumsum(cast(ties, dtypes.int64))
    index = cast(argmax.argmax(upto, 0), dtypes.int32)
    # argmax gives the first place of the largest sum, which is that of the last tie.
    return division.div(tn[index], tn[index] + fp[index] + _TINY, name)


def _checked_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be in the range [0, 1]; found {value}")


@documented_as(auc)
def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """tp / (tp + fn) at the threshold where tn / (tn + fp) is nearest to ``specificity``.

    Raises:
      ValueError: the share that is asked for is not in [0, 1].
    """
    _checked_share("specificity", specificity)
    with variable_scope(name, "sensitivity_at_specificity", [predictions, labels, weights]):
        limits = [0.0 - _TINY, *_evenly(num_thresholds), 1.0 + _TINY]
        values, updates = counts_at_thresholds(labels, predictions, limits, weights, list(COUNTS))
        value = collected(metrics_collections, _sensitivity(values, specificity, "value"))
        update = _sensitivity(updates, specificity, "update_op")
        return value, collected(updates_collections, update)


@documented_as(sensitivity_at_specificity)
def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """tn / (tn + fp) at the threshold where tp / (tp + fn) is nearest to ``sensitivity``."""
    _checked_share("sensitivity", sensitivity)
    with variable_scope(name, "specificity_at_sensitivity", [predictions, labels, weights]):
        # The last threshold lies just below 1, as in TensorFlow: scores of 1 stay above it.
        limits = [0.0 - _TINY, *_evenly(num_thresholds), 1.0 - _TINY]
        values, updates = counts_at_thresholds(labels, predictions, limits, weights, list(COUNTS))
        value = collected(metrics_collections, _specificity(values, sensitivity, "value"))
        update = _specificity(updates, sensitivity, "update_op")
        return value, collected(updates_collections, update)
