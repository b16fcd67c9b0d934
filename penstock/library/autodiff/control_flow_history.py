"""How a value of a round of a loop comes to the round backward that undoes it.

In order of preference: an invariant is entered into the backward loop; a constant is made there
again; a value that a branch takes from an invariant is taken anew, under the same predicate;
anything else is pushed on a stack in each forward round and popped in each backward one.  One stack
serves all rounds of all loops around it, since backward loops run in exactly the reverse order.

The push stands in the branch that makes the value, and the pop takes the stack under the
predicate's own history, so that both are skipped alike.
"""

from __future__ import annotations

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import colocate_with
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.static import constant_value
from penstock.library.autodiff.control_flow_loop import GradLoop, is_passed
from penstock.library.autodiff.control_flow_walk import (
    cond_between,
    constant_enter,
    context_of,
    inside,
    is_branch_switch,
    output_context,
)
from penstock.ops.control import control_flow as primitives


def keep(loop: GradLoop, tensor: Tensor) -> Tensor:
    """Makes what stands in the backward loop of ``loop`` for ``tensor`` of its forward loop."""
    with inside(loop.graph, loop.grad_context):
        again = _taken_again(loop, tensor)
        if again is not None:
            return again
        known = tensor.op.op_def.role in ("constant", "shape")
        value = constant_value(tensor) if known else None
        if value is not None:
            return constant(np.array(value), tensor.dtype.base_dtype)
        stack, push = _push(loop, tensor)
        popped = _pop(loop, stack, tensor)
        # A push in a branch may be dead, which must not stop the loop.
        direct = context_of(push) is loop.forward_context
        loop.wait(loop.forward_next if direct else loop.forward_sync, push, popped.op)
        return popped


def _taken_again(loop: GradLoop, tensor: Tensor) -> Tensor | None:
    """An invariant as the backward loop sees it; None when ``tensor`` is none."""
    op = tensor.op
    enter = constant_enter(tensor)
    if enter is not None:
        return loop.grad_context.AddValue(enter.inputs[0])
    if is_passed(op):
        return _taken_again(loop, op.inputs[0]) if loop.is_forward(op.inputs[0]) else None
    if not is_branch_switch(op) or not loop.is_forward(op.inputs[0]):
        return None
    data = _taken_again(loop, op.inputs[0])
    if data is None:
        return None
    made: Tensor = primitives.switch(data, loop.value_of(op.inputs[1]))[tensor.value_index]
    return made


def _push(loop: GradLoop, tensor: Tensor) -> tuple[Tensor, Operation]:
    """Makes a stack, and pushes ``tensor`` on it in each forward round."""
    graph, forward = loop.graph, loop.forward_context
    with inside(graph, loop.stack_context), colocate_with(tensor.op):
        bound = constant(-1, dtypes.int32)
        stack: Tensor = make("StackV2", bound, elem_type=tensor.dtype.base_dtype, name="f_acc")
    with inside(graph, None):
        entered = forward.AddValue(stack)
    with inside(graph, output_context(tensor.op)):
        push: Operation = make("StackPushV2", entered, tensor, swap_memory=forward.swap_memory).op
    push._add_control_input(loop.step)
    return stack, push


def _pop(loop: GradLoop, stack: Tensor, tensor: Tensor) -> Tensor:
    branch = cond_between(output_context(tensor.op), loop.forward_context)
    if branch is not None:
        predicate = loop.value_of(branch.pred)
        with colocate_with(tensor.op, ignore_existing=True):
            stack = primitives.switch(stack, predicate)[branch.branch]
    popped: Tensor = make("StackPopV2", stack, elem_type=tensor.dtype.base_dtype)
    popped.sizes = tensor.sizes
    if loop.grad_context.parallel_iterations > 1:
        loop.wait(loop.grad_sync, popped.op, popped.op)
    return popped
