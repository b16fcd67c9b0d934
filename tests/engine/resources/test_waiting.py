"""Waits end when woken, at the step's deadline, and when the session is cancelled."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from penstock.engine.resources import blocking, waiting
from penstock.foundation.base import errors
from tests.suite.clock import Clock


def _wait(waiter: blocking.Waiter, withdrawn: bool = True) -> None:
    blocking.wait(waiter, lambda: withdrawn, lambda: "a sign")


def test_a_woken_waiter_goes_on() -> None:
    waiter = blocking.Waiter()
    threading.Timer(0.02, waiter.wake).start()
    _wait(waiter)


def test_waking_before_the_wait_and_twice() -> None:
    waiter = blocking.Waiter()
    waiter.wake()
    waiter.wake()
    _wait(waiter)


def test_the_deadline_ends_it_and_says_what_it_waited_for() -> None:
    start, clock = time.monotonic(), Clock()
    with waiting.running(None, 0.05):
        with pytest.raises(errors.DeadlineExceededError, match="0.05 s: it waited for a sign"):
            _wait(blocking.Waiter())
    assert time.monotonic() - start > 0.04 and clock.seconds() < 5


def test_what_was_granted_at_the_last_moment_counts() -> None:
    with waiting.running(None, 0.01):
        _wait(blocking.Waiter(), withdrawn=False)


def test_cancellation_ends_all_waits_and_later_ones() -> None:
    cancellation = waiting.Cancellation()
    raised: list[Any] = []

    def work() -> None:
        with waiting.running(cancellation):
            try:
                _wait(blocking.Waiter())
            except errors.CancelledError as error:
                raised.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    cancellation.cancel("the session was closed")
    work()
    for thread in threads:
        thread.join()
    assert len(raised) == 5
    assert "was cancelled: the session was closed while waiting for a sign" in raised[0].message


def test_steps_within_steps_keep_their_own_deadline() -> None:
    with waiting.running(None, 100.0):
        with waiting.running(None, 0.01), pytest.raises(errors.DeadlineExceededError):
            _wait(blocking.Waiter())
        waiting.check_deadline()


class _Follower:
    """What is told of a cancellation without waiting for it."""

    def __init__(self, cancellation: waiting.Cancellation) -> None:
        self._cancellation = cancellation
        self.said: list[str | None] = []

    def wake(self) -> None:
        self.said.append(self._cancellation.reason)


def test_a_cancellation_tells_those_who_follow_it() -> None:
    cancellation = waiting.Cancellation()
    follower = _Follower(cancellation)
    cancellation.enter(follower)
    assert cancellation.has_waiters()
    cancellation.cancel("enough")
    cancellation.leave(follower)
    cancellation.cancel("again")
    assert follower.said == ["enough"] and not cancellation.has_waiters()
    cancellation.enter(follower)
    assert follower.said == ["enough", "again"]


def test_a_long_wait_reminds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "REMIND_SECONDS", 0.02)
    reminded: list[None] = []
    with waiting.running(None, 0.1), pytest.raises(errors.DeadlineExceededError):
        blocking.wait(
            blocking.Waiter(), lambda: True, lambda: "a sign", lambda: reminded.append(None)
        )
    assert 1 <= len(reminded) <= 5
    waiter = blocking.Waiter()
    blocking.wait(waiter, lambda: True, lambda: "a sign", waiter.wake)


def test_a_deadline_can_be_later_for_a_while() -> None:
    with waiting.running(None, 0.02):
        with waiting.extended(30.0):
            assert (waiting.seconds_left() or 0.0) > 20
            waiting.check_deadline()
        assert (waiting.seconds_left() or 1.0) < 1
    with waiting.extended(30.0):
        assert waiting.seconds_left() is None


def test_who_waits_for_a_lock_keeps_the_deadline() -> None:
    lock, held, release = waiting.StepLock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock, lock:
            held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    with waiting.running(None, 0.05), pytest.raises(errors.DeadlineExceededError, match="0.05 s"):
        with lock:
            pass
    release.set()
    thread.join()
    with waiting.running(None, 0.05), lock:
        pass
