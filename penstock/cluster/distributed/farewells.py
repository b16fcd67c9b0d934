"""When the job is done: a server that only serves may end when all that use it have ended well.

A process that ends well says goodbye to the tasks that it has spoken to; one that fails or is
killed does not, and may come back.  A parameter server's ``join`` returns when every task of the
other jobs has said goodbye.

State: which of them have not.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable


class Farewells:
    """Who may still come.

    Args:
      expected: the tasks that are to say goodbye; if there are none, the job never ends by itself.

    >>> farewells = Farewells(["/job:worker/replica:0/task:0"])
    >>> farewells.left("/job:worker/replica:0/task:0")
    >>> farewells.all_gone.is_set()
    True
    """

    def __init__(self, expected: Iterable[str]) -> None:
        self._lock = threading.Lock()
        self._expected = frozenset(expected)
        self._missing = set(self._expected)
        self.all_gone = threading.Event()

    def left(self, task: str) -> None:
        """A task has said goodbye."""
        with self._lock:
            self._missing.discard(task)
            if self._expected and not self._missing:
                self.all_gone.set()

    def came(self, task: str) -> None:
        """A task uses this one, perhaps again."""
        with self._lock:
            if task in self._expected:
                self._missing.add(task)
