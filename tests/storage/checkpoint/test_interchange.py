"""Checkpoints between systems: each goes on training from what the other wrote, with equal losses.

Needs the environments that `make peers` and `make tf115` make; each test is skipped without its
own. `peer.py` is the half that runs there.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import penstock as tf
from tests.peers import PYTHON, needs
from tests.storage.checkpoint import peer

pytestmark = pytest.mark.long
both = pytest.mark.parametrize("which", ["tf2", "tf1"])


def _run(which: str, command: str, directory: Path) -> None:
    needs(PYTHON[which])
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(PYTHON[which]), peer.__file__, command, str(directory)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]


@both
def test_penstock_goes_on_from_tensorflow(which: str, tmp_path: Path) -> None:
    _run(which, "write", tmp_path)
    peer.check(tf, str(tmp_path))


@both
def test_tensorflow_goes_on_from_penstock(which: str, tmp_path: Path) -> None:
    peer.write(tf, str(tmp_path))
    _run(which, "check", tmp_path)


def test_savers_add_tensorflows_nodes(tmp_path: Path) -> None:
    _run("tf1", "nodes", tmp_path)
    wanted = json.loads((tmp_path / "nodes.json").read_text())
    peer.nodes(tf, str(tmp_path))
    found = json.loads((tmp_path / "nodes.json").read_text())
    assert wanted.keys() == found.keys()
    for name in wanted:
        assert found[name] == wanted[name], name
