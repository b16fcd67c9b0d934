"""Threads of tests: their exceptions fail the test."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Callable, Mapping, Sequence
from typing import Any


class CheckedThread:
    """A thread that must be joined, and fails the test if it raised.

    Args:
      testcase: the test.
      target: what the thread calls.
      args: positional arguments.
      kwargs: arguments by keyword.
    """

    def __init__(
        self,
        testcase: unittest.TestCase,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self._testcase = testcase
        self._call = (target, args or (), kwargs or {})
        self._thread = threading.Thread(target=self._run)
        self._error: Exception | None = None
        self._joined = False

    def _run(self) -> None:
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except Exception as error:
            self._error = error

    def start(self) -> None:
        """Starts the thread; once."""
        self._thread.start()

    def join(self) -> None:
        """Waits for its end; fails the test if it raised."""
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._testcase.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fails the test if the thread was not joined.

        Raises:
          RuntimeError: the thread was joined and runs on.
        """
        if not self._joined:
            self._testcase.fail("A checked thread was not joined.")
        if self.is_alive():
            raise RuntimeError("Thread was not joined with main thread, and is still running")
