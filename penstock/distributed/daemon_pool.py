"""A pool of threads for calls that may block for long.

``ThreadPoolExecutor`` joins its threads when the interpreter ends, so one blocked step would keep a
process alive, and never ends a thread.  Here threads are daemons, are made when none is idle, and
end after a while without work.

State: the tasks that wait for a thread, and how many threads are idle.
"""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from penstock.resources import ending

# Threads of one pool: calls that a server works on at a time.
POOL_LIMIT = 4096

_Result = TypeVar("_Result")
_log = logging.getLogger(__name__)


class DaemonPool(Executor):
    """Runs each task at once, in a thread of its own if need be.

    Args:
      name: of the threads.
      limit: of threads; tasks beyond wait.
      idle_seconds: after which a thread without work ends.
    """

    def __init__(self, name: str, limit: int = POOL_LIMIT, idle_seconds: float = 30.0) -> None:
        self._name, self._limit, self._idle_seconds = name, limit, idle_seconds
        self._changed = threading.Condition(threading.Lock())
        self._tasks: collections.deque[tuple[Future[Any], Callable[[], Any]]] = collections.deque()
        self._idle = 0
        self._threads = 0
        self._stopped = False

    def submit(
        self, fn: Callable[..., _Result], /, *args: Any, **kwargs: Any
    ) -> Future[_Result]:
        """Runs ``fn(*args, **kwargs)``.

        Raises:
          RuntimeError: the pool was shut down.
        """
        future: Future[_Result] = Future()
        with self._changed:
            if self._stopped:
                raise RuntimeError(f"the threads {self._name!r} were shut down")
            self._tasks.append((future, lambda: fn(*args, **kwargs)))
            if self._idle >= len(self._tasks) or self._threads >= self._limit:
                self._changed.notify()
                return future
            self._threads += 1
        threading.Thread(target=self._work, name=self._name, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more tasks; never waits for those that run."""
        with self._changed:
            self._stopped = True
            if cancel_futures:
                while self._tasks:
                    self._tasks.popleft()[0].cancel()
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                self._changed.wait_for(
                    lambda: self._tasks or self._stopped, timeout=self._idle_seconds
                )
                self._idle -= 1
                if not self._tasks:
                    self._threads -= 1
                    return
                future, task = self._tasks.popleft()
            if future.set_running_or_notify_cancel():
                _run(future, task)
            del future, task


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
