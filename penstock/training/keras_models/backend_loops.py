"""``tf.keras.backend.rnn``: a step function over the steps of sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.library.keras.layers import steps


def rnn(
    step_function: Callable[[Any, Any], tuple[Any, Any]],
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, list[Any]]:
    """Runs a function over the steps of sequences.

    Args:
      step_function: from the input of a step, and the states with the constants behind them, to
        the output and the new states.
      inputs: [batch, time, ...].
      initial_states: the first states, a list.
      go_backwards: whether the last step comes first.
      mask: [batch, time]; a masked step keeps output and states.
      constants: what each step is given besides.
      unroll: whether the steps are laid out, not looped.
      input_length: accepted for compatibility; the inputs say it.
      time_major: whether time comes first in inputs and outputs.
      zero_output_for_mask: whether the output of a masked step is zero.

    Returns:
      The last output, all outputs, and the last states as a list.

    Raises:
      ValueError: the steps are to be laid out and their number is not known, or there is a mask
        and no state.
    """
    time = inputs.shape.as_list()[0 if time_major else 1]
    if unroll and not time:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    more = tuple(constants or ())
    return steps.run_steps(
        lambda current, states: step_function(current, (*states, *more)),
        inputs, list(initial_states), mask=mask, go_backwards=go_backwards, unroll=unroll,
        time_major=time_major, zero_output_for_mask=zero_output_for_mask,
    )  # fmt: skip
