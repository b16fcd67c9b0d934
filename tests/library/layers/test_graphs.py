"""Graphs, collections and values of ``tf.layers``: what TensorFlow 1.15 has made, as digests.

``tests/library/layers/golden.json`` has, for each program, a digest of the names, types, inputs and
attrs of TensorFlow's nodes, of its collections and of its outputs; ``python -m
tests.library.layers.test_graphs`` writes it anew, which needs TensorFlow 1.15.  The long test
compares the dumps themselves, and values.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests.library.layers import programs
from tests.peers import ROOT, TF115, needs

MODULES = ("dense", "conv", "norm", "keras", "recurrent")
GOLDEN = Path(__file__).with_name("golden.json")
# TensorFlow places the variables of renormalization with others alone, Penstock with these as well.
WITHOUT_CLASS = {"image_renorm", "table_renorm", "sequence_renorm", "renorm_of_placeholder"}


def _programs() -> dict[str, Any]:
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"tests.library.layers.{name}_programs")
        found |= {f"{name}.{key}": function for key, function in module.PROGRAMS.items()}
    return found


PROGRAMS = _programs()


def _cleaned(name: str, dump: dict[str, Any]) -> dict[str, Any]:
    if name.partition(".")[2] in WITHOUT_CLASS:
        for node in dump.get("nodes", ()):
            node[4].pop("_class", None)
    return dump


def _digest(name: str, dump: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a dump: the names that collections have, and a digest of all but values."""
    if "error" in dump:
        return {"error": [dump["error"][0], dump["error"][1][:50]]}
    dump = _cleaned(name, dump)
    kept = [dump[key] for key in ("nodes", "collections", "outputs")]
    text = json.dumps(kept, sort_keys=True)
    return {"count": len(dump["nodes"]), "digest": hashlib.sha256(text.encode()).hexdigest()[:16]}


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(GOLDEN.read_text())
    return found


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_graph_is_tensorflows(name: str, golden: dict[str, Any]) -> None:
    dump = programs.dump(tf, PROGRAMS[name], run=False)
    assert _digest(name, dump) == golden[name]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return asked(tmp_path_factory.mktemp("layers"))


def asked(folder: Path) -> dict[str, Any]:
    """What TensorFlow 1.15 makes of all programs."""
    needs(TF115)
    path = folder / "dumps.json"
    names = [f"tests.library.layers.{name}_programs" for name in MODULES]
    command = [str(TF115), "-m", "tests.library.layers.programs", str(path), *names]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_graph_and_values_are_tensorflows(name: str, theirs: dict[str, Any]) -> None:
    ours = _cleaned(name, programs.dump(tf, PROGRAMS[name]))
    assert programs.compared(ours, _cleaned(name, theirs[name])) == []


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = asked(Path(folder))
    digests = {name: _digest(name, dump) for name, dump in sorted(made.items())}
    GOLDEN.write_text(json.dumps(digests, indent=0) + "\n")
