"""Looking at a job from outside: the processes that it started, and waiting for things."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.suite.clock import wait_until

COUNTING = str(Path(__file__).parent / "programs" / "counting.py")


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


def pids(directory: Path, name: str = "") -> list[int]:
    """The processes that tasks (of this name) wrote down, in order."""
    file = directory / "pids"
    lines = file.read_text().splitlines() if file.exists() else []
    return [int(line.split()[-1]) for line in lines if line.startswith(name)]


def clusters(directory: Path) -> list[tuple[str, dict[str, list[str]]]]:
    """The cluster that each started task saw, in order."""
    return [tuple(json.loads(line)) for line in (directory / "clusters").read_text().splitlines()]


def step(directory: Path, name: str) -> int:
    """How far a worker counted."""
    file = directory / f"{name.replace(' ', '-')}.step"
    return int(file.read_text()) if file.exists() else 0


def assert_all_gone(directory: Path, seconds: float = 60.0) -> None:
    """No process that a task wrote down is left, shortly."""
    started = pids(directory)
    assert started
    wait_until(lambda: not any(map(alive, started)), seconds)
    assert os.getpid() not in started
