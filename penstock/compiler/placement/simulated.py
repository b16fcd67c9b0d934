"""The greedy placer: a simulated run of the step decides where its free nodes go.

As in section 3.2.1 of the TensorFlow white paper.  The run begins with the sources.  Whenever
all that a node needs is there, it is looked at where it would end soonest of all devices that it
may use: once its inputs have been copied there and the device is done with what it has been given
before.  There it goes, and with it its group; then the run goes on from there.

A group is decided by the first of its nodes that computes.  What costs nothing (a variable,
a constant) floats until something that uses it is decided, and goes along.  A region is one unit:
its free nodes go to one device together.  Feeds are where the client is.

State of a run: when each tensor's node ends and where it is, how long each lane is taken, and the
devices decided so far.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from penstock.compiler.placement.colocation import Colocation, Group
from penstock.compiler.placement.cost_model import CostModel, lane
from penstock.compiler.placement.edges import Edges
from penstock.foundation.graph.operation import Operation, blocks_of, inner_operations
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

# How often a loop's body counts.
_ROUNDS = 10


def place_free(
    step: StepGraph,
    edges: Edges,
    colocation: Colocation,
    possible: Mapping[Group, Sequence[str]],
    chosen: Mapping[Group, str],
    cost: CostModel,
    home: str,
) -> dict[Group, str]:
    """Chooses devices for groups that have none.

    Args:
      step: the step; ``edges`` and ``colocation``: its nodes and their groups.
      possible: the devices that each group may use, the best first.
      chosen: the groups that are decided.
      cost: what nodes and copies take.
      home: the device where feeds come from.

    Returns:
      Devices of further groups; those that nothing decided are missing.
    """
    run = _Run(step, edges, colocation, possible, chosen, cost, home)
    run.end()
    return {group: device for group, device in run.chosen.items() if group not in chosen}


def step_seconds(
    step: StepGraph, placement: Mapping[Operation, str], cost: CostModel, home: str
) -> float:
    """The time of a step under a placement, simulated.

    Args:
      step: a step after pruning.
      placement: of all its nodes, as ``place`` gives it.
      cost: what nodes and copies take.
      home: the device where feeds come from.
    """
    edges = Edges(step)
    colocation = Colocation(edges, soft=True)
    chosen = {colocation.group(op): placement[op] for op in edges.operations}
    possible = {group: [device] for group, device in chosen.items()}
    return _Run(step, edges, colocation, possible, chosen, cost, home).end()


class _Run:
    def __init__(
        self,
        step: StepGraph,
        edges: Edges,
        colocation: Colocation,
        possible: Mapping[Group, Sequence[str]],
        chosen: Mapping[Group, str],
        cost: CostModel,
        home: str,
    ) -> None:
        self._step, self._edges, self._colocation = step, edges, colocation
        self._possible, self._cost, self._home = possible, cost, home
        self.chosen: dict[Group, str] = dict(chosen)
        self._ended: dict[Operation, float] = {}
        self._where: dict[Operation, str | None] = {}
        self._taken_until: dict[str, float] = {}

    def end(self) -> float:
        """Runs to the end; the time at which the last node ends."""
        order = {op: i for i, op in enumerate(self._step.operations)}
        waits = {op: len(_needs(op)) for op in order}
        then: dict[Operation, list[Operation]] = {}
        for op in order:
            for before in _needs(op):
                then.setdefault(before, []).append(op)
        ready = [(0.0, order[op], op) for op, count in waits.items() if not count]
        heapq.heapify(ready)
        while ready:
            time, _, op = heapq.heappop(ready)
            self._visit(op, time)
            for after in then.get(op, ()):
                waits[after] -= 1
                if not waits[after]:
                    start = max(self._ended[before] for before in _needs(after))
                    heapq.heappush(ready, (start, order[after], after))
        return max(self._ended.values(), default=0.0)

    def _visit(self, op: Operation, time: float) -> None:
        if op.op_def.role == "feed":
            self._ended[op], self._where[op] = 0.0, self._home
            return
        options = self._options(op)
        if len(options) > 1 and not self._seconds(op, options[0]):
            self._ended[op], self._where[op] = time, None
            return
        ends = [(self._end_on(op, device, time), i) for i, device in enumerate(options)]
        end, index = min(ends)
        self._decide(op, options[index])
        if self._seconds(op, options[index]):
            self._taken_until[lane(options[index])] = end
        self._ended[op], self._where[op] = end, options[index]

    def _end_on(self, op: Operation, device: str, time: float) -> float:
        start = time
        for tensor in op.inputs:
            place = self._place_of(tensor.op)
            copy = self._cost.copy_seconds(tensor, place, device) if place else 0.0
            start = max(start, self._ended[tensor.op] + copy)
        seconds = self._seconds(op, device)
        if seconds:
            start = max(start, self._taken_until.get(lane(device), 0.0))
        return start + seconds

    def _place_of(self, op: Operation) -> str | None:
        """Where a node's values are; None while that floats."""
        place = self._where[op]
        if place is None and not blocks_of(op):
            return self.chosen.get(self._colocation.group(op))
        return place

    # ---- units: a node, or a region with all in it ---------------------------------------------

    def _inside(self, op: Operation) -> list[Operation]:
        if not blocks_of(op):
            return [op]
        return [inner for inner in inner_operations(op) if not blocks_of(inner)]

    def _options(self, op: Operation) -> Sequence[str]:
        """The devices that a unit may go to: where it is decided to go, or any that is free."""
        groups = dict.fromkeys(map(self._colocation.group, self._inside(op)))
        free = [g for g in groups if g not in self.chosen]
        if not blocks_of(op):
            (group,) = groups
            return [self.chosen[group]] if group in self.chosen else self._possible[group]
        if not free:
            decided = [self.chosen[g] for g in groups if g in self.chosen]
            return decided[:1] or [self._home]
        common = [d for d in self._possible[free[0]] if all(d in self._possible[g] for g in free)]
        return common or self._possible[free[0]]

    def _seconds(self, op: Operation, device: str) -> float:
        if not blocks_of(op):
            return self._cost.seconds(op, device)
        rounds = _ROUNDS if op.op_def.role == "loop" else 1
        steps = [inner for block in blocks_of(op) for inner in block.operations]
        return rounds * sum(self._seconds(inner, device) for inner in steps)

    def _decide(self, op: Operation, device: str) -> None:
        for inner in self._inside(op):
            self._settle(self._colocation.group(inner), device)
        for tensor in op.inputs:
            self._settle_floating(tensor, device)

    def _settle(self, group: Group, device: str) -> None:
        """Decides a group, and what floats before it."""
        stack = [group]
        while stack:
            current = stack.pop()
            if current in self.chosen or current.members[0].op_def.role == "feed":
                continue
            options = self._possible[current]
            self.chosen[current] = device if device in options else options[0]
            for member in current.members:
                stack.extend(g for t in member.inputs for g in self._floating(t))

    def _settle_floating(self, tensor: Tensor, device: str) -> None:
        for group in self._floating(tensor):
            self._settle(group, device)

    def _floating(self, tensor: Tensor) -> list[Group]:
        """The undecided groups whose nodes have been reached and make the tensor."""
        if tensor.op in self._where and self._where[tensor.op] is not None:
            return []
        groups = [self._colocation.group(op) for op in self._edges.sources(tensor)]
        return [g for g in groups if g not in self.chosen and tensor.op in self._where]


def _needs(op: Operation) -> dict[Operation, None]:
    return dict.fromkeys([*(t.op for t in op.inputs), *op.control_inputs])
