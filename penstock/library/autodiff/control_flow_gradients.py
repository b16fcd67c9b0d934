"""Gradients of the primitives of control flow.

Backward, each turns into its opposite: a Merge into a Switch under the same predicate, a Switch
into a Merge; in a loop an Exit into an Enter, an Enter into an Exit, and the Switch of a variable
into the Merge by which its gradient goes round.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation, is_back_edge
from penstock.foundation.graph.scopes import colocate_with, get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.static import constant_value
from penstock.library.autodiff.control_flow_loop import GradContext, leave
from penstock.library.autodiff.control_flow_sums import sum_over_rounds
from penstock.library.autodiff.control_flow_walk import (
    contains,
    context_of,
    inside,
    is_loop_switch,
    output_context,
    within_branch,
)
from penstock.library.autodiff.register import RegisterGradient
from penstock.library.control_flow.context import CondContext
from penstock.ops.control import control_flow as primitives


def _grad_context(op: Operation) -> GradContext | None:
    """The loop backward that nodes are made in, if it is that of the loop of ``op``."""
    context: Any = get_default_graph().scopes.control_flow
    while context is not None:
        if isinstance(context, GradContext):
            loop = context.grad_state
            inside_it = loop.forward_context
            around = context_of(op)
            while around is not None and around is not inside_it:
                around = around.outer_context
            if around is not None:
                return context
        context = context.outer_context
    return None


def _beside(data: Any, predicate: Tensor, name: str | None = None) -> tuple[Any, Any]:
    """A Switch placed with its data."""
    where = data.values if isinstance(data, IndexedSlices) else data
    with colocate_with(where.op, ignore_existing=True):
        return primitives.switch(data, predicate, name=name)


def _switch(op: Operation, *grads: Any) -> Any:
    context = context_of(op)
    if is_loop_switch(op):
        return _loop_switch(op, grads)
    if isinstance(context, CondContext):
        return _branch_switch(op, context, grads)
    predicate = op.inputs[1]
    no = primitives.switch(grads[0], predicate)[0]
    yes = primitives.switch(grads[1], predicate)[1]
    return primitives.merge([no, yes])[0], None


def _branch_switch(op: Operation, branch: CondContext, grads: Any) -> Any:
    other = grads[1 - branch.branch]
    if other is not None:
        merged = [_tied(op, branch, grads[i], i) for i in (0, 1)]
        return primitives.merge(merged, name="cond_grad")[0], None
    only = grads[branch.branch]
    if within_branch(op):
        return only, None
    if op.inputs[0].dtype is dtypes.resource:
        return primitives.merge([only, only], name="cond_resource_grad")[0], None
    return None, None


def _tied(op: Operation, branch: CondContext, grad: Any, taken: int) -> Any:
    """A gradient that is dead unless ``taken`` says which branch was taken.

    What is constant lives always; of two living inputs a Merge takes any.
    """
    parts = primitives.parts_of(grad)
    loose = [_lives_always(part, branch) for part in parts]
    if not any(loose):
        return grad
    context, predicate = _grad_context(op), branch.pred
    if context is not None:
        predicate = context.AddValue(predicate)
    tied = [
        primitives.switch(part, predicate)[taken] if living else part
        for part, living in zip(parts, loose, strict=True)
    ]
    return primitives.with_parts(grad, tied)


def _lives_always(tensor: Tensor, branch: CondContext) -> bool:
    """Whether ``tensor`` is made of constants, none of which is in ``branch`` or switched."""
    if constant_value(tensor) is None:
        return False
    stack, seen = [tensor.op], {tensor.op}
    while stack:
        op = stack.pop()
        if op.op_def.control == "switch" or contains(branch, context_of(op)):
            return False
        fresh = [t.op for t in op.inputs if t.op not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return True


def _loop_switch(op: Operation, grads: Any) -> Any:
    """First from the Exit, where the gradient's circle begins; then from the body: its end."""
    context = _grad_context(op)
    if context is None:
        raise ValueError(
            f"a gradient that is asked for in the body of a loop goes through the loop variable of "
            f"{op.name!r} to what the loop starts with; inside of a loop, gradients are with "
            f"respect to the body's arguments and to what does not change in the loop"
        )
    merges = context.grad_state.merges
    merged = merges.get(op)
    if merged is None:
        if grads[0] is None:
            return None, None
        merged = merges[op] = primitives.merge([grads[0], grads[0]], name="b_switch")[0]
        return merged, None
    if grads[1] is not None:
        grad = convert_to_tensor(grads[1])
        merged.op._update_input(1, primitives.next_iteration(grad))
    return None, None


def _merge(op: Operation, grad: Any, _: Any) -> Any:
    context = output_context(op.inputs[0].op)
    grad_context = _grad_context(op)
    if any(is_back_edge(op, tensor) for tensor in op.inputs):
        if grad_context is None:
            raise ValueError(f"gradients cannot go through the loop variable {op.name!r} from here")
        return list(_beside(grad, grad_context.pivot))
    if isinstance(context, CondContext):
        predicate = context.pred
        if grad_context is not None:
            predicate = grad_context.AddValue(predicate)
        return list(_beside(grad, predicate, "cond_grad"))
    number = range(len(op.inputs))
    chosen = [make("Equal", op.outputs[1], i) for i in number]
    return [_beside(grad, chosen[i])[1] for i in number]


def _exit(op: Operation, grad: Any) -> Any:
    """An Enter of the loop backward."""
    context = _grad_context(op)
    if context is None or not context.back_prop:
        return None
    forward = context_of(op)
    if forward is not None and forward.grad_state is not None:
        raise TypeError(
            f"{op.name!r} leaves a loop that computes a gradient; gradients of gradients of "
            f"tf.while_loop are not defined"
        )
    # Gradients of loop variables are dense: each round replaces all of them.
    if not isinstance(grad, Tensor):
        with inside(context.grad_state.graph, context.outer_context):
            grad = convert_to_tensor(grad)
    context.AddName(grad.name)
    entered = primitives.enter(
        grad, context.name, False, context.parallel_iterations, name="b_exit"
    )
    context.loop_enters.append(entered)
    return entered


def _enter(op: Operation, grad: Any) -> Any:
    """An Exit of the loop backward; of an invariant the sum over all rounds."""
    context = _grad_context(op)
    if context is None or not context.back_prop:
        return grad
    if op.attrs["is_constant"]:
        return sum_over_rounds(context, op, grad)
    result = primitives.exit_(grad)
    leave(context, result)
    return result


def _next_iteration(op: Operation, grad: Any) -> Any:
    return grad


def _loop_cond(op: Operation, grad: Any) -> Any:
    return None


def register() -> None:
    """Makes these the gradients of their op types, and of their twins for references."""
    for ref in ("", "Ref"):
        RegisterGradient(f"{ref}Switch")(_switch)
        RegisterGradient(f"{ref}Merge")(_merge)
        RegisterGradient(f"{ref}Exit")(_exit)
        RegisterGradient(f"{ref}Enter")(_enter)
        RegisterGradient(f"{ref}NextIteration")(_next_iteration)
    RegisterGradient("LoopCond")(_loop_cond)
