"""Locally connected layers: convolutions whose weights differ from place to place.

``implementation`` says how the weights lie, and so how the output is computed: 1 keeps the weights
of each place side by side, 2 the whole matrix from inputs to outputs with a mask over it, 3 the
entries of that matrix that are not masked.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.keras.layers import windows
from penstock.library.keras.layers.dense import set_weight_arguments, weight_config
from penstock.library.layer_base import activations, regularizers
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import gather, reshape, transpose
from penstock.ops.linalg import matmul
from penstock.ops.sparse import sparse_functions

_WEIGHTS = ("kernel", "bias")


class _LocallyConnected(Layer):
    """What both layers share; subclasses say how many spatial dims there are.

    Args:
      filters: number of output channels.
      kernel_size: size of a window; an int, or one for each dim.
      strides: distance of windows; likewise.
      padding: "valid", or of implementations 2 and 3 "same".
      data_format: "channels_last" or "channels_first".
      activation: function or its name; None is none.
      use_bias: whether to add a bias, which differs from place to place, too.
      kernel_initializer, bias_initializer: of the weights.
      kernel_regularizer, bias_regularizer: functions of the weights whose results are losses.
      activity_regularizer: likewise of the output.
      kernel_constraint, bias_constraint: applied to the weights after each update.
      implementation: 1, 2 or 3; see the module.
      **kwargs: as of a layer.

    Raises:
      ValueError: another padding than "valid" with implementation 1.
    """

    _rank = 1
    kernel_shape: tuple[int, ...]

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
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
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.filters = filters
        self.kernel_size = windows.sizes(kernel_size, self._rank, "kernel_size")
        self.strides = windows.sizes(strides, self._rank, "strides")
        self.padding = windows.padding(padding)
        if self.padding != "valid" and implementation == 1:
            raise ValueError(
                f"Invalid border mode for {type(self).__name__} (only"
                f' "valid" is supported if implementation is 1): {padding}'
            )
        self.data_format = windows.data_format(data_format)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        set_weight_arguments(self, _WEIGHTS, {
            "kernel_initializer": kernel_initializer, "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer, "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint, "bias_constraint": bias_constraint,
        })  # fmt: skip
        self.implementation = implementation
        self.input_spec = InputSpec(ndim=self._rank + 2)

    @property
    def _first(self) -> bool:
        return self.data_format == "channels_first"

    def _refuse_open(self, spatial: list[Any], channels: Any, shape: Any) -> None:
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel``, whose shape is that of the implementation, and ``bias``.

        Raises:
          ValueError: sizes of the input that are not known; another implementation.
          NotImplementedError: a padding that no locally connected layer has.
        """
        dims: list[Any] = shapes.as_shape(input_shape).as_list()
        spatial, channels = (dims[2:], dims[1]) if self._first else (dims[1:-1], dims[-1])
        self._refuse_open(spatial, channels, tuple(dims))
        made = self._places(spatial)
        if min(made) < 1:
            raise ValueError(
                f"windows of kernel_size={self.kernel_size} do not fit into an input of"
                f" {tuple(spatial)}: the output would have the sizes {tuple(made)}"
            )
        if self.implementation not in (1, 2, 3):
            raise ValueError(f"Unrecognized implementation mode: {self.implementation}.")
        if self.padding not in ("valid", "same"):
            raise NotImplementedError(
                f'Padding type {self.padding} not supported. Only "valid" and "same" are'
                " implemented."
            )
        reach = _reach(spatial, made, self.kernel_size, self.strides, self.padding)
        shape = self._prepared(reach, spatial, channels, made)
        self.kernel = self._add("kernel", shape)
        self.bias = self._add("bias", (*made, self.filters)) if self.use_bias else None
        axis = 1 if self._first else -1
        self.input_spec = InputSpec(ndim=self._rank + 2, axes={axis: channels})
        self.built = True

    def _add(self, name: str, shape: Any) -> Any:
        return self.add_weight(
            shape=shape, initializer=getattr(self, f"{name}_initializer"), name=name,
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
        )  # fmt: skip

    def _places(self, spatial: list[Any]) -> list[Any]:
        """How many windows there are along each dim."""
        return windows.output_lengths(spatial, self.kernel_size, self.padding, self.strides)

    def _prepared(
        self, reach: np.ndarray[Any, Any], spatial: list[int], channels: int, made: list[int]
    ) -> tuple[int, ...]:
        """The shape of the kernel; sets what ``call`` needs besides it."""
        inputs, outputs = math.prod(spatial), math.prod(made)
        if self.implementation == 1:
            self._rows = _flat(reach[..., None], np.arange(channels), inputs, channels, self._first)
            if self._first:
                self._rows = np.swapaxes(self._rows, 1, 2)
            self._rows = self._rows.reshape(-1)
            self.kernel_shape = (outputs, math.prod(self.kernel_size) * channels, self.filters)
            return self.kernel_shape
        place, within = np.nonzero(reach >= 0)
        at = reach[place, within]
        if self.implementation == 2:
            mask = np.zeros((inputs, outputs), np.float32)
            mask[at, place] = 1
            sides = [[1, *spatial], [1, *made]] if self._first else [[*spatial, 1], [*made, 1]]
            self.kernel_mask = mask.reshape(sum(sides, []))
            whole = [[channels, *spatial], [self.filters, *made]]
            if not self._first:
                whole = [[*spatial, channels], [*made, self.filters]]
            self.kernel_shape = tuple(sum(whole, []))
            return self.kernel_shape
        self.kernel_shape = (outputs * self.filters, inputs * channels)
        rows = _flat(place[:, None, None], np.arange(self.filters)[:, None], outputs,
                     self.filters, self._first)  # fmt: skip
        columns = _flat(at[:, None, None], np.arange(channels), inputs, channels, self._first)
        pairs = np.broadcast_arrays(rows, columns)
        rows, columns = (one.reshape(-1) for one in pairs)
        order = np.lexsort((columns, rows))
        self.kernel_idxs = np.stack([rows[order], columns[order]], 1).astype(np.int64)
        return (len(order),)

    def call(self, inputs: Any) -> Any:
        """The output of each place."""
        outputs = (self._by_place, self._masked, self._sparse)[self.implementation - 1](inputs)
        if self.bias is not None:
            shape = [1, *self.bias.shape.as_list()]
            if self._first:
                # The bias is read in another order, its dims are not exchanged: so does TensorFlow.
                shape = [1, shape[-1], *shape[1:-1]]
            outputs = outputs + reshape.reshape(self.bias, shape)
        return outputs if self.activation is None else self.activation(outputs)

    def _by_place(self, inputs: Any) -> Any:
        places, values, filters = self.kernel_shape
        rows = gather.gather(transpose.transpose(_flattened(inputs), [1, 0]), self._rows)
        rows = reshape.reshape(rows, [places, values, -1])
        found = matmul.matmul(rows, self.kernel, transpose_a=True)  # [places, batch, filters]
        found = transpose.transpose(found, [1, 2, 0] if self._first else [1, 0, 2])
        return self._shaped(found, inputs)

    def _masked(self, inputs: Any) -> Any:
        half = self._rank + 1
        size = math.prod(self.kernel_shape[:half])
        mask = constant(self.kernel_mask, dtypes.as_dtype(self.kernel.dtype).base_dtype)
        kernel = reshape.reshape(mask * self.kernel, [size, math.prod(self.kernel_shape[half:])])
        return self._shaped(matmul.matmul(_flattened(inputs), kernel), inputs)

    def _sparse(self, inputs: Any) -> Any:
        matrix = SparseTensor(
            constant(self.kernel_idxs), convert_to_tensor(self.kernel),
            constant(np.array(self.kernel_shape, np.int64)),
        )  # fmt: skip
        found = sparse_functions.sparse_tensor_dense_matmul(
            matrix, _flattened(inputs), adjoint_b=True
        )
        return self._shaped(transpose.transpose(found, [1, 0]), inputs)

    def _shaped(self, outputs: Any, inputs: Any) -> Any:
        dims = self.compute_output_shape(inputs.shape).as_list()
        return reshape.reshape(outputs, [-1, *dims[1:]])

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        dims = shapes.as_shape(input_shape).as_list()
        made = self._places(dims[2:] if self._first else dims[1:-1])
        return windows.with_channels(self.data_format, dims[0], made, self.filters)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "filters": self.filters, "kernel_size": self.kernel_size, "strides": self.strides,
            "padding": self.padding, "data_format": self.data_format,
            "activation": activations.serialize(self.activation), "use_bias": self.use_bias,
            **weight_config(self, _WEIGHTS),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "implementation": self.implementation,
        }  # fmt: skip


