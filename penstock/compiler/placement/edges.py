"""What a step's nodes give each other, seen through the walls of conditionals and loops.

A region (``graph.region``) is no node of its own here: a tensor that it is given is used by the
nodes that use the feed of the block which stands for it, and a tensor that it gives comes from the
nodes that its blocks fetch::

    x --> _While(variables=[x]) --> exp          sources(exp's input) = body's mul
              body: feed -> mul -> fetch         users(x) = condition's less, body's mul

State: for each feed of a block the tensors outside that it stands for, and the way back.
"""

from __future__ import annotations

from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.region import inputs_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor


class Edges:
    """The nodes of a step and of its blocks.

    Args:
      step: a step after pruning.

    Attributes:
      waiting: the nodes that have a node as their control input.
      operations: every node but regions, each after what it needs within its block; a region's
        nodes stand where the region does.
      regions: the regions, outer ones before those in them.
      region_of: the region that a node stands in; nodes of the step itself are not in it.
      stands_for: the tensors that a feed of a block stands for: what the region is given and, for
    """

    def __init__(self, step: StepGraph) -> None:
        self.operations: list[Operation] = []
        self.regions: list[Operation] = []
        self.region_of: dict[Operation, Operation] = {}
        self.stands_for: dict[Tensor, list[Tensor]] = {}
        self.waiting: dict[Operation, list[Operation]] = {}
        self._feeds_for: dict[Tensor, list[Tensor]] = {}
        self._given_as: dict[Tensor, list[Tensor]] = {}
        self._taken_by: dict[Tensor, list[Operation]] = {}
        self._visit(step, None)

    def _visit(self, step: StepGraph, region: Operation | None) -> None:
        for op in step.operations:
            for before in op.control_inputs:
                self.waiting.setdefault(before, []).append(op)
            if region is not None:
                self.region_of[op] = region
            if not blocks_of(op):
                self.operations.append(op)
                for tensor in op.inputs:
                    self._taken_by.setdefault(tensor, []).append(op)
                continue
            self.regions.append(op)
            self._connect(op)
            for block in blocks_of(op):
                self._visit(block, op)

    def _connect(self, region: Operation) -> None:
        inputs = inputs_of(region, region.inputs)
        loop = region.op_def.role == "loop"
        outer = [*inputs.first, *inputs.args] if loop else inputs.args
        blocks = blocks_of(region)
        for block in blocks:
            for feed, tensor in zip(block.feeds, outer, strict=True):
                self._link(feed, tensor)
            if loop:
                for feed, following in zip(block.feeds, blocks[-1].fetches, strict=False):
                    self._link(feed, following)
        for block in blocks[-1:] if loop else blocks:
            for fetch, output in zip(block.fetches, region.outputs, strict=True):
                self._given_as.setdefault(fetch, []).append(output)

    def _link(self, feed: Tensor, tensor: Tensor) -> None:
        self.stands_for.setdefault(feed, []).append(tensor)
        self._feeds_for.setdefault(tensor, []).append(feed)

    def sources(self, tensor: Tensor) -> list[Operation]:
        """The nodes that make a tensor: its own, or those that the blocks of its region fetch."""
        blocks = blocks_of(tensor.op)
        if not blocks:
            return [tensor.op]
        found: dict[Operation, None] = {}
        for block in blocks[-1:] if tensor.op.op_def.role == "loop" else blocks:
            found.update(dict.fromkeys(self.sources(block.fetches[tensor.value_index])))
        return list(found)

    def users(self, tensor: Tensor) -> list[Operation]:
        """The nodes that take a tensor, also those in blocks and behind regions."""
        found: dict[Operation, None] = {}
        stack, seen = [tensor], {tensor}
        while stack:
            current = stack.pop()
            found.update((op, None) for op in self._taken_by.get(current, ()))
            on = [*self._feeds_for.get(current, ()), *self._given_as.get(current, ())]
            fresh = [t for t in on if t not in seen]
            seen.update(fresh)
            stack.extend(fresh)
        return list(found)
