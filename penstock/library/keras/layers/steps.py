"""The loop that runs a recurrent cell over the steps of a sequence, as Keras builds it.

The cell is called once outside of the loop as well, on the first step, to know its outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import constant
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.ops.array import join, nodes, reshape, split, tile, transpose
from penstock.ops.math import select

Step = Callable[[Any, tuple[Any, ...]], tuple[Any, Any]]


def run_steps(
    step: Step,
    inputs: Any,
    states: list[Any],
    *,
    mask: Any = None,
    go_backwards: bool = False,
    unroll: bool = False,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, list[Any]]:
    """Runs a cell over all steps.

    Args:
      step: from the input of a step and the states to the output and new states.
      inputs: [batch, time, ...].
      states: the first states.
      mask: bool [batch, time]; a masked step keeps output and states.
      go_backwards: whether the last step comes first.
      unroll: whether the steps are laid out, not looped; their number must be known.
      time_major: whether time comes first.
      zero_output_for_mask: whether the output of a masked step is zero.

    Returns:
      The last output, all outputs in the layout of the inputs, and the last states.

    Raises:
      ValueError: a mask and no states.
    """
    if not time_major:
        inputs = _swapped(inputs)
    count = nodes.element(nodes.shape(inputs), 0)
    if mask is not None:
        if mask.dtype.base_dtype is not dtypes.bool:
            mask = nodes.cast(mask, dtypes.bool)
        if mask.shape.ndims == 2:
            mask = reshape.expand_dims(mask, -1)
        if not time_major:
            mask = _swapped(mask)
    arguments = (step, inputs, states, mask, go_backwards, zero_output_for_mask)
    made = _unrolled(*arguments) if unroll else _looped(*arguments, count)
    last, outputs, new_states = made
    if not time_major:
        outputs = _swapped(outputs)
    return last, outputs, new_states


def _swapped(tensor: Any) -> Any:
    order = list(range(tensor.shape.ndims))
    order[0], order[1] = 1, 0
    return transpose.transpose(tensor, order)


def _fitted(mask: Any, like: Any) -> Any:
    """A mask [batch, 1] in the shape of a tensor."""
    for _ in range(like.shape.ndims - mask.shape.ndims):
        mask = reshape.expand_dims(mask, -1)
    multiples = [1] * mask.shape.ndims
    dims = like.shape.as_list()
    for axis in range(1, like.shape.ndims):
        multiples[axis] = dims[axis]
    return tile.tile(mask, multiples)


def _looped(
    step: Step, inputs: Any, states: list[Any], mask: Any, backwards: bool, zeros: bool, count: Any
) -> tuple[Any, Any, list[Any]]:
    steps: Any = inputs.shape.as_list()[0]
    given = TensorArray(inputs.dtype, size=count, tensor_array_name="input_ta_0")
    given = given.unstack(transpose.reverse(inputs, [0]) if backwards else inputs)
    first, _ = step(inputs[0], tuple(states))
    made = TensorArray(
        first.dtype, size=count, element_shape=first.shape, tensor_array_name="output_ta_0"
    )
    time = constant(0, dtypes.int32, name="time")
    marks: Any = None
    before: tuple[Any, ...] = ()
    if mask is not None:
        if not states:
            raise ValueError("No initial states provided! A mask needs states that it keeps.")
        if backwards:
            mask = transpose.reverse(mask, [0])
        marks = TensorArray(dtypes.bool, size=count, tensor_array_name="mask_ta").unstack(mask)
        before = (nodes.zeros_like(first),)

    def body(time: Any, made: Any, *carried: Any) -> Any:
        earlier, old = carried[: len(before)], carried[len(before) :]
        current = given.read(time)
        if marks is not None:
            counts = marks.read(time)
        output, new = step(current, tuple(old))
        new = nest.flatten(new)
        if marks is not None:
            kept = before[0] if zeros else earlier[0]
            output = select.where(_fitted(counts, output), output, kept)
            masks = [_fitted(counts, state) for state in old]
            new = [select.where(m, n, o) for m, n, o in zip(masks, new, old, strict=True)]
        for state, following in zip(old, new, strict=True):
            following.set_shape(state.shape)
        made = made.write(time, output)
        return (time + 1, made, *((output,) if before else ()), *new)

    _, made, *carried = while_loop(
        lambda time, *_: time < count, body, (time, made, *before, *states),
        parallel_iterations=32, swap_memory=True,
    )  # fmt: skip
    outputs = made.stack()
    last = outputs[-1]
    outputs.set_shape([steps, *first.shape.as_list()])
    last.set_shape(first.shape)
    return last, outputs, list(carried[len(before) :])


def _unrolled(
    step: Step, inputs: Any, states: list[Any], mask: Any, backwards: bool, zeros: bool
) -> tuple[Any, Any, list[Any]]:
    steps = split.unstack(inputs)
    masks = [None] * len(steps) if mask is None else split.unstack(mask)
    if backwards:
        steps.reverse()
        masks.reverse()
    made: list[Any] = []
    for current, counts in zip(steps, masks, strict=True):
        output, new = step(current, tuple(states))
        new = list(nest.flatten(new))
        if counts is not None:
            kept = made[-1] if made and not zeros else nodes.zeros_like(output)
            output = select.where(_fitted(counts, output), output, kept)
            new = [select.where(_fitted(counts, s), n, s) for n, s in zip(new, states, strict=True)]
        states = new
        made.append(output)
    return made[-1], join.stack(made), states
