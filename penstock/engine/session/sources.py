"""What was compiled of a graph, kept with it: the next session that asks only links it.

A ``Source`` is text and what its globals are linked to, and holds no state; so sessions share it.
Where there are several devices, or a session logs or weighs placements, steps depend on the steps
before them, and nothing is shared.

State: of each graph its last sources, by what was asked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from penstock.compiler.codegen.source import Source
from penstock.engine.session.options import Options
from penstock.foundation.graph.graph import Graph

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
