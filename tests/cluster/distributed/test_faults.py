"""Faults at random instants: training goes on by itself from the last checkpoint, and ends.

Each fault is tried ``PENSTOCK_FAULT_REPEATS`` times (20 for a full run), with instants that the
repetition's number seeds.  The trainer is ``programs/train.py``, and what is lost is started again
by ``penstock launch``.
"""

from __future__ import annotations

import os
import random
import re
import signal
import time
from pathlib import Path

import pytest

from tests.cluster.distributed.jobs import SECONDS, Job
from tests.suite.clock import wait_until

pytestmark = pytest.mark.long

REPEATS = range(int(os.environ.get("PENSTOCK_FAULT_REPEATS", "1")))
# Three workers make some 60 steps a second.
STEPS, SAVE_STEPS = 900, 25
# Faults come between these steps: after a checkpoint that must be gone on from, and long enough
# before the end that whoever is lost has something left to do.
FIRST, LAST = 30, 300


def job(directory: Path, *, ps: int) -> Job:
    args = ["--dir", str(directory), "--steps", str(STEPS), "--save_steps", str(SAVE_STEPS)]
    return Job("train.py", *args, "--pause", "0.05", ps=ps, workers=3)


def some_moment(running: Job, dice: random.Random) -> int:
    """Waits for a random step and a bit longer; returns where the output is then."""
    step = dice.randint(FIRST, LAST)
    running.wait_for(rf"worker 0 +\| worker 0 step ({_at_least(step)}) ")
    time.sleep(dice.random() * 0.2)
    return running.mark()


def _at_least(number: int) -> str:
    """A pattern for whole numbers from one on, below 10,000."""
    digits = str(number)
    patterns = [rf"\d{{{len(digits) + 1},}}", digits]
    for at, digit in enumerate(digits):
        if digit != "9":
            rest = len(digits) - at - 1
            patterns.append(
                f"{digits[:at]}[{int(digit) + 1}-9]" + (rf"\d{{{rest}}}" if rest else "")
            )
    return "|".join(patterns)


def steps_of(running: Job, worker: int, since: int = 0) -> list[int]:
    """The step counts that a worker printed."""
    return [int(m[1]) for m in running.all(rf"worker {worker} step (\d+) ", since)]


def sessions(running: Job, since: int) -> list[tuple[int, int]]:
    """The chief's sessions: where each began, and the latest checkpoint then."""
    found = running.all(r"worker 0 session at (\d+) saved (\d+)", since)
    return [(int(m[1]), int(m[2])) for m in found]


def assert_restored(running: Job, began: int, saved: int) -> None:
    """A session of the chief began where a checkpoint was made.

    Between the chief's restoring and its first look at the step others may each make a few steps.
    """
    assert SAVE_STEPS <= saved <= began < saved + 20, running.text()


def assert_ends(running: Job, directory: Path, workers: int = 3) -> None:
    """The job ends well, at the right step, with that in the last checkpoint, and trained."""
    running.done()
    ends = running.all(r"worker (\d+) ends at (\d+) loss (\S+)")
    assert {int(m[1]) for m in ends} == set(range(workers)), running.text()
    # What a worker printed is from before the update of its last step, and perhaps others'.
    assert all(abs(int(m[2]) - STEPS) <= 2 * workers for m in ends), running.text()
    saved = (directory / "checkpoint").read_text()
    (last,) = re.findall(r'^model_checkpoint_path: ".*-(\d+)"', saved, re.MULTILINE)
    assert STEPS <= int(last) < STEPS + 2 * workers, saved
    assert min(float(m[3]) for m in ends) < 0.1, running.text()
    assert not running.all(r"Traceback|terminate called|SIGABRT|SIGSEGV"), running.text()


