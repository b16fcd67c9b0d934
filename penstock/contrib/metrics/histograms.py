"""The area under the ROC curve by histograms of the scores of both classes."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import name_scope
from penstock.library.nn.conv import conv2d
from penstock.library.ragged_tensors.dispatched import (
    add,
    cast,
    equal,
    logical_not,
    ones_like,
    rank,
    reduce_sum,
)
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.metrics import Metric
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.pad import pad
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.slicing import boolean_mask
from penstock.ops.array.transpose import reverse
from penstock.ops.control.control import group
from penstock.ops.control.debug import Assert
from penstock.ops.math import weights as spread
from penstock.ops.math.histogram import histogram_fixed_width
from penstock.ops.state.state_update import assign_add


def auc_using_histogram(
    boolean_labels: Any, scores: Any, score_range: Any, nbins: int = 100, collections: Any = None,
    check_shape: bool = True, name: str | None = None,
) -> Metric:  # fmt: skip
    """The area under the ROC curve so far, up to the width of a bin.

    Args:
      boolean_labels: [batch] bools.
      scores: [batch] scores.
      score_range: [2], the least and the greatest score; what is beyond counts as that.
      nbins: number of bins.
      collections: of the variables; default LOCAL_VARIABLES.
      check_shape: whether a step checks the shapes.
      name: variable scope.

    Returns:
      The area, a float32 scalar, and the update.

    Raises:
      ValueError: labels that are no bools, or other shapes.
    """
    collections = [GraphKeys.LOCAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        boolean_labels, scores = spread.squeeze_last(boolean_labels, scores)
        score_range = convert_to_tensor(score_range, name="score_range")
        boolean_labels, scores = _checked(boolean_labels, scores, check_shape)
        true, false = _histograms(boolean_labels, scores, score_range, nbins)
        (all_true, all_false), update = _gathered(true, false, collections)
        return _area(all_true, all_false), update


def _checked(labels: Any, scores: Any, check_shape: bool) -> tuple[Any, Any]:
    with name_scope("_check_labels_and_scores", values=[labels, scores]):
        labels, scores = convert_to_tensor(labels), convert_to_tensor(scores)
        if labels.dtype != dtypes.bool:
            raise ValueError(
                f"Argument boolean_labels should have dtype bool.  Found: {labels.dtype.name}"
            )
        if check_shape:
            # Nothing waits for the assertions: programs of TensorFlow ran without them.
            for what, given in (("boolean_labels", labels), ("scores", scores)):
                wrong = f"Argument {what} should have rank 1.  Found: "
                Assert(equal(1, rank(given)), [wrong, given.name, shape_of(given)])
        labels.shape.assert_is_compatible_with(scores.shape)
        return labels, scores


def _histograms(labels: Any, scores: Any, score_range: Any, nbins: int) -> tuple[Any, Any]:
    with variable_scope(None, "make_auc_histograms", [labels, scores, score_range]):
        true = histogram_fixed_width(
            boolean_mask(scores, labels), score_range, nbins, dtypes.int64, "hist_true"
        )
        false = histogram_fixed_width(
            boolean_mask(scores, logical_not(labels)), score_range, nbins, dtypes.int64,
            "hist_false",
        )  # fmt: skip
        return true, false


def _gathered(true: Any, false: Any, collections: Any) -> tuple[tuple[Any, Any], Any]:
    with variable_scope(None, "hist_accumulate", [true, false]):
        sums = [
            get_variable(
                f"hist_{which}_acc", each.shape, each.dtype, zeros_initializer(),
                collections=collections, trainable=False,
            )
            for which, each in (("true", true), ("false", false))
        ]  # fmt: skip
        updates = [assign_add(total, each) for total, each in zip(sums, (true, false), strict=True)]
        return (sums[0], sums[1]), group(*updates, name="update_op")


def _area(true: Any, false: Any) -> Any:
    """Both densities, from the highest scores down, by trapezoids."""
    shares = [each / reduce_sum(each) for each in (true, false)]
    dy, dx = (
        reverse(share, axis=[0], name=name)
        for share, name in zip(shares, ("delta_y_t", "delta_x_t"), strict=True)
    )
    dy, dx = cast(dy, dtypes.float32), cast(dx, dtypes.float32)
    y = _cumulative(dy)
    first = dx[0] * y[0] / 2.0
    return add(first, reduce_sum(dx[1:] * (y[1:] + y[:-1]) / 2.0), name="auc")


def _cumulative(values: Any) -> Any:
    """Sums up to each value, by a convolution with ones."""
    with variable_scope(None, "strict_1d_cumsum", [values]):
        size = dimension_value(values.shape[0])
        padded = pad(values, [[size - 1, 0]])
        ones = ones_like(padded)
        with variable_scope(None, "strict_conv1d", [padded, ones]):
            image, window = reshape(padded, [1, -1, 1, 1]), reshape(ones, [-1, 1, 1, 1])
            sums: Any = reshape(conv2d(image, window, [1, 1, 1, 1], "SAME"), [-1])
        return sums[:size]
