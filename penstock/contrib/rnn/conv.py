"""Convolutional LSTMs (Shi et al., 2015) over one, two and three dims."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.library.nn import conv
from penstock.library.recurrent.cell import LSTMStateTuple, RNNCell
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.ops.array import join, split
from penstock.ops.math import elementwise


class ConvLSTMCell(RNNCell):
    """LSTM whose products are convolutions.

    Args:
      conv_ndims: 1, 2 or 3.
      input_shape: shape of the input without the batch, channels last.
      output_channels: channels of the output and of both parts of the state.
      kernel_shape: sizes of the kernel, one a dim.
      use_bias: whether there is a bias.
      skip_connection: whether the input is put out too, behind the output.
      forget_bias: added to the forget gate's.
      initializers: not used, as in TensorFlow 1.15.
      name: name of the variable scope.

    Raises:
      ValueError: ``input_shape`` is not of ``conv_ndims`` dims and the channels.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Any,
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: Any = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims, self._input_shape = conv_ndims, list(input_shape)
        self._output_channels, self._kernel_shape = output_channels, list(kernel_shape)
        self._use_bias, self._skip_connection = use_bias, skip_connection
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> Any:
        """Shapes of c and h."""
        one = shapes.TensorShape([*self._input_shape[:-1], self._output_channels])
        return LSTMStateTuple(one, one)

    @property
    def output_size(self) -> Any:
        """Shape of the output."""
        skipped = self._input_shape[-1] if self._skip_connection else 0
        return shapes.TensorShape([*self._input_shape[:-1], self._output_channels + skipped])

    def call(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step."""
        sigmoid, tanh = elementwise.sigmoid, elementwise.tanh
        cell, hidden = state
        gates = self._convolved(inputs, hidden)
        i, j, f, o = split.split(value=gates, num_or_size_splits=4, axis=self._conv_ndims + 1)
        new_cell = sigmoid(f + self._forget_bias) * cell
        new_cell += sigmoid(i) * tanh(j)
        output = hidden = tanh(new_cell) * sigmoid(o)
        if self._skip_connection:
            # TensorFlow 1.15 keeps the joined output as state, which its next step refuses.
            output = join.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(new_cell, hidden)

    def _convolved(self, inputs: Any, hidden: Any) -> Any:
        dims = self._conv_ndims
        rank = inputs.get_shape().ndims
        if rank != dims + 2:
            raise ValueError(
                f"Conv Linear expects {dims + 2}D arguments: {inputs.get_shape().as_list()}"
            )
        channels = inputs.get_shape().as_list()[-1] + hidden.get_shape().as_list()[-1]
        features = 4 * self._output_channels
        kernel = get_variable(
            "kernel", [*self._kernel_shape, channels, features], dtype=inputs.dtype
        )
        joined = join.concat(axis=dims + 1, values=[inputs, hidden])
        result = _CONVOLUTIONS[dims](joined, kernel)
        if not self._use_bias:
            return result
        biases = get_variable(
            "biases",
            [features],
            dtype=inputs.dtype,
            initializer=initializers.constant_initializer(0.0, dtype=inputs.dtype),
        )
        return result + biases


def _conv3d(x: Any, kernel: Any) -> Any:
    return make("Conv3D", x, kernel, strides=[1] * 5, padding="SAME")


_CONVOLUTIONS: dict[int, Any] = {
    1: lambda x, kernel: conv.conv1d(x, kernel, 1, padding="SAME"),
    2: lambda x, kernel: conv.conv2d(x, kernel, [1] * 4, padding="SAME"),
    3: _conv3d,
}


class Conv1DLSTMCell(ConvLSTMCell):
    """``ConvLSTMCell`` over one dim.

    Args:
      name: name of the variable scope.
      **kwargs: as of ``ConvLSTMCell``.
    """

    def __init__(self, name: Any = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """``ConvLSTMCell`` over two dims.

    Args:
      name: name of the variable scope.
      **kwargs: as of ``ConvLSTMCell``.
    """

    def __init__(self, name: Any = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """``ConvLSTMCell`` over three dims.

    Args:
      name: name of the variable scope.
      **kwargs: as of ``ConvLSTMCell``.
    """

    def __init__(self, name: Any = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
