"""Measures cases: every implementation prepared, then rounds in which each takes a turn.

    prepare   penstock, tensorflow, ... : build, run the check steps, warm up (half a second and
              twelve steps at least)
    round 1   penstock k steps, tensorflow k steps, torch k steps, ...
    round 2   tensorflow, torch, ..., penstock        (the order turns by one)
    ...       one sample a turn: seconds a step; the result is the median over rounds

Interleaving lets slow drifts of the machine (clock, neighbours) fall on all alike. Each
implementation has its own number of steps a turn, so that turns last about the same time. A turn
begins with steps that do not count, because others used the cores just before. Competing processes,
where some are asked for, compute from the first case to the last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import fresh, machine, report
from benchmarks.busy import BusyCores, BusyError
from benchmarks.cases import (
    BACKGROUND_ROWS,
    CONSTRUCT_BUILD,
    IMPLEMENTATIONS,
    PENSTOCK,
    Case,
    Implementation,
)
from benchmarks.workers import WorkerError, WorkerProcess, interpreter_of

# A thread pool may spin for some milliseconds after its last task: let it fall asleep first.
SETTLE_SECONDS = 0.01
IDLE_CPU_SHARE = 0.02


@dataclass(frozen=True)
class Settings:
    """How much to measure.

    Attributes:
        rounds: Turns each implementation takes in a case.
        turn_seconds: How long a turn lasts, about; at least one step.
        warm_seconds: How long each implementation repeats a case's step before the first turn.
        lead_seconds: How long the steps take that begin a turn and do not count; at least one.
        import_rounds: Fresh processes that import each module.
        background_rounds: Saves in the background beside which steps are timed.
        memory_rounds: Fresh processes whose peak memory is taken.
    """

    rounds: int = 15
    turn_seconds: float = 0.25
    warm_seconds: float = 0.5
    lead_seconds: float = 0.2
    import_rounds: int = 5
    background_rounds: int = 4
    memory_rounds: int = 1


QUICK = Settings(rounds=3, turn_seconds=0.1, import_rounds=1, background_rounds=1)


@dataclass
class Outcome:
    """What a run measured.

    Attributes:
        results: Medians by case and implementation.
        steps: The rows of single steps: percentiles and CPU seconds (``cases.STEP_ROWS``).
        details: Everything behind them: samples, check values, versions, who used the cores.
        failures: Sentences about cases that did not run or whose values differ, by case.
    """

    results: report.Results = field(default_factory=dict)
    steps: report.Results = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)

    def fail(self, case: str, problem: str) -> None:
        """Notes a failure of a case."""
        self.failures.setdefault(case, []).append(problem)


@dataclass
class Turns:
    """What the turns of a case gave, by implementation.

    Attributes:
        steps: How many steps a turn has; who failed is no longer in it.
        samples: The mean step of each turn, in seconds.
        single: Single steps of all turns, in seconds.
        cpu: CPU seconds a step of each turn.
    """

    steps: dict[str, int] = field(default_factory=dict)
    samples: dict[str, list[float]] = field(default_factory=dict)
    single: dict[str, list[float]] = field(default_factory=dict)
    cpu: dict[str, list[float]] = field(default_factory=dict)

    def begin(self, name: str, steps: int) -> None:
        """Adds an implementation."""
        self.steps[name] = steps
        self.samples[name], self.single[name], self.cpu[name] = [], [], []

    def add(self, name: str, reply: dict[str, Any]) -> None:
        """Takes a worker's reply to ``run``."""
        self.samples[name].append(reply["seconds"])
        self.single[name] += reply["steps"]
        self.cpu[name].append(reply["cpu"])

    def drop(self, name: str) -> None:
        """Forgets an implementation that failed."""
        for each in (self.steps, self.samples, self.single, self.cpu):
            each.pop(name)


