"""Stacks in the graph: V1 names its stack by a reference to a string, V2 by a resource handle.

The node that makes a stack runs in each step and begins an empty one (``resources.stack.Stack``):
unlike other state, a stack does not outlive its step.  What is pushed is copied, because later
nodes may reuse the memory; ``swap_memory`` is accepted and changes nothing where there is only the
host's memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.opdef import define_op
from penstock.opdef.inference import no_outputs, same_as, unknown
from penstock.resources.stack import Stack

_NO_GRADIENT = "keeps intermediate results for gradients; has none of its own"


def _make_state(attrs: dict[str, Any], name: str) -> Stack:
    return Stack(attrs["stack_name"] or name)


def _push(handle: Stack, elem: Any) -> Any:
    handle.push(elem.clone() if isinstance(elem, torch.Tensor) else np.array(elem, object))
    return elem


def _begin(state: Stack) -> None:
    state.begin(-1)


def _begin_bounded(state: Stack, max_size: int) -> None:
    state.begin(max_size)


for _suffix, _handle, _inputs, _host, _kernel in (
    ("", "Ref(string)", "", (), _begin),
    ("V2", "resource", "max_size: int32 ", ("max_size",), _begin_bounded),
):
    define_op(
        f"Stack{_suffix}",
        f"{_inputs}-> handle: {_handle}",
        attrs=["elem_type: type", 'stack_name: string = ""'],
        shape=lambda ctx: (2,),
        kernel=_kernel,
        host=_host,
        state=_make_state,
        stateful=True,
        effect=True,
        no_gradient=_NO_GRADIENT,
    )
    define_op(
        f"StackPush{_suffix}",
        f"handle: {_handle}, elem: T -> output: T",
        attrs=["T: type", "swap_memory: bool = False"],
        shape=same_as("elem"),
        kernel=_push,
        aliases=("elem",),
        writes=("handle",),
        stateful=bool(_suffix),
        no_gradient=_NO_GRADIENT,
    )
    define_op(
        f"StackPop{_suffix}",
        f"handle: {_handle} -> elem: elem_type",
        attrs=["elem_type: type"],
        shape=unknown,
        kernel="{handle}.pop({elem_type})",
        writes=("handle",),
        stateful=bool(_suffix),
        no_gradient=_NO_GRADIENT,
    )
    define_op(
        f"StackClose{_suffix}",
        f"handle: {_handle} ->",
        shape=no_outputs,
        kernel="{handle}.close()",
        writes=("handle",),
        stateful=bool(_suffix),
        no_gradient=_NO_GRADIENT,
    )
