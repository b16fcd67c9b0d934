"""``BasicLSTMCell`` and ``LSTMCell``.

The gates are the columns of one product: input gate i, new input j, forget gate f, output gate o.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant
from penstock.library.recurrent.cell import (
    LayerRNNCell,
    LSTMStateTuple,
    SizedByUnits,
    activation,
    check_dtype,
    check_floating,
    input_depth,
)
from penstock.library.recurrent.layer import config_of
from penstock.library.variables import initializers, partition
from penstock.ops.array import join, slicing, split
from penstock.ops.linalg import matmul
from penstock.ops.math import binary, clip, elementwise, sums
from penstock.ops.nn import bias


class BasicLSTMCell(SizedByUnits, LayerRNNCell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997; Zaremba et al., 2014).

    ``c' = sigmoid(f + forget_bias) c + sigmoid(i) tanh(j)``, ``h' = tanh(c') sigmoid(o)``.

    Args:
      num_units: size of the output and of both parts of the state.
      forget_bias: added to the forget gate's.
      state_is_tuple: whether the state is an ``LSTMStateTuple``; else c and h side by side.
      activation: of new input and memory; default tanh.
      reuse: whether the variables exist already.
      name: name of the variable scope.
      dtype: element type; default that of the first input.
      **kwargs: ``trainable``.

    >>> with tf.Graph().as_default():
    ...     cell = tf.nn.rnn_cell.BasicLSTMCell(8)
    ...     output, state = cell(tf.zeros([4, 3]), cell.zero_state(4, tf.float32))
    >>> output.shape, state.c.shape, cell.trainable_variables[0].name
    (TensorShape([Dimension(4), Dimension(8)]), TensorShape([Dimension(4), Dimension(8)]), \
'basic_lstm_cell/kernel:0')
    """

    _input_rank = 2

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        check_dtype(dtype)
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = _activation(activation, elementwise.tanh)

    @property
    def state_size(self) -> Any:
        """Sizes of c and h; one number if the state is no tuple."""
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self._num_units)
        return 2 * self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Makes ``kernel`` [input + units, 4 units] and ``bias`` [4 units]."""
        depth, units = input_depth(inputs_shape), self._num_units
        check_dtype(self.dtype)
        self._kernel = self.add_variable("kernel", [depth + units, 4 * units])
        self._bias = self.add_variable(
            "bias", [4 * units], initializer=initializers.zeros_initializer(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        check_floating([inputs, state])
        add, multiply, sigmoid = sums.add, binary.multiply, elementwise.sigmoid
        one = constant(1, dtypes.int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = split.split(value=state, num_or_size_splits=2, axis=one)
        gates = bias.bias_add(matmul.matmul(join.concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = split.split(value=gates, num_or_size_splits=4, axis=one)
        forget = constant(self._forget_bias, f.dtype)
        new_c = add(multiply(c, sigmoid(add(f, forget))), multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, join.concat([new_c, new_h], 1)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a cell like this one."""
        return super().get_config() | {
            "num_units": self._num_units,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
            "activation": config_of(self._activation),
            "reuse": self._reuse,
        }


