"""Fused RNNs: objects that run over all steps at once, time-major."""

from __future__ import annotations

import abc
from typing import Any

from penstock.library.recurrent.dynamic import dynamic_rnn
from penstock.library.recurrent.static import static_rnn
from penstock.ops.array import join, split, transpose


class FusedRNNCell(abc.ABC):
    """Runs over all steps: ``outputs, state = fused(inputs, ...)``."""

    @abc.abstractmethod
    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Outputs and last state.

        Args:
          inputs: [time, batch, size], or a list of [batch, size].
          initial_state: a state; default zeros, which need ``dtype``.
          dtype: element type.
          sequence_length: int vector [batch].
          scope: variable scope.

        Returns:
          The outputs, in the form of the inputs, and the last state.
        """


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell as a fused RNN.

    Args:
      cell: a cell.
      use_dynamic_rnn: whether to loop; else the steps are unrolled.
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Outputs and last state; see ``FusedRNNCell``."""
        is_list = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            outputs, state = dynamic_rnn(
                self._cell, join.stack(inputs) if is_list else inputs, sequence_length,
                initial_state, dtype, time_major=True, scope=scope,
            )  # fmt: skip
            return split.unstack(outputs) if is_list else outputs, state
        steps, state = static_rnn(
            self._cell, inputs if is_list else split.unstack(inputs), initial_state, dtype,
            sequence_length, scope,
        )  # fmt: skip
        return steps if is_list else join.stack(steps), state


class TimeReversedFusedRNN(FusedRNNCell):
    """Runs a fused RNN backward in time.

    Args:
      cell: a fused RNN.
    """

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Outputs, in the order of the inputs, and last state; see ``FusedRNNCell``."""
        outputs, state = self._cell(
            _reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return _reversed(outputs, sequence_length), state


def _reversed(value: Any, lengths: Any) -> Any:
    if lengths is None:
        return transpose.reverse(value, [0])
    return transpose.reverse_sequence(value, lengths, 0, 1)
