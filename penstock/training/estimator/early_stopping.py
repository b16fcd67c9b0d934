"""Hooks that end training early, by what evaluations have found or checkpoints hold.

The chief decides and tells the other workers by a variable.
"""

from __future__ import annotations

import logging
import operator
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.formats import files
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.library.variables.global_step import get_global_step
from penstock.library.variables.scoping import variable_scope
from penstock.library.variables.store import AUTO_REUSE
from penstock.ops.state.state import assign
from penstock.storage.summary.iterator import summary_iterator
from penstock.training.estimator.estimator import Estimator, global_step_in
from penstock.training.monitored.basic_hooks import StopAtStepHook
from penstock.training.monitored.global_step_read import required_global_step_read
from penstock.training.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from penstock.training.monitored.timers import SecondOrStepTimer

_log = logging.getLogger("penstock")


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that ends training when a function says so.

    Args:
      estimator: the estimator that is trained.
      should_stop_fn: says whether to stop; the chief asks it.
      run_every_secs, run_every_steps: how often; one of both.

    Raises:
      TypeError: there is no estimator, or no function.
      ValueError: both times are given.

    Example:
      >>> import penstock as tf
      >>> estimator = tf.estimator.BaselineRegressor()
      >>> hook = tf.estimator.experimental.make_early_stopping_hook(
      ...     estimator, lambda: True, run_every_secs=None, run_every_steps=1)
      >>> data = lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [3.0])).repeat()
      >>> int(estimator.train(data, hooks=[hook]).get_variable_value("global_step"))
      1
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopHook(should_stop_fn, run_every_secs, run_every_steps)
    return _ToldHook()


def stop_if_higher_hook(
    estimator: Estimator, metric_name: str, threshold: float, eval_dir: Any = None,
    min_steps: int = 0, run_every_secs: float | None = 60, run_every_steps: int | None = None,
) -> SessionRunHook:  # fmt: skip
    """A hook that ends training when a metric is at or above a threshold.

    Args:
      estimator, run_every_secs, run_every_steps: as of ``make_early_stopping_hook``.
      metric_name: the metric, as evaluations call it.
      threshold: the threshold.
      eval_dir: where the evaluations' event files are; default ``estimator.eval_dir()``.
      min_steps: evaluations before this global step do not count.
    """
    return _threshold_hook(
        operator.ge, estimator, metric_name, threshold, eval_dir, min_steps, run_every_secs,
        run_every_steps,
    )  # fmt: skip


def stop_if_lower_hook(
    estimator: Estimator, metric_name: str, threshold: float, eval_dir: Any = None,
    min_steps: int = 0, run_every_secs: float | None = 60, run_every_steps: int | None = None,
) -> SessionRunHook:  # fmt: skip
    """A hook that ends training when a metric is at or below a threshold.

    Args:
      estimator, metric_name, threshold, eval_dir, min_steps, run_every_secs, run_every_steps: as of
        ``stop_if_higher_hook``.
    """
    return _threshold_hook(
        operator.le, estimator, metric_name, threshold, eval_dir, min_steps, run_every_secs,
        run_every_steps,
    )  # fmt: skip


def stop_if_no_increase_hook(
    estimator: Estimator, metric_name: str, max_steps_without_increase: int, eval_dir: Any = None,
    min_steps: int = 0, run_every_secs: float | None = 60, run_every_steps: int | None = None,
) -> SessionRunHook:  # fmt: skip
    """A hook that ends training when a metric has not grown for a number of steps.

    Args:
      estimator, metric_name, eval_dir, min_steps, run_every_secs, run_every_steps: as of
        ``stop_if_higher_hook``.
      max_steps_without_increase: that number.
    """
    return _no_improvement_hook(
        operator.gt, estimator, metric_name, max_steps_without_increase, eval_dir, min_steps,
        run_every_secs, run_every_steps,
    )  # fmt: skip


def stop_if_no_decrease_hook(
    estimator: Estimator, metric_name: str, max_steps_without_decrease: int, eval_dir: Any = None,
    min_steps: int = 0, run_every_secs: float | None = 60, run_every_steps: int | None = None,
) -> SessionRunHook:  # fmt: skip
    """A hook that ends training when a metric has not shrunk for a number of steps.

    Args:
      estimator, metric_name, eval_dir, min_steps, run_every_secs, run_every_steps: as of
        ``stop_if_higher_hook``.
      max_steps_without_decrease: that number.
    """
    return _no_improvement_hook(
        operator.lt, estimator, metric_name, max_steps_without_decrease, eval_dir, min_steps,
        run_every_secs, run_every_steps,
    )  # fmt: skip


