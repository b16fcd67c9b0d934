"""Identities that tell a listener of the gradient that passes through them."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.operation import Operation
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import first_input

# Where a graph keeps its listeners: node name -> function of the gradient's tensor.
LISTENERS = "debug_gradients"


def _tell(op: Operation, grad: Any) -> Any:
    listener = op.graph.attached.get(LISTENERS, {}).get(op.name)
    if listener is not None:
        listener(grad)
    return grad


define_op(
    "DebugGradientIdentity",
    "input: T -> output: T",
    attrs=["T: type"],
    shape=first_input,
    kernel="{input}",
    aliases=("input",),
    gradient=_tell,
    moves=True,
)

define_op(
    "DebugGradientRefIdentity",
    "input: Ref(T) -> output: Ref(T)",
    attrs=["T: type"],
    shape=first_input,
    kernel="{input}",
    aliases=("input",),
    gradient=_tell,
    moves=True,
)
