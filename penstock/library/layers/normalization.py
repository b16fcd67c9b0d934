"""``tf.layers``: batch normalization."""

from __future__ import annotations

from typing import Any

from penstock.library.keras.layers import normalization as keras
from penstock.library.layer_base import scoped
from penstock.library.variables import initializers

_ZEROS = initializers.zeros_initializer()
_ONES = initializers.ones_initializer()


class BatchNormalization(keras.BatchNormalization, scoped.Layer):
    """Normalizes each channel by the batch's mean and variance, or by their moving averages.

    The updates of the averages are in the collection UPDATE_OPS, for training to run.

    Args:
      axis: the axis of the channels; several normalize over the others.
      momentum: how much of an average an update keeps.
      epsilon: added to the variance.
      center: whether to add ``beta``.
      scale: whether to multiply by ``gamma``.
      beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: of
        the variables.
      beta_regularizer, gamma_regularizer: functions of weights whose results are losses.
      beta_constraint, gamma_constraint: applied to weights after each update.
      renorm: whether to use batch renormalization (Ioffe 2017).
      renorm_clipping: bounds of its corrections: "rmax", "rmin", "dmax".
      renorm_momentum: as ``momentum``, for its averages.
      fused: whether to use the op that does it all; None: where it can.
      trainable: whether the variables are trainable.
      virtual_batch_size: normalizes parts of that size of a batch apart.
      adjustment: function of the input's shape that returns a scale and an offset, of training
        alone.
      name: name of the variable scope.
      **kwargs: ``dtype``, ``_scope``, ``_reuse``.

    Source: Ioffe and Szegedy 2015.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = _ZEROS,
        gamma_initializer: Any = _ONES,
        moving_mean_initializer: Any = _ZEROS,
        moving_variance_initializer: Any = _ONES,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
            moving_mean_initializer, moving_variance_initializer, beta_regularizer,
            gamma_regularizer, beta_constraint, gamma_constraint, renorm, renorm_clipping,
            renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, **kwargs,
        )  # fmt: skip

    def call(self, inputs: Any, training: Any = False) -> Any:
        """The normalized input, by the batch's moments where ``training``."""
        return super().call(inputs, training=training)


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = _ZEROS,
    gamma_initializer: Any = _ONES,
    moving_mean_initializer: Any = _ZEROS,
    moving_variance_initializer: Any = _ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: Any = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Any:
    """A ``tf.layers.BatchNormalization`` called once; its arguments, and these.

    Args:
      inputs: floating tensor of known rank.
      training: whether to use the batch's own moments, and to update the averages; a bool or a
        bool tensor.
      reuse: whether the variables exist already.

    Returns:
      A tensor like ``inputs``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     y = tf.layers.batch_normalization(tf.ones([2, 3]), training=True)
      ...     len(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
      2
    """
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
        moving_mean_initializer, moving_variance_initializer, beta_regularizer, gamma_regularizer,
        beta_constraint, gamma_constraint, renorm, renorm_clipping, renorm_momentum, fused,
        trainable, virtual_batch_size, adjustment, name, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer.apply(inputs, training=training)
