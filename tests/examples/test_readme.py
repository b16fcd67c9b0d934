"""The README's example is run as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_example_runs_and_learns() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    run = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    accuracy = float(run.stdout.split()[-1])
    assert accuracy > 0.85  # the held-back digits are other writers': a linear model has about 0.9
