"""What a node of control flow is, and where: questions about operations and contexts.

A ``Switch`` or ``Merge`` looks alike in a conditional and in a loop; the contexts of its neighbours
tell which it is.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

# Functional forms are expanded into the primitives whatever this is; libraries set it and set it
# back.
ENABLE_CONTROL_FLOW_V2 = False


def IsSwitch(op: Operation) -> bool:
    """Whether ``op`` is a Switch."""
    return op.op_def.control == "switch"


def IsMerge(op: Operation) -> bool:
    """Whether ``op`` is a Merge."""
    return op.op_def.control == "merge"


def IsLoopEnter(op: Operation) -> bool:
    """Whether ``op`` is an Enter."""
    return op.op_def.control == "enter"


def IsLoopExit(op: Operation) -> bool:
    """Whether ``op`` is an Exit."""
    return op.op_def.control == "exit"


def IsLoopConstantEnter(op: Operation) -> bool:
    """Whether ``op`` brings what every round of a loop sees."""
    return IsLoopEnter(op) and bool(op.attrs["is_constant"])


def GetLoopConstantEnter(value: Tensor) -> Operation | None:
    """The Enter of a loop's constant behind ``value``, or None."""
    op = value.op
    while IsSwitch(op) or op.op_def.role == "identity":
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None


def IsCondSwitch(op: Operation) -> bool:
    """Whether ``op`` is a Switch of a conditional: all that use it are in conditionals."""
    if not IsSwitch(op) or not op.outputs:
        return False
    for output in op.outputs:
        for consumer in output.consumers():
            context = consumer._control_flow_context
            if IsLoopEnter(consumer) and context is not None:
                context = context.outer_context
            if context is None or not context.IsCondContext():
                return False
    return True


def IsCondMerge(op: Operation) -> bool:
    """Whether ``op`` is the Merge of a conditional: all its inputs are made in conditionals."""
    if not IsMerge(op) or not op.inputs:
        return False
    contexts = [GetOutputContext(t.op) for t in op.inputs]
    return all(c is not None and c.IsCondContext() for c in contexts)


def IsLoopSwitch(op: Operation) -> bool:
    """Whether ``op`` is a Switch of a loop's variable."""
    context = op._control_flow_context
    return (
        IsSwitch(op) and context is not None and context.IsWhileContext() and not IsCondSwitch(op)
    )


def IsLoopMerge(op: Operation) -> bool:
    """Whether ``op`` is a Merge of a loop's variable."""
    context = op._control_flow_context
    return IsMerge(op) and context is not None and context.IsWhileContext() and not IsCondMerge(op)


# ---- contexts ----------------------------------------------------------------------------------


def GetOutputContext(op: Operation) -> Any:
    """The context that what ``op`` makes is in; an Exit's is the one around its loop."""
    context = op._control_flow_context
    return context.outer_context if context is not None and IsLoopExit(op) else context


def GetWhileContext(op: Operation) -> Any:
    """The innermost loop's context that ``op`` is in, or None."""
    context = op._control_flow_context
    return None if context is None else context.GetWhileContext()


def GetContainingWhileContext(context: Any, stop_context: Any = None) -> Any:
    """The innermost loop's context that is or contains ``context``; None, or ``stop_context``."""
    while context is not None:
        if context.IsWhileContext() or context is stop_context:
            return context
        context = context.outer_context
    return None


def GetContainingCondContext(context: Any) -> Any:
    """The innermost conditional's context that is or contains ``context``, or None."""
    while context is not None and not context.IsCondContext():
        context = context.outer_context
    return context


def IsContainingContext(context: Any, maybe_containing: Any) -> bool:
    """Whether ``maybe_containing`` is ``context``, or around it; None is around everything."""
    while context is not maybe_containing:
        if context is None:
            return False
        context = context.outer_context
    return True


def OpInContext(op: Operation, context: Any) -> bool:
    """Whether ``op`` is in ``context`` or in one inside it."""
    return IsContainingContext(op._control_flow_context, context)


def IsInWhileLoop(op: Operation) -> bool:
    """Whether ``op`` is in a loop."""
    return GetContainingWhileContext(op._control_flow_context) is not None


def IsInCond(op: Operation) -> bool:
    """Whether ``op`` is in a conditional."""
    return GetContainingCondContext(op._control_flow_context) is not None


def may_use(op: Operation, input_op: Operation) -> bool:
    """Whether ``op`` may take what ``input_op`` makes: it is of ``op``'s loop, or of one around.

    Conditionals do not count: a value of a branch may be used outside, where it is dead if the
    branch was not taken.  A loop of gradients may use values of its forward loop, which are kept
    for it, and the gradient of gradients the other way round.
    """
    context, source = op._control_flow_context, GetOutputContext(input_op)
    if source is None or context is source:
        return True
    loop, source_loop = GetContainingWhileContext(context), GetContainingWhileContext(source)
    if source_loop is None or IsContainingContext(loop, source_loop):
        return True
    if loop is None:
        # Enters and Switches are made outside, and then given their context.
        return IsLoopEnter(op) or IsSwitch(op)
    forward = loop.grad_state.forward_context if loop.grad_state else None
    if forward is not None:
        if IsContainingContext(forward, source_loop) or forward is source_loop.outer_context:
            return True
    state = source_loop.grad_state
    for _ in range(2):
        if not state:
            return False
        if state.forward_context is loop:
            return True
        state = state.forward_context.grad_state
    return False


def IsInXLAContext(op: Operation) -> bool:
    """False: no node is compiled as a whole by XLA."""
    return False


def GetContainingXLAContext(ctxt: Any) -> None:
    """None: no context around another one is compiled as a whole by XLA."""
    return None


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """False: no graph is compiled as a whole by XLA."""
    return False
