"""MetaGraphs with queue runners go from Penstock to TensorFlow 1.15 and back, and run there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests.peers import TF115, needs
from tests.training.data import runner_peer

RUNNERS = [
    ["input/input_producer", 1, "input/input_producer/input_producer_Close",
     "input/input_producer/input_producer_Close_1", "OutOfRangeError"],
    ["input/batch/fifo_queue", 1, "input/batch/fifo_queue_Close",
     "input/batch/fifo_queue_Close_1", "OutOfRangeError"],
    ["letters", 1, "letters_Close", "letters_Close_1", "OutOfRangeError", "CancelledError"],
]  # fmt: skip
FOUND = [
    [[0, 1, 2, 3], [0, 1, 4, 9]],
    [[4, 5], [16, 25]],
    "OutOfRangeError",
    ["a", "b", "a"],
]


def _peer(verb: str, path: Path) -> str:
    needs(TF115)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(TF115), runner_peer.__file__, verb, str(path)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def _check(plain: Any, scoped: Any) -> None:
    assert plain[2] == FOUND and scoped[2] == FOUND
    assert plain[0] == RUNNERS
    assert scoped[0] == [
        [f"scope/{r[0]}", r[1], f"scope/{r[2]}", f"scope/{r[3]}", *r[4:]] for r in plain[0]
    ]
    assert scoped[1] == [f"scope/{name}" for name in plain[1]]


def test_penstocks_runners_come_back(tmp_path: Path) -> None:
    path = str(tmp_path / "graph.meta")
    runner_peer.write(tf, path)
    plain, scoped = runner_peer.run(tf, path), runner_peer.run(tf, path, "scope")
    _check(plain, scoped)


@pytest.mark.long
def test_tensorflow_runs_penstocks_queues(tmp_path: Path) -> None:
    path = tmp_path / "graph.meta"
    runner_peer.write(tf, str(path))
    in_tensorflow = json.loads(_peer("run", path))
    _check(*in_tensorflow)
    mine = [runner_peer.run(tf, str(path)), runner_peer.run(tf, str(path), "scope")]
    assert json.loads(json.dumps(mine)) == in_tensorflow


@pytest.mark.long
def test_penstock_runs_tensorflows_queues(tmp_path: Path) -> None:
    path = tmp_path / "graph.meta"
    _peer("write", path)
    mine = [runner_peer.run(tf, str(path)), runner_peer.run(tf, str(path), "scope")]
    _check(*mine)
    assert json.loads(json.dumps(mine)) == json.loads(_peer("run", path))
