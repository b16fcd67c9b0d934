"""Questions about where a node stands among conditionals and loops.

An op's context is the innermost construct that runs it.  What an ``Exit`` gives, though, is seen
outside of its loop: ``output_context`` is the context of an op's *outputs*.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.context import CondContext, ControlFlowContext, WhileContext

Context = ControlFlowContext | None


def context_of(op: Operation) -> Context:
    """The construct that runs ``op``; None outside of all."""
    context: Context = op._control_flow_context
    return context


def output_context(op: Operation) -> Context:
    """The construct in which the outputs of ``op`` are seen."""
    context = context_of(op)
    if op.op_def.control == "exit" and context is not None:
        outer: Context = context.outer_context
        return outer
    return context


def loop_around(context: Context) -> WhileContext | None:
    """``context`` if it is a loop's, else that of the nearest loop around it."""
    while context is not None and not isinstance(context, WhileContext):
        context = context.outer_context
    return context


def cond_between(context: Context, outer: Context) -> CondContext | None:
    """The innermost branch that ``context`` is in, as long as it is within ``outer``."""
    while context is not None and context is not outer:
        if isinstance(context, CondContext):
            return context
        context = context.outer_context
    return None


def contains(outer: Context, context: Context) -> bool:
    """Whether ``context`` is ``outer`` or within it; everything is within None."""
    while context is not None and context is not outer:
        context = context.outer_context
    return context is outer


def common(one: Context, other: Context) -> Context:
    """The innermost construct that both are in."""
    while not contains(one, other):
        one = one.outer_context if one is not None else None
    return one


def is_loop_switch(op: Operation) -> bool:
    """Whether ``op`` sends a loop variable to the next round or out of the loop."""
    if op.op_def.control != "switch":
        return False
    context = context_of(op)
    return isinstance(context, WhileContext) and op.inputs[1] is context.pivot


def is_branch_switch(op: Operation) -> bool:
    """Whether ``op`` brings a value from outside into a branch."""
    return op.op_def.control == "switch" and isinstance(context_of(op), CondContext)


def within_branch(op: Operation) -> bool:
    """Whether nodes are being made in the branch that ``op`` is in: they see no other."""
    return contains(context_of(op), op.graph.scopes.control_flow)


def constant_enter(tensor: Tensor) -> Operation | None:
    """The Enter that gives ``tensor`` when it is an invariant of its loop."""
    op = tensor.op
    return op if op.op_def.control == "enter" and op.attrs["is_constant"] else None


@contextmanager
def inside(graph: Graph, context: Context) -> Iterator[None]:
    """Puts the nodes made in the block into ``context``, free of the control scopes around."""
    with graph.control_dependencies(None):
        graph.scopes.control_flow = context
        yield
