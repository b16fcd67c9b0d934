"""Regularizers: functions from a variable to a loss; ``apply_regularization`` adds them up."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.ops.array.constant import constant
from penstock.ops.math.addn import add_n
from penstock.ops.math.binary import multiply
from penstock.ops.math.elementwise import abs_
from penstock.ops.math.reduction import reduce_sum
from penstock.ops.nn.l2_loss import l2_loss

Regularizer = Callable[[Any], Any]


def _checked(scale: Any, allowed: str, most: float | None) -> None:
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if not isinstance(scale, numbers.Real):
        return
    scale = float(scale)
    if scale < 0.0:
        raise ValueError(
            f"Setting a scale less than 0 on a regularizer: {scale}; allowed is {allowed}"
        )
    if most is not None and scale >= most:
        raise ValueError(
            f"Setting a scale greater than 1 on a regularizer: {scale}; allowed is {allowed}"
        )


def _nothing(_: Any) -> None:
    return None


def _regularizer(
    scale: Any, scope: str | None, name: str, measure: Callable[[Any], Any]
) -> Regularizer:
    if scale == 0.0 and isinstance(scale, numbers.Real):
        return _nothing

    def regularizer(weights: Any) -> Any:
        with scopes.name_scope(scope, name, [weights]) as inner:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return multiply(factor, measure(weights), name=inner)

    return regularizer


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """``scale`` times the sum of magnitudes; a function that returns None where it is 0.

    Args:
      scale: float that is not negative, or a tensor.
      scope: name scope.

    Returns:
      A function from a tensor to a scalar.

    Raises:
      ValueError: a negative or integral scale.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     loss = tf.contrib.layers.l1_regularizer(0.5)(tf.constant([1.0, -3.0]))
      ...     loss.name, float(sess.run(loss))
      ('l1_regularizer:0', 2.0)
    """
    _checked(scale, "0.0 or more", None)
    return _regularizer(scale, scope, "l1_regularizer", lambda w: reduce_sum(abs_(w)))


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """``scale`` times half the sum of squares; a function that returns None where it is 0.

    Args:
      scale: float that is not negative, or a tensor.
      scope: name scope.

    Returns:
      A function from a tensor to a scalar.

    Raises:
      ValueError: a negative or integral scale.

    Example:
      >>> import penstock as tf
      >>> decay = tf.contrib.layers.l2_regularizer(0.5)
      >>> weights = tf.get_variable(
      ...     "weights", [4], initializer=tf.ones_initializer(), regularizer=decay
      ... )
      >>> with tf.Session() as session:
      ...     session.run(tf.global_variables_initializer())
      ...     print(session.run(tf.losses.get_regularization_loss()))  # 0.5 * sum(w ** 2) / 2
      1.0
    """
    _checked(scale, "0.0 or more", None)
    return _regularizer(scale, scope, "l2_regularizer", l2_loss)


def l1_l2_regularizer(
    scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None
) -> Regularizer:
    """The sum of ``l1_regularizer(scale_l1)`` and ``l2_regularizer(scale_l2)``.

    Raises:
      ValueError: an integral scale.
    """
    for scale in (scale_l1, scale_l2):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"scale cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    first, second = l1_regularizer(scale_l1), l2_regularizer(scale_l2)
    return _summed([first, second], scope)


def sum_regularizer(
    regularizer_list: Sequence[Regularizer | None], scope: str | None = None
) -> Regularizer | None:
    """A regularizer that is the sum of others; None where the list has none.

    Args:
      regularizer_list: regularizers; None is left out.
      scope: name scope.
    """
    kept = [one for one in regularizer_list if one is not None]
    return _summed(kept, scope) if kept else None


def _summed(parts: Sequence[Regularizer], scope: str | None) -> Regularizer:
    def regularizer(weights: Any) -> Any:
        with scopes.name_scope(scope, "sum_regularizer", [weights]) as inner:
            losses = [loss for loss in (one(weights) for one in parts) if loss is not None]
            return add_n(losses, name=inner) if losses else None

    return regularizer


def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Any:
    """The sum of a regularizer over weights, which REGULARIZATION_LOSSES gets as well.

    Args:
      regularizer: a function from a tensor to a scalar, or to None for nothing.
      weights_list: weights; default the collection WEIGHTS.

    Returns:
      A scalar.

    Raises:
      ValueError: there are no weights, or a loss is no scalar.
    """
    if not weights_list:
        weights_list = collecting.get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with scopes.name_scope("get_regularization_penalty", values=weights_list) as scope:
        losses = [regularizer(weights) for weights in weights_list]
        losses = [constant(0.0) if loss is None else loss for loss in losses]
        for loss in losses:
            if loss.get_shape().ndims != 0:
                raise ValueError(
                    f"regularizer must return a scalar Tensor instead of a Tensor with rank"
                    f" {loss.get_shape().ndims}."
                )
        total = add_n(losses, name=scope)
        collecting.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
