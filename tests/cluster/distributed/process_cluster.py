"""A cluster inside one process: workers joined by function calls, for tests of masters."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.cluster.distributed.in_process import add_master, remove_master
from penstock.cluster.distributed.master import Answer, Master
from penstock.cluster.distributed.worker import Worker
from penstock.compiler.partition.part import Part
from penstock.compiler.placement.available import DeviceAttributes, local_devices
from penstock.engine.resources.rendezvous import own_copy
from penstock.engine.session.options import Options
from penstock.foundation.base import errors

_numbers = itertools.count()


class JoinedPeers:
    """Other workers of this process; ``down`` are those that cannot be reached."""

    def __init__(self, workers: dict[str, Worker]) -> None:
        self.workers = workers
        self.down: set[str] = set()

    def tasks(self, job: str | None, index: int | None, replica: int | None) -> list[str]:
        parts = [f"/job:{job}/" if job else "", f"/task:{index}" if index is not None else ""]
        return [t for t in self.workers if t.startswith(parts[0]) and t.endswith(parts[1])]

    def _worker(self, task: str) -> Worker:
        if task in self.down:
            raise errors.UnavailableError(None, None, f"{task} is down")
        return self.workers[task]

    def devices(self, task: str) -> list[DeviceAttributes]:
        return self._worker(task).devices

    def register(self, task: str, session: str, part: Part, config: bytes) -> str:
        isolated = tf.ConfigProto.FromString(config).isolate_session_state
        return self._worker(task).register(session, part, Options(), isolated=isolated)

    def start(
        self, task: str, handle: str, number: int, args: Sequence[Any], seconds: float | None,
        trace: int, answer: Answer,
    ) -> None:  # fmt: skip
        worker = self._worker(task)

        def run() -> None:
            try:
                if trace:
                    answer(*worker.run_traced(handle, number, args, trace, seconds))
                else:
                    answer(worker.run(handle, number, args, seconds), None)
            except errors.OpError as error:
                answer(error, None)

        threading.Thread(target=run, daemon=True).start()

    def explain(self, task: str, handle: str) -> str:
        return self._worker(task).explain(handle)

    def cancel(self, task: str, number: int, error: errors.OpError) -> None:
        self.workers[task].table.fail(number, error)

    def deregister(self, task: str, handles: Sequence[str]) -> None:
        self.workers[task].deregister(handles)

    def clear_containers(self, task: str, containers: Sequence[str]) -> None:
        self.workers[task].clear_containers(containers)

    def send(self, task: str, number: int, edge: str, value: Any) -> None:
        self._worker(task).table.deliver(number, edge, own_copy(value))


class ProcessCluster:
    """Workers ``{"ps": 1, "worker": 2}``, each with a master; a context manager."""

    def __init__(self, counts: dict[str, int]) -> None:
        names = [f"/job:{job}/replica:0/task:{i}" for job, n in counts.items() for i in range(n)]
        self.workers: dict[str, Worker] = {}
        self.peers = JoinedPeers(self.workers)
        self.targets: dict[str, str] = {}
        for name in names:
            self.workers[name] = Worker(name, local_devices(task=name), self.peers.send)
        for name in names:
            target = self.targets[name] = f"grpc://test-{next(_numbers)}"
            add_master(target, Master(self.workers[name], self.peers))

    def session(self, task: str, **kwargs: Any) -> tf.Session:
        """A session on the master of ``job:index``."""
        job, _, index = task.partition(":")
        return tf.Session(self.targets[f"/job:{job}/replica:0/task:{index}"], **kwargs)

    def __enter__(self) -> ProcessCluster:
        return self

    def __exit__(self, *exc: Any) -> None:
        for target in self.targets.values():
            remove_master(target)
