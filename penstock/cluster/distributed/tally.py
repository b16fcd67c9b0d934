"""What a server has done since it started, counted where it happens, for its page of metrics.

A step is counted when it has ended at this task, whoever leads it; bytes are those of links, heads
and tensors, counted when a link takes or has read them.  What costs a step anything here is a lock
and a few additions.

State: the counts, and the links that are open (each counts for itself).
"""

from __future__ import annotations

import bisect
import threading
from dataclasses import dataclass, field
from typing import Protocol

# Upper ends, in seconds, of the histogram's buckets.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class _Carries(Protocol):
    """A link: the bytes that it has carried so far."""

    sent: int

    @property
    def received(self) -> int: ...


@dataclass(frozen=True)
class Counts:
    """The counts at one moment.

    Attributes:
      done, failed: steps that ended well, or with an error.
      seconds: of all of them together.
      buckets: how many took no longer than each of ``BOUNDS``, and longer than the one before; the
        last: how many took longer than all.
      restarted, unreachable: how often another task was found to have been started anew, or could
        not be reached any more.
      links: that are open.
      sent, received: bytes over links.
    """

    done: int
    failed: int
    seconds: float
    buckets: tuple[int, ...]
    restarted: int
    unreachable: int
    links: int
    sent: int
    received: int


@dataclass
class Tally:
    """Counts of one server."""

    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    restarted: int = 0
    unreachable: int = 0
    _sent: int = 0
    _received: int = 0
    _links: list[_Carries] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def step_ended(self, seconds: float, *, well: bool) -> None:
        """A step has ended here."""
        bucket = bisect.bisect_left(BOUNDS, seconds)
        with self._lock:
            if well:
                self.done += 1
            else:
                self.failed += 1
            self.seconds += seconds
            self.buckets[bucket] += 1

    def task_lost(self, *, restarted: bool) -> None:
        """The links to another task have ended."""
        with self._lock:
            if restarted:
                self.restarted += 1
            else:
                self.unreachable += 1

    def link_opened(self, link: _Carries) -> None:
        """A link carries messages from now on."""
        with self._lock:
            self._links.append(link)

    def link_ended(self, link: _Carries) -> None:
        """It carries no more."""
        with self._lock:
            if link in self._links:
                self._links.remove(link)
                self._sent += link.sent
                self._received += link.received

    def counts(self) -> Counts:
        """All of it, as it is now."""
        with self._lock:
            return Counts(
                self.done, self.failed, self.seconds, tuple(self.buckets),
                self.restarted, self.unreachable, len(self._links),
                self._sent + sum(link.sent for link in self._links),
                self._received + sum(link.received for link in self._links),
            )  # fmt: skip
