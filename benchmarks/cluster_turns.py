"""A case that is ready in one cluster, and its turns."""

from __future__ import annotations

from statistics import mean, median
from typing import NamedTuple

from benchmarks.cluster_processes import Cluster, ask_all
from benchmarks.cluster_rows import SYNCHRONOUS, Row


class Turn(NamedTuple):
    """What a turn gave.

    Attributes:
        sample: The mean over workers of their median step, in seconds.
        seconds: Of every step of all workers.
        cpu: CPU seconds of all the cluster's processes for each step of a worker.
        values: What the first worker's steps returned.
    """

    sample: float
    seconds: list[float]
    cpu: float
    values: list[float]


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

    def turn(self, steps: int) -> Turn:
        """Runs so many steps in every worker at the same time."""
        # Where steps need each other's gradients, nobody may run ahead: the tokens that allow a
        # step have no names, so one worker could use up those of another and end before it.
        together = self.row.workers > 1 and self.row.case in SYNCHRONOUS
        turns = [1] * steps if together else [steps]
        seconds: list[list[float]] = [[] for _ in self._workers]
        values: list[float] = []
        cpu = self._cpu_seconds()
        for count in turns:
            replies = ask_all(self._workers, run=count)
            values += replies[0]["values"]
            for found, reply in zip(seconds, replies, strict=True):
                found += reply["seconds"]
        cpu = self._cpu_seconds() - cpu
        self.steps_done += steps
        return Turn(
            mean(median(found) for found in seconds),
            [second for found in seconds for second in found],
            cpu / (steps * len(self._workers)),
            values,
        )

    def _cpu_seconds(self) -> float:
        replies = ask_all(self.cluster.ps + self.cluster.workers, cpu=True)
        return float(sum(reply["cpu"] for reply in replies))

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
