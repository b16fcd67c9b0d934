"""The steps that a task takes part in, and the tensors that wait in it for them.

Tensors are pushed, so one may come before the task hears of its step, or after the step has failed.
The first kind is kept for a while; the second is dropped, since failed steps are remembered for as
long.

State, by step number: ``early`` (tensors only), open (a ``Step``), or failed (the time of the end).
A step may be opened twice, by the master that leads it and by the part that runs here, and ends
when both have closed it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from typing import Any

from penstock.cluster.distributed.tally import Tally
from penstock.engine.resources import waiting
from penstock.engine.resources.rendezvous import Mailbox
from penstock.foundation.base import errors

# How long tensors of unknown steps and the numbers of ended ones are kept.
KEPT_SECONDS = 120.0
_SWEEP_SECONDS = 15.0
_SETTLE_PAUSE = 0.002


class Step:
    """One step's tensors here: the rendezvous of its program.

    Args:
      number: the step's.
      send: ``(task, step, edge, value)`` pushes a tensor to another task.
    """

    def __init__(self, number: int, send: Callable[[str, int, str, Any], None]) -> None:
        self.number = number
        self.cancellation = waiting.Cancellation()
        self.peers: set[str] = set()
        self.users = 0
        self.began = 0.0
        self.error: errors.OpError | None = None
        self.mailbox = Mailbox()
        self.deliver = self.mailbox.put
        self._send = send

    def send(self, edge: str, task: str, value: Any) -> None:
        """Pushes a tensor to another task; its memory may be overwritten afterwards."""
        if self.error is not None:
            raise self.error
        self._send(task, self.number, edge, value)

    def recv(self, edge: str, task: str) -> Any:
        """The next tensor of an edge.

        Raises:
          tf.errors.OpError: why the step fails: another part's error, a lost task, a deadline.
        """
        return self.mailbox.take(edge, task)

    def fail(self, error: errors.OpError) -> None:
        """Ends every wait of the step, now and later, with an error."""
        if self.error is None:
            self.error = error
            self.mailbox.abort(error)
            self.cancellation.cancel(error.message)


class StepTable:
    """All steps of a task.

    Args:
      send: how tensors are pushed to other tasks.
      clock: seconds.
      tally: counts the steps that have ended; None: nobody does.
    """

    def __init__(
        self,
        send: Callable[[str, int, str, Any], None],
        clock: Callable[[], float] = time.monotonic,
        tally: Tally | None = None,
    ) -> None:
        self._send, self._clock = send, clock
        self._tally = tally or Tally()
        self._lock = threading.Lock()
        self._open: dict[int, Step] = {}
        self._early: dict[int, tuple[float, Step]] = {}
        self._failed: dict[int, float] = {}
        self._swept = clock()

    def open(self, number: int, peers: Collection[str] = ()) -> Step:
        """Enters a step; ``peers`` are the tasks whose loss it cannot survive.

        Raises:
          tf.errors.CancelledError: the step was cancelled before it came here.
        """
        with self._lock:
            step = self._open.get(number)
            if step is None:
                if number in self._failed:
                    raise errors.CancelledError(None, None, "the step was cancelled already")
                early = self._early.pop(number, None)
                step = self._open[number] = early[1] if early else Step(number, self._send)
                step.began = self._clock()
            step.users += 1
            if peers:
                step.peers.update(peers)
            return step

    def close(self, step: Step) -> None:
        """Leaves a step; when nobody is in it, what still comes for it is dropped."""
        with self._lock:
            step.users -= 1
            if step.users:
                return
            now = self._clock()
            self._open.pop(step.number, None)
            # One that ended well has used all that was sent to it.
            if step.error is not None:
                self._failed[step.number] = now
            if self._early or self._failed:
                self._sweep_sometimes()
        self._tally.step_ended(now - step.began, well=step.error is None)

    def deliver(self, number: int, edge: str, value: Any) -> None:
        """A tensor has come from another task."""
        with self._lock:
            step = self._open.get(number)
            if step is None:
                if number in self._failed:
                    return
                if number not in self._early:
                    self._early[number] = (self._clock(), Step(number, self._send))
                    self._sweep_sometimes()
                step = self._early[number][1]
        step.deliver(edge, value)

    def fail(self, number: int, error: errors.OpError) -> None:
        """Cancels a step, also one that has not come yet."""
        with self._lock:
            step = self._open.get(number)
            if step is None:
                self._early.pop(number, None)
                self._failed[number] = self._clock()
                self._sweep_sometimes()
                return
        step.fail(error)

    def lost(self, task: str, error: errors.OpError) -> None:
        """Fails every step that needs a task."""
        with self._lock:
            steps = [step for step in self._open.values() if task in step.peers]
        for step in steps:
            step.fail(error)

    def settle(self, seconds: float) -> None:
        """Waits until every step has ended or waits for something, but not longer."""
        end = self._clock() + seconds
        while self._clock() < end:
            with self._lock:
                steps = list(self._open.values())
            if all(step.cancellation.has_waiters() for step in steps):
                return
            time.sleep(_SETTLE_PAUSE)

    def fail_all(self, error: errors.OpError) -> None:
        """Fails every step: the server stops."""
        with self._lock:
            steps = list(self._open.values())
        for step in steps:
            step.fail(error)

    def counts(self) -> dict[str, int]:
        """How many steps are open and early, for tests and status pages."""
        with self._lock:
            return {"open": len(self._open), "early": len(self._early), "failed": len(self._failed)}

    def waiting(self) -> int:
        """How many steps wait for something now."""
        with self._lock:
            steps = list(self._open.values())
        return sum(step.cancellation.has_waiters() for step in steps)

    def sweep(self) -> None:
        """Forgets what is older than ``KEPT_SECONDS``."""
        with self._lock:
            self._sweep()

    def _sweep_sometimes(self) -> None:
        if self._clock() > self._swept + _SWEEP_SECONDS:
            self._sweep()

    def _sweep(self) -> None:
        self._swept = self._clock()
        oldest = self._swept - KEPT_SECONDS
        self._early = {n: e for n, e in self._early.items() if e[0] > oldest}
        self._failed = {n: t for n, t in self._failed.items() if t > oldest}
