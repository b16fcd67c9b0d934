"""Convolutions of each channel alone."""

from __future__ import annotations

from typing import Any

from penstock.library.keras.layers import windows
from penstock.library.keras.layers.convolution import Convolution
from penstock.library.keras.layers.dense import set_weight_arguments, weight_config
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.nn import dilation

_KERNEL = ("depthwise",)


class DepthwiseConv2D(Convolution):
    """A convolution of each channel of an image alone: the first half of a separable one.

    Args:
      kernel_size: height and width of a window; an int for both.
      strides: distance of windows; the same in both dims.
      padding: "valid" or "same".
      depth_multiplier: channels that are made of each.
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      depthwise_initializer, bias_initializer: of the weights.
      depthwise_regularizer, bias_regularizer: of the weights.
      activity_regularizer: of the output.
      depthwise_constraint, bias_constraint: of the weights.
      **kwargs: ``dilation_rate``; as of a layer.

    Raises:
      ValueError: the number of channels is not known.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.DepthwiseConv2D(3, depth_multiplier=2)
      ...     layer(tf.zeros([2, 6, 6, 3])).shape.as_list()
      [2, 4, 4, 6]
    """

    depthwise_initializer: Any
    depthwise_regularizer: Any
    depthwise_constraint: Any

    def __init__(
        self, kernel_size: Any, strides: Any = (1, 1), padding: Any = "valid",
        depth_multiplier: int = 1, data_format: Any = None, activation: Any = None,
        use_bias: bool = True, depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros", depthwise_regularizer: Any = None,
        bias_regularizer: Any = None, activity_regularizer: Any = None,
        depthwise_constraint: Any = None, bias_constraint: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            2, 0, kernel_size, strides, padding, data_format, activation=activation,
            use_bias=use_bias, bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint, **kwargs,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier
        set_weight_arguments(self, _KERNEL, {
            "depthwise_initializer": depthwise_initializer,
            "depthwise_regularizer": depthwise_regularizer,
            "depthwise_constraint": depthwise_constraint,
        })  # fmt: skip

    def build(self, input_shape: Any) -> None:
        """Makes ``depthwise_kernel`` [*size, channels, multiplier] and ``bias``."""
        channels = windows.known_channels(input_shape, self._channel_axis)
        self.filters = channels * self.depth_multiplier
        self.depthwise_kernel = self.add_weight(
            name="depthwise_kernel",
            shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer, regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint, trainable=True, dtype=self.dtype,
        )  # fmt: skip
        self.bias = self._add_kernel("bias", (self.filters,)) if self.use_bias else None
        self.input_spec = InputSpec(ndim=4, axes={self._channel_axis: channels})
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The convolved input."""
        last = self.data_format == "channels_last"
        strides = (1, *self.strides, 1) if last else (1, 1, *self.strides)
        outputs = dilation.depthwise_conv2d(
            inputs, self.depthwise_kernel, strides=strides, padding=self._op_padding,
            rate=self.dilation_rate, data_format=windows.layout(self.data_format, 2),
        )  # fmt: skip
        return self._finished(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        channels = windows.known_channels(input_shape, self._channel_axis)
        self.filters = channels * self.depth_multiplier
        return super().compute_output_shape(input_shape)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        found = super().get_config() | {
            "depth_multiplier": self.depth_multiplier, **weight_config(self, _KERNEL),
        }  # fmt: skip
        ours = ("filters", "kernel_initializer", "kernel_regularizer", "kernel_constraint")
        return {key: value for key, value in found.items() if key not in ours}
