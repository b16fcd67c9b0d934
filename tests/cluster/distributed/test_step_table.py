"""The steps of a task, and the tensors that come for them early, in time and late."""

from __future__ import annotations

import threading

import pytest

from penstock.cluster.distributed.step_table import KEPT_SECONDS, StepTable
from penstock.engine.resources import blocking, waiting
from penstock.foundation.base import errors
from tests.suite.clock import PATIENCE

PS = "/job:ps/replica:0/task:0"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def table() -> StepTable:
    return StepTable(lambda task, number, edge, value: sent.append((task, number, edge, value)))


sent: list = []


def test_a_tensor_may_come_before_its_step(table) -> None:
    table.deliver(7, "a", "first")
    table.deliver(7, "a", "second")
    assert table.counts() == {"open": 0, "early": 1, "failed": 0}
    step = table.open(7)
    assert [step.recv("a", PS), step.recv("a", PS)] == ["first", "second"]
    table.close(step)
    assert table.counts() == {"open": 0, "early": 0, "failed": 0}


def test_what_comes_for_a_failed_step_is_dropped(table) -> None:
    step = table.open(7)
    table.fail(7, errors.InternalError(None, None, "broken"))
    with pytest.raises(errors.InternalError, match="broken"):
        step.recv("a", PS)
    with pytest.raises(errors.InternalError, match="broken"):
        step.send("a", PS, 1)
    table.close(step)
    table.deliver(7, "a", "late")
    assert table.counts() == {"open": 0, "early": 0, "failed": 1}
    with pytest.raises(errors.CancelledError, match="cancelled already"):
        table.open(7)


def test_a_step_can_be_cancelled_before_it_comes(table) -> None:
    table.deliver(7, "a", 1)
    table.fail(7, errors.CancelledError(None, None, "no"))
    assert table.counts() == {"open": 0, "early": 0, "failed": 1}
    with pytest.raises(errors.CancelledError):
        table.open(7)


def test_a_step_that_two_are_in_ends_with_the_second(table) -> None:
    leader, part = table.open(7), table.open(7)
    assert leader is part
    table.close(part)
    table.deliver(7, "answer", 1)
    assert leader.recv("answer", PS) == 1
    table.close(leader)
    assert table.counts()["open"] == 0


def test_a_lost_task_ends_the_waits_of_the_steps_that_need_it(table) -> None:
    needs, other = table.open(1, [PS]), table.open(2)
    lost = errors.UnavailableError(None, None, "ps is lost")
    found = []

    def wait() -> None:
        try:
            needs.recv("a", PS)
        except errors.OpError as error:
            found.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    table.lost(PS, lost)
    thread.join()
    assert [type(error) for error in found] == [errors.UnavailableError]
    table.deliver(2, "a", 5)
    assert other.recv("a", PS) == 5


def test_a_wait_names_its_deadline_and_what_it_waits_for(table) -> None:
    step = table.open(1)
    with (
        waiting.running(None, 0.05),
        pytest.raises(
            errors.DeadlineExceededError, match=r"its 0.05 s: it waited for 'w/read:0' from /job:ps"
        ),
    ):
        step.recv("w/read:0", PS)


def test_early_tensors_and_failed_steps_are_forgotten_in_time() -> None:
    clock = Clock()
    table = StepTable(lambda *args: None, clock)
    table.deliver(1, "a", 1)
    table.fail(2, errors.CancelledError(None, None, "no"))
    table.sweep()
    assert table.counts() == {"open": 0, "early": 1, "failed": 1}
    clock.now += KEPT_SECONDS + 1
    table.sweep()
    assert table.counts() == {"open": 0, "early": 0, "failed": 0}


def test_settling_waits_for_steps_that_compute() -> None:
    table = StepTable(lambda *message: None)
    computing, waits = table.open(1), table.open(2)
    threading.Timer(0.05, table.close, [computing]).start()
    waiter = blocking.Waiter()
    waits.cancellation.enter(waiter)
    table.settle(PATIENCE)
    assert table.counts()["open"] == 1
    waits.cancellation.leave(waiter)
    table.settle(0.05)  # one that goes on is not waited for
    assert table.counts()["open"] == 1
    table.close(waits)
    table.settle(PATIENCE)
