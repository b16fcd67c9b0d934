"""Waiting for another step, so that a deadline, a cancelled step or a closed session ends it.

A blocked op holds a ``Waiter``.  Whoever makes progress possible wakes it; the deadline of the step
ends the wait by itself; and a ``Cancellation`` (one a session) wakes all that wait in it.  A wait
releases the interpreter: it is one ``Lock.acquire`` with a timeout.

State: per thread, the deadline and the cancellation of the step that it runs, and how long it has
waited in all; per cancellation, the waiters blocked now.

    thread A                                   thread B
    with running(cancellation, until):         queue.enqueue(...)  -> waiter.wake()
        queue.dequeue() -> waiter.wait(...)    session.close()     -> cancellation.cancel(...)
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from penstock.base import errors


class Waiter:
    """One blocked op."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def wake(self) -> None:
        """Ends the wait, or keeps it from beginning; later calls change nothing."""
        with suppress(RuntimeError):  # woken already, perhaps by another thread just now
            self._lock.release()

    def _block(self, seconds: float | None) -> bool:
        return self._lock.acquire(timeout=-1 if seconds is None else max(seconds, 0.0))


class Cancellation:
    """What ends all the waits of a session at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: set[Waiter] = set()
        self._reason: str | None = None

    @property
    def reason(self) -> str | None:
        """Why it was cancelled, or None."""
        return self._reason

    def cancel(self, reason: str) -> None:
        """Wakes every waiter, and keeps later waits from beginning."""
        with self._lock:
            self._reason = reason
            for waiter in self._waiters:
                waiter.wake()

    def _enter(self, waiter: Waiter) -> None:
        with self._lock:
            self._waiters.add(waiter)
            if self._reason is not None:
                waiter.wake()

    def _leave(self, waiter: Waiter) -> None:
        with self._lock:
            self._waiters.discard(waiter)


class _Running(threading.local):
    def __init__(self) -> None:
        self.cancellation: Cancellation | None = None
        self.until: float | None = None
        self.seconds = 0.0
        self.waited = 0.0


_running = _Running()


@contextmanager
def running(
    cancellation: Cancellation | None = None, seconds: float | None = None
) -> Iterator[None]:
    """The step that this thread runs: what cancels it, and the seconds it may take.

    Contexts nest; None leaves what the outer one says.
    """
    saved = _running.cancellation, _running.until, _running.seconds
    if cancellation is not None:
        _running.cancellation = cancellation
    if seconds is not None:
        _running.until, _running.seconds = time.monotonic() + seconds, seconds
    try:
        yield
    finally:
        _running.cancellation, _running.until, _running.seconds = saved


def has_deadline() -> bool:
    """Whether the step that this thread runs has a deadline."""
    return _running.until is not None


def check_deadline() -> None:
    """Raises DeadlineExceededError when the time of this thread's step is up."""
    until = _running.until
    if until is not None and time.monotonic() > until:
        raise errors.DeadlineExceededError(
            None, None,
            "Timed out waiting for notification: the step did not end within its"
            f" {_running.seconds:g} s",
        )


def wait(waiter: Waiter, give_up: Callable[[], bool], waiting_for: Callable[[], str]) -> None:
    """Blocks until the waiter is woken, or the step's deadline or cancellation ends the wait.

    Args:
      waiter: what is woken.
      give_up: withdraws the request; False when it was granted in the meantime, so that nothing
        that was handed over gets lost.
      waiting_for: tells what the op waits for, for the error: "an element in queue 'q'".

    Raises:
      tf.errors.DeadlineExceededError: the time of the step is up.
      tf.errors.CancelledError: the session was closed or the step cancelled.
    """
    cancellation = _running.cancellation
    until = _running.until
    if cancellation is not None:
        cancellation._enter(waiter)
    began = time.perf_counter()
    try:
        woken = waiter._block(None if until is None else until - time.monotonic())
    except BaseException:  # KeyboardInterrupt: the request must not stay behind
        give_up()
        raise
    finally:
        _running.waited += time.perf_counter() - began
        if cancellation is not None:
            cancellation._leave(waiter)
    reason = cancellation.reason if cancellation is not None else None
    if woken and reason is None:
        return
    what = waiting_for()
    if not give_up():
        return
    if reason is not None:
        message = f"the operation was cancelled: {reason} while waiting for {what}"
        raise errors.CancelledError(None, None, message)
    raise errors.DeadlineExceededError(
        None,
        None,
        "Timed out waiting for notification: the step did not end within its"
        f" {_running.seconds:g} s: it waited for {what}",
    )


def waited() -> float:
    """The seconds that this thread's steps have waited for others, ever."""
    return _running.waited


def current_cancellation() -> Cancellation | None:
    """What cancels the step that this thread runs, for threads that work on behalf of it."""
    return _running.cancellation


def seconds_left() -> float | None:
    """The seconds that are left to the step that this thread runs; None without a deadline."""
    until = _running.until
    return None if until is None else max(until - time.monotonic(), 0.001)
