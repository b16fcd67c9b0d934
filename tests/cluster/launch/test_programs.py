"""Programs in the seeds' shape, run as written by ``penstock launch`` on real servers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "penstock"]
REPLICAS = str(Path(__file__).parent / "programs" / "replicas.py")


@pytest.mark.long
def test_between_graph_replication(tmp_path: Path) -> None:
    words = ["launch", "--ps", "2", "--workers", "3", "--restarts", "0", REPLICAS, "--"]
    done = subprocess.run(
        [*COMMAND, *words, "--logdir", str(tmp_path), "--steps", "400"], cwd=ROOT,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    ends = re.findall(r"final step (\d+) loss (\S+)", done.stdout)
    assert len(ends) == 3
    assert all(int(step) >= 400 and float(loss) < 1e-2 for step, loss in ends)
    assert (tmp_path / "checkpoint").exists()
