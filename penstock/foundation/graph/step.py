"""One step's graph: what a session hands down the pipeline.

After ``prune`` the graph holds only what the step needs, its nodes stand in a valid order, and each
fed tensor is the output of a ``_Feed`` node.  Every later pass keeps this form.

Nodes of steps are never changed, so what a pass makes of a step shares with it every node that
stays as it is.  Such a node belongs to no one graph: its ``graph`` is ``SHARED``, to which nothing
can be added, and which nodes take its outputs is asked of the step (``StepGraph.uses``).

The steps that passes make on the way to the last one are let go of when that is made
(``intermediate_steps``).  A node and its outputs refer to each other, so reference counts never
free them.  Python's collector would, after looking at all objects that compiling has made, which
took it a fifth of the time that compiling takes.  But nearly all nodes have served when the last
pass has ended, and without their outputs they are in no circle.

State: for each thread the graphs of steps that it has made since it began to compile.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation, blocks_of, inner_operations
from penstock.foundation.graph.tensor import Tensor


class Intermediate:
    """The graphs that one compilation makes."""

    def __init__(self) -> None:
        self.made: list[list[Operation]] = []

    def let_go(self, kept: Iterable[Operation]) -> None:
        """Lets go of all nodes but ``kept`` and those behind them, which nobody uses any more."""
        alive = _with_those_behind(kept)
        for operations in self.made:
            for op in operations:
                if op.outputs and op not in alive:
                    op.outputs = []
        self.made.clear()


class _Compiling(threading.local):
    intermediate: Intermediate | None = None


_compiling = _Compiling()


def note_made(operations: list[Operation]) -> None:
    """A step's graph is made, which will hold its nodes in this list."""
    found = _compiling.intermediate
    if found is not None:
        found.made.append(operations)


@contextmanager
def intermediate_steps() -> Iterator[Intermediate]:
    """What steps this thread makes inside; contexts nest, and each has its own."""
    saved = _compiling.intermediate
    _compiling.intermediate = made = Intermediate()
    try:
        yield made
    finally:
        _compiling.intermediate = saved


def _with_those_behind(kept: Iterable[Operation]) -> set[Operation]:
    """Nodes, those in their blocks, and all that these come after."""
    found: set[Operation] = set()
    left = list(kept)
    while left:
        op = left.pop()
        if op in found:
            continue
        found.add(op)
        left += [tensor.op for tensor in op.inputs]
        left += op.control_inputs
        for block in blocks_of(op):
            left += block.operations
            left += [tensor.op for tensor in (*block.feeds, *block.fetches)]
    return found


class StepNodes(Graph):
    """The nodes of a step, some of them shared with the step that it was made of."""

    shares_nodes = True

    def __init__(self) -> None:
        super().__init__()
        note_made(self.operations)

    def add_copy(self, op: Operation) -> None:
        """Adds a node that was made for this step."""
        op.id = len(self.operations)
        op.graph = SHARED
        self.share(op)

    def share(self, op: Operation) -> None:
        """Adds a node that another step has, too."""
        if op.name in self.by_name:
            raise ValueError(f"operation name {op.name!r} is already used in this graph")
        self.operations.append(op)
        self.by_name[op.name] = op

    def share_all(self, ops: Sequence[Operation]) -> None:
        """Adds the first nodes, which another step has, too."""
        self.operations.extend(ops)
        self.by_name.update({op.name: op for op in ops})


SHARED = StepNodes()
SHARED.finalize()


@dataclass(frozen=True)
class StepGraph:
    """A graph with what is fed into it, fetched from it and run for its effect."""

    graph: Graph
    feeds: list[Tensor]
    fetches: list[Tensor]
    targets: list[Operation]
    # Name of the user's tensor behind each feed, for messages.
    feed_names: list[str] = field(default_factory=list)
    # What ``uses`` has found, once it was asked.
    _uses: dict[Tensor, list[Operation]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    # What ``has_regions`` has found, once it was asked: every pass about regions does.
    _regions: list[bool] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def operations(self) -> list[Operation]:
        """The nodes, each after everything it needs."""
        return self.graph.operations

    @property
    def has_regions(self) -> bool:
        """Whether there are conditionals or loops (see ``region``)."""
        if not self._regions:
            self._regions.append(any(blocks_of(op) for op in self.operations))
        return self._regions[0]

    @property
    def uses_gpus(self) -> bool:
        """Whether a node is placed on a GPU, one in a block too."""
        return any("GPU" in op.device for op in self.every_operation())

    def every_operation(self) -> Iterator[Operation]:
        """The nodes, each followed by those in its blocks."""
        for op in self.operations:
            yield op
            yield from inner_operations(op)

    def uses(self, tensor: Tensor) -> list[Operation]:
        """The nodes that take a tensor of the step, each as often as it does."""
        found = self._uses
        if not found:
            made: dict[Tensor, list[Operation]] = {}
            for op in self.operations:
                for each in op.inputs:
                    made.setdefault(each, []).append(op)
            found.update(made)  # at once: another thread may compile the same step
        return found.get(tensor, [])
