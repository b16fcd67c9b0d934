"""Processes that are stopped, for tests of what the others do then."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.suite.clock import wait_until


def stop(pid: int) -> None:
    """Stops a process, and returns once all of it stands still.

    The signal alone does not: threads of the process run on until the one that the kernel chose to
    take it has got a core, which on a busy machine may take longer than a request is answered in.
    """
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(_state(task) in "TtZX" for task in Path(f"/proc/{pid}/task").iterdir()))


def _state(task: Path) -> str:
    """The letter of a thread's state; that of a dead one where it is gone."""
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"
