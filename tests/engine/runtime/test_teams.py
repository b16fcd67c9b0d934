"""The team of threads of a step: what is tried, what is chosen, and that it is set back."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.engine.resources import threads
from penstock.engine.runtime import team_report, teams
from penstock.engine.runtime.shared_cores import SharedCores
from tests.suite import warm

pytestmark = pytest.mark.skipif(not threads.CAN_RESIZE, reason="this torch has no OpenMP")
ROOT = Path(__file__).resolve().parents[3]


class Clock:
    """A clock that runs when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(teams, "clock", made)
    return made


@pytest.fixture(autouse=True)
def four_threads() -> Iterator[None]:
    before = threads.settle()
    mkl = threads.resize(4)
    yield
    threads.restore(before, mkl)


def run(team: teams.Team, clock: Clock, seconds: Callable[[int], float]) -> int:
    """One step that takes ``seconds(team size)``; returns that size."""
    entered = team.enter()
    size = threads.size()
    clock.now += seconds(size)
    if entered is not None:
        team.leave(entered)
    return size


def sizes(team: teams.Team, clock: Clock, seconds: Callable[[int], float], runs: int) -> list[int]:
    return [run(team, clock, seconds) for _ in range(runs)]


def test_what_is_faster_is_kept(clock: Clock) -> None:
    for faster in (1, 4):
        team = teams.TriedTeam(SharedCores(4, 4))
        found = sizes(team, clock, lambda size: 0.01 if size == faster else 0.03, 40)  # noqa: B023
        assert found[:6] == [4, 1, 4, 1, 4, 1]
        assert found[12:] == [faster] * 28
        assert threads.size() == 4


def test_few_runs_do_where_all_of_one_kind_are_faster(clock: Clock) -> None:
    team = teams.TriedTeam(SharedCores(4, 4))
    found = sizes(team, clock, lambda size: 0.2 if size == 1 else 0.1, 300)
    alone = [number for number, size in enumerate(found) if size == 1]
    # One that does not count, three the first time, two each time after.
    assert alone[:6] == [1, 3, 5, 7, alone[4], alone[4] + 2]
    assert alone[6] > alone[5] + 10

    # One of the team's is slower than one of the others: five of each decide.
    took = iter([0.02, 0.01, 0.01, 0.03, 0.021, 0.02] + [0.01, 0.02] * 20)
    team = teams.TriedTeam(SharedCores(4, 4))
    assert sizes(team, clock, lambda size: next(took), 15)[-5:] == [4, 1, 4, 4, 4]


def test_pauses_between_runs_are_no_reason_to_try_again(clock: Clock) -> None:
    team = teams.TriedTeam(SharedCores(4, 4))
    found = []
    for _ in range(50):
        clock.now += 60.0
        found.append(run(team, clock, lambda size: 0.3 if size == 1 else 0.2))
    assert found[10:] == [4] * 40


@pytest.mark.parametrize("faster", [1, 4])
def test_trying_costs_a_fiftieth_at_most(clock: Clock, faster: int) -> None:
    """After the first trial, of a second or two: steps as long as these are seldom tried again."""
    team = teams.TriedTeam(SharedCores(4, 4))
    sizes(team, clock, lambda size: 0.2 if size == faster else 0.4, 10)
    found = sizes(team, clock, lambda size: 0.2 if size == faster else 0.4, 2000)
    others = sum(size != faster for size in found)
    assert 4 <= others and others * 0.2 <= 0.02 * 2000 * 0.2


def test_one_thread_does_where_a_team_is_hardly_faster(clock: Clock) -> None:
    team = teams.TriedTeam(SharedCores(4, 4))
    assert sizes(team, clock, lambda size: 0.0100 if size == 1 else 0.0098, 20)[-1] == 1


def test_the_first_run_of_each_kind_does_not_count(clock: Clock) -> None:
    took = iter([9.0, 0.01] + [0.01, 0.02] * 5)
    team = teams.TriedTeam(SharedCores(4, 4))
    sizes(team, clock, lambda size: next(took), 12)
    assert sizes(team, clock, lambda size: 0.01, 3) == [4, 4, 4]


def test_on_shared_cores_the_mean_counts_and_not_the_median(clock: Clock) -> None:
    # A team that loses a time slice in every tenth run is no faster on the whole.
    def took(size: int, run: list[int] = [0]) -> float:  # noqa: B006
        run[0] += 1
        return 0.002 if size == 1 else (0.02 if run[0] % 20 == 1 else 0.0015)

    shared = SharedCores(4, 4, sleeping=True)
    assert sizes(teams.TriedTeam(shared), clock, took, 100)[-1] == 1
    assert sizes(teams.TriedTeam(SharedCores(4, 4)), clock, took, 100)[-1] == 4


