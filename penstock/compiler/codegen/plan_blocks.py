"""Where the values of conditionals and loops lie, and what a loop may overwrite in its rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.compiler.codegen.lines import Line, Plan, Read, Root
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor


def fed_by(op: Operation) -> list[int]:
    """The inputs of a region that its blocks' feeds stand for."""
    feeds = len(blocks_of(op)[0].feeds)
    first = 1 if op.op_def.role == "conditional" else 0
    return list(range(first, first + feeds))


def _is_running_sum(condition: StepGraph, body: StepGraph, index: int) -> bool:
    """Whether a round does nothing with a variable but make its next value of it, in one node."""
    feed, following = body.feeds[index], body.fetches[index]
    return (
        not condition.uses(condition.feeds[index])
        and body.uses(feed) == [following.op]
        and following.op.inputs.count(feed) == 1
        and bool(following.op.op_def.inplace)
        and feed not in body.fetches
    )


def _stays_alone(plan: Plan, index: int) -> bool:
    """Whether a variable's next value lies where no other value of the next round does."""
    own = plan.fetch_roots[index]
    others = [roots for i, roots in enumerate(plan.fetch_roots) if i != index]
    return not (own & (plan.kept | plan.external)) and not any(own & other for other in others)


def returns_state(plan: Plan, index: int) -> bool:
    """Whether a block's fetch lies in a variable's memory, which it must not hand on."""
    return any(isinstance(root, Read) and not root.copies for root in plan.fetch_roots[index])


class Blocks:
    """Lines that have blocks; a base class of what plans a step."""

    roots: dict[Any, frozenset[Root]]
    external: set[Root]
    kept: set[Root]

    if TYPE_CHECKING:

        @staticmethod
        def _plan_of(block: StepGraph, owned: frozenset[Tensor] = frozenset()) -> Plan: ...

    def _region_roots(self, line: Line) -> None:
        op = line.op
        given = fed_by(op)
        roots = [self._given_roots(line, index) for index in given]
        if op.op_def.role == "loop":
            first = self._loop_roots(line, roots)
            outputs = first[: len(op.outputs)]
        else:
            first = roots
            outputs = [
                frozenset().union(*(self._outside(p, i, first) for p in line.blocks))
                for i in range(len(op.outputs))
            ]
        for tensor, found in zip(op.outputs, outputs, strict=True):
            self.roots[tensor] = found or frozenset([tensor])
        for plan in line.blocks:
            for root in plan.kept:
                self.kept.update(self._outer_roots(plan, root, first))

    def _overwrite_sums(self, line: Line) -> None:
        """Plans the body anew with the variables that it may overwrite."""
        condition, body = blocks_of(line.op)
        sums = {i for i in range(len(line.op.outputs)) if _is_running_sum(condition, body, i)}
        while sums:
            plan = self._plan_of(body, frozenset(body.feeds[i] for i in sums))
            alone = {i for i in sums if _stays_alone(plan, i)}
            if alone == sums:
                written = {inner.op for inner in plan.lines if inner.overwrites is not None}
                line.overwritten = {i for i in sums if body.fetches[i].op in written}
                line.blocks[1] = plan
                return
            sums = alone

    def _given_roots(self, line: Line, index: int) -> frozenset[Root]:
        value = line.read_of.get(index) or line.op.inputs[index]
        return self.roots.get(value, frozenset())

    def _loop_roots(self, line: Line, roots: list[frozenset[Root]]) -> list[frozenset[Root]]:
        """Where the variables of a loop may lie in any round, and the other things it is given."""
        body = line.blocks[1]
        while True:
            following = [
                found | self._outside(body, i, roots) if i < len(body.step.fetches) else found
                for i, found in enumerate(roots)
            ]
            if following == roots:
                return roots
            roots = following

    def _outside(self, plan: Plan, index: int, given: list[frozenset[Root]]) -> frozenset[Root]:
        """Where a fetch of a block lies, as the roots of the plan around it."""
        found: set[Root] = set()
        for root in plan.fetch_roots[index]:
            found |= self._outer_roots(plan, root, given)
        return frozenset(found)

    def _outer_roots(self, plan: Plan, root: Root, given: list[frozenset[Root]]) -> frozenset[Root]:
        if root in plan.step.feeds:
            return given[plan.step.feeds.index(root)]
        if isinstance(root, Read) and not root.copies:
            return frozenset()  # the block returns a copy
        if root in plan.external or root in plan.kept:
            self.external.add(root)
        return frozenset([root])
