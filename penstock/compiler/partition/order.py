"""The one order of a step that all its parts keep, so that no two of them wait for each other.

Before the cut the step gets the meaning that every step has (variables read where they are used,
queues' nodes in an order that cannot block itself, shapes as far as the whole step tells them), and
what would only make messages goes: control edges that order nothing, nodes that the step runs only
to have others run, casts and reshapes that change nothing (the gradient of a lookup has its ids in
one, and they are there already).  Its list of nodes is then the global order.  One program runs the
rounds of a loop one after another, so a node that has an effect needs no edge from a loop's
variable; several programs do, and ``Ordered.rounds`` keeps these.

After the cut each part has its nodes in that order, and sends and receives have places in it: a
send comes right after what makes its value, a receive right before its first consumer, and a
conditional or loop is both.  Passes may move nodes as edges allow.  So every node of a part that
may wait depends on all sends of the part that stand before it (``Barrier``).  Suppose that all
parts wait: of all receives waited for, take the one whose place comes first.  Its send comes
before it, but has not run: its own part waits at a receive that the send stands behind, whose
place is thus earlier still.  So there is no such wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.compiler.passes.blocking import order_blocking
from penstock.compiler.passes.inside import change_blocks
from penstock.compiler.passes.prune import drop_dead
from penstock.compiler.passes.reads import read_at_use
from penstock.compiler.passes.refine import refine
from penstock.compiler.passes.simplify import SAME_VALUE, simplify
from penstock.foundation.base import errors
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.opdef.registry import OPS

Dims = tuple[int | None, ...] | None


def task_of(device: str) -> str:
    """The task of a full device name.

    >>> task_of("/job:worker/replica:0/task:1/device:CPU:0")
    '/job:worker/replica:0/task:1'
    """
    return device.rpartition("/device:")[0] or device


@dataclass(frozen=True)
class Ordered:
    """A step in the order that its parts will keep.

    ``devices`` are those of its nodes; ``rounds`` has, for nodes in loops that have an effect or
    may wait, the feeds of their block that they come after by control edges.
    """

    step: StepGraph
    devices: dict[Operation, str]
    rounds: dict[Operation, list[Operation]]


def ordered(
    step: StepGraph,
    placement: Mapping[Operation, str],
    shapes: Sequence[Dims] | None = None,
) -> Ordered:
    """Gives a step the order that its parts will keep.

    Args:
      step: as ``prune`` leaves it.
      placement: the device of every node, those in blocks too.
      shapes: of the values fed, where they are known.

    Returns:
      A new step with the devices of its nodes.
    """
    made = _without_detours(order_blocking(read_at_use(step)))
    if shapes is not None or made.has_regions:
        made = _without_dead(refine(made, shapes or [None] * len(made.feeds)))
    found = Ordered(made, {}, {})
    _translate(made, step, placement, found)
    return found


def _without_detours(step: StepGraph) -> StepGraph:
    """The step without nodes that stand for others, from which there would be messages more.

    What a ``tf.group`` waits for is run anyway, and no part ends before it has run.
    """
    targets = list(dict.fromkeys(_run_by(step.targets)))
    if targets != step.targets:
        step = replace(step, targets=targets)
    return drop_dead(simplify(step, SAME_VALUE))


def _run_by(targets: Iterable[Operation]) -> Iterator[Operation]:
    """The targets, and in place of those that only wait for others these."""
    for op in targets:
        waits_only = not (op.inputs or op.outputs or op.op_def.effect or op.op_def.blocking)
        if op.control_inputs and waits_only:
            yield from _run_by(op.control_inputs)
        else:
            yield op


def _without_dead(step: StepGraph) -> StepGraph:
    """The step without nodes whose values have turned out to be known."""
    return drop_dead(change_blocks(step, _without_dead))


def _translate(
    new: StepGraph,
    old: StepGraph,
    placement: Mapping[Operation, str],
    found: Ordered,
) -> None:
    for op in new.operations:
        before = _stands_for(op.name, old)
        if before is None or before not in placement:
            raise errors.InternalError(None, op, f"{op.name!r} has not been placed")
        found.devices[op] = placement[before]
        if op.op_def.effect or op.op_def.blocking:
            feeds = [new.graph.by_name[name] for name in _feeds_before(before)]
            if feeds:
                found.rounds[op] = feeds
        if not blocks_of(op):
            continue
        for inner, inner_before in zip(blocks_of(op), blocks_of(before), strict=True):
            _translate(inner, inner_before, placement, found)


def _feeds_before(op: Operation) -> list[str]:
    """The feeds that a node comes after by control edges, its own or those of what it is given."""
    given = _behind([t.op for t in op.inputs], lambda each: [t.op for t in each.inputs])
    waits_for = [control for each in (op, *given) for control in each.control_inputs]
    found = _behind(waits_for, lambda each: [*(t.op for t in each.inputs), *each.control_inputs])
    return [each.name for each in found if each.op_def.role == "feed"]


def _behind(
    starts: Sequence[Operation], before: Callable[[Operation], Sequence[Operation]]
) -> list[Operation]:
    """``starts`` and what stands behind them, up to nodes that have an effect or wait."""
    found: dict[Operation, None] = {}
    stack = list(starts)
    while stack:
        op = stack.pop()
        if op in found:
            continue
        found[op] = None
        if not (op.op_def.effect or op.op_def.blocking):
            stack += before(op)
    return list(found)


def _stands_for(name: str, old: StepGraph) -> Operation | None:
    """The old node of a name, or the one that a pass has named a new one under."""
    found = old.graph.by_name.get(name)
    while found is None and "/" in name:
        name = name.rpartition("/")[0]
        found = old.graph.by_name.get(name)
    return found


class Barrier:
    """Makes what waits in one part's graph depend on the sends before it.

    State: the node that stands for all sends up to some place, and the sends since then.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._passed: Operation | None = None
        self._sends: list[Operation] = []

    def sent(self, op: Operation) -> None:
        """Notes a send, or a region with sends in it."""
        self._sends.append(op)

    def controls(self) -> list[Operation]:
        """What a node that waits must come after."""
        if self._sends:
            before = [self._passed] if self._passed is not None else []
            if not before and len(self._sends) == 1:
                self._passed = self._sends[0]
            else:
                name = self._graph.unique_name("_sent")
                self._passed = Operation(
                    self._graph, OPS["NoOp"], name, [], [*before, *self._sends], {}, [], None
                )
                self._graph.register(self._passed)
            self._sends = []
        return [] if self._passed is None else [self._passed]