def test_on_shared_cores_each_kind_runs_several_times_in_a_row(clock: Clock) -> None:
    # What the first run of a row takes still depends on the kind before it.
    found: list[int] = []

    def took(size: int) -> float:
        found.append(size)
        changed = len(found) > 1 and found[-2] != size
        return 0.04 if changed else 0.01 * size

    team = teams.TriedTeam(SharedCores(4, 4, sleeping=True))
    sizes(team, clock, took, 60)
    rows = [[size, len(list(row))] for size, row in itertools.groupby(found)]
    assert rows[:4] == [[4, 4], [1, 4], [4, 4], [1, 4]]
    assert rows[-1][0] == 1 and rows[-1][1] >= 20


def test_on_shared_cores_rows_of_short_steps_last_longer_than_time_slices(clock: Clock) -> None:
    team = teams.TriedTeam(SharedCores(4, 4, sleeping=True))
    found = sizes(team, clock, lambda size: 0.001 * size, 2000)
    rows = [len(list(row)) for _, row in itertools.groupby(found)]
    # 60 ms of each; what was chosen comes last.
    assert rows[:4] == [15, 60, 15, 60] and rows[-1] > 1000


@pytest.mark.parametrize("faster", [1, 4])
@pytest.mark.parametrize("sleeping", [False, True])
def test_short_steps_are_confirmed_by_few_runs_of_the_other_kind(
    clock: Clock, faster: int, sleeping: bool
) -> None:
    team = teams.TriedTeam(SharedCores(4, 4, sleeping=sleeping))
    found = sizes(team, clock, lambda size: 0.001 if size == faster else 0.003, 60_000)
    settled = found[2000:]
    slow = [number for number, size in enumerate(settled) if size != faster]
    assert 4 < len(slow) < 0.01 * len(settled)
    # Of any hundred steps no more than every twentieth, so that the percentiles stay.
    assert all(sum(size != faster for size in settled[at : at + 100]) <= 5 for at in slow)


def test_what_has_become_slower_is_found_by_few_runs(clock: Clock) -> None:
    for sleeping in (False, True):
        team = teams.TriedTeam(SharedCores(4, 4, sleeping=sleeping))
        assert sizes(team, clock, lambda size: 0.001 * size, 6000)[-1] == 1
        assert sizes(team, clock, lambda size: 0.004 / size, 30_000)[-1] == 4


def test_long_steps_are_tried_less_often(clock: Clock) -> None:
    team = teams.TriedTeam(SharedCores(4, 4))
    assert sizes(team, clock, lambda size: 2.0 / size, 5) == [4, 1, 4, 1, 4]


def test_a_choice_is_tried_again_after_longer_and_longer_times(clock: Clock) -> None:
    team = teams.TriedTeam(SharedCores(4, 4))
    found = sizes(team, clock, lambda size: 0.1 if size == 1 else 0.05, 4000)
    tried = [number for number, size in enumerate(found) if size == 1 and number > 12]
    gaps = [b - a for a, b in zip(tried, tried[1:], strict=False) if b - a > 2]
    assert len(gaps) >= 4 and gaps == sorted(gaps) and gaps[-1] > 10 * 20
    assert len(tried) < 0.02 * len(found)


def test_it_is_tried_again_when_the_load_changes(clock: Clock) -> None:
    shared = SharedCores(4, 4)
    team = teams.TriedTeam(shared)
    sizes(team, clock, lambda size: 0.1 / size, 30)
    shared.wide, shared.epoch = 2, 1
    assert sizes(team, clock, lambda size: 0.1 / size, 4) == [2, 1, 2, 1]
    assert sizes(team, clock, lambda size: 0.1 / size, 30)[-1] == 2


