"""Where the nodes of a step stand that may wait for another node, or for another step.

In TensorFlow the nodes of a step run at the same time: ``run([queue.dequeue(), queue.enqueue(x)])``
ends, whichever was made first and whether the queue is empty or full.  A program runs one node
after the other, so for a step that both takes from queues and puts into them:

* A node that *takes* (it may wait, and has outputs: a dequeue) stands after every node that *gives*
  (it may wait and has no outputs, an enqueue; or it changes what a taker waits for) and does not
  need what was taken.
* An enqueue (or closing, or a put into a staging area) before a dequeue that does not need it is
  cut in two: the start hands the elements over, which go in as soon as there is room, and the rest
  waits for that, after the dequeue.

Nodes that wait are put into one order: each stands as late as its consumers allow, those first that
givers need.  All other nodes follow what they need and keep their order.  A step that only takes,
only gives, or gives only what it made of what it took, stays as it is.

What cannot be resolved in this way (two steps that wait for each other in the middle of a chain)
waits until its deadline or the session's closing ends it; the error names queue and node.

    dequeue(q), enqueue(q, 5)  ->  start enqueue(q, 5), dequeue(q), settle enqueue
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.foundation.graph import scopes
from penstock.foundation.graph.handles import resource_keys, written_keys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph

# Op types that can be cut in two, with the op that starts them; `_Settle` waits.
_STARTS = {
    "QueueEnqueue": "_QueueStartEnqueue",
    "QueueEnqueueV2": "_QueueStartEnqueueV2",
    "QueueEnqueueMany": "_QueueStartEnqueueMany",
    "QueueEnqueueManyV2": "_QueueStartEnqueueManyV2",
    "QueueClose": "_QueueStartClose",
    "QueueCloseV2": "_QueueStartCloseV2",
    "Stage": "_StartStage",
    "MapStage": "_StartMapStage",
    "OrderedMapStage": "_StartOrderedMapStage",
}
# Attrs that a start has of its node; its inputs tell the others.
_OWN = ("cancel_pending_enqueues", "capacity", "memory_limit", "container", "shared_name")


def order_blocking(step: StepGraph) -> StepGraph:
    """The pass."""
    takers = [op for op in step.operations if _takes(op)]
    if not takers:
        return step
    waits = _Waits(step.operations, takers)
    if not waits.in_the_way():
        return step
    return _rebuilt(step, waits)


def _takes(op: Operation) -> bool:
    return op.op_def.blocking and bool(op.outputs)


@dataclass(eq=False)
class _Waits:
    """What waits in a step, and who needs it.

    ``needs[op]`` has a bit for each node that waits and that must have ended before ``op`` ends.
    """

    operations: list[Operation]
    takers: list[Operation]
    givers: list[Operation] = field(default_factory=list)
    bits: dict[Operation, int] = field(default_factory=dict)
    needs: dict[Operation, int] = field(default_factory=dict)
    position: dict[Operation, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wanted = set().union(*map(resource_keys, self.takers))
        for position, op in enumerate(self.operations):
            self.position[op] = position
            if not _takes(op) and (op.op_def.blocking or written_keys(op) & wanted):
                self.givers.append(op)
            if op.op_def.blocking:
                self.bits[op] = 1 << len(self.bits)
            needed = self.bits.get(op, 0)
            for before in (*(t.op for t in op.inputs), *op.control_inputs):
                needed |= self.needs[before]
            self.needs[op] = needed

    def in_the_way(self) -> bool:
        """Whether a giver and a taker that do not need each other stand in a wrong order."""
        for giver in self.givers:
            for taker in self.takers:
                if self.needs[giver] & self.bits[taker]:
                    continue
                if self.position[taker] < self.position[giver]:
                    return True
                needed = self.bits.get(giver, 0) & self.needs[taker]
                if giver.type in _STARTS and not needed:
                    return True
        return False

    def ranks(self) -> dict[Operation, int]:
        """The order of the nodes that wait, from 1 on."""
        for_givers = 0
        for giver in self.givers:
            for_givers |= self.needs[giver] & ~self.bits.get(giver, 0)
        left = sorted(
            self.bits,
            key=lambda op: (
                not self.bits[op] & for_givers,
                not _takes(op),
                self.position[op],
            ),
        )
        ranks: dict[Operation, int] = {}
        ended = 0
        while left:
            following = next(op for op in left if not self.needs[op] & ~self.bits[op] & ~ended)
            left.remove(following)
            ended |= self.bits[following]
            ranks[following] = len(ranks) + 1
        return ranks


def _rebuilt(step: StepGraph, waits: _Waits) -> StepGraph:
    ranks = waits.ranks()
    rank_of_bit = {waits.bits[op]: rank for op, rank in ranks.items()}
    taken_at = [ranks[op] for op in waits.takers]

    def after(needed: int) -> int:
        return max((rank for bit, rank in rank_of_bit.items() if bit & needed), default=0)

    # (rank of the last wait before it, position, whether it only starts the node, node)
    places: list[tuple[int, int, bool, Operation]] = []
    cut: set[Operation] = set()
    for op in step.operations:
        end = after(waits.needs[op])
        if op.type in _STARTS:
            start = after(waits.needs[op] & ~waits.bits[op])
            if any(start < rank < end for rank in taken_at):
                places.append((start, waits.position[op], True, op))
                cut.add(op)
        places.append((end, waits.position[op], False, op))
    places.sort(key=lambda place: place[:2])

    rebuilder = Rebuilder(step)
    with scopes.default_graph_scope(rebuilder.graph):
        for _, _, starts, op in places:
            if starts:
                rebuilder.visit(op)
                _start(rebuilder, op)
            elif op in cut:
                rebuilder.visit(op)
                ticket = rebuilder.graph.by_name[op.name].outputs[0]
                rebuilder.controls[op] = [rebuilder.make("_Settle", ticket)]
            else:
                rebuilder.keep(op)
    return rebuilder.finish()


def _start(rebuilder: Rebuilder, op: Operation) -> None:
    inputs = [
        [rebuilder[t] for t in value] if isinstance(value, list) else rebuilder[value]
        for value in op.inputs_by_name().values()
    ]
    own = {n: v for n, v in op.attrs.items() if n in _OWN}
    if "fake_dtypes" in op.attrs:  # a map's: the types of the whole tuple, of which it puts a part
        own["dtypes"] = op.attrs["dtypes"]
    rebuilder.make(_STARTS[op.type], *inputs, **own)
