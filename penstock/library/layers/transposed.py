"""``tf.layers``: transposed convolutions."""

from __future__ import annotations

from typing import Any

from penstock.library.keras.layers import transposed as keras
from penstock.library.layer_base import scoped
from penstock.library.variables import initializers

_ZEROS = initializers.zeros_initializer()


class Conv2DTranspose(keras.Conv2DTranspose, scoped.Layer):
    """The transpose of a convolution over images, with a bias and an activation.

    Args:
      filters: number of output channels.
      kernel_size: size of a window; an int for both dims, or two.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      kernel_initializer: of the kernel; default that of the variable scope.
      bias_initializer: of the bias.
      kernel_regularizer, bias_regularizer: functions of the weights
        whose results are losses.
      activity_regularizer: likewise of the output.
      kernel_constraint, bias_constraint: applied to the weights after each
        update.
      trainable: whether the variables are trainable.
      name: name of the variable scope.
      **kwargs: ``dtype``, ``_scope``, ``_reuse``.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        data_format: Any = "channels_last",
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
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding,
            data_format=data_format, activation=activation, use_bias=use_bias,
            kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


def conv2d_transpose(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = (1, 1),
    padding: Any = "valid",
    data_format: Any = "channels_last",
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
    """The transpose of a convolution over images, with a bias and an activation.

    Args:
      inputs: floating [batch, rows, columns, channels], or channels second.
      filters: number of output channels.
      kernel_size: size of a window; an int for both dims, or two.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      kernel_initializer: of the kernel; default that of the variable scope.
      bias_initializer: of the bias.
      kernel_regularizer, bias_regularizer: functions of the weights
        whose results are losses.
      activity_regularizer: likewise of the output.
      kernel_constraint, bias_constraint: applied to the weights after each
        update.
      trainable: whether the variables are trainable.
      name: name of the variable scope.
      reuse: whether the variables exist already.

    Returns:
      A tensor of the same rank with ``filters`` channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.layers.conv2d_transpose(tf.zeros([2, 6, 6, 3]), 4, 3, 2).shape.as_list()
      [2, 13, 13, 4]
    """
    layer = Conv2DTranspose(
        filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
        activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
        bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
        bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
        kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable,
        name=name, _scope=name, _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)


class Conv3DTranspose(keras.Conv3DTranspose, scoped.Layer):
    """The transpose of a convolution over volumes, with a bias and an activation.

    Args:
      filters: number of output channels.
      kernel_size: size of a window; an int for all dims, or three.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, depth, rows, columns, channels]) or
        "channels_first".
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      kernel_initializer: of the kernel; default that of the variable scope.
      bias_initializer: of the bias.
      kernel_regularizer, bias_regularizer: functions of the weights
        whose results are losses.
      activity_regularizer: likewise of the output.
      kernel_constraint, bias_constraint: applied to the weights after each
        update.
      trainable: whether the variables are trainable.
      name: name of the variable scope.
      **kwargs: ``dtype``, ``_scope``, ``_reuse``.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = "valid",
        data_format: Any = "channels_last",
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
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding,
            data_format=data_format, activation=activation, use_bias=use_bias,
            kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


def conv3d_transpose(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = (1, 1, 1),
    padding: Any = "valid",
    data_format: Any = "channels_last",
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
    """The transpose of a convolution over volumes, with a bias and an activation.

    Args:
      inputs: floating [batch, depth, rows, columns, channels], or channels second.
      filters: number of output channels.
      kernel_size: size of a window; an int for all dims, or three.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, depth, rows, columns, channels]) or
        "channels_first".
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      kernel_initializer: of the kernel; default that of the variable scope.
      bias_initializer: of the bias.
      kernel_regularizer, bias_regularizer: functions of the weights
        whose results are losses.
      activity_regularizer: likewise of the output.
      kernel_constraint, bias_constraint: applied to the weights after each
        update.
      trainable: whether the variables are trainable.
      name: name of the variable scope.
      reuse: whether the variables exist already.

    Returns:
      A tensor of the same rank with ``filters`` channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.layers.conv3d_transpose(tf.zeros([2, 6, 6, 6, 3]), 4, 3, 2).shape.as_list()
      [2, 13, 13, 13, 4]
    """
    layer = Conv3DTranspose(
        filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
        activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
        bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
        bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
        kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable,
        name=name, _scope=name, _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)
