"""Measures cases: every implementation prepared, then rounds in which each takes a turn.

    prepare   penstock, tensorflow, ... : build, run the check steps, warm up
    round 1   penstock k steps, tensorflow k steps, torch k steps, ...
    round 2   tensorflow, torch, ..., penstock        (the order turns by one)
    ...       one sample a turn: seconds a step; the result is the median over rounds

Interleaving lets slow drifts of the machine (clock, neighbours) fall on all alike. Each
implementation has its own number of steps a turn, so that turns last about the same time.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import report
from benchmarks.cases import (
    BACKGROUND_ROWS,
    CONSTRUCT_BUILD,
    IMPLEMENTATIONS,
    PENSTOCK,
    Case,
    Implementation,
)
from benchmarks.workers import ROOT, WorkerError, WorkerProcess, environment, interpreter_of

# A thread pool may spin for some milliseconds after its last task: let it fall asleep first.
SETTLE_SECONDS = 0.01
IDLE_CPU_SHARE = 0.02
# Steps whose memory is measured, in a case that asks for it.
MEMORY_SAMPLES = 3


@dataclass(frozen=True)
class Settings:
    """How much to measure.

    Attributes:
        rounds: Turns each implementation takes in a case.
        turn_seconds: How long a turn lasts, about; at least one step.
        import_rounds: Fresh processes that import each module.
        background_rounds: Saves in the background beside which steps are timed.
        memory_rounds: Fresh processes whose peak memory is taken.
    """

    rounds: int = 15
    turn_seconds: float = 0.25
    import_rounds: int = 5
    background_rounds: int = 4
    memory_rounds: int = 1


QUICK = Settings(rounds=3, turn_seconds=0.1, import_rounds=1, background_rounds=1)


@dataclass
class Outcome:
    """What a run measured.

    Attributes:
        results: Medians by case and implementation.
        details: Everything behind them: samples, check values, versions.
        failures: Sentences about cases that did not run or whose values differ, by case.
    """

    results: report.Results = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)

    def fail(self, case: str, problem: str) -> None:
        """Notes a failure of a case."""
        self.failures.setdefault(case, []).append(problem)


class Driver:
    """Runs cases over the implementations that this machine has."""

    def __init__(
        self,
        settings: Settings,
        say: Callable[[str], None],
        implementations: Sequence[Implementation] = IMPLEMENTATIONS,
    ) -> None:
        self._settings = settings
        self._implementations = implementations
        self._say = say
        self._workers: dict[str, WorkerProcess] = {}
        self._available: list[Implementation] = []
        self.outcome = Outcome()

    def run(self, cases: Sequence[Case]) -> Outcome:
        """Measures the cases in order and returns all there is to report."""
        self._find_available()
        try:
            for case in cases:
                self._say(f"{case.name}: {case.title}")
                started = time.perf_counter()
                measure = {
                    "import": self._imports,
                    "memory": self._memory,
                    "background": self._background,
                }
                measure.get(case.name, self._steps)(case)
                self._say(f"    {time.perf_counter() - started:.0f} s{self._found(case)}")
                for problem in self.outcome.failures.get(case.name, []):
                    self._say(f"    ! {problem}")
        finally:
            self._close_all()
        return self.outcome

    def _found(self, case: Case) -> str:
        """What a run that does not come to its end leaves: its table is printed at the end."""
        found = self.outcome.results.get(case.name, {})
        return "".join(f", {name} {value:.3g}" for name, value in found.items())

    def _find_available(self) -> None:
        for implementation in self._implementations:
            if interpreter_of(implementation).exists():
                self._available.append(implementation)
            else:
                self._say(f"{implementation.name}: skipped, no {implementation.interpreter}")

    def _worker(self, implementation: Implementation) -> WorkerProcess:
        worker = self._workers.get(implementation.name)
        if worker is None or not worker.alive:
            worker = self._workers[implementation.name] = WorkerProcess(implementation)
            self.outcome.details.setdefault("versions", {})[worker.name] = worker.version
        return worker

    def _close_all(self) -> None:
        while self._workers:
            self._workers.popitem()[1].close()

    # -- cases that repeat a step

    def _steps(self, case: Case) -> None:
        values: dict[str, list[float]] = {}
        turns: dict[str, int] = {}
        for implementation in self._available:
            chosen = not case.only or implementation.name in case.only
            if implementation.kind in case.kinds and chosen:
                self._prepare(case, implementation, values, turns)
        workers = [self._workers[name] for name in turns]
        samples: dict[str, list[float]] = {name: [] for name in turns}
        for worker in workers:
            worker.reset_idle()
        for turn in range(min(case.rounds or self._settings.rounds, self._settings.rounds)):
            first = turn % len(workers) if workers else 0
            for worker in workers[first:] + workers[:first]:
                if worker.name in turns:
                    self._turn(case, worker, turns, samples)
        self._check_idle(workers)
        self._release(case, workers)
        if case.memory:
            self._extra_memory(case, list(turns))
        self._conclude(case, samples, values)

    def _prepare(
        self,
        case: Case,
        implementation: Implementation,
        values: dict[str, list[float]],
        turns: dict[str, int],
    ) -> None:
        try:
            worker = self._worker(implementation)
            reply = worker.ask(prepare=case.name, check_steps=case.check_steps)
            steps = steps_per_turn(reply["step_seconds"], self._settings.turn_seconds)
            # A turn that is thrown away: allocators and caches reach their steady state. It also
            # counts again, since the first steps are often slow.
            warm = worker.ask(run=max(1, steps // 2))["seconds"]
            turns[worker.name] = steps_per_turn(warm, self._settings.turn_seconds)
            values[worker.name] = reply["values"]
        except WorkerError as error:
            self.outcome.fail(case.name, f"{implementation.name}: {error}")

    def _turn(
        self,
        case: Case,
        worker: WorkerProcess,
        turns: dict[str, int],
        samples: dict[str, list[float]],
    ) -> None:
        time.sleep(SETTLE_SECONDS)
        try:
            samples[worker.name].append(worker.ask(run=turns[worker.name])["seconds"])
        except WorkerError as error:
            self.outcome.fail(case.name, f"{worker.name}: {error}")
            del turns[worker.name], samples[worker.name]

    def _extra_memory(self, case: Case, names: Sequence[str]) -> None:
        """Memory of a step, in fresh processes: others' allocators may keep what they freed."""
        samples: dict[str, list[float]] = {}
        for implementation in self._available:
            if implementation.name not in names:
                continue
            try:
                worker = WorkerProcess(implementation)
            except WorkerError as error:
                self.outcome.fail(case.name, f"{implementation.name}: {error}")
                continue
            try:
                worker.ask(prepare=case.name, check_steps=case.check_steps)
                samples[worker.name] = [
                    float(worker.ask(extra_memory=True)["bytes"]) for _ in range(MEMORY_SAMPLES)
                ]
            except WorkerError as error:
                self.outcome.fail(case.name, f"{implementation.name}: {error}")
            finally:
                worker.close()
        self.outcome.details[case.memory_row] = {"samples": samples}
        self.outcome.results[case.memory_row] = report.medians(samples)

    def _release(self, case: Case, workers: Sequence[WorkerProcess]) -> None:
        for worker in workers:
            if worker.alive:
                try:
                    worker.ask(release=True)
                except WorkerError as error:
                    self.outcome.fail(case.name, f"{worker.name}: {error}")

    def _check_idle(self, workers: Sequence[WorkerProcess]) -> None:
        for worker in workers:
            if worker.idle_cpu_seconds > IDLE_CPU_SHARE * worker.idle_seconds:
                share = worker.idle_cpu_seconds / worker.idle_seconds
                self._say(f"    note: {worker.name} used {share:.0%} of a core while it waited")

    def _conclude(
        self, case: Case, samples: dict[str, list[float]], values: dict[str, list[float]]
    ) -> None:
        compare = {"same": report.compare_same, "random": report.compare_random}.get(case.check)
        if compare is not None:
            for problem in compare(values):
                self.outcome.fail(case.name, problem)
        self.outcome.details[case.name] = {"samples": samples, "check_values": values}
        row = report.medians(samples)
        for name, seconds in row.items() if case.moves else ():
            self._say(f"    {name}: {case.moves / seconds / 1e9:.2f} GB/s")
        if case.name != "construct":
            self.outcome.results[case.name] = row
            return
        ops = {name: values[name][-1] for name in row}
        self.outcome.details[case.name]["ops"] = ops
        self.outcome.results[case.name] = {name: row[name] / ops[name] for name in row}
        self.outcome.results[CONSTRUCT_BUILD] = row
        for name in row:
            rate = ops[name] / row[name]
            self._say(f"    {name}: {ops[name]:.0f} ops, {rate:.0f} ops/s")

    # -- a step beside work in the background

    def _background(self, case: Case) -> None:
        ours = [item for item in self._available if item.name == PENSTOCK]
        for implementation in ours:
            try:
                worker = self._worker(implementation)
                worker.ask(prepare=case.name, check_steps=case.check_steps)
                worker.ask(beside=1)  # thrown away: caches and allocators
                times = worker.ask(beside=self._settings.background_rounds)
                worker.ask(release=True)
            except WorkerError as error:
                self.outcome.fail(case.name, f"{implementation.name}: {error}")
                continue
            self.outcome.details[case.name] = {"samples": times}
            without, during = times["without"], times["during"]
            shares = (0.5, 0.5, 0.95, 0.95)
            for row, share in zip(BACKGROUND_ROWS, shares, strict=True):
                steps = during if row.startswith("during") else without
                value = report.percentile(steps, share)
                self.outcome.results[f"{case.name}_{row}"] = {PENSTOCK: value}
            slower = report.percentile(during, 0.5) / report.percentile(without, 0.5) - 1.0
            snapshot = report.percentile(times["start"], 0.5)
            self._say(
                f"    {len(during)} steps during saves: {slower:+.1%} in the median;"
                f" async_save itself returned after {snapshot * 1e3:.0f} ms"
            )

    # -- cases of fresh processes

    def _imports(self, case: Case) -> None:
        samples: dict[str, list[float]] = {item.name: [] for item in self._available}
        # The first round only brings the files into the page cache.
        for turn in range(self._settings.import_rounds + 1):
            for implementation in self._available:
                if implementation.name not in samples:
                    continue
                started = time.perf_counter()
                done = subprocess.run(
                    [str(interpreter_of(implementation)), "-c", implementation.imports],
                    cwd=ROOT,
                    env=environment(),
                    capture_output=True,
                    text=True,
                    check=False,
                )
                seconds = time.perf_counter() - started
                if done.returncode:
                    reason = (done.stderr.strip().splitlines() or ["?"])[-1]
                    self.outcome.fail(case.name, f"{implementation.name}: {reason}")
                    del samples[implementation.name]
                elif turn:
                    samples[implementation.name].append(seconds)
        self.outcome.details[case.name] = {"samples": samples}
        self.outcome.results[case.name] = report.medians(samples)

    def _memory(self, case: Case) -> None:
        samples: dict[str, list[float]] = {}
        for _ in range(self._settings.memory_rounds):
            for implementation in self._available:
                try:
                    worker = WorkerProcess(implementation)
                except WorkerError as error:
                    self.outcome.fail(case.name, f"{implementation.name}: {error}")
                    continue
                try:
                    worker.ask(prepare="cnn", check_steps=case.check_steps)
                    peak = worker.ask(peak_memory=True)["bytes"]
                    samples.setdefault(worker.name, []).append(peak)
                except WorkerError as error:
                    self.outcome.fail(case.name, f"{implementation.name}: {error}")
                finally:
                    worker.close()
        self.outcome.details[case.name] = {"samples": samples}
        self.outcome.results[case.name] = report.medians(samples)


def steps_per_turn(step_seconds: float, turn_seconds: float) -> int:
    """How many steps make a turn of about the given length; at least one.

    >>> steps_per_turn(0.02, 0.25), steps_per_turn(0.9, 0.25)
    (12, 1)
    """
    return max(1, min(100_000, int(turn_seconds / max(step_seconds, 1e-7))))
