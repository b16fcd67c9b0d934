"""Expressions of ragged tensors beside TensorFlow 1.15: values, ragged dims, types, refusals.

Needs the environment that `make tf115` makes.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests.ragged_tensors.programs import EXPRESSIONS, result

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-tf115" / "bin" / "python"
PEER = Path(__file__).with_name("programs.py")

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if not PYTHON.exists():
        pytest.skip("no .venv-tf115: `make tf115` makes it")
    out = tmp_path_factory.mktemp("ragged") / "results.json"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(PYTHON), str(PEER), str(out)], env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6) or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and bool(one == other)


@pytest.mark.timeout(600)
def test_expressions_give_what_tensorflow_gives(theirs: dict[str, Any]) -> None:
    ours = {e: json.loads(json.dumps(result(tf, e))) for e in EXPRESSIONS}
    differ = {e: (theirs[e], ours[e]) for e in EXPRESSIONS if not _same(theirs[e], ours[e])}
    assert not differ, "\n".join(f"{e}:\n  {t}\n  {o}" for e, (t, o) in differ.items())
    refused = sum(1 for e in EXPRESSIONS if ours[e] == "refused")
    assert refused < len(EXPRESSIONS) / 4
