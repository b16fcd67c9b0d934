"""Waiting for another step, so that a deadline, a cancelled step or a closed session ends it.

A blocked op holds a ``Waiter``.  Whoever makes progress possible wakes it; the deadline of the step
ends the wait by itself; and a ``Cancellation`` (one a session) wakes all that wait in it.  A wait
releases the interpreter: it is one ``Lock.acquire`` with a timeout.

    thread A                                   thread B
    with running(cancellation, until):         queue.enqueue(...)  -> waiter.wake()
        queue.dequeue() -> wait(waiter, ...)   session.close()     -> cancellation.cancel(...)
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from penstock.engine.resources import ending
from penstock.engine.resources.waiting import (
    current_cancellation,
    deadline,
    deadline_error,
    note_waited,
)
from penstock.foundation.base import errors

# How often a wait that wants to be told of says that it still waits.
REMIND_SECONDS = 10.0


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

    def block(self, seconds: float | None) -> bool:
        return self._lock.acquire(timeout=-1 if seconds is None else max(seconds, 0.0))


ending.waits_in(Waiter.block)


def wait(
    waiter: Waiter,
    give_up: Callable[[], bool],
    waiting_for: Callable[[], str],
    remind: Callable[[], None] | None = None,
) -> None:
    """Blocks until the waiter is woken, or the step's deadline or cancellation ends the wait.

    Args:
      waiter: what is woken.
      give_up: withdraws the request; False when it was granted in the meantime, so that nothing
        that was handed over gets lost.
      waiting_for: tells what the op waits for, for the error: "an element in queue 'q'".
      remind: called every ``REMIND_SECONDS`` of the wait.

    Raises:
      tf.errors.DeadlineExceededError: the time of the step is up.
      tf.errors.CancelledError: the session was closed or the step cancelled.
    """
    cancellation, until = current_cancellation(), deadline()
    if cancellation is not None:
        if cancellation.is_of_parent and give_up():
            cancellation.check_process(waiting_for())
        cancellation.enter(waiter)
    began = time.perf_counter()
    try:
        woken = _blocked(waiter, until, remind)
    except BaseException:  # KeyboardInterrupt: the request must not stay behind
        give_up()
        raise
    finally:
        note_waited(time.perf_counter() - began)
        if cancellation is not None:
            cancellation.leave(waiter)
    reason = cancellation.reason if cancellation is not None else None
    if woken and reason is None:
        return
    what = waiting_for()
    if not give_up():
        return
    if reason is not None:
        message = f"the operation was cancelled: {reason} while waiting for {what}"
        raise errors.CancelledError(None, None, message)
    raise deadline_error(what)


def _blocked(waiter: Waiter, until: float | None, remind: Callable[[], None] | None) -> bool:
    while remind is not None:
        left = None if until is None else until - time.monotonic()
        last = left is not None and left <= REMIND_SECONDS
        if waiter.block(left if last else REMIND_SECONDS):
            return True
        if last:
            return False
        remind()
    return waiter.block(None if until is None else until - time.monotonic())
