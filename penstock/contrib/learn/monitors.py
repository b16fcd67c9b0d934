"""``tf.contrib.learn.monitors``: what looks on while an estimator of TF 0.x trains.

Hooks (``tf.train``) have taken their place; those that have a hook are made of it.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from penstock.library.variables.global_step import get_global_step
from penstock.storage.checkpoint.management import latest_checkpoint
from penstock.training.monitored import basic_hooks
from penstock.training.monitored.basic_hooks import (
    NanLossDuringTrainingError as NanLossDuringTrainingError,
)
from penstock.training.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

_log = logging.getLogger("penstock")


class BaseMonitor:
    """What monitors share: they are told of an estimator, and of each step."""

    def __init__(self) -> None:
        self._estimator: Any = None

    def set_estimator(self, estimator: Any) -> None:
        """Tells which estimator trains.

        Args:
          estimator: it.
        """
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Called before training."""

    def end(self, session: Any = None) -> None:
        """Called after training."""

    def step_begin(self, step: int) -> list[Any]:
        """Names of tensors to be fetched in a step."""
        return []

    def step_end(self, step: int, output: dict[str, Any]) -> bool:
        """Called after a step with what was fetched; true ends training."""
        return False

    def post_step(self, step: int, session: Any) -> None:
        """Called after a step with the session."""


class EveryN(BaseMonitor):
    """A monitor that looks at each n-th step.

    Args:
      every_n_steps: n.
      first_n_steps: how many steps at the beginning are looked at as well.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every, self._first = every_n_steps, first_n_steps
        self._last = 0

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Names of tensors to be fetched in such a step."""
        return []

    def every_n_step_end(self, step: int, outputs: dict[str, Any]) -> bool:
        """Called after such a step; true ends training."""
        return False

    def every_n_post_step(self, step: int, session: Any) -> None:
        """Called after such a step with the session."""

    def _due(self, step: int) -> bool:
        return step <= self._first or step >= self._last + self._every

    def step_begin(self, step: int) -> list[Any]:
        """Asks ``every_n_step_begin`` where it is time."""
        return self.every_n_step_begin(step) if self._due(step) else []

    def step_end(self, step: int, output: dict[str, Any]) -> bool:
        """Asks ``every_n_step_end`` where it is time."""
        return self.every_n_step_end(step, output) if self._due(step) else False

    def post_step(self, step: int, session: Any) -> None:
        """Tells ``every_n_post_step`` where it is time."""
        if self._due(step):
            self._last = step
            self.every_n_post_step(step, session)


class ValidationMonitor(EveryN):
    """Evaluates as a model trains; may end training where that does no longer help.

    Args:
      x, y, input_fn, batch_size: what is evaluated, as of ``Estimator.evaluate``.
      eval_steps: how many batches.
      every_n_steps: after how many steps; a checkpoint that was evaluated is not again.
      metrics, hooks, name: as of ``Estimator.evaluate``.
      early_stopping_rounds: after how many steps without a better value training ends.
      early_stopping_metric: the value.
      early_stopping_metric_minimize: whether less is better.
      check_interval_secs: the least time between two looks for a checkpoint.

    Raises:
      ValueError: neither ``x`` nor ``input_fn`` is given.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Any = None,
        hooks: Any = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float = 5,
    ) -> None:
        super().__init__(every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._given = {
            "x": x, "y": y, "input_fn": input_fn, "batch_size": batch_size, "steps": eval_steps,
            "metrics": metrics, "hooks": hooks, "name": name,
        }  # fmt: skip
        self._rounds, self._metric = early_stopping_rounds, early_stopping_metric
        self._minimize = early_stopping_metric_minimize
        self._pause, self._looked = check_interval_secs, -math.inf
        self._evaluated: str | None = None
        self.best_step: int | None = None
        self.best_value: float | None = None
        self.best_metrics: dict[str, Any] | None = None
        self.early_stopped = False

    def every_n_step_end(self, step: int, outputs: dict[str, Any]) -> bool:
        """Evaluates the latest checkpoint if it is new.

        Raises:
          ValueError: there is no estimator.
        """
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        if time.monotonic() - self._looked < self._pause:
            return False
        self._looked = time.monotonic()
        path = latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._evaluated:
            return False
        self._evaluated = path
        # What was not given is left out: estimators of `tf.estimator` take fewer arguments.
        given = {name: value for name, value in self._given.items() if value is not None}
        found = self._estimator.evaluate(**given)
        _log.info("Validation (step %d): %s", step, found)
        if self._rounds is None:
            return False
        value = found[self._metric]
        better = self.best_value is None or (
            value < self.best_value if self._minimize else value > self.best_value
        )
        if better:
            self.best_step, self.best_value, self.best_metrics = step, value, found
        self.early_stopped = step - (self.best_step or 0) >= self._rounds
        return self.early_stopped


class _MonitorHook(SessionRunHook):
    """Tells a monitor of steps."""

    def __init__(self, monitor: BaseMonitor) -> None:
        self._monitor = monitor
        self._step: Any = None
        self._next = 0

    def begin(self) -> None:
        """Finds the step's variable."""
        self._step = get_global_step()
        self._monitor.begin()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches what the monitor wants of this step."""
        if not self._next:
            self._next = int(run_context.session.run(self._step)) + 1
        graph = run_context.session.graph
        wanted = {
            name: graph.as_graph_element(name) for name in self._monitor.step_begin(self._next)
        }
        return SessionRunArgs({"step": self._step, "wanted": wanted})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Tells it what was found."""
        step, self._next = self._next, self._next + 1
        stop = self._monitor.step_end(step, run_values.results["wanted"])
        self._monitor.post_step(step, run_context.session)
        if stop:
            run_context.request_stop()

    def end(self, session: Any) -> None:
        """Tells that training has ended."""
        self._monitor.end(session)


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[SessionRunHook]:
    """Hooks for monitors; hooks among them stay as they are.

    Args:
      monitors_or_hooks: monitors and hooks, one or several, or None.
      estimator: what trains.
    """
    given = monitors_or_hooks or []
    found: list[SessionRunHook] = []
    for each in given if isinstance(given, Iterable) else [given]:
        if isinstance(each, BaseMonitor):
            each.set_estimator(estimator)
            found.append(_MonitorHook(each))
        else:
            found.append(each)
    return found


# ---- those that have become hooks ----------------------------------------------------------------


def NanLoss(
    loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True
) -> SessionRunHook:
    """``tf.train.NanTensorHook`` by its older name.

    Args:
      loss_tensor: what is looked at, in each step.
      every_n_steps: accepted for TensorFlow's sake.
      fail_on_nan_loss: whether NaN is an error.
    """
    return basic_hooks.NanTensorHook(loss_tensor, fail_on_nan_loss)


def StopAtStep(num_steps: int | None = None, last_step: int | None = None) -> SessionRunHook:
    """``tf.train.StopAtStepHook`` by its older name.

    Args:
      num_steps: how many steps; or
      last_step: the last one.
    """
    return basic_hooks.StopAtStepHook(num_steps, last_step)
