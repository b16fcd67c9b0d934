"""The front end for C++: its own tests, and a model that it trains."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.frontends.softmax import check_curve
from tests.peers import ROOT

CPP = ROOT / "frontends" / "cpp"
_PROGRAMS = ("make", "g++", "protoc", "grpc_cpp_plugin", "pkg-config")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the compiled example and tests."""
    missing = [each for each in _PROGRAMS if shutil.which(each) is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}: docs/front-ends.md names the packages")
    if subprocess.run(["pkg-config", "--exists", "grpc++", "protobuf"], check=False).returncode:
        pytest.skip("no libgrpc++-dev: docs/front-ends.md names the packages")
    folder = tmp_path_factory.mktemp("build")
    done = subprocess.run(
        ["make", "-C", CPP, f"BUILD={folder}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "warning" not in done.stderr
    return folder


@pytest.mark.long
def test_its_own_tests_pass(built: Path, target: str) -> None:
    done = subprocess.run(
        [built / "client_test", target], capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "0 failed\n"), done.stderr[-4000:]


@pytest.mark.long
def test_softmax_is_trained_as_python_trains_it(built: Path, target: str, tmp_path: Path) -> None:
    check_curve([built / "softmax"], target, tmp_path)
