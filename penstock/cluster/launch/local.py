"""A job on this machine: carries out what ``supervisor`` decides, in one thread.

State: the processes that run, a selector over their outputs, their heartbeats and the pipe that
signals wake.
Everything is started from the calling thread, which must be the main one (signals).
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from penstock.cluster.launch import supervisor as sv
from penstock.cluster.launch.job import Job, Task
from penstock.cluster.launch.logs import Logs
from penstock.cluster.launch.ports import free_ports
from penstock.cluster.launch.task_process import METRICS, RESTARTS, Guard, TaskProcess

STOPPERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# How long the last processes may take when the launcher itself fails.
_LAST_GRACE = 2.0
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Outcome:
    """How a job ended: the exit status, and the record of each task."""

    code: int
    records: dict[Task, sv.Record]
    seconds: float


def guard_source() -> str:
    """The text of the guard's program."""
    return (Path(__file__).parent / "guard.py").read_text()


def run_local(
    job: Job, policy: sv.Policy, logs: Logs, host: str = "127.0.0.1", metrics_port: int = 0
) -> Outcome:
    """Runs a job as processes of this machine, and returns when all of them have ended.

    SIGINT, SIGTERM and SIGHUP stop the job; a second one kills it.

    Args:
      job: what to run.
      policy: restarts and deadlines.
      logs: where the output goes.
      host: the address that the tasks' ports are on.
      metrics_port: where the first task's server shows its metrics, on the loopback interface; the
        others have the ports after it, in the order of ``job.tasks``.  0: nowhere.
    """
    return _Driver(job, policy, logs, host, metrics_port).run()


@dataclass(frozen=True)
class _Heart:
    """Whose heartbeat a pipe carries."""

    task: Task
    start: int


class _Driver:
    def __init__(
        self, job: Job, policy: sv.Policy, logs: Logs, host: str, metrics_port: int
    ) -> None:
        self._job, self._policy, self._logs = job, policy, logs
        self._machine = sv.Supervisor(job.tasks, policy)
        ports = free_ports(len(job.cluster_tasks), host)
        self._addresses = {t: f"{host}:{p}" for t, p in zip(job.cluster_tasks, ports, strict=True)}
        self._metrics = (
            {t: f"127.0.0.1:{metrics_port + i}" for i, t in enumerate(job.cluster_tasks)}
            if metrics_port
            else {}
        )
        self._running: dict[Task, tuple[TaskProcess, int]] = {}
        self._events: deque[sv.Event] = deque([sv.Begin()])
        self._code: int | None = None

    def run(self) -> Outcome:
        began = time.monotonic()
        guard = Guard(guard_source(), _LAST_GRACE)
        try:
            with selectors.DefaultSelector() as self._selector, self._signals():
                while self._code is None:
                    self._carry_out(guard)
                    self._wait()
        finally:
            # Whatever still runs here does so because something failed: the guard ends it.
            guard.close(2 * _LAST_GRACE)
        return Outcome(self._code, self._machine.records, time.monotonic() - began)

    def _carry_out(self, guard: Guard) -> None:
        while self._events:
            for order in self._machine.handle(self._events.popleft(), time.monotonic()):
                match order:
                    case sv.Place(task):
                        self._events.append(sv.Placed(task))  # here, where else
                    case sv.Start(task, start):
                        self._start(task, start, guard)
                    case sv.Terminate(task) if task in self._running:
                        self._running[task][0].terminate()
                    case sv.Kill(task) if task in self._running:
                        self._running[task][0].kill()
                    case sv.Say(text):
                        self._logs.say(text)
                    case sv.End(code):
                        self._code = code

    def _start(self, task: Task, start: int, guard: Guard) -> None:
        command = self._job.command(task, self._addresses)
        environment = self._job.environment(task, self._addresses)
        environment[RESTARTS] = str(start - 1)
        shown = self._metrics.get(task)
        if shown:
            environment[METRICS] = shown
        try:
            watched = self._policy.stuck_after > 0
            process = TaskProcess(command, environment, guard, with_heartbeat=watched)
        except OSError as error:  # no processes left, for instance
            self._logs.say(f"{task} cannot be started: {error}")
            self._events.append(sv.Exited(task, start, 127))
            return
        os.set_blocking(process.output.fileno(), False)
        self._selector.register(process.output, selectors.EVENT_READ, task)
        if process.heartbeat is not None:
            heart = _Heart(task, start)
            self._selector.register(process.heartbeat, selectors.EVENT_READ, heart)
        self._running[task] = process, start
        at = self._addresses.get(task)
        self._logs.say(
            f"{task} runs as process {process.pid}"
            + (f" at {at}" if at else "")
            + (f", metrics at {shown}" if shown else "")
        )

    def _wait(self) -> None:
        """Waits for output, a signal or the next deadline, and makes events of them."""
        if self._events or self._code is not None:
            return
        due = self._machine.deadline()
        timeout = None if due is None else max(0.0, due - time.monotonic())
        for key, _ in self._selector.select(timeout):
            if isinstance(key.data, Task):
                self._read(key.data)
            elif isinstance(key.data, _Heart):
                self._hear(key.fd, key.data)
            else:
                self._wake.recv(_CHUNK)
        for task, (process, start) in list(self._running.items()):
            code = process.poll()
            if code is not None:
                self._ended(task, process)
                self._events.append(sv.Exited(task, start, code))
        self._events.append(sv.Tick())

    def _hear(self, pipe: int, heart: _Heart) -> None:
        if os.read(pipe, _CHUNK):
            self._events.append(sv.Beat(heart.task, heart.start))
        else:  # it closed its end but may run on
            self._selector.unregister(pipe)

    def _read(self, task: Task) -> bool:
        """Takes what a task wrote; False when there is nothing (any more)."""
        output = self._running[task][0].output
        try:
            data = os.read(output.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not data:  # it closed its output but may run on
            if output in self._selector.get_map():
                self._selector.unregister(output)
            return False
        self._logs.output(task, data)
        return True

    def _ended(self, task: Task, process: TaskProcess) -> None:
        while self._read(task):
            pass
        for end in (process.output, process.heartbeat):
            if end is not None and end in self._selector.get_map():
                self._selector.unregister(end)
        process.close()
        self._logs.ended(task)
        del self._running[task]

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Signals wake the selector; those that stop become events."""

        def handler(number: int, frame: FrameType | None) -> None:
            if number != signal.SIGCHLD:
                self._events.append(sv.Interrupted(number))

        self._wake, wakes = socket.socketpair()
        with self._wake, wakes:
            wakes.setblocking(False)
            self._selector.register(self._wake, selectors.EVENT_READ)
            before = {n: signal.signal(n, handler) for n in (*STOPPERS, signal.SIGCHLD)}
            woken = signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
            try:
                yield
            finally:
                signal.set_wakeup_fd(woken)
                for number, old in before.items():
                    signal.signal(number, old)
