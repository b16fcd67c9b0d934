"""A mutex: at most one step at a time holds its lock.

Acquiring gives a ``Lock`` value.  It is the *life* of that value that holds the mutex: the lock is
released when the value dies.  A program frees a local at its last use, so the lock of a step ends
after the last node that takes it (``ConsumeMutexLock``, say), or at once when no node does.  When a
step fails, times out or is cancelled, its frame is cleared, and what it held dies with it: no step
leaves a mutex locked.  A lock that two nodes could alias is one object, with one life.

State: the lock that is held now, if any; the line of those that wait, first come, first served.
The mutex is handed over: it is never free while somebody waits.

Source: ``MutexV2`` and ``MutexLock`` of TensorFlow 1.15.
"""

from __future__ import annotations

import threading
from collections import deque

from penstock.engine.resources import blocking


class Lock:
    """The right to be in; ends with its life, or when it is released."""

    __slots__ = ("_mutex", "__weakref__")

    def __init__(self, mutex: Mutex) -> None:
        self._mutex: Mutex | None = mutex

    def release(self) -> None:
        """Lets the next in line in; later calls change nothing."""
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex._release()

    def __del__(self) -> None:
        self.release()


class _Request:
    __slots__ = ("waiter", "granted")

    def __init__(self) -> None:
        self.waiter = blocking.Waiter()
        self.granted = False


class Mutex:
    """Mutual exclusion of steps.

    Args:
      name: for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        # Reentrant: the garbage collector may release a lock while this thread is in here.
        self._lock = threading.RLock()
        self._held = False
        self._line: deque[_Request] = deque()

    def acquire(self) -> Lock:
        """Waits for its turn.

        Returns:
          The lock, whose life holds the mutex.

        Raises:
          tf.errors.DeadlineExceededError, tf.errors.CancelledError: the step ended while waiting.
        """
        # Made before the lock is taken: nothing may be collected between the test and the line.
        request = _Request()
        with self._lock:
            if self._held:
                self._line.append(request)
            else:
                self._held = request.granted = True
        if not request.granted:
            try:
                blocking.wait(request.waiter, lambda: self._withdraw(request), self._told)
            except BaseException:
                self._refuse(request)
                raise
        return Lock(self)

    @property
    def held(self) -> bool:
        """Whether somebody holds it."""
        return self._held

    def _refuse(self, request: _Request) -> None:
        """Hands the turn on that came together with an interrupt."""
        if request.granted:
            self._release()

    def _release(self) -> None:
        with self._lock:
            if not self._line:
                self._held = False
                return
            request = self._line.popleft()
            request.granted = True
        request.waiter.wake()

    def _withdraw(self, request: _Request) -> bool:
        with self._lock:
            if request.granted:
                return False
            self._line.remove(request)
            return True

    def _told(self) -> str:
        return f"mutex {self.name!r}, which another step holds"
