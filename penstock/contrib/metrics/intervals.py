"""The area under the ROC curve with a confidence interval, by DeLong's variance."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.contrib.metrics.concatenated import binary_labels, streaming_concat
from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies
from penstock.library.control_flow.cond import cond
from penstock.library.distributions.normal import Normal
from penstock.library.ragged_tensors.dispatched import (
    cast,
    equal,
    exp,
    gather,
    greater_equal,
    less,
    log,
    logical_and,
    logical_or,
    ones_like,
    reduce_max,
    reduce_min,
    reduce_sum,
    size as size_of,
    sqrt,
    square,
    squared_difference,
    where,
    zeros_like,
)
from penstock.library.variables.metrics import collected
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.constant import constant
from penstock.ops.array.fill import zeros
from penstock.ops.array.reshape import reshape
from penstock.ops.array.sorting import top_k
from penstock.ops.array.transpose import reverse
from penstock.ops.array.unique import unique
from penstock.ops.control.control import group, no_op
from penstock.ops.math.cumulative import cumsum
from penstock.ops.math.segment import segment_sum

_EPSILON = 1e-7


class AucData(NamedTuple):
    """The area, and the ends of its confidence interval."""

    auc: Any
    lower: Any
    upper: Any


def auc_with_confidence_intervals(
    labels: Any, predictions: Any, weights: Any = None, alpha: float = 0.95,
    logit_transformation: bool = True, metrics_collections: Any = (),
    updates_collections: Any = (), name: str | None = None,
) -> tuple[AucData, Any]:  # fmt: skip
    """The area under the ROC curve of all scores so far, and how sure it is.

    Args:
      labels: 0 or 1.
      predictions: scores of the same shape; any numbers.
      weights: of the examples, or None.
      alpha: how probable it is that the interval holds the true area, in (0, 1).
      logit_transformation: whether the interval is that of the area's logit.
      metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.

    Returns:
      The three scalars, 0 for a batch with one class only, and the update.

    Raises:
      ValueError: ``alpha`` out of range.

    Source: DeLong et al., "Comparing the Areas under Two or More Correlated Receiver Operating
    Characteristic Curves: A Nonparametric Approach".
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    if weights is None:
        weights = ones_like(predictions)
    with variable_scope(name, default_name="auc_with_confidence_intervals"):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = reduce_sum(weights)
        weights = reshape(weights, [-1])
        predictions = reshape(cast(predictions, dtypes.float64), [-1])
        labels = reshape(cast(labels, dtypes.int64), [-1])
        with control_dependencies(binary_labels(labels)):
            scores, more_scores = streaming_concat(predictions, name="concat_preds")
            truth, more_truth = streaming_concat(labels, name="concat_labels")
            each, more_weights = streaming_concat(weights, name="concat_weights")
            gathered = group(more_truth, more_scores, more_weights)
            has_both = logical_and(equal(reduce_min(labels), 0), equal(reduce_max(labels), 1))
            counts = greater_equal(total, 1.0)
            valid = logical_and(has_both, counts)
            update = cond(counts, lambda: gathered, no_op)
            found = _interval(truth, scores, each, 1 - alpha, logit_transformation)
            nothing = constant(0.0)
            data = AucData(*cond(valid, lambda: list(found), lambda: [nothing] * 3))
        return collected(metrics_collections, data), collected(updates_collections, update)


def _interval(
    labels: Any, scores: Any, weights: Any, beyond: float, logit: bool
) -> tuple[Any, Any, Any]:
    area, deviation = _area_and_deviation(labels, scores, weights)
    z = Normal(loc=0.0, scale=1.0).quantile(beyond / 2)
    if not logit:
        lower, upper = area + z * deviation, area - z * deviation
    else:
        place = log(area / (1.0 - area + _EPSILON))
        spread = deviation / (area * (1.0 - area + _EPSILON))
        ends = place + z * spread, place - z * spread
        lower, upper = (1.0 / (1.0 + exp(-end) + _EPSILON) for end in ends)
    return area, _unless_perfect(area, lower), _unless_perfect(area, upper)


def _unless_perfect(area: Any, end: Any) -> Any:
    perfect = logical_or(equal(area, ones_like(area)), equal(area, zeros_like(area)))
    return where(perfect, area, end)


def _area_and_deviation(labels: Any, scores: Any, weights: Any) -> tuple[Any, Any]:
    number = size_of(scores)
    negatives = reduce_sum(cast(1 - labels, dtypes.float32) * weights)
    positives = reduce_sum(cast(labels, dtypes.float32) * weights)
    ranked, order = top_k(scores, number)
    ranked, order = (reverse(each, zeros(1, dtypes.int32)) for each in (ranked, order))
    labels, weights = gather(labels, order), gather(weights, order)
    place = _placements(labels, ranked, weights)
    place_0 = place * cast(1 - labels, dtypes.float32)
    weight_0 = weights * cast(1 - labels, dtypes.float32)
    place_1 = place * cast(labels, dtypes.float32)
    weight_1 = weights * cast(labels, dtypes.float32)
    area_0 = reduce_sum(weight_0 * (1.0 - place_0)) / (negatives + _EPSILON)
    area_1 = reduce_sum(weight_1 * place_1) / (positives + _EPSILON)
    area = where(less(negatives, positives), area_1, area_0)
    variance_0: Any = reduce_sum(weight_0 * square(1.0 - place_0 - area_0))
    variance_0 = variance_0 / (negatives - 1.0 + _EPSILON)
    variance_1: Any = reduce_sum(weight_1 * squared_difference(place_1, area_1))
    variance_1 = variance_1 / (positives - 1.0 + _EPSILON)
    variance: Any = variance_0 / (negatives + _EPSILON) + variance_1 / (positives + _EPSILON)
    return area, sqrt(variance)


def _placements(labels: Any, ranked: Any, weights: Any) -> Any:
    """The share of the other class that is below each score, equal ones counting half."""
    _, groups = unique(ranked)
    positive: Any = cast(labels, dtypes.float32)
    negative: Any = 1.0 - positive
    weight_1, weight_0 = weights * positive, weights * negative
    of_0, of_1 = segment_sum(weight_0, groups), segment_sum(weight_1, groups)
    below_0, below_1 = cumsum(of_0, exclusive=True), cumsum(of_1, exclusive=True)
    share_0 = (below_0 + of_0 / 2.0) / (reduce_sum(of_0) + _EPSILON)
    share_1 = (below_1 + of_1 / 2.0) / (reduce_sum(of_1) + _EPSILON)
    of_0, of_1 = gather(share_0, groups), gather(share_1, groups)
    return of_0 * positive + of_1 * negative