def _threshold_hook(
    crosses: Callable[[Any, Any], bool], estimator: Estimator, metric: str, threshold: float,
    eval_dir: Any, min_steps: int, secs: float | None, steps: int | None,
) -> SessionRunHook:  # fmt: skip
    def crossed() -> bool:
        for step, value in _values(eval_dir or estimator.eval_dir(), metric, min_steps):
            if crosses(value, threshold):
                _log.info("At step %d, metric %r is %s: stop at %s", step, metric, value, threshold)
                return True
        return False

    return make_early_stopping_hook(estimator, crossed, secs, steps)


def _no_improvement_hook(
    better: Callable[[Any, Any], bool], estimator: Estimator, metric: str, patience: int,
    eval_dir: Any, min_steps: int, secs: float | None, steps: int | None,
) -> SessionRunHook:  # fmt: skip
    def stands_still() -> bool:
        best: tuple[int, Any] | None = None
        for step, value in _values(eval_dir or estimator.eval_dir(), metric, min_steps):
            if best is None or better(value, best[1]):
                best = step, value
            elif step - best[0] >= patience:
                _log.info("%r has been best at step %d (%s): stop at step %d", metric, *best, step)
                return True
        return False

    return make_early_stopping_hook(estimator, stands_still, secs, steps)


def _values(eval_dir: str, metric: str, min_steps: int) -> Iterator[tuple[int, float]]:
    """Global steps and values of a metric in the event files of a directory, in order."""
    found: dict[int, float] = {}
    for path in sorted(files.glob(os.path.join(eval_dir, "*.tfevents.*"))):
        for event in summary_iterator(path):
            for value in event.summary.value:
                if value.tag == metric and value.HasField("simple_value"):
                    found[event.step] = value.simple_value
    return ((step, found[step]) for step in sorted(found) if step >= min_steps)


def _stop_variable() -> Any:
    with variable_scope("signal_early_stopping", values=[], reuse=AUTO_REUSE):
        return get_variable(
            "STOP", shape=[], dtype=dtypes.bool, trainable=False,
            initializer=initializers.constant_initializer(False),
            collections=[GraphKeys.GLOBAL_VARIABLES],
        )  # fmt: skip


class _StopHook(SessionRunHook):
    """The chief's: asks a function now and then, and tells the others."""

    def __init__(
        self, should_stop: Callable[[], bool], secs: float | None, steps: int | None
    ) -> None:
        if not callable(should_stop):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop = should_stop
        self._timer = SecondOrStepTimer(every_secs=secs, every_steps=steps)

    def begin(self) -> None:
        self._global_step = get_global_step()
        self._stop = assign(_stop_variable(), True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop():
            _log.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop)
            run_context.request_stop()


class _ToldHook(SessionRunHook):
    """Other workers': stops when the chief has said so."""

    def begin(self) -> None:
        self._stop = _stop_variable()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._stop)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results:
            _log.info("Early stopping requested, suspending run.")
            run_context.request_stop()


# ---- by checkpoints ------------------------------------------------------------------------------


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """A hook that ends training at a step; workers wait until a checkpoint holds it.

    Args:
      estimator: the estimator that is trained.
      last_step: the step.
      wait_after_file_check_secs: how long a worker waits between two looks at the checkpoint.

    Raises:
      ValueError: there is no step.

    Example:
      >>> import penstock as tf
      >>> estimator = tf.estimator.BaselineRegressor()
      >>> make = tf.estimator.experimental.make_stop_at_checkpoint_step_hook
      >>> type(make(estimator, 10)).__name__
      'StopAtStepHook'
    """
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointHook(estimator.model_dir, last_step, wait_after_file_check_secs)


class _StopAtCheckpointHook(SessionRunHook):
    def __init__(self, model_dir: str, last_step: int, wait: float) -> None:
        if last_step is None:
            raise ValueError("last_step must be specified.")
        self._model_dir, self._last_step, self._wait = model_dir, last_step, wait

    def begin(self) -> None:
        self._global_step = required_global_step_read("StopAtCheckpointStepHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results + 1 < self._last_step:
            return
        if global_step_in(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait)
