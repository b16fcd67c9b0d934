"""Recurrent networks that read their input in both directions."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import nest
from penstock.library.recurrent.cell import assert_like_rnncell
from penstock.library.recurrent.dynamic import dynamic_rnn
from penstock.library.recurrent.static import static_rnn
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join, split, transpose


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """``dynamic_rnn`` forward with one cell and backward with another.

    Args:
      cell_fw, cell_bw: the cells.
      inputs: [batch, time, ...], or [time, batch, ...] if ``time_major``; or a nesting of such.
      sequence_length: int vector [batch]; each example is reversed within its sequence.
      initial_state_fw, initial_state_bw: states; default zeros, which need ``dtype``.
      dtype, parallel_iterations, swap_memory, time_major: as of ``dynamic_rnn``.
      scope: variable scope; default "bidirectional_rnn", with scopes "fw" and "bw".

    Returns:
      The pair of outputs, both in the order of the input, and the pair of last states.

    Example:
      >>> import penstock as tf
      >>> forward, backward = tf.nn.rnn_cell.GRUCell(8), tf.nn.rnn_cell.GRUCell(8)
      >>> (ahead, back), states = tf.nn.bidirectional_dynamic_rnn(
      ...     forward, backward, tf.ones([2, 5, 3]), sequence_length=[5, 2], dtype=tf.float32
      ... )
      >>> tf.concat([ahead, back], 2).shape.as_list()
      [2, 5, 16]
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reverse(value: Any) -> Any:
        if sequence_length is None:
            return transpose.reverse(value, axis=[time_axis])
        return transpose.reverse_sequence(
            value, sequence_length, seq_axis=time_axis, batch_axis=batch_axis
        )

    def run(cell: Any, values: Any, state: Any, within: Any) -> Any:
        return dynamic_rnn(
            cell, values, sequence_length, state, dtype, parallel_iterations, swap_memory,
            time_major, within,
        )  # fmt: skip

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = run(cell_fw, inputs, initial_state_fw, forward)
        with variable_scope("bw") as backward:
            reversed_inputs = nest.map_structure(reverse, inputs)
            output_bw, state_bw = run(cell_bw, reversed_inputs, initial_state_bw, backward)
    return (output_fw, nest.map_structure(reverse, output_bw)), (state_fw, state_bw)


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """``static_rnn`` forward with one cell and backward with another.

    Args:
      cell_fw, cell_bw: the cells.
      inputs: list of tensors [batch, size], or of nestings of such.
      initial_state_fw, initial_state_bw: states; default zeros, which need ``dtype``.
      dtype: element type.
      sequence_length: int vector [batch]; each example is reversed within its sequence.
      scope: variable scope; default "bidirectional_rnn", with scopes "fw" and "bw".

    Returns:
      The list of outputs [batch, size of both], the forward cell's last state, and the other's.

    Raises:
      TypeError: what is no cell; ``inputs`` is no list.
      ValueError: no inputs.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=forward
            )
        with variable_scope("bw") as backward:
            reversed_inputs = _reversed_steps(inputs, sequence_length)
            output_bw, state_bw = static_rnn(
                cell_bw, reversed_inputs, initial_state_bw, dtype, sequence_length, scope=backward
            )
    output_bw = _reversed_steps(output_bw, sequence_length)
    pairs = zip(nest.flatten(output_fw), nest.flatten(output_bw), strict=True)
    joined = [join.concat([one, other], 1) for one, other in pairs]
    return nest.pack_sequence_as(output_fw, joined), state_fw, state_bw


def _reversed_steps(steps: Any, lengths: Any) -> list[Any]:
    """The steps from last to first; each example within its length."""
    if lengths is None:
        return list(reversed(steps))
    columns = zip(*(nest.flatten(step) for step in steps), strict=True)
    found = [_reversed_tensors(list(column), lengths) for column in columns]
    rows = zip(*found, strict=True)
    return [nest.pack_sequence_as(step, list(row)) for step, row in zip(steps, rows, strict=True)]


def _reversed_tensors(tensors: list[Any], lengths: Any) -> list[Any]:
    known = tensors[0].get_shape()
    for one in tensors[1:]:
        known = known.merge_with(one.get_shape())
    joined = join.stack(tensors)
    parts: list[Any] = split.unstack(transpose.reverse_sequence(joined, lengths, 0, 1))
    for part in parts:
        part.set_shape(known)
    return parts
