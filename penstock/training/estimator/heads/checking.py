"""What heads check of labels, and how they weigh losses: the nodes of TensorFlow 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.ops.array import join, shape as shaping
from penstock.ops.array.cast import cast
from penstock.ops.array.nodes import size
from penstock.ops.control import check, control
from penstock.ops.math import binary, no_nan, reduction
from penstock.ops.math.weights import broadcast_weights
from penstock.training.estimator.canned import head_checks
from penstock.training.keras_models.weighting import Reduction


def check_reduction(loss_reduction: str) -> None:
    """Refuses what reduces losses to anything but one number.

    Raises:
      ValueError: it is no such reduction.
    """
    if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
        raise ValueError(
            f"Invalid loss_reduction: {loss_reduction}. See `tf.losses.Reduction` for valid"
            " options."
        )


def check_thresholds(thresholds: Iterable[float] | None) -> tuple[float, ...]:
    """Thresholds, each between 0 and 1.

    Raises:
      ValueError: one is not.
    """
    found = tuple(thresholds or ())
    for threshold in found:
        if not 0.0 < threshold < 1.0:
            raise ValueError(
                f"thresholds not in (0, 1): {found}. thresholds must be in (0, 1) range. Given:"
                f" {threshold}"
            )
    return found


def check_vocabulary(names: Any) -> None:
    """Refuses names of classes that are no list.

    Raises:
      ValueError: they are none.
    """
    if names is not None and not isinstance(names, list | tuple):
        raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(names)}")


def checked_labels(labels: Any, logits: Any, width: int) -> Any:
    """Labels of the rank of logits, with ``width`` values an example.

    Raises:
      ValueError: there are none, they are sparse, or have another width.
    """
    head_checks.check_given(labels)
    with scopes.name_scope(None, "labels", (labels, logits)) as scope:
        labels = head_checks.dense_of_rank(labels, logits, width)
        text = (
            f"labels shape must be [D0, D1, ... DN, {width}]. Suggested Fix: check your n_classes"
            " argument to the head and/or the shape of your label."
        )
        ranked = check.assert_rank_at_least(labels, 2, message=text)
        with scopes.control_dependencies([ranked]):
            head_checks.check_width(labels, width)
            dims: Any = shaping.shape(logits)
            expected = join.concat([dims[:-1], [width]], axis=0)
            found = shaping.shape(labels)
            told = ["expected_labels_shape: ", expected, "labels_shape: ", found]
            same = check.assert_equal(expected, found, message=text, data=told)
            with scopes.control_dependencies([same]):
                return control.identity(labels, name=scope)


def in_range(labels: Any, n_classes: int, message: str | None = None) -> Any:
    """Labels that are checked, as the step runs, to be classes."""
    low, high = message or "Labels must be >= 0", message or f"Labels must be <= {n_classes - 1}"
    with scopes.name_scope(None, "check_label_range", (labels,)):
        last = convert_to_tensor(n_classes - 1, dtype=labels.dtype)
        below = check.assert_less_equal(labels, last, message=high)
        above = check.assert_non_negative(labels, message=low)
        with scopes.control_dependencies((below, above)):
            return control.identity(labels)


def weights_of(
    features: Mapping[str, Any] | None, column: Any, logits: Any, each_logit: bool = False
) -> Any:
    """The examples' weights: ``head_checks.weights_of``, also without features.

    Raises:
      TypeError: the column is neither a key nor a numeric one.
    """
    return head_checks.weights_of(features or {}, column, logits, each_logit)


def called_loss(
    loss_fn: Callable[..., Any], labels: Any, logits: Any, features: Any, width: int = 1
) -> Any:
    """What a loss function says of each example."""
    return head_checks.called_loss(loss_fn, labels, logits, features or {}, width)


def weighted_loss(losses: Any, weights: Any, how: str) -> Any:
    """Losses, weighed and reduced to one number: Keras's nodes.

    Args:
      losses: numbers of any shape.
      weights: 1.0, or broadcast to them.
      how: of Keras's ``Reduction``; AUTO is the mean.
    """
    with scopes.name_scope(None, "weighted_loss", (losses, weights)):
        losses, weights = convert_to_tensor(losses), cast(weights, dtypes.float32)
        found = binary.multiply(losses, broadcast_weights(weights, losses))
        total = reduction.reduce_sum(found)
        if how == Reduction.SUM:
            return total
        with scopes.name_scope(None, "num_elements") as scope:
            count = cast(size(found, name=scope), losses.dtype)
        return no_nan.div_no_nan(reduction.reduce_sum(total), count, name="value")
