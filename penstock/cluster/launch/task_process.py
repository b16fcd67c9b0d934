"""One task as a process, with its process group and the guard over it.  Standard library only.

Used by the local launcher and, shipped by value, inside Ray's actors: it imports nothing of
Penstock, and is given the source of ``guard`` as text.

State of a ``TaskProcess``: the process, which leads a session and a process group of its own; the
reading ends of its output (stdout and stderr in one pipe, so that their order is kept) and of its
heartbeat.
State of a ``Guard``: the watching process's id, its input, and its output, which ends with it.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO

# Where a task finds the end of a pipe that it may write its heartbeat to.
HEARTBEAT = "PENSTOCK_HEARTBEAT"
# Where its server shows metrics, and how often the task was started before.
METRICS = "PENSTOCK_METRICS"
RESTARTS = "PENSTOCK_RESTARTS"


class Guard:
    """The process that kills what is left of this one's tasks when this one dies.

    Args:
      source: the text of ``penstock.cluster.launch.guard``.
      grace: seconds between asking and killing.
    """

    def __init__(self, source: str, grace: float) -> None:
        self.source = source
        self._watch = subprocess.Popen(
            [*_interpreter(source), "watch", str(grace)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._watch.stdin is not None and self._watch.stdout is not None
        self._input, self._output = self._watch.stdin, self._watch.stdout
        self._watch.wait()  # it lives on in a process of its own
        self._pid = int(self._output.readline())

    def add(self, group: int) -> None:
        """Watches over a process group."""
        self._tell(f"+{group}\n")

    def discard(self, group: int) -> None:
        """Forgets a process group."""
        self._tell(f"-{group}\n")

    def close(self, timeout: float) -> None:
        """Ends the watch, and with it every process group not discarded before."""
        try:
            self._input.close()
        except OSError:
            pass
        # Its output ends when it does.
        if not select.select([self._output], [], [], timeout)[0]:
            os.kill(self._pid, signal.SIGKILL)
        self._output.close()

    def _tell(self, line: str) -> None:
        try:
            self._input.write(line)
            self._input.flush()
        except OSError:
            pass  # somebody killed the watch; the kernel's signal is left


class TaskProcess:
    """A running task.

    Start it in a thread that lives as long as the task may: the kernel counts the starting
    thread's end as the parent's.

    Args:
      command: the command line; an empty first word stands for this interpreter.
      environment: variables besides those inherited.
      guard: who watches over it.
      directory: where it runs; None: here.
      with_heartbeat: whether it is given a pipe to write its heartbeat to.

    Attributes:
      heartbeat: the reading end of that pipe, which never blocks; None without one.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        guard: Guard,
        directory: str | None = None,
        with_heartbeat: bool = False,
    ) -> None:
        words = [command[0] or sys.executable, *command[1:]]
        self._guard = guard
        self.heartbeat: int | None
        beats: int | None
        self.heartbeat, beats = _pipe() if with_heartbeat else (None, None)
        # By its inode a process that did not inherit the pipe sees that the number is another's.
        told = {} if beats is None else {HEARTBEAT: f"{beats}:{os.fstat(beats).st_ino}"}
        try:
            self._process = subprocess.Popen(
                [*_interpreter(guard.source), "exec", str(os.getpid()), *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment, **told},
                cwd=directory,
                bufsize=0,
                start_new_session=True,
                pass_fds=() if beats is None else [beats],
            )
        except BaseException:
            _close(self.heartbeat)
            raise
        finally:
            _close(beats)
        self.pid = self._process.pid
        guard.add(self.pid)

    @property
    def output(self) -> IO[bytes]:
        """Where its output is read."""
        assert self._process.stdout is not None
        return self._process.stdout

    def poll(self) -> int | None:
        """Its exit status once it has ended, and everything it started in its group with it."""
        if self._process.returncode is None and self._has_ended():
            # Before the process is reaped: until then nobody else gets the group's number.
            self._signal(signal.SIGKILL)
            self._process.wait()
            self._guard.discard(self.pid)
        return self._process.returncode

    def close(self) -> None:
        """Closes what this process reads of it, once."""
        self.output.close()
        _close(self.heartbeat)

    def terminate(self) -> None:
        """Asks it to stop, and what it started."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kills it, and what it started; a stopped (SIGSTOP) one as well."""
        self._signal(signal.SIGKILL)

    def _has_ended(self) -> bool:
        if not hasattr(os, "waitid"):  # macOS: reaped at once
            return self._process.poll() is not None
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.pid, flags) is not None

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self.pid, number)
        except OSError:
            pass


def _pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    return reading, writing


def _close(end: int | None) -> None:
    if end is not None:
        os.close(end)


def _interpreter(source: str) -> list[str]:
    # Isolated and without site-packages: starts in some 10 ms, whatever is installed.
    return [sys.executable, "-I", "-S", "-c", source]
