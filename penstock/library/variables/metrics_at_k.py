"""``tf.metrics`` of rankings: precision and recall among the first k classes, average precision.

Labels and the first k predictions of a row are sets of classes: true positives are what both have,
false positives and false negatives what one alone has.  Labels are dense or sparse.  With a
``class_id`` only that class counts.  See ``metrics`` for what a metric is; these are float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import documented_as, named
from penstock.foundation.graph.composite import SparseTensor, SparseTensorValue
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.metrics import Metric, collected, mean, metric_variable
from penstock.ops.array import fill, join, ranks, reshape, shape, slicing, sorting, tile
from penstock.ops.array.cast import cast
from penstock.ops.control import control_flow
from penstock.ops.math import (
    binary,
    comparison,
    cumulative,
    division,
    elementwise,
    no_nan,
    reduction,
    reductions,
    select,
    sums,
    weights as spread,
)
from penstock.ops.sparse import sets, sparse_compose, sparse_functions
from penstock.ops.state import state_update


def _at_k(what: str, k: int | None, class_id: int | None = None) -> str:
    counted = f"{what}_at_k" if k is None else f"{what}_at_{k:d}"
    return counted if class_id is None else f"{counted}_class{class_id:d}"


def _tensor_or_sparse(value: Any) -> Any:
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if isinstance(value, SparseTensor) else convert_to_tensor(value)


# ---- labels and predictions as sets -------------------------------------------------------------


def _with_label_dim(labels: Any, predictions: Tensor) -> Any:
    """Labels of the rank of ``predictions``: the one label of a row gets a dim of its own."""
    with name_scope(None, "expand_labels", [labels, predictions]) as scope:
        labels = _tensor_or_sparse(labels)
        cond = control_flow.conditional()
        if isinstance(labels, SparseTensor):
            fewer = comparison.equal(ranks.rank(predictions), ranks.size(labels.dense_shape) + 1)

            def expanded() -> Any:
                dims = join.concat([labels.dense_shape, (1,)], 0)
                return sparse_functions.sparse_reshape(labels, shape=dims, name=scope)

            return cond(fewer, expanded, lambda: labels)
        ours, theirs = labels.sizes, predictions.sizes
        if ours is not None and theirs is not None:
            if len(ours) not in (len(theirs), len(theirs) - 1):
                raise ValueError(
                    f"Unexpected labels shape {labels.get_shape()} for predictions shape"
                    f" {predictions.get_shape()}: labels need as many dims, or one less"
                )
            same = len(ours) == len(theirs)
            return labels if same else reshape.expand_dims(labels, -1, name=scope)
        fewer = comparison.equal(ranks.rank(predictions), ranks.rank(labels) + 1)
        return cond(fewer, lambda: reshape.expand_dims(labels, -1, name=scope), lambda: labels)


def _only(class_id: int, classes: Any) -> SparseTensor:
    """What of ``classes`` is ``class_id``."""
    classes = _tensor_or_sparse(classes)
    if isinstance(classes, SparseTensor):
        chosen = comparison.equal(classes.values, class_id)
        return sparse_compose.sparse_retain(classes, chosen)
    dims = shape.shape(classes, out_type=dtypes.int64)
    last = ranks.size(dims) - 1
    axis = reshape.reshape(last, [1])
    column = reduction.reduced_shape(cast(dims, dtypes.int32), axis)
    found = sets.set_intersection(fill.fill(column, cast(class_id, dtypes.int64)), classes)
    return SparseTensor(found.indices, found.values, dims)


def _in_both(predictions: Any, labels: Any) -> SparseTensor:
    return sets.set_intersection(predictions, labels)


def _in_labels_alone(predictions: Any, labels: Any) -> SparseTensor:
    return sets.set_difference(predictions, labels, aminusb=False)


def _in_predictions_alone(predictions: Any, labels: Any) -> SparseTensor:
    return sets.set_difference(predictions, labels, aminusb=True)


# What is counted: names of its scope and of its variable, and what it is of the two sets.
_Counted = tuple[str, str, Callable[[Any, Any], SparseTensor]]
_TRUE_POSITIVES: _Counted = ("true_positives", "true_positive", _in_both)
_FALSE_NEGATIVES: _Counted = ("false_negatives", "false_negative", _in_labels_alone)
_FALSE_POSITIVES: _Counted = ("false_positives", "false_positive", _in_predictions_alone)


def _count_in_rows(
    counted: _Counted, labels: Any, predictions: Any, class_id: int | None, weights: Any,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """How many classes of each row are counted, float64 of the shape of the rows."""
    with name_scope(name, counted[0], [predictions, labels, weights]):
        if class_id is not None:
            labels, predictions = _only(class_id, labels), _only(class_id, predictions)
        found: Tensor = cast(sets.set_size(counted[2](predictions, labels)), dtypes.float64)
        if weights is None:
            return found
        with control_dependencies([spread.assert_broadcastable(weights, found)]):
            found = binary.multiply(found, cast(weights, dtypes.float64))
        return found


def _gathered_count(
    counted: _Counted, labels: Any, predictions: Any, k: int | None, class_id: int | None,
    weights: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """The variable of a count over batches, and its update."""
    where = _at_k(counted[1], k, class_id)
    with name_scope(None, where, [predictions, labels, weights]) as scope:
        found = _count_in_rows(counted, labels, predictions, class_id, weights)
        batch = cast(reduction.reduce_sum(found), dtypes.float64)
        count = metric_variable([], dtypes.float64, name=scope)
        return count, state_update.assign_add(count, batch, name="update")


# ---- precision and recall -----------------------------------------------------------------------


def _share_at_top_k(what: str, other: _Counted, doc: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions_idx: Any,
        k: int | None = None,
        class_id: int | None = None,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        operands = [predictions_idx, labels, weights]
        with name_scope(name, _at_k(what, k, class_id), operands) as scope:
            predictions_idx = convert_to_tensor(predictions_idx)
            labels = _with_label_dim(labels, predictions_idx)
            given = labels, cast(predictions_idx, dtypes.int64), k, class_id, weights
            right, right_after = _gathered_count(_TRUE_POSITIVES, *given)
            wrong, wrong_after = _gathered_count(other, *given)
            value = division.div(right, sums.add(right, wrong), name=scope)
            collected(metrics_collections, value)
            total = sums.add(right_after, wrong_after)
            update = division.div(right_after, total, name="update")
            return value, collected(updates_collections, update)

    doc = f"""{doc}, of predicted classes.

    Args:
      labels: int64 classes, a Tensor or SparseTensor of the shape of the predictions but for the
        last dim, which is the number of labels of a row; or without that dim, for one label a row.
        Classes beyond those predicted count as not found.
      predictions_idx: integers, the classes predicted; the last dim is k.
      k: how many classes of a row are predicted; only for the name.
      class_id: the one class that counts; default all.
      weights: a scalar, or a tensor of the shape of the rows or with 1 in its place; default 1.

    Returns:
      The share so far, a float64 scalar (NaN before there is any), and the update.

    Raises:
      ValueError: shapes that do not fit.
    """
    return named(f"{what}_at_top_k", doc, mean)(metric)


def _share_at_k(what: str, at_top_k: Callable[..., Metric], doc: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions: Any,
        k: int,
        class_id: int | None = None,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        operands = [predictions, labels, weights]
        with name_scope(name, _at_k(what, k, class_id), operands) as scope:
            _, first = sorting.top_k(predictions, k)
            return at_top_k(
                labels, first, k, class_id, weights, metrics_collections, updates_collections,
                scope,
            )  # fmt: skip

    doc = f"""{doc}, of the k highest scores.

    Args:
      predictions: scores; the last dim are the classes.
      k: how many classes of a row are predicted.
    """
    return named(f"{what}_at_k", doc, at_top_k)(metric)


_PRECISION = "The share of predicted classes so far that are among the labels"
_RECALL = "The share of labels so far that are among the predicted classes"
precision_at_top_k = _share_at_top_k("precision", _FALSE_POSITIVES, _PRECISION)
precision_at_k = _share_at_k("precision", precision_at_top_k, _PRECISION)
recall_at_top_k = _share_at_top_k("recall", _FALSE_NEGATIVES, _RECALL)
recall_at_k = _share_at_k("recall", recall_at_top_k, _RECALL)


@documented_as(precision_at_k)
def sparse_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The former name of ``precision_at_k``."""
    return precision_at_k(
        labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name
    )


