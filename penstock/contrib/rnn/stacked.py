"""Bidirectional networks on top of one another: each reads both outputs of the one below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.library.recurrent.bidirectional import (
    bidirectional_dynamic_rnn,
    static_bidirectional_rnn,
)
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join


def _check(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> None:
    for name, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if cells is None:
            raise ValueError(f"Must specify at least one {name} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{name} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for name, states in (("fw", states_fw), ("bw", states_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(
                f"initial_states_{name} must be a list of state tensors (one per layer)."
            )


def _stacked(
    cells_fw: Any,
    cells_bw: Any,
    states_fw: Any,
    states_bw: Any,
    scope: Any,
    layer: Callable[..., tuple[Any, Any, Any]],
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Runs ``layer(cell_fw, cell_bw, state_fw, state_bw, scope)`` for each pair of cells."""
    _check(cells_fw, cells_bw, states_fw, states_bw)
    outputs, last_fw, last_bw = None, [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for index, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            first_fw = states_fw[index] if states_fw else None
            first_bw = states_bw[index] if states_bw else None
            with variable_scope(f"cell_{index}") as entered:
                outputs, fw, bw = layer(cell_fw, cell_bw, first_fw, first_bw, entered)
            last_fw.append(fw)
            last_bw.append(bw)
    return outputs, tuple(last_fw), tuple(last_bw)


def stack_bidirectional_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Several ``static_bidirectional_rnn``, each on the outputs of the one below.

    Args:
      cells_fw, cells_bw: lists of cells, one a layer.
      inputs: list of tensors [batch, size].
      initial_states_fw, initial_states_bw: lists of states, one a layer.
      dtype, sequence_length: as of ``static_rnn``.
      scope: variable scope; default "stack_bidirectional_rnn".

    Returns:
      The list of the last layer's outputs, and the tuples of the layers' last states, forward and
      backward.

    Raises:
      ValueError: lists that do not fit each other.
    """
    current = inputs

    def layer(fw: Any, bw: Any, first_fw: Any, first_bw: Any, within: Any) -> Any:
        nonlocal current
        current, last_fw, last_bw = static_bidirectional_rnn(
            fw, bw, current, first_fw, first_bw, dtype, sequence_length, within
        )
        return current, last_fw, last_bw

    return _stacked(cells_fw, cells_bw, initial_states_fw, initial_states_bw, scope, layer)


def stack_bidirectional_dynamic_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, Any, Any]:
    """Several ``bidirectional_dynamic_rnn``, each on the outputs of the one below.

    Args:
      cells_fw, cells_bw: lists of cells, one a layer.
      inputs: [batch, time, size], or [time, batch, size] if ``time_major``.
      initial_states_fw, initial_states_bw: lists of states, one a layer.
      dtype, sequence_length, parallel_iterations, time_major, swap_memory: as of
        ``dynamic_rnn``.
      scope: variable scope; default "stack_bidirectional_rnn".

    Returns:
      The last layer's outputs, both directions side by side, and the tuples of the layers' last
      states, forward and backward.

    Raises:
      ValueError: lists that do not fit each other.
    """
    current = inputs

    def layer(fw: Any, bw: Any, first_fw: Any, first_bw: Any, within: Any) -> Any:
        nonlocal current
        outputs, (last_fw, last_bw) = bidirectional_dynamic_rnn(
            fw, bw, current, sequence_length, first_fw, first_bw, dtype, parallel_iterations,
            swap_memory, time_major,
        )  # fmt: skip
        current = join.concat(outputs, 2)
        return current, last_fw, last_bw

    return _stacked(cells_fw, cells_bw, initial_states_fw, initial_states_bw, scope, layer)
