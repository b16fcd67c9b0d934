"""Cells with an LSTM's state: coupled gates, NAS, phased, groups, independent units."""

from __future__ import annotations

import math
from typing import Any

from penstock.contrib.rnn.layer_norm import layer_norm as normalize
from penstock.contrib.rnn.linear import input_size, sharded
from penstock.foundation.base import dimension, dtypes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.tensor import Tensor
from penstock.library.recurrent.cell import (
    LayerRNNCell,
    LSTMStateTuple,
    PairOfUnits,
    RNNCell,
    input_depth,
)
from penstock.library.recurrent.linear import Linear
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import cast, join, nodes, shape, slicing, split, tile
from penstock.ops.control import control
from penstock.ops.linalg import matmul
from penstock.ops.math import (
    binary,
    clip,
    comparison,
    elementwise,
    select,
    sums,
)
from penstock.ops.math.remainder import floormod
from penstock.ops.nn import activation as activations, bias
from penstock.ops.random import random


class CoupledInputForgetGateLSTMCell(RNNCell):
    """LSTM whose input gate is one minus its forget gate (Greff et al., 2015).

    Args:
      num_units: size of the memory.
      use_peepholes: whether the gates see the memory.
      initializer: not used, as in TensorFlow 1.15.
      num_proj: size of the output after a projection.
      proj_clip: the projected output is clipped to [-proj_clip, proj_clip].
      num_unit_shards, num_proj_shards: into how many variables the weights are cut.
      forget_bias: added to the forget gate's.
      state_is_tuple: whether the state is an ``LSTMStateTuple``.
      activation: of new input and memory.
      reuse: whether the variables exist already.
      layer_norm: whether gates and memory are normalized.
      norm_gain, norm_shift: initial gain and shift.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = elementwise.tanh,
        reuse: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._num_proj, self._proj_clip = num_units, num_proj, proj_clip
        self._use_peepholes, self._activation = use_peepholes, activation
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift

    @property
    def state_size(self) -> Any:
        """Sizes of c and h; one number if the state is no tuple."""
        c, h = self._num_units, self.output_size
        return LSTMStateTuple(c, h) if self._state_is_tuple else c + h

    @property
    def output_size(self) -> Any:
        """Size of the projection, or the number of units."""
        return self._num_proj if self._num_proj else self._num_units

    def _normalized(self, value: Any, scope: str, dtype: Any) -> Any:
        if not self._layer_norm:
            return value
        return normalize(value, scope, self._gain, self._shift, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        units, sigmoid, dtype = self._num_units, elementwise.sigmoid, inputs.dtype
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            c_prev = slicing.slice_(state, [0, 0], [-1, units])
            m_prev = slicing.slice_(state, [0, units], [-1, self.output_size])
        rows = input_size(inputs) + self.output_size
        kernel = sharded("W", [rows, 3 * units], dtype, self._num_unit_shards)
        biases = get_variable(
            "B", shape=[3 * units], initializer=initializers.zeros_initializer(), dtype=dtype
        )
        gates = matmul.matmul(join.concat([inputs, m_prev], 1), kernel)
        if not self._layer_norm:
            gates = bias.bias_add(gates, biases)
        j, f, o = split.split(value=gates, num_or_size_splits=3, axis=1)
        j = self._normalized(j, "transform", dtype)
        f = self._normalized(f, "forget", dtype)
        o = self._normalized(o, "output", dtype)
        f_diag = out_diag = None
        if self._use_peepholes:
            f_diag = get_variable("W_F_diag", shape=[units], dtype=dtype)
            out_diag = get_variable("W_O_diag", shape=[units], dtype=dtype)
        f = f + self._forget_bias
        kept = sigmoid(f if f_diag is None else f + f_diag * c_prev)
        c = kept * c_prev + (1 - kept) * self._activation(j)
        c = self._normalized(c, "state", dtype)
        m = sigmoid(o if out_diag is None else o + out_diag * c) * self._activation(c)
        if self._num_proj is not None:
            wanted = [units, self._num_proj]
            m = matmul.matmul(m, sharded("W_P", wanted, dtype, self._num_proj_shards))
            if self._proj_clip is not None:
                m = clip.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else join.concat([c, m], 1)


# What NASCell does with each of its eight pairs of products: how it joins them, and then.
_NAS_FIRST = (
    ("add", "sigmoid"), ("add", "relu"), ("add", "sigmoid"), ("mul", "relu"),
    ("add", "tanh"), ("add", "sigmoid"), ("add", "tanh"), ("add", "sigmoid"),
)  # fmt: skip


class NASCell(LayerRNNCell):
    """The cell that architecture search found (Zoph and Le, 2016).

    Args:
      num_units: size of the memory.
      num_proj: size of the output after a projection.
      use_bias: whether the recurrent product has a bias.
      reuse: whether the variables exist already.
      **kwargs: as of a layer.
    """

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    @property
    def state_size(self) -> Any:
        """Sizes of c and h."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> Any:
        """Size of the projection, or the number of units."""
        return self._num_units if self._num_proj is None else self._num_proj

    def build(self, inputs_shape: Any) -> None:
        """Makes ``recurrent_kernel``, ``bias``, ``projection_weights`` and ``kernel``."""
        depth, units = input_depth(inputs_shape), self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self.output_size, 8 * units])
        self.kernel = self.add_variable("kernel", [depth, 8 * units])
        if self._use_bias:
            zeros = initializers.zeros_initializer(dtype=self.dtype)
            self.bias = self.add_variable("bias", shape=[8 * units], initializer=zeros)
        if self._num_proj is not None:
            self.projection_weights = self.add_variable(
                "projection_weights", [units, self._num_proj]
            )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        c_prev, m_prev = state
        functions = {
            "sigmoid": elementwise.sigmoid, "tanh": elementwise.tanh, "relu": activations.relu,
        }  # fmt: skip
        sigmoid, tanh = elementwise.sigmoid, elementwise.tanh
        memory = matmul.matmul(m_prev, self.recurrent_kernel)
        fresh = matmul.matmul(inputs, self.kernel)
        if self._use_bias:
            memory = bias.bias_add(memory, self.bias)
        ours = split.split(axis=1, num_or_size_splits=8, value=memory)
        theirs = split.split(axis=1, num_or_size_splits=8, value=fresh)
        a = []
        for (joined, function), own, new in zip(_NAS_FIRST, ours, theirs, strict=True):
            a.append(functions[function](new + own if joined == "add" else new * own))
        b = [tanh(a[0] * a[1]), tanh(a[2] + a[3]), tanh(a[4] * a[5]), sigmoid(a[6] + a[7])]
        b[0] = tanh(b[0] + c_prev)
        new_c = b[0] * b[1]
        new_m = tanh(new_c * tanh(b[2] + b[3]))
        if self._num_proj is not None:
            new_m = matmul.matmul(new_m, self.projection_weights)
        return new_m, LSTMStateTuple(new_c, new_m)


