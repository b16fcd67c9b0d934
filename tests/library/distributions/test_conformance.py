"""``tf.distributions`` makes the nodes and values of TensorFlow 1.15, and refuses what it does."""

from __future__ import annotations

import re
from typing import Any

import pytest

import penstock as tf
from tests import tf1_programs
from tests.library.distributions import programs

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

# TensorFlow refuses these programs, since it compares float64 with float32. We have values; where
# there are none (the last has one degree of freedom and less, and asks for no NaN), the reason is
# the one of float32.
WIDER = {
    r"StudentT (. float64 (variance|stddev) False|[01] float64 (variance|stddev) True)": None,
    r"StudentT 2 float64 (variance|stddev) True": "not defined for components of df <= 1",
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
    elif wider := [reason for pattern, reason in WIDER.items() if re.fullmatch(pattern, name)]:
        if wider == [None]:
            assert "error" not in ours
        else:
            assert wider[0] in ours["error"]
    else:
        assert ours.get("error", "").split(":")[0] == wanted["error"].split(":")[0], (ours, wanted)
        if "is not implemented" in wanted["error"]:
            assert ours["error"] == wanted["error"]
