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
