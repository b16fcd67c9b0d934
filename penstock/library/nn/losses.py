"""``tf.losses``: losses weighted, reduced to a number, and collected for training.

Each loss makes a tensor of losses, one an element or one an example; ``compute_weighted_loss``
then weighs, reduces and collects them.  The nodes are those of TensorFlow 1.15.  The reduction that
was used last is noted on the graph, as replicas of a strategy ask for it.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import documented_as
from penstock.foundation.graph.collecting import add_to_collection, get_collection
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn import cross_entropy, elementwise_losses
from penstock.library.nn.softmax_cross_entropy import softmax_cross_entropy_with_logits_v2
from penstock.ops.array import constant, nodes, ranges, ranks, shape, squeeze
from penstock.ops.array.cast import cast
from penstock.ops.control import control
from penstock.ops.math import (
    addn,
    binary,
    comparison,
    elementwise,
    no_nan,
    reduction,
    select,
    sums,
    weights as spread,
)
from penstock.ops.nn import activation


class Reduction:
    """How the losses of elements become one.

    * ``NONE``: they do not.
    * ``SUM``: their weighted sum.
    * ``SUM_OVER_BATCH_SIZE``: that, divided by the number of elements.
    * ``SUM_BY_NONZERO_WEIGHTS``: that, divided by the number of weights other than 0.
    * ``SUM_OVER_NONZERO_WEIGHTS``: former name of it.
    * ``MEAN``: the weighted sum, divided by the sum of the weights.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Every reduction."""
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )  # fmt: skip

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ValueError unless ``key`` is a reduction."""
        if key not in cls.all():
            raise ValueError(
                f"Invalid Reduction Key {key}; allowed are {', '.join(sorted(set(cls.all())))}"
            )


_BY_NONZERO = Reduction.SUM_BY_NONZERO_WEIGHTS


