"""The stacks of a step: which nodes push on each and pop from it, through the blocks of regions.

A loop's gradient keeps what it needs of each round on stacks.  ``refine`` finds out which of these
values are known beforehand (shapes, mostly) and uses the values; here the stacks go that nothing
reads any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.graph.operation import Operation, blocks_of
from penstock.graph.rebuild import Rebuilder
from penstock.graph.region import inputs_of
from penstock.graph.step import StepGraph
from penstock.graph.tensor import Tensor
from penstock.passes.inside import has_regions, replace_region

_USERS = ("StackPushV2", "StackPopV2")


@dataclass(eq=False)
class StackUse:
    """Who uses one stack; ``read``: somebody takes a value from it, or might."""

    pushes: list[Operation] = field(default_factory=list)
    pops: list[Operation] = field(default_factory=list)
    read: bool = False


class StackUses:
    """The uses of all stacks of a step.

    State: for each tensor that stands for a stack (its handle, and the feeds of the blocks that it
    is given to) the stack's use.
    """

    def __init__(self, step: StepGraph) -> None:
        self.of: dict[Tensor, StackUse] = {}
        self._collect(step)

    def _collect(self, step: StepGraph) -> None:
        for op in step.operations:
            if op.type == "StackV2":
                self.of[op.outputs[0]] = StackUse()
            known = [(i, self.of[t]) for i, t in enumerate(op._inputs) if t in self.of]
            if blocks_of(op):
                self._hand_on(op)
            for index, use in known:
                self._note(step, op, index, use)
        for tensor in step.fetches:
            if tensor in self.of:
                self.of[tensor].read = True

    def _note(self, step: StepGraph, op: Operation, index: int, use: StackUse) -> None:
        if op.type == "StackPushV2" and index == 0:
            use.pushes.append(op)
        elif op.type == "StackPopV2":
            use.pops.append(op)
            use.read = use.read or bool(op.outputs[0]._consumers)
            use.read = use.read or op.outputs[0] in step.fetches
        elif not blocks_of(op) or op._inputs[index] in inputs_of(op, op._inputs).first:
            use.read = True

    def _hand_on(self, op: Operation) -> None:
        args = inputs_of(op, op._inputs).args
        for block in blocks_of(op):
            for feed, arg in zip(block.feeds[len(block.feeds) - len(args) :], args, strict=True):
                if arg in self.of:
                    self.of[feed] = self.of[arg]
            self._collect(block)


def drop_idle_stacks(step: StepGraph) -> StepGraph:
    """Removes the stacks from which nothing is taken, and what is done with them."""
    if not has_regions(step):
        return step
    uses = StackUses(step)
    idle = {tensor for tensor, use in uses.of.items() if not use.read}
    return _without(step, idle) if idle else step


def _without(step: StepGraph, idle: set[Tensor]) -> StepGraph:
    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if op.type == "StackPushV2" and op._inputs[0] in idle:
            return [rebuilder[op._inputs[1]]]
        if not blocks_of(op):
            return None
        inputs = inputs_of(op, rebuilder.inputs(op))
        return replace_region(
            rebuilder, op, inputs, [_without(block, idle) for block in blocks_of(op)]
        )

    def keep(op: Operation) -> bool:
        if op.type not in _USERS or op._inputs[0] not in idle:
            return True
        return op.type == "StackPushV2" and bool(op.outputs[0]._consumers)

    return Rebuilder(step).run(rule, keep)