def _exponential(low: float, high: float) -> Any:
    """An initializer whose logarithm is uniform."""

    def draw(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        logs = random.random_uniform(shape, elementwise.log(low), elementwise.log(high), dtype)
        return elementwise.exp(logs)

    return draw


class PhasedLSTMCell(PairOfUnits, RNNCell):
    """LSTM with a time gate that opens once a period (Neil et al., 2016).

    The input is a pair: the times of the events, [batch, 1], and the features, [batch, size].

    Args:
      num_units: size of the output and of both parts of the state.
      use_peepholes: whether the gates see the memory.
      leak: how much passes a closed gate.
      ratio_on: part of the period in which the gate is open, at first.
      trainable_ratio_on: whether it is trained.
      period_init_min, period_init_max: range of the initial periods.
      reuse: whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._period = period_init_min, period_init_max
        self._linears: dict[str, Linear] = {}

    def _linear(self, scope: str, args: list[Any], size: int) -> Tensor:
        if scope not in self._linears:
            self._linears[scope] = Linear(args, size, True)
        return self._linears[scope](args)

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        sigmoid, tanh, units = elementwise.sigmoid, elementwise.tanh, self._num_units
        (c_prev, h_prev), (time, x) = state, inputs
        seen = [x, h_prev]
        with variable_scope("mask_gates"):
            args = [*seen, c_prev] if self._use_peepholes else seen
            gates = sigmoid(self._linear("mask_gates", args, 2 * units))
            i, f = split.split(axis=1, num_or_size_splits=2, value=gates)
        with variable_scope("new_input"):
            new_input = tanh(self._linear("new_input", seen, units))
        new_c = c_prev * f + i * new_input
        with variable_scope("output_gate"):
            args = [*seen, new_c] if self._use_peepholes else seen
            o = sigmoid(self._linear("output_gate", args, units))
        new_h = tanh(new_c) * o
        k = self._time_gate(time)
        new_c = k * new_c + (1 - k) * c_prev
        new_h = k * new_h + (1 - k) * h_prev
        return new_h, LSTMStateTuple(new_c, new_h)

    def _time_gate(self, time: Any) -> Any:
        units = [self._num_units]
        period = get_variable("period", units, initializer=_exponential(*self._period))
        start = initializers.random_uniform_initializer(0.0, period.initial_value)
        phase = get_variable("phase", units, initializer=start)
        ratio_on = get_variable(
            "ratio_on",
            units,
            initializer=initializers.constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        shifted = time - cast.cast(phase, time.dtype)
        length = cast.cast(period, time.dtype)
        # The remainder, whose gradient is that of the time itself.
        remainder = control.stop_gradient(floormod(shifted, length) - shifted) + shifted
        cycle = cast.cast(remainder / length, dtypes.float32)
        k_up = 2 * cycle / ratio_on
        k_down = 2 - k_up
        k_closed = self._leak * cycle
        k = select.where(comparison.less(cycle, ratio_on), k_down, k_closed)
        return select.where(comparison.less(cycle, 0.5 * ratio_on), k_up, k)


class GLSTMCell(RNNCell):
    """LSTM of groups of units, each with its part of the input (Kuchaiev and Ginsburg, 2017).

    Args:
      num_units: size of the memory.
      initializer: of the weights.
      num_proj: size of the output after a projection.
      number_of_groups: how many groups.
      forget_bias: added to the forget gate's.
      activation: of new input and memory.
      reuse: whether the variables exist already.

    Raises:
      ValueError: sizes that the number of groups does not divide.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Any = elementwise.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        for what, size in (("num_units", num_units), ("num_proj", num_proj)):
            if size is not None and size % number_of_groups:
                raise ValueError(f"{what} must be divisible by number_of_groups")
        self._num_units, self._num_proj, self._initializer = num_units, num_proj, initializer
        self._groups, self._forget_bias = number_of_groups, forget_bias
        self._activation = activation
        self._linears: dict[int, Linear] = {}
        self._projection: Linear | None = None

    @property
    def state_size(self) -> Any:
        """Sizes of c and h."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> Any:
        """Size of the projection, or the number of units."""
        return self._num_units if self._num_proj is None else self._num_proj

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        c_prev, m_prev = state
        batch = dimension.dimension_value(inputs.get_shape()[0])
        if batch is None:
            batch = nodes.element(shape.shape(inputs), 0)
        width = input_size(inputs)
        if width % self._groups:
            raise ValueError(
                "input size must be divisible by number_of_groups in GLSTMCell. Encountered:"
                f" {width}"
            )
        own, parts = self.output_size // self._groups, []
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            for group in range(self._groups):
                with variable_scope(f"group{group}"):
                    joined = join.concat(
                        [
                            _group(inputs, batch, group, width // self._groups),
                            _group(m_prev, batch, group, own),
                        ],
                        axis=1,
                    )
                    if group not in self._linears:
                        size = 4 * self._num_units // self._groups
                        self._linears[group] = Linear(joined, size, False)
                    parts.append(split.split(self._linears[group](joined), 4, 1))
            zeros = initializers.constant_initializer(0.0)
            biases = [
                get_variable(
                    f"bias_{gate}", [self._num_units], dtype=inputs.dtype, initializer=zeros
                )
                for gate in "ijfo"
            ]
            gates: list[Any] = [
                bias.bias_add(join.concat([part[gate] for part in parts], axis=1), biases[gate])
                for gate in range(4)
            ]
        i, j, f, o = gates
        sigmoid = elementwise.sigmoid
        c = sigmoid(f + self._forget_bias) * c_prev + sigmoid(i) * elementwise.tanh(j)
        m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                if self._projection is None:
                    self._projection = Linear(m, self._num_proj, False)
                m = self._projection(m)
        return m, LSTMStateTuple(c, m)


def _group(value: Any, batch: Any, group: int, size: int) -> Tensor:
    name = f"GLSTM_group{group}_input_generation"
    return slicing.slice_(value, [0, group * size], [batch, size], name=name)


class IndyLSTMCell(PairOfUnits, LayerRNNCell):
    """LSTM whose units see only themselves: its recurrent weights are diagonal (Gonnet, 2019).

    Args:
      num_units: size of the output and of both parts of the state.
      forget_bias: added to the forget gate's.
      activation: of new input and memory; default tanh.
      reuse: whether the variables exist already.
      kernel_initializer: of the input's weights.
      bias_initializer: of the bias; default zeros.
      name: name of the variable scope.
      dtype: element type; default that of the first input.
    """

    _input_rank = 2

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._activation = activation or elementwise.tanh
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, inputs_shape: Any) -> None:
        """Makes ``kernel_w`` [input, 4 units], ``kernel_u`` [1, 4 units] and ``bias``."""
        depth, width = input_depth(inputs_shape), 4 * self._num_units
        self._kernel_w = self.add_variable(
            "kernel_w", [depth, width], initializer=self._kernel_initializer
        )
        small = 1.0 / math.sqrt(self._num_units)
        self._kernel_u = self.add_variable(
            "kernel_u",
            [1, width],
            initializer=initializers.random_uniform_initializer(
                minval=-small, maxval=small, dtype=self.dtype
            ),
        )
        zeros = initializers.zeros_initializer(dtype=self.dtype)
        given = self._bias_initializer
        self._bias = self.add_variable(
            "bias", [width], initializer=zeros if given is None else given
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        add, multiply, sigmoid = sums.add, binary.multiply, elementwise.sigmoid
        one = constant(1, dtypes.int32)
        c, h = state
        gates = matmul.matmul(inputs, self._kernel_w)
        gates += tile.tile(h, [1, 4]) * self._kernel_u
        gates = bias.bias_add(gates, self._bias)
        i, j, f, o = split.split(value=gates, num_or_size_splits=4, axis=one)
        forget = constant(self._forget_bias, f.dtype)
        new_c = add(multiply(c, sigmoid(add(f, forget))), multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h)
