"""Cells made of one op a step, and an LSTM of one op for all steps."""

from __future__ import annotations

import abc
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.layer_base.input_spec import InputSpec, check_inputs
from penstock.library.layer_base.scoped import Layer
from penstock.library.recurrent.cell import (
    LayerRNNCell,
    LSTMStateTuple,
    PairOfUnits,
    SizedByUnits,
    input_depth,
)
from penstock.library.variables import initializers
from penstock.ops.array import (
    cast,
    fill,
    gather,
    join,
    nodes,
    onehot,
    ranges,
    reshape,
    shape,
    split,
    tile,
    transpose,
)
from penstock.ops.math import reductions


class _LSTMWeights:
    """The variables of an LSTM of blocks: ``kernel``, ``bias`` and peepholes."""

    def __init__(self, layer: Layer, depth: int, units: int, use_peephole: bool) -> None:
        self._units = units
        self.kernel = layer.add_variable("kernel", [depth + units, 4 * units])
        zeros = initializers.constant_initializer(0.0)
        self.bias = layer.add_variable("bias", [4 * units], initializer=zeros)
        self._diagonals: list[Any] = []
        if use_peephole:
            self._diagonals = [layer.add_variable(f"w_{gate}_diag", [units]) for gate in "ifo"]

    def diagonals(self, dtype: Any) -> list[Any]:
        """The peepholes wci, wcf, wco; zeros where there are none."""
        return self._diagonals or [fill.zeros([self._units], dtype=dtype)] * 3


