"""What happens to one step that runs on several tasks: decisions without I/O.

Events go in (a task has finished, failed or given no answer; the caller cancels), instructions come
out.  A step ends when every task has answered, so that no part of it still runs when the caller
goes on; a task that was cancelled and does not answer in time is not waited for.

State: the tasks that have not answered, the error that the step will end with, and whether it has
ended::

    running --done(all)--> ended: Finish
       | failed, cancel
       v
    failing --all answered, or give_up()--> ended: Fail(error)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.foundation.base import errors


@dataclass(frozen=True)
class Cancel:
    """Tell a task to stop its part."""

    task: str
    error: errors.OpError


@dataclass(frozen=True)
class Finish:
    """The step has ended well."""


@dataclass(frozen=True)
class Fail:
    """The step has ended with an error."""

    error: errors.OpError


Instruction = Cancel | Finish | Fail

# Errors of a lost task explain all others; a CancelledError explains nothing.
_FIRST = (errors.AbortedError, errors.UnavailableError)


class StepState:
    """One step.

    Args:
      tasks: those that run a part of it.

    >>> step = StepState(["/job:ps/task:0", "/job:worker/task:0"])
    >>> step.done("/job:ps/task:0"), step.done("/job:worker/task:0")
    ([], [Finish()])
    """

    def __init__(self, tasks: Iterable[str]) -> None:
        self._waiting = dict.fromkeys(tasks)
        self._error: errors.OpError | None = None
        self._ended = False

    @property
    def waiting(self) -> list[str]:
        """The tasks that have not answered."""
        return list(self._waiting)

    def done(self, task: str) -> list[Instruction]:
        """A task has run its part."""
        self._waiting.pop(task, None)
        return self._end()

    def failed(self, task: str, error: errors.OpError) -> list[Instruction]:
        """A task's part failed, or the task was lost."""
        self._waiting.pop(task, None)
        return [*self._fail(error), *self._end()]

    def cancel(self, error: errors.OpError) -> list[Instruction]:
        """The caller wants the step to end: its session closes, or its time is up."""
        return [*self._fail(error), *self._end()]

    def give_up(self) -> list[Instruction]:
        """Tasks that were cancelled have had their time to answer."""
        if self._error is None:
            return []
        self._waiting.clear()
        return self._end()

    def _fail(self, error: errors.OpError) -> list[Instruction]:
        if self._ended:
            return []
        first = self._error is None
        if first or _explains(error, self._error):
            self._error = error
        return [Cancel(task, error) for task in self._waiting] if first else []

    def _end(self) -> list[Instruction]:
        if self._waiting or self._ended:
            return []
        self._ended = True
        return [Finish() if self._error is None else Fail(self._error)]


def _explains(error: errors.OpError, other: errors.OpError | None) -> bool:
    return _rank(error) > _rank(other)


def _rank(error: errors.OpError | None) -> int:
    if error is None or isinstance(error, errors.CancelledError):
        return 0
    return 2 if isinstance(error, _FIRST) else 1
