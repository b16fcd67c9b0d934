"""The link of a task is cut, in network namespaces: others go on, and it does when it is back.

See ``test_faults`` for how often each is tried.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.cluster.distributed.jobs import PROGRAMS, Process
from tests.cluster.distributed.networks import Network, why_not

pytestmark = pytest.mark.long

REPEATS = range(int(os.environ.get("PENSTOCK_FAULT_REPEATS", "1")))
STEPS, SAVE_STEPS = 2500, 25
FIRST, LAST = 30, 300
# A cut link shows within 30 s; the rest is for a machine that is busy.
LOST_SECONDS = 45.0
LOST = r"A task was lost"


@pytest.fixture(scope="module", autouse=True)
def _namespaces() -> None:
    if why := why_not():
        pytest.skip(why)


@contextmanager
def cluster(network: Network, directory: Path) -> Iterator[dict[str, Process]]:
    """One parameter server and two workers of ``train.py``, each in its namespace."""
    names = {"ps-0": 2220, "worker-0": 2221, "worker-1": 2222}
    hosts = {name: f"{network.address(name)}:{port}" for name, port in names.items()}
    environment = {"PENSTOCK_INSECURE": "1", "no_proxy": "*"}
    with ExitStack() as stack:
        tasks = {}
        for name in names:
            job, index = name.split("-")
            command = [
                sys.executable, str(PROGRAMS / "train.py"), "--dir", str(directory),
                "--steps", str(STEPS), "--save_steps", str(SAVE_STEPS), "--pause", "0.05",
                f"--job_name={job}", f"--task_index={index}", f"--ps_hosts={hosts['ps-0']}",
                f"--worker_hosts={hosts['worker-0']},{hosts['worker-1']}",
            ]  # fmt: skip
            made = Process(network.inside(name, command), environment)
            tasks[name] = stack.enter_context(made)
        yield tasks


def some_moment(tasks: dict[str, Process], dice: random.Random) -> None:
    """Waits until all train, and for a random step of the chief."""
    tasks["worker-1"].wait_for("worker 1 step ")
    step, mark = dice.randint(FIRST, LAST), 0
    while int(tasks["worker-0"].wait_for(r"worker 0 step (\d+)", mark)[1]) < step:
        mark += 1
    time.sleep(dice.random() * 0.2)


def assert_ends(tasks: dict[str, Process], directory: Path) -> None:
    """All end well, at the right step."""
    for index in range(2):
        worker = tasks[f"worker-{index}"]
        assert worker.wait() == 0, worker.text()
        # What it printed is from before the update of its last step, and perhaps others'.
        assert abs(int(worker.wait_for(r"ends at (\d+)")[1]) - STEPS) <= 4, worker.text()
    assert tasks["ps-0"].wait() == 0, tasks["ps-0"].text()
    saved = (directory / "checkpoint").read_text()
    (last,) = re.findall(r'^model_checkpoint_path: ".*-(\d+)"', saved, re.MULTILINE)
    assert STEPS <= int(last) < STEPS + 4, saved


@pytest.mark.parametrize("repeat", REPEATS)
def test_the_link_of_a_worker_is_cut(repeat: int, tmp_path: Path) -> None:
    dice = random.Random(5000 + repeat)
    with Network(["ps-0", "worker-0", "worker-1"]) as network, cluster(network, tmp_path) as tasks:
        some_moment(tasks, dice)
        chief, cut_off = tasks["worker-0"], tasks["worker-1"]
        with network.cut("worker-1"):
            mark = chief.mark()
            cut_off.wait_for(LOST, seconds=LOST_SECONDS)
            chief.wait_for("worker 0 step ", mark + 20)
        cut_off.wait_for("worker 1 step ", cut_off.mark())
        assert_ends(tasks, tmp_path)
        assert not chief.all(LOST), chief.text()


@pytest.mark.parametrize("repeat", REPEATS)
def test_the_link_of_a_parameter_server_is_cut(repeat: int, tmp_path: Path) -> None:
    dice = random.Random(6000 + repeat)
    with Network(["ps-0", "worker-0", "worker-1"]) as network, cluster(network, tmp_path) as tasks:
        some_moment(tasks, dice)
        workers = [tasks["worker-0"], tasks["worker-1"]]
        with network.cut("ps-0"):
            for worker in workers:
                worker.wait_for(LOST, seconds=LOST_SECONDS)
            marks = [worker.mark() for worker in workers]
        for index, worker in enumerate(workers):
            worker.wait_for(f"worker {index} step ", marks[index])
        session = workers[0].wait_for(r"session at (\d+) saved (\d+)", marks[0])
        assert int(session[1]) >= int(session[2]) >= SAVE_STEPS
        assert_ends(tasks, tmp_path)
