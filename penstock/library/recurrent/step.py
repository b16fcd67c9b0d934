"""One step of a cell over examples of different lengths, and what all loops over steps share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dimension, shapes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.control_flow.cond import cond
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.variables.scope import VariableScope
from penstock.ops.array import join, nodes, ranges, ranks, shape, transpose
from penstock.ops.math import select


def cache_reads(scope: VariableScope) -> None:
    """Lets variables of the scope be read once a run, and not once a use.

    Not inside a loop, where an update between two iterations must be seen.
    """
    context = scopes.get_default_graph()._get_control_flow_context()
    while context is not None and not context.IsWhileContext():
        context = context.outer_context
    if context is None and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def state_dtype(explicit: Any, state: Any) -> Any:
    """Element type of outputs: the one given, or that of all parts of the state.

    Raises:
      ValueError: there is no state, or its parts have several types.
    """
    if explicit is not None:
        return explicit
    found = [part.dtype for part in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(dtype != found[0] for dtype in found):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single"
            " representative dtype."
        )
    return found[0]


def initial_state(cell: Any, given: Any, batch_size: Any, dtype: Any, message: str) -> Any:
    """The state given, or the cell's zero state.

    Raises:
      ValueError: with ``message``: neither a state nor a type is given.
    """
    if given is not None:
        return given
    if not dtype:
        raise ValueError(message)
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def static_size(size: Any) -> shapes.TensorShape:
    """A size, which may be a tensor, as far as it is known."""
    if isinstance(size, Tensor):
        return shapes.TensorShape(static.constant_value_as_shape(size))
    return shapes.as_shape([size] if isinstance(size, int | dimension.Dimension) else size)


def transpose_batch_time(x: Tensor) -> Tensor:
    """[batch, time, ...] as [time, batch, ...], or the other way round.

    Raises:
      ValueError: the rank is less than 2.
    """
    known = x.get_shape()
    if known.ndims is not None and known.ndims < 2:
        raise ValueError(
            f"Expected input tensor {x.name} to have rank at least 2, but saw shape: {known}"
        )
    rank = ranks.rank(x)
    made = transpose.transpose(x, join.concat(([1, 0], ranges.range_(2, rank)), axis=0))
    if known.ndims is not None:
        first, second, *others = known.as_list()
        made.set_shape([second, first, *others])
    return made


def best_effort_input_batch_size(flat_input: Any) -> Any:
    """The batch size of time-major inputs: an int where one of them knows it, else a tensor.

    Raises:
      ValueError: the rank of an input is less than 2.
    """
    for one in flat_input:
        known = one.get_shape()
        if known.ndims is None:
            continue
        if known.ndims < 2:
            raise ValueError(f"Expected input tensor {one.name} to have rank at least 2")
        if known.as_list()[1] is not None:
            return known.as_list()[1]
    return nodes.element(shape.shape(flat_input[0]), 1)


def keep_finished(finished: Any, old: Any, new: Any) -> Any:
    """``old`` for the examples that are finished, ``new`` for the others.

    Args:
      finished: bools, [batch].
      old, new: [batch, ...]; scalars and arrays of tensors are always the new ones.
    """
    if isinstance(old, TensorArray) or old.get_shape().ndims == 0:
        return new
    with scopes.colocate_with(new.op):
        return select.where(finished, old, new)


def ragged_step(
    call_cell: Callable[[], Any],
    time: Any,
    lengths: Any,
    shortest: Any,
    longest: Any,
    zero_output: Any,
    state: Any,
    always: bool,
) -> tuple[Any, Any]:
    """One step, where examples whose sequence is over put out zeros and keep their state.

    Args:
      call_cell: computes the output and the new state.
      time: index of the step.
      lengths: int32, [batch]; ``shortest`` and ``longest`` are its extremes.
      zero_output: zeros as the output.
      state: the state before the step.
      always: whether to call the cell in every step; else the step is skipped after the longest
        sequence, and copies nothing before the end of the shortest.

    Returns:
      The output and the new state.
    """
    outputs, states = nest.flatten(zero_output), nest.flatten(state)
    finished = time >= lengths

    def called() -> list[Any]:
        output, new_state = call_cell()
        nest.assert_same_structure(zero_output, output)
        nest.assert_same_structure(state, new_state)
        return [*nest.flatten(output), *nest.flatten(new_state)]

    def copied(new: list[Any]) -> list[Any]:
        old = [*outputs, *states]
        return [keep_finished(finished, a, b) for a, b in zip(old, new, strict=True)]

    def called_or_copied() -> Any:
        new = called()
        return cond(time < shortest, lambda: new, lambda: copied(new))

    if always:
        found = copied(called())
    else:
        found = cond(time >= longest, lambda: [*outputs, *states], called_or_copied)
    for made, like in zip(found, [*outputs, *states], strict=True):
        if not isinstance(made, TensorArray):
            made.set_shape(like.get_shape())
    count = len(outputs)
    output = nest.pack_sequence_as(zero_output, found[:count])
    return output, nest.pack_sequence_as(state, found[count:])
