"""What can happen to a task of ``chaos``: each kind begins, lasts for a while, and ends."""

from __future__ import annotations

import itertools
import os
import random
import resource
import signal
import subprocess
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from tests.cluster.distributed.chaos import Chaos, Task

DISK_BYTES = 16 << 20


class Fault:
    """One fault; ``str`` tells what and to whom.

    Args:
      chaos: the run.
      dice: decide to whom, and for how long.

    Attributes:
      until: when it is to end.
    """

    name: ClassVar[str]
    # What a task says that ends because of it ("": none does), and how it may end.
    may_end: ClassVar[str] = ""
    codes: ClassVar[tuple[int, ...]] = (1,)
    jobs: ClassVar[tuple[str, ...]] = ("ps", "chief", "worker")
    seconds: ClassVar[tuple[float, float]] = (3.0, 8.0)

    def __init__(self, chaos: Chaos, dice: random.Random) -> None:
        self.chaos = chaos
        fitting = [t for t in chaos.tasks.values() if t.name.startswith(self.jobs)]
        self.task: Task = dice.choice(fitting)
        self.length = dice.uniform(*self.seconds)
        self.until = time.monotonic() + self.length

    @classmethod
    def possible(cls, chaos: Chaos) -> bool:
        """Whether it can be done here and now."""
        return True

    def begin(self) -> None:
        """Does it."""
        raise NotImplementedError

    def end(self) -> None:
        """Undoes what can be undone; twice is no harm."""

    def __str__(self) -> str:
        return f"{self.name}: {self.task.name}"

    def _signal(self, number: int) -> bool:
        if self.task.code is not None:
            return False
        self.task.process.signal(number)
        return True


class Kill(Fault):
    """SIGKILL."""

    name = "kill"
    seconds = (0.0, 0.0)

    def begin(self) -> None:
        self.task.killed = time.monotonic()
        if not self._signal(signal.SIGKILL):
            self.task.killed = None


class Stop(Fault):
    """SIGSTOP for some seconds."""

    name = "stop"

    def begin(self) -> None:
        self._pid = self.task.process.pid
        self._signal(signal.SIGSTOP)

    def end(self) -> None:
        if self.task.process.pid == self._pid:
            self._signal(signal.SIGCONT)


class Cut(Fault):
    """The task's cable is cut for some seconds; nobody is told."""

    name = "cut"

    def __init__(self, chaos: Chaos, dice: random.Random) -> None:
        super().__init__(chaos, dice)
        self._cut: AbstractContextManager[Any] | None = None

    @classmethod
    def possible(cls, chaos: Chaos) -> bool:
        return chaos.network is not None

    def begin(self) -> None:
        assert self.chaos.network is not None
        self._cut = self.chaos.network.cut(self.task.name)
        self._cut.__enter__()

    def end(self) -> None:
        cut, self._cut = self._cut, None
        if cut is not None:
            cut.__exit__(None, None, None)


class HalfOpen(Cut):
    """Cut off, and killed meanwhile: the others' connections stay, and nobody is at their ends."""

    name = "half-open"

    def begin(self) -> None:
        super().begin()
        self.task.killed = time.monotonic()
        if not self._signal(signal.SIGKILL):
            self.task.killed = None


class FullDisk(Fault):
    """There is no room for checkpoints."""

    name = "full disk"
    may_end = "No space left on device"
    jobs = ("chief",)

    @classmethod
    def possible(cls, chaos: Chaos) -> bool:
        return not chaos.disk.why_not

    def begin(self) -> None:
        self.chaos.disk.fill()

    def end(self) -> None:
        self.chaos.disk.free()


class NoFiles(Fault):
    """The task can open no more files than it has: EMFILE."""

    name = "no files"
    may_end = "Too many open files"
    # gRPC aborts a process that has no file left when it first uses it.
    codes = (1, -signal.SIGABRT)

    def begin(self) -> None:
        self._pid = self.task.process.pid
        try:
            self._before = take_files(self._pid)
        except (OSError, ValueError):
            self._pid = 0  # it has just ended

    def end(self) -> None:
        if self._pid and self.task.process.pid == self._pid:
            try:
                resource.prlimit(self._pid, resource.RLIMIT_NOFILE, self._before)
            except OSError:
                pass


KINDS: tuple[type[Fault], ...] = (Kill, Kill, Stop, Cut, HalfOpen, FullDisk, NoFiles)


def take_files(pid: int) -> tuple[int, int]:
    """Lets a process open no more files; returns the limit that it had.

    Those that it has stay: the limit is the lowest number that is free.
    """
    held = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    free = next(number for number in itertools.count() if number not in held)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (free, before[1]))
    return before


class Disk:
    """A folder on a small file system of its own, where root may make one; a context manager.

    Args:
      path: of the folder, which is made.

    Attributes:
      why_not: why it is a folder like others; "".
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.why_not = ""

    def __enter__(self) -> Disk:
        self.path.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(self.path)],
            capture_output=True, text=True,
        )  # fmt: skip
        self.why_not = done.stderr.strip() if done.returncode else ""
        return self

    def __exit__(self, *exc: Any) -> None:
        if not self.why_not:
            subprocess.run(["umount", "--lazy", str(self.path)], check=True)

    @property
    def _ballast(self) -> Path:
        return self.path / "ballast"

    def fill(self) -> None:
        """Leaves no room."""
        with self._ballast.open("wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(4096))
            except OSError:
                pass

    def free(self) -> None:
        """Makes room again."""
        self._ballast.unlink(missing_ok=True)
