"""Where the parts of a step meet: what ``_Send`` hands over and ``_Recv`` waits for.

A step that runs on several tasks is one program a task.  Each cut edge has a name that is the same
on both sides, and values of one edge are taken in the order in which they were sent: both sides of
a loop run the same number of rounds, so the n-th receive meets the n-th send.

``Rendezvous`` is what a running step is given; a server's pushes values over links to the task that
receives them.  ``Mailbox`` is the receiving side of any of them, and ``LocalRendezvous`` serves
parts that run in threads of one process.

State: per thread, the rendezvous of the step that it runs; per mailbox, for each edge the values
that nobody has taken and the receives that wait, and the error that ended the step, if one did.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Protocol

import numpy as np
import torch

from penstock.engine.resources import blocking
from penstock.foundation.base import errors


class Rendezvous(Protocol):
    """What ``_Send`` and ``_Recv`` of a running step call."""

    def send(self, edge: str, task: str, value: Any) -> None:
        """Hands ``value`` to ``task``; when it returns, the value's memory may be overwritten.

        Args:
          edge: the edge's name.
          task: full name of the task that receives it.
          value: a torch tensor, a NumPy array of objects (strings), or None: the absent value of
            a branch that was not taken.
        """
        ...

    def recv(self, edge: str, task: str) -> Any:
        """The next value of an edge that ``task`` sends; waits for it.

        Returns:
          A value in memory of its own: the receiver may write to it.

        Raises:
          tf.errors.DeadlineExceededError, tf.errors.CancelledError: as ``blocking.wait`` does.
          tf.errors.OpError: what ended the step.
        """
        ...


class _Running(threading.local):
    rendezvous: Rendezvous | None = None


_running = _Running()


def current() -> Rendezvous:
    """The rendezvous of the step that this thread runs.

    Raises:
      tf.errors.FailedPreconditionError: it runs none, or one that has a single part.
    """
    found = _running.rendezvous
    if found is None:
        raise errors.FailedPreconditionError(
            None, None, "_Send and _Recv run in steps over several tasks; this step has one part"
        )
    return found


class running:
    """The step that this thread runs meets its other parts at ``rendezvous``; contexts nest.

    No generator, since each step has one.
    """

    __slots__ = ("_rendezvous", "_saved")

    def __init__(self, rendezvous: Rendezvous) -> None:
        self._rendezvous = rendezvous

    def __enter__(self) -> None:
        self._saved = _running.rendezvous
        _running.rendezvous = self._rendezvous

    def __exit__(self, *exc: object) -> None:
        _running.rendezvous = self._saved


def own_copy(value: Any) -> Any:
    """The value in memory of its own, dense and in C order."""
    if isinstance(value, torch.Tensor):
        if value.is_conj() or value.is_neg():
            value = value.resolve_conj().resolve_neg()
        return value.clone(memory_format=torch.contiguous_format)
    return None if value is None else np.array(value, dtype=object)


class _Edge:
    """One edge's values and waiting receives; at most one of the two is not empty."""

    __slots__ = ("takers", "values")

    def __init__(self) -> None:
        self.values: deque[Any] = deque()
        self.takers: deque[_Taker] = deque()


class _Taker:
    __slots__ = ("filled", "value", "waiter")

    def __init__(self) -> None:
        self.waiter = blocking.Waiter()
        self.filled = False
        self.value: Any = None


class Mailbox:
    """The values that have come for one step."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._edges: dict[str, _Edge] = {}
        self._error: errors.OpError | None = None

    def put(self, edge: str, value: Any) -> None:
        """Adds a value, which belongs to the mailbox from now on; never waits."""
        with self._lock:
            if self._error is not None:
                return
            found = self._edges.get(edge)
            if found is None:
                found = self._edges[edge] = _Edge()
            if not found.takers:
                found.values.append(value)
                return
            taker = found.takers.popleft()
            taker.value, taker.filled = value, True
        taker.waiter.wake()

    def take(self, edge: str, task: str) -> Any:
        """Takes the oldest value of an edge, waiting for one; ``task`` is its sender."""
        with self._lock:
            if self._error is not None:
                raise _again(self._error)
            found = self._edges.get(edge)
            if found is None:
                found = self._edges[edge] = _Edge()
            if found.values:
                return found.values.popleft()
            taker = _Taker()
            found.takers.append(taker)

        def give_up() -> bool:
            with self._lock:
                if not taker.filled and taker in found.takers:
                    found.takers.remove(taker)
                return not taker.filled

        blocking.wait(taker.waiter, give_up, lambda: f"{edge!r} from {task}")
        if not taker.filled:
            raise _again(self._error)
        return taker.value

    def abort(self, error: errors.OpError) -> None:
        """Ends the step: what waits and what comes to wait raises ``error``; values are dropped."""
        with self._lock:
            if self._error is not None:
                return
            self._error = error
            takers = [t for edge in self._edges.values() for t in edge.takers]
            self._edges.clear()
        for taker in takers:
            taker.waiter.wake()

    def left(self) -> int:
        """How many values nobody has taken."""
        with self._lock:
            return sum(len(edge.values) for edge in self._edges.values())


def _again(error: errors.OpError | None) -> errors.OpError:
    """A fresh error like ``error``: one object raised in several threads mixes their tracebacks."""
    if error is None:
        return errors.InternalError(None, None, "a receive was woken without a value")
    kind: Any = type(error)
    if kind is errors.OpError:
        return errors.OpError(error.node_def, error.op, error.message, error.error_code)
    made: errors.OpError = kind(error.node_def, error.op, error.message)
    return made


class LocalRendezvous:
    """The rendezvous of parts that all run in threads of this process."""

    def __init__(self) -> None:
        self.mailbox = Mailbox()

    def send(self, edge: str, task: str, value: Any) -> None:
        self.mailbox.put(edge, own_copy(value))

    def recv(self, edge: str, task: str) -> Any:
        return self.mailbox.take(edge, task)

    def abort(self, error: errors.OpError) -> None:
        """Ends the step for all its parts."""
        self.mailbox.abort(error)