@pytest.mark.parametrize("repeat", REPEATS)
def test_a_worker_is_killed(repeat: int, tmp_path: Path) -> None:
    dice = random.Random(repeat)
    with job(tmp_path, ps=1 + repeat % 2) as running:
        lost = dice.choice([1, 2])
        mark = some_moment(running, dice)
        before = running.task_pid(f"worker {lost}")
        running.signal_tasks(signal.SIGKILL, f"worker {lost}")
        running.wait_for(rf"worker {lost} ended with SIGKILL", mark)
        down = running.mark()
        running.wait_for(rf"\| worker {lost} runs as process", down)
        running.wait_for(rf"worker {lost} step ", down)
        up = running.mark()
        assert running.task_pid(f"worker {lost}") != before
        # The others went on, with the sessions that they had.
        first = next(i for i in range(down, up) if f"worker {lost} step" in running.lines[i])
        meanwhile = running.lines[down:first]
        for other in {0, 1, 2} - {lost}:
            said = [line for line in meanwhile if f"| worker {other} step" in line]
            assert len(said) > 3, running.text()
        assert not sessions(running, mark)
        assert_ends(running, tmp_path)


@pytest.mark.parametrize("repeat", REPEATS)
def test_a_parameter_server_is_killed(repeat: int, tmp_path: Path) -> None:
    dice = random.Random(1000 + repeat)
    servers = 1 + repeat % 2
    with job(tmp_path, ps=servers) as running:
        lost = f"ps {dice.randrange(servers)}"
        mark = some_moment(running, dice)
        running.signal_tasks(signal.SIGKILL, lost)
        running.wait_for(rf"{lost} ended with SIGKILL", mark)
        running.wait_for(r"worker 0 session at", mark)
        began, saved = sessions(running, mark)[-1]
        assert_restored(running, began, saved)
        assert_ends(running, tmp_path)
        # Nobody but the server was started again.
        assert len(running.all(r"starts again in")) == 1, running.text()


@pytest.mark.parametrize("repeat", REPEATS)
def test_the_chief_is_killed(repeat: int, tmp_path: Path) -> None:
    dice = random.Random(2000 + repeat)
    with job(tmp_path, ps=1 + repeat % 2) as running:
        mark = some_moment(running, dice)
        running.signal_tasks(signal.SIGKILL, "worker 0")
        running.wait_for(r"worker 0 ended with SIGKILL", mark)
        down = running.mark()
        reached = max(steps_of(running, 1) + steps_of(running, 2))
        running.wait_for(r"worker 0 session at", down)
        began, saved = sessions(running, mark)[-1]
        # It joins what lives: nothing is restored over what the others have done.
        assert began >= max(saved, reached) and saved >= SAVE_STEPS, running.text()
        for other in (1, 2):
            assert len(steps_of(running, other, down)) > 3, running.text()
        assert_ends(running, tmp_path)


@pytest.mark.parametrize("repeat", REPEATS)
def test_a_worker_is_stopped_for_a_while(repeat: int, tmp_path: Path) -> None:
    dice = random.Random(3000 + repeat)
    with job(tmp_path, ps=1 + repeat % 2) as running:
        still = dice.randrange(3)
        some_moment(running, dice)
        with running.stopped(f"worker {still}") as pid:
            # What it wrote before it was stopped has come after a second.
            time.sleep(1.0)
            mark = running.mark()
            time.sleep(9.0)
            for other in {0, 1, 2} - {still}:
                wait_until(lambda o=other: len(steps_of(running, o, mark)) > 3, SECONDS)
            assert not steps_of(running, still, mark)
            mark = running.mark()
        running.wait_for(rf"worker {still} step ", mark)
        assert running.task_pid(f"worker {still}") == pid
        assert_ends(running, tmp_path)
        assert not running.all(r"starts again in"), running.text()


@pytest.mark.parametrize("repeat", REPEATS)
def test_everything_is_killed_at_once(repeat: int, tmp_path: Path) -> None:
    dice = random.Random(4000 + repeat)
    with job(tmp_path, ps=1 + repeat % 2) as running:
        mark = some_moment(running, dice)
        running.signal_tasks(signal.SIGKILL, *running.tasks)
        running.wait_for(r"worker 0 session at", mark, 2 * SECONDS)
        began, saved = sessions(running, mark)[-1]
        assert_restored(running, began, saved)
        assert_ends(running, tmp_path)
        assert len(running.all(r"starts again in")) == len(running.tasks), running.text()
