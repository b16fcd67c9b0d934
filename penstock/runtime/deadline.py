"""The deadline of the step that this thread runs.

Only programs built with checks look at it, before every line; ``Session.run`` builds such a one
when a timeout is set.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.base import errors


class _Current(threading.local):
    def __init__(self) -> None:
        self.until: float | None = None
        self.seconds = 0.0


_current = _Current()


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Gives the step run inside at most ``seconds``."""
    saved = _current.until, _current.seconds
    _current.until, _current.seconds = time.monotonic() + seconds, seconds
    try:
        yield
    finally:
        _current.until, _current.seconds = saved


def check() -> None:
    """Raises DeadlineExceededError when the time is up."""
    until = _current.until
    if until is not None and time.monotonic() > until:
        raise errors.DeadlineExceededError(
            None, None, f"the step did not end within its {_current.seconds:g} s"
        )
