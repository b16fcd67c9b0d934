"""Forty networks: graphs, values and training are TensorFlow 1.15's; checkpoints go both ways."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests import peers
from tests.tf1.networks import observe
from tests.tf1.networks.all import NETWORKS

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

# In the gradients of these loops a known shape is a constant; TensorFlow keeps the shapes of
# all rounds on a stack.
OTHER_HISTORY = {
    "keras.words_lstm",
    "keras.bidirectional_gru",
    "recurrent.both_directions",
    "recurrent.normalized",
}
# Losses of three steps from equal values; the outputs of deep networks round a little more.
LOSSES, OUTPUTS = 1e-4, 1e-3


class Peer:
    """TensorFlow 1.15, asked for one network after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [str(peers.TF115), "-m", "tests.tf1.networks.peer"],
            cwd=peers.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, *request: str) -> Any:
        """The answer to one request; an error of TensorFlow's is one here."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer
        return answer

    def end(self) -> None:
        """Lets TensorFlow go."""
        self._process.communicate()


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    peers.needs()
    made = Peer()
    yield made
    made.end()


@pytest.mark.parametrize("name", NETWORKS)
def test_network_is_tensorflows(name: str, peer: Peer, tmp_path: Path) -> None:
    paths = {which: str(tmp_path / which / "model") for which in ("ours", "theirs")}
    for path in paths.values():
        Path(path).parent.mkdir()
    theirs = peer.ask("observed", name, paths["theirs"])
    ours = json.loads(json.dumps(observe.observed(tf, NETWORKS[name], paths["ours"])))
    if name in OTHER_HISTORY:
        for found in (ours, theirs):
            found["nodes"] = [n for n in found["nodes"] if not n[0].startswith("gradients")]
    for one, other in zip(ours["nodes"], theirs["nodes"], strict=False):
        assert one == other
    for key in ("nodes", "variables", "trainable", "collections"):
        assert ours[key] == theirs[key], key
    _near(ours["outputs"], theirs["outputs"], OUTPUTS)
    _near(ours["losses"], theirs["losses"], LOSSES)
    # Of values that TensorFlow has written, and of ours in TensorFlow.
    _near(observe.restored(tf, NETWORKS[name], paths["theirs"]), theirs["outputs"], OUTPUTS)
    _near(peer.ask("restored", name, paths["ours"]), theirs["outputs"], OUTPUTS)


def test_there_are_forty() -> None:
    assert len(NETWORKS) == 40


def _near(found: Any, wanted: Any, tolerance: float) -> None:
    wanted = np.asarray(wanted)
    size = float(np.abs(wanted).max())
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * size)
