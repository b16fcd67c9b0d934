"""How bytes get from one task to another.

Each task has an interface with a way out and a way in. A message begins to arrive while it is
still being sent: alone, it takes latency plus size over bandwidth, not twice that. A link carries
at most ``link_bandwidth``, however idle the interfaces are.

    FifoNetwork   each way serves one message after another
    FairNetwork   each way is divided alike among its messages; a message is there when both its
                  ends have served it (exact where one of them is the narrow one all the time)
    Loopback      all tasks on one host: bytes cost its cores work at both ends, and nothing else

Requests and acknowledgements are small: they take the latency, and slip between the others' bytes.
"""

from __future__ import annotations

from typing import Any, Protocol

from penstock.cluster.simulate.events import Action, EventQueue
from penstock.cluster.simulate.profile import Profile
from penstock.cluster.simulate.servers import FifoServer, Server, SharingServer

_INFINITE = float("inf")


class Network(Protocol):
    """What all three do. Tasks are numbers.

    Attributes:
        sent, received: Bytes that have left, and that have been delivered.
    """

    sent: float
    received: float

    def expect(self, task: int, messages: int) -> None:
        """Says that a task, which has received all so far, will now be sent so many."""

    def send(
        self, ready: float, source: int, to: int, size: float, then: Action, *arguments: Any
    ) -> None:
        """Sends ``size`` bytes from ``ready`` on; ``then(arrived, *arguments)``, maybe early."""

    def busiest(self, tasks: range) -> float:
        """The most seconds that one way of a task's interface was busy."""


class FifoNetwork:
    """One message after another on each way of each interface.

    State: when each way is free; for a task that expects messages, those known so far: they are
    put in the order of their arrival before they take its way in.
    """

    def __init__(self, queue: EventQueue, profile: Profile, tasks: int) -> None:
        self._seconds = 1.0 / profile.bandwidth if profile.bandwidth else 0.0
        self._link_seconds = 1.0 / profile.link_bandwidth if profile.link_bandwidth else 0.0
        self._latency = profile.latency
        self._out = [FifoServer(queue) for _ in range(tasks)]
        self._in = [FifoServer(queue) for _ in range(tasks)]
        self._expected = [0] * tasks
        self._coming: list[list[tuple[float, int, float, float, Action, tuple[Any, ...]]]] = [
            [] for _ in range(tasks)
        ]
        self.sent = self.received = 0.0

    def expect(self, task: int, messages: int) -> None:
        """As ``Network``."""
        self._expected[task] = messages

    def send(
        self, ready: float, source: int, to: int, size: float, then: Action, *arguments: Any
    ) -> None:
        """As ``Network``; ``then`` is called early."""
        work = size * self._seconds
        left = self._out[source].claim(ready, work)
        self.sent += size
        first = left - work + self._latency
        last = max(left, left - work + size * self._link_seconds) + self._latency
        expected = self._expected[to]
        if not expected:
            self._arrive(to, first, last, size, then, arguments)
            return
        coming = self._coming[to]
        coming.append((first, len(coming), last, size, then, arguments))
        if len(coming) == expected:
            self._expected[to], self._coming[to] = 0, []
            for first, _, last, size, then, arguments in sorted(coming):
                self._arrive(to, first, last, size, then, arguments)

    def _arrive(
        self, to: int, first: float, last: float, size: float, then: Action, arguments: Any
    ) -> None:
        self.received += size
        then(max(last, self._in[to].claim(first, size * self._seconds)), *arguments)

    def busiest(self, tasks: range) -> float:
        """As ``Network``."""
        return max(max(self._out[task].busy, self._in[task].busy) for task in tasks)


class _Join:
    """Waits for several ends of one message. State: how many are left, the latest so far."""

    __slots__ = ("_latest", "_left", "_network", "_size")

    def __init__(self, left: int, latest: float, network: FairNetwork | Loopback, size: float):
        self._left = left
        self._latest = latest
        self._network = network
        self._size = size

    def __call__(self, at: float, then: Action, arguments: tuple[Any, ...]) -> None:
        self._left -= 1
        self._latest = max(self._latest, at)
        if not self._left:
            self._network.received += self._size
            then(self._latest, *arguments)


class _SideBySide:
    """A network whose messages go side by side, in no order."""

    def __init__(self, queue: EventQueue) -> None:
        self._queue = queue
        self.sent = self.received = 0.0

    def expect(self, task: int, messages: int) -> None:
        """As ``Network``; nothing is to be put in order here."""

    def send(
        self, ready: float, source: int, to: int, size: float, then: Action, *arguments: Any
    ) -> None:
        """As ``Network``."""
        if ready > self._queue.now:
            self._queue.at(ready, self.send, ready, source, to, size, then, *arguments)
            return
        self.sent += size
        self._start(ready, source, to, size, then, arguments)

    def _start(
        self, ready: float, source: int, to: int, size: float, then: Action,
        arguments: tuple[Any, ...],
    ) -> None:  # fmt: skip
        raise NotImplementedError


class FairNetwork(_SideBySide):
    """Each way divided alike among its messages."""

    def __init__(self, queue: EventQueue, profile: Profile, tasks: int) -> None:
        super().__init__(queue)
        self._seconds = 1.0 / profile.bandwidth if profile.bandwidth else 0.0
        self._link_seconds = 1.0 / profile.link_bandwidth if profile.link_bandwidth else 0.0
        self._latency = profile.latency
        self._out = [SharingServer(queue, 1.0) for _ in range(tasks)]
        self._in = [SharingServer(queue, 1.0) for _ in range(tasks)]

    def _start(
        self, ready: float, source: int, to: int, size: float, then: Action,
        arguments: tuple[Any, ...],
    ) -> None:  # fmt: skip
        work = size * self._seconds
        start = ready + self._latency
        join = _Join(2, start + size * self._link_seconds, self, size)
        self._out[source].serve(ready, work, self._left, join, then, arguments)
        # The receiver's way is taken from the same instant: the latency is added at the end.
        self._in[to].serve(ready, work, self._left, join, then, arguments)

    def _left(self, at: float, join: _Join, then: Action, arguments: tuple[Any, ...]) -> None:
        join(at + self._latency, then, arguments)

    def busiest(self, tasks: range) -> float:
        """As ``Network``."""
        return max(max(self._out[task].busy, self._in[task].busy) for task in tasks)


class Loopback(_SideBySide):
    """All tasks on one host: both ends of a message are work for its cores, side by side."""

    def __init__(self, queue: EventQueue, profile: Profile, cores: Server) -> None:
        super().__init__(queue)
        self._cores = cores
        self._profile = profile

    def _start(
        self, ready: float, source: int, to: int, size: float, then: Action,
        arguments: tuple[Any, ...],
    ) -> None:  # fmt: skip
        profile = self._profile
        start = ready + profile.latency
        alone = start + size / (profile.link_bandwidth or _INFINITE)
        join = _Join(2, alone, self, size)
        self._cores.serve(ready, size * profile.send_byte_cpu, join, then, arguments)
        self._cores.serve(start, size * profile.recv_byte_cpu, join, then, arguments)

    def busiest(self, tasks: range) -> float:
        """As ``Network``: there is no interface."""
        return 0.0
