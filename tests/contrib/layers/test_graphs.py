"""Graphs, collections and values of ``tf.contrib.layers`` and of slim's networks: TensorFlow's.

``golden.json`` has digests of what TensorFlow 1.15 has made; ``python -m
tests.contrib.layers.test_graphs`` writes it anew, which needs TensorFlow 1.15.  A network's digest
is of its graph alone; building most of them is a long test.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests.contrib.layers import layers_programs, nets_programs
from tests.library.layers import programs
from tests.library.layers.test_graphs import _digest
from tests.peers import ROOT, TF115, needs
from tests.suite.daily import long_but

GOLDEN = Path(__file__).with_name("golden.json")
LAYERS = {f"layers.{key}": value for key, value in layers_programs.PROGRAMS.items()}
NETS = {f"nets.{key}": value for key, value in nets_programs.PROGRAMS.items()}
# Of each kind one is built every day.
_DAILY = {f"nets.{name}" for name in ("alexnet", "inception_v1", "resnet_v2_50", "vgg_a")}


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(GOLDEN.read_text())
    return found


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_graph_is_tensorflows(name: str, golden: dict[str, Any]) -> None:
    assert _digest(name, programs.dump(tf, LAYERS[name], run=False)) == golden[name]


@pytest.mark.parametrize("name", long_but(_DAILY, sorted(NETS)))
def test_network_is_tensorflows(name: str, golden: dict[str, Any]) -> None:
    assert _digest(name, programs.dump(tf, NETS[name], run=False)) == golden[name]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return asked(tmp_path_factory.mktemp("layers"), "layers")


def asked(folder: Path, *kinds: str) -> dict[str, Any]:
    """What TensorFlow 1.15 makes of the programs of these kinds."""
    needs(TF115)
    path = folder / "dumps.json"
    names = [f"tests.contrib.layers.{kind}_programs" for kind in kinds]
    command = [str(TF115), "-m", "tests.library.layers.programs", str(path), *names]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(LAYERS))
def test_graph_and_values_are_tensorflows(name: str, theirs: dict[str, Any]) -> None:
    assert programs.compared(programs.dump(tf, LAYERS[name]), theirs[name]) == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made_in:
        made = asked(Path(made_in), "layers", "nets")
    digests = {name: _digest(name, dump) for name, dump in sorted(made.items())}
    GOLDEN.write_text(json.dumps(digests, indent=0) + "\n")
