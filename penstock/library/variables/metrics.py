"""``tf.metrics``: means gathered over many steps.

A metric is two tensors: the value so far, and an update that takes a batch in and gives the value
after it.  What it gathers lies in local variables, of the collections LOCAL_VARIABLES and
METRIC_VARIABLES: ``tf.local_variables_initializer()`` starts it anew.  Nodes and variables are
those of TensorFlow 1.15.

Metrics of classes and counts are in ``metrics_counts``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import documented_as, named
from penstock.foundation.graph import families
from penstock.foundation.graph.collecting import add_to_collections
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import control_dependencies
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import creation
from penstock.library.variables.scoping import variable_scope
from penstock.library.variables.variable import VariableAggregation, VariableSynchronization
from penstock.ops.array import fill, ranks, reshape
from penstock.ops.array.cast import cast
from penstock.ops.linalg import matrix_diag
from penstock.ops.math import (
    binary,
    comparison,
    confusion_matrix,
    division,
    elementwise,
    no_nan,
    reduction,
    select,
    sums,
    weights as spread,
)
from penstock.ops.state import state_scatter, state_update

Metric = tuple[Tensor, Any]


def metric_variable(
    dims: Any, dtype: Any, name: str | None = None, validate_shape: bool = True
) -> Any:
    """A variable that begins with zeros, is not trained, and is summed over replicas."""
    return creation.create(
        lambda: fill.zeros(dims, dtype), trainable=False, name=name, validate_shape=validate_shape,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        synchronization=VariableSynchronization.ON_READ, aggregation=VariableAggregation.SUM,
    )  # fmt: skip


def collected(names: Any, value: Any) -> Any:
    """``value``, added to the collections ``names`` if there are any."""
    if names:
        add_to_collections(names, value)
    return value


# ---- operands of one shape -------------------------------------------------------------------


def fitted(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Any, Any]:
    """The three with ranks that go together: last dims of size 1 go or come where that helps."""
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = spread.squeeze_last(labels, predictions)
        spread.check_same_shape(predictions, labels)
    if weights is None:
        return predictions, labels, None
    weights = spread.with_rank_of(convert_to_tensor(weights), predictions)
    return predictions, labels, weights


def _weighted(values: Tensor, weights: Any) -> tuple[Tensor, Tensor | None]:
    """Values times weights, and the weights spread over them."""
    if weights is None:
        return values, None
    values, _, weights = fitted(values, None, weights)
    weights = spread.broadcast_weights(cast(weights, dtypes.float32), values)
    return binary.multiply(values, weights), weights


# ---- means ------------------------------------------------------------------------------------


def _ratio(total: Any, count: Any, name: str | None) -> Tensor:
    return no_nan.div_no_nan(total, binary.maximum(count, 0), name=name)


def _gathered_mean(
    total: Any, count: Any, values: Tensor, sums: tuple[Callable[[], Any], Any],
    metrics_collections: Any, updates_collections: Any,
) -> Metric:  # fmt: skip
    """The metric of two variables; ``sums`` is what a batch adds to each."""
    total_after = state_update.assign_add(total, sums[0]())
    with control_dependencies([values]):
        count_after = state_update.assign_add(count, sums[1])
    value = collected(metrics_collections, _ratio(total, count, "value"))
    update = _ratio(total_after, count_after, "update_op")
    return value, collected(updates_collections, update)


def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of all elements so far.

    Args:
      values: any numbers; computed as float32.
      weights: what each counts: a scalar, or a tensor of as many dims of that size or 1; default 1.
      metrics_collections: names of collections that the value is added to.
      updates_collections: names of collections that the update is added to.
      name: name of the variable scope.

    Returns:
      The value so far, a float32 scalar, and the update, which is the value with this batch.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     value, update = tf.metrics.mean([1.0, 2.0, 6.0])
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      3.0 3.0
    """
    with variable_scope(name, "mean", [values, weights]):
        values = cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number: Any = cast(ranks.size(values), dtypes.float32)
        else:
            values, weights = _weighted(values, weights)
            number = reduction.reduce_sum(weights)
        return _gathered_mean(
            total, count, values, (lambda: reduction.reduce_sum(values), number),
            metrics_collections, updates_collections,
        )  # fmt: skip


