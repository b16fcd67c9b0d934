"""``Progbar``: a line that shows how far a loop has come, and means of what it found."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np


class Progbar:
    """A progress bar.

    Args:
      target: the number of steps, or None.
      width: of the bar in characters.
      verbose: 0 silent, 1 a bar, 2 one line at the end.
      interval: least seconds between two prints.
      stateful_metrics: names of values that are shown as they are, not averaged.
      unit_name: what a step is called.
    """

    def __init__(
        self, target: int | None, width: int = 30, verbose: int = 1, interval: float = 0.05,
        stateful_metrics: Collection[str] | None = None, unit_name: str = "step",
    ) -> None:  # fmt: skip
        self.target, self.width, self.verbose = target, width, verbose
        self.interval, self.unit_name = interval, unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        # As TensorFlow 1.15, which goes back to the line's begin even in a file.
        self._dynamic = os.name == "posix" or sys.stdout.isatty()
        self._shown = self._at = 0
        self._values: dict[str, Any] = {}
        self._start, self._last = time.time(), 0.0

    def update(self, current: int, values: Sequence[tuple[str, Any]] | None = None) -> None:
        """Shows a step.

        Args:
          current: the step.
          values: pairs of name and value; averaged by the steps since the last call, unless
            stateful.
        """
        since = current - self._at
        for name, value in values or ():
            if name in self.stateful_metrics:
                self._values[name] = value
            else:
                total, count = self._values.get(name, (0.0, 0))
                self._values[name] = (total + value * since, count + since)
        self._at = current
        now = time.time()
        done = self.target is not None and current >= self.target
        if self.verbose == 1:
            if now - self._last < self.interval and not done:
                return
            self._show_bar(current, now, done)
        elif self.verbose == 2 and (self.target is None or done):
            target = self.target or 0
            bar = f"{current:{len(str(target))}d}/{target} -" if self.target else f"{current} -"
            self._write(f"{bar} {now - self._start:.0f}s{self._shown_values(4)}\n")
        self._last = now

    def add(self, n: int, values: Sequence[tuple[str, Any]] | None = None) -> None:
        """Shows ``n`` more steps."""
        self.update(self._at + n, values)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def _show_bar(self, current: int, now: float, done: bool) -> None:
        before = self._shown
        bar = self._bar(current)
        self._shown = len(bar)
        per_unit = (now - self._start) / current if current else 0.0
        if self.target is not None and not done:
            info = f" - ETA: {_left(per_unit * (self.target - current))}"
        else:
            info = f" - {now - self._start:.0f}s {_each(per_unit)}/{self.unit_name}"
        info += self._shown_values(4)
        self._shown += len(info)
        info += " " * max(0, before - self._shown)
        if self.target is None or done:
            info += "\n"
        start = "\b" * before + "\r" if self._dynamic else ("\n" if before else "")
        self._write(start + bar + info)

    def _bar(self, current: int) -> str:
        if self.target is None:
            return f"{current:7d}/Unknown"
        digits = len(str(self.target))
        filled = int(self.width * current / self.target)
        drawn = "=" * (filled - 1) + (">" if current < self.target else "=") if filled else ""
        return f"{current:{digits}d}/{self.target} [{drawn}{'.' * (self.width - filled)}]"

    def _shown_values(self, digits: int) -> str:
        text = ""
        for name, value in self._values.items():
            if isinstance(value, tuple):
                value = float(np.mean(value[0] / max(1, value[1])))
                text += f" - {name}: "
                text += f"{value:.{digits}f}" if abs(value) > 1e-3 else f"{value:.{digits}e}"
            else:
                text += f" - {name}: {_number(value, digits)}"
        return text


def _number(value: Any, digits: int) -> str:
    if not isinstance(value, int | float | np.number):
        return str(value)
    number = float(value)
    return f"{number:.{digits}f}" if abs(number) > 1e-3 else f"{number:.{digits}e}"


def _left(seconds: float) -> str:
    if seconds > 3600:
        return f"{seconds // 3600:.0f}:{seconds % 3600 // 60:02.0f}:{seconds % 60:02.0f}"
    if seconds > 60:
        return f"{seconds // 60:.0f}:{seconds % 60:02.0f}"
    return f"{seconds:.0f}s"


def _each(seconds: float) -> str:
    if seconds >= 1 or seconds == 0:
        return f"{seconds:.0f}s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.0f}ms"
    return f"{seconds * 1e6:.0f}us"
