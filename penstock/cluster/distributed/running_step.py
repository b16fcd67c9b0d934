"""One step while it runs: ``StepState`` decides, this carries out.

Answers of tasks come in threads of their own; the caller's thread runs the part of its own task and
then waits.  State: the decisions, the values that have come, and what the caller waits on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from penstock.cluster.distributed.step_state import Cancel, Fail, Finish, Instruction, StepState
from penstock.engine.resources import blocking, waiting
from penstock.foundation.base import errors

# Seconds that cancelled tasks are given to answer, and no more than the step itself was, so that
# one whose time is short does not wait long for a task that is down.
GRACE_SECONDS = 5.0
_LEAST_GRACE_SECONDS = 0.5


class RunningStep:
    """A step that several tasks run.

    Args:
      tasks: those that take part.
      cancel: ``(task, error)`` tells a task to stop; it must not block.
    """

    def __init__(self, tasks: Sequence[str], cancel: Callable[[str, errors.OpError], None]) -> None:
        self.values: dict[str, Sequence[Any]] = {}
        self.metadata: dict[str, Any] = {}
        self._state = StepState(tasks)
        self._cancel = cancel
        self._lock = threading.Lock()
        # A step without any part has ended already.
        self._outcome: Finish | Fail | None = None if tasks else Finish()
        self._waiter = blocking.Waiter()
        given = waiting.seconds_left()
        self._grace = (
            GRACE_SECONDS if given is None
            else min(GRACE_SECONDS, max(_LEAST_GRACE_SECONDS, given))
        )  # fmt: skip

    def done(self, task: str, values: Sequence[Any], metadata: Any = None) -> None:
        """A task's part has ended well."""
        self.values[task] = values
        if metadata is not None:
            self.metadata[task] = metadata
        with self._lock:
            instructions = self._state.done(task)
        self._carry_out(instructions)

    def failed(self, task: str, error: errors.OpError) -> None:
        """A task's part failed."""
        with self._lock:
            instructions = self._state.failed(task, error)
        self._carry_out(instructions)

    def wait(self) -> None:
        """Returns when the step has ended.

        Raises:
          tf.errors.OpError: why it failed.
        """
        if self._outcome is None:
            try:
                blocking.wait(self._waiter, lambda: self._outcome is None, self._waiting_for)
            except errors.OpError as error:
                self._give_up(error)
            except BaseException as error:  # KeyboardInterrupt: no task must go on with it
                self._give_up(errors.CancelledError(None, None, f"interrupted: {error!r}"))
                raise
        if isinstance(self._outcome, Fail):
            raise self._outcome.error

    def _give_up(self, error: errors.OpError) -> None:
        with self._lock:
            instructions = self._state.cancel(error)
        self._carry_out(instructions)
        self._waiter.block(self._grace)
        with self._lock:
            instructions = self._state.give_up()
        self._carry_out(instructions)

    def _waiting_for(self) -> str:
        return f"{', '.join(self._state.waiting)} to run what the step has there"

    def _carry_out(self, instructions: Sequence[Instruction]) -> None:
        for each in instructions:
            if isinstance(each, Cancel):
                self._cancel(each.task, each.error)
            else:
                self._outcome = each
                self._waiter.wake()
