"""The stacks and TensorArrays of a step: which nodes put values into each, through all blocks.

A loop's gradient keeps what it needs of each round on stacks.  ``refine`` finds out which of these
values are known beforehand (shapes, mostly) and uses the values; here the stacks go that nothing
reads any more.

The gradient of a TensorArray has elements of the array's own shape, whoever writes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.compiler.passes.inside import change_blocks
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.region import inputs_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

_USERS = ("StackPushV2", "StackPopV2")
# Nodes that put a value into what their first input stands for.
PUTS = ("StackPushV2", "TensorArrayWriteV3", "TensorArrayScatterV3")


@dataclass(eq=False)
class HolderUse:
    """Who uses a stack or TensorArray; ``read``: somebody takes a value from it, or might."""

    puts: list[Operation] = field(default_factory=list)
    read: bool = False


class HolderUses:
    """The uses of all stacks and TensorArrays of a step.

    State: for each tensor that stands for one (its handle, and the feeds of the blocks that it is
    given to) the use; and which of these tensors stand for the gradient of an array.
    """

    def __init__(self, step: StepGraph) -> None:
        self.of: dict[Tensor, HolderUse] = {}
        self.gradients: set[Tensor] = set()
        self._collect(step)

    def _collect(self, step: StepGraph) -> None:
        for op in step.operations:
            if op.type in ("StackV2", "TensorArrayV3"):
                self.of[op.outputs[0]] = HolderUse()
            elif op.type == "TensorArrayGradV3" and op.inputs[0] in self.of:
                self.of[op.outputs[0]] = self.of[op.inputs[0]]
                self.gradients.add(op.outputs[0])
            known = []
            if self.of:
                known = [(i, self.of[t]) for i, t in enumerate(op.inputs) if t in self.of]
            if blocks_of(op):
                self._hand_on(op)
            for index, use in known:
                self._note(step, op, index, use)
        for tensor in step.fetches:
            if tensor in self.of:
                self.of[tensor].read = True

    def _note(self, step: StepGraph, op: Operation, index: int, use: HolderUse) -> None:
        if op.type in PUTS and index == 0:
            if op.inputs[0] not in self.gradients:
                use.puts.append(op)
        elif op.type == "StackPopV2":
            use.read = use.read or bool(step.uses(op.outputs[0]))
            use.read = use.read or op.outputs[0] in step.fetches
        elif not blocks_of(op) or op.inputs[index] in inputs_of(op, op.inputs).first:
            use.read = True

    def _hand_on(self, op: Operation) -> None:
        args = inputs_of(op, op.inputs).args
        for block in blocks_of(op):
            for feed, arg in zip(block.feeds[len(block.feeds) - len(args) :], args, strict=True):
                if arg in self.of:
                    self.of[feed] = self.of[arg]
                if arg in self.gradients:
                    self.gradients.add(feed)
            self._collect(block)


def drop_idle_stacks(step: StepGraph) -> StepGraph:
    """Removes the stacks from which nothing is taken, and what is done with them."""
    uses = HolderUses(step)
    idle = {tensor for tensor, use in uses.of.items() if not use.read and _on_stacks(use)}
    return _without(step, idle) if idle else step


def _on_stacks(use: HolderUse) -> bool:
    return all(op.type == "StackPushV2" for op in use.puts)


def _without(step: StepGraph, idle: set[Tensor]) -> StepGraph:
    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if op.type == "StackPushV2" and op.inputs[0] in idle:
            return [rebuilder[op.inputs[1]]]
        return None

    def keep(op: Operation) -> bool:
        if op.type not in _USERS or op.inputs[0] not in idle:
            return True
        return op.type == "StackPushV2" and bool(step.uses(op.outputs[0]))

    # The blocks last: what they are given is known by the tensors of the old ones.
    left = Rebuilder(step).run(rule, keep)
    return change_blocks(left, lambda block: _without(block, idle))
