"""One placement: groups of nodes that must be together, and the device chosen for each.

State: the groups, for each the devices it may use, and the device chosen for each so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.compiler.placement.available import DeviceAttributes, by_preference
from penstock.compiler.placement.colocation import Colocation, Group
from penstock.compiler.placement.constraints import Candidates
from penstock.compiler.placement.cost_model import CostModel
from penstock.compiler.placement.edges import Edges
from penstock.compiler.placement.simulated import place_free
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.step import StepGraph


class Placing:
    """One placement.

    State: the groups, for each the devices it may use, and the device chosen for each so far.
    """

    def __init__(
        self,
        step: StepGraph,
        devices: Sequence[DeviceAttributes],
        default: str,
        soft: bool,
        cost: CostModel | None,
        earlier: Mapping[str, str] | None,
    ) -> None:
        self._step = step
        self._cost = cost
        self._edges = Edges(step)
        self._colocation = Colocation(self._edges, soft, earlier)
        self.passed_over = self._colocation.passed_over
        self._default = by_preference(devices, default)[0].name
        candidates = Candidates(devices, default, soft)
        self._possible = {group: candidates.of(group) for group in self._colocation.groups}
        self._chosen: dict[Group, str] = {}

    def result(self) -> dict[Operation, str]:
        """The device of every node."""
        groups = self._colocation.groups
        free = [g for g in groups if g.free]
        later = {*free, *filter(self._is_generator, groups)}
        for group in groups:
            if group not in later:
                self._choose(group)
        if self._cost is None:
            self._choose_free(free)
        else:
            self._chosen.update(self._simulated(self._cost))
        for group in groups:
            if group not in self._chosen:
                self._choose(group, self._of_consumers(group))
        self._move_feeds()
        return self._by_operation()

    def _choose(self, group: Group, wanted: str | None = None) -> None:
        """Takes the device that is wanted, if the group may use it, or else its best."""
        possible = self._possible[group]
        self._chosen[group] = wanted if wanted in possible else possible[0]

    def _device(self, op: Operation) -> str | None:
        return self._chosen.get(self._colocation.group(op))

    def _choose_free(self, free: Sequence[Group]) -> None:
        """Those that ask for nothing, but for nodes that go with their consumers."""
        near = self._neighbours()
        for group in free:
            if self._is_generator(group):
                continue
            op = group.members[0]
            wanted = self._near(op, near)
            if len(group.members) == 1 and op.op_def.role == "shape":
                wanted = self._device(self._edges.sources(op.inputs[0])[0]) or wanted
            self._choose(group, wanted)

    def _near(self, op: Operation, near: Mapping[Operation, str]) -> str | None:
        region = self._edges.region_of.get(op)
        while region is not None and region not in near:
            region = self._edges.region_of.get(region)
        return None if region is None else near[region]

    def _neighbours(self) -> dict[Operation, str]:
        """For each region the one device of the nodes in it that are placed, if it is one.

        What is on a device because of state says nothing about the other nodes.
        """
        found: dict[Operation, set[str]] = {}
        groups = self._colocation.groups
        stateful = {g for g in groups if any(op.op_def.state is not None for op in g.members)}
        for op, region in self._edges.region_of.items():
            if blocks_of(op) or self._colocation.group(op) in stateful:
                continue
            device = self._device(op)
            if device is not None:
                found.setdefault(region, set()).add(device)
        return {region: next(iter(d)) for region, d in found.items() if len(d) == 1}

    # ---- nodes without inputs ----------------------------------------------------------------

    def _is_generator(self, group: Group) -> bool:
        """Whether the group is one node that makes one value of nothing (a feed is one too)."""
        op = group.members[0]
        if len(group.members) > 1 or op.inputs or len(op.outputs) != 1 or group.assigned:
            return False
        return op.op_def.state is None and not op.outputs[0].dtype.is_ref

    def _of_consumers(self, group: Group) -> str | None:
        """The device of all consumers of a generator; for a block's feed, that of its source."""
        op = group.members[0]
        outer = self._edges.stands_for.get(op.outputs[0]) if op.outputs else None
        if outer is not None:
            return None  # decided when the sources are; see _move_feeds
        if not self._is_generator(group):
            return None
        found = {self._device(user) for user in self._edges.users(op.outputs[0])}
        found.update(self._device(user) for user in self._edges.waiting.get(op, ()))
        return next(iter(found)) if len(found) == 1 else None

    def _move_feeds(self) -> None:
        """Puts each feed of a block where that is made which it stands for."""
        for feed, outer in self._edges.stands_for.items():
            group = self._colocation.group(feed.op)
            # What a loop's body makes of a variable comes last, and counts for more.
            made = [s for t in outer for s in self._edges.sources(t) if s is not feed.op]
            if len(group.members) == 1 and made:
                self._choose(group, self._device(made[-1]))

    # ---- the rest ----------------------------------------------------------------------------

    def _simulated(self, cost: CostModel) -> dict[Group, str]:
        return place_free(
            self._step, self._edges, self._colocation, self._possible, self._chosen, cost,
            self._default,
        )  # fmt: skip

    def _by_operation(self) -> dict[Operation, str]:
        placed: dict[Operation, str] = {}

        def visit(step: StepGraph) -> None:
            for op in step.operations:
                if not blocks_of(op):
                    placed[op] = self._chosen[self._colocation.group(op)]
                    continue
                for block in blocks_of(op):
                    visit(block)
                placed[op] = self._of_predicate(op)

        visit(self._step)
        return placed

    def _of_predicate(self, region: Operation) -> str:
        loop = region.op_def.role == "loop"
        pred = blocks_of(region)[0].fetches[0] if loop else region.inputs[0]
        return self._device(self._edges.sources(pred)[0]) or self._default
