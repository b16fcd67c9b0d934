"""Losses by what they measure; each is one ``compute_weighted_loss``."""

from __future__ import annotations

from typing import Any

from penstock.contrib.losses.weighting import (
    add_loss,
    check_rank,
    compute_weighted_loss,
    count_weighted,
    weighted_sum,
)
from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from penstock.library.nn.elementwise_losses import sigmoid_cross_entropy_with_logits
from penstock.library.nn.softmax_cross_entropy import softmax_cross_entropy_with_logits
from penstock.library.ragged_tensors.dispatched import (
    abs_,
    cast,
    div_no_nan,
    log,
    multiply,
    ones_like,
    reduce_sum,
    square,
    squared_difference,
    subtract,
    where,
    zeros_like,
)
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape
from penstock.ops.nn.activation import relu


def _floats(predictions: Any, labels: Any) -> tuple[Any, Any]:
    """Both as float32, after a check that they have one shape."""
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return cast(predictions, dtypes.float32), cast(labels, dtypes.float32)


def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """The mean of ``|predictions - labels|``.

    Args:
      predictions: tensor.
      labels: tensor of its shape.
      weights: scalar, or a tensor of the first dims.
      scope: name scope.

    Returns:
      A scalar, which is added to ``GraphKeys.LOSSES``.

    Raises:
      ValueError: the shapes differ.
    """
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(abs_(predictions - labels), weights, scope=scope)


def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """The mean of ``(predictions - labels)^2``; arguments as ``absolute_difference``."""
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope=scope)


def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Any:
    """The mean cross entropy of probabilities; arguments as ``absolute_difference``.

    Args:
      epsilon: added to what the logarithm is taken of.
    """
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        true = multiply(labels, log(predictions + epsilon))
        false = multiply(1 - labels, log(1 - predictions + epsilon))
        return compute_weighted_loss(-true - false, weights, scope=scope)


def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Any:
    """Hinge losses ``max(0, 1 - (2 labels - 1) logits)``, neither averaged nor collected.

    Args:
      logits: float tensor.
      labels: tensor of its shape, of zeros and ones.
      scope: name scope.

    Returns:
      A tensor of the same shape.
    """
    with name_scope(scope, "hinge_loss", [logits, labels]) as scope:
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = cast(labels, dtypes.float32)
        ones = ones_like(labels)
        signs = subtract(2 * labels, ones)
        return relu(subtract(ones, multiply(signs, logits)))


def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Any:
    """The mean of ``1 - predictions . labels``; arguments as ``absolute_difference``.

    Args:
      axis: the dim in which both are unit vectors.
      dim: older name of ``axis``.

    Raises:
      ValueError: no ``axis``, or it and ``dim``.
    """
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'axis' and 'dim'")
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = 1 - reduce_sum(multiply(predictions, labels), [axis])
        return compute_weighted_loss(losses, weights, scope=scope)


def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """How much differences between elements differ; arguments as ``absolute_difference``.

    With d = predictions - labels, it is ``2 mean(d^2) - 2 mean(d)^2`` of each example, summed.
    """
    scope_values = [predictions, labels, weights]
    with name_scope(scope, "mean_pairwise_squared_error", scope_values) as scope:
        predictions, labels = _floats(predictions, labels)
        weights = cast(convert_to_tensor(weights), dtypes.float32)
        differences = predictions - labels
        check_rank("diffs", differences)
        check_rank("weights", weights)
        axes = list(range(1, differences.get_shape().ndims))
        squares = reduce_sum(square(differences), axes)
        count = count_weighted(differences, weights)
        first = 2.0 * div_no_nan(squares, count, name="value")
        sums = square(reduce_sum(differences, axes))
        second = 2.0 * div_no_nan(sums, square(count), name="value")
        loss = weighted_sum(first - second, weights)
        some = reduce_sum(count) > 0
        mean = where(some, loss, zeros_like(loss), name="value")
        add_loss(mean)
        return mean


# ---- cross entropies of logits -------------------------------------------------------------------


def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Any:
    """The mean cross entropy of independent classes.

    Args:
      logits: [batch, classes] floats.
      multi_class_labels: their labels, 0 or 1.
      weights: scalar, or a tensor of the first dims.
      label_smoothing: how far labels move to 1/2.
      scope: name scope.

    Returns:
      A scalar, which is added to ``GraphKeys.LOSSES``.
    """
    given = [logits, multi_class_labels, weights]
    with name_scope(scope, "sigmoid_cross_entropy_loss", given) as scope:
        logits.get_shape().assert_is_compatible_with(multi_class_labels.get_shape())
        labels: Any = cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Any:
    """The mean cross entropy of a softmax; arguments as ``sigmoid_cross_entropy``.

    Args:
      onehot_labels: [batch, classes], the label's place 1.
      label_smoothing: how far labels move to 1 / classes.
    """
    given = [logits, onehot_labels, weights]
    with name_scope(scope, "softmax_cross_entropy_loss", given) as scope:
        logits.get_shape().assert_is_compatible_with(onehot_labels.get_shape())
        labels: Any = cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = cast(shape(labels)[1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """The mean cross entropy of a softmax; arguments as ``sigmoid_cross_entropy``.

    Args:
      labels: [batch] or [batch, 1] numbers of classes.
    """
    given = [logits, labels, weights]
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", given) as scope:
        labels = reshape(labels, [shape(labels)[0]])
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=scope)
