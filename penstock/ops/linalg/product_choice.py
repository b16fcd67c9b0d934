"""Which kernel multiplies two matrices fastest on this machine: measured, and remembered.

It depends on the sizes, on how the operands lie in memory, on the processor, on the instructions
that the libraries may use and on the threads, by more than a rule of sizes and vendors can say.
Measured on an AMD EPYC with AVX-512, 2 threads (us; the kernels are those of ``product_forms``):

                                        mm     turned   linear   linear_turned
    100 x 784 by 784 x 10               95         60       52       88
    the gradient of its weight          93         29      126       36
    128 x 784 by 784 x 512             664        655      585      868
    16 x 6400 by (4096 x 6400).T     12509      11356     8546     5484
    128 x 128 by 128 x 64               18         19       28       53

So when a program with such a product is written, the calls are timed, on numbers of those sizes
(large ones on smaller stand-ins), for some milliseconds.  Small products are not worth it.  Where
other processes use the cores, a team's times say nothing, and one thread's are taken instead.  What
was found is kept in the machine's cache, so that later processes need not look again and choose
the same.  ``PENSTOCK_PRODUCTS=mm`` in the environment (or another kernel's name) takes that one
wherever it can and measures nothing.

State: what has been chosen, by form; the cache's records, read at the first question; what others
did when that was looked at last.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch

from penstock.engine.resources import threads
from penstock.foundation.machine import cache, hardware, load
from penstock.ops.linalg import product_forms
from penstock.ops.linalg.product_forms import Form, kernels

# Multiplications below which all kernels take a few microseconds.
_LEAST_WORK = 100_000
# Products that move more numbers are timed on smaller ones that move about as many: enough to come
# from memory and not from a cache.
_MOST_NUMBERS = 8_000_000
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
# Where others use more of the cores, teams are not timed; it is looked at so often.
_OTHERS_CORES, _LOOK_SECONDS = 0.5, 0.1
# Calls that are slower than the fastest by this factor at first are not timed further.
_HOPELESS = 2.0
# The plain call is taken where others gain less than this.
_GAIN = 0.015
# A variable is kept column by column where that makes its product so much faster.
_LAYOUT_GAIN = 0.2


class Choice(NamedTuple):
    """What was chosen for a form: the kernel's name, and the microseconds that each took."""

    kernel: str
    times: dict[str, float]


class Others:
    """Other processes, and whether they leave a team its cores.

    Args:
      make: what says how the cores are used.
    """

    def __init__(self, make: Callable[[], Any] = load.Meter) -> None:
        self._quiet, self._looked = True, time.monotonic()
        try:
            self._meter = make()
        except (OSError, ValueError, IndexError):  # no Linux: nobody tells what others do
            self._meter = None

    def leave_cores(self) -> bool:
        """Whether they did, as far as is known; looks at it now and then."""
        now = time.monotonic()
        if self._meter is not None and now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            try:
                self._quiet = self._meter.read().others < _OTHERS_CORES
            except (OSError, ValueError, IndexError):
                self._meter, self._quiet = None, True
        return self._quiet and not threads.waits_sleep()


_chosen: dict[str, Choice] = {}
_others = Others()
_lock = threading.Lock()


def best(form: Form) -> str:
    """The kernel for a product, by name."""
    pinned = os.environ.get("PENSTOCK_PRODUCTS")
    if pinned:
        return pinned if pinned in kernels(form) else "mm"
    if form.work < _LEAST_WORK or not product_forms.onednn_runs():
        return "mm"
    found = _choice(form)
    return "mm" if found is None else found.kernel


def prefers_turned(form: Form) -> bool:
    """Whether the product is much faster where ``b`` lies column by column in memory."""
    if os.environ.get("PENSTOCK_PRODUCTS") or form.work < _LEAST_WORK:
        return False
    if not product_forms.onednn_runs():
        return False
    by_row, by_column = (_choice(form._replace(b_turned=each)) for each in (False, True))
    if by_row is None or by_column is None:
        return False
    return _fastest(by_column) < (1 - _LAYOUT_GAIN) * _fastest(by_row)


def _fastest(choice: Choice) -> float:
    return choice.times[choice.kernel]


def _choice(form: Form) -> Choice | None:
    """What was or is found for a form; None where others leave no time to look."""
    timed = stand_in(form)
    with _lock:
        for count in sorted({torch.get_num_threads(), 1}, reverse=True):
            found = _known(timed, count)
            if found is None and (count == 1 or _others.leave_cores()):
                found = _measured(timed, count)
            if found is not None:
                return found
    return None


def stand_in(form: Form) -> Form:
    """The product that is timed for another: the same, or one of which longest sides are halved."""
    sides = {"rows": form.rows, "inner": form.inner, "columns": form.columns}

    def numbers() -> int:
        rows, inner, columns = sides.values()
        return rows * inner + inner * columns + rows * columns

    while numbers() > _MOST_NUMBERS:
        longest = max(sides, key=lambda side: sides[side])
        sides[longest] = (sides[longest] + 1) // 2
    return form._replace(**sides)


def _known(form: Form, count: int) -> Choice | None:
    key = _key(form, count)
    found = _chosen.get(key) or _remembered().get(key)
    # An older Penstock's record may lack a kernel.
    complete = found is not None and found.times.keys() == set(kernels(form))
    return found if complete else None


def _measured(form: Form, count: int) -> Choice | None:
    found = measure(form, count)
    if found is None or count > 1 and not _others.leave_cores():
        return None
    key = _key(form, count)
    _chosen[key] = found
    _records().add(key, [found.kernel, found.times])
    return found


def _key(form: Form, count: int) -> str:
    return f"{form.key}-{count}t"


@functools.cache
def _records() -> cache.Records:
    name = f"products-{hardware.fingerprint(torch.__version__)}"
    return cache.Records(name, cache.folder())


@functools.cache
def _remembered() -> dict[str, Choice]:
    """What earlier processes found; a record of another shape than theirs counts as none."""
    found = {}
    for key, value in _records().read().items():
        match value:
            case [str(kernel), dict(times)] if kernel in times and all(
                type(each) is float and each > 0 for each in times.values()
            ):
                found[key] = Choice(kernel, times)
    return found


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
    functions = {name: product_forms.function(form, name) for name in kernels(form)}
    return {
        name: functools.partial(function, a, b, bias, into) for name, function in functions.items()
    }


def _operand(rows: int, columns: int, turned: bool) -> torch.Tensor:
    return torch.ones(columns, rows).t() if turned else torch.ones(rows, columns)


def report() -> list[dict[str, Any]]:
    """What is known about this machine's products, for ``penstock doctor``.

    Returns:
      For each form ``form`` (sizes, flags, threads), ``chosen`` and ``times`` in microseconds by
      kernel.
    """
    known = {**_remembered(), **_chosen}
    return [
        {"form": key, "chosen": choice.kernel, "times": choice.times}
        for key, choice in sorted(known.items())
    ]
