"""The front end for Node: its own tests, and a model that it trains."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.frontends.softmax import check_curve
from tests.peers import ROOT

NODE = ROOT / "frontends" / "node"


@pytest.fixture(scope="module")
def built() -> Path:
    """The folder of what the TypeScript was compiled to."""
    if shutil.which("node") is None:
        pytest.skip("no node: the front end for Node needs it")
    compiler = NODE / "node_modules" / ".bin" / "tsc"
    if not compiler.exists():
        pytest.skip("no frontends/node/node_modules: `make frontends` makes it")
    subprocess.run([compiler, "-p", "."], cwd=NODE, check=True)
    return NODE / "build"


@pytest.mark.long
def test_its_own_tests_pass(built: Path, target: str) -> None:
    done = subprocess.run(
        ["node", "--test", built / "test"], capture_output=True, text=True, check=False,
        env={**os.environ, "PENSTOCK_TARGET": target}, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.long
def test_softmax_is_trained_as_python_trains_it(built: Path, target: str, tmp_path: Path) -> None:
    check_curve(["node", built / "examples" / "softmax.js"], target, tmp_path)
