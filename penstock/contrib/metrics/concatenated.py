"""All values of all batches, kept in a local variable, and the exact area under a curve of them."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors.dispatched import (
    abs_,
    add,
    cast,
    ceil,
    equal,
    gather,
    greater,
    less,
    log,
    logical_or,
    minimum,
    multiply,
    ones_like,
    reduce_sum,
    size as size_of,
    stack,
    subtract,
    where,
    zeros_like,
)
from penstock.library.variables.metrics import Metric, collected, metric_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.constant import constant
from penstock.ops.array.fill import zeros
from penstock.ops.array.pad import pad
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.slicing import getitem
from penstock.ops.array.sorting import top_k
from penstock.ops.array.transpose import transpose
from penstock.ops.array.unique import unique_with_counts
from penstock.ops.control.check import assert_greater_equal, assert_less_equal
from penstock.ops.control.control import group, no_op
from penstock.ops.math.cumulative import cumsum
from penstock.ops.state.state import assign

_GROWTH = 1.5


# ---- the values of all batches -------------------------------------------------------------------


def streaming_concat(
    values: Any, axis: int = 0, max_size: int | None = None, metrics_collections: Any = None,
    updates_collections: Any = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The values of all batches so far, one after another.

    The variable that holds them grows by half where they no longer fit, so that an element is
    copied a few times on the whole.

    Args:
      values: tensor of known rank, its sizes known but along ``axis``.
      axis: along which batches are joined.
      max_size: what comes after so many is dropped; None keeps all.
      metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.

    Returns:
      The values, and an update that gives their number.

    Raises:
      ValueError: an axis out of range, or a rank or size that is not known.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     value, update = tf.contrib.metrics.streaming_concat([1, 2, 3], max_size=4)
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(update), sess.run(value))
      3 4 [1 2 3 1]
    """
    with variable_scope(name, "streaming_concat", [values]):
        values = convert_to_tensor(values)
        dims, axis, forth, back = _layout(values, axis)
        first = 0 if max_size is None else max_size
        array = metric_variable([first, *dims], values.dtype, name="array", validate_shape=False)
        size = metric_variable([], dtypes.int32, name="size")
        value = transpose(array[:size], back, name="concat")
        value.set_shape([*dims[:axis], None, *dims[axis:]])
        collected(metrics_collections, value)
        update = _appended(array, size, values, (axis, forth, dims, max_size))
        return value, collected(updates_collections, update)


def _layout(values: Any, axis: int) -> tuple[list[int], int, list[int], list[int]]:
    """Sizes of the other dims, the axis from the front, the order with it first, and back."""
    rank = values.shape.ndims
    if rank is None:
        raise ValueError("`values` must have known statically known rank")
    place = axis + rank if axis < 0 else axis
    if not 0 <= place < rank:
        raise ValueError(f"axis = {place} not in [0, {rank})")
    dims = [size for i, size in enumerate(values.shape.as_list()) if i != place]
    if None in dims:
        raise ValueError(
            "all dimensions of `values` other than the dimension to concatenate along must have"
            f" statically known size; found {values.shape}"
        )
    forth = [place, *(i for i in range(rank) if i != place)]
    back = [forth.index(i) for i in range(rank)]
    return dims, place, forth, back


def _appended(array: Any, size: Any, values: Any, layout: Any) -> Any:
    axis, forth, dims, max_size = layout
    batch: Any = shape_of(values)[axis]
    if max_size is not None:
        batch = minimum(batch, max_size - size)
    kept = transpose(values, forth)[:batch]
    after = size + batch
    room: Any = shape_of(array)[0]
    grown = cond(greater(after, room), lambda: _grown(array, size, after, dims), no_op)
    with control_dependencies([grown]):
        filled = array[size:after].assign(kept)
    with control_dependencies([filled]):
        return assign(size, after)


