"""``HighwayWrapper`` and ``CompiledWrapper``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import nest
from penstock.library.nn.linear import xw_plus_b
from penstock.library.recurrent.projection import Around
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.ops.math import elementwise


class HighwayWrapper(Around):
    """A highway from a cell's input to its output: ``x carry + output transform``.

    Args:
      cell: a cell whose output has the shape of its input.
      couple_carry_transform_gates: whether transform is ``1 - carry``.
      carry_bias_init: initial bias of the carry gate; minus that of the transform gate.
    """

    def __init__(
        self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0
    ) -> None:
        super().__init__(cell)
        self._couple, self._carry_bias = couple_carry_transform_gates, carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step."""
        outputs, new_state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        for one, other in zip(nest.flatten(inputs), nest.flatten(outputs), strict=True):
            one.get_shape().assert_is_compatible_with(other.get_shape())
        return nest.map_structure(self._highway, inputs, outputs), new_state

    def _gate(self, name: str, inp: Any, start: float) -> Any:
        size = inp.get_shape().with_rank(2).as_list()[1]
        weight = get_variable(f"{name}_w", [size, size])
        biases = get_variable(
            f"{name}_b", [size], initializer=initializers.constant_initializer(start)
        )
        return elementwise.sigmoid(xw_plus_b(inp, weight, biases))

    def _highway(self, inp: Any, out: Any) -> Any:
        carry = self._gate("carry", inp, self._carry_bias)
        if self._couple:
            transform = 1 - carry
        else:
            transform = self._gate("transform", inp, -self._carry_bias)
        return inp * carry + out * transform


class CompiledWrapper(Around):
    """A cell; in TensorFlow its nodes are marked for XLA, here everything is compiled anyway.

    Args:
      cell: a cell.
      compile_stateful: has no meaning here.
    """

    def __init__(self, cell: Any, compile_stateful: Any = False) -> None:
        super().__init__(cell)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step."""
        return self._cell(inputs, state, scope=scope)
