"""Timing the kernels of a product, by turns."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch

from penstock.engine.resources import threads
from penstock.ops.linalg import product_forms
from penstock.ops.linalg.product_forms import Form, kernels

# Rounds in which each call has a turn, which repeats it for about so many seconds; fewer rounds do
# when the form has taken this long.
_ROUNDS, _TURN_SECONDS = 20, 200e-6
_FEWEST_ROUNDS, _ENOUGH_SECONDS = 2, 0.018
# A call is seen for so long first: what a process calls first runs slowly for about a millisecond.
_FIRST_SECONDS = 2e-3
# The share of its time that the calling thread must have had a core, for its turn to count; and how
# long that is waited for.  (What the other threads of a team had is counted in ticks, which are
# longer than turns.)
_UNDISTURBED, _PATIENCE_SECONDS = 0.93, 0.1
# Calls that are slower than the fastest by this factor at first are not timed further.
_HOPELESS = 2.0
# The plain call is taken where others gain less than this.
_GAIN = 0.015


class Choice(NamedTuple):
    """What was chosen for a form: the kernel's name, and the microseconds that each took."""

    kernel: str
    times: dict[str, float]


def measure(form: Form, count: int) -> Choice | None:
    """Times the kernels of a form, by turns.

    Args:
      form: with sizes that fit into memory.
      count: threads of the team that they run on: the calling thread's, or 1.

    Returns:
      The fastest, and the best time of each in microseconds; None where others used the cores so
      much that there is none.
    """
    calls = calls_of(form)
    with torch.inference_mode(), threads.computing_alone() if count == 1 else nullcontext():
        clock = _Clock(calls)
        first = clock.look()
        if first is None:
            return None
        limit = _HOPELESS * min(first.values())
        clock.compare([name for name, seconds in first.items() if seconds <= limit])
        times = clock.times
    found = {name: round(min(each) * 1e6, 2) for name, each in times.items()}
    kernel = min(found, key=lambda name: found[name])
    if "mm" in found and found["mm"] * (1 - _GAIN) <= found[kernel]:
        kernel = "mm"
    return Choice(kernel, found)


class _Clock:
    """Times calls by turns; turns in which the calling thread lost its core do not count.

    Args:
      calls: by name.
    """

    def __init__(self, calls: dict[str, Callable[[], Any]]) -> None:
        self._calls = calls
        self._begin = time.perf_counter()
        self.times: dict[str, list[float]] = {name: [] for name in calls}

    def _turn(self, name: str, repeats: int) -> bool:
        """Has a call its turn; says whether that counts."""
        call = self._calls[name]
        used, begin = time.thread_time(), time.perf_counter()
        for _ in range(repeats):
            call()
        took = max(time.perf_counter() - begin, 1e-9)
        counts = time.thread_time() - used >= _UNDISTURBED * took
        if counts:
            self.times[name].append(took / repeats)
        return counts

    def _left(self, seconds: float) -> bool:
        return time.perf_counter() - self._begin < seconds

    def look(self) -> dict[str, float] | None:
        """What each call takes, seen a few times; None where no turn counts for long."""
        for name, call in self._calls.items():
            call()  # makes what later calls find: kernels, memory
            begin = time.perf_counter()
            while not self.times[name] or time.perf_counter() - begin < _FIRST_SECONDS:
                if not (self._turn(name, 1) or self._left(_PATIENCE_SECONDS)):
                    return None
        return {name: min(each) for name, each in self.times.items()}

    def compare(self, names: list[str]) -> None:
        """Adds rounds in which each of the calls has a turn."""
        repeats = {name: max(1, int(_TURN_SECONDS / min(self.times[name]))) for name in names}
        for number in range(_ROUNDS):
            for name, count in repeats.items():
                while not self._turn(name, count) and self._left(_PATIENCE_SECONDS):
                    pass
            if number + 1 >= _FEWEST_ROUNDS and not self._left(_ENOUGH_SECONDS):
                return


def calls_of(form: Form) -> dict[str, Callable[[], Any]]:
    """For each kernel a call of the very source that a program would have."""
    a = _operand(form.rows, form.inner, form.a_turned)
    b = _operand(form.inner, form.columns, form.b_turned)
    bias = torch.ones(form.columns) if form.bias else None
    into = _operand(form.rows, form.columns, form.result_turned) if form.into else None
    functions = {name: product_forms.function(form, name, "1e-9") for name in kernels(form)}
    return {
        name: functools.partial(function, a, b, bias, into) for name, function in functions.items()
    }


def _operand(rows: int, columns: int, turned: bool) -> torch.Tensor:
    return torch.ones(columns, rows).t() if turned else torch.ones(rows, columns)
