"""What a machine's cores do now, and how much of that is somebody else's work.

The kernel counts, for each core, the time that it lay idle; this process knows the time that its
own threads computed.  What is neither is others' work: other processes, those of the same job among
them, and what the hypervisor took for other machines.

    cores x time  =  idle  +  own  +  others

A ``Meter`` says it for the time since it was last read; it costs some 10 us to read, and below a
few clock ticks (10 ms each) it says little.  State: its last reading.

>>> from penstock.foundation.machine import load
>>> use = load.measure(0.05)
>>> use is None or 0.0 <= use.others <= use.cores
True
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
# Where the columns of /proc/stat stand, after the core's name.
_IDLE, _WAITING_FOR_DISK, _STEAL = 3, 4, 7


@dataclass(frozen=True)
class Use:
    """How the cores were used over a time, all but ``seconds`` and ``pressure`` in cores.

    Attributes:
      seconds: how long.
      cores: those that this process may run on.
      own: what this process's threads used.
      others: what all others used, stolen time included.
      steal: what the hypervisor gave to other machines while a thread here could have run.
      pressure: share of the time in which some task waited for a core; None where the kernel does
        not say.
    """

    seconds: float
    cores: int
    own: float
    others: float
    steal: float
    pressure: float | None = None


@dataclass(frozen=True)
class _Reading:
    when: float
    own: float
    idle: float
    steal: float
    waited: float | None


def affinity() -> frozenset[int]:
    """The numbers of the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


class Meter:
    """Says what the cores did since it was last read.

    Args:
      proc: where the kernel's files are.
      clock: seconds; ``own``: CPU seconds of this process's threads.

    Raises:
      OSError: the kernel has no such files (on other systems than Linux).
    """

    def __init__(
        self,
        proc: Path = _PROC,
        clock: Callable[[], float] = time.perf_counter,
        own: Callable[[], float] = time.process_time,
    ) -> None:
        self._clock, self._own = clock, own
        self._stat, self._pressure = proc / "stat", proc / "pressure" / "cpu"
        self._has_pressure = True
        self._ticks = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
        cores = affinity()
        self.cores = len(cores)
        self._names = frozenset(b"cpu%d" % number for number in cores)
        self._last = self._read()

    def read(self) -> Use:
        """The use since the last reading, or since it was made."""
        last, now = self._last, self._read()
        self._last = now
        seconds = max(now.when - last.when, 1e-9)
        own = (now.own - last.own) / seconds
        idle = (now.idle - last.idle) / seconds
        waited = None
        if now.waited is not None and last.waited is not None:
            waited = min((now.waited - last.waited) / seconds, 1.0)
        others = min(max(self.cores - idle - own, 0.0), float(self.cores))
        steal = max((now.steal - last.steal) / seconds, 0.0)
        return Use(seconds, self.cores, own, others, steal, waited)

    def _read(self) -> _Reading:
        # The clocks first and last: what the reading itself takes is idle time of no core.
        own, when = self._own(), self._clock()
        idle = steal = 0.0
        with open(self._stat, "rb", buffering=0) as file:
            text = file.read(1 << 16)
        for line in text.split(b"\n"):
            name, _, rest = line.partition(b" ")
            if name in self._names:
                columns = rest.split()
                idle += int(columns[_IDLE]) + int(columns[_WAITING_FOR_DISK])
                steal += int(columns[_STEAL]) if len(columns) > _STEAL else 0
        return _Reading(when, own, idle / self._ticks, steal / self._ticks, self._waited())

    def _waited(self) -> float | None:
        """Seconds in which some task waited for a core, since the machine was started."""
        if not self._has_pressure:
            return None
        try:
            text = self._pressure.read_text()
            return int(text.partition("total=")[2].split()[0]) * 1e-6
        except (OSError, ValueError, IndexError):
            self._has_pressure = False
            return None


def measure(seconds: float) -> Use | None:
    """The use of the cores over the next so many seconds; None where the kernel does not say."""
    try:
        meter = Meter()
        time.sleep(seconds)
        return meter.read()
    except (OSError, ValueError, IndexError):
        return None
