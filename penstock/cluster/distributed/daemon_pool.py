"""A pool of threads for calls that may block for long.

``ThreadPoolExecutor`` joins its threads when the interpreter ends, so one blocked step would keep a
process alive, and never ends a thread.  Here threads are daemons, are made when none is idle, and
end after a while without work.  Of the idle ones the last to have become so gets the next task: in
turn, a few short calls a second would keep all of them that a burst has made.

State: the tasks that wait for a thread, and the threads that are idle.
"""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from penstock.engine.resources import blocking, ending

# Threads of one pool.
POOL_LIMIT = 4608

_Result = TypeVar("_Result")
_Task = tuple["Future[Any]", Callable[[], Any]]
_log = logging.getLogger(__name__)


class _Thread:
    """What a thread of the pool waits at."""

    __slots__ = ("task", "waiter")

    def __init__(self, task: _Task) -> None:
        self.waiter = blocking.Waiter()
        self.task: _Task | None = task


class DaemonPool(Executor):
    """Runs each task at once, in a thread of its own if need be.

    Args:
      name: of the threads.
      limit: of threads; tasks beyond wait.
      idle_seconds: after which a thread without work ends.
    """

    def __init__(self, name: str, limit: int = POOL_LIMIT, idle_seconds: float = 30.0) -> None:
        self._name, self._limit, self._idle_seconds = name, limit, idle_seconds
        self._lock = threading.Lock()
        self._tasks: collections.deque[_Task] = collections.deque()
        # The last one has worked last.
        self._idle: list[_Thread] = []
        self._threads = 0
        self._stopped = False

    def submit(self, fn: Callable[..., _Result], /, *args: Any, **kwargs: Any) -> Future[_Result]:
        """Runs ``fn(*args, **kwargs)``.

        Raises:
          RuntimeError: the pool was shut down, or there can be no more threads.
        """
        future: Future[_Result] = Future()
        task = future, lambda: fn(*args, **kwargs)
        with self._lock:
            if self._stopped:
                raise RuntimeError(f"the threads {self._name!r} were shut down")
            if self._idle:
                idle = self._idle.pop()
                idle.task = task
                idle.waiter.wake()
                return future
            if self._threads >= self._limit:
                self._tasks.append(task)
                return future
            self._threads += 1
        made = _Thread(task)
        try:
            threading.Thread(target=self._work, args=(made,), name=self._name, daemon=True).start()
        except RuntimeError:
            with self._lock:
                self._threads -= 1
            raise
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more tasks; never waits for those that run."""
        with self._lock:
            self._stopped = True
            if cancel_futures:
                while self._tasks:
                    self._tasks.popleft()[0].cancel()
            for idle in self._idle:
                idle.waiter.wake()

    def _work(self, thread: _Thread) -> None:
        while (task := self._next(thread)) is not None:
            future, call = task
            if future.set_running_or_notify_cancel():
                _run(future, call)
            # Nothing of it may live as long as the thread waits.
            del task, future, call

    def _next(self, thread: _Thread) -> _Task | None:
        """What a thread does next; None: it ends."""
        with self._lock:
            rests = thread.task is None
            if rests and self._tasks:
                return self._tasks.popleft()
            if rests and not self._stopped:
                self._idle.append(thread)
        if rests:
            thread.waiter.block(0 if self._stopped else self._idle_seconds)
        with self._lock:
            task, thread.task = thread.task, None
            if task is None:
                if thread in self._idle:
                    self._idle.remove(thread)
                self._threads -= 1
            return task


def _run(future: Future[Any], task: Callable[[], Any]) -> None:
    try:
        result = task()
    except ending.ProcessEnds:  # nobody is left to be told
        return
    except BaseException as error:
        _log.debug("a task of the pool failed", exc_info=True)
        future.set_exception(error)
    else:
        future.set_result(result)
