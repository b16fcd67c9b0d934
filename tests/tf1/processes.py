"""Programs run as processes of their own, by ``penstock run`` or by Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def python(
    *words: str, cwd: Path = ROOT, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the interpreter of the tests, with this checkout in front."""
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done


def run(*words: str, cwd: Path = ROOT, code: int = 0) -> subprocess.CompletedProcess[str]:
    """``penstock run`` with these words."""
    return python("-m", "penstock", "run", *words, cwd=cwd, code=code)
