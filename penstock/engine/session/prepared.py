"""A step that is prepared, and its programs by the shapes that are fed.

A step whose feeds have open dims is compiled for each of the first few combinations of shapes that
are fed, and then once for all others.

State: the programs, under the shapes of the feeds with open dims.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from penstock.engine.runtime.program import Program
from penstock.engine.session.fetches import FetchPlan
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
