"""``python -m benchmarks.cluster``: steps over processes, Penstock beside TensorFlow, in turns.

For each layout (1 ps and 1 worker; jobs of two and four processes with the threads they have by
default; 1, 4 and 16 ps and 4 workers) a cluster of each implementation is started, then each case
is prepared in all of them and they take turns, as in ``driver``. A sample is the median step of one
worker's turn, averaged over workers; CPU time is that of all the cluster's processes. Idle servers
block.

The clusters of all implementations stand at the same time; only one is asked to compute.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import machine, report
from benchmarks.busy import BusyCores, BusyError
from benchmarks.cases import PENSTOCK, Implementation, implementations, known_names
from benchmarks.cluster_processes import Cluster
from benchmarks.cluster_rows import (
    BUSY_REQUIREMENTS,
    JOB,
    NULL,
    PEER,
    REMOTE,
    REQUIREMENTS,
    Layout,
    Row,
    layouts,
)
from benchmarks.cluster_turns import Prepared, Turn
from benchmarks.driver import steps_per_turn
from benchmarks.workers import RESULTS, WorkerError, interpreter_of

# Steps whose values are compared, where they are; then those in which who adapts does so.
CHECK_STEPS, WARM_STEPS = 10, 12
# As long as these a turn's steps do not count, which adapt to what the others did before.
LEAD_SECONDS = 0.2


@dataclass
class Outcome:
    """Medians by row and implementation, single steps, samples, and what went wrong by row."""

    results: report.Results = field(default_factory=dict)
    steps: report.Results = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)

    def fail(self, row: str, problem: str) -> None:
        """Notes a failure."""
        self.failures.setdefault(row, []).append(problem)


class Driver:
    """Measures layouts over the implementations that this machine has."""

    def __init__(
        self,
        implementations: Sequence[Implementation],
        rounds: int,
        turn_seconds: float,
        say: Callable[[str], None],
        start: Callable[..., Cluster] = Cluster,
        busy: int = 0,
    ) -> None:
        self._implementations = implementations
        self._rounds, self._turn_seconds = rounds, turn_seconds
        self._say, self._start, self._busy = say, start, busy
        self._cases = 0
        self.outcome = Outcome()

    def run(self, chosen: Sequence[Layout]) -> Outcome:
        """Measures all rows of the layouts."""
        self.outcome.details["machine"] = {"before": machine.state(), "busy": self._busy}
        with BusyCores(self._busy) as competitors:
            started = machine.reading(competitors.pids)
            for layout in chosen:
                self._layout(layout, competitors)
            use = machine.between(started, machine.reading(competitors.pids))
        self.outcome.details["machine"]["whole_run"] = use
        return self.outcome

    def _layout(self, layout: Layout, competitors: BusyCores) -> None:
        clusters: list[Cluster] = []
        try:
            for implementation in self._implementations:
                self._open(implementation, layout, clusters)
            for row in layout.rows:
                before = machine.reading(competitors.pids)
                self._row(row, clusters)
                try:
                    competitors.check()
                except BusyError as error:
                    self.outcome.fail(row.name, str(error))
                use = machine.between(before, machine.reading(competitors.pids))
                self.outcome.details[row.name]["machine"] = use
                found = self.outcome.results[row.name]
                figures = ", ".join(f"{name} {value:.3g}" for name, value in found.items())
                self._say(f"{row.name}: {figures}; {machine.describe_use(use)}")
                for problem in self.outcome.failures.get(row.name, []):
                    self._say(f"    ! {problem}")
        finally:
            for cluster in clusters:
                cluster.close()

    def _open(
        self, implementation: Implementation, layout: Layout, clusters: list[Cluster]
    ) -> None:
        started = time.perf_counter()
        try:
            cluster = self._start(implementation, layout.ps, layout.workers, layout.threads)
        except WorkerError as error:
            for row in layout.rows:
                self.outcome.fail(row.name, f"{implementation.name}: {error}")
            self._say(f"! {implementation.name}: {error}")
            return
        clusters.append(cluster)
        self.outcome.details.setdefault("versions", {})[cluster.name] = cluster.version
        seconds = time.perf_counter() - started
        self._say(f"{cluster.name}: {layout.ps} ps, {layout.workers} workers in {seconds:.0f} s")

    def _row(self, row: Row, clusters: Sequence[Cluster]) -> None:
        ready: list[tuple[Prepared, int, int]] = []
        values: dict[str, list[float]] = {}
        for cluster in clusters:
            try:
                self._cases += 1
                prepared = Prepared(cluster, row, self._cases)
                values[cluster.name] = prepared.turn(CHECK_STEPS if row.case in JOB else 2).values
                steps = steps_per_turn(prepared.turn(2).sample, self._turn_seconds)
                # The same number of steps for turns that last about as long as they should.
                warm = prepared.turn(max(steps, WARM_STEPS)).sample
                steps = steps_per_turn(warm, self._turn_seconds)
                ready.append((prepared, steps, steps_per_turn(warm, LEAD_SECONDS)))
            except WorkerError as error:
                self.outcome.fail(row.name, str(error))
        turns: dict[str, list[Turn]] = {entry[0].name: [] for entry in ready}
        for turn in range(self._rounds):
            first = turn % len(ready) if ready else 0
            for entry in ready[first:] + ready[:first]:
                prepared, steps, lead = entry
                try:
                    prepared.turn(lead)
                    turns[prepared.name].append(prepared.turn(steps))
                except WorkerError as error:
                    self.outcome.fail(row.name, str(error))
                    ready = [other for other in ready if other is not entry]
        if row.case in JOB:
            for problem in differences(row, values):
                self.outcome.fail(row.name, problem)
        self._conclude(row, [entry[0] for entry in ready], turns)

    def _conclude(self, row: Row, ready: Sequence[Prepared], turns: dict[str, list[Turn]]) -> None:
        for prepared in ready:
            try:
                for problem in prepared.problems():
                    self.outcome.fail(row.name, problem)
                prepared.release()
            except WorkerError as error:
                self.outcome.fail(row.name, str(error))
        samples = {name: [turn.sample for turn in found] for name, found in turns.items()}
        cpu = {name: [turn.cpu for turn in found] for name, found in turns.items()}
        every = {
            name: [second for turn in found for second in turn.seconds]
            for name, found in turns.items()
        }
        self.outcome.results[row.name] = report.medians(samples)
        self.outcome.steps.update(report.step_rows(row.name, every, cpu))
        self.outcome.details[row.name] = {
            "samples": samples,
            "cpu": cpu,
            "percentiles": {
                name: {str(p): report.percentile(seconds, p / 100) for p in (10, 50, 90, 95)}
                for name, seconds in every.items()
                if seconds
            },
        }


def differences(row: Row, values: dict[str, list[float]]) -> list[str]:
    """What is wrong with the losses of a job's first steps.

    Those of one worker must be the same everywhere. Several change the parameters under each
    other's hands: the loss on the first batch must fall until that comes again.
    """
    if row.workers == 1:
        return report.compare_same(values)
    return [
        f"{name}: the loss on the first batch goes from {found[0]:.4g} to {found[8]:.4g}"
        for name, found in values.items()
        if not (math.isfinite(found[8]) and found[8] < found[0])
    ]


def _numbers(text: str) -> list[int]:
    return sorted({int(part) for part in text.split(",")})


def main(arguments: list[str] | None = None) -> int:
    """Runs the cluster benchmarks.

    Returns:
        0 when every row ran in every implementation and counted its steps; 1 otherwise.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        cases = known_names([options.cases], [*REMOTE, *JOB, *NULL], "case")
        found = implementations([options.only or f"{PENSTOCK},{PEER}"])
    except ValueError as error:
        parser.error(str(error))
    cases = cases or [*REMOTE, *JOB, *(() if options.busy else NULL)]
    chosen = [
        Layout(each.ps, each.workers, each.threads, rows)
        for each in layouts(options.ps, options.workers)
        if (rows := tuple(row for row in each.rows if row.case in cases))
    ]
    for each in found:
        if not interpreter_of(each).exists():
            print(f"{each.name}: skipped, no {each.interpreter}")
    found = [each for each in found if interpreter_of(each).exists()]
    started = time.perf_counter()
    driver = Driver(found, options.rounds, options.turn_seconds, _say, busy=options.busy)
    outcome = driver.run(chosen)
    _print(outcome, [each.name for each in found], options.busy)
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / (f"cluster-busy{options.busy}.json" if options.busy else "cluster.json")
    whole = {"results": outcome.results, "steps": outcome.steps, **outcome.details}
    path.write_text(json.dumps(whole, indent=2) + "\n")
    seconds = time.perf_counter() - started
    print(f"\n{seconds:.0f} s; results are in benchmarks/results/{path.name}")
    return 1 if outcome.failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--cases", default="", help="cases, commas between; default: all")
    parser.add_argument("--only", default="", help="implementations, commas between")
    parser.add_argument("--ps", type=_numbers, default=[1, 4, 16], help="of the null step")
    parser.add_argument("--workers", type=_numbers, default=[1, 2, 4], help="of the null step")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--turn-seconds", type=float, default=0.5)
    parser.add_argument(
        "--busy",
        type=int,
        default=0,
        metavar="N",
        help="N processes keep a core busy each, all the time; by default without null steps",
    )
    return parser


def _print(outcome: Outcome, names: Sequence[str], busy: int) -> None:
    """The tables, the machine, the verdicts, what went wrong."""
    verdicts = report.judge(
        {**outcome.results, **outcome.steps}, BUSY_REQUIREMENTS if busy else REQUIREMENTS
    )
    found = outcome.details["machine"]
    print("\n".join(["", *machine.describe(found["before"])]))
    print(f"during the run: {machine.describe_use(found['whole_run'])}")
    if busy:
        print(f"BUSY={busy}: so many processes kept a core busy each")
    for rows in (outcome.results, outcome.steps):
        print(f"\n{report.table(rows, list(outcome.failures), names, verdicts)}")
    print("\np50, p95: of single steps; cpu: CPU seconds of all processes for a worker's step.\n")
    for verdict in verdicts:
        print(verdict)
    for name, problems in outcome.failures.items():
        for problem in problems:
            print(f"! {name}: {problem}")


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
