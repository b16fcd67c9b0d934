"""A trainer that is killed (SIGKILL) at random instants and started again ends as if it never was.

The instants are drawn over the program's whole life: while it imports, restores, saves, steps.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.suite.clock import Clock

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(__file__).with_name("crashing_trainer.py")
_DEADLINE = 60.0


def _start(folder: Path, last_step: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(PROGRAM), str(folder), str(last_step)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def _killed_runs(folder: Path, last_step: int, kills: int, seed: int) -> tuple[int, list[int]]:
    """Runs, killing ``kills`` times; how often it was killed, and what the program wrote."""
    random_ = random.Random(seed)
    killed = 0
    for _ in range(kills):
        process = _start(folder, last_step)
        state = folder / "checkpoint"
        before = state.stat().st_mtime_ns if state.exists() else 0
        # Wait for a sign of life in half of the runs, so that kills hit the training as well.
        clock = Clock()
        if random_.random() < 0.8:
            while process.poll() is None and clock.seconds() < _DEADLINE:
                if state.exists() and state.stat().st_mtime_ns != before:
                    break
                time.sleep(0.002)
        time.sleep(random_.uniform(0.0, 0.25))
        killed += process.poll() is None
        process.kill()
        process.communicate()
        if (folder / "done").exists():
            break
    if not (folder / "done").exists():
        process = _start(folder, last_step)
        _, said = process.communicate()
        assert process.returncode == 0, said.decode()[-3000:]
    return killed, [int(v) for v in (folder / "done").read_text().split()]


def _check(folder: Path, kills: int, seed: int) -> None:
    last = 1200
    killed, values = _killed_runs(folder, last, kills, seed)
    assert killed >= 1
    assert values == [last, last * (last + 1) // 2, last, last]


@pytest.mark.long
def test_killed_at_random(tmp_path: Path) -> None:
    _check(tmp_path, kills=2, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_killed_at_random_often(tmp_path: Path, seed: int) -> None:
    _check(tmp_path, kills=2, seed=100 + seed)
