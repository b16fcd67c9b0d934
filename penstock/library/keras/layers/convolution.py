"""Convolutional layers of one to three spatial dims."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.library.keras.layers import windows
from penstock.library.keras.layers.dense import set_weight_arguments, weight_config
from penstock.library.layer_base import activations, regularizers
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.library.nn import prepared
from penstock.ops.array import pad, reshape
from penstock.ops.nn import bias as biases

_WEIGHTS = ("kernel", "bias")


class Convolution(Layer):
    """A convolution over ``rank`` spatial dims, with a bias and an activation.

    Args:
      rank: number of spatial dims.
      filters: number of output channels.
      kernel_size: size of a window; an int, or one for each dim.
      strides: distance of windows; likewise.
      padding: "valid", "same", or "causal" (sequences alone).
      data_format: "channels_last" or "channels_first".
      dilation_rate: distance of elements in a window.
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      trainable: whether the variables are trainable.
      name: name of the layer.
      **kwargs: initializers, regularizers and constraints of ``kernel`` and ``bias``,
        ``activity_regularizer``; as of a layer.
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
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
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
            trainable=trainable, name=name,
            activity_regularizer=regularizers.get(activity_regularizer), **kwargs,
        )  # fmt: skip
        self.rank, self.filters = rank, filters
        self.kernel_size = windows.sizes(kernel_size, rank, "kernel_size")
        self.strides = windows.sizes(strides, rank, "strides")
        self.padding = windows.padding(padding)
        if self.padding == "causal" and rank != 1:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.data_format = windows.data_format(data_format)
        self.dilation_rate = windows.sizes(dilation_rate, rank, "dilation_rate")
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        set_weight_arguments(self, _WEIGHTS, {
            "kernel_initializer": kernel_initializer, "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer, "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint, "bias_constraint": bias_constraint,
        })  # fmt: skip
        self.input_spec = InputSpec(ndim=rank + 2)

    @property
    def _channel_axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    def _add_kernel(self, name: str, shape: Any) -> Any:
        return self.add_weight(
            name=name, shape=shape, initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"), trainable=True, dtype=self.dtype,
        )  # fmt: skip

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` [*size, input channels, filters] and ``bias`` [filters]."""
        channels = windows.known_channels(input_shape, self._channel_axis)
        self.kernel = self._add_kernel("kernel", (*self.kernel_size, channels, self.filters))
        self.bias = self._add_kernel("bias", (self.filters,)) if self.use_bias else None
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self._channel_axis: channels})
        self._convolve = prepared.Convolution(
            shapes.as_shape(input_shape), self.kernel.shape, self._op_padding, self.strides,
            self.dilation_rate, windows.layout(self.data_format, self.rank),
        )  # fmt: skip
        self.built = True

    @property
    def _op_padding(self) -> Any:
        if isinstance(self.padding, list | tuple):
            return self.padding
        return "VALID" if self.padding == "causal" else self.padding.upper()

    def call(self, inputs: Any) -> Any:
        """The convolved input."""
        return self._finished(self._convolve(inputs, self.kernel))

    def _finished(self, outputs: Any) -> Any:
        """With the bias and the activation."""
        if self.use_bias:
            if self.rank == 1 and self.data_format == "channels_first":
                outputs = outputs + reshape.reshape(self.bias, (1, self.filters, 1))
            else:
                outputs = self._biased(outputs)
        return outputs if self.activation is None else self.activation(outputs)

    def _biased(self, outputs: Any) -> Any:
        form = "NHWC" if self.data_format == "channels_last" else "NCHW"
        return biases.bias_add(outputs, self.bias, data_format=form)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        dims = shapes.as_shape(input_shape).as_list()
        spatial = dims[1:-1] if self.data_format == "channels_last" else dims[2:]
        made = windows.output_lengths(
            spatial, self.kernel_size, self.padding, self.strides, self.dilation_rate
        )
        return windows.with_channels(self.data_format, dims[0], made, self.filters)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "filters": self.filters, "kernel_size": self.kernel_size, "strides": self.strides,
            "padding": self.padding, "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
            "activation": activations.serialize(self.activation), "use_bias": self.use_bias,
            **weight_config(self, _WEIGHTS),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
        }  # fmt: skip


class Conv1D(Convolution):
    """A convolution over sequences; arguments as of ``Conv2D``, ``padding`` may be "causal".

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.Conv1D(4, 3, padding="causal")(tf.zeros([2, 6, 3])).shape.as_list()
      [2, 6, 4]
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
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            1, filters, kernel_size, strides, padding, data_format, dilation_rate, activation,
            use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
            activity_regularizer, kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        """The convolved input; "causal" windows end at their step."""
        if self.padding == "causal":
            inputs = pad.pad(inputs, self._causal_padding(inputs))
        return super().call(inputs)

    def _causal_padding(self, inputs: Any) -> list[list[int]]:
        before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        nothing = [0, 0]
        if self.data_format == "channels_last":
            return [nothing, before, nothing]
        return [nothing, nothing, before]


class Conv2D(Convolution):
    """A convolution over images, with a bias and an activation.

    Args:
      filters: number of output channels.
      kernel_size: height and width of a window; an int for both.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      dilation_rate: distance of elements in a window; not with strides above 1.
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      kernel_initializer, bias_initializer: of the weights.
      kernel_regularizer, bias_regularizer: functions of the weights whose results are losses.
      activity_regularizer: likewise of the output.
      kernel_constraint, bias_constraint: applied to the weights after each update.
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.Conv2D(4, 3)(tf.zeros([2, 6, 6, 3])).shape.as_list()
      [2, 4, 4, 4]
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        data_format: Any = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            2, filters, kernel_size, strides, padding, data_format, dilation_rate, activation,
            use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
            activity_regularizer, kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip


class Conv3D(Convolution):
    """A convolution over volumes; arguments as of ``Conv2D``."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = "valid",
        data_format: Any = None,
        dilation_rate: Any = (1, 1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            3, filters, kernel_size, strides, padding, data_format, dilation_rate, activation,
            use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
            activity_regularizer, kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
