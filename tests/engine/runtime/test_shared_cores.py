"""Which team is worth trying beside what others use."""

from __future__ import annotations

import pytest

from penstock.engine.runtime import shared_cores
from penstock.engine.runtime.shared_cores import SharedCores
from penstock.foundation.machine.load import Use


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What OpenMP is asked for; this process's waits stay as they are."""
    seen: list[bool] = []
    monkeypatch.setattr(shared_cores.threads, "sleep_in_waits", seen.append)
    return seen


@pytest.mark.parametrize(
    ("cores", "others", "plan"),
    [
        (1, 0.0, (1, False)),
        (1, 1.0, (1, False)),
        (2, 0.0, (2, False)),
        (2, 0.5, (2, False)),
        (2, 0.67, (2, True)),
        (2, 2.0, (2, True)),
        (4, 0.9, (3, False)),
        (4, 1.9, (2, False)),
        (4, 2.9, (4, True)),
        (64, 40.2, (24, False)),
        (64, 63.0, (64, True)),
    ],
)
def test_the_cores_that_are_free(cores: int, others: float, plan: tuple[int, bool]) -> None:
    assert SharedCores(cores, cores).plan(others) == plan


def test_a_load_that_wavers_does_not_change_the_team_each_time() -> None:
    cores = SharedCores(2, 2)
    found = []
    for others in (0.4, 0.5, 0.7, 0.5, 0.4, 0.3, 0.2, 0.3, 0.4, 0.5, 0.6):
        cores.adapt(others)
        found.append(cores.sleeping)
    assert found == [False] * 2 + [True] * 4 + [False] * 4 + [True]


def test_waits_sleep_while_fewer_than_two_cores_are_free(asked: list[bool]) -> None:
    cores = SharedCores(2, 2)
    for others in (0.0, 1.0, 1.1, 0.0, 0.1):
        cores.adapt(others)
    assert asked == [True, False]


def test_teams_are_tried_again_when_the_load_has_changed() -> None:
    cores = SharedCores(2, 2)
    epochs = []
    for others in (0.0, 0.1, 1.0, 1.3, 1.9, 1.8, 0.0):
        cores.adapt(others)
        epochs.append(cores.epoch)
    # A second core that is busy changes nothing about the plan, but the trial's outcome.
    assert epochs == [0, 0, 1, 1, 2, 2, 3]


class _Meter:
    def __init__(self, *found: float | Exception) -> None:
        self.found = list(found)

    def read(self) -> Use:
        value = self.found.pop(0)
        if isinstance(value, Exception):
            raise value
        return Use(0.2, 2, 1.0, value, 0.0)


def test_looks_are_rare_and_end_where_nobody_tells() -> None:
    cores = SharedCores(2, 2)
    cores._measure_with(lambda: _Meter(1.0, OSError("gone")))
    due = cores.next_look
    assert shared_cores.clock() < due < float("inf")
    cores.look()
    assert cores.use is not None and cores.use.others == 1.0
    assert cores.sleeping and cores.next_look > due
    cores.look()
    assert cores.next_look == float("inf")
    cores.look()  # and never again


def test_what_others_did_between_steps_is_no_matter() -> None:
    cores = SharedCores(2, 2)
    cores._measure_with(lambda: _Meter(1.9, 0.1, 1.8, 1.1))
    now = cores.next_look + 1.0
    for last, seen in ((now - 5.0, None), (now, 0.1), (now - 0.2, 0.1), (now - 0.05, 1.1)):
        cores.last_step, cores.next_look = last, now - 1.0
        cores.begin_step(now)
        assert (cores.use and cores.use.others) == seen
    assert cores.sleeping


def test_a_process_that_pauses_before_each_step_looks_all_the_same() -> None:
    cores = SharedCores(2, 2)
    cores._measure_with(lambda: _Meter(*[1.0] * 20))
    now = cores.next_look + 1.0
    for _ in range(12):
        cores.next_look = now - 1.0
        cores.begin_step(now)
    assert cores.sleeping


def test_steps_look_a_few_times_a_second() -> None:
    cores = SharedCores(2, 2)
    meter = _Meter(*[0.0] * 20)
    cores._measure_with(lambda: meter)
    begin = shared_cores.clock()
    for _ in range(1000):
        cores.last_step = begin
        cores.begin_step(begin)
    assert len(meter.found) == 20


def test_one_thread_looks_at_a_time() -> None:
    cores = SharedCores(2, 2)
    meter = _Meter(1.0)
    cores._measure_with(lambda: meter)
    with cores._looking:
        cores.look()
    assert meter.found == [1.0] and cores.use is None


def test_without_the_kernels_files_all_cores_count_as_free() -> None:
    def missing() -> _Meter:
        raise FileNotFoundError("/proc/stat")

    cores = SharedCores(4, 4)
    cores._measure_with(missing)
    cores.look()
    assert (cores.wide, cores.sleeping, cores.next_look) == (4, False, float("inf"))
