"""``ConvLSTM2D``: an LSTM over sequences of images, whose products are convolutions."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph import nest
from penstock.library import nn
from penstock.library.keras.layers import windows
from penstock.library.keras.layers.cells import LSTMCell
from penstock.library.keras.layers.recurrent import RNN
from penstock.library.layer_base import regularizers
from penstock.library.layer_base.input_spec import InputSpec
from penstock.ops.array import fill, nodes, reshape, split

_OF_CELL = (
    "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation",
    "recurrent_activation", "use_bias", "kernel_initializer", "recurrent_initializer",
    "bias_initializer", "unit_forget_bias", "kernel_regularizer", "recurrent_regularizer",
    "bias_regularizer", "kernel_constraint", "recurrent_constraint", "bias_constraint", "dropout",
    "recurrent_dropout",
)  # fmt: skip


class ConvLSTM2DCell(LSTMCell):
    """One step of ``ConvLSTM2D``, which has the arguments.

    The input is convolved as it is asked; the state, whose size is that of the output, always with
    strides of 1 and zeros around it.
    """

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: Any = "valid",
        data_format: Any = None, dilation_rate: Any = (1, 1), **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(filters, **kwargs)
        self.filters = filters
        self.kernel_size = windows.sizes(kernel_size, 2, "kernel_size")
        self.strides = windows.sizes(strides, 2, "strides")
        self.padding = windows.padding(padding)
        self.data_format = windows.data_format(data_format)
        self.dilation_rate = windows.sizes(dilation_rate, 2, "dilation_rate")

    @property
    def state_size(self) -> Any:
        """The channels of output and memory."""
        return (self.filters, self.filters)

    @property
    def channels_first(self) -> bool:
        """Whether channels come before rows and columns."""
        return self.data_format == "channels_first"

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel``, ``recurrent_kernel`` [*size, channels, 4 * filters] and ``bias``."""
        channels = windows.known_channels(input_shape, 1 if self.channels_first else -1)
        wide = self._gates * self.filters
        self.kernel_shape = (*self.kernel_size, channels, wide)
        self.kernel = self._weight("kernel", "kernel", self.kernel_shape)
        shape = (*self.kernel_size, self.filters, wide)
        self.recurrent_kernel = self._weight("recurrent_kernel", "recurrent", shape)
        self.bias = self._weight("bias", "bias", (wide,)) if self.use_bias else None
        self.built = True

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """One step."""
        if self.padding not in ("valid", "same"):
            raise ValueError(f"Invalid padding: {self.padding}")
        previous, memory = nest.flatten(states)
        xs = self._dropped(inputs, "dropout", training, 4)
        hs = self._dropped(previous, "recurrent_dropout", training, 4)
        x = self._convolved(xs, self.kernel, self.padding, self.strides, self.dilation_rate)
        if self.bias is not None:
            shape = [1, -1, 1, 1] if self.channels_first else [-1]
            parts = split.split(value=self.bias, num_or_size_splits=4, axis=0)
            x = [one + reshape.reshape(bias, shape) for one, bias in zip(x, parts, strict=True)]
        h = self._convolved(hs, self.recurrent_kernel, "same", (1, 1), (1, 1))
        i, f, g, o = (one + other for one, other in zip(x, h, strict=True))
        kept = self.recurrent_activation(f) * memory
        c = kept + self.recurrent_activation(i) * self.activation(g)
        h = self.recurrent_activation(o) * self.activation(c)
        return h, [h, c]

    def _convolved(
        self, gates: list[Any], kernel: Any, padding: str, strides: Any, dilation: Any
    ) -> list[Any]:
        """What each gate sees, convolved with its part of a kernel.

        Without dropout all gates see the same, and one convolution has them all.
        """
        form = windows.layout(self.data_format, 2)
        options = (padding.upper(), strides, dilation)
        if all(one is gates[0] for one in gates):
            made = nn.convolution(gates[0], kernel, *options, data_format=form)
            axis = 1 if self.channels_first else 3
            found: list[Any] = split.split(value=made, num_or_size_splits=4, axis=axis)
            return found
        parts = split.split(value=kernel, num_or_size_splits=4, axis=3)
        return [
            nn.convolution(one, part, *options, data_format=form)
            for one, part in zip(gates, parts, strict=True)
        ]

    def places(self, rows: Any, columns: Any) -> list[Any]:
        """Rows and columns of the output for those of the input: numbers, tensors or None."""
        return windows.output_lengths(
            (rows, columns), self.kernel_size, self.padding, self.strides, self.dilation_rate
        )

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a cell like this one."""
        config = super().get_config()
        for key in ("units", "implementation"):
            del config[key]
        return config | {
            "filters": self.filters, "kernel_size": self.kernel_size, "strides": self.strides,
            "padding": self.padding, "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
        }  # fmt: skip


class ConvLSTM2D(RNN):
    """An LSTM over sequences of images: what ``LSTM`` multiplies, it convolves.

    Args:
      filters: number of channels of output and states.
      kernel_size: height and width of a window; an int for both.
      strides: distance of windows over the input; likewise.
      padding: "valid" or "same", of the input.
      data_format: "channels_last" ([batch, time, rows, columns, channels]) or "channels_first".
      dilation_rate: distance of elements in a window over the input.
      activation: of candidate and output; function or its name.
      recurrent_activation: of the gates.
      use_bias: whether there is a bias.
      kernel_initializer, recurrent_initializer, bias_initializer: of the weights.
      unit_forget_bias: whether the forget gate's bias is 1 at first.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: of the weights.
      activity_regularizer: function of the output whose result is a loss.
      kernel_constraint, recurrent_constraint, bias_constraint: of the weights.
      return_sequences: whether all outputs are returned, not the last alone.
      go_backwards: whether the last step comes first.
      stateful: whether a batch goes on where the last one ended; its shape must be known.
      dropout: which part of the input is dropped while training.
      recurrent_dropout: which part of the state is dropped while training.
      **kwargs: ``return_state``, whether the last states are returned as well; as of a layer.

    Raises:
      TypeError: ``unroll``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.ConvLSTM2D(4, 3, padding="same")
      ...     layer(tf.zeros([2, 5, 8, 8, 1])).shape.as_list()
      [2, 8, 8, 4]

    Source: Shi et al. 2015.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        data_format: Any = None,
        dilation_rate: Any = (1, 1),
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        given = locals()
        cell = ConvLSTM2DCell(**{name: given[name] for name in _OF_CELL}, dtype=kwargs.get("dtype"))
        if kwargs.get("unroll"):
            raise TypeError("Unrolling isn't possible with convolutional RNNs.")
        super().__init__(
            cell, return_sequences=return_sequences, go_backwards=go_backwards, stateful=stateful,
            **kwargs,
        )  # fmt: skip
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.input_spec = [InputSpec(ndim=5)]

    def __getattr__(self, name: str) -> Any:
        if name in _OF_CELL and "cell" in self.__dict__:
            return getattr(self.cell, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _image(self, dims: list[Any]) -> list[Any]:
        """The sizes of an output for those of inputs: rows and columns, and channels."""
        first = self.cell.channels_first
        rows, columns = dims[3:5] if first else dims[2:4]
        places, filters = self.cell.places(rows, columns), self.cell.filters
        return [filters, *places] if first else [*places, filters]

    def _state_shapes(self, inputs: Any) -> list[list[Any]]:
        dims = inputs.shape.as_list()
        return [[dims[0], *self._image(dims)] for _ in self.cell.state_size]

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """Zeros of the size of the outputs."""
        sizes = nodes.shape(inputs)
        dims = inputs.shape.as_list()
        known = [nodes.element(sizes, k) if dim is None else dim for k, dim in enumerate(dims)]
        made = fill.zeros([known[0], *self._image(known)], dtype=inputs.dtype)
        made.set_shape([dims[0], *self._image(dims)])
        return [made for _ in self.cell.state_size]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        dims = shapes.as_shape(input_shape).as_list()
        image = self._image(dims)
        around = dims[:2] if self.return_sequences else dims[:1]
        made = shapes.TensorShape([*around, *image])
        if not self.return_state:
            return made
        return [made, *(shapes.TensorShape([dims[0], *image]) for _ in self.cell.state_size)]

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        config = super().get_config()
        del config["cell"]
        own = self.cell.get_config()
        regularizer = regularizers.serialize(self.activity_regularizer)
        return config | {name: own[name] for name in _OF_CELL} | {
            "activity_regularizer": regularizer
        }  # fmt: skip
