"""Counts of a server: of steps as they end, of links as they come and go."""

from __future__ import annotations

from penstock.cluster.distributed.step_table import StepTable
from penstock.cluster.distributed.tally import BOUNDS, Tally
from penstock.foundation.base import errors


class Carried:
    def __init__(self, sent: int, received: int) -> None:
        self.sent, self.received = sent, received


def test_steps_are_counted_when_all_have_left_them() -> None:
    tally, now = Tally(), [10.0]
    table = StepTable(lambda *message: None, lambda: now[0], tally)
    step = table.open(1)
    assert table.open(1) is step
    now[0] += 0.25
    table.close(step)
    assert tally.counts().done == 0
    now[0] += 0.5
    table.close(step)
    counts = tally.counts()
    assert (counts.done, counts.failed, counts.seconds) == (1, 0, 0.75)
    assert counts.buckets[BOUNDS.index(1.0)] == 1 and sum(counts.buckets) == 1
    failing = table.open(2)
    failing.fail(errors.CancelledError(None, None, "enough"))
    now[0] += 1000.0
    table.close(failing)
    counts = tally.counts()
    assert (counts.done, counts.failed, counts.buckets[-1]) == (1, 1, 1)


def test_time_before_a_step_was_entered_is_none_of_it() -> None:
    tally, now = Tally(), [10.0]
    table = StepTable(lambda *message: None, lambda: now[0], tally)
    table.deliver(1, "early", 5)
    now[0] += 7.0
    table.close(table.open(1))
    assert tally.counts().seconds == 0.0


def test_a_bound_belongs_to_its_bucket() -> None:
    tally = Tally()
    tally.step_ended(BOUNDS[0], well=True)
    assert tally.counts().buckets[0] == 1


def test_what_links_carried_stays_when_they_end() -> None:
    tally, one, other = Tally(), Carried(1, 2), Carried(10, 20)
    tally.link_opened(one)
    tally.link_opened(other)
    one.sent += 100
    assert (tally.counts().sent, tally.counts().received, tally.counts().links) == (111, 22, 2)
    tally.link_ended(one)
    tally.link_ended(one)
    one.sent += 1000  # nobody asks it any more
    assert (tally.counts().sent, tally.counts().received, tally.counts().links) == (111, 22, 1)


def test_lost_tasks() -> None:
    tally = Tally()
    tally.task_lost(restarted=True)
    tally.task_lost(restarted=False)
    tally.task_lost(restarted=False)
    assert (tally.counts().restarted, tally.counts().unreachable) == (1, 2)
