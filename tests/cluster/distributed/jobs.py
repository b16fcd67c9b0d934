"""Jobs as real processes, seen from outside: what they print, and signals sent to their tasks.

Nothing here sleeps for a fixed time: tests wait for what a job prints, with deadlines by a clock
that leaves out what others had of the machine (``tests.suite.clock``).
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.suite.clock import Clock
from tests.suite.stopping import stop

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = Path(__file__).parent / "programs"
PENSTOCK = [sys.executable, "-m", "penstock"]
# The deadline of a wait for something that takes seconds on a machine that is not busy.
SECONDS = 180.0
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
_STARTED = re.compile(r"launch +\| (\w+ \d+) runs as process (\d+) at (\S+)")


class Process:
    """A process whose output is collected as it comes.

    State: the lines so far, and whether the output has ended.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            env={**os.environ, **ENVIRONMENT, **(environment or {})},
        )  # fmt: skip
        self.pid = self._process.pid
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def mark(self) -> int:
        """Where the output is now, for ``since``."""
        return len(self.lines)

    def wait_for(self, pattern: str, since: int = 0, seconds: float = SECONDS) -> re.Match[str]:
        """Waits for a line, from the ``since``-th on, in which a pattern is found."""
        wanted = re.compile(pattern)
        clock = Clock()
        with self._changed:
            while True:
                while since < len(self.lines):
                    found = wanted.search(self.lines[since])
                    since += 1
                    if found:
                        return found
                left = seconds - clock.seconds()
                assert left > 0, f"no line with {pattern!r} in {seconds:g} s\n{self.text()}"
                assert not self._ended, f"ended without a line with {pattern!r}\n{self.text()}"
                self._changed.wait(max(left, 1.0))

    def all(self, pattern: str, since: int = 0) -> list[re.Match[str]]:
        """What matches in the lines so far."""
        return [found for line in self.lines[since:] if (found := re.search(pattern, line))]

    def text(self, lines: int = 150) -> str:
        """The last lines, to be shown."""
        return "\n".join(self.lines[-lines:])

    def signal(self, number: int) -> None:
        """Sends a signal to the process, if it still runs."""
        self._process.send_signal(number)

    def wait(self, seconds: float = SECONDS) -> int:
        """The exit status; a failed test if it does not end."""
        clock = Clock()
        while (code := self._process.poll()) is None:
            assert clock.seconds() < seconds, f"still runs after {seconds:g} s\n{self.text()}"
            time.sleep(0.05)
        self._reader.join(10.0)
        return code

    def stop(self) -> None:
        """Ends the process, if it still runs: asks first."""
        try:
            if self._process.poll() is None:
                self._process.terminate()
                try:
                    self._process.wait(30.0)
                except subprocess.TimeoutExpired:
                    self._process.kill()
                    self._process.wait(10.0)
        finally:
            self._reader.join(10.0)
            assert self._process.stdout is not None
            if not self._reader.is_alive():
                self._process.stdout.close()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.stop()


class Job(Process):
    """A job that ``penstock launch`` runs; its tasks are named "ps 0", "worker 1".

    Args:
      program: a file of ``programs``.
      args: its arguments.
      ps, workers: how many.
      restarts: of each task.
      backoff: seconds before a task is started again.
    """

    def __init__(
        self, program: str, *args: str, ps: int, workers: int, restarts: int = 10,
        backoff: float = 0.5, environment: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.tasks = [f"ps {i}" for i in range(ps)] + [f"worker {i}" for i in range(workers)]
        options = ["--ps", str(ps), "--workers", str(workers), "--restarts", str(restarts)]
        super().__init__(
            [*PENSTOCK, "launch", *options, "--backoff", str(backoff), str(PROGRAMS / program),
             "--", *args],
            environment,
        )  # fmt: skip

    def task_pid(self, task: str) -> int:
        """The process that a task was last started as."""
        return int(self._last_start(task)[2])

    def address(self, task: str) -> str:
        """Where its server listens."""
        return self._last_start(task)[3]

    def signal_tasks(self, number: int, *tasks: str) -> None:
        """Sends a signal to tasks; to one after the other without looking at anything between."""
        for pid in [self.task_pid(task) for task in tasks]:
            os.kill(pid, number)

    @contextmanager
    def stopped(self, task: str) -> Iterator[int]:
        """Keeps a task stopped (SIGSTOP); its pid."""
        pid = self.task_pid(task)
        stop(pid)
        try:
            yield pid
        finally:
            os.kill(pid, signal.SIGCONT)

    def wait_until_started(self) -> None:
        """Waits until the launcher has started all tasks once."""
        for task in self.tasks:
            self.wait_for(rf"\| {task} runs as process")

    def done(self, seconds: float = SECONDS) -> None:
        """Waits for the end of the job, which must be a good one."""
        code = self.wait(seconds)
        assert code == 0, f"exit status {code}\n{self.text()}"

    def _last_start(self, task: str) -> re.Match[str]:
        found = [each for each in self.all(_STARTED.pattern) if each[1] == task]
        assert found, f"{task} was never started\n{self.text()}"
        return found[-1]


def alone(program: str, *args: str, seconds: float = SECONDS) -> list[str]:
    """What a program prints that runs as one process."""
    with Process([sys.executable, str(PROGRAMS / program), *args]) as process:
        code = process.wait(seconds)
        assert code == 0, f"exit status {code}\n{process.text()}"
        return list(process.lines)