class LSTMCell(LayerRNNCell):
    """Long short-term memory with peepholes, clipping and a projection (Sak et al., 2014).

    Args:
      num_units: size of the memory.
      use_peepholes: whether the gates see the memory (diagonal weights).
      cell_clip: the memory is clipped to [-cell_clip, cell_clip].
      initializer: of the weights.
      num_proj: size of the output after a projection; None projects nothing.
      proj_clip: the projected output is clipped to [-proj_clip, proj_clip].
      num_unit_shards, num_proj_shards: into how many parts the weights are cut; a partitioner of
        the variable scope does the same.
      forget_bias: added to the forget gate's.
      state_is_tuple: whether the state is an ``LSTMStateTuple``; else c and h side by side.
      activation: of new input and memory; default tanh.
      reuse: whether the variables exist already.
      name: name of the variable scope.
      dtype: element type; default that of the first input.
      **kwargs: ``trainable``.

    Example:
      >>> import penstock as tf
      >>> cell = tf.nn.rnn_cell.LSTMCell(8, num_proj=4)
      >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), dtype=tf.float32)
      >>> outputs.shape.as_list(), state.c.shape.as_list(), state.h.shape.as_list()
      ([2, 5, 4], [2, 8], [2, 4])
    """

    _input_rank = 2

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        check_dtype(dtype)
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units, self._num_proj = num_units, num_proj
        self._use_peepholes, self._initializer = use_peepholes, initializer
        self._cell_clip, self._proj_clip = cell_clip, proj_clip
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._activation = _activation(activation, elementwise.tanh)

    @property
    def state_size(self) -> Any:
        """Sizes of c and h; one number if the state is no tuple."""
        c, h = self._num_units, self.output_size
        return LSTMStateTuple(c, h) if self._state_is_tuple else c + h

    @property
    def output_size(self) -> Any:
        """Size of the projection, or the number of units."""
        return self._num_proj if self._num_proj else self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Makes ``kernel``, ``bias``, the peepholes' diagonals and ``projection/kernel``."""
        depth, units = input_depth(inputs_shape), self._num_units
        check_dtype(self.dtype)
        self._kernel = self.add_variable(
            "kernel",
            [depth + self.output_size, 4 * units],
            initializer=self._initializer,
            partitioner=_sharded(self._num_unit_shards),
        )
        zeros = initializers.zeros_initializer
        biases = zeros if self.dtype is None else zeros(dtype=self.dtype)
        self._bias = self.add_variable("bias", [4 * units], initializer=biases)
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_variable(f"w_{gate}_diag", [units], initializer=self._initializer)
                for gate in "fio"
            )
        if self._num_proj is not None:
            self._proj_kernel = self.add_variable(
                "projection/kernel",
                [units, self._num_proj],
                initializer=self._initializer,
                partitioner=_sharded(self._num_proj_shards),
            )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        check_floating([inputs, state])
        sigmoid, size = elementwise.sigmoid, self.output_size
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            c_prev = slicing.slice_(state, [0, 0], [-1, self._num_units])
            m_prev = slicing.slice_(state, [0, self._num_units], [-1, size])
        input_depth(inputs.get_shape().with_rank(2))
        gates = matmul.matmul(join.concat([inputs, m_prev], 1), self._kernel)
        gates = bias.bias_add(gates, self._bias)
        i, j, f, o = split.split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            kept = sigmoid(f + self._forget_bias + self._w_f_diag * c_prev) * c_prev
            c = kept + sigmoid(i + self._w_i_diag * c_prev) * self._activation(j)
        else:
            c = sigmoid(f + self._forget_bias) * c_prev + sigmoid(i) * self._activation(j)
        c = _clipped(c, self._cell_clip)
        if self._use_peepholes:
            m = sigmoid(o + self._w_o_diag * c) * self._activation(c)
        else:
            m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            m = _clipped(matmul.matmul(m, self._proj_kernel), self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else join.concat([c, m], 1)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a cell like this one."""
        return super().get_config() | {
            "num_units": self._num_units,
            "use_peepholes": self._use_peepholes,
            "cell_clip": self._cell_clip,
            "initializer": self._initializer,
            "num_proj": self._num_proj,
            "proj_clip": self._proj_clip,
            "num_unit_shards": self._num_unit_shards,
            "num_proj_shards": self._num_proj_shards,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
            "activation": config_of(self._activation),
            "reuse": self._reuse,
        }


def _sharded(count: int | None) -> Any:
    return None if count is None else partition.fixed_size_partitioner(count)


def _clipped(value: Any, limit: float | None) -> Any:
    return value if limit is None else clip.clip_by_value(value, -limit, limit)


# The parameters named ``activation`` hide the function in the constructors.
_activation = activation
