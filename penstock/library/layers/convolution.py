"""``tf.layers``: convolutions."""

from __future__ import annotations

from typing import Any

from penstock.library.keras.layers import convolution as keras
from penstock.library.layer_base import scoped
from penstock.library.variables import initializers

_ZEROS = initializers.zeros_initializer()


class Conv1D(keras.Conv1D, scoped.Layer):
    """A convolution over sequences, with a bias and an activation.

    Args:
      filters: number of output channels.
      kernel_size: size of a window; an int.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, steps, channels]) or "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
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
        strides: Any = 1,
        padding: Any = "valid",
        data_format: Any = "channels_last",
        dilation_rate: Any = 1,
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
            data_format=data_format, dilation_rate=dilation_rate, activation=activation,
            use_bias=use_bias, kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint,
            trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


def conv1d(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = 1,
    padding: Any = "valid",
    data_format: Any = "channels_last",
    dilation_rate: Any = 1,
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
    """A convolution over sequences, with a bias and an activation.

    Args:
      inputs: floating [batch, steps, channels], or channels second.
      filters: number of output channels.
      kernel_size: size of a window; an int.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, steps, channels]) or "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
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
      ...     tf.layers.conv1d(tf.zeros([2, 6, 3]), 4, 3).shape.as_list()
      [2, 4, 4]
    """
    layer = Conv1D(
        filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
        dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
        kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
        kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
        activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
        bias_constraint=bias_constraint, trainable=trainable, name=name, _scope=name,
        _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)


class Conv2D(keras.Conv2D, scoped.Layer):
    """A convolution over images, with a bias and an activation.

    Args:
      filters: number of output channels.
      kernel_size: size of a window; an int for both dims, or two.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
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
        dilation_rate: Any = (1, 1),
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
            data_format=data_format, dilation_rate=dilation_rate, activation=activation,
            use_bias=use_bias, kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint,
            trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


def conv2d(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = (1, 1),
    padding: Any = "valid",
    data_format: Any = "channels_last",
    dilation_rate: Any = (1, 1),
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
    """A convolution over images, with a bias and an activation.

    Args:
      inputs: floating [batch, rows, columns, channels], or channels second.
      filters: number of output channels.
      kernel_size: size of a window; an int for both dims, or two.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
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
      ...     tf.layers.conv2d(tf.zeros([2, 6, 6, 3]), 4, 3).shape.as_list()
      [2, 4, 4, 4]
    """
    layer = Conv2D(
        filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
        dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
        kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
        kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
        activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
        bias_constraint=bias_constraint, trainable=trainable, name=name, _scope=name,
        _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)


class Conv3D(keras.Conv3D, scoped.Layer):
    """A convolution over volumes, with a bias and an activation.

    Args:
      filters: number of output channels.
      kernel_size: size of a window; an int for all dims, or three.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, depth, rows, columns, channels]) or
        "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
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
        dilation_rate: Any = (1, 1, 1),
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
            data_format=data_format, dilation_rate=dilation_rate, activation=activation,
            use_bias=use_bias, kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint,
            trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


def conv3d(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = (1, 1, 1),
    padding: Any = "valid",
    data_format: Any = "channels_last",
    dilation_rate: Any = (1, 1, 1),
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
    """A convolution over volumes, with a bias and an activation.

    Args:
      inputs: floating [batch, depth, rows, columns, channels], or channels second.
      filters: number of output channels.
      kernel_size: size of a window; an int for all dims, or three.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, depth, rows, columns, channels]) or
        "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
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
      ...     tf.layers.conv3d(tf.zeros([2, 6, 6, 6, 3]), 4, 3).shape.as_list()
      [2, 4, 4, 4, 4]
    """
    layer = Conv3D(
        filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
        dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
        kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
        kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
        activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
        bias_constraint=bias_constraint, trainable=trainable, name=name, _scope=name,
        _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)
