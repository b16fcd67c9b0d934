"""What one ``tf.gradients`` call knows of the loops between its ys and xs.

A loop's Exits are visited together, once all of them are ready, for the loop backward starts with
the gradients of all its variables.  The Switch of a loop variable is visited twice: first from its
Exit, which begins the variable's gradient, then from the body, which closes the circle.

State: a ``GradLoop`` for each loop's context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff import control_flow_zeros as zeros
from penstock.library.autodiff.control_flow_history import keep
from penstock.library.autodiff.control_flow_loop import GradLoop
from penstock.library.autodiff.control_flow_sums import shape_of
from penstock.library.autodiff.control_flow_walk import (
    Context,
    context_of,
    inside,
    loop_around,
    output_context,
)
from penstock.library.control_flow.context import WhileContext
from penstock.ops.array import fill, nodes
from penstock.ops.control import control_flow as primitives


class LoopState:
    """See the module's docstring."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.root: Context = graph.scopes.control_flow
        self.loops: dict[WhileContext, GradLoop] = {}

    def add(self, exit_op: Operation) -> GradLoop | None:
        """Begins the loop backward for the loop that ``exit_op`` leaves; None if it has one.

        Raises:
          ValueError: nothing is known of the loop but its nodes.
        """
        context = context_of(exit_op)
        if not isinstance(context, WhileContext):
            raise ValueError(
                f"{exit_op.name!r} leaves a loop whose context is not known: gradients go through "
                f"loops that this program made or that a MetaGraph brought, not through those of "
                f"a bare GraphDef"
            )
        if context in self.loops:
            return None
        outer = loop_around(context.outer_context)
        around = self.loops.get(outer) if outer is not None else None
        made = GradLoop(self.graph, context, around, self.root, keep)
        self.loops[context] = made
        return made

    def loop_of(self, op: Operation, summing: bool = False) -> GradLoop | None:
        """The loop that ``op`` is in, if gradients go through it.

        Args:
          op: an op that is visited.
          summing: whether its outputs' gradients are meant: an Exit's are outside of the loop.
        """
        context = loop_around(output_context(op) if summing else context_of(op))
        return self.loops.get(context) if context is not None else None

    @contextmanager
    def around(self, op: Operation, summing: bool) -> Iterator[None]:
        """Puts nodes made in the block into the loop backward of the loop of ``op``."""
        loop = self.loop_of(op, summing)
        with ExitStack() as stack:
            if loop is not None:
                graph, saved = self.graph, self.graph.scopes.control_flow
                graph.scopes.control_flow = loop.grad_context
                stack.callback(setattr, graph.scopes, "control_flow", saved)
            yield

    # ---- exits -------------------------------------------------------------------------------

    def begin(self, pending: dict[Operation, int], to_ops: set[Operation]) -> list[Tensor]:
        """Counts the exits that no gradient will come to.

        Returns:
          Those of loops of which no exit waits for a gradient.
        """
        started: list[Tensor] = []
        for loop in self.loops.values():
            for tensor in loop.exits:
                if pending.get(tensor.op):
                    continue
                loop.pending_exits -= 1
                if tensor.op not in to_ops:
                    loop.unused_exits.append(tensor)
                if not loop.pending_exits:
                    started.extend(loop.unused_exits)
            for entered in loop.forward_context.loop_enters:
                if not pending.get(entered.op):
                    pending[entered.op] = 1
        return started

    def zeros_for_exit(self, tensor: Tensor) -> Tensor:
        """Zeros for an exit that gets no gradient, while others of its loop do."""
        loop = self.loop_of(tensor.op, summing=True)
        context = self.graph.scopes.control_flow if loop is None else loop.grad_context
        with inside(self.graph, context):
            is_list = tensor.dtype is dtypes.variant
            if nodes.is_known(tensor) and not is_list:
                return fill.zeros(tensor.shape, tensor.dtype.base_dtype)
            if loop is not None and not is_list:
                return fill.zeros(shape_of(tensor), tensor.dtype.base_dtype)
            return make_tensor("ZerosLike", tensor, name="zeros_like")

    # ---- zeros, and the end ------------------------------------------------------------------

    def zeros_like(self, op: Operation, index: int) -> Tensor | None:
        """Zeros for output ``index`` of ``op``; None for the Switch of a loop."""
        loop = self.loop_of(op)
        if loop is None:
            return zeros.zeros_like_output(op, index)
        return zeros.zeros_in_loop(loop.grad_context, op, index)

    def close(self) -> None:
        """Closes the circles of variables whose next value does not depend on the last one."""
        for loop in self.loops.values():
            for merged in loop.merges.values():
                if merged.op.inputs[0] is merged.op.inputs[1]:
                    _close_with_zeros(loop, merged)

    def forget(self, results: Sequence[Any]) -> None:
        """Keeps no values of rounds for gradients that are none of ``results``.

        Gradient functions make the gradients of all inputs of an op, of constants too.
        """
        sources = [t.op for grad in results if grad is not None for t in primitives.parts_of(grad)]
        waiters = {wait.waiter for loop in self.loops.values() for wait in loop.waits}
        needed = _needed(sources, waiters)
        for loop in self.loops.values():
            loop.drop_waits(needed)


def _needed(sources: Sequence[Operation], waiters: set[Operation]) -> set[Operation]:
    """What ``sources`` are made of, with no regard to what ``waiters`` wait for."""
    stack, seen = list(sources), set(sources)
    while stack:
        op = stack.pop()
        before = [t.op for t in op.inputs]
        if op not in waiters:
            before.extend(op.control_inputs)
        fresh = [source for source in dict.fromkeys(before) if source not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return seen


def _close_with_zeros(loop: GradLoop, merged: Tensor) -> None:
    """Of such a variable only the last round's value has a gradient; before, it is zero."""
    graph, context = loop.graph, loop.grad_context
    start = merged.op.inputs[0]
    dtype = start.dtype.base_dtype
    if dtype is dtypes.variant:
        with inside(graph, context.outer_context):
            value = make("ZerosLike", start.op.inputs[0])
    elif nodes.is_known(start):
        with inside(graph, context):
            value = fill.zeros(start.shape, dtype, name="Const")
    else:
        with inside(graph, context.outer_context):
            value = fill.zeros(shape_of(start.op.inputs[0]), dtype)
    with inside(graph, context):
        merged.op._update_input(1, primitives.next_iteration(value))


def make_loop_state(
    graph: Graph, between: list[Operation], members: set[Operation], colocate: bool
) -> LoopState:
    """The loops among the ops between xs and ys, of which some are exits of loops.

    All exits of these loops are added to both collections.
    """
    state = LoopState(graph)
    for op in between:  # which grows meanwhile
        if op.op_def.control != "exit":
            continue
        with graph.colocate_with(op) if colocate else ExitStack():
            loop = state.add(op)
        for tensor in loop.exits if loop is not None else ():
            if tensor.op not in members:
                members.add(tensor.op)
                between.append(tensor.op)
    return state
