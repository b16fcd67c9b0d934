"""What this machine can give to a step now: its cores, less what others use of them.

Steps look at the machine themselves, a few times a second: there is no thread for it.  Beside
others' use the team that is worth trying has the cores that are free and spins in its waits; where
fewer than two are free, it has all of them and sleeps in its waits (``resources.threads``).

    others' use of 4 cores     0 .. 0.5    .. 1.5    .. 2.5    more
    team                       4           3         2         4, sleeping
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from penstock.engine.resources import threads
from penstock.foundation.machine.hardware import usable_cores
from penstock.foundation.machine.load import Meter, Use

# Seconds between two looks: the kernel counts in ticks of 10 ms.
_LOOK_SECONDS = 0.2
# What others did in a pause between steps of more than this is no matter: they may have waited for
# this process, or it for them.  A process that pauses before each of many steps looks all the same.
_PAUSE_SECONDS, _MANY_PAUSES = 0.1, 10
# What others may use of cores that count as free before the team gets smaller, and how little they
# must use of them before it grows again: between the two it stays as it is.
_SHRINK, _GROW = 0.55, 0.25
# Others' use that has changed by so many cores is reason to try programs' teams again.
_DRIFT = 0.6

clock = time.perf_counter


@dataclass
class SharedCores:
    """The cores of the machine, and what others leave of them.

    Attributes:
      cores: that this process may use.
      wide: the size of the team that is worth trying.
      sleeping: whether teams sleep in their waits.
      epoch: counts the changes; teams that were chosen before are tried again.
      use: what the last look saw.
      next_look: when it is time for another (by ``clock``).
      last_step: when a step ended last.
      pauses: before steps, since the last look that told something.
      running: the threads that run steps now, by their idents.
    """

    cores: int
    wide: int
    sleeping: bool = False
    epoch: int = 0
    use: Use | None = None
    next_look: float = float("inf")
    last_step: float = float("-inf")
    pauses: int = 0
    running: set[int] = field(default_factory=set)
    _others: float = 0.0
    _meter: Meter | None = None
    _looking: Any = field(default_factory=threading.Lock)

    @classmethod
    def here(cls) -> SharedCores:
        """This machine's, taken as idle until they are looked at."""
        cores = usable_cores()
        made = cls(cores, cores)
        if cores > 1:
            made._measure_with(Meter)
        return made

    def _measure_with(self, make: Any) -> None:
        try:
            self._meter = make()
        except (OSError, ValueError, IndexError):  # no Linux: nobody tells what others do
            return
        self.next_look = clock() + _LOOK_SECONDS

    def begin_step(self, now: float) -> None:
        """Looks if it is time to; passes over what others did in a long pause before this step.

        Before the first step there was no pause, but the program's own work, and others beside it.
        """
        pause = now - self.last_step
        if _PAUSE_SECONDS < pause < math.inf and self.pauses < _MANY_PAUSES:
            self.pauses += 1
            self.look(pass_over=True)
        elif now > self.next_look:
            self.pauses = 0
            self.look()

    def look(self, pass_over: bool = False) -> None:
        """Sees what others did since the last look, unless another thread is at it.

        Args:
          pass_over: only has the next look begin here.
        """
        if self._meter is None or not self._looking.acquire(blocking=False):
            return
        try:
            use, now = self._meter.read(), clock()
            if not pass_over:
                self.use = use
                self.adapt(use.others)
            self.next_look = now + _LOOK_SECONDS
        except (OSError, ValueError, IndexError):
            self._meter, self.next_look = None, float("inf")
        finally:
            self._looking.release()

    def adapt(self, others: float) -> None:
        """Takes note that others use so many of the cores."""
        wide, sleeping = self.plan(others)
        changed = (wide, sleeping) != (self.wide, self.sleeping)
        if changed:
            threads.sleep_in_waits(sleeping)
            self.wide, self.sleeping = wide, sleeping
        if changed or abs(others - self._others) > _DRIFT:
            self._others = others
            self.epoch += 1

    def plan(self, others: float) -> tuple[int, bool]:
        """The team that is worth trying beside others' use, and whether it sleeps in its waits."""
        free = self.cores - others
        now = 1 if self.sleeping else self.wide
        size = min(max(now, int(free + _GROW)), int(free + _SHRINK), self.cores)
        if size >= 2:
            return size, False
        return self.cores, self.cores > 1
