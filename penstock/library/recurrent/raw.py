"""``raw_rnn``: a loop over a cell whose inputs, states and end a function decides."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.library.recurrent.cell import assert_like_rnncell, joined_shape
from penstock.library.recurrent.step import cache_reads, keep_finished, static_size
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import fill, nodes, shape
from penstock.ops.math import comparison, elementwise, reductions


def raw_rnn(
    cell: Any,
    loop_fn: Any,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Runs a cell in a loop that ``loop_fn`` controls.

    Args:
      cell: a cell.
      loop_fn: function of (time, cell_output, cell_state, loop_state), called with None for all
        but the time before the first step, that returns (finished, next_input, next_state,
        emit_output, next_loop_state): bools [batch]; the next input; the next state; what is put
        out for this step (before the first: something of its shape and type, or None for the
        cell's output size); and anything to be handed on, or None.
      parallel_iterations: how many iterations may overlap; default 32.
      swap_memory: whether what the gradient needs may leave the device.
      scope: variable scope; default "rnn".

    Returns:
      TensorArrays of what was put out (zeros for examples that are finished), the last state, and
      the last loop state.

    Raises:
      TypeError: ``cell`` is no cell; ``loop_fn`` is not callable.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as entered:
        cache_reads(entered)
        time = constant(0, dtypes.int32)
        finished, first_input, state, emitted, given_loop_state = loop_fn(time, None, None, None)
        flat_input = nest.flatten(first_input)
        loop_state = constant(0, dtypes.int32) if given_loop_state is None else given_loop_state
        known = _batch_dim(flat_input)
        batch_size = nodes.element(shape.shape(flat_input[0]), 0) if known is None else known
        nest.assert_same_structure(state, cell.state_size)
        state = nest.map_structure(convert_to_tensor, state)
        structure, sizes, kinds = _emitted(cell, emitted, state)
        arrays, zeros = _arrays(sizes, kinds, known, batch_size)
        zero_emit = nest.pack_sequence_as(structure, zeros)
        emit_arrays = nest.pack_sequence_as(structure, arrays)

        def go_on(time: Any, finished: Any, *_: Any) -> Any:
            return elementwise.logical_not(reductions.reduce_all(finished))

        def body(
            time: Any, finished: Any, current: Any, arrays: Any, state: Any, loop_state: Any
        ) -> Any:
            output, cell_state = cell(current, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, output)
            later = time + 1
            now_finished, following, new_state, emit, new_loop_state = loop_fn(
                later, output, cell_state, loop_state
            )
            nest.assert_same_structure(state, new_state)
            nest.assert_same_structure(current, following)
            nest.assert_same_structure(arrays, emit)

            def kept(old: Any, new: Any) -> Any:
                return keep_finished(finished, old, new)

            emit = nest.map_structure(kept, zero_emit, emit)
            new_state = nest.map_structure(kept, state, new_state)
            arrays = nest.map_structure(lambda array, one: array.write(time, one), arrays, emit)
            finished_then = comparison.logical_or(finished, now_finished)
            if new_loop_state is not None:
                loop_state = new_loop_state
            return later, finished_then, following, arrays, new_state, loop_state

        *_, arrays, state, loop_state = while_loop(
            go_on,
            body,
            loop_vars=[time, finished, first_input, emit_arrays, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
    return arrays, state, None if given_loop_state is None else loop_state


def _batch_dim(flat_input: list[Any]) -> int | None:
    """The batch size, if it is statically known, of inputs that must agree."""
    dims = [shapes.dimension_at_index(one.get_shape(), 0) for one in flat_input]
    for dim in dims[1:]:
        dims[0].assert_is_compatible_with(dim)
    value: int | None = dimension.dimension_value(dims[0])
    return value


def _emitted(cell: Any, emitted: Any, state: Any) -> tuple[Any, list[Any], list[Any]]:
    """Structure, sizes and types of what each step puts out."""
    if emitted is None:
        sizes = nest.flatten(cell.output_size)
        return cell.output_size, sizes, [nest.flatten(state)[0].dtype] * len(sizes)
    flat = nest.flatten(emitted)
    sizes = [
        one.get_shape() if one.get_shape().is_fully_defined() else shape.shape(one) for one in flat
    ]
    return emitted, sizes, [one.dtype for one in flat]


def _arrays(
    sizes: list[Any], kinds: list[Any], known: int | None, batch_size: Any
) -> tuple[list[Any], list[Any]]:
    """Growing arrays for what is put out, and zeros of one step."""
    batch = shapes.TensorShape([known])
    arrays = [
        TensorArray(
            dtype=kind,
            dynamic_size=True,
            element_shape=batch.concatenate(static_size(size)),
            size=0,
            name=f"rnn_output_{index}",
        )
        for index, (size, kind) in enumerate(zip(sizes, kinds, strict=True))
    ]
    zeros = [
        fill.zeros(joined_shape(batch_size, size), kind)
        for size, kind in zip(sizes, kinds, strict=True)
    ]
    return arrays, zeros
