"""``tf.layers``: separable convolutions."""

from __future__ import annotations

from typing import Any

from penstock.library.keras.layers import separable as keras
from penstock.library.layer_base import scoped
from penstock.library.variables import initializers

_ZEROS = initializers.zeros_initializer()


class SeparableConv1D(keras.SeparableConv1D, scoped.Layer):
    """A convolution of each channel of sequences alone, then one that mixes them, with a bias.

    Args:
      filters: number of output channels.
      kernel_size: size of a window; an int.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, steps, channels]) or "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
      depth_multiplier: channels that the first convolution makes of each.
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      depthwise_initializer, pointwise_initializer: of the kernels; default that of the variable
        scope.
      bias_initializer: of the bias.
      depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions of the weights
        whose results are losses.
      activity_regularizer: likewise of the output.
      depthwise_constraint, pointwise_constraint, bias_constraint: applied to the weights after each
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
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = _ZEROS,
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding,
            data_format=data_format, dilation_rate=dilation_rate,
            depth_multiplier=depth_multiplier, activation=activation, use_bias=use_bias,
            depthwise_initializer=depthwise_initializer,
            pointwise_initializer=pointwise_initializer, bias_initializer=bias_initializer,
            depthwise_regularizer=depthwise_regularizer,
            pointwise_regularizer=pointwise_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, depthwise_constraint=depthwise_constraint,
            pointwise_constraint=pointwise_constraint, bias_constraint=bias_constraint,
            trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


def separable_conv1d(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = 1,
    padding: Any = "valid",
    data_format: Any = "channels_last",
    dilation_rate: Any = 1,
    depth_multiplier: int = 1,
    activation: Any = None,
    use_bias: bool = True,
    depthwise_initializer: Any = None,
    pointwise_initializer: Any = None,
    bias_initializer: Any = _ZEROS,
    depthwise_regularizer: Any = None,
    pointwise_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    depthwise_constraint: Any = None,
    pointwise_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: Any = None,
    reuse: Any = None,
) -> Any:
    """A convolution of each channel of sequences alone, then one that mixes them, with a bias.

    Args:
      inputs: floating [batch, steps, channels], or channels second.
      filters: number of output channels.
      kernel_size: size of a window; an int.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, steps, channels]) or "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
      depth_multiplier: channels that the first convolution makes of each.
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      depthwise_initializer, pointwise_initializer: of the kernels; default that of the variable
        scope.
      bias_initializer: of the bias.
      depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions of the weights
        whose results are losses.
      activity_regularizer: likewise of the output.
      depthwise_constraint, pointwise_constraint, bias_constraint: applied to the weights after each
        update.
      trainable: whether the variables are trainable.
      name: name of the variable scope.
      reuse: whether the variables exist already.

    Returns:
      A tensor of the same rank with ``filters`` channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.layers.separable_conv1d(tf.zeros([2, 6, 3]), 4, 3).shape.as_list()
      [2, 4, 4]
    """
    layer = SeparableConv1D(
        filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
        dilation_rate=dilation_rate, depth_multiplier=depth_multiplier, activation=activation,
        use_bias=use_bias, depthwise_initializer=depthwise_initializer,
        pointwise_initializer=pointwise_initializer, bias_initializer=bias_initializer,
        depthwise_regularizer=depthwise_regularizer, pointwise_regularizer=pointwise_regularizer,
        bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
        depthwise_constraint=depthwise_constraint, pointwise_constraint=pointwise_constraint,
        bias_constraint=bias_constraint, trainable=trainable, name=name, _scope=name,
        _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)


class SeparableConv2D(keras.SeparableConv2D, scoped.Layer):
    """A convolution of each channel of images alone, then one that mixes them, with a bias.

    Args:
      filters: number of output channels.
      kernel_size: size of a window; an int for both dims, or two.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
      depth_multiplier: channels that the first convolution makes of each.
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      depthwise_initializer, pointwise_initializer: of the kernels; default that of the variable
        scope.
      bias_initializer: of the bias.
      depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions of the weights
        whose results are losses.
      activity_regularizer: likewise of the output.
      depthwise_constraint, pointwise_constraint, bias_constraint: applied to the weights after each
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
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = _ZEROS,
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters=filters, kernel_size=kernel_size, strides=strides, padding=padding,
            data_format=data_format, dilation_rate=dilation_rate,
            depth_multiplier=depth_multiplier, activation=activation, use_bias=use_bias,
            depthwise_initializer=depthwise_initializer,
            pointwise_initializer=pointwise_initializer, bias_initializer=bias_initializer,
            depthwise_regularizer=depthwise_regularizer,
            pointwise_regularizer=pointwise_regularizer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, depthwise_constraint=depthwise_constraint,
            pointwise_constraint=pointwise_constraint, bias_constraint=bias_constraint,
            trainable=trainable, name=name, **kwargs,
        )  # fmt: skip


def separable_conv2d(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = (1, 1),
    padding: Any = "valid",
    data_format: Any = "channels_last",
    dilation_rate: Any = (1, 1),
    depth_multiplier: int = 1,
    activation: Any = None,
    use_bias: bool = True,
    depthwise_initializer: Any = None,
    pointwise_initializer: Any = None,
    bias_initializer: Any = _ZEROS,
    depthwise_regularizer: Any = None,
    pointwise_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    depthwise_constraint: Any = None,
    pointwise_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: Any = None,
    reuse: Any = None,
) -> Any:
    """A convolution of each channel of images alone, then one that mixes them, with a bias.

    Args:
      inputs: floating [batch, rows, columns, channels], or channels second.
      filters: number of output channels.
      kernel_size: size of a window; an int for both dims, or two.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
      depth_multiplier: channels that the first convolution makes of each.
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      depthwise_initializer, pointwise_initializer: of the kernels; default that of the variable
        scope.
      bias_initializer: of the bias.
      depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions of the weights
        whose results are losses.
      activity_regularizer: likewise of the output.
      depthwise_constraint, pointwise_constraint, bias_constraint: applied to the weights after each
        update.
      trainable: whether the variables are trainable.
      name: name of the variable scope.
      reuse: whether the variables exist already.

    Returns:
      A tensor of the same rank with ``filters`` channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.layers.separable_conv2d(tf.zeros([2, 6, 6, 3]), 4, 3).shape.as_list()
      [2, 4, 4, 4]
    """
    layer = SeparableConv2D(
        filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
        dilation_rate=dilation_rate, depth_multiplier=depth_multiplier, activation=activation,
        use_bias=use_bias, depthwise_initializer=depthwise_initializer,
        pointwise_initializer=pointwise_initializer, bias_initializer=bias_initializer,
        depthwise_regularizer=depthwise_regularizer, pointwise_regularizer=pointwise_regularizer,
        bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
        depthwise_constraint=depthwise_constraint, pointwise_constraint=pointwise_constraint,
        bias_constraint=bias_constraint, trainable=trainable, name=name, _scope=name,
        _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)
