"""``tf.distributions`` makes the nodes and values of TensorFlow 1.15, and refuses what it does."""

from __future__ import annotations

import re
from typing import Any

import pytest

import penstock as tf
from tests import tf1_programs
from tests.library.distributions import programs

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

# TensorFlow raises there, and we have a value: pattern of a program's name, and why.
WIDER = {
    r"StudentT . float64 (variance|stddev) \w+": "it compares float64 with float32",
}


# Nodes are other there, and the values right: where TensorFlow has some, they are these.
OTHER_NODES = {
    r"Dirichlet 1 \w+ mode False": "it selects by the batch as if that were an event",
}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("distributions") / "found.json"
    return tf1_programs.ask("tests.library.distributions.programs", path)["programs"]


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_as_in_tensorflow(name: str, theirs: Any) -> None:
    ours, wanted = tf1_programs.run(tf, programs.PROGRAMS[name]), theirs[name]
    if "error" not in wanted:
        same = not any(re.fullmatch(pattern, name) for pattern in OTHER_NODES)
        # Of sums over dims that broadcasting finds, TensorFlow knows more of the shape.
        tf1_programs.check(ours, wanted, nodes=same, shapes="gradients" not in name)
    elif any(re.fullmatch(pattern, name) for pattern in WIDER):
        assert "error" not in ours
    else:
        assert ours.get("error", "").split(":")[0] == wanted["error"].split(":")[0], (ours, wanted)
        if "is not implemented" in wanted["error"]:
            assert ours["error"] == wanted["error"]
