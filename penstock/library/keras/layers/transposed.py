"""Transposed convolutions: from a convolution's output back to the size of its input."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.library.keras.layers import windows
from penstock.library.keras.layers.convolution import Conv2D, Conv3D, Convolution
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.nn import conv, volumes
from penstock.ops.array import nodes


class _Transposed(Convolution):
    """What the transposed convolutions of images and volumes share."""

    output_padding: Any

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` [*size, filters, input channels] and ``bias`` [filters]."""
        known = shapes.as_shape(input_shape)
        if len(known) != self.rank + 2:
            raise ValueError(
                f"Inputs should have rank {self.rank + 2}. Received input shape: {known}"
            )
        channels = windows.known_channels(known, self._channel_axis)
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self._channel_axis: channels})
        self.kernel = self._add_kernel("kernel", (*self.kernel_size, self.filters, channels))
        self.bias = self._add_kernel("bias", (self.filters,)) if self.use_bias else None
        self.built = True

    def _lengths(self, spatial: Any) -> list[Any]:
        extra = self.output_padding or [None] * self.rank
        sizes = zip(spatial, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        return [
            windows.transposed_length(length, size, self.padding, stride, more, rate)
            for (length, size, stride, rate), more in zip(sizes, extra, strict=True)
        ]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        dims = shapes.as_shape(input_shape).as_list()
        spatial = dims[1:-1] if self.data_format == "channels_last" else dims[2:]
        return windows.with_channels(
            self.data_format, dims[0], self._lengths(spatial), self.filters
        )

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"output_padding": self.output_padding}

    def _checked_padding(self, given: Any) -> Any:
        if given is None:
            return None
        found = windows.sizes(given, self.rank, "output_padding")
        for stride, extra in zip(self.strides, found, strict=True):
            if extra >= stride:
                raise ValueError(
                    f"Stride {self.strides} must be greater than output padding {found}"
                )
        return found

    def _output_shape(self, inputs: Any) -> tuple[Any, ...]:
        """The dims of the output, tensors."""
        dims = nodes.shape(inputs)
        batch = nodes.element(dims, 0)
        start = 2 if self.data_format == "channels_first" else 1
        spatial = [nodes.element(dims, start + i) for i in range(self.rank)]
        lengths = self._lengths(spatial)
        if self.data_format == "channels_first":
            return (batch, self.filters, *lengths)
        return (batch, *lengths, self.filters)


class Conv2DTranspose(_Transposed, Conv2D):
    """The transpose of a convolution over images; arguments as of ``Conv2D``.

    Args:
      output_padding: what is added to the output's size on one side, less than the stride; None
        finds the greatest size.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.Conv2DTranspose(4, 3, 2)(tf.zeros([2, 6, 6, 3])).shape.as_list()
      [2, 13, 13, 4]
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        output_padding: Any = None,
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
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation,
            use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
            activity_regularizer, kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
        self.output_padding = self._checked_padding(output_padding)

    def call(self, inputs: Any) -> Any:
        """The transposed convolution."""
        size = nodes.pack(self._output_shape(inputs), "stack")
        # Keras looks whether the batch is known, and leaves a node behind; names count it.
        nodes.element(size, 0)
        form = windows.layout(self.data_format, 2)
        outputs = conv.conv2d_transpose(
            inputs, self.kernel, size, self.strides, self.padding.upper(),
            data_format=form, dilations=self.dilation_rate,
        )  # fmt: skip
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._finished(outputs)


class Conv3DTranspose(_Transposed, Conv3D):
    """The transpose of a convolution over volumes; arguments as of ``Conv2DTranspose``."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = "valid",
        output_padding: Any = None,
        data_format: Any = None,
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
            filters, kernel_size, strides, padding, data_format, (1, 1, 1), activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
            activity_regularizer, kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
        self.output_padding = self._checked_padding(output_padding)

    def call(self, inputs: Any) -> Any:
        """The transposed convolution."""
        size = self._output_shape(inputs)
        around = (1, 1, *self.strides) if self.data_format == "channels_first" else (
            1, *self.strides, 1)  # fmt: skip
        outputs = volumes.conv3d_transpose(
            inputs, self.kernel, nodes.pack(size, "stack"), around, self.padding.upper(),
            data_format=windows.layout(self.data_format, 3),
        )  # fmt: skip
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._finished(outputs)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        config = super().get_config()
        del config["dilation_rate"]
        return config
