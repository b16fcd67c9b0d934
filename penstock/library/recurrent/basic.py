"""``BasicRNNCell`` and ``GRUCell``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.tensor import Tensor
from penstock.library.recurrent.cell import (
    LayerRNNCell,
    SizedByUnits,
    activation,
    check_dtype,
    check_floating,
    input_depth,
)
from penstock.library.recurrent.layer import config_of
from penstock.library.variables import initializers
from penstock.ops.array import join, split
from penstock.ops.linalg import matmul
from penstock.ops.math import elementwise
from penstock.ops.nn import bias


class BasicRNNCell(SizedByUnits, LayerRNNCell):
    """The basic cell: ``output = new_state = activation(W [input, state] + b)``.

    Args:
      num_units: size of output and state.
      activation: function, or its name; default tanh.
      reuse: whether the variables exist already.
      name: name of the variable scope.
      dtype: element type; default that of the first input.
      **kwargs: ``trainable``.
    """

    _input_rank = 2

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        check_dtype(dtype)
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units = num_units
        self._activation = _activation(activation, elementwise.tanh)

    def build(self, inputs_shape: Any) -> None:
        """Makes ``kernel`` [input + units, units] and ``bias`` [units]."""
        depth = input_depth(inputs_shape)
        check_dtype(self.dtype)
        self._kernel = self.add_variable("kernel", [depth + self._num_units, self._num_units])
        self._bias = self.add_variable(
            "bias", [self._num_units], initializer=initializers.zeros_initializer(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        """One step."""
        check_floating([inputs, state])
        gates = matmul.matmul(join.concat([inputs, state], 1), self._kernel)
        output = self._activation(bias.bias_add(gates, self._bias))
        return output, output

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a cell like this one."""
        return super().get_config() | {
            "num_units": self._num_units,
            "activation": config_of(self._activation),
            "reuse": self._reuse,
        }


class GRUCell(SizedByUnits, LayerRNNCell):
    """Gated recurrent unit (Cho et al., 2014): ``h' = u h + (1 - u) tanh(W [x, r h] + b)``.

    Args:
      num_units: size of output and state.
      activation: of the candidate; default tanh.
      reuse: whether the variables exist already.
      kernel_initializer: of both kernels.
      bias_initializer: of both biases; default ones for the gates and zeros for the candidate.
      name: name of the variable scope.
      dtype: element type; default that of the first input.
      **kwargs: ``trainable``.

    Example:
      >>> import penstock as tf
      >>> cell = tf.nn.rnn_cell.GRUCell(8)
      >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), dtype=tf.float32)
      >>> outputs.shape.as_list(), state.shape.as_list()
      ([2, 5, 8], [2, 8])
    """

    _input_rank = 2

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        check_dtype(dtype)
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units = num_units
        self._activation = _activation(activation, elementwise.tanh)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, inputs_shape: Any) -> None:
        """Makes kernels [input + units, ...] and biases of ``gates`` and ``candidate``."""
        depth = input_depth(inputs_shape)
        check_dtype(self.dtype)
        rows, units, given = depth + self._num_units, self._num_units, self._bias_initializer
        ones = initializers.constant_initializer(1.0, dtype=self.dtype)
        zeros = initializers.zeros_initializer(dtype=self.dtype)
        self._gate_kernel = self.add_variable(
            "gates/kernel", [rows, 2 * units], initializer=self._kernel_initializer
        )
        self._gate_bias = self.add_variable(
            "gates/bias", [2 * units], initializer=ones if given is None else given
        )
        self._candidate_kernel = self.add_variable(
            "candidate/kernel", [rows, units], initializer=self._kernel_initializer
        )
        self._candidate_bias = self.add_variable(
            "candidate/bias", [units], initializer=zeros if given is None else given
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        """One step."""
        check_floating([inputs, state])
        gates = matmul.matmul(join.concat([inputs, state], 1), self._gate_kernel)
        gates = elementwise.sigmoid(bias.bias_add(gates, self._gate_bias))
        r, u = split.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = matmul.matmul(join.concat([inputs, r * state], 1), self._candidate_kernel)
        c = self._activation(bias.bias_add(candidate, self._candidate_bias))
        new = u * state + (1 - u) * c
        return new, new

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a cell like this one."""
        return super().get_config() | {
            "num_units": self._num_units,
            "kernel_initializer": self._kernel_initializer,
            "bias_initializer": self._bias_initializer,
            "activation": config_of(self._activation),
            "reuse": self._reuse,
        }


# The parameters named ``activation`` hide the function in the constructors.
_activation = activation