def _grown(array: Any, size: Any, needed: Any, dims: list[int]) -> Any:
    """Moves the values into the least power of the growth that has room for them."""
    old: Any = convert_to_tensor(array)
    exponent: Any = ceil(log(cast(needed, dtypes.float32)) / log(cast(_GROWTH, dtypes.float32)))
    room = cast(ceil(_GROWTH**exponent), dtypes.int32)
    # The old values are taken first: what reads a variable here reads what it holds by then. The
    # name is that of TensorFlow, where the old memory lives on and they are taken last.
    kept = getitem(old, slice(None, size), name="strided_slice_1")
    with control_dependencies([kept]):
        larger = assign(array, zeros(stack([room, *dims]), old.dtype), validate_shape=False)
    with control_dependencies([larger]):
        moved = array[:size].assign(kept)
    with control_dependencies([moved]):
        return no_op()


# ---- the exact area under a curve ----------------------------------------------------------------


def binary_labels(labels: Any) -> list[Any]:
    """Checks that labels are 0 or 1."""
    below = "labels must be 0 or 1, at least one is <0"
    above = "labels must be 0 or 1, at least one is >1"
    return [
        assert_greater_equal(labels, zeros_like(labels), message=below),
        assert_less_equal(labels, ones_like(labels), message=above),
    ]


def streaming_dynamic_auc(
    labels: Any, predictions: Any, curve: str = "ROC", metrics_collections: Any = (),
    updates_collections: Any = (), name: str | None = None, weights: Any = None,
) -> Metric:  # fmt: skip
    """The exact area under a curve of all scores so far, which are kept.

    Args:
      labels: 0 or 1.
      predictions: scores of the same shape; any numbers.
      curve: ``"ROC"`` or ``"PR"``.
      metrics_collections, updates_collections, name: those of ``tf.metrics.mean``.
      weights: of the examples, or None.

    Returns:
      The area, a float64 scalar, and the update.

    Raises:
      ValueError: another curve.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, default_name="dynamic_auc"):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        predictions = reshape(cast(predictions, dtypes.float64), [-1])
        labels = reshape(cast(labels, dtypes.int64), [-1])
        with control_dependencies(binary_labels(labels)):
            scores, more_scores = streaming_concat(predictions, name="concat_preds")
            truth, more_truth = streaming_concat(labels, name="concat_labels")
            updates = [more_truth, more_scores]
            if weights is not None:
                weights = reshape(cast(weights, dtypes.float64), [-1])
                weights, more_weights = streaming_concat(weights, name="concat_weights")
                updates.append(more_weights)
            update = group(*updates)
            area = _area(truth, scores, curve, weights)
        return collected(metrics_collections, area), collected(updates_collections, update)


def _area(labels: Any, scores: Any, curve: str, weights: Any) -> Any:
    number = size_of(scores)
    weights = ones_like(labels, dtypes.float64) if weights is None else weights
    total = reduce_sum(weights)
    positives = reduce_sum(where(greater(labels, 0), weights, zeros_like(labels, dtypes.float64)))

    def integral() -> Any:
        # Scores that are equal are one point of the curve.
        ranked, order = top_k(scores, number)
        truth, weight = gather(labels, order), gather(weights, order)
        _, _, counts = unique_with_counts(ranked)
        ends = pad(cumsum(counts), [[1, 0]])

        def until(each: Any) -> Any:
            return gather(pad(cumsum(each), [[1, 0]]), ends)

        true = until(where(greater(truth, 0), weight, zeros_like(truth, dtypes.float64)))
        if curve == "ROC":
            false = until(where(less(truth, 1), weight, zeros_like(truth, dtypes.float64)))
            x, y = false / (total - positives), true / positives
            return _trapezoids(x, y)
        claimed = until(weight)
        x = true / positives
        y = where(greater(ends, 0), true / claimed, ones_like(true))
        return _trapezoids(x, y)

    one_class = logical_or(equal(positives, 0), equal(positives, total))
    return cond(one_class, lambda: constant(0, dtypes.float64), integral)


def _trapezoids(x: Any, y: Any) -> Any:
    heights = add(y[1:], y[:-1]) / 2.0
    widths = abs_(subtract(x[1:], x[:-1]))
    return reduce_sum(multiply(heights, widths))
