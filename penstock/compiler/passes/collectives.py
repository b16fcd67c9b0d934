"""One order for the collective ops of a step, the same on every task.

A collective waits for its counterparts on the other tasks.  Those of a task run one after the
other, so all tasks must run them in the same order, also where their steps differ in other nodes
(the first task's step may write summaries besides).  They run by group, in order of their
instance keys, which strategies count up as they make the nodes; a node that needs a later
instance keeps its place.
"""

from __future__ import annotations

from penstock.foundation.graph import scopes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph


def order_collectives(step: StepGraph) -> StepGraph:
    """The pass: each collective runs after the one before it."""
    order = _ordered(step)
    before = dict(zip(order[1:], order[:-1], strict=True))
    if not before:
        return step
    rebuilder = Rebuilder(step)
    with scopes.default_graph_scope(rebuilder.graph):
        for op in _sorted(step, before):
            if op in before:
                rebuilder.copy(op).control_inputs += tuple(rebuilder.controls[before[op]])
            else:
                rebuilder.keep(op)
    return rebuilder.finish()


def _ordered(step: StepGraph) -> list[Operation]:
    """The collectives: those with the lowest keys first whose inputs need none that is left."""
    needs: dict[Operation, int] = {}
    bits: dict[Operation, int] = {}
    for op in step.operations:
        needed = 0
        for before in (*(t.op for t in op.inputs), *op.control_inputs):
            needed |= needs[before] | bits.get(before, 0)
        needs[op] = needed
        if op.op_def.role == "collective":
            bits[op] = 1 << len(bits)
    left = sorted(bits, key=lambda op: (op.attrs["group_key"], op.attrs["instance_key"]))
    order: list[Operation] = []
    placed = 0
    while left:
        following = next(op for op in left if not needs[op] & ~placed)
        left.remove(following)
        placed |= bits[following]
        order.append(following)
    return order


def _sorted(step: StepGraph, before: dict[Operation, Operation]) -> list[Operation]:
    """The nodes, each after what it needs and after the collective before it."""
    done: dict[Operation, None] = {}
    for root in step.operations:
        stack = [root]
        while stack:
            op = stack[-1]
            needed = [*(t.op for t in op.inputs), *op.control_inputs]
            if op in before:
                needed.append(before[op])
            missing = [n for n in needed if n not in done]
            if missing and op not in done:
                stack.extend(reversed(missing))
            else:
                done[op] = None
                stack.pop()
    return list(done)
