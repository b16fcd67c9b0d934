"""Stacks in the graph: V1 names its stack by a reference to a string, V2 makes one at run time.

The handle of a V2 stack is a value: the node makes a ``resources.stack.Stack``, which the program
hands on like a tensor, so a loop can make one an iteration and push it on another stack.  A V1
stack belongs to its node, which empties it when it runs: it does not outlive its step either.

What is pushed is kept and not copied: ``keeps`` and ``lends`` tell the planner that its memory
stays as it is.  ``swap_memory`` is accepted and changes nothing where there is only the host's.
"""

from __future__ import annotations

from typing import Any

from penstock.engine.resources.stack import Stack, StepStack
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import no_outputs, same_as, unknown

_NO_GRADIENT = "keeps intermediate results for gradients; has none of its own"


def _make_state(attrs: dict[str, Any], name: str) -> StepStack:
    return StepStack(attrs["stack_name"] or name)


def _begin(state: StepStack) -> None:
    state.begin()


def _stack(max_size: int, stack_name: str) -> Stack:
    return Stack(stack_name, max_size)


def _push(handle: Any, elem: Any) -> Any:
    handle.push(elem)
    return elem


_ATTRS = ("elem_type: type", 'stack_name: string = ""')
define_op(
    "Stack",
    "-> handle: Ref(string)",
    attrs=_ATTRS,
    shape=lambda ctx: (2,),
    kernel=_begin,
    state=_make_state,
    stateful=True,
    effect=True,
    no_gradient=_NO_GRADIENT,
)
define_op(
    "StackV2",
    "max_size: int32 -> handle: resource",
    attrs=_ATTRS,
    shape=lambda ctx: (2,),
    kernel=_stack,
    host=("max_size",),
    stateful=True,
    no_gradient=_NO_GRADIENT,
)
for _suffix, _type in (("", "Ref(string)"), ("V2", "resource")):
    define_op(
        f"StackPush{_suffix}",
        f"handle: {_type}, elem: T -> output: T",
        attrs=["T: type", "swap_memory: bool = False"],
        shape=same_as("elem"),
        kernel=_push,
        aliases=("elem",),
        keeps=("elem",),
        writes=("handle",),
        stateful=bool(_suffix),
        no_gradient=_NO_GRADIENT,
    )
    define_op(
        f"StackPop{_suffix}",
        f"handle: {_type} -> elem: elem_type",
        attrs=["elem_type: type"],
        shape=unknown,
        kernel="{handle}.pop({elem_type})",
        lends=True,
        writes=("handle",),
        stateful=bool(_suffix),
        no_gradient=_NO_GRADIENT,
    )
    define_op(
        f"StackClose{_suffix}",
        f"handle: {_type} ->",
        shape=no_outputs,
        kernel="{handle}.close()",
        writes=("handle",),
        stateful=bool(_suffix),
        no_gradient=_NO_GRADIENT,
    )
