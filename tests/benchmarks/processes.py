"""Whether processes that tests started still run."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchmarks import machine


def has_ended(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet has ended too."""
    stat = machine.read(Path(f"/proc/{pid}/stat"))
    return not stat or stat.rpartition(")")[2].split()[0] == "Z"


def wait_until_ended(pid: int) -> None:
    """Fails where the process still runs after many times what its end takes."""
    for _ in range(1000):
        if has_ended(pid):
            return
        time.sleep(0.02)
    pytest.fail(f"{pid} still runs")
