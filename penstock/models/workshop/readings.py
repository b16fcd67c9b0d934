"""Steps of a text that the graph reads: handed out to as many threads as step at once.

A thread takes a step of the reading that goes on and runs it. When the reading has no step left,
whoever runs the watched steps, those with the session's hooks, waits for the others' last ones and
begins the next reading; the others wait for that.

Order: readings begin and end for all threads at once, and inside one the threads take steps as they
come to them, each from variables that the others change meanwhile (Recht et al., Hogwild, 2011).
One thread alone takes them in order, so that a seed repeats them.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import penstock as tf


class Readings(tf.train.SessionRunHook):
    """Begins a reading of the text before the first step, and whenever one has ended.

    Args:
      steps: how many steps the reading has that is begun in the same run.
      begin: an op that begins one.

    Attributes:
      left: how many steps may still be taken, of all readings.
    """

    def __init__(self, steps: Any, begin: Any) -> None:
        self._begin = [steps, begin]
        self._turn = threading.Condition()
        self._here = self._running = 0
        self._stopped = False
        self.left = math.inf

    def after_create_session(self, session: Any, coord: Any) -> None:
        """What was read is gone with the session before."""
        self._here = 0

    def before_run(self, run_context: Any) -> None:
        """Takes a step for this run."""
        with self._turn:
            if not self._here:
                self._turn.wait_for(lambda: not self._running)
                self._here = int(run_context.session.run(self._begin)[0])
                self._turn.notify_all()
            self._take()

    def _take(self) -> None:
        self._here -= 1
        self.left -= 1

    def step(self, run: Callable[[], Any]) -> bool:
        """Runs a step of the reading that goes on; returns whether there was one.

        The very last step is a watched one: whoever runs those sees that it is left, and takes it.
        """
        with self._turn:
            if not self._here or self.left <= 1:
                return False
            self._take()
            self._running += 1
        try:
            run()
        finally:
            with self._turn:
                self._running -= 1
                self._turn.notify_all()
        return True

    @contextmanager
    def helped(self, run: Callable[[], Any], threads: int) -> Iterator[Callable[[], None]]:
        """Has threads run steps beside the caller's, which must run watched ones now and then.

        Args:
          run: a step.
          threads: how many there are beside the caller's.

        Yields:
          A function that raises what has ended one of the threads.
        """
        self._stopped = False
        with ThreadPoolExecutor(max(threads, 1), "steps") as pool:
            helpers = [pool.submit(self._help, run) for _ in range(threads)]
            try:
                yield lambda: _raise_of(helpers)
            finally:
                with self._turn:
                    self._stopped = True
                    self._turn.notify_all()
        _raise_of(helpers)

    def _help(self, run: Callable[[], Any]) -> None:
        while not self._stopped:
            if not self.step(run):
                with self._turn:
                    self._turn.wait_for(lambda: self._stopped or (self._here and self.left > 1))


def _raise_of(helpers: list[Future[None]]) -> None:
    for helper in helpers:
        if helper.done():
            helper.result()
