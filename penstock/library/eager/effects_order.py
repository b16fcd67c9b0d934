"""The order of a function's effects, written into its graph.

Programs of Penstock run what touches one resource in the order in which the nodes were made.  Who
reads the function elsewhere knows control inputs alone: so each node that touches state waits for
the last one before it that it must not overtake.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.function import FunctionGraph, has_effect
from penstock.foundation.graph.operation import Operation

_READS = frozenset({"read", "read_rows"})
# What effects on the outside, such as printing, have in common.
_OUTSIDE = "outside"


def add(body: FunctionGraph) -> None:
    """Adds the control inputs to a function that was just traced."""
    last_write: dict[Any, Operation] = {}
    reads: dict[Any, list[Operation]] = {}
    for op in body.operations:
        for key in _touched(op):
            before = [last_write[key]] if key in last_write else []
            if op.op_def.role in _READS:
                reads.setdefault(key, []).append(op)
            else:
                before += reads.pop(key, [])
                last_write[key] = op
            _wait(op, before)


def _touched(op: Operation) -> list[Any]:
    found: list[Any] = [t for t in op.inputs if t.dtype is dtypes.resource]
    if not found and has_effect(op):
        found.append(_OUTSIDE)
    return found


def _wait(op: Operation, before: list[Operation]) -> None:
    known = {*op.control_inputs, *(t.op for t in op.inputs)}
    # Into another loop or branch no edge of this kind may lead.
    same = [b for b in before if b._control_flow_context is op._control_flow_context]
    new = [b for b in same if b not in known and b is not op]
    if new:
        op._add_control_inputs(new)
