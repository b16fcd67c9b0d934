"""The talks' programs on clusters of real processes: each reaches the loss of one process."""

from __future__ import annotations

import re
import signal
import sys

import numpy as np
import pytest

from tests.cluster.distributed.jobs import PROGRAMS, Job, Process, alone

pytestmark = pytest.mark.long

# How far the loss on words kept aside may be from that of one process.
NEAR = 0.05


def held_out(lines: list[str]) -> float:
    """The loss on data that was kept aside, as a program printed it last."""
    found = [float(match[1]) for line in lines if (match := re.search(r"held out (\S+)", line))]
    assert found, "\n".join(lines)
    return found[-1]


def losses(lines: list[str]) -> np.ndarray:
    """The losses of all steps."""
    return np.array([float(m[1]) for line in lines if (m := re.search(r"^loss (\S+)", line))])


def assert_restarted_nothing(job: Job) -> None:
    """No task failed on the way."""
    assert not job.all(r"starts again|SIGABRT|terminate called|Traceback"), job.text()


def test_async_word_vectors_reach_the_loss_of_one_process() -> None:
    steps = "1500"
    expected = held_out(alone("word2vec.py", "--steps", steps))
    with Job("word2vec.py", "--steps", steps, ps=2, workers=3, restarts=0) as job:
        job.done()
        assert_restarted_nothing(job)
        for task in range(3):
            assert int(job.wait_for(rf"worker {task} ends at (\d+)")[1]) >= int(steps)
        assert held_out(job.lines) == pytest.approx(expected, rel=NEAR)


@pytest.mark.parametrize("slow", ["0", "0.2"])
def test_sync_replicas_with_a_backup_worker_reach_the_loss_of_one_process(slow: str) -> None:
    expected = held_out(alone("sync_replicas.py", "--steps", "150"))
    args = ["--steps", "150", "--slow", slow]
    with Job("sync_replicas.py", *args, ps=2, workers=3, restarts=0) as job:
        job.done()
        assert_restarted_nothing(job)
        assert held_out(job.lines) == pytest.approx(expected, rel=NEAR)


@pytest.mark.parametrize("kind", ["elastic", "agn", "model"])
def test_workers_that_meet_a_center_reach_the_loss_of_one_process(kind: str) -> None:
    expected = held_out(alone("centers.py", "--steps", "200"))
    args = ["--steps", "200", "--kind", kind]
    with Job("centers.py", *args, ps=1, workers=2, restarts=0) as job:
        job.done()
        assert_restarted_nothing(job)
        for task in range(2):
            assert job.wait_for(rf"worker {task} ends at (\d+)")
        # Each worker sees as much as the one process; none is to be much worse.
        assert held_out(job.lines) < expected + 0.1


def test_towers_of_a_client_without_a_server_follow_one_process_step_by_step() -> None:
    expected = losses(alone("towers.py"))
    assert len(expected) == 60 and expected[-1] < expected[0]
    with Job("towers.py", ps=1, workers=2, restarts=0) as servers:
        servers.wait_until_started()
        hosts = ",".join(servers.address(f"worker {i}") for i in range(2))
        client = [sys.executable, str(PROGRAMS / "towers.py"), "--client", "--worker_hosts", hosts]
        with Process(client) as process:
            code = process.wait()
            assert code == 0, f"exit status {code}\n{process.text()}\n{servers.text()}"
            np.testing.assert_allclose(losses(process.lines), expected, rtol=1e-4)
        servers.signal(signal.SIGTERM)
        assert servers.wait() == 128 + signal.SIGTERM
        assert_restarted_nothing(servers)
