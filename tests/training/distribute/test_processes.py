"""``MultiWorkerMirroredStrategy`` and the collective ops over real processes on loopback."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.training.distribute import OneDeviceStrategy
from tests.suite import warm
from tests.training.distribute import training

_ROOT = Path(__file__).parents[3]


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]


class Cluster:
    """Processes that are told of each other by TF_CONFIG."""

    def __init__(self, tasks: int) -> None:
        self._addresses = [f"127.0.0.1:{port}" for port in _free_ports(tasks)]
        self.processes: dict[int, subprocess.Popen[str]] = {}

    def start(self, rank: int, *args: str, **environment: str) -> subprocess.Popen[str]:
        """Starts a task, again perhaps."""
        config = {
            "cluster": {"worker": self._addresses}, "task": {"type": "worker", "index": rank},
        }  # fmt: skip
        given = {
            **os.environ, "TF_CONFIG": json.dumps(config), "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(_ROOT), **environment,
        }  # fmt: skip
        process = warm.Popen(
            [sys.executable, "-m", "tests.training.distribute.worker", *args],
            env=given, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.processes[rank] = process
        return process

    def run(self, tasks: int, *args: str, **environment: str) -> list[list[dict[str, Any]]]:
        """Runs the tasks to their ends; what each told."""
        for rank in range(tasks):
            self.start(rank, *args, **environment)
        return [self.told(rank) for rank in range(tasks)]

    def told(self, rank: int) -> list[dict[str, Any]]:
        """What a task told, when it has ended well."""
        out, err = self.processes[rank].communicate()
        assert self.processes[rank].returncode == 0, err[-3000:]
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.communicate()


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    made = Cluster(getattr(request, "param", 2))
    yield made
    made.close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("cluster", "devices", "pack", "optimizer"),
    [
        pytest.param(2, 1, 1 << 20, "sgd", marks=pytest.mark.long),
        pytest.param(3, 2, 16, "adam", marks=pytest.mark.long),
        (2, 2, 0, "momentum"),
    ],
    indirect=["cluster"],
)
def test_trains_as_one_device_on_the_whole_batch(
    cluster: Cluster, devices: int, pack: int, optimizer: str
) -> None:
    tasks = len(cluster._addresses)
    told = cluster.run(tasks, "train", str(devices), str(pack), optimizer)
    expected = training.train(OneDeviceStrategy("/cpu:0"), optimizer)
    for rank, ((found,),) in enumerate(zip(told, strict=True)):
        assert found["chief"] == (rank == 0)
        variables = {
            name: [np.asarray(copy, np.float32) for copy in copies]
            for name, copies in found["variables"].items()
        }
        assert all(len(copies) == devices for copies in variables.values())
        training.check(training.Trained(found["losses"], variables, found["step"]), expected)
        assert variables.keys() == expected.variables.keys()
        for name, copies in told[0][0]["variables"].items():
            np.testing.assert_array_equal(variables[name][0], np.asarray(copies[0], np.float32))


@pytest.mark.long
@pytest.mark.parametrize("cluster", [3], indirect=True)
def test_the_ops_on_every_dtype(cluster: Cluster) -> None:
    told = [one for (one,) in cluster.run(3, "kernels")]
    merges = {"Add": np.add, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum}
    for key in told[0]:
        dtype, *what = key.split()
        values = [(np.arange(4).reshape(2, 2) + rank + 1).astype(dtype) for rank in range(3)]
        if what == ["gather"]:
            expected = np.concatenate(values)
        elif what == ["broadcast"]:
            expected = values[1]
        else:
            expected = merges[what[0]].reduce(values)
            if what[1] == "Div":
                expected = (expected / 3 if "f" in dtype else expected // 3).astype(dtype)
        for found in told:
            assert found[key][0] == dtype
            np.testing.assert_allclose(found[key][1], expected, rtol=1e-3, err_msg=key)


@pytest.mark.long
def test_members_that_disagree_are_told(cluster: Cluster) -> None:
    for rank, (failed, summed) in enumerate(cluster.run(2, "mismatch")):
        assert failed["error"] == "InvalidArgumentError"
        assert f"task:{rank} is at instance" in failed["text"]
        assert "another operation, dtype or shape" in failed["text"]
        assert summed["total"] == [3.0]  # and the group goes on


@pytest.mark.long
def test_a_task_that_does_not_come(cluster: Cluster) -> None:
    cluster.start(0, "late", PENSTOCK_COLLECTIVE_TIMEOUT="1")
    deadline, limit = cluster.told(0)
    assert deadline["error"] == "DeadlineExceededError" and deadline["took"] < 5
    assert "/job:worker/replica:0/task:1 to join collective group 1" in deadline["text"]
    assert limit["error"] == "UnavailableError" and limit["took"] < 8
    assert "task:1" in limit["text"] and "CollectiveReduce" in limit["text"]


@pytest.mark.long
@pytest.mark.parametrize("victim", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_killed_task_is_named_and_comes_back(cluster: Cluster, victim: int) -> None:
    steps = 60
    for rank in range(2):
        cluster.start(rank, "faults", str(steps))
    killed = cluster.processes[victim]
    assert killed.stdout is not None
    for line in killed.stdout:
        if json.loads(line).get("step", 0) >= 10:
            break
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    cluster.start(victim, "faults", str(steps))
    told: dict[int, list[dict[str, Any]]] = {}
    readers = [
        threading.Thread(target=lambda r=rank: told.update({r: cluster.told(r)}))
        for rank in range(2)
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    lost = [row["lost"] for row in told[1 - victim] if "lost" in row]
    assert lost and f"task:{victim}" in lost[0] and "group 1" in lost[0]
    for rank in range(2):
        assert told[rank][-1]["step"] == steps
