"""What is kept of steps: a session's prepared calls and their programs, a graph's sources.

A step whose feeds have open dims is compiled for each of the first few combinations of shapes that
are fed, and then once for all others.

What was compiled of a graph is kept with it, so that the next session that asks only links it: a
``Source`` is text and what its globals are linked to, and holds no state.  Where there are several
devices, or a session logs or weighs placements, steps depend on the steps before them, and nothing
is shared.

State: of each step its programs, under the shapes of the feeds with open dims; of each graph its
last sources, by what was asked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from penstock.compiler.codegen.source import Source
from penstock.engine.runtime.program import Program
from penstock.engine.session.fetches import FetchPlan
from penstock.engine.session.options import Options
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor

# Shapes that a step is compiled for before it falls back to one program for all shapes.
_SPECIAL_PROGRAMS = 4


class ShapedPrograms:
    """The programs of one step.

    Args:
      tensors: what is fed, in order.
      build: makes the program for the shapes of all feeds, or for None: any shapes.
      lock: held while a program is built.
    """

    __slots__ = ("_open", "_special", "_general", "_build", "_lock")

    def __init__(
        self,
        tensors: Sequence[Tensor],
        build: Callable[[tuple[Any, ...] | None], Program],
        lock: Any = None,
    ) -> None:
        self._open = [i for i, t in enumerate(tensors) if t.sizes is None or None in t.sizes]
        self._special: dict[Any, Program] = {}
        self._general: Program | None = None
        self._build = build
        self._lock = lock or threading.RLock()

    def program(self, args: Sequence[Any]) -> Program:
        """The program for these run-time values of the feeds, compiled when it is new."""
        if not self._open:
            return self._general or self._compiled(None, args)
        key = tuple([getattr(args[i], "shape", ()) for i in self._open])
        # The general one exists only when there is no room for another special one.
        return self._special.get(key, self._general) or self._compiled(key, args)

    def _compiled(self, key: Any, args: Sequence[Any]) -> Program:
        with self._lock:
            found = self._special.get(key, self._general)
            if found is None and key is not None and len(self._special) < _SPECIAL_PROGRAMS:
                shapes = tuple(tuple(getattr(a, "shape", ())) for a in args)
                found = self._special[key] = self._build(shapes)
            if found is None:
                found = self._general = self._build(None)
            return found

    def general(self) -> Program:
        """A program for any shapes."""
        return self._build(None)


class Step:
    """A prepared ``run`` call: how to convert feeds, what to run, how to assemble the result."""

    __slots__ = ("version", "feeds", "program", "build", "assemble", "single")

    def __init__(
        self,
        version: int,
        feeds: list[tuple[Any, Callable[[Any], Any]]],
        programs: ShapedPrograms,
        plan: FetchPlan,
        single: bool,
    ) -> None:
        self.version = version
        self.feeds = feeds
        self.program = programs.program
        self.build = programs.general
        self.assemble = plan.assemble
        self.single = single


_KEY = "sources"


# Nodes of the steps that are kept for one graph, besides the last one's.
_MOST_NODES = 1 << 15


class _Sources:
    """The last sources of one graph."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[Any, Source] = {}
        self._version = -1

    def get(self, key: Any, version: int) -> Source | None:
        """The source for a request, if the graph's nodes have not changed since."""
        with self._lock:
            if version != self._version:
                self._found.clear()
                self._version = version
            found = self._found.pop(key, None)
            if found is not None:
                self._found[key] = found  # the last one asked for goes last
            return found

    def keep(self, key: Any, version: int, source: Source) -> None:
        """Keeps a source, and drops those that were not asked for the longest time."""
        with self._lock:
            if version != self._version:
                return
            self._found[key] = source
            nodes = sum(len(each.step.operations) for each in self._found.values())
            while len(self._found) > 1 and nodes > _MOST_NODES:
                oldest = self._found.pop(next(iter(self._found)))
                nodes -= len(oldest.step.operations)


def shared_source(graph: Graph, key: Any, options: Options, make: Callable[[], Source]) -> Source:
    """The source that an earlier session had made of the same request, else a new one.

    Args:
      graph: the user's graph, or a function's.
      key: all that the source depends on besides the graph and the options.
      options: of the session that asks.
      make: compiles the step.
    """
    placer = options.placer
    if len(placer.devices) > 1 or placer.cost is not None or options.log_device_placement:
        return make()
    sources: _Sources = graph.attached.setdefault(_KEY, _Sources())
    version = graph.mutation_version
    kinds = options.optimize, options.dataflow, options.allow_soft_placement
    asked = key, kinds, placer.devices[0].name
    source = sources.get(asked, version)
    if source is None:
        source = make()
        sources.keep(asked, version, source)
    return source
