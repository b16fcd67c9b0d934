"""Jobs on a real Ray cluster of several raylets on this machine; a node is killed under one."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.cluster.launch.job import Job, Task
from penstock.cluster.launch.logs import Logs
from penstock.cluster.launch.on_ray import RayOptions, run_on_ray
from penstock.cluster.launch.supervisor import Policy, State
from tests.cluster.launch.processes import (
    COUNTING,
    alive,
    assert_all_gone,
    clusters,
    pids,
    step,
)
from tests.suite.clock import PATIENCE, wait_until

ray = pytest.importorskip("ray", reason="Ray is not installed (pip install 'penstock[ray]')")
pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "penstock"]
POLICY = Policy(restarts=2, backoff=0.2, grace=5.0, place_timeout=PATIENCE)
HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head that runs no tasks, and three nodes of two CPUs."""
    from ray.cluster_utils import Cluster

    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    # All on loopback, as Ray does where it runs no clusters: for the processes that it starts, and
    # for this one, where it has read the variable.
    patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    patch.setattr("ray._private.ray_constants.ENABLE_RAY_CLUSTER", False)
    # A node's death is noticed in seconds instead of half a minute.
    quick = {
        "health_check_initial_delay_ms": 0,
        "health_check_period_ms": 500,
        "health_check_failure_threshold": 4,
    }
    small = {"object_store_memory": 80 << 20, "include_dashboard": False}
    head = {"num_cpus": 0, "_system_config": quick, "node_ip_address": HOST, **small}
    made = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(3):
            made.add_node(num_cpus=2, node_ip_address=HOST, **small)
        made.wait_for_nodes()
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
        patch.undo()


@pytest.fixture
def connected(cluster: Any) -> Iterator[Any]:
    """The cluster, with this process connected to it."""
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()


def counting(directory: Path, *args: str, ps: int = 1, workers: int = 2) -> Job:
    return Job(COUNTING, ("--dir", str(directory), *args), ps=ps, workers=workers)


def run(job: Job, policy: Policy = POLICY) -> tuple[Any, list[str]]:
    lines: list[str] = []
    logs = Logs(lambda task, line: lines.append(f"{task or 'launch'} | {line}"))
    return run_on_ray(job, policy, logs, RayOptions()), lines


def nodes_of(tasks: list[Task], job: Job) -> list[str]:
    """Ids of the nodes that tasks have their places on."""
    (group,) = [g for g in ray.util.placement_group_table().values() if g["state"] == "CREATED"]
    return [group["bundles_to_node_id"][job.tasks.index(task)] for task in tasks]


def test_a_task_that_fails_starts_again_at_its_address(connected: Any, tmp_path: Path) -> None:
    job = counting(tmp_path, "--steps", "10", "--fail", "worker:1:4:1", "--child")
    outcome, lines = run(job)
    assert outcome.code == 0, lines
    assert [r.starts for r in outcome.records.values()] == [1, 1, 2]
    assert "worker 1 | worker 1 starts at 4" in lines
    assert "worker 0 | worker 0 counted to 10" in lines
    assert len({str(c) for _, c in clusters(tmp_path)}) == 1
    assert_all_gone(tmp_path)


def test_a_job_that_fails_for_good_ends(connected: Any, tmp_path: Path) -> None:
    outcome, lines = run(counting(tmp_path, "--steps", "5", "--fail", "worker:0:2:99"))
    assert outcome.code == 1
    assert outcome.records[Task("worker", 0)].state is State.FAILED
    assert_all_gone(tmp_path)


def test_resources_that_nobody_has_are_waited_for_no_longer_than_asked(
    connected: Any, tmp_path: Path
) -> None:
    outcome, lines = run(counting(tmp_path, workers=9), Policy(place_timeout=3.0))
    assert outcome.code == 1
    assert any("no place within 3 s for" in line for line in lines)
    assert not pids(tmp_path)


def test_a_node_dies_and_the_job_goes_on(connected: Any, tmp_path: Path) -> None:
    job = counting(tmp_path, "--steps", "200", "--pause", "0.05", "--child")
    doomed = Task("worker", 1)
    killed: list[str] = []

    def kill_a_node() -> None:
        wait_until(lambda: step(tmp_path, "worker 0") > 20 and step(tmp_path, "worker 1") > 20, 60)
        (node_id,) = nodes_of([doomed], job)
        (node,) = [n for n in connected.worker_nodes if n.node_id == node_id]
        connected.remove_node(node, allow_graceful=False)
        killed.append(node_id)

    killer = threading.Thread(target=kill_a_node)
    killer.start()
    outcome, lines = run(job)
    killer.join()
    assert killed
    assert outcome.code == 0, lines
    assert "launch | the cluster's addresses change: all tasks start again" in lines
    # Those that were done before the node died need not have started again; here none was.
    assert all(r.starts >= 2 for r in outcome.records.values())
    assert [step(tmp_path, f"worker {i}") for i in (0, 1)] == [200, 200]
    seen = clusters(tmp_path)
    first, last = dict(seen[:3]), dict(seen[-3:])
    assert set(first) == set(last) == {"ps 0", "worker 0", "worker 1"}
    assert len({str(c) for c in last.values()}) == 1
    assert first["ps 0"] != last["ps 0"]
    # Work went on from where it was.
    resumed = [line for line in lines if "worker 0 starts at" in line]
    assert int(resumed[-1].split()[-1]) > 20
    assert_all_gone(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_command_leaves_nothing_behind(
    cluster: Any, tmp_path: Path, number: signal.Signals
) -> None:
    words = ["launch", "--on", "ray", "--address", cluster.address, "--ps", "1", "--workers", "2"]
    words += [COUNTING, "--", "--dir", str(tmp_path), "--steps", "100000", "--child"]
    with open(tmp_path / "said", "w") as said:
        launcher = subprocess.Popen([*COMMAND, *words], cwd=ROOT, stdout=said, stderr=said)
        try:
            wait_until(lambda: step(tmp_path, "worker 1") > 5, 90)
            assert all(alive(pid) for pid in pids(tmp_path)) and len(pids(tmp_path)) == 6
            launcher.send_signal(number)
            code = launcher.wait()
        finally:
            launcher.kill()
            launcher.wait()
    assert code == (143 if number == signal.SIGTERM else -9), (tmp_path / "said").read_text()
    assert_all_gone(tmp_path, 60)
