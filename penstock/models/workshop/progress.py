"""How a program shows that it gets on: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

# Seconds between two lines where there is no terminal, and between two looks of the bar.
_LINE, _LOOK = 10.0, 0.1


def console() -> Console:
    """Where programs print: stdout, in lines as long as they are."""
    return Console(file=sys.stdout, highlight=False, soft_wrap=True)


def _shown(rate: float) -> str:
    """A rate with the digits that say something: 0.52, 5.2, 52, 5,234."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


class Bar:
    """How far a training is: its loss, its rate, and the time left.

    Args:
      out: where it is shown.
      total: of what is counted.
      done: how much of it earlier runs did.
      unit: what is counted, ``steps``.
      title: of the bar.
    """

    def __init__(
        self, out: Console, total: float, done: float = 0, unit: str = "steps",
        title: str = "training",
    ) -> None:  # fmt: skip
        self._out, self._total, self._from, self._unit = out, total, done, unit
        self._done, self._loss, self._title = done, float("nan"), title
        self._began = self._shown = self._said = time.perf_counter()
        self._used = time.process_time()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    @property
    def rate(self) -> float:
        """What was done in a second."""
        return (self._done - self._from) / max(time.perf_counter() - self._began, 1e-9)

    @property
    def pace(self) -> str:
        """The rate and what is counted."""
        return f"{_shown(self.rate)} {self._unit}/s"

    @property
    def cpu_pace(self) -> str:
        """What was done in a second of processor time, of all threads."""
        return _shown((self._done - self._from) / max(time.process_time() - self._used, 1e-9))

    def __enter__(self) -> Bar:
        if self._out.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f}%"),
                TextColumn("{task.fields[loss]}"), TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(), TextColumn("left"), console=self._out,
            )  # fmt: skip
            self._task = self._bar.add_task(
                self._title, total=self._total, completed=int(self._done), loss="", rate=""
            )
            self._bar.start()
        self._began = self._shown = self._said = time.perf_counter()
        self._used = time.process_time()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._look()
            self._bar.stop()

    def at(self, done: float, loss: float) -> None:
        """Takes note of how far it is."""
        self._done, self._loss = done, loss
        now = time.perf_counter()
        if self._bar is not None:
            if now - self._shown > _LOOK:
                self._shown = now
                self._look()
        elif now - self._said > _LINE:
            self._said = now
            left = (self._total - done) / max(self.rate, 1e-9)
            self._out.print(
                f"{self._title} {done:.0f} of {self._total:.0f}  loss {loss:.4f}  {self.pace}"
                f"  {left:.0f} s left"
            )

    def more(self, count: float, loss: float) -> None:
        """Takes note of so much more."""
        self.at(self._done + count, loss)

    def _look(self) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task, completed=self._done, loss=f"loss {self._loss:.4f}", rate=self.pace
            )
