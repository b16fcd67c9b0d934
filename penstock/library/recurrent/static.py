"""Recurrent networks unrolled: one copy of the cell's nodes a step."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dimension, dtypes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.recurrent.cell import assert_like_rnncell, joined_shape, joined_static
from penstock.library.recurrent.step import (
    cache_reads,
    initial_state as first_state,
    ragged_step,
    state_dtype,
)
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import cast, fill, nodes, shape
from penstock.ops.control import control
from penstock.ops.math import reductions


def static_rnn(
    cell: Any,
    inputs: Any,
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs a cell over a list of inputs, unrolled.

    Args:
      cell: a cell.
      inputs: list, one item a step, of tensors [batch, size] or nestings of such.
      initial_state: a state; default zeros, which need ``dtype``.
      dtype: element type of the zero state and of outputs.
      sequence_length: int vector [batch]; from the end of its sequence on, an example puts out
        zeros and keeps its state, and steps after the longest sequence are not computed.
      scope: variable scope; default "rnn".

    Returns:
      The list of outputs, and the last state.

    Raises:
      TypeError: ``cell`` is no cell, ``inputs`` no list.
      ValueError: no inputs, inputs of unknown size, neither a state nor a type.

    >>> with tf.Graph().as_default():
    ...     outputs, state = tf.nn.static_rnn(
    ...         tf.nn.rnn_cell.GRUCell(3), [tf.zeros([2, 5])] * 4, dtype=tf.float32)
    >>> len(outputs), outputs[0].shape.as_list(), outputs[3] is state
    (4, [2, 3], True)
    """
    assert_like_rnncell("cell", cell)
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    outputs = []
    with variable_scope(scope or "rnn") as entered:
        cache_reads(entered)
        first = nest.flatten(inputs)[0]
        known = _batch_dim(inputs, first)
        batch_size = known or nodes.element(shape.shape(first), 0)
        state = first_state(
            cell, initial_state, batch_size, dtype,
            "If no initial_state is provided, dtype must be specified",
        )  # fmt: skip
        lengths: Any = None
        if sequence_length is not None:
            lengths = _checked_lengths(sequence_length)
            zero_output = nest.map_structure(
                lambda size: _zeros(size, batch_size, known, state_dtype(dtype, state)),
                cell.output_size,
            )
            lengths = cast.cast(lengths, dtypes.int32)
            extremes = reductions.reduce_min(lengths), reductions.reduce_max(lengths)
        for time, one in enumerate(inputs):
            if time > 0:
                entered.reuse_variables()

            def call_cell(one: Any = one, state: Any = state) -> Any:
                return cell(one, state)

            if lengths is None:
                output, state = call_cell()
            else:
                output, state = ragged_step(
                    call_cell, time, lengths, *extremes, zero_output, state, always=False
                )
            outputs.append(output)
    return outputs, state


def _batch_dim(inputs: Any, first: Any) -> int | None:
    """The batch size that is statically known, after checks of all shapes."""
    if first.get_shape().ndims == 1:
        return _known(first.get_shape()[0])
    fixed = first.get_shape().with_rank_at_least(2)[0]
    for one in nest.flatten(inputs):
        found = one.get_shape().with_rank_at_least(2)
        fixed.assert_is_compatible_with(found[0])
        for index, size in enumerate(found.as_list()[1:]):
            if size is None:
                raise ValueError(
                    f"Input size (dimension {index} of inputs) must be accessible via shape"
                    " inference, but saw value None."
                )
    return _known(fixed)


def _known(dim: Any) -> int | None:
    value: int | None = dimension.dimension_value(dim)
    return value


def _checked_lengths(sequence_length: Any) -> Tensor:
    lengths = convert_to_tensor(sequence_length, name="sequence_length")
    if lengths.get_shape().ndims not in (None, 1):
        raise ValueError("sequence_length must be a vector of length batch_size")
    return lengths


def _zeros(size: Any, batch_size: Any, known: int | None, dtype: Any) -> Tensor:
    made = fill.zeros(joined_shape(batch_size, size), dtype)
    made.set_shape(joined_static(known, size))
    return made


def static_state_saving_rnn(
    cell: Any,
    inputs: Any,
    state_saver: Any,
    state_name: Any,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """``static_rnn`` whose state is kept elsewhere between runs.

    Args:
      cell: a cell.
      inputs: list of tensors [batch, size].
      state_saver: an object with ``state(name)``, which gives a part of the state, and
        ``save_state(name, value)``, which returns an op that keeps it.
      state_name: name of the state; a nesting of names as ``cell.state_size``.
      sequence_length, scope: as of ``static_rnn``.

    Returns:
      The list of outputs, and the last state; both wait for the state to be saved.

    Raises:
      ValueError: names that do not fit the state.
    """
    nested = nest.is_sequence(cell.state_size)
    if nested != nest.is_sequence(state_name):
        raise ValueError(
            "state_name should be the same type as cell.state_size.  state_name:"
            f" {state_name}, cell.state_size: {cell.state_size}"
        )
    names, sizes = nest.flatten(state_name), nest.flatten(cell.state_size)
    if len(names) != len(sizes):
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(sizes)}")
    parts = [state_saver.state(name) for name in names]
    outputs, state = static_rnn(
        cell,
        inputs,
        initial_state=nest.pack_sequence_as(cell.state_size, parts),
        sequence_length=sequence_length,
        scope=scope,
    )
    flat = nest.flatten(state)
    saved = [state_saver.save_state(n, part) for n, part in zip(names, flat, strict=True)]
    with scopes.control_dependencies(saved):
        outputs[-1] = nest.map_structure(control.identity, outputs[-1])
        state = nest.map_structure(control.identity, state)
    return outputs, state
