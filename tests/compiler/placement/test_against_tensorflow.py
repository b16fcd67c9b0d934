"""Placements beside those of TensorFlow 1.15's placer, node by node, in a session with four CPUs.

TensorFlow places the primitives of conditionals and loops, which are regions here; the nodes that
both have are compared.  Needs the environment that `make tf115` makes.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.compiler.passes.primitives import with_primitives
from penstock.compiler.passes.prune import prune
from penstock.compiler.placement.available import local_devices
from penstock.compiler.placement.place import place
from penstock.foundation.graph.operation import inner_operations
from tests.compiler.placement.programs import DEVICES, PROGRAMS
from tests.peers import TF115, needs

PEER = Path(__file__).with_name("tf115_placements.py")

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    needs(TF115)
    out = tmp_path_factory.mktemp("placements") / "placements.json"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(TF115), str(PEER), str(out)], env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def ours(name: str, structured: bool) -> dict[str, str]:
    with tf.Graph().as_default() as graph:
        PROGRAMS[name](tf)
        everything = graph.get_operations()
        cut = prune if structured else with_primitives
        step = cut(graph, [], [], everything)
    devices = local_devices({"CPU": DEVICES})
    placed = place(step, devices, soft="soft" in name)
    # What asks for nothing in a region goes with its neighbours, a rule of Penstock's own.
    inner = {o for op in step.operations for o in inner_operations(op) if not o.device}
    return {op.name: device for op, device in placed.items() if op not in inner}


@pytest.mark.parametrize("name", [name for name in PROGRAMS if "refused" not in name])
@pytest.mark.parametrize("structured", [True, False], ids=["regions", "primitives"])
def test_nodes_are_where_tensorflow_puts_them(
    name: str, structured: bool, theirs: dict[str, Any]
) -> None:
    mine, wanted = ours(name, structured), theirs[name]
    assert "error" not in wanted, wanted
    both = mine.keys() & wanted.keys()
    assert structured or len(both) >= 0.99 * len(wanted.keys() - {"probe"})
    other = {node: (mine[node], wanted[node]) for node in both if mine[node] != wanted[node]}
    assert not other


@pytest.mark.parametrize("name", [name for name in PROGRAMS if "refused" in name])
def test_what_tensorflow_refuses_is_refused(name: str, theirs: dict[str, Any]) -> None:
    kind, message = theirs[name]["error"]
    with pytest.raises(getattr(tf.errors, kind)) as info:
        ours(name, True)
    for words in ("Cannot assign a device for operation", "Cannot colocate nodes", "incompatible"):
        assert (words in message) == (words in info.value.message)
    assert "programs.py" in info.value.message