def test_time_that_a_step_waits_for_others_does_not_count(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = 0.0
    monkeypatch.setattr(teams.waiting, "waited", lambda: waited)

    def took(size: int) -> float:
        nonlocal waited
        waiting = 1.0 if size == 4 else 0.0
        waited += waiting
        return waiting + 0.1 / size

    team = teams.TriedTeam(SharedCores(4, 4), blocking=True)
    assert sizes(team, clock, took, 40)[-1] == 4


def test_what_the_user_allows_at_most_is_obeyed(clock: Clock) -> None:
    team = teams.TriedTeam(SharedCores(8, 8))
    assert max(sizes(team, clock, lambda size: 0.1 / size, 30)) == 4
    threads.resize(1)
    assert sizes(team, clock, lambda size: 0.1, 3) == [1, 1, 1]


def test_a_given_size_is_obeyed_always(clock: Clock) -> None:
    assert sizes(teams.FixedTeam(3), clock, lambda size: 0.1, 4) == [3, 3, 3, 3]
    assert threads.size() == 4


def test_steps_at_once_share_the_cores(clock: Clock) -> None:
    shared = SharedCores(4, 4)
    outer, other = teams.TriedTeam(shared), teams.TriedTeam(shared)
    sizes(outer, clock, lambda size: 0.1 / size, 20)
    found: list[int] = []

    def beside() -> None:
        threads.settle()
        mkl = threads.resize(4)
        found.extend(sizes(other, clock, lambda size: 0.1, 3))
        threads.restore(4, mkl)

    entered = outer.enter()
    thread = threading.Thread(target=beside)
    thread.start()
    thread.join()
    assert entered is not None
    outer.leave(entered)
    assert found == [2, 2, 2] and not shared.running


def test_a_function_that_a_step_calls_has_its_team(clock: Clock) -> None:
    shared = SharedCores(4, 4)
    outer, inner = teams.TriedTeam(shared), teams.TriedTeam(shared)
    entered = outer.enter()
    assert entered is not None
    assert inner.enter() is None
    outer.leave(entered)
    assert inner.enter() is not None


def _program(session: Any, fetch: Any, feeds: dict[Any, Any]) -> Any:
    session.run(fetch, feeds)
    (program,) = session._programs.values()
    return program


def test_steps_of_small_tensors_have_no_team() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        assert _program(session, x + 1, {x: 1.0}).team is None


@pytest.mark.parametrize("threads_asked", [0, 2])
def test_steps_of_large_tensors_have_one(threads_asked: int) -> None:
    config = tf.ConfigProto(intra_op_parallelism_threads=threads_asked)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        x = tf.placeholder(tf.float32, [100, 100])
        team = _program(session, tf.matmul(x, x), {x: np.ones([100, 100])}).team
        assert isinstance(team, teams.FixedTeam if threads_asked else teams.TriedTeam)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_intra_op_parallelism_threads_is_what_a_step_has(size: int) -> None:
    config = tf.ConfigProto(intra_op_parallelism_threads=size)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        many = tf.ones([64, 64])
        seen = tf.py_func(lambda _: np.int64(torch.get_num_threads()), [many], tf.int64)
        assert [session.run(seen) for _ in range(20)] == [size] * 20
    assert torch.get_num_threads() == 4


def test_a_team_is_set_back_when_a_step_fails() -> None:
    def fail(_: Any) -> np.int64:
        raise ValueError("no")

    config = tf.ConfigProto(intra_op_parallelism_threads=2)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        failing = tf.py_func(fail, [tf.ones([64, 64])], tf.int64)
        with pytest.raises(tf.errors.OpError):
            session.run(failing)
    assert threads.size() == 4


# Seconds of CPU that the process uses while it sleeps after kernels of a team of two: a team that
# spins uses some milliseconds each time.
_WAITS = """
import sys, time, torch
from penstock.engine.resources import threads
a = torch.ones(1 << 20)
def spent():
    total = 0.0
    for _ in range(20):
        torch.neg(a)
        before = time.process_time()
        time.sleep(0.01)
        total += time.process_time() - before
    return total
found = []
for sleep in (False, True, False, True):
    sleeping = threads.sleep_in_waits(sleep)
    time.sleep(0.05)
    spent()
    found.append((sleeping, spent()))
print(found)
"""


@pytest.mark.long
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_waits_sleep_and_spin_again() -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": str(ROOT)}
    environment.pop("OMP_WAIT_POLICY", None)
    done = warm.run(
        [sys.executable, "-c", _WAITS], env=environment, cwd=ROOT, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    found = eval(done.stdout)
    if not found[1][0]:
        pytest.skip("this OpenMP is not GNU's")
    assert [sleeping for sleeping, _ in found] == [False, True, False, True]
    spinning, sleeping = found[0][1] + found[2][1], found[1][1] + found[3][1]
    assert sleeping < 0.25 * spinning


def test_the_report_says_why() -> None:
    found = team_report.report(0.05)
    assert set(found) == {"cores", "most", "others", "team", "waits", "why"}
    assert found["most"] == 4 and 1 <= found["team"] <= 4
    threads.resize(1)
    assert "OMP_NUM_THREADS" in team_report.report(0.0)["why"]
