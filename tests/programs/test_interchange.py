"""GraphDefs between systems: what Penstock writes runs in TensorFlow, and the other way round.

Needs the environments that `make peers` and `make tf115` make; each test is skipped without its
own. `interchange_peer.py` is the half that runs there.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.peers import PYTHON, needs
from tests.programs import program

PEER = Path(__file__).with_name("interchange_peer.py")
# Between them: ref and resource variables, sparse gradients, convolutions, penalties, dropout.
# Not `inception` and `logistic`: TensorFlow makes conditionals for a moving average's initial value
# and for an assertion, and Penstock has no control flow yet.
CARRIED = ["mlp_dropout", "lenet", "word2vec", "shared_scopes", "lstm", "vgg", "alexnet"]

pytestmark = pytest.mark.long


def peer(which: str, *arguments: str) -> None:
    """Runs the peer's half.

    Raises:
      AssertionError: it failed; with what it said.
    """
    needs(PYTHON[which])
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    command = [str(PYTHON[which]), str(PEER), *arguments]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("which", ["tf2", "tf1"])
def test_tensorflow_runs_penstocks_graphs(which: str, tmp_path: Path) -> None:
    wanted = {}
    for name in CARRIED:
        carried, losses = program.carry(tf, name)
        (tmp_path / f"{name}.pickle").write_bytes(pickle.dumps(carried, protocol=4))
        wanted[name] = losses
    peer(which, "run", str(tmp_path), *CARRIED)
    found = json.loads((tmp_path / "losses.json").read_text())
    for name in CARRIED:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-4, err_msg=name)


def test_penstock_runs_tensorflows_graphs(tmp_path: Path) -> None:
    peer("tf1", "carry", str(tmp_path), *CARRIED)
    wanted = json.loads((tmp_path / "losses.json").read_text())
    for name in CARRIED:
        carried: dict[str, Any] = pickle.loads((tmp_path / f"{name}.pickle").read_bytes())
        losses = program.run_carried(tf, carried)
        np.testing.assert_allclose(losses, wanted[name], rtol=1e-4, err_msg=name)


def test_graphs_are_tensorflows(tmp_path: Path) -> None:
    names = program.names()
    peer("tf1", "nodes", str(tmp_path), *names)
    wanted = json.loads((tmp_path / "nodes.json").read_text())
    for name in names:
        assert program.graph_lines(tf, name) == wanted[name], name
