"""The steps that passes make on the way to the last one, let go of when that is made.

A node and its outputs refer to each other, so reference counts never free them.  Python's collector
would, after looking at all objects that compiling has made, which took it a fifth of the time that
compiling takes.  But nearly all nodes have served when the last pass has ended, and without their
outputs they are in no circle.

State: for each thread the graphs of steps that it has made since it began to compile.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from penstock.foundation.graph.operation import Operation, blocks_of


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
