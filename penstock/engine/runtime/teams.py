"""How many threads a step's kernels are split among, on a machine that others may use as well.

On idle cores a team of all of them, which waits spinning, is fastest for large kernels; small ones
are faster on the calling thread alone.  Beside a process that keeps a core busy the same team loses
whole time slices in its barriers: the calling thread alone is faster, and steady.  With all cores
busy a team that sleeps in its waits gets more of the cores than one thread does.  Measured, ms a
step (median / 95th percentile), two cores, the MLP and the LSTM of ``make bench``:

                          spinning team   sleeping team   alone
    MLP, idle              3.3 / 4.3       5.2 / 5.8       6.9 / 7.2
    MLP, one core busy     8.8 / 106       5.8 / 7.0       5.6 / 6.8
    MLP, both busy          -              7.6 / 20        9.9 / 15
    LSTM, idle             49 / 58         90 / 91         83 / 90
    LSTM, both busy         -              88 / 93         146 / 197

So nothing is guessed.  ``shared_cores`` says which team is worth trying beside what others use;
each program tries it and the calling thread alone in turn, a few runs each, and keeps what took
less time.  It tries again when others' use has changed, and when it has run for a while since.

A number that the user gives is obeyed: ``intra_op_parallelism_threads`` is the team's size, always;
OMP_NUM_THREADS and torch.set_num_threads are the most that a team has.  Where that is one, nothing
is tried.  The size of a team changes how sums are cut into parts, and so the last bits of results:
who needs runs that agree to the bit gives a number.

State, of a program: what was tried, and what was chosen.  A team is set for a step on the thread
that runs it, and set back after it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from statistics import fmean, median
from typing import Any, NamedTuple, Protocol

from penstock.engine.resources import threads, waiting
from penstock.engine.runtime.shared_cores import SharedCores, clock
from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.step import StepGraph

_HANDLES = (dtypes.resource, dtypes.variant)
# Tensors of fewer elements: no library splits what is computed on them.
_SMALL = 2048
# Runs of each kind that are compared: at least so many, and more of short steps, until the trial
# has lasted so many seconds, or has many runs; long steps are compared by fewer.
_RUNS, _MANY_RUNS = 5, 100
# Fewer do where all of one kind were faster than all of the other: the first time, and again.
_CLEAR_RUNS, _CLEAR_RUNS_AGAIN = 3, 2
_SECONDS, _ENOUGH_SECONDS = 0.02, 1.5
# Where cores are shared, runs of one step differ by some time slices of others, of 3 or 4 ms: only
# many are comparable.  What a thread gets depends on what it took just before, so each kind runs
# several times in a row, and the first of a row does not count.
_SECONDS_SHARED, _ROW_SECONDS, _ROW_RUNS = 0.5, 0.06, 4
# Steps of less than so many seconds whose choice is only confirmed: the other kind runs once for so
# many runs of what was chosen, so that trying it slows down no more than those few, and not the
# 95th percentile of the steps of that time.
_BRIEF_SECONDS, _RARE = 0.005, 30
# The first run of each kind makes what later ones find: kernels, memory, threads.
_FIRST_RUNS = 2
# A choice holds for so many seconds of runs (not of those that go by between them) at first, twice
# as long each time it is confirmed, and so long that what trying lost is at most this share of it.
_HOLDS, _HOLDS_AT_MOST, _LOST = 3.0, 60.0, 0.02
# A team takes more of the processor than one thread: it must be faster by this much.
_WORTH_A_TEAM = 0.95


class Entered(NamedTuple):
    """What a step changed on its thread: what it found there, and what is measured."""

    size: int
    mkl: int
    alone: bool | None
    begin: float
    waited: float


class Team(Protocol):
    """Sets the team of a step, and sets it back."""

    def enter(self) -> Entered | None:
        """Called on the thread that runs the step, before it."""

    def leave(self, entered: Entered) -> None:
        """Called after it, with what ``enter`` gave, if that was not None."""


class FixedTeam:
    """A team of the size that the user asked for."""

    __slots__ = ("_size",)

    def __init__(self, size: int) -> None:
        self._size = size

    def enter(self) -> Entered | None:
        """Sets the team."""
        found = threads.settle()
        if found == self._size or not threads.CAN_RESIZE:
            return None
        return Entered(found, threads.resize(self._size), None, 0.0, 0.0)

    def leave(self, entered: Entered) -> None:
        """Sets it back."""
        threads.restore(entered.size, entered.mkl)

    def __str__(self) -> str:
        return f"{self._size} threads, as the session's config says"


class TriedTeam:
    """The team that was measured to be the fastest.

    Args:
      cores: which team is worth trying now.
      blocking: whether the program may wait for other steps; it uses no core while it does.
    """

    __slots__ = (
        "_cores", "_blocking", "_epoch", "_alone", "_last", "_runs", "_times", "_took", "_left",
        "_holds", "_turn", "_row", "_row_began", "_brief",
    )  # fmt: skip

    def __init__(self, cores: SharedCores, blocking: bool = False) -> None:
        self._cores, self._blocking, self._epoch = cores, blocking, cores.epoch
        self._holds, self._left = _HOLDS, 0.0
        # What was chosen; the latter also while it is tried again.
        self._alone: bool | None = None
        self._last: bool | None = None
        self._brief = False  # whether its steps are short, as the last trial has shown
        self._begin_trial(clock())
        self._runs = -_FIRST_RUNS

    def _begin_trial(self, now: float) -> None:
        self._alone, self._runs = None, 0
        # Whose turn it is: the calling thread alone, or the team; runs of its row, and its begin.
        self._turn, self._row = self._is_rare() and self._last is True, 0
        self._took, self._row_began = 0.0, now
        # Seconds that runs took with the team, and alone; and all of them.
        self._times: tuple[list[float], list[float]] = ([], [])

    def enter(self) -> Entered | None:
        """Sets the team that was chosen, or whose turn it is."""
        found = threads.size()
        if found == 1:
            return None
        cores, now, ident = self._cores, clock(), threading.get_ident()
        cores.begin_step(now)
        running = cores.running
        if ident in running:  # a function that a step calls has that step's team
            return None
        beside = len(running)
        if not self._blocking:
            running.add(ident)
        if beside:  # steps at once share the cores, and their times say nothing of teams
            size = max(1, min(found, cores.wide) // (beside + 1))
            return Entered(found, threads.resize(size), None, now, 0.0)
        alone = self._alone
        if alone is None or self._left < 0.0 or self._epoch != cores.epoch:
            return self._try(found, now)
        size = 1 if alone else min(found, cores.wide)
        # MKL's own number is 0 where it has none: it then follows OpenMP's.
        mkl = threads.resize(size) if size != found else -1
        return Entered(found, mkl, None, now, 0.0)

    def _try(self, found: int, now: float) -> Entered:
        """Sets one team or the other, by turns."""
        cores = self._cores
        if self._epoch != cores.epoch:
            self._epoch, self._holds, self._last = cores.epoch, _HOLDS, None
            self._begin_trial(now)
        elif self._alone is not None:
            self._begin_trial(now)
        alone = self._turn
        size = 1 if alone else min(found, cores.wide)
        mkl = threads.resize(size) if size != found else -1
        waited = waiting.waited() if self._blocking else 0.0
        return Entered(found, mkl, alone, clock(), waited)

    def leave(self, entered: Entered) -> None:
        """Sets the thread's team back, and takes note of the time if that was tried."""
        end = clock()
        if entered.mkl >= 0:
            threads.restore(entered.size, entered.mkl)
        cores = self._cores
        cores.last_step = end
        cores.running.discard(threading.get_ident())
        if entered.alone is not None:
            waited = waiting.waited() - entered.waited if self._blocking else 0.0
            self._note(entered.alone, end - entered.begin - waited, end)
        else:
            self._left -= end - entered.begin

    def _note(self, alone: bool, seconds: float, now: float) -> None:
        shared = self._cores.sleeping
        self._runs += 1
        self._row += 1
        counts = self._runs > 0 and not (shared and self._row == 1)
        if self._ends_row(alone, shared, now):
            self._turn, self._row, self._row_began = not alone, 0, now
        if not counts:
            return
        team, single = self._times
        (single if alone else team).append(seconds)
        self._took += seconds
        fewest, took = min(len(team), len(single)), self._took
        if (
            (fewest >= _MANY_RUNS and not shared)
            or (fewest >= _RUNS and took >= (_SECONDS_SHARED if shared else _SECONDS))
            or (not shared and took >= _SECONDS and self._is_clear())
            or (fewest and took >= _ENOUGH_SECONDS)
        ):
            self._choose()

    def _is_rare(self) -> bool:
        """Whether what was not chosen is tried by few runs among many of what was."""
        return self._brief and self._last is not None

    def _ends_row(self, alone: bool, shared: bool, now: float) -> bool:
        least = _ROW_RUNS if shared else 1
        if self._is_rare():
            return self._row >= (_RARE * least if alone is self._last else least)
        return not shared or (self._row >= least and now - self._row_began >= _ROW_SECONDS)

    def _is_clear(self) -> bool:
        team, single = self._times
        enough = _CLEAR_RUNS if self._last is None else _CLEAR_RUNS_AGAIN
        if min(len(team), len(single)) < enough:
            return False
        return max(team) < min(single) or max(single) < min(team)

    def _choose(self) -> None:
        # Time slices lost to others are rare and long: beside them the mean counts.
        typical: Callable[[list[float]], float] = fmean if self._cores.sleeping else median
        team, single = map(typical, self._times)
        alone = single * _WORTH_A_TEAM <= team
        self._brief = min(team, single) < _BRIEF_SECONDS
        self._holds = min(2 * self._holds, _HOLDS_AT_MOST) if alone is self._last else _HOLDS
        self._alone = self._last = alone
        self._left = max(self._holds, len(self._times[not alone]) * abs(team - single) / _LOST)

    def __str__(self) -> str:
        if self._last is None:
            return "not chosen yet"
        cores = self._cores
        waits = "sleeping" if cores.sleeping else "spinning"
        return "the calling thread alone" if self._last else f"{cores.wide} threads, {waits} waits"


def team_of(step: StepGraph, cores: SharedCores, size: int, blocking: bool) -> Team | None:
    """The team of a step's program; None where nothing in it is large enough to be split.

    Args:
      step: after all passes.
      cores: what teams are tried on.
      size: that the user asked for; 0: what is fastest.
      blocking: whether the step may wait for others.
    """
    if not _splits(step.operations):
        return None
    return FixedTeam(size) if size > 0 else TriedTeam(cores, blocking)


def _splits(operations: Iterable[Operation]) -> bool:
    """Whether kernels of these nodes may be split among threads: one handles many elements."""
    for op in operations:
        tensors = [*op.inputs, *op.outputs]
        if any(_is_large(tensor.sizes) for tensor in tensors if tensor.dtype not in _HANDLES):
            return True
        if any(_splits(block.operations) for block in blocks_of(op)):
            return True
    return False


def _is_large(dims: Any) -> bool:
    return dims is None or None in dims or math.prod(dims) >= _SMALL


# The cores that programs of this process run on.
CORES = SharedCores.here()
