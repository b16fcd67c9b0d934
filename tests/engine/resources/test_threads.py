"""Teams of threads: what they must not keep from happening."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_a_process_whose_waits_sleep_ends_at_once() -> None:
    code = (
        "import penstock\n"
        "from penstock.cluster.distributed import ending\n"
        "from penstock.engine.resources import threads\n"
        "threads.sleep_in_waits(True)\n"
        "assert ending.wait_for_threads(0.0) == [], 'the end of the process waits for them'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
