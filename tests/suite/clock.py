"""Time that leaves out what the machine could not give: the clock of every limit in the tests.

A limit on wall time fails tests on a machine that others use, too; a limit on processor time never
ends a wait for what does not come. This clock counts wall time less the time in which the kernel
saw something wait for a core, for the disk or for memory (pressure stall information), and less
what the hypervisor took (steal). It runs at least as fast as the processor time that this process
and its ended children used, and at least at a tenth of wall time, so that a hang ends on the
busiest machine as well. Where the kernel does not tell, it takes the machine for a busy one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PRESSURE = Path("/proc/pressure")
STAT = Path("/proc/stat")
# What wall time is worth at the least: a limit of two minutes lasts at most twenty.
LEAST = 0.1
# For an API that insists on a limit of its own, where only a hang would reach it.
PATIENCE = 1200.0
PATIENCE_MS = 1_200_000


class Clock:
    """Counts from when it is made.

    Args:
      wall, used, lost: seconds passed, seconds of processor time used, and seconds in which the
        machine was short of something (None: not known); other functions in tests of the clock.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.monotonic,
        used: Callable[[], float] = lambda: sum(os.times()[:4]),
        lost: Callable[[], float | None] = lambda: lost_seconds(),
    ) -> None:
        self._sources = wall, used, lost
        self._wall, self._used, self._lost = wall(), used(), lost()

    def seconds(self) -> float:
        """Seconds that the machine could give since this was made; never more than wall time."""
        wall, used, lost = (source() for source in self._sources)
        passed = wall - self._wall
        short = passed if lost is None or self._lost is None else lost - self._lost
        return min(passed, max(passed - short, used - self._used, passed * LEAST))


# The clock that was made last for a limit, and the wall time then.
_last: tuple[float, Clock] | None = None


def just_made(now: Callable[[], float] = time.monotonic) -> Clock:
    """A clock for a limit of minutes: made now, or within the last second.

    Asking the kernel took a tenth of what surrounds a test of milliseconds.
    """
    global _last
    wall = now()
    if _last is None or not 0.0 <= wall - _last[0] <= 1.0:
        _last = wall, Clock()
    return _last[1]


def lost_seconds() -> float | None:
    """Seconds since the start of the machine in which it was short of something; None: unknown."""
    try:
        stalls = sum(map(_stalled, ("cpu", "io", "memory")))
        with STAT.open() as lines:
            ticks = int(next(lines).split()[8])
    except (OSError, ValueError, IndexError):
        return None
    return stalls + ticks / os.sysconf("SC_CLK_TCK") / (os.cpu_count() or 1)


def _stalled(what: str) -> float:
    """The total of the line "some avg10=0.00 avg60=0.00 avg300=0.00 total=155062189" (µs)."""
    some = (PRESSURE / what).read_text().splitlines()[0]
    return int(some.rpartition("total=")[2]) / 1e6


def wait_until(what: Callable[[], Any], seconds: float = 60.0, pause: float = 0.02) -> Any:
    """Waits until something is true, and returns it; fails after seconds of the ``Clock``."""
    clock = Clock()
    while not (found := what()):
        assert clock.seconds() < seconds, f"not within {seconds:g} s"
        time.sleep(pause)
    return found
