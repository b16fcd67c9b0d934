"""Graphs of conditionals and loops, node by node those of TensorFlow 1.15."""

from __future__ import annotations

import json
from typing import Any

import pytest

import penstock as tf
from tests import tf1_programs
from tests.library.control_flow.programs import PROGRAMS, dump

# What TensorFlow lets pass while a graph is built, and why we do not.
STRICTER = {
    "error_loop_dtype": "TensorFlow closes the loop and fails when it runs",
}

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("graphs") / "graphs.json"
    found: dict[str, Any] = tf1_programs.ask("tests.library.control_flow.programs", path)
    return found


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_nodes_are_tensorflows(name: str, theirs: dict[str, Any]) -> None:
    ours = json.loads(json.dumps(dump(tf, PROGRAMS[name])))
    wanted = theirs[name]
    if name in STRICTER:
        assert wanted["error"] is None and ours["error"] is not None
        return
    assert ours["error"] == wanted["error"]
    if wanted["error"] is not None:
        # TensorFlow leaves the node that it refuses in the graph.
        return
    assert ours["nodes"] == wanted["nodes"]
    assert ours["contexts"] == wanted["contexts"]
