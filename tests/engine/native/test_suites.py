"""Suites by native forms that are forced, not tried: what a trial would drop is a defect to find.

All of them by the traced operators; a part by what the C++ compiler makes of those, where
``NATIVE_COMPILED=1`` asks for that: it takes the compiler half an hour and more, which no turn of
the long tests has.  What is compiled is kept where ``PENSTOCK_CACHE`` names a folder: the second
run compiles what has changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from penstock.engine.native.process import without_compiler

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = "tests/programs/test_programs.py"
FEW = "tests/engine/native/few_programs.py"
# A third of the programs whose values TensorFlow gave.
SOME = "lstm or mlp_dropout or word2vec or softmax_regression or matrix_fact or custom_gradient"
TRAINING = ("tests/library/recurrent", "tests/training/train")
# Steps of one op: those that go by indices.
ROWS = "test_runs_as_declared and float32 and (Scatter or Segment or Gather)"
OPS = "tests/ops/test_cases.py"
needs_compiler = pytest.mark.skipif(
    bool(without_compiler()), reason="there is no C++ compiler that works"
)
pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def run(how: str, folder: Path, *tests: str, **environ: str) -> Counter[str]:
    """Runs tests under the plugin; gives its counts."""
    env = {**os.environ, "NATIVE_FORCED": f"{how}:{folder}", "PENSTOCK_CACHE": "off", **environ}
    for name in list(env):
        if name.startswith("PYTEST_XDIST"):
            del env[name]
    command = [sys.executable, "-m", "pytest", "-p", "tests.engine.native.forced", "-q", "-n0",
               "-p", "no:cacheprovider", "--timeout", "0", *tests]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    counts: Counter[str] = Counter()
    rows = (folder / "counts.jsonl").read_text().splitlines()
    counts.update(json.loads(rows[-1]))
    return counts


def differences(folder: Path) -> str:
    file = folder / "differ.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return "\n".join(f"{test}: {what}\n{text}\n" for test, text, what in rows)


def compile_all(folder: Path) -> None:
    command = [sys.executable, "-m", "tests.engine.native.forced", str(folder)]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    kept = os.environ.get("PENSTOCK_CACHE", "off")
    place = tmp_path if kept == "off" else Path(kept) / "forced" / request.node.name
    for name in ("counts.jsonl", "differ.jsonl"):
        (place / name).unlink(missing_ok=True)
    return place


@pytest.mark.parametrize("suite", [GOLDEN, FEW, *TRAINING])
def test_traced(suite: str, tmp_path: Path) -> None:
    run("ask", tmp_path, suite)
    counts = run("traced", tmp_path, suite)
    assert not differences(tmp_path), differences(tmp_path)
    assert counts["calls"] > 200 and counts["left to the lines"] < counts["calls"]
    print(suite, dict(counts))


def test_traced_steps_of_one_op(tmp_path: Path) -> None:
    for how in ("ask", "traced"):
        counts = run(how, tmp_path, OPS, "-k", ROWS, NATIVE_FEWEST="1")
    assert not differences(tmp_path), differences(tmp_path)
    assert counts["calls"] > 15
    print(OPS, dict(counts))


@needs_compiler
@pytest.mark.skipif(
    os.environ.get("NATIVE_COMPILED") != "1", reason="NATIVE_COMPILED=1 asks for it: half an hour"
)
@pytest.mark.parametrize(
    ("suite", "part"), [(GOLDEN, SOME), (FEW, "edges"), (FEW, "random"), (OPS, ROWS)]
)
def test_compiled(suite: str, part: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = {"NATIVE_SEEDS": "12"}
    if suite == OPS:
        monkeypatch.setenv("NATIVE_FEWEST", "1")
    run("ask", folder, suite, "-k", part, **some)
    compile_all(folder)
    counts = run("compiled", folder, suite, "-k", part, **some)
    assert not differences(folder), differences(folder)
    assert counts["calls"] > 15
    print(suite, part, dict(counts))
