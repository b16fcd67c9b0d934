"""What ends a step before its last line: its deadline, or that its session is closed.

The waits of its nodes (``blocking``) and the loops of its program look for both.

State: per thread, the deadline and the cancellation of the step that it runs, and how long it has
waited in all; per cancellation, the waiters blocked now.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from penstock.foundation.base import errors

# How many forks made this process.  Threads stay behind in each, and with them all that would end a
# wait in what is older.
_forks = 0


def _after_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_after_fork)


class Cancellation:
    """What ends all the waits of a session at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: set[Any] = set()
        # The reasons, once it is cancelled.  A list, since a loop that asks in each of its rounds
        # whether something is in it hardly feels that (8 ns; a call would be 200).
        self._reasons: list[str] = []
        self._made_after = _forks

    @property
    def reason(self) -> str | None:
        """Why it was cancelled, or None."""
        return self._reasons[-1] if self._reasons else None

    @property
    def is_of_parent(self) -> bool:
        """Whether it was made in a process that has forked this one."""
        return self._made_after != _forks

    def check_process(self, what: str) -> None:
        """Refuses what would wait in a child process for threads of its parent.

        Raises:
          tf.errors.FailedPreconditionError: this was made before the fork.
        """
        if self.is_of_parent:
            raise errors.FailedPreconditionError(
                None, None, f"this process was forked after the session was made, and {what} would"
                " wait for threads that stayed in the parent: make a session (and iterators,"
                " queue runners and servers) in the child, or start it by 'spawn'",
            )  # fmt: skip

    def cancel(self, reason: str) -> None:
        """Wakes every waiter, and keeps later waits from beginning."""
        with self._lock:
            self._reasons.append(reason)
            for waiter in self._waiters:
                waiter.wake()

    def has_waiters(self) -> bool:
        """Whether something waits in it now."""
        with self._lock:
            return bool(self._waiters)

    def enter(self, waiter: Any) -> None:
        """Has ``waiter.wake()`` called when it is cancelled; at once if it was."""
        with self._lock:
            self._waiters.add(waiter)
            if self._reasons:
                waiter.wake()

    def leave(self, waiter: Any) -> None:
        with self._lock:
            self._waiters.discard(waiter)


class StepLock:
    """A lock whose waiters keep the deadline of the step that they prepare; may be nested."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        left = seconds_left()
        if not self._lock.acquire(timeout=-1 if left is None else left):
            raise deadline_error("another step of its session to be prepared")

    def __exit__(self, *exc: Any) -> None:
        self._lock.release()


class _Running(threading.local):
    def __init__(self) -> None:
        self.cancellation: Cancellation | None = None
        self.until: float | None = None
        self.seconds = 0.0
        self.waited = 0.0


_running = _Running()
_DEADLINE = ("a deadline",)


class _Bounds:
    """What ``running`` gives; no generator, since each step has several."""

    __slots__ = ("_cancellation", "_saved", "_seconds")

    def __init__(self, cancellation: Cancellation | None, seconds: float | None) -> None:
        self._cancellation, self._seconds = cancellation, seconds

    def __enter__(self) -> None:
        running, seconds = _running, self._seconds
        self._saved = running.cancellation, running.until, running.seconds
        if self._cancellation is not None:
            running.cancellation = self._cancellation
        if seconds is not None:
            running.until, running.seconds = time.monotonic() + seconds, seconds

    def __exit__(self, *exc: Any) -> None:
        running = _running
        running.cancellation, running.until, running.seconds = self._saved


def running(
    cancellation: Cancellation | None = None, seconds: float | None = None
) -> AbstractContextManager[None]:
    """The step that this thread runs: what cancels it, and the seconds it may take.

    Contexts nest; None leaves what the outer one says.
    """
    return _Bounds(cancellation, seconds)


@contextmanager
def extended(seconds: float) -> Iterator[None]:
    """The step's deadline is later here, since another process ends it and says why."""
    saved = _running.until
    if saved is not None:
        _running.until = saved + seconds
    try:
        yield
    finally:
        _running.until = saved


def has_deadline() -> bool:
    """Whether the step that this thread runs has a deadline."""
    return _running.until is not None


def check_deadline() -> None:
    """Raises DeadlineExceededError when the time of this thread's step is up."""
    until = _running.until
    if until is not None and time.monotonic() > until:
        raise deadline_error()


def deadline_error(waited_for: str | None = None) -> errors.DeadlineExceededError:
    """The error of this thread's step when its time is up; what it waited for then, if it did."""
    message = (
        "Timed out waiting for notification: the step did not end within its"
        f" {_running.seconds:g} s"
    )
    if waited_for is not None:
        message += f": it waited for {waited_for}"
    return errors.DeadlineExceededError(None, None, message)


def check_running() -> None:
    """Ends this thread's step when it was cancelled, or its time is up.

    Raises:
      tf.errors.CancelledError, tf.errors.DeadlineExceededError: so it is.
    """
    cancellation = _running.cancellation
    if cancellation is not None and cancellation._reasons:
        raise errors.CancelledError(None, None, f"{cancellation.reason} while it ran")
    check_deadline()


def alarm() -> Sequence[str]:
    """What is empty while nothing ends this thread's step, for loops that ask in each round.

    A loop calls ``check_running`` once something is in it; a step with a deadline has something in
    it from the start, since a deadline passes by itself.
    """
    if _running.until is not None:
        return _DEADLINE
    cancellation = _running.cancellation
    return () if cancellation is None else cancellation._reasons


def note_waited(seconds: float) -> None:
    """This thread's step has waited for another."""
    _running.waited += seconds


def deadline() -> float | None:
    """When the step that this thread runs must have ended, by ``time.monotonic``."""
    return _running.until


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