def _reach(
    spatial: list[int], made: list[int], sizes: Any, strides: Any, padding: str
) -> np.ndarray[Any, Any]:
    """Of each place the inputs in its window as flat positions, -1 outside: [places, window]."""
    rank = len(spatial)
    flat: Any = 0
    inside: Any = True
    for axis, (length, count, size) in enumerate(zip(spatial, made, sizes, strict=True)):
        start = np.arange(count) * strides[axis] - (size // 2 if padding == "same" else 0)
        spread = [1] * (2 * rank)
        spread[axis], spread[rank + axis] = count, size
        along = (start[:, None] + np.arange(size)).reshape(spread)
        flat = flat * length + along
        inside = inside & (along >= 0) & (along < length)
    return np.asarray(np.where(inside, flat, -1)).reshape(math.prod(made), math.prod(sizes))


def _flat(
    places: np.ndarray[Any, Any], channel: np.ndarray[Any, Any], size: int, channels: int,
    first: bool,
) -> np.ndarray[Any, Any]:  # fmt: skip
    """Positions of channels of places among all values, in a format."""
    return np.asarray(channel * size + places if first else places * channels + channel)


def _flattened(inputs: Any) -> Any:
    return reshape.reshape(inputs, [-1, math.prod(inputs.shape.as_list()[1:])])


class LocallyConnected1D(_LocallyConnected):
    """``Conv1D`` with weights of its own for each window of a sequence.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.LocallyConnected1D(4, 3)
      ...     layer(tf.zeros([2, 6, 5])).shape.as_list(), layer.kernel.shape.as_list()
      ([2, 4, 4], [4, 15, 4])
    """

    output_length: int | None

    def _refuse_open(self, spatial: list[Any], channels: Any, shape: Any) -> None:
        if channels is None or spatial[0] is None:
            raise ValueError("Axis 2 of input should be fully-defined. Found shape:", shape)
        self.output_length = self._places(spatial)[0]


class LocallyConnected2D(_LocallyConnected):
    """``Conv2D`` with weights of its own for each window of an image.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.LocallyConnected2D(4, 3, implementation=3)
      ...     layer(tf.zeros([2, 6, 6, 2])).shape.as_list(), layer.kernel.shape.as_list()
      ([2, 4, 4, 4], [1152])
    """

    _rank = 2
    output_row: int
    output_col: int

    def _refuse_open(self, spatial: list[Any], channels: Any, shape: Any) -> None:
        if None in (*spatial, channels):
            raise ValueError(
                "The spatial dimensions of the inputs to  a LocallyConnected2D layer should be"
                f" fully-defined, but layer received the inputs shape {shape}"
            )
        self.output_row, self.output_col = self._places(spatial)
