"""Programs of the workshop as clusters: ``penstock train NAME --ps 2 --workers 3``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.models.workshop.catalogue import PROGRAMS

ROOT = Path(__file__).resolve().parents[3]
DISTRIBUTED = [program.name for program in PROGRAMS if program.distributed]
WORDS = {
    "ridge": ["--steps", "300"],
    "mnist": ["--epochs", "10"],
    "word2vec": ["--epochs", "20", "--nearby", "class"],
}


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", DISTRIBUTED)
@pytest.mark.parametrize(("ps", "workers"), [(1, 1), (2, 3)])
def test_a_program_trains_as_a_cluster(tmp_path: Path, name: str, ps: int, workers: int) -> None:
    pytest.importorskip("sklearn")
    words = [sys.executable, "-m", "penstock", "train", name, "--ps", str(ps), "--workers",
             str(workers), "--logdir", str(tmp_path / "run"), *WORDS[name]]  # fmt: skip
    done = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for index in range(workers):
        assert f"worker {index} is done" in done.stdout
    assert "restart" not in done.stdout
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    if name == "ridge":
        assert result["difference"] < 1e-4
    elif name == "mnist":
        assert result["accuracy"] > 0.9
    else:
        near = next(line for line in done.stdout.splitlines() if "class: " in line)
        assert {"instance", "subclass", "attribute", "method", "metaclass", "classes"} & set(
            near.replace(",", "").split()
        )
