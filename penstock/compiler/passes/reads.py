"""Where reference variables are read: at their uses.

``W/read`` (an identity of the reference) hands the reference on: in TF its output is the variable's
own memory, so that a consumer ordered after an update sees the update, though ``W/read`` itself
stands before it.  Programs depend on that (a moved average taken after the training op), so it is
part of what a step means and not an optimization; it is done for every step, inside regions too.

An identity that waits for something with an effect reads there and then, and so does a fetched one.
So does one of a variable that the step may give another shape: that takes other memory, and the
identity keeps the old memory.
"""

from __future__ import annotations

from penstock.compiler.passes.inside import change_blocks
from penstock.compiler.passes.simplify import drop_idle_controls
from penstock.foundation.graph.handles import is_of, moved_keys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor


def read_at_use(step: StepGraph) -> StepGraph:
    """Lets the consumers of a reference's identity take the reference."""
    return _read_at_use(step, moved_keys(step.every_operation()))


def _read_at_use(step: StepGraph, moved: set[tuple[str, str]]) -> StepGraph:
    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if not op.op_def.passes_through or op.control_inputs:
            return None
        source = rebuilder[op.inputs[0]]
        if not source.dtype.is_ref or op.outputs[0] in rebuilder.old.fetches:
            return None
        if is_of(source, moved):
            return None
        return [source]

    if step.has_regions:
        step = change_blocks(step, lambda block: _read_at_use(block, moved))
    return Rebuilder(drop_idle_controls(step)).run(rule)