# ---- collected losses ------------------------------------------------------------------------


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection; to none where that is None."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses collected so far, of names that begin with ``scope`` (a regular expression)."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """What the regularizers of variables have collected, of names that begin with ``scope``."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Tensor:
    """The sum of the collected regularization losses; 0 where there is none."""
    losses = get_regularization_losses(scope)
    return addn.add_n(losses, name=name) if losses else constant.constant(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """The sum of the collected losses.

    Args:
      add_regularization_losses: whether those of regularizers are added as well.
      name: name of the sum.
      scope: regular expression; only losses whose names begin with it.

    Raises:
      ValueError: there is no loss.
    """
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope=scope)
    return addn.add_n(losses, name=name)


# ---- weighing and reducing -------------------------------------------------------------------


def _count_present(losses: Tensor, weights: Any, per_batch: bool = False) -> Tensor:
    """How many losses have a weight other than 0; with ``per_batch`` a count an example."""
    if isinstance(weights, float) and weights != 0.0:
        return _count(losses)
    with name_scope(None, "num_present", [losses, weights]) as scope:
        weights = cast(weights, dtypes.float32)
        present = select.where(
            comparison.equal(weights, 0.0), elementwise.zeros_like(weights),
            elementwise.ones_like(weights),
        )  # fmt: skip
        present = spread.broadcast_weights(present, losses)
        if per_batch:
            axes = ranges.range_(1, nodes.rank(present))
            by_batch: Tensor = reduction.reduce_sum(present, axes, keepdims=True, name=scope)
            return by_batch
        made: Tensor = reduction.reduce_sum(present, name=scope)
        return made


def _count(losses: Tensor) -> Tensor:
    with name_scope(None, "num_elements", [losses]) as scope:
        made: Tensor = cast(ranks.size(losses, name=scope), losses.dtype)
        return made


def _mean(losses: Tensor, count: Tensor) -> Tensor:
    return no_nan.div_no_nan(reduction.reduce_sum(losses), count, name="value")


def _reduced(losses: Tensor, weights: Tensor, weighted: Tensor, how: str) -> Tensor:
    if how == Reduction.NONE:
        return weighted
    total: Tensor = reduction.reduce_sum(weighted)
    if how == Reduction.MEAN:
        return _mean(total, reduction.reduce_sum(elementwise.ones_like(losses) * weights))
    if how == _BY_NONZERO:
        return _mean(total, _count_present(losses, weights))
    if how == Reduction.SUM_OVER_BATCH_SIZE:
        return _mean(total, _count(losses))
    return total


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Losses times weights, reduced, and added to a collection.

    Args:
      losses: a number an element or example.
      weights: a scalar, or a tensor of the losses' rank with dims of their sizes or 1.
      scope: name of the scope.
      loss_collection: the collection, or None.
      reduction: one of ``tf.losses.Reduction``.

    Returns:
      A scalar of the losses' type; of their shape where ``reduction`` is ``NONE``.

    Raises:
      ValueError: an unknown reduction, or shapes that do not fit.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     loss = tf.losses.compute_weighted_loss([1.0, 2.0, 6.0], [1.0, 1.0, 0.0])
      ...     print(sess.run(loss))
      1.5
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", [losses, weights]):
        with control_dependencies([spread.assert_broadcastable(weights, losses)]):
            losses = convert_to_tensor(losses)
            kind = losses.dtype
            losses = cast(losses, dtypes.float32)
            weights = cast(weights, dtypes.float32)
            weighted = binary.multiply(losses, weights)
            loss: Tensor = cast(_reduced(losses, weights, weighted, reduction), kind)
            add_loss(loss, loss_collection)
            return loss


# ---- the losses --------------------------------------------------------------------------------


def _required(**given: Any) -> None:
    for name, value in given.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _floats(first: Any, second: Any) -> tuple[Tensor, Tensor]:
    """Both as float32, after a check of their static shapes."""
    first, second = cast(first, dtypes.float32), cast(second, dtypes.float32)
    spread.check_same_shape(first, second)
    return first, second


@documented_as(compute_weighted_loss)
def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """|predictions - labels|, of tensors of one shape.

    Args:
      labels: the truth.
      predictions: of the same shape.
    """
    _required(labels=labels, predictions=predictions)
    operands = [predictions, labels, weights]
    with name_scope(scope, "absolute_difference", operands) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = elementwise.abs_(sums.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@documented_as(absolute_difference)
def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: Any = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: Any = None,
) -> Tensor:
    """1 minus the dot product along ``axis`` of vectors of length 1.

    Args:
      labels: vectors of length 1 along ``axis``.
      axis: where the components of a vector lie.
      weights: as of ``compute_weighted_loss``; the losses have size 1 along ``axis``.
      dim: former name of ``axis``.

    Raises:
      ValueError: no axis, or shapes that do not fit.
    """
    axis = _renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _required(labels=labels, predictions=predictions)
    operands = [predictions, labels, weights]
    with name_scope(scope, "cosine_distance_loss", operands) as scope:
        predictions, labels = _floats(predictions, labels)
        products = binary.multiply(predictions, labels)
        losses = 1 - _sum(products, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


# Arguments called `reduction` hide the family of that name.
_renamed, _sum = reduction.renamed, reduction.reduce_sum


@documented_as(compute_weighted_loss)
def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """max(0, 1 - y * logits), where y is -1 for labels 0 and 1 for labels 1."""
    _required(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as scope:
        logits, labels = _floats(logits, labels)
        ones = elementwise.ones_like(labels)
        signs = sums.subtract(2 * labels, ones)
        losses = activation.relu(sums.subtract(ones, binary.multiply(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@documented_as(absolute_difference)
def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Half the squared error up to an error of ``delta``, and linear with that slope beyond."""
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        size = elementwise.abs_(sums.subtract(predictions, labels))
        near = binary.minimum(size, delta)
        # Not `max(size - delta, 0)`: at the joint the slope is that of the parabola alone.
        beyond = sums.subtract(size, near)
        half = convert_to_tensor(0.5, near.dtype)
        losses = sums.add(
            binary.multiply(half, binary.multiply(near, near)), binary.multiply(delta, beyond)
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@documented_as(absolute_difference)
def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of probabilities; ``epsilon`` is added to each before its logarithm."""
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        hits = -binary.multiply(labels, elementwise.log(predictions + epsilon))
        misses = binary.multiply(1 - labels, elementwise.log(1 - predictions + epsilon))
        losses = hits - misses
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@documented_as(absolute_difference)
def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """How far differences between pairs of an example's labels differ from the predicted ones.

    Args:
      labels: tensor [examples, ...].
      weights: a scalar or one an example, as of ``compute_weighted_loss``.

    Returns:
      A float32 scalar.

    Raises:
      ValueError: shapes that do not fit.
    """
    _required(labels=labels, predictions=predictions)
    operands = [predictions, labels, weights]
    with name_scope(scope, "mean_pairwise_squared_error", operands):
        weights, labels = cast(weights, dtypes.float32), cast(labels, dtypes.float32)
        with control_dependencies([spread.assert_broadcastable(weights, labels)]):
            predictions = cast(predictions, dtypes.float32)
            spread.check_same_shape(predictions, labels)
            differences = sums.subtract(predictions, labels)
            loss = _pairwise(differences, weights)
            add_loss(loss, loss_collection)
            return loss


def _pairwise(differences: Tensor, weights: Any) -> Tensor:
    axes = ranges.range_(1, nodes.rank(differences))
    squares = _sum(elementwise.square(differences), axis=axes, keepdims=True)
    count = _count_present(differences, weights, per_batch=True)
    first = 2.0 * no_nan.div_no_nan(squares, binary.maximum(count - 1, 0), name="value")
    total = elementwise.square(_sum(differences, axis=axes, keepdims=True))
    pairs = binary.maximum(binary.multiply(count, count - 1), 0)
    second = 2.0 * no_nan.div_no_nan(total, pairs, name="value")
    loss: Tensor = _sum(binary.multiply(first - second, weights))
    return select.where(_sum(count) > 0, loss, elementwise.zeros_like(loss), name="value")


@documented_as(absolute_difference)
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """(predictions - labels)^2, of tensors of one shape.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     print(sess.run(tf.losses.mean_squared_error([1.0, 2.0], [1.0, 4.0])))
      2.0
    """
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = binary.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


# ---- cross entropies ----------------------------------------------------------------------------


@documented_as(compute_weighted_loss)
def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of independent decisions.

    Args:
      multi_class_labels: 0 or 1 an element, or a probability.
      logits: of the same shape.
      label_smoothing: moves labels towards 1/2 by this fraction.
    """
    _required(multi_class_labels=multi_class_labels, logits=logits)
    operands = [logits, multi_class_labels, weights]
    with name_scope(scope, "sigmoid_cross_entropy_loss", operands) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(multi_class_labels, logits.dtype)
        spread.check_same_shape(logits, labels)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = elementwise_losses.sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@documented_as(compute_weighted_loss)
def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of ``softmax(logits)`` and distributions over the classes.

    Args:
      onehot_labels: distributions along the last dim; no gradient flows to them.
      logits: of the same shape.
      weights: as of ``compute_weighted_loss``; the losses have the shape of ``logits`` without its
        last dim.
      label_smoothing: moves labels towards the uniform distribution by this fraction.

    Example:
      >>> import penstock as tf
      >>> labels = tf.one_hot([0, 2], 3)
      >>> logits = tf.constant([[9.0, 0.0, 0.0], [0.0, 0.0, 9.0]])
      >>> loss = tf.losses.softmax_cross_entropy(labels, logits)
      >>> with tf.Session() as session:
      ...     bool(session.run(loss) < 0.001), tf.losses.get_losses() == [loss]
      (True, True)
    """
    _required(onehot_labels=onehot_labels, logits=logits)
    operands = [logits, onehot_labels, weights]
    with name_scope(scope, "softmax_cross_entropy_loss", operands) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(onehot_labels, logits.dtype)
        spread.check_same_shape(logits, labels)
        if label_smoothing > 0:
            sizes: Any = shape.shape(labels)
            classes = cast(sizes[-1], logits.dtype)
            share = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + share
        labels = control.stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _fitted_weights(labels: Tensor, given: Any) -> Tensor:
    """Weights without a last dim of size 1 that they have more than the labels."""
    weights: Tensor = convert_to_tensor(given)
    ours, theirs = weights.sizes, labels.sizes
    if ours is not None and theirs is not None:
        return squeeze.squeeze(weights, [-1]) if len(ours) - len(theirs) == 1 else weights
    found = sums.subtract(nodes.rank(weights), nodes.rank(labels), name="sub")
    if ours is None or (ours and ours[-1] in (1, None)):
        return spread.squeeze_where(1, found, weights)
    return weights


@documented_as(compute_weighted_loss)
def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of ``softmax(logits)`` where each example has one true class.

    Args:
      labels: class numbers, int32 or int64, of the shape of ``logits`` without its last dim; one
        more dim of size 1 is dropped.
      logits: tensor [..., classes].
      weights: as of ``compute_weighted_loss``, for losses of the shape of ``labels``.

    Example:
      >>> import penstock as tf
      >>> logits = tf.zeros([2, 4])  # all four classes as likely
      >>> loss = tf.losses.sparse_softmax_cross_entropy(labels=[0, 3], logits=logits)
      >>> with tf.Session() as session:
      ...     round(float(session.run(loss)), 4), round(float(np.log(4)), 4)
      (1.3863, 1.3863)
    """
    _required(labels=labels, logits=logits)
    operands = [logits, labels, weights]
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", operands) as scope:
        labels, logits = spread.squeeze_last(labels, logits, expected_rank_diff=1)
        weights = _fitted_weights(labels, weights)
        losses = cross_entropy.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)
