"""The time that each line of a program takes, for ``Session.explain``."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from typing import Any


class LineClock:
    """An observer that collects the time between the lines of an observed program.

    State: for each line, one duration in seconds a run.
    """

    def __init__(self) -> None:
        self._durations: dict[int, list[float]] = defaultdict(list)
        self._last = 0.0

    def start(self) -> None:
        """Marks the start of a run."""
        self._last = time.perf_counter()

    def observe(self, line: int, outputs: tuple[Any, ...]) -> None:
        """Marks the end of a line."""
        now = time.perf_counter()
        self._durations[line].append(now - self._last)
        self._last = time.perf_counter()

    def annotate(self, text: str) -> str:
        """The program's text, each line led by its median time in microseconds."""
        lines = []
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("observe("):
                continue
            taken = self._durations.get(number)
            lead = f"{statistics.median(taken) * 1e6:10.1f} us" if taken else " " * 13
            lines.append(f"{lead}  {line}")
        return "\n".join(lines) + "\n"