class LSTMBlockCell(PairOfUnits, LayerRNNCell):
    """An LSTM cell of one op, ``LSTMBlockCell``; the same function as ``LSTMCell``.

    Args:
      num_units: size of the output and of both parts of the state.
      forget_bias: added to the forget gate's.
      cell_clip: the memory is clipped to [-cell_clip, cell_clip]; None clips nothing.
      use_peephole: whether the gates see the memory.
      dtype: element type; default that of the first input.
      reuse: whether the variables exist already.
      name: name of the variable scope.
    """

    _input_rank = 2

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: Any = "lstm_cell",
    ) -> None:
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        depth = input_depth(inputs_shape)
        self._weights = _LSTMWeights(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        weights = self._weights
        diagonals = weights.diagonals(dtypes.float32)
        found = make(
            "LSTMBlockCell", inputs, *state, weights.kernel, *diagonals, weights.bias,
            forget_bias=self._forget_bias, cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )  # fmt: skip
        return found.h, LSTMStateTuple(found.cs, found.h)


class LSTMBlockWrapper(Layer, abc.ABC):
    """What runs an LSTM over all steps at once; subclasses give ``_call_cell``.

    Args:
      trainable, name, dtype: as of a layer.
    """

    @property
    @abc.abstractmethod
    def num_units(self) -> int:
        """Size of the output."""

    @abc.abstractmethod
    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any,
        sequence_length: Any,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Memories and outputs of all steps, [time, batch, units]."""

    # What the tensor of all steps must be.
    _steps_spec: InputSpec | None = None

    def _maybe_build(self, inputs: Any) -> None:
        # A list is as good as the tensor of its steps.
        steps = join.stack(inputs) if isinstance(inputs, list) else inputs
        check_inputs(self._steps_spec, steps, self.name)
        super()._maybe_build(steps)

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """Runs over all steps.

        Args:
          inputs: [time, batch, size], or a list of [batch, size].
          initial_state: a pair (c, h); default zeros, which need ``dtype``.
          dtype: element type.
          sequence_length: int vector [batch]; outputs past an example's are zero.

        Returns:
          The outputs, in the form of the inputs, and the last state of each example.

        Raises:
          ValueError: neither a state nor a type; an input of unknown size.
        """
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = join.stack(inputs)
        steps, batch, depth = inputs.get_shape().with_rank(3).as_list()
        if not depth:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {inputs.get_shape()}")
        if batch is None:
            batch = nodes.element(shape.shape(inputs), 1)
        if steps is None:
            steps = nodes.element(shape.shape(inputs), 0)
        cell, output, dtype = self._initial(initial_state, batch, dtype)
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
        cells, outputs = self._call_cell(inputs, cell, output, dtype, sequence_length)
        if sequence_length is None:
            last = LSTMStateTuple(cells[-1], outputs[-1])
        else:
            mask = transpose.transpose(
                onehot.sequence_mask(sequence_length, steps, dtype=dtype), [1, 0]
            )
            outputs *= tile.tile(reshape.expand_dims(mask, [-1]), [1, 1, self.num_units])
            # The initial state first, so that a sequence of length 0 finds it.
            cells = join.concat([reshape.expand_dims(cell, [0]), cells], 0)
            shifted = join.concat([reshape.expand_dims(output, [0]), outputs], 0)
            last = LSTMStateTuple(
                _at(cells, sequence_length, batch), _at(shifted, sequence_length, batch)
            )
        return split.unstack(outputs) if is_list else outputs, last

    def _initial(self, state: Any, batch: Any, dtype: Any) -> tuple[Any, Any, Any]:
        if state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zeros = fill.zeros(join.stack([batch, self.num_units]), dtype=dtype)
            return zeros, zeros, dtype
        if len(state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        return state[0], state[1], state[0].dtype if dtype is None else dtype


def _at(data: Any, indices: Any, batch: Any) -> Any:
    """``out[j] = data[indices[j], j]``."""
    return gather.gather_nd(data, join.stack([indices, ranges.range_(batch)], axis=1))


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM over all steps of one op, ``BlockLSTM``.

    Args:
      num_units: size of the output and of both parts of the state.
      forget_bias: added to the forget gate's.
      cell_clip: the memory is clipped to [-cell_clip, cell_clip]; None clips nothing.
      use_peephole: whether the gates see the memory.
      reuse: whether the variables exist already.
      dtype: element type; default that of the inputs.
      name: name of the variable scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: Any = "lstm_fused_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self._steps_spec = InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        """The number of units."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Makes the variables."""
        depth = input_depth(input_shape)
        self._weights = _LSTMWeights(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any,
        sequence_length: Any,
    ) -> tuple[Any, Any]:  # fmt: skip
        steps = inputs.get_shape().as_list()[0]
        if steps is None:
            steps = nodes.element(shape.shape(inputs), 0)
        weights = self._weights
        diagonals = weights.diagonals(dtype)
        longest = steps if sequence_length is None else reductions.reduce_max(sequence_length)
        found = make(
            "BlockLSTM", cast.cast(longest, dtypes.int64), inputs, initial_cell_state,
            initial_output, weights.kernel, *diagonals, weights.bias,
            forget_bias=self._forget_bias, cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )  # fmt: skip
        return found.cs, found.h


class GRUBlockCell(SizedByUnits, LayerRNNCell):
    """A GRU cell of one op, ``GRUBlockCell``; the same function as ``GRUCell``.

    Args:
      num_units: size of output and state.
      cell_size: older name of ``num_units``.
      reuse: whether the variables exist already.
      name: name of the variable scope.

    Raises:
      ValueError: neither or both of the sizes are given.
    """

    _input_rank = 2
    # Names of the two kernels, each with that of its bias.
    _variable_names = (("w_ru", "b_ru"), ("w_c", "b_c"))

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: Any = None,
        name: Any = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        if (num_units is None) == (cell_size is None):
            raise ValueError(
                "exactly one of num_units and cell_size, its older name, must be given"
            )
        self._num_units: int = num_units or cell_size or 0

    def build(self, input_shape: Any) -> None:
        """Makes the kernels and biases of gates and candidate."""
        depth, units = input_depth(input_shape), self._num_units
        self._variables = []
        rows = zip(self._variable_names, (2, 1), (1.0, 0.0), strict=True)
        for (kernel, bias), size, start in rows:
            initial = initializers.constant_initializer(start)
            self._variables += [
                self.add_variable(kernel, [depth + units, size * units]),
                self.add_variable(bias, [size * units], initializer=initial),
            ]
        self.built = True

    def call(self, inputs: Any, h_prev: Any) -> Any:
        """One step."""
        w_ru, b_ru, w_c, b_c = self._variables
        new = make("GRUBlockCell", inputs, h_prev, w_ru, w_c, b_ru, b_c).h
        return new, new


class GRUBlockCellV2(GRUBlockCell):
    """``GRUBlockCell`` whose variables are called as those of ``GRUCell``.

    Args:
      num_units, cell_size, reuse, name: as of ``GRUBlockCell``.
    """

    _variable_names = (("gates/kernel", "gates/bias"), ("candidate/kernel", "candidate/bias"))
