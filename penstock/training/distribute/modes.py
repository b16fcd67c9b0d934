"""Where the code of a thread stands: in the scope of a strategy, in a replica, or in neither.

State: per thread, the stack of contexts, each for the graph in which it was entered, and the
replica whose components an update works on.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from penstock.foundation.graph import scopes


class Mode(NamedTuple):
    """An entry of the stack: in a replica, ``replica`` is its context; else it is None."""

    graph: Any
    strategy: Any
    replica: Any


class Standing(threading.local):
    def __init__(self) -> None:
        self.modes: list[Mode] = []
        self.updating: int | None = None


standing = Standing()


def innermost() -> Mode | None:
    if not standing.modes:
        return None
    graph = scopes.get_default_graph()
    return next((mode for mode in reversed(standing.modes) if mode.graph is graph), None)


@contextmanager
def entered(strategy: Any, replica: Any = None) -> Iterator[None]:
    """Enters the cross-replica context of ``strategy``, or the context of one of its replicas."""
    standing.modes.append(Mode(scopes.get_default_graph(), strategy, replica))
    try:
        yield
    finally:
        standing.modes.pop()


@contextmanager
def updating(replica: int) -> Iterator[None]:
    """Lets mirrored variables stand for their component on the ``replica``-th device."""
    saved, standing.updating = standing.updating, replica
    try:
        yield
    finally:
        standing.updating = saved


def is_updating() -> bool:
    """Whether this code works on one component of mirrored variables."""
    return standing.updating is not None


def replica() -> Any:
    """The context of the strategy's replica that this code is for; None if it is for none."""
    mode = innermost()
    return None if mode is None else mode.replica


def has_strategy() -> bool:
    """Whether this is in the scope of a strategy other than the default one."""
    return innermost() is not None
