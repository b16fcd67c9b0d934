"""Cells whose state is one tensor: update gate, intersection, simple, independent units."""

from __future__ import annotations

import math
from typing import Any

from penstock.contrib.rnn.linear import input_size
from penstock.library.recurrent.cell import LayerRNNCell, RNNCell, SizedByUnits, input_depth
from penstock.library.recurrent.linear import Linear
from penstock.library.variables import initializers
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join, split, tile
from penstock.ops.linalg import matmul
from penstock.ops.math import elementwise
from penstock.ops.nn import activation as activations, bias


class UGRNNCell(SizedByUnits, RNNCell):
    """Update gate recurrent unit (Collins et al., 2016): ``h' = g h + (1 - g) c``.

    Args:
      num_units: size of output and state.
      initializer: of the weights.
      forget_bias: added to the gate's.
      activation: of the candidate.
      reuse: whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Any = elementwise.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias, self._activation = forget_bias, activation
        self._linear: Linear | None = None

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        input_size(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            joined = join.concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 2 * self._num_units, True)
            gate, candidate = split.split(axis=1, num_or_size_splits=2, value=self._linear(joined))
            c = self._activation(candidate)
            g = elementwise.sigmoid(gate + self._forget_bias)
            new = g * state + (1.0 - g) * c
        return new, new


class IntersectionRNNCell(SizedByUnits, RNNCell):
    """Intersection RNN with +-gates (Collins et al., 2016); its output adds to its input.

    Args:
      num_units: size of output and state.
      num_in_proj: if given, an input of another size is projected to ``num_units``.
      initializer: of the weights.
      forget_bias: added to the gates'.
      y_activation: of the output's candidate.
      reuse: whether the variables exist already.

    Raises:
      ValueError: the input's size is not ``num_units``, and nothing projects it (when called).
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Any = activations.relu,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._num_in_proj, self._initializer = num_units, num_in_proj, initializer
        self._forget_bias, self._y_activation = forget_bias, y_activation
        self._projection: Linear | None = None
        self._linear: Linear | None = None

    def _projected(self, inputs: Any) -> Any:
        if input_size(inputs) == self._num_units:
            return inputs
        if not self._num_in_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, num_in_proj"
                " should be set to num_units at cell init."
            )
        with variable_scope("in_projection"):
            if self._projection is None:
                self._projection = Linear(inputs, self._num_units, True)
            return self._projection(inputs)

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        n, sigmoid = self._num_units, elementwise.sigmoid
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            inputs = self._projected(inputs)
            joined = join.concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 4 * n, True)
            product: Any = self._linear(joined)
            gate_h, h, gate_y, y = (product[:, (i * n or None) : (i + 1) * n] for i in range(4))
            h, y = elementwise.tanh(h), self._y_activation(y)
            gh, gy = sigmoid(gate_h + self._forget_bias), sigmoid(gate_y + self._forget_bias)
            new_state = gh * state + (1.0 - gh) * h
            output = gy * inputs + (1.0 - gy) * y
        return output, new_state


