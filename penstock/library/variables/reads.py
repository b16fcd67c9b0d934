"""Who is told when a graph's nodes read a resource variable: tapes that watch what is accessed.

State: the listeners of each thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class _Listeners(threading.local):
    def __init__(self) -> None:
        self.active: list[Callable[[Any], None]] = []


listeners = _Listeners()


def read(variable: Any) -> None:
    """A node that reads ``variable`` was made in this thread."""
    for listener in listeners.active:
        listener(variable)
