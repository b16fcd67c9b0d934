"""The nodes that strategies and SyncReplicasOptimizer make are TensorFlow 1.15's."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

import penstock as tf
from tests.peers import TF115, needed
from tests.training.distribute import programs

pytestmark = [
    pytest.mark.long,
    needed(TF115),
]


@pytest.fixture(scope="module")
def theirs() -> Any:
    done = subprocess.run(
        [str(TF115), programs.__file__],
        capture_output=True, text=True, check=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_nodes_and_collections(program: Any, theirs: Any) -> None:
    found, expected = programs.nodes(tf, program), theirs[program.__name__]
    assert found["nodes"] == expected["nodes"]
    if program is programs.mirrored_layers:
        # TensorFlow leaves a second component among the trainable variables, so that minimize
        # would update it twice; the variable stands there once here.
        expected["collections"]["trainable_variables"].remove("b/replica_1")
    assert found["collections"] == expected["collections"]
