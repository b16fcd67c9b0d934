"""Which steps are slow, and what happened in them: where a step's 95th percentile comes from.

    python -m benchmarks.tails --cases softmax,word2vec
    python -m benchmarks.tails --cases softmax --busy 1 --steps 5000

Each step of Penstock is timed with what the kernel and Python say of its thread: how long it was on
a core, how often it was taken off one (``taken``) or waited of itself (``waited``), how many pages
it was given (``faults``), collections of garbage (``gc0`` to ``gc2``), and whether it was one of
those by which Penstock tries its team (``one`` thread, or a ``team``). A step is slow that takes
1.5 of the median. For each event the table says in which share of slow steps and of the others it
happened; an event that makes steps slow is in many of the first and few of the second. Asking
costs some 3 us a step, outside of what is timed.

The first row is of no step at all: one product of matrices by NumPy, again and again. Its tail is
the machine's own.
"""

from __future__ import annotations

import argparse
import gc
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.busy import BusyCores
from benchmarks.worker import load_cases
from penstock.engine.runtime import teams

SLOW = 1.5
WARM_SECONDS = 5.0


@dataclass(frozen=True)
class Step:
    """A step: its seconds, those of its thread and of the process on cores, and events."""

    wall: float
    thread: float
    process: float
    events: dict[str, int]


def recorded(step: Callable[[], Any], count: int) -> list[Step]:
    """So many steps, each with what happened in it."""
    seen = dict.fromkeys(("gc0", "gc1", "gc2", "one", "team"), 0)
    leave = teams.TriedTeam.leave

    def note(phase: str, info: dict[str, int]) -> None:
        seen[f"gc{info['generation']}"] += phase == "stop"

    def noted(team: teams.TriedTeam, entered: teams.Entered) -> None:
        leave(team, entered)
        if entered.alone is not None:
            seen["one" if entered.alone else "team"] += 1

    def now() -> tuple[float, float, dict[str, int]]:
        usage = resource.getrusage(resource.RUSAGE_THREAD)
        counts = {"taken": usage.ru_nivcsw, "waited": usage.ru_nvcsw,
                  "faults": usage.ru_minflt + usage.ru_majflt, **seen}  # fmt: skip
        return time.thread_time(), time.process_time(), counts

    gc.callbacks.append(note)
    teams.TriedTeam.leave = noted  # type: ignore[method-assign]
    try:
        found = []
        for _ in range(count):
            before = now()
            start = time.perf_counter()
            step()
            wall = time.perf_counter() - start
            after = now()
            events = {name: count - before[2][name] for name, count in after[2].items()}
            found.append(Step(wall, after[0] - before[0], after[1] - before[1], events))
        return found
    finally:
        gc.callbacks.remove(note)
        teams.TriedTeam.leave = leave  # type: ignore[method-assign]


def report(steps: Sequence[Step]) -> str:
    """The percentiles, and what happened in slow steps and in others.

    >>> quick = [Step(1e-3, 1e-3, 2e-3, {"taken": 0})] * 9
    >>> print(report([*quick, Step(4e-3, 1e-3, 2e-3, {"taken": 1})]))
    median 1.000 ms, p95 4.000 ms (4.00), p99 4.000 ms (4.00); 1 of 10 steps slow
             slow  others
    taken    100%      0%
    off a core: 3.000 ms in a slow step, 0.000 ms in others
    """
    ordered = sorted(step.wall for step in steps)
    middle = statistics.median(ordered)
    slow = [step for step in steps if step.wall >= SLOW * middle]
    others = [step for step in steps if step.wall < SLOW * middle]
    tails = [(f"p{part}", ordered[len(ordered) * part // 100]) for part in (95, 99)]
    said = ", ".join(f"{name} {value * 1e3:.3f} ms ({value / middle:.2f})" for name, value in tails)
    lines = [f"median {middle * 1e3:.3f} ms, {said}; {len(slow)} of {len(steps)} steps slow"]
    if not slow:
        return lines[0]
    lines.append("         slow  others")
    for name in slow[0].events:
        shares = [_share(name, group) for group in (slow, others)]
        lines.append(f"{name:<9}{shares[0]:>4.0%}{shares[1]:>8.0%}")
    away = [1e3 * statistics.mean(max(0.0, step.wall - step.thread) for step in group)
            for group in (slow, others)]  # fmt: skip
    lines.append(f"off a core: {away[0]:.3f} ms in a slow step, {away[1]:.3f} ms in others")
    return "\n".join(lines)


def _share(name: str, steps: Sequence[Step]) -> float:
    return sum(step.events[name] > 0 for step in steps) / max(1, len(steps))


def measured(step: Callable[[], Any], count: int) -> str:
    """The report on so many steps, after those that warm up."""
    began = time.perf_counter()
    while time.perf_counter() - began < WARM_SECONDS:
        step()
    return report(recorded(step, count))


_ROWS, _COLUMNS = np.ones((100, 784), np.float32), np.ones((784, 10), np.float32)


def _product() -> None:
    for _ in range(8):
        np.dot(_ROWS, _COLUMNS)


def main() -> None:
    """Records the steps of some cases and prints what their slow ones have in common."""
    parser = argparse.ArgumentParser(description="What happens in slow steps.")
    parser.add_argument("--cases", default="softmax,word2vec")
    parser.add_argument("--busy", type=int, default=0, help="processes that keep cores busy beside")
    parser.add_argument("--steps", type=int, default=3000)
    arguments = parser.parse_args()
    cases = load_cases("graph", "penstock")
    with BusyCores(arguments.busy) if arguments.busy else nullcontext():
        print(f"the machine: {measured(_product, arguments.steps)}\n", flush=True)
        for name in arguments.cases.split(","):
            program = cases[name]()
            print(f"{name}: {measured(program.step, arguments.steps)}\n", flush=True)
            program.close()


if __name__ == "__main__":
    main()