class Driver:
    """Runs cases over the implementations that this machine has."""

    def __init__(
        self,
        settings: Settings,
        say: Callable[[str], None],
        implementations: Sequence[Implementation] = IMPLEMENTATIONS,
        busy: int = 0,
    ) -> None:
        """Takes what to measure and by how much; ``busy`` processes compete for the cores."""
        self._settings = settings
        self._busy = busy
        self._implementations = implementations
        self._say = say
        self._workers: dict[str, WorkerProcess] = {}
        self._available: list[Implementation] = []
        self.outcome = Outcome()

    def run(self, cases: Sequence[Case]) -> Outcome:
        """Measures the cases in order and returns all there is to report."""
        self._find_available()
        self.outcome.details["machine"] = {"before": machine.state(), "busy": self._busy}
        with BusyCores(self._busy) as competitors:
            started = machine.reading(competitors.pids)
            try:
                for case in cases:
                    self._case(case, competitors)
            finally:
                self._close_all()
            whole = machine.between(started, machine.reading(competitors.pids))
        self.outcome.details["machine"]["whole_run"] = whole
        return self.outcome

    def _case(self, case: Case, competitors: BusyCores) -> None:
        self._say(f"{case.name}: {case.title}")
        measure = {"import": self._imports, "memory": self._memory, "background": self._background}
        started = time.perf_counter()
        before = machine.reading(competitors.pids)
        measure.get(case.name, self._steps)(case)
        use = machine.between(before, machine.reading(competitors.pids))
        try:
            competitors.check()
        except BusyError as error:
            self.outcome.fail(case.name, str(error))
        self.outcome.details.setdefault(case.name, {})["machine"] = use
        self._say(f"    {time.perf_counter() - started:.0f} s{self._found(case)}")
        self._say(f"    {machine.describe_use(use)}")
        for problem in self.outcome.failures.get(case.name, []):
            self._say(f"    ! {problem}")

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
            self.outcome.details.setdefault("paths", {})[worker.name] = worker.path
            self.outcome.details.setdefault("packages", {})[worker.name] = worker.packages
        return worker

    def _close_all(self) -> None:
        while self._workers:
            self._workers.popitem()[1].close()

    # -- cases that repeat a step

    def _steps(self, case: Case) -> None:
        values: dict[str, list[float]] = {}
        turns = Turns()
        for implementation in self._available:
            chosen = not case.only or implementation.name in case.only
            if implementation.kind in case.kinds and chosen:
                self._prepare(case, implementation, values, turns)
        workers = [self._workers[name] for name in turns.steps]
        for worker in workers:
            worker.reset_idle()
        for turn in range(min(case.rounds or self._settings.rounds, self._settings.rounds)):
            first = turn % len(workers) if workers else 0
            for worker in workers[first:] + workers[:first]:
                if worker.name in turns.steps:
                    self._turn(case, worker, turns)
        self._check_idle(workers)
        self._release(case, workers)
        if case.memory:
            self._step_memory(case, list(turns.steps))
        self._conclude(case, turns, values)

    def _prepare(
        self,
        case: Case,
        implementation: Implementation,
        values: dict[str, list[float]],
        turns: Turns,
    ) -> None:
        try:
            worker = self._worker(implementation)
            reply = worker.ask(prepare=case.name, check_steps=case.check_steps)
            # Allocators and caches reach their steady state, and who adapts has adapted.
            warm = worker.ask(warm=self._settings.warm_seconds, least=case.warm_steps)
        except WorkerError as error:
            self.outcome.fail(case.name, f"{implementation.name}: {error}")
            return
        steps = steps_per_turn(warm["step_seconds"], self._settings.turn_seconds)
        turns.begin(worker.name, steps)
        values[worker.name] = reply["values"]

    def _turn(self, case: Case, worker: WorkerProcess, turns: Turns) -> None:
        time.sleep(SETTLE_SECONDS)
        try:
            reply = worker.ask(run=turns.steps[worker.name], lead=self._settings.lead_seconds)
            turns.add(worker.name, reply)
        except WorkerError as error:
            self.outcome.fail(case.name, f"{worker.name}: {error}")
            turns.drop(worker.name)

    def _step_memory(self, case: Case, names: Sequence[str]) -> None:
        chosen = [item for item in self._available if item.name in names]
        samples = fresh.step_memory(chosen, case, self._failing(case))
        self.outcome.details[case.memory_row] = {"samples": samples}
        self.outcome.results[case.memory_row] = report.medians(samples)

    def _failing(self, case: Case) -> Callable[[str], None]:
        return lambda problem: self.outcome.fail(case.name, problem)

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

    def _conclude(self, case: Case, turns: Turns, values: dict[str, list[float]]) -> None:
        compare = {"same": report.compare_same, "random": report.compare_random}.get(case.check)
        if compare is not None:
            for problem in compare(values):
                self.outcome.fail(case.name, problem)
        samples = turns.samples
        self.outcome.details[case.name] = {
            "samples": samples,
            "cpu": turns.cpu,
            "check_values": values,
        }
        if case.times_steps:
            self.outcome.steps.update(report.step_rows(case.name, turns.single, turns.cpu))
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
        rounds = self._settings.import_rounds
        self._fresh(case, fresh.imports(self._importing(), rounds, self._failing(case)))

    def _memory(self, case: Case) -> None:
        rounds = self._settings.memory_rounds
        self._fresh(case, fresh.peak_memory(self._importing(), case, rounds, self._failing(case)))

    def _importing(self) -> list[Implementation]:
        return [item for item in self._available if item.imports]

    def _fresh(self, case: Case, samples: fresh.Samples) -> None:
        self.outcome.details[case.name] = {"samples": samples}
        self.outcome.results[case.name] = report.medians(samples)


def steps_per_turn(step_seconds: float, turn_seconds: float) -> int:
    """How many steps make a turn of about the given length; at least one.

    >>> steps_per_turn(0.02, 0.25), steps_per_turn(0.9, 0.25)
    (12, 1)
    """
    return max(1, min(100_000, int(turn_seconds / max(step_seconds, 1e-7))))
