"""What applies to the operations that one thread makes: the scopes that it has entered."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from penstock.foundation.graph.operation import Operation


class Controller:
    """One active ``control_dependencies``: what to depend on, and the ops made under it."""

    __slots__ = ("ops", "seen", "new_stack", "saved")

    def __init__(self, ops: list[Operation], new_stack: bool) -> None:
        self.ops = ops
        self.new_stack = new_stack
        self.seen: set[Operation] = set()
        self.saved: Any = None


class Controlled:
    """A ``with`` block of ``control_dependencies``; it may be entered again once it is left.

    Args:
      scopes: of the graph.
      ops: what nodes made inside run after; None clears what outer blocks say.
    """

    __slots__ = ("_scopes", "_ops", "_entered", "_saved")

    def __init__(self, scopes: ThreadScopes, ops: list[Operation] | None) -> None:
        self._scopes, self._ops = scopes, ops
        self._entered: list[Controller] = []
        self._saved: Any = None

    def __enter__(self) -> None:
        scopes = self._scopes
        outer = scopes.controllers
        self._saved = outer, scopes.control_flow
        if self._ops is None:
            self._entered, scopes.control_flow = [], None
        else:
            known = {op for controller in outer for op in controller.ops}
            fresh = [op for op in self._ops if op not in known]
            self._entered = [*outer, Controller(fresh, False)]
        scopes.controllers = self._entered

    def __exit__(self, *_: object) -> None:
        scopes = self._scopes
        left = scopes.controllers
        scopes.controllers, scopes.control_flow = self._saved
        if left is not self._entered:
            raise AssertionError(
                "control dependencies are left in the reverse of the order in which they were"
                " entered; these were not the last"
            )


class ThreadScopes(threading.local):
    """The implicit state that applies to operations made by one thread.

    Args:
      start: what threads to come begin with, of devices, controllers and colocation.
    """

    def __init__(self, start: dict[str, list[Any]]) -> None:
        self.name = ""
        self.devices: list[Callable[[Operation], str] | str | None] = [*start.get("devices", ())]
        self.controllers: list[Controller] = [*start.get("controllers", ())]
        self.colocation: list[Operation] = [*start.get("colocation", ())]
        self.attrs: dict[str, Any] = {}
        self.gradient_overrides: dict[str, str] = {}
        self.kernel_labels: dict[str, str] = {}
        self.original_op: Operation | None = None
        self.container = ""
        self.control_flow: Any = None
