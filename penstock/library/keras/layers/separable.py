"""Convolutions of each channel alone, and what mixes the channels after them."""

from __future__ import annotations

from typing import Any

from penstock.library.keras.layers import windows
from penstock.library.keras.layers.convolution import Convolution
from penstock.library.keras.layers.dense import set_weight_arguments, weight_config
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.nn import dilation
from penstock.ops.array import pad, reshape, squeeze

_KERNELS = ("depthwise", "pointwise")


class SeparableConvolution(Convolution):
    """A convolution of each channel alone, then one of windows of size 1 over all channels.

    Args:
      rank: number of spatial dims, 1 or 2.
      filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias: as
        of ``Conv2D``.
      depth_multiplier: channels that the first convolution makes of each.
      depthwise_initializer, pointwise_initializer, bias_initializer: of the weights.
      depthwise_regularizer, pointwise_regularizer, bias_regularizer: of the weights.
      activity_regularizer: of the output.
      depthwise_constraint, pointwise_constraint, bias_constraint: of the weights.
      trainable: whether the variables are trainable.
      name: name of the layer.
      **kwargs: as of a layer.
    """

    def __init__(
        self,
        rank: int,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: Any = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
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
            rank, filters, kernel_size, strides, padding, data_format, dilation_rate, activation,
            use_bias, bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, bias_constraint=bias_constraint,
            trainable=trainable, name=name, **kwargs,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier
        set_weight_arguments(self, _KERNELS, {
            "depthwise_initializer": depthwise_initializer,
            "pointwise_initializer": pointwise_initializer,
            "depthwise_regularizer": depthwise_regularizer,
            "pointwise_regularizer": pointwise_regularizer,
            "depthwise_constraint": depthwise_constraint,
            "pointwise_constraint": pointwise_constraint,
        })  # fmt: skip

    def _add_separate(self, weight: str, shape: Any) -> Any:
        return self.add_weight(
            name=f"{weight}_kernel", shape=shape,
            initializer=getattr(self, f"{weight}_initializer"),
            regularizer=getattr(self, f"{weight}_regularizer"),
            constraint=getattr(self, f"{weight}_constraint"), trainable=True, dtype=self.dtype,
        )  # fmt: skip

    def build(self, input_shape: Any) -> None:
        """Makes ``depthwise_kernel``, ``pointwise_kernel`` and ``bias``."""
        channels = windows.known_channels(input_shape, self._channel_axis)
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self._channel_axis: channels})
        between = self.depth_multiplier * channels
        self.depthwise_kernel = self._add_separate(
            "depthwise", (*self.kernel_size, channels, self.depth_multiplier)
        )
        self.pointwise_kernel = self._add_separate(
            "pointwise", (*(1,) * self.rank, between, self.filters)
        )
        self.bias = self._add_kernel("bias", (self.filters,)) if self.use_bias else None
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "depth_multiplier": self.depth_multiplier, **weight_config(self, _KERNELS),
        }  # fmt: skip


class SeparableConv1D(SeparableConvolution):
    """``SeparableConv2D`` over sequences; ``padding`` may be "causal"."""

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: Any = "valid",
        data_format: Any = None, dilation_rate: Any = 1, depth_multiplier: int = 1,
        activation: Any = None, use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None, pointwise_regularizer: Any = None,
        bias_regularizer: Any = None, activity_regularizer: Any = None,
        depthwise_constraint: Any = None, pointwise_constraint: Any = None,
        bias_constraint: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            1, filters, kernel_size, strides, padding, data_format, dilation_rate,
            depth_multiplier, activation, use_bias, depthwise_initializer, pointwise_initializer,
            bias_initializer, depthwise_regularizer, pointwise_regularizer, bias_regularizer,
            activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint,
            **kwargs,
        )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        """The convolved input: a sequence is an image of height 1."""
        if self.padding == "causal":
            before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            last = self.data_format == "channels_last"
            around = [[0, 0], [before, 0], [0, 0]] if last else [[0, 0], [0, 0], [before, 0]]
            inputs = pad.pad(inputs, around)
        axis = 1 if self.data_format == "channels_last" else 2
        strides = (1, *self.strides * 2, 1)
        if axis == 2:
            strides = (1, 1, *self.strides * 2)
        inputs = reshape.expand_dims(inputs, axis)
        depthwise = reshape.expand_dims(self.depthwise_kernel, 0)
        pointwise = reshape.expand_dims(self.pointwise_kernel, 0)
        outputs = dilation.separable_conv2d(
            inputs, depthwise, pointwise, strides=strides, padding=self._op_padding,
            rate=(1, *self.dilation_rate), data_format=windows.layout(self.data_format, 2),
        )  # fmt: skip
        if self.use_bias:
            outputs = self._biased(outputs)
        outputs = squeeze.squeeze(outputs, [axis])
        return outputs if self.activation is None else self.activation(outputs)


class SeparableConv2D(SeparableConvolution):
    """A convolution of each channel of an image alone, then one of all channels of each pixel.

    Args:
      filters: number of output channels.
      kernel_size: height and width of a window; an int for both.
      strides: distance of windows; the same in both dims.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      dilation_rate: distance of elements in a window.
      depth_multiplier: channels that the first convolution makes of each.
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      depthwise_initializer, pointwise_initializer, bias_initializer: of the weights.
      depthwise_regularizer, pointwise_regularizer, bias_regularizer: of the weights.
      activity_regularizer: of the output.
      depthwise_constraint, pointwise_constraint, bias_constraint: of the weights.
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.SeparableConv2D(4, 3)(tf.zeros([2, 6, 6, 3])).shape.as_list()
      [2, 4, 4, 4]
    """

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: Any = "valid",
        data_format: Any = None, dilation_rate: Any = (1, 1), depth_multiplier: int = 1,
        activation: Any = None, use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None, pointwise_regularizer: Any = None,
        bias_regularizer: Any = None, activity_regularizer: Any = None,
        depthwise_constraint: Any = None, pointwise_constraint: Any = None,
        bias_constraint: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            2, filters, kernel_size, strides, padding, data_format, dilation_rate,
            depth_multiplier, activation, use_bias, depthwise_initializer, pointwise_initializer,
            bias_initializer, depthwise_regularizer, pointwise_regularizer, bias_regularizer,
            activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint,
            **kwargs,
        )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        """The convolved input."""
        around = (1, *self.strides, 1) if self.data_format == "channels_last" else (
            1, 1, *self.strides)  # fmt: skip
        outputs = dilation.separable_conv2d(
            inputs, self.depthwise_kernel, self.pointwise_kernel, strides=around,
            padding=self._op_padding, rate=self.dilation_rate,
            data_format=windows.layout(self.data_format, 2),
        )  # fmt: skip
        return self._finished(outputs)
