"""The calls of one connection that have not ended.

State: those that somebody waits for, and how many there are with those that nobody does any more.
"""

from __future__ import annotations

import threading

from penstock.cluster.http2.call import Call


class OpenCalls:
    """The calls of a connection, for any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waited_for: dict[int, Call] = {}
        # Calls that have not ended here, be they given up by their callers or not.
        self.count = 0
        # The call of a stream, or None.
        self.of = self._waited_for.get

    def all(self) -> list[Call]:
        """Those that somebody waits for."""
        return list(self._waited_for.values())

    def add(self, call: Call) -> None:
        """A call begins."""
        with self._lock:
            self._waited_for[call.stream] = call
            self.count += 1

    def claim(self, call: Call) -> bool:
        """A call is to be answered; False: nobody waits for that any more."""
        with self._lock:
            call.answered = True
            return not call.over

    def ended(self, call: Call) -> None:
        """A call has been answered, or nobody waited for that."""
        with self._lock:
            call.over = True
            self._waited_for.pop(call.stream, None)
            self.count -= 1

    def dropped(self, count: int) -> None:
        """So many calls that were whole are not answered."""
        with self._lock:
            self.count -= count

    def give_up(self, stream: int) -> Call | None:
        """Nobody waits for a call any more; None if so it was."""
        with self._lock:
            call = self._waited_for.get(stream)
            return call if call is not None and self._give_up(call) else None

    def give_up_late(self, call: Call) -> bool:
        """The time of a call is up; False: it is answered already."""
        with self._lock:
            return not (call.over or call.answered) and self._give_up(call)

    def give_up_all(self) -> list[Call]:
        """Nobody waits any more."""
        with self._lock:
            return [each for each in list(self._waited_for.values()) if self._give_up(each)]

    def _give_up(self, call: Call) -> bool:
        del self._waited_for[call.stream]
        call.over = True
        if not call.begun:  # so no thread will end it
            self.count -= 1
        return True
