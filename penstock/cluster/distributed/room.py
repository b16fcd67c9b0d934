"""How many calls and parts of steps a server works on at a time.

Each has a thread while it waits, for a queue say, and there are only so many.  What comes when all
but a few wait is refused at once, in words: if it took the last threads, nobody could be heard who
ends a wait, and the server would be as good as dead.

State: how many there are.
"""

from __future__ import annotations

import threading

from penstock.cluster.distributed.daemon_pool import POOL_LIMIT
from penstock.foundation.base import errors

# Answers at a time that wait for callers who take no more of them.
STALLED = 512
# The rest of a pool's threads is for those that read, and for calls that end others.
ROOM = POOL_LIMIT - STALLED - 96


class Room:
    """Room for calls that may wait.

    Args:
      whose: the server's name, for errors.
      limit: of calls at a time.
    """

    def __init__(self, whose: str, limit: int = ROOM) -> None:
        self._whose, self._limit = whose, limit
        self._lock = threading.Lock()
        self._count = 0

    def enter(self, what: str) -> None:
        """A call begins, which is to ``leave`` if this returns.

        Raises:
          tf.errors.ResourceExhaustedError: there is no room for it.
        """
        with self._lock:
            if self._count < self._limit:
                self._count += 1
                return
        raise errors.ResourceExhaustedError(
            None, None, f"{what} at {self._whose or 'the server'}: {self._limit} others run or wait"
            " there, as many as it has threads for; end some of them (their queues, sessions or"
            " time limits), or start more servers",
        )  # fmt: skip

    def leave(self) -> None:
        """The call has ended."""
        with self._lock:
            self._count -= 1
