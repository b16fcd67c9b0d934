"""How much the machine gave to a run of ``chaos``: a busy machine is no hang.

A process beside the tasks, of their priority, does the same bit of work again and again, most of
the time asleep, and writes down how long it took by the wall and by the processor.  Where the one
is twice the other, a second of the tasks was worth half a second.  What sleeps most is served
first, so the tasks got no more than it says, and no pause is made out to be shorter than it was.

State: what was seen, in order.
"""

from __future__ import annotations

import bisect
import subprocess
import sys
import threading
from typing import Any

_PROGRAM = """
import time
while True:
    time.sleep(0.2)
    begin, used = time.monotonic(), time.process_time()
    while time.process_time() < used + 0.005:
        pass
    print(begin, time.monotonic(), time.process_time() - used, flush=True)
"""


class Witness:
    """A context manager; asked during a run or after it."""

    def __init__(self) -> None:
        self._ends: list[float] = []
        # Seconds that the machine has given until each of them.
        self._totals: list[float] = []

    def __enter__(self) -> Witness:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE, text=True
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.saw(*map(float, line.split()))

    def saw(self, begin: float, end: float, used: float) -> None:
        """From ``begin`` to ``end`` it had the processor for ``used`` seconds.

        All the time since the last such moment counts as that in which it worked.
        """
        worth = min(1.0, used / max(end - begin, 1e-9))
        before = self._ends[-1] if self._ends else begin
        total = self._totals[-1] if self._totals else 0.0
        # In this order, for those who read meanwhile.
        self._totals.append(total + worth * (end - before))
        self._ends.append(end)

    def given(self, begin: float, end: float) -> float:
        """The seconds between two moments that the machine gave; where nothing was seen, all."""
        return min(end - begin, self._until(end) - self._until(begin))

    def _until(self, moment: float) -> float:
        ends, totals = list(self._ends), list(self._totals)
        if not ends:
            return moment
        at = bisect.bisect_left(ends, moment)
        if at == 0:
            return moment - ends[0]
        if at == len(ends):
            return totals[-1] + moment - ends[-1]
        share = (moment - ends[at - 1]) / (ends[at] - ends[at - 1])
        return totals[at - 1] + share * (totals[at] - totals[at - 1])
