"""Servers and the clock, event by event, with answers known by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from penstock.cluster.simulate.events import EventQueue
from penstock.cluster.simulate.servers import FifoServer, SharingServer, Slots


class Log:
    """When what was finished."""

    def __init__(self) -> None:
        self.times: dict[Any, float] = {}

    def __call__(self, at: float, name: Any) -> None:
        assert name not in self.times
        self.times[name] = at


def test_events_happen_in_order_of_time_then_of_scheduling() -> None:
    queue, seen = EventQueue(), []
    for time, name in ((2.0, "c"), (1.0, "a"), (2.0, "d"), (1.0, "b")):
        queue.at(time, seen.append, name)
    queue.run()
    assert seen == ["a", "b", "c", "d"]
    assert (queue.now, queue.done) == (2.0, 4)


def test_stop_leaves_the_rest() -> None:
    queue, seen = EventQueue(), []
    queue.at(1.0, queue.stop)
    queue.at(2.0, seen.append, 1)
    queue.run()
    assert seen == [] and queue.now == 1.0
    queue.run()
    assert seen == [1]


def test_fifo_with_two_servers() -> None:
    queue, log = EventQueue(), Log()
    server = FifoServer(queue, 2)
    for name, work in (("a", 4.0), ("b", 1.0), ("c", 2.0), ("d", 1.0)):
        server.serve(0.0, work, log, name)
    queue.run()
    # b's server takes c at 1, which is done at 3 and takes d.
    assert log.times == {"a": 4.0, "b": 1.0, "c": 3.0, "d": 4.0}
    assert server.busy == 8.0


def test_fifo_waits_for_work_that_is_not_ready() -> None:
    queue, log = EventQueue(), Log()
    server = FifoServer(queue)
    server.serve(5.0, 1.0, log, "late")
    server.serve(0.0, 1.0, log, "early")
    queue.run()
    assert log.times == {"early": 1.0, "late": 6.0}


def test_fifo_in_order_claims_ahead() -> None:
    queue, log = EventQueue(), Log()
    server = FifoServer(queue, in_order=True)
    server.serve(5.0, 1.0, log, "a")
    server.serve(5.5, 1.0, log, "b")
    assert log.times == {"a": 6.0, "b": 7.0} and queue.done == 0


def test_sharing_divides_alike() -> None:
    queue, log = EventQueue(), Log()
    server = SharingServer(queue, 1.0)
    server.serve(0.0, 4.0, log, "long")
    server.serve(1.0, 1.0, log, "short")
    queue.run()
    # Alone to 1; then halves: short's 1 takes 2, and long's last 2 are alone again.
    assert log.times == pytest.approx({"short": 3.0, "long": 5.0})


def test_sharing_gives_nobody_more_than_one_server() -> None:
    queue, log = EventQueue(), Log()
    server = SharingServer(queue, 2.0)
    for name in "abc":
        server.serve(0.0, 2.0, log, name)
    queue.run()
    assert log.times == pytest.approx({"a": 3.0, "b": 3.0, "c": 3.0})
    one = SharingServer(queue, 2.0)
    one.serve(queue.now, 2.0, log, "alone")
    queue.run()
    assert log.times["alone"] == pytest.approx(5.0)


def test_sharing_lets_nothing_pass_at_once() -> None:
    queue, log = EventQueue(), Log()
    server = SharingServer(queue, 1.0)
    server.serve(0.0, 0.0, log, "nothing")
    assert log.times == {"nothing": 0.0}


def test_sharing_conserves_work() -> None:
    source, queue, log = random.Random(1), EventQueue(), Log()
    server = SharingServer(queue, 3.0)
    works = [source.uniform(0.1, 2.0) for _ in range(200)]
    for name, work in enumerate(works):
        server.serve(0.0, work, log, name)
    queue.run()
    assert len(log.times) == 200
    # All there from the beginning: three servers are never idle before the last few.
    assert sum(works) / 3 <= queue.now <= sum(works) / 3 + max(works)
    order = sorted(range(200), key=lambda name: log.times[name])
    assert [works[name] for name in order] == sorted(works)


def test_slots_let_others_wait_in_order() -> None:
    queue, log = EventQueue(), Log()
    cores = SharingServer(queue, 2.0)
    lock = Slots(queue, 1, cores)
    for name in "abc":
        lock.serve(0.0, 2.0, log, name)
    cores.serve(0.0, 6.0, log, "beside")
    queue.run()
    assert log.times == pytest.approx({"a": 2.0, "b": 4.0, "c": 6.0, "beside": 6.0})