@documented_as(mean)
def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of each element over the batches so far.

    Returns:
      The means so far, float32 of the shape of ``values``, and the update.
    """
    with variable_scope(name, "mean", [values, weights]):
        values = cast(values, dtypes.float32)
        total = metric_variable(values.get_shape(), dtypes.float32, name="total_tensor")
        count = metric_variable(values.get_shape(), dtypes.float32, name="count_tensor")
        number = elementwise.ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            number = binary.multiply(number, weights)
        return _gathered_mean(
            total, count, values, (lambda: values, number),
            metrics_collections, updates_collections,
        )  # fmt: skip


def _averaged(measure: Callable[[Any, Any], Any]) -> families.Metric:
    """The metric that is the mean of ``measure``, which is given the labels and predictions."""

    @named(measure.__name__, measure.__doc__)
    def metric(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        predictions, labels, weights = fitted(predictions, labels, weights)
        found, where = measure(labels, predictions), name or measure.__name__
        return mean(found, weights, metrics_collections, updates_collections, where)

    return metric


@documented_as(mean)
@_averaged
def accuracy(labels: Any, predictions: Any) -> Any:
    """The share of predictions that are their labels, of any type; cast to that of ``labels``.

    Args:
      labels: the truth.
      predictions: of the same shape.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     value, update = tf.metrics.accuracy([1, 2, 3, 4], [1, 2, 3, 0])
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update))
      0.75
    """
    if labels.dtype != predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    return cast(comparison.equal(predictions, labels), dtypes.float32)


@documented_as(accuracy)
@_averaged
def mean_absolute_error(labels: Any, predictions: Any) -> Any:
    """The mean of |predictions - labels|."""
    return elementwise.abs_(predictions - labels)


@documented_as(accuracy)
@_averaged
def mean_squared_error(labels: Any, predictions: Any) -> Any:
    """The mean of (predictions - labels)^2."""
    return binary.squared_difference(labels, predictions)


@documented_as(accuracy)
def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The root of ``mean_squared_error``."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    where = name or "root_mean_squared_error"
    value, update = mean_squared_error(labels, predictions, weights, None, None, where)
    root = collected(metrics_collections, elementwise.sqrt(value))
    return root, collected(updates_collections, elementwise.sqrt(update))


@documented_as(accuracy)
def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of |labels - predictions| / normalizer, 0 where that is 0."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    predictions, normalizer = spread.squeeze_last(predictions, normalizer)
    spread.check_same_shape(predictions, normalizer)
    found = select.where(
        comparison.equal(normalizer, 0.0), elementwise.zeros_like(labels),
        division.div(elementwise.abs_(labels - predictions), normalizer),
    )  # fmt: skip
    where = name or "mean_relative_error"
    return mean(found, weights, metrics_collections, updates_collections, where)


@documented_as(accuracy)
def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """1 minus the mean dot product along ``dim`` of vectors of length 1."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    products = binary.multiply(predictions, labels)
    products = reduction.reduce_sum(products, axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    value, update = sums.subtract(1.0, value), sums.subtract(1.0, update)
    return collected(metrics_collections, value), collected(updates_collections, update)


@documented_as(mean)
def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The share of values below ``threshold``."""
    below = cast(comparison.less(values, threshold), dtypes.float32)
    where = name or "percentage_below_threshold"
    return mean(below, weights, metrics_collections, updates_collections, where)


# ---- means over classes -----------------------------------------------------------------------


def _flat(value: Any) -> Any:
    dims = value.get_shape().ndims
    return reshape.reshape(value, [-1]) if dims is not None and dims > 1 else value


@documented_as(mean)
def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of the share of each that is predicted right.

    Args:
      labels: tensor of classes, numbered from 0.
      predictions: tensor of classes, of the same shape.
      num_classes: how many classes there are.
      weights: tensor of the same shape; what each label counts, default 1.

    Returns:
      The mean so far, a float32 scalar; and the update, which is the accuracy of each class.
    """
    with variable_scope(name, "mean_accuracy", [predictions, labels, weights]):
        labels = _flat(cast(labels, dtypes.int64))
        predictions = _flat(convert_to_tensor(predictions))
        spread.check_same_shape(predictions, labels)
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = fill.ones([ranks.size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = cast(predictions, labels.dtype)
        correct = cast(comparison.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = cast(_flat(convert_to_tensor(weights)), dtypes.float32)
            correct, ones = correct * weights, ones * weights
        total_after = state_scatter.scatter_add(total, labels, ones)
        count_after = state_scatter.scatter_add(count, labels, correct)
        shares = _ratio(count, total, None)
        value = collected(metrics_collections, reduction.reduce_mean(shares, name="mean_accuracy"))
        update = _ratio(count_after, total_after, "update_op")
        return value, collected(updates_collections, update)


def _gathered_confusion(
    labels: Any, predictions: Any, num_classes: Any, weights: Any
) -> tuple[Any, Any]:
    """A variable of the confusion matrix so far, and its update."""
    matrix = metric_variable(
        [num_classes, num_classes], dtypes.float64, name="total_confusion_matrix"
    )
    predictions, labels = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
    num_classes = cast(num_classes, dtypes.int64)
    predictions, labels = _flat(predictions), _flat(labels)
    if weights is not None:
        weights = _flat(convert_to_tensor(weights))
    batch = confusion_matrix.confusion_matrix(
        labels, predictions, num_classes, weights=weights, dtype=dtypes.float64
    )
    return matrix, state_update.assign_add(matrix, batch)


@documented_as(mean_per_class_accuracy)
def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of intersection over union: right / (labelled or predicted so).

    Returns:
      The mean over the classes that occurred, a float32 scalar (0 if none did); and the update,
      which is the confusion matrix.
    """
    with variable_scope(name, "mean_iou", [predictions, labels, weights]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        spread.check_same_shape(predictions, labels)
        matrix, update = _gathered_confusion(labels, predictions, num_classes, weights)
        value = collected(metrics_collections, _iou(matrix))
        return value, collected(updates_collections, update)


def _iou(matrix: Any) -> Tensor:
    predicted = cast(reduction.reduce_sum(matrix, 0), dtypes.float32)
    labelled = cast(reduction.reduce_sum(matrix, 1), dtypes.float32)
    right = cast(matrix_diag.diag_part(matrix), dtypes.float32)
    either = predicted + labelled - right
    occurring = reduction.reduce_sum(cast(comparison.not_equal(either, 0), dtypes.float32))
    either = select.where(comparison.greater(either, 0), either, elementwise.ones_like(either))
    shares = division.div(right, either)
    any_occurs = comparison.greater(occurring, 0)
    average = reduction.reduce_sum(shares, name="mean_iou") / occurring
    return select.where(any_occurs, average, 0)
