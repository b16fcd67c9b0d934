"""LSTM cells whose kernel is under a mask."""

from __future__ import annotations

from typing import Any

from penstock.contrib.model_pruning.masks import MASKED_WEIGHT_NAME, collect
from penstock.library.layer_base.scoped import Layer
from penstock.library.ragged_tensors.dispatched import multiply
from penstock.library.recurrent.cell import input_depth
from penstock.library.recurrent.lstm import BasicLSTMCell, LSTMCell
from penstock.library.variables.initializers import ones_initializer, zeros_initializer


def _masked(cell: Layer, kernel: Any, shape: list[int]) -> Any:
    cell.built = False  # there are variables to come
    mask = cell.add_variable("mask", shape, initializer=ones_initializer(), trainable=False)
    threshold = cell.add_variable("threshold", [], initializer=zeros_initializer(), trainable=False)
    masked = multiply(mask, kernel, MASKED_WEIGHT_NAME)
    collect(mask, threshold, masked, kernel)
    cell.built = True
    return masked


class MaskedBasicLSTMCell(BasicLSTMCell):
    """``BasicLSTMCell`` whose kernel is under a mask.

    Args:
      num_units: size of the output and of both parts of the state.
      forget_bias: added to the forget gate's.
      state_is_tuple: whether the state is an ``LSTMStateTuple``; else c and h side by side.
      activation: of new input and memory; default tanh.
      reuse: whether the variables exist already.
      name: name of the variable scope.
    """

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True,
        activation: Any = None, reuse: Any = None, name: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel and bias, and the kernel's mask and threshold."""
        super().build(inputs_shape)
        shape = [input_depth(inputs_shape) + self._num_units, 4 * self._num_units]
        self._kernel = _masked(self, self._kernel, shape)


class MaskedLSTMCell(LSTMCell):
    """``LSTMCell`` whose kernel is under a mask.

    Args:
      num_units: size of the memory.
      use_peepholes: whether the gates see the memory (diagonal weights).
      cell_clip: the memory is clipped to [-cell_clip, cell_clip].
      initializer: of the weights.
      num_proj: size of the output after a projection, which must be ``num_units``: the mask has
        the shape of a kernel without one.
      proj_clip: the projected output is clipped to [-proj_clip, proj_clip].
      num_unit_shards, num_proj_shards: into how many parts the weights are cut.
      forget_bias: added to the forget gate's.
      state_is_tuple: whether the state is an ``LSTMStateTuple``; else c and h side by side.
      activation: of new input and memory; default tanh.
      reuse: whether the variables exist already.
    """

    def __init__(
        self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None,
        initializer: Any = None, num_proj: int | None = None, proj_clip: float | None = None,
        num_unit_shards: int | None = None, num_proj_shards: int | None = None,
        forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None,
        reuse: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip,
            num_unit_shards, num_proj_shards, forget_bias, state_is_tuple, activation, reuse,
        )  # fmt: skip

    def build(self, inputs_shape: Any) -> None:
        """Makes the cell's variables, and the kernel's mask and threshold."""
        super().build(inputs_shape)
        shape = [input_depth(inputs_shape) + self._num_units, 4 * self._num_units]
        self._kernel = _masked(self, self._kernel, shape)
