"""Training of which one ``Session.run`` makes several steps, as many as a variable says."""

from __future__ import annotations

import logging
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import ones_initializer
from penstock.library.variables.scoping import variable_scope
from penstock.training.monitored.basic_hooks import check_one_end
from penstock.training.monitored.global_step_read import required_global_step_read
from penstock.training.monitored.hook import SessionRunArgs, SessionRunHook

_log = logging.getLogger("penstock")
_KEY = "hooks_steps_per_run"


def get_or_create_steps_per_run_variable() -> Any:
    """The local variable that says how many steps the next run makes; an int32, 1 at first.

    Raises:
      RuntimeError: the graph has several.
    """
    graph = scopes.get_default_graph()
    found = graph.get_collection(_KEY)
    if len(found) > 1:
        raise RuntimeError(f"the collection {_KEY!r} should hold one variable; it holds {found}")
    if found:
        return found[0]
    with graph.as_default(), scopes.name_scope(None), variable_scope("hooks"):
        return get_variable(
            "steps_per_run", shape=[], dtype=dtypes.int32, initializer=ones_initializer(),
            trainable=False, collections=[_KEY, GraphKeys.LOCAL_VARIABLES], use_resource=True,
        )  # fmt: skip


class MultiStepStopAtStepHook(SessionRunHook):
    """Asks to stop after a number of steps, or at a step; the last run makes no more than is left.

    Args:
      num_steps: how many steps from the one that the session begins with.
      last_step: the step after which to stop; exactly one of both is to be given.
      steps_per_run: how many steps a run makes.

    Raises:
      ValueError: both or none were given, or ``steps_per_run`` is below 1.
    """

    def __init__(
        self, num_steps: int | None = None, last_step: int | None = None, steps_per_run: int = 1
    ) -> None:
        check_one_end(num_steps, last_step)
        if steps_per_run is None or steps_per_run < 1:
            raise ValueError(f"steps_per_run should be greater than 0; found {steps_per_run}")
        self._num_steps, self._last_step, self._most = num_steps, last_step, steps_per_run

    def begin(self) -> None:
        """Makes the nodes that say where training is and how far a run goes."""
        self._global_step = required_global_step_read("StopAtStepHook")
        self._steps_per_run = get_or_create_steps_per_run_variable()

    def _set_next(self, session: Any, step: int) -> None:
        assert self._last_step is not None
        self._steps_per_run.load(min(self._last_step - step, self._most), session=session)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Learns which step is the last, and sets how far the first run goes."""
        step = session.run(self._global_step)
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = step + self._num_steps
        self._set_next(session, step)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks for the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Asks to stop at the last step, or sets how far the next run goes."""
        session = run_context.session
        # What the step read may be from before its update.
        step = session.run(self._global_step)
        assert self._last_step is not None
        if step >= self._last_step:
            run_context.request_stop()
        else:
            self._set_next(session, step)


class MultiStepStopAfterNEvalsHook(SessionRunHook):
    """Stops an evaluation after a number of steps; the last run makes no more than is left.

    Args:
      num_evals: the number; None for no end.
      steps_per_run: how many steps a run makes.

    Raises:
      ValueError: ``steps_per_run`` is below 1.
    """

    def __init__(self, num_evals: int | None, steps_per_run: int = 1) -> None:
        if num_evals is not None and num_evals < 1:
            raise ValueError(f"num_evals should be greater than 0; found {num_evals}")
        if steps_per_run is None or steps_per_run < 1:
            raise ValueError(f"steps_per_run should be greater than 0; found {steps_per_run}")
        self._num_evals, self._most = num_evals, steps_per_run
        self._evals_completed: Any = None

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def begin(self) -> None:
        """Makes the variable that says how far a run goes."""
        self._steps_per_run = get_or_create_steps_per_run_variable()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Sets how far the first run goes."""
        first = self._most if self._num_evals is None else min(self._most, self._num_evals)
        self._steps_per_run.load(first, session=session)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks for the number of steps."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stops once there were enough, or sets how far the next run goes."""
        done = run_values.results["evals_completed"]
        _log.info("Evaluation [%s%s]", done, f"/{self._num_evals}" if self._num_evals else "")
        if self._num_evals is None:
            self._steps_per_run.load(self._most, session=run_context.session)
        elif done >= self._num_evals:
            run_context.request_stop()
        else:
            left = min(self._num_evals - done, self._most)
            self._steps_per_run.load(left, session=run_context.session)
