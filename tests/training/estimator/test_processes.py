"""Estimators in real processes: a cluster from TF_CONFIG, and trainers that are killed."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import penstock as tf

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = [sys.executable, "-m", "tests.training.estimator.trainer"]


def start(folder: Path, last_step: int, config: dict[str, object] | None) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    environment.pop("TF_CONFIG", None)
    if config is not None:
        environment["TF_CONFIG"] = json.dumps(config)
    return subprocess.Popen([*PROGRAM, str(folder), str(last_step)], env=environment, cwd=ROOT)


def ports(count: int) -> list[str]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    finally:
        for each in sockets:
            each.close()


@pytest.mark.long
def test_train_and_evaluate_over_a_cluster(tmp_path: Path) -> None:
    hosts = ports(4)
    cluster = {"chief": hosts[:1], "worker": hosts[1:3], "ps": hosts[3:]}
    tasks = [("ps", 0), ("chief", 0), ("worker", 0), ("worker", 1), ("evaluator", 0)]
    processes = {}
    try:
        for kind, index in tasks:
            task = {"type": kind, "index": index}
            config = {"cluster": cluster, "task": task}
            processes[kind, index] = start(tmp_path, 60, config)
        for task, process in processes.items():  # a server ends after those it served
            assert process.wait() == 0, task
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    done = sorted(path.name for path in tmp_path.glob("*.done"))
    assert done == ["chief0.done", "evaluator0.done", "ps0.done", "worker0.done", "worker1.done"]
    assert tf.train.load_variable(str(tmp_path), "global_step") >= 60
    (exported,) = (tmp_path / "export" / "final").iterdir()
    assert (exported / "saved_model.pb").exists()
    (events,) = (tmp_path / "eval").glob("events*")
    steps = [e.step for e in tf.train.summary_iterator(str(events)) if e.HasField("summary")]
    assert steps[-1] >= 60
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.saved_model.load(sess, ["serve"], str(exported))
        w = sess.run("w:0")
    assert abs(w - 3.0) < 0.2


@pytest.mark.long
def test_a_killed_trainer_goes_on(tmp_path: Path) -> None:
    dice = random.Random(1)
    killed = 0
    while not (tmp_path / "worker0.done").exists():
        process = start(tmp_path, 400, None)
        if killed < 4:
            before = tf.train.latest_checkpoint(str(tmp_path))
            while process.poll() is None and tf.train.latest_checkpoint(str(tmp_path)) == before:
                time.sleep(0.05)
            time.sleep(dice.random())
            process.kill()
            process.wait()
            killed += 1
        else:
            assert process.wait() == 0
    metrics = json.loads((tmp_path / "worker0.done").read_text())
    assert metrics["global_step"] == 400
    # The numbers of all steps: none was lost, none counts twice.
    assert metrics["total"] == 400 * 401 / 2
    assert tf.train.load_variable(str(tmp_path), "total") == 400 * 401 // 2
