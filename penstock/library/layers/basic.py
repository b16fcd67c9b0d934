"""``tf.layers``: dense layers, dropout and flattening."""

from __future__ import annotations

from typing import Any

from penstock.library.keras.layers import (
    dense as keras_dense,
    dropout as keras_dropout,
    flatten as keras,
)
from penstock.library.layer_base import scoped
from penstock.library.variables import initializers

_ZEROS = initializers.zeros_initializer()


class Dense(keras_dense.Dense, scoped.Layer):
    """``activation(inputs @ kernel + bias)`` over the last dim.

    Args:
      units: size of the output's last dim.
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      kernel_initializer: of the kernel; default that of the variable scope.
      bias_initializer: of the bias.
      kernel_regularizer, bias_regularizer: functions of the weights whose results are losses.
      activity_regularizer: likewise of the output.
      kernel_constraint, bias_constraint: applied to the weights after each update.
      trainable: whether the variables are trainable.
      name: name of the variable scope.
      **kwargs: ``dtype``, ``_scope``, ``_reuse``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.layers.Dense(3)
      ...     layer(tf.ones([2, 4])).shape.as_list(), [v.name for v in layer.variables]
      ([2, 3], ['dense/kernel:0', 'dense/bias:0'])
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = _ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            units=units, activation=activation, use_bias=use_bias,
            kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


def dense(
    inputs: Any,
    units: int,
    activation: Any = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = _ZEROS,
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: Any = None,
    reuse: Any = None,
) -> Any:
    """A ``tf.layers.Dense`` called once; the arguments are those of its constructor.

    Args:
      inputs: floating, of rank 2 or more; the last dim is known.
      reuse: whether the variables exist already.

    Returns:
      ``inputs`` with ``units`` as its last dim.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.layers.dense(tf.ones([2, 4]), 3, activation=tf.nn.relu).name
      'dense/Relu:0'
    """
    layer = Dense(
        units, activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
        bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
        bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
        kernel_constraint=kernel_constraint, bias_constraint=bias_constraint,
        trainable=trainable, name=name, _scope=name, _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)


class Dropout(keras_dropout.Dropout, scoped.Layer):
    """Sets random elements to zero while training, and scales the others.

    Args:
      rate: which part of the elements is dropped.
      noise_shape: shape of the draw, None where a dim is the input's: dims of size 1 drop or keep
        whole slices.
      seed: seed of the draw.
      name: name of the layer.
      **kwargs: as of a layer.
    """

    def __init__(
        self, rate: Any = 0.5, noise_shape: Any = None, seed: Any = None, name: Any = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(rate=rate, noise_shape=noise_shape, seed=seed, name=name, **kwargs)

    def call(self, inputs: Any, training: Any = False) -> Any:
        """The input, some of it dropped where ``training``, a bool or a bool tensor."""
        return super().call(inputs, training=training)


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: Any = None,
    training: Any = False,
    name: Any = None,
) -> Any:
    """A ``tf.layers.Dropout`` called once.

    Args:
      inputs: floating tensor.
      rate: which part of the elements is dropped.
      noise_shape: shape of the draw; dims of size 1 drop or keep whole slices.
      seed: seed of the draw.
      training: whether to drop anything; a bool or a bool tensor.
      name: name of the layer.

    Returns:
      A tensor like ``inputs``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.layers.dropout(tf.ones([2]))).tolist()
      [1.0, 1.0]
    """
    layer = Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)
    return layer.apply(inputs, training=training)


class Flatten(keras.Flatten, scoped.Layer):
    """All dims but the first in one.

    Args:
      data_format: "channels_last", or "channels_first", whose channels become the innermost.
      **kwargs: as of a layer.
    """


def flatten(inputs: Any, name: Any = None, data_format: Any = "channels_last") -> Any:
    """All dims but the first in one.

    Args:
      inputs: a tensor of rank 1 or more.
      name: name of the layer.
      data_format: "channels_last", or "channels_first", whose channels become the innermost.

    Returns:
      A tensor of rank 2.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.layers.flatten(tf.zeros([5, 2, 3])).shape.as_list()
      [5, 6]
    """
    return Flatten(name=name, data_format=data_format).apply(inputs)