# ---- average precision --------------------------------------------------------------------------


def _without_classes_from(number: Tensor, labels: Any) -> Any:
    """Labels with -1, which no prediction is, in place of classes from ``number`` on."""
    sparse = isinstance(labels, SparseTensor | SparseTensorValue)
    values = labels.values if sparse else labels

    def cleaned() -> Any:
        beyond = comparison.greater_equal(values, number)
        made = select.where_v2(beyond, -1 * elementwise.ones_like(values), values)
        if not sparse:
            return made
        return type(labels)(indices=labels.indices, values=made, dense_shape=labels.dense_shape)

    any_beyond = comparison.greater_equal(reductions.reduce_max(values), number)
    return control_flow.conditional()(any_beyond, cleaned, lambda: labels)


def _repeated(labels: Any, times: int, name: str) -> Any:
    """Labels with a dim of ``times`` equal copies before the last."""
    with name_scope(name, "expand_and_tile", [labels, times, -1]) as scope:
        if not isinstance(labels, SparseTensor):
            wider = reshape.expand_dims(labels, -2, name="expand")
            if times == 1:
                return wider
            ones = elementwise.ones_like(shape.shape(labels))
            multiples = join.concat([ones[:-1], (times,), ones[-1:]], 0, name="multiples")
            return tile.tile(wider, multiples, name=scope)
        dims = labels.dense_shape
        last = reshape.reshape(ranks.size(dims) + -1, [1])
        head, tail = slicing.slice_(dims, [0], last), slicing.slice_(dims, last, [-1])
        widened = join.concat([head, [1], tail], 0, name="expanded_shape")
        made = sparse_functions.sparse_reshape(labels, shape=widened, name="expand")
        if times == 1:
            return made
        return sparse_functions.sparse_concat(-2, [made] * times, name=scope)


