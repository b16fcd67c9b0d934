"""Recurrent networks as a loop over time.

The inputs go into tensor arrays, one element a step; a ``while_loop`` reads them, calls the cell
and writes the outputs into other arrays.  The loop ends with the longest sequence.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.library.recurrent.cell import assert_like_rnncell, joined_shape, joined_static
from penstock.library.recurrent.step import (
    best_effort_input_batch_size,
    cache_reads,
    initial_state as first_state,
    ragged_step,
    state_dtype,
    static_size,
    transpose_batch_time,
)
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import cast, fill, join, nodes, shape
from penstock.ops.control import control, debug
from penstock.ops.math import binary, comparison, reductions


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Runs a cell over time, in a loop.

    Args:
      cell: a cell.
      inputs: [batch, time, ...], or [time, batch, ...] if ``time_major``; or a nesting of such.
      sequence_length: int vector [batch]; from the end of its sequence on, an example puts out
        zeros and keeps its state.  Nothing is computed past the longest.
      initial_state: a state; default zeros, which need ``dtype``.
      dtype: element type of the zero state and of outputs.
      parallel_iterations: how many iterations may overlap; default 32.
      swap_memory: whether what the gradient needs may leave the device.
      time_major: whether the first dim is time.
      scope: variable scope; default "rnn".

    Returns:
      The outputs, [batch, time, size] or time-major as the inputs, nested as
      ``cell.output_size``; and the last state.

    Raises:
      TypeError: ``cell`` is no cell.
      ValueError: inputs of unknown depth, or that differ in time or batch; neither a state nor a
        type; a ``sequence_length`` that is no vector.
      InvalidArgumentError: ``sequence_length`` is not of the batch's size (in the run).

    Example:
      >>> import penstock as tf
      >>> words = tf.placeholder(tf.float32, [None, None, 3])  # batch, time, features
      >>> lengths = tf.placeholder(tf.int32, [None])
      >>> cell = tf.nn.rnn_cell.BasicLSTMCell(8)
      >>> outputs, state = tf.nn.dynamic_rnn(cell, words, lengths, dtype=tf.float32)
      >>> with tf.Session() as session:
      ...     session.run(tf.global_variables_initializer())
      ...     found = session.run(outputs, {words: np.ones([2, 5, 3]), lengths: [5, 2]})
      >>> found.shape, bool(found[0, 4].any()), bool(found[1, 2:].any())  # nothing past the end
      ((2, 5, 8), True, False)
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn") as entered:
        cache_reads(entered)
        flat = [convert_to_tensor(one) for one in nest.flatten(inputs)]
        if not time_major:
            flat = [transpose_batch_time(one) for one in flat]
        lengths = None if sequence_length is None else _checked_lengths(sequence_length)
        batch_size = best_effort_input_batch_size(flat)
        state = first_state(
            cell, initial_state, batch_size, dtype,
            "If there is no initial_state, you must give a dtype.",
        )  # fmt: skip
        if lengths is not None:
            with scopes.control_dependencies([_assert_vector(lengths, batch_size)]):
                lengths = control.identity(lengths, name="CheckSeqLen")
        loop = _Loop(cell, nest.pack_sequence_as(inputs, flat), state, lengths, dtype)
        outputs, state = loop.run(parallel_iterations or 32, swap_memory)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, state


def _checked_lengths(sequence_length: Any) -> Tensor:
    lengths = cast.cast(sequence_length, dtypes.int32)
    known = lengths.get_shape()
    if known.ndims not in (None, 1):
        raise ValueError(
            f"sequence_length must be a vector of length batch_size, but saw shape: {known}"
        )
    named: Tensor = control.identity(lengths, name="sequence_length")
    return named


def _assert_vector(lengths: Tensor, batch_size: Any) -> Any:
    found, wanted = shape.shape(lengths), join.stack([batch_size])
    return debug.Assert(
        reductions.reduce_all(comparison.equal(found, wanted)),
        [f"Expected shape for Tensor {lengths.name} is ", wanted, " but saw shape: ", found],
    )


class _Loop:
    """The loop of one ``dynamic_rnn``.

    Args:
      cell: the cell.
      inputs: time-major inputs, nested as the cell takes them.
      state: the first state.
      lengths: int32, [batch], or None.
      dtype: element type of outputs, or None for that of the state.
    """

    def __init__(self, cell: Any, inputs: Any, state: Any, lengths: Any, dtype: Any) -> None:
        self._cell, self._inputs, self._state, self._lengths = cell, inputs, state, lengths
        flat = nest.flatten(inputs)
        self._time_steps = nodes.element(shape.shape(flat[0]), 0)
        batch_size = best_effort_input_batch_size(flat)
        self._input_shapes = [one.get_shape().with_rank_at_least(3) for one in flat]
        self._known = _known_dims(self._input_shapes)
        kind = state_dtype(dtype, state)
        self._zero_output = nest.map_structure(
            lambda size: fill.zeros(joined_shape(batch_size, size), kind), cell.output_size
        )
        self._shortest, self._longest = None, self._time_steps
        if lengths is not None:
            self._shortest = reductions.reduce_min(lengths)
            self._longest = reductions.reduce_max(lengths)
        self._time = constant(0, dtypes.int32, name="time")
        with scopes.name_scope("dynamic_rnn") as base:
            pass
        self._output_sizes = nest.flatten(cell.output_size)
        batch = shapes.TensorShape([self._known[1]])
        self._outputs = tuple(
            self._array(f"{base}output_{i}", batch.concatenate(static_size(size)), kind)
            for i, size in enumerate(self._output_sizes)
        )
        arrays = [
            self._array(f"{base}input_{i}", one.get_shape()[1:], one.dtype)
            for i, one in enumerate(flat)
        ]
        self._arrays = [a.unstack(one) for a, one in zip(arrays, flat, strict=True)]

    def _array(self, name: str, element_shape: Any, dtype: Any) -> TensorArray:
        return TensorArray(
            dtype=dtype, size=self._time_steps, element_shape=element_shape, tensor_array_name=name
        )

    def _step(self, time: Any, outputs: Any, state: Any) -> tuple[Any, Any, Any]:
        read = [array.read(time) for array in self._arrays]
        for one, known in zip(read, self._input_shapes, strict=True):
            one.set_shape(known[1:])
        inputs = nest.pack_sequence_as(self._inputs, read)

        def call_cell() -> Any:
            return self._cell(inputs, state)

        if self._lengths is None:
            output, new_state = call_cell()
        else:
            output, new_state = ragged_step(
                call_cell, time, self._lengths, self._shortest, self._longest,
                self._zero_output, state, always=True,
            )  # fmt: skip
        flat = nest.flatten(output)
        written = tuple(array.write(time, one) for array, one in zip(outputs, flat, strict=True))
        return time + 1, written, new_state

    def run(self, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any]:
        """Builds the loop; returns time-major outputs and the last state."""
        # One step at least, so that the arrays of the outputs know their elements' shape.
        bound = binary.minimum(self._time_steps, binary.maximum(1, self._longest))
        _, arrays, state = while_loop(
            cond=lambda time, *_: time < bound,
            body=self._step,
            loop_vars=(self._time, self._outputs, self._state),
            parallel_iterations=parallel_iterations,
            maximum_iterations=self._time_steps,
            swap_memory=swap_memory,
        )
        stacked = [array.stack() for array in arrays]
        for one, size in zip(stacked, self._output_sizes, strict=True):
            one.set_shape(joined_static(list(self._known), size))
        return nest.pack_sequence_as(self._cell.output_size, stacked), state


def _known_dims(found: list[shapes.TensorShape]) -> tuple[int | None, int | None]:
    """Time and batch, as far as they are known, of inputs that must agree."""
    time, batch = found[0].as_list()[:2]
    for one in found:
        if not one[2:].is_fully_defined():
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw"
                " value None."
            )
        own_time, own_batch = one.as_list()[:2]
        if own_time != time:
            raise ValueError(
                "Time steps is not the same for all the elements in the input in a batch."
            )
        if own_batch != batch:
            raise ValueError("Batch_size is not the same for all the elements in the input.")
    return time, batch
