"""Clusters of real processes: started on ephemeral loopback ports, each ended by its own handle.

A cluster's processes live as long as the ``Cluster`` is open: they end when their stdin does, so
that they cannot outlive the driver, however that ends; what does not end by itself is killed.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from benchmarks.cases import Implementation
from benchmarks.workers import RESULTS, ROOT, WorkerError, environment, interpreter_of

DEADLINE_SECONDS = 180.0
END_SECONDS = 5.0
# A port that was free may have been taken by the time a server binds it.
ATTEMPTS = 3


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on now, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class TaskProcess:
    """One task: a process that answers lines of JSON.

    Attributes:
        name: "job:index" and the implementation, for messages.
        pid: Of the process.
    """

    def __init__(self, name: str, command: Sequence[str], threads: int | None) -> None:
        self.name = name
        logs = RESULTS / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        self._log: IO[str] = open(logs / f"cluster-{name.replace(':', '-')}.log", "w")
        limits = {}
        if threads is not None:
            limits = {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
        self._process = subprocess.Popen(
            list(command),
            cwd=ROOT,
            env={**environment(), **limits, "TF_USE_LEGACY_KERAS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self.pid = self._process.pid
        self._buffer = b""

    def send(self, **request: Any) -> None:
        """Sends a request; its reply is taken by ``reply``.

        Raises:
            WorkerError: The process has ended.
        """
        stdin = self._process.stdin
        if stdin is None or stdin.closed:
            raise WorkerError(f"{self.name}: closed")
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
        except OSError as error:
            raise WorkerError(f"{self.name}: the process ended ({error})") from error

    def reply(self, seconds: float = DEADLINE_SECONDS) -> dict[str, Any]:
        """Waits for the reply.

        Raises:
            WorkerError: It is an error, or there is none in time, or the process ended.
        """
        stdout = self._process.stdout
        if stdout is None:
            raise WorkerError(f"{self.name}: closed")
        deadline = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([stdout], [], [], left)[0]:
                raise WorkerError(f"{self.name}: no answer within {seconds:.0f} s")
            data = os.read(stdout.fileno(), 65536)
            if not data:
                code = self._process.wait(END_SECONDS)
                raise WorkerError(f"{self.name}: ended with {code}; see {self._log.name}")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if "error" in message:
            self._log.write(message["error"])
            self._log.flush()
            raise WorkerError(f"{self.name}: {message['error'].strip().splitlines()[-1]}")
        return message

    def ask(self, **request: Any) -> dict[str, Any]:
        """Sends a request and waits for its reply."""
        self.send(**request)
        return self.reply()

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def hang_up(self) -> None:
        """Ends the process's stdin, which ends the process; ``close`` waits for that."""
        if self._process.stdin is not None:
            try:
                self._process.stdin.close()
            except OSError:
                pass  # it had ended before

    def close(self) -> None:
        """Ends the process, by force if it does not end by itself, and waits for it."""
        self.hang_up()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()


def ask_all(tasks: Iterable[TaskProcess], **request: Any) -> list[dict[str, Any]]:
    """Sends all a request at the same time, then takes all replies.

    Raises:
        WorkerError: The first failure, after every task has answered or failed.
    """
    tasks = list(tasks)
    for task in tasks:
        task.send(**request)
    replies, failure = [], None
    for task in tasks:
        try:
            # When one has failed, those that wait for it shall not hold up the others for long.
            replies.append(task.reply(DEADLINE_SECONDS if failure is None else END_SECONDS))
        except WorkerError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return replies


class Cluster:
    """Processes of one implementation: ``ps`` parameter servers and ``workers`` workers.

    Attributes:
        name: The implementation's.
        ps, workers: The tasks by job.
        version: What the implementation says.
    """

    def __init__(
        self,
        implementation: Implementation,
        ps: int,
        workers: int,
        threads: int | None,
        script: Sequence[str] = ("-m", "benchmarks.cluster_role"),
    ) -> None:
        """Starts all processes and their servers.

        Args:
            implementation: Whose interpreter and module.
            ps: How many parameter servers.
            workers: How many workers.
            threads: Threads of each process's kernels; None leaves them as they are by default.
            script: What the interpreter runs (tests give another).

        Raises:
            WorkerError: A process or server did not start; none is left running.
        """
        self.name = implementation.name
        self.ps: list[TaskProcess] = []
        self.workers: list[TaskProcess] = []
        self.version = ""
        interpreter = interpreter_of(implementation)
        if not Path(interpreter).exists():
            raise WorkerError(f"no {implementation.interpreter}")
        command = [str(interpreter), *script, "--module", implementation.module]
        for attempt in range(ATTEMPTS):
            try:
                self._start(command, ps, workers, threads)
                return
            except WorkerError:
                self.close()
                if attempt == ATTEMPTS - 1:
                    raise
            except BaseException:
                self.close()
                raise

    def _start(self, command: Sequence[str], ps: int, workers: int, threads: int | None) -> None:
        ports = iter(free_ports(ps + workers))
        jobs = {"ps": ps, "worker": workers}
        spec = {job: [f"127.0.0.1:{next(ports)}" for _ in range(n)] for job, n in jobs.items()}
        held = {"ps": self.ps, "worker": self.workers}
        for job, addresses in spec.items():
            for index in range(len(addresses)):
                name = f"{self.name}:{job}:{index}"
                held[job].append(TaskProcess(name, command, threads))
        for job, tasks in held.items():
            for index, task in enumerate(tasks):
                task.send(serve=spec, job=job, index=index, threads=threads)
        for task in self.tasks:
            self.version = task.reply()["ready"]

    @property
    def tasks(self) -> list[TaskProcess]:
        """All tasks."""
        return self.ps + self.workers

    def close(self) -> None:
        """Ends every process of the cluster and waits for it."""
        tasks, self.ps, self.workers = self.tasks, [], []
        for task in tasks:
            task.hang_up()
        for task in tasks:
            task.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
