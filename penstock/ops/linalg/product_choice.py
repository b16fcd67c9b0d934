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
other processes use the cores, or a team takes longer than one thread, its times say nothing, and
one thread's are taken instead.  What was found is kept in the machine's cache, so that later
processes need not look again and choose the same.  ``PENSTOCK_PRODUCTS=mm`` in the environment (or
another kernel's name) takes that one wherever it can and measures nothing.

State: what has been chosen, by form; the cache's records, read at the first question; what others
did when that was looked at last.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import torch

from penstock.engine.resources import threads
from penstock.foundation.machine import cache, hardware, load
from penstock.ops.linalg import product_forms
from penstock.ops.linalg.product_forms import Form, kernels
from penstock.ops.linalg.product_timing import Choice, measure

# Multiplications below which all kernels take a few microseconds.
_LEAST_WORK = 100_000
# Products that move more numbers are timed on smaller ones that move about as many: enough to come
# from memory and not from a cache.
_MOST_NUMBERS = 8_000_000
# Where others use more of the cores, teams are not timed; it is looked at so often.
_OTHERS_CORES, _LOOK_SECONDS = 0.5, 0.1
# A variable is kept column by column where that makes its product so much faster.
_LAYOUT_GAIN = 0.2
# A team whose best call takes so many times one thread's has waited, most likely for a core: times
# of some ten microseconds tell others' work, not the kernels'.  Calls of more microseconds than
# _LONG are not asked, since one thread would take long.
_TEAM_LOSES, _LONG = 1.25, 500.0


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
_doubtful: set[str] = set()  # teams that this process found disturbed, and does not time again
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
    timed, count = stand_in(form), torch.get_num_threads()
    with _lock:
        team = _of_team(timed, count) if count > 1 else None
        return team or _alone(timed)


def _alone(form: Form) -> Choice | None:
    return _known(form, 1) or _kept(form, 1, measure(form, 1))


def _of_team(form: Form, count: int) -> Choice | None:
    """What was or is found for a team; None where its times say nothing."""
    known = _known(form, count)
    if known is not None:
        return known
    key = _key(form, count)
    if key in _doubtful or not _others.leave_cores():
        return None
    found = measure(form, count)
    if found is None or not _others.leave_cores():
        return None
    if _disturbed(form, found):
        _doubtful.add(key)
        return None
    return _kept(form, count, found)


def _disturbed(form: Form, team: Choice) -> bool:
    """Whether a team took longer than one thread does: it waited, and for what is not known."""
    if _fastest(team) > _LONG:
        return False
    alone = _alone(form)
    return alone is not None and _fastest(team) > _TEAM_LOSES * _fastest(alone)


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


def _kept(form: Form, count: int, found: Choice | None) -> Choice | None:
    if found is not None:
        key = _key(form, count)
        _chosen[key] = found
        _records().add(key, [found.kernel, found.times])
    return found


def _key(form: Form, count: int) -> str:
    return f"{form.key}-{count}t"


@functools.cache
def _records() -> cache.Records:
    # The first file's records of teams were not held against one thread's.
    name = f"products-2-{hardware.fingerprint(torch.__version__)}"
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