class SRUCell(SizedByUnits, LayerRNNCell):
    """Simple recurrent unit (Lei et al., 2017), whose gates do not see the state.

    Args:
      num_units: size of output and state.
      activation: of the state; default tanh.
      reuse: whether the variables exist already.
      name: name of the variable scope.
      **kwargs: as of a layer.
    """

    _input_rank = 2

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units, self._activation = num_units, activation or elementwise.tanh

    def build(self, inputs_shape: Any) -> None:
        """Makes ``kernel`` [input, 4 units] and ``bias`` [2 units]."""
        depth, units = input_depth(inputs_shape), self._num_units
        self._kernel = self.add_variable("kernel", [depth, 4 * units])
        zeros = initializers.zeros_initializer(dtype=self.dtype)
        self._bias = self.add_variable("bias", [2 * units], initializer=zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        product = matmul.matmul(inputs, self._kernel)
        x_bar, f, r, x = split.split(value=product, num_or_size_splits=4, axis=1)
        gates = elementwise.sigmoid(bias.bias_add(join.concat([f, r], 1), self._bias))
        f, r = split.split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * x_bar
        h = r * self._activation(c) + (1.0 - r) * x
        return h, c


def _small(units: int, dtype: Any) -> Any:
    """The initializer of diagonal recurrent weights."""
    bound = 1.0 / math.sqrt(units)
    return initializers.random_uniform_initializer(minval=-bound, maxval=bound, dtype=dtype)


class IndRNNCell(SizedByUnits, LayerRNNCell):
    """Basic cell whose units see only themselves (Li et al., 2018).

    Args:
      num_units: size of output and state.
      activation: function; default tanh.
      reuse: whether the variables exist already.
      name: name of the variable scope.
      dtype: element type; default that of the first input.
    """

    _input_rank = 2

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._activation = num_units, activation or elementwise.tanh

    def build(self, inputs_shape: Any) -> None:
        """Makes ``kernel_w`` [input, units], ``kernel_u`` [1, units] and ``bias``."""
        depth, units = input_depth(inputs_shape), self._num_units
        self._kernel_w = self.add_variable("kernel_w", [depth, units])
        self._kernel_u = self.add_variable(
            "kernel_u", [1, units],
            initializer=initializers.random_uniform_initializer(
                minval=-1, maxval=1, dtype=self.dtype
            ),
        )  # fmt: skip
        zeros = initializers.zeros_initializer(dtype=self.dtype)
        self._bias = self.add_variable("bias", [units], initializer=zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        gates = matmul.matmul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(bias.bias_add(gates, self._bias))
        return output, output


class IndyGRUCell(SizedByUnits, LayerRNNCell):
    """GRU whose units see only themselves: its recurrent weights are diagonal.

    Args:
      num_units: size of output and state.
      activation: of the candidate; default tanh.
      reuse: whether the variables exist already.
      kernel_initializer: of the input's weights.
      bias_initializer: of both biases; default ones for the gates and zeros for the candidate.
      name: name of the variable scope.
      dtype: element type; default that of the first input.
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
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._activation = num_units, activation or elementwise.tanh
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, inputs_shape: Any) -> None:
        """Makes kernels, diagonal kernels and biases of ``gates`` and ``candidate``."""
        depth, units, given = input_depth(inputs_shape), self._num_units, self._bias_initializer
        ones = initializers.constant_initializer(1.0, dtype=self.dtype)
        zeros = initializers.zeros_initializer(dtype=self.dtype)
        self._gate_kernel_w = self.add_variable(
            "gates/kernel_w", [depth, 2 * units], initializer=self._kernel_initializer
        )
        self._gate_kernel_u = self.add_variable(
            "gates/kernel_u", [1, 2 * units], initializer=_small(units, self.dtype)
        )
        self._gate_bias = self.add_variable(
            "gates/bias", [2 * units], initializer=ones if given is None else given
        )
        self._candidate_kernel_w = self.add_variable(
            "candidate/kernel", [depth, units], initializer=self._kernel_initializer
        )
        self._candidate_kernel_u = self.add_variable(
            "candidate/kernel_u", [1, units], initializer=_small(units, self.dtype)
        )
        self._candidate_bias = self.add_variable(
            "candidate/bias", [units], initializer=zeros if given is None else given
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        gates = matmul.matmul(inputs, self._gate_kernel_w)
        gates += tile.tile(state, [1, 2]) * self._gate_kernel_u
        gates = elementwise.sigmoid(bias.bias_add(gates, self._gate_bias))
        r, u = split.split(value=gates, num_or_size_splits=2, axis=1)
        reset = r * state
        candidate = matmul.matmul(inputs, self._candidate_kernel_w)
        candidate += reset * self._candidate_kernel_u
        c = self._activation(bias.bias_add(candidate, self._candidate_bias))
        new = u * state + (1 - u) * c
        return new, new