def _relevant(labels: Any, k: int) -> Tensor:
    """How many of the labels of each row k predictions can find."""
    with name_scope(None, "num_relevant", [labels]) as scope:
        if isinstance(labels, SparseTensor):
            found: Tensor = binary.minimum(sets.set_size(labels), k, name=scope)
            return found
        ones, none = elementwise.ones_like(labels), elementwise.zeros_like(labels)
        known = select.where_v2(comparison.greater_equal(labels, 0), ones, none)
        found = binary.minimum(reduction.reduce_sum(known, axis=-1), k, name=scope)
        return found


def _average_precision(labels: Any, predictions: Any) -> Tensor:
    """The average precision of each row, float64."""
    with name_scope(None, "average_precision", [predictions, labels]) as scope:
        predictions = cast(predictions, dtypes.int64, name="predictions_idx")
        k = predictions.sizes[-1] if predictions.sizes else None
        if k is None:
            raise ValueError(
                "The last dimension of predictions_idx must be set: average precision needs to"
                f" know k; found shape {predictions.get_shape()}"
            )
        labels = _with_label_dim(labels, predictions)
        each = reshape.expand_dims(predictions, -1, name="predictions_idx_per_k")
        copies = _repeated(labels, k, name="labels_per_k")
        right = _count_in_rows(_TRUE_POSITIVES, copies, each, None, None, name="relevant_per_k")
        right_upto = cumulative.cumsum(right, axis=-1, name="tp_per_k")
        upto = cumulative.cumsum(elementwise.ones_like(right), axis=-1, name="retrieved_per_k")
        precision = division.div(right_upto, upto, name="precision_per_k")
        gained = binary.multiply(precision, right, name="relevant_precision_per_k")
        total = reduction.reduce_sum(gained, axis=(-1,), name="precision_sum")
        return division.div(total, cast(_relevant(labels, k), dtypes.float64), name=scope)


def streaming_average_precision(
    labels: Any, predictions: Any, weights: Any, metrics_collections: Any,
    updates_collections: Any, name: str | None,
) -> Metric:  # fmt: skip
    """The mean over rows so far of the average precision of classes that are ranked already."""
    with name_scope(name, "average_precision_at_top_k", [predictions, labels, weights]) as scope:
        found = _average_precision(labels, predictions)
        if weights is not None:
            weights = spread.broadcast_weights(cast(weights, dtypes.float64), found)
            found = binary.multiply(found, weights)
        with name_scope(None, "max", [found]) as where:
            most = metric_variable([], dtypes.float64, name=where)
            if weights is None:
                rows: Any = cast(ranks.size(found, name="batch_max"), dtypes.float64)
            else:
                rows = reduction.reduce_sum(weights, name="batch_max")
            most_after = state_update.assign_add(most, rows, name="update")
        with name_scope(None, "total", [found]) as where:
            total = metric_variable([], dtypes.float64, name=where)
            batch = reduction.reduce_sum(found, name="batch_total")
            total_after = state_update.assign_add(total, batch, name="update")
        value = collected(metrics_collections, no_nan.div_no_nan(total, most, name="mean"))
        update = no_nan.div_no_nan(total_after, most_after, name=scope)
        return value, collected(updates_collections, update)


@documented_as(precision_at_k)
def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over rows so far of their average precision among the k highest scores.

    The average precision of a row is the sum over its right predictions of the precision up to
    there, divided by how many could be right (the smaller of k and its number of labels).

    Args:
      labels: int64 classes, a Tensor or SparseTensor of the shape of ``predictions`` but for the
        last dim, which is the number of labels of a row; or without that dim, for one label a row.
        Of a Tensor, negative labels do not count.

    Returns:
      The mean so far, a float64 scalar, and the update.

    Raises:
      ValueError: ``k`` is less than 1, or shapes do not fit.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     scores = [[0.1, 0.6, 0.3], [0.8, 0.1, 0.1]]
      ...     labels = tf.constant([[2], [0]], tf.int64)
      ...     value, update = tf.metrics.average_precision_at_k(labels, scores, 2)
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update))
      0.75
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}: it must be 1 or more")
    with name_scope(name, _at_k("average_precision", k), [predictions, labels, weights]) as scope:
        _, first = sorting.top_k(predictions, k)
        classes = cast(shape.shape(predictions)[-1], dtypes.int64)
        labels = _without_classes_from(classes, labels)
        return streaming_average_precision(
            labels, first, weights, metrics_collections, updates_collections, scope
        )


@documented_as(average_precision_at_k)
def sparse_average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The former name of ``average_precision_at_k``."""
    return average_precision_at_k(
        labels, predictions, k, weights, metrics_collections, updates_collections, name
    )
