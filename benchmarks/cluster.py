"""``python -m benchmarks.cluster``: steps over processes, Penstock beside TensorFlow, in turns.

For each layout (1 ps and 1 worker; 1, 4 and 16 ps and 4 workers) a cluster of each implementation
is started, then each case is prepared in all of them and they take turns, as in ``driver``. A
sample is the median step of one worker's turn, averaged over workers. Idle servers block.

The clusters of all implementations stand at the same time; only one is asked to compute.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any

from benchmarks.cases import IMPLEMENTATIONS, PENSTOCK, Implementation
from benchmarks.cluster_processes import Cluster, ask_all
from benchmarks.driver import steps_per_turn
from benchmarks.report import format_value, percentile
from benchmarks.workers import RESULTS, WorkerError, interpreter_of

PEER = "tensorflow"
REMOTE = ("scalar_read", "scalar_update", "read_1mb", "update_1mb", "read_100mb", "update_100mb")
NULL = ("null_scalar", "null_dense", "null_sparse")
SYNCHRONOUS = (*NULL, "train_sync")
# Penstock's median is at most so many times TensorFlow's.
REQUIRED = dict(zip(REMOTE, (0.6, 0.6, 0.7, 0.7, 0.7, 0.7)))


@dataclass(frozen=True)
class Row:
    """One row of the table: a case at a number of parameter servers and workers."""

    case: str
    ps: int
    workers: int

    @property
    def name(self) -> str:
        """Its key in the results."""
        return self.case if self.case in REMOTE else f"{self.case}_{self.ps}ps_{self.workers}w"


@dataclass(frozen=True)
class Layout:
    """A cluster and the rows measured on it.

    Attributes:
        ps, workers: Its processes.
        threads: Of each process's kernels: two where two processes work in turns, one where
            many do.
    """

    ps: int
    workers: int
    threads: int
    rows: tuple[Row, ...]


def layouts(ps_counts: Sequence[int], workers: Sequence[int]) -> list[Layout]:
    """The clusters that are needed, smallest first."""
    remote = Layout(1, 1, 2, tuple(Row(case, 1, 1) for case in REMOTE))
    return [remote] + [
        Layout(ps, max(workers), 1, tuple(Row(case, ps, w) for case in NULL for w in workers))
        for ps in ps_counts
    ]


@dataclass
class Outcome:
    """Medians by row and implementation, all samples, and what went wrong by row."""

    results: dict[str, dict[str, float]] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)

    def fail(self, row: str, problem: str) -> None:
        """Notes a failure."""
        self.failures.setdefault(row, []).append(problem)


class Prepared:
    """A case that is ready in one cluster: turns of it, its check, its end."""

    def __init__(self, cluster: Cluster, row: Row, number: int) -> None:
        self.cluster, self.row = cluster, row
        self.name = cluster.name
        self._workers = cluster.workers[: row.workers]
        self._container = f"case{number}"
        self.steps_done = 0
        request = {"ps": row.ps, "workers": row.workers, "container": self._container}
        # The first worker is the chief: its variables are there when the others look for them.
        self._workers[0].ask(prepare=row.case, **request)
        ask_all(self._workers[1:], prepare=row.case, **request)

    def turn(self, steps: int) -> tuple[float, list[float]]:
        """Runs so many steps in every worker at the same time.

        Returns:
            The mean over workers of their median step, and every step's seconds.
        """
        # Where steps need each other's gradients, nobody may run ahead: the tokens that allow a
        # step have no names, so one worker could use up those of another and end before it.
        together = self.row.workers > 1 and self.row.case in SYNCHRONOUS
        turns = [1] * steps if together else [steps]
        seconds: list[list[float]] = [[] for _ in self._workers]
        for count in turns:
            for found, reply in zip(seconds, ask_all(self._workers, run=count), strict=True):
                found += reply["seconds"]
        self.steps_done += steps
        sample = mean(median(found) for found in seconds)
        return sample, [second for found in seconds for second in found]

    def problems(self) -> list[str]:
        """Whether the state counted the steps that were run."""
        reply = self._workers[0].ask(check=True)
        expected = self.steps_done if reply["counts"] else 0
        if reply["value"] != expected:
            return [f"{self.name}: {expected} steps were run, the state says {reply['value']:g}"]
        return []

    def release(self) -> None:
        """Closes sessions and gives the state's memory back."""
        ask_all(self._workers, release=True)
        ask_all(self.cluster.ps[: self.row.ps] + self._workers, reset=self._container)


