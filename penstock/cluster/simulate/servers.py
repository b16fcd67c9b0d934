"""What serves work: cores, interfaces, locks; first come first served, or shared alike.

Work is in seconds of one server. Both kinds have ``serve(ready, work, then, *arguments)``, which
calls ``then(finished, *arguments)``. A first-come server knows at once when it will have finished
and calls ``then`` early, with a time that lies ahead: this halves the events. Who goes on from
there to another server does so by ``serve``, which waits for ``ready`` when that lies ahead.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from typing import Any, Protocol

from penstock.cluster.simulate.events import Action, EventQueue

_NEVER = float("inf")


class Server(Protocol):
    """What both kinds do.

    Attributes:
        busy: Seconds of work served, or begun.
    """

    busy: float

    def serve(self, ready: float, work: float, then: Action, *arguments: Any) -> None:
        """Serves ``work`` seconds from ``ready`` on; then ``then(finished, *arguments)``."""


class FifoServer:
    """``count`` servers with one queue, first come first served.

    Args:
        count: Servers.
        in_order: Calls of ``serve`` come in the order of ``ready``: none has to wait for it.

    Example:
        >>> queue = EventQueue()
        >>> server = FifoServer(queue)
        >>> for _ in range(2):
        ...     server.serve(0.0, 3.0, print)
        3.0
        6.0
    """

    def __init__(self, queue: EventQueue, count: int = 1, in_order: bool = False) -> None:
        self._queue = queue
        self._in_order = in_order
        self._free = [0.0] * count
        heapify(self._free)
        self.busy = 0.0

    def claim(self, ready: float, work: float) -> float:
        """When ``work`` that comes at ``ready`` is finished.

        Calls must come in the order of ``ready``: later ones queue behind earlier ones.
        """
        free = self._free
        start = free[0] if free[0] > ready else ready
        self.busy += work
        if len(free) == 1:
            free[0] = start + work
        else:
            heapreplace(free, start + work)
        return start + work

    def serve(self, ready: float, work: float, then: Action, *arguments: Any) -> None:
        """As ``Server``; ``then`` is called early."""
        if ready > self._queue.now and not self._in_order:
            self._queue.at(ready, self.serve, ready, work, then, *arguments)
        else:
            then(self.claim(ready, work), *arguments)


class SharingServer:
    """Processor sharing: ``capacity`` servers divided alike among all work, at most one each.

    All work advances at one rate, so that it is ordered by the level of service (seconds of
    work that each has got since the beginning) at which it will be finished.

    State: the level and when it was taken, a heap of (level of finish, number, then, arguments),
    and the time of the next look at its top: arrivals slow the others down, so that a look may
    come too early, and then only sets the next.

    Example:
        >>> queue = EventQueue()
        >>> server = SharingServer(queue, 1.0)
        >>> server.serve(0.0, 3.0, print)
        >>> server.serve(0.0, 1.0, print)
        >>> queue.run()
        2.0
        4.0
    """

    def __init__(self, queue: EventQueue, capacity: float) -> None:
        self._queue = queue
        self._capacity = capacity
        self._level = 0.0
        self._since = 0.0
        self._heap: list[tuple[float, int, Action, tuple[Any, ...]]] = []
        self._number = 0
        self._next_look = _NEVER
        self.busy = 0.0

    def serve(self, ready: float, work: float, then: Action, *arguments: Any) -> None:
        """As ``Server``; ``then`` is called when the work is finished."""
        if ready > self._queue.now:
            self._queue.at(ready, self.serve, ready, work, then, *arguments)
            return
        if work <= 0.0:
            then(self._queue.now, *arguments)
            return
        self._advance()
        self.busy += work
        self._number += 1
        heappush(self._heap, (self._level + work, self._number, then, arguments))
        self._set_look()

    def _rate(self) -> float:
        return min(1.0, self._capacity / len(self._heap))

    def _advance(self) -> None:
        now = self._queue.now
        if self._heap:
            self._level += (now - self._since) * self._rate()
        self._since = now

    def _set_look(self) -> None:
        if self._heap:
            left = max(0.0, self._heap[0][0] - self._level)
            time = self._queue.now + left / self._rate()
            if time < self._next_look:
                self._next_look = time
                self._queue.at(time, self._look, time)

    def _look(self, time: float) -> None:
        if time != self._next_look:
            return  # an earlier one was set since
        self._next_look = _NEVER
        self._advance()
        done = []
        # Levels are sums of rounded numbers: what is left may be less than time can tell.
        reached = self._level + 1e-12 + time * 1e-15
        while self._heap and self._heap[0][0] <= reached:
            done.append(heappop(self._heap))
        self._set_look()
        for _, _, then, arguments in done:
            then(time, *arguments)


class Slots:
    """At most ``count`` pieces of work of a server at once; the others wait in order: a lock.

    State: free slots, and what waits for one.
    """

    def __init__(self, queue: EventQueue, count: int, server: Server) -> None:
        self._queue = queue
        self._free = count
        self._server = server
        self._waiting: list[tuple[float, Action, tuple[Any, ...]]] = []
        self.busy = 0.0

    def serve(self, ready: float, work: float, then: Action, *arguments: Any) -> None:
        """As ``Server``."""
        if ready > self._queue.now:
            self._queue.at(ready, self.serve, ready, work, then, *arguments)
        elif self._free:
            self._free -= 1
            self.busy += work
            self._server.serve(ready, work, self._left, then, arguments)
        else:
            self._waiting.append((work, then, arguments))

    def _left(self, at: float, then: Action, arguments: tuple[Any, ...]) -> None:
        self._free += 1
        if self._waiting:
            work, next_then, next_arguments = self._waiting.pop(0)
            self.serve(at, work, next_then, *next_arguments)
        then(at, *arguments)
