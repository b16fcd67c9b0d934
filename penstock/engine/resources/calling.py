"""Being told of a cancellation without waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.engine.resources.waiting import Cancellation


class Calling:
    """Has a function called with the reason, if something is cancelled meanwhile or was before.

    It is called in the thread that cancels, must not wait, and is not called after the end.  No
    generator, since each step has one.

    Args:
      cancellation: what may be cancelled.
      callback: what is called.
    """

    __slots__ = ("_callback", "_cancellation")

    def __init__(self, cancellation: Cancellation, callback: Callable[[str], None]) -> None:
        self._cancellation, self._callback = cancellation, callback

    def wake(self) -> None:
        """The cancellation calls it as it would wake a waiter."""
        self._callback(str(self._cancellation.reason))

    def __enter__(self) -> None:
        self._cancellation.enter(self)

    def __exit__(self, *exc: Any) -> None:
        self._cancellation.leave(self)