class Driver:
    """Measures layouts over the implementations that this machine has."""

    def __init__(
        self,
        implementations: Sequence[Implementation],
        rounds: int,
        turn_seconds: float,
        say: Callable[[str], None],
        start: Callable[..., Cluster] = Cluster,
    ) -> None:
        self._implementations = implementations
        self._rounds, self._turn_seconds = rounds, turn_seconds
        self._say, self._start = say, start
        self._cases = 0
        self.outcome = Outcome()

    def run(self, chosen: Sequence[Layout]) -> Outcome:
        """Measures all rows of the layouts."""
        for layout in chosen:
            clusters: list[Cluster] = []
            try:
                for implementation in self._implementations:
                    self._open(implementation, layout, clusters)
                for row in layout.rows:
                    self._row(row, clusters)
            finally:
                for cluster in clusters:
                    cluster.close()
        return self.outcome

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
        ready: list[tuple[Prepared, int]] = []
        for cluster in clusters:
            try:
                self._cases += 1
                prepared = Prepared(cluster, row, self._cases)
                prepared.turn(2)
                steps = steps_per_turn(prepared.turn(2)[0], self._turn_seconds)
                # The same number of steps for turns that last about as long as they should.
                steps = steps_per_turn(prepared.turn(steps)[0], self._turn_seconds)
                ready.append((prepared, steps))
            except WorkerError as error:
                self.outcome.fail(row.name, str(error))
        samples: dict[str, list[float]] = {prepared.name: [] for prepared, _ in ready}
        every: dict[str, list[float]] = {prepared.name: [] for prepared, _ in ready}
        for turn in range(self._rounds):
            first = turn % len(ready) if ready else 0
            for entry in ready[first:] + ready[:first]:
                prepared, steps = entry
                try:
                    sample, seconds = prepared.turn(steps)
                except WorkerError as error:
                    self.outcome.fail(row.name, str(error))
                    ready = [other for other in ready if other is not entry]
                    continue
                samples[prepared.name].append(sample)
                every[prepared.name] += seconds
        self._conclude(row, [prepared for prepared, _ in ready], samples, every)

    def _conclude(
        self,
        row: Row,
        ready: Sequence[Prepared],
        samples: dict[str, list[float]],
        every: dict[str, list[float]],
    ) -> None:
        for prepared in ready:
            try:
                for problem in prepared.problems():
                    self.outcome.fail(row.name, problem)
                prepared.release()
            except WorkerError as error:
                self.outcome.fail(row.name, str(error))
        medians = {name: median(values) for name, values in samples.items() if values}
        self.outcome.results[row.name] = medians
        self.outcome.details[row.name] = {
            "samples": samples,
            "percentiles": {
                name: {str(p): percentile(values, p / 100) for p in (10, 50, 90)}
                for name, values in every.items()
                if values
            },
        }
        self._say(line(row.name, medians))
        for problem in self.outcome.failures.get(row.name, []):
            self._say(f"    ! {problem}")


def line(name: str, medians: dict[str, float]) -> str:
    """A row of the table as text.

    >>> line("scalar_read", {"penstock": 0.0004, "tensorflow": 0.0008}).split()
    ['scalar_read', '400', 'us', '800', 'us', '0.5', '<=', '0.6', 'met']
    """
    cells = [name.ljust(24)]
    for each in (PENSTOCK, PEER):
        cells.append((format_value(name, medians[each]) if each in medians else "-").rjust(9))
    if PENSTOCK in medians and PEER in medians:
        ratio = medians[PENSTOCK] / medians[PEER]
        cells.append(f"{ratio:.3g}".rjust(6))
        if name in REQUIRED:
            required = REQUIRED[name]
            cells.append(f"<= {required:g} {'met' if ratio <= required else 'NOT MET'}")
    return "  ".join(cells)


def _numbers(text: str) -> list[int]:
    return sorted({int(part) for part in text.split(",")})


def main(arguments: list[str] | None = None) -> int:
    """Runs the cluster benchmarks.

    Returns:
        0 when every row ran in every implementation and counted its steps; 1 otherwise.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--cases", default="", help="cases, commas between; default: all")
    parser.add_argument("--only", default="", help="implementations, commas between")
    parser.add_argument("--ps", type=_numbers, default=[1, 4, 16], help="of the null step")
    parser.add_argument("--workers", type=_numbers, default=[1, 2, 4], help="of the null step")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--turn-seconds", type=float, default=0.5)
    options = parser.parse_args(arguments)
    cases = set(filter(None, options.cases.split(","))) or {*REMOTE, *NULL}
    unknown = cases - {*REMOTE, *NULL}
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    chosen = [
        Layout(each.ps, each.workers, each.threads, rows)
        for each in layouts(options.ps, options.workers)
        if (rows := tuple(row for row in each.rows if row.case in cases))
    ]
    names = set(filter(None, options.only.split(","))) or {PENSTOCK, PEER}
    found = [each for each in IMPLEMENTATIONS if each.name in names]
    for each in found:
        if not interpreter_of(each).exists():
            print(f"{each.name}: skipped, no {each.interpreter}")
    found = [each for each in found if interpreter_of(each).exists()]
    started = time.perf_counter()
    outcome = Driver(found, options.rounds, options.turn_seconds, _say).run(chosen)
    print(f"\n{'':24}  {PENSTOCK:>9}  {PEER:>9}   ratio")
    for name, medians in outcome.results.items():
        print(line(name, medians))
    for name, problems in outcome.failures.items():
        for problem in problems:
            print(f"! {name}: {problem}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    whole = {"results": outcome.results, **outcome.details}
    (RESULTS / "cluster.json").write_text(json.dumps(whole, indent=2) + "\n")
    seconds = time.perf_counter() - started
    print(f"\n{seconds:.0f} s; results are in benchmarks/results/cluster.json")
    return 1 if outcome.failures else 0


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
