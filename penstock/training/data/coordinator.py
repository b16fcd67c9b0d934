"""Ending several threads together: any one asks to stop, all see it, one joins and learns why.

State, under one lock: whether to stop (an event), the first error that was reported, the threads
that registered, and whether ``join`` has run.

    coord = tf.train.Coordinator()          threads: while not coord.should_stop(): ...
    coord.request_stop()                    -> should_stop() is True everywhere
    coord.join(threads)                     -> waits, then raises the first error reported

Source: the behaviour of ``tf.train.Coordinator`` in TensorFlow 1.15.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

from penstock.foundation.base import errors

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]
# How long ``join`` waits between looks at whether a stop was requested, in seconds.
_PATIENCE = 1.0


class Coordinator:
    """Coordinates the end of a set of threads.

    Args:
      clean_stop_exception_types: exceptions that end a thread without being errors; default is
        ``(tf.errors.OutOfRangeError,)``.

    Example:
      >>> import penstock as tf
      >>> import threading
      >>> coordinator, done = tf.train.Coordinator(), []
      >>> def work():
      ...     with coordinator.stop_on_exception():
      ...         while not coordinator.should_stop():
      ...             done.append(1)
      ...             if len(done) == 5:
      ...                 coordinator.request_stop()  # the others see it, too
      >>> threads = [threading.Thread(target=work)]
      >>> for thread in threads:
      ...     thread.start()
      >>> coordinator.join(threads)
      >>> len(done)
      5
    """

    def __init__(
        self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None
    ) -> None:
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._exc_info: _ExcInfo | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop; the first error given is raised by ``join``.

        Args:
          ex: an exception, or a triple as ``sys.exc_info()`` returns it, or None.

        Raises:
          The error itself, when ``join`` has run already and nobody else would report it.
          TypeError: ``ex`` is something else.
        """
        info = _exc_info(ex)
        with self._lock:
            error = info[1] if info is not None else None
            if isinstance(error, self._clean_stop_exception_types):
                error = info = None
            if self._joined and error is not None:
                raise error
            if self._stop_event.is_set():
                return
            self._exc_info = info
            self._stop_event.set()

    def clear_stop(self) -> None:
        """Forgets the request to stop, and the error."""
        with self._lock:
            self._joined = False
            self._exc_info = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A context in which any exception requests a stop, and goes no further."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested.

        Args:
          timeout: the most seconds to wait.

        Returns:
          Whether a stop was requested.
        """
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Has ``join`` wait for this thread as well."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Sequence[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for the threads to end, and raises the error that ended them, if any.

        Args:
          threads: wait for these, besides those that registered.
          stop_grace_period_secs: seconds that they get once a stop was requested.
          ignore_live_threads: say nothing about threads that are alive after that.

        Raises:
          RuntimeError: threads are alive after the grace period.
          The error given to ``request_stop``, if any.
        """
        with self._lock:
            waiting_for = [*self._registered_threads, *(threads or ())]
        waiting_for = list(dict.fromkeys(waiting_for))
        while any(t.is_alive() for t in waiting_for) and not self.wait_for_stop(_PATIENCE):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in waiting_for:
            thread.join(max(deadline - time.monotonic(), 0.0))
        alive = [t.name for t in waiting_for if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads.clear()
            info = self._exc_info
        if info is not None:
            raise info[1].with_traceback(info[2])
        if alive and not ignore_live_threads:
            raise RuntimeError(
                f"coordinator stopped with {len(alive)} thread(s) still running after"
                f" {stop_grace_period_secs:g} s: {', '.join(alive)}"
            )

    @property
    def joined(self) -> bool:
        """Whether ``join`` has run."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the error given to ``request_stop``, if any."""
        with self._lock:
            info = self._exc_info
        if info is not None:
            raise info[1].with_traceback(info[2])


def _exc_info(ex: Any) -> _ExcInfo | None:
    if ex is None:
        return None
    if isinstance(ex, BaseException):
        return type(ex), ex, ex.__traceback__
    if isinstance(ex, tuple) and len(ex) == 3 and isinstance(ex[1], BaseException):
        return type(ex[1]), ex[1], ex[2]
    raise TypeError(
        f"request_stop takes an exception or what sys.exc_info() returns; found {type(ex).__name__}"
    )


class LooperThread(threading.Thread):
    """A thread that calls a function again and again until its coordinator stops.

    Args:
      coord: the ``Coordinator``.
      timer_interval_secs: seconds from call to call; None calls without a pause.
      target: the function; by default ``run_loop`` of a subclass.
      args, kwargs: what to call it with.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(
                f"'coord' argument must be a Coordinator; found {type(coord).__name__}"
            )
        super().__init__(daemon=True)
        self._coord = coord
        self._interval = timer_interval_secs
        self._function = target
        if target is None and (args or kwargs):
            raise ValueError("args and kwargs need a target to be called with them")
        self._function_args = tuple(args or ())
        self._function_kwargs = dict(kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> LooperThread:
        """Makes and starts such a thread."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def isAlive(self) -> bool:
        """``is_alive``, by its name in Python 2."""
        return self.is_alive()

    def run(self) -> None:
        """The thread's work; an exception in it stops the coordinator."""
        with self._coord.stop_on_exception():
            self.start_loop()
            due = time.monotonic()
            while not self._coord.wait_for_stop(self._pause(due)):
                due += self._interval or 0.0
                self.run_loop()
            self.stop_loop()

    def _pause(self, due: float) -> float:
        return 0.0 if self._interval is None else max(due - time.monotonic(), 0.0)

    def start_loop(self) -> None:
        """Called once before the loop; for subclasses."""

    def stop_loop(self) -> None:
        """Called once after the loop; for subclasses."""

    def run_loop(self) -> None:
        """One round of the loop."""
        if self._function is not None:
            self._function(*self._function_args, **self._function_kwargs)
