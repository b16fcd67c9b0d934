"""Hooks that end training, hold it back, or feed it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import errors
from penstock.training.monitored.global_step_read import required_global_step_read
from penstock.training.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

_log = logging.getLogger("penstock")


def check_one_end(num_steps: int | None, last_step: int | None) -> None:
    """Raises ValueError where both ways to say when training ends are given, or neither."""
    if num_steps is None and last_step is None:
        raise ValueError("One of num_steps or last_step must be specified")
    if num_steps is not None and last_step is not None:
        raise ValueError(
            "Only one of num_steps or last_step can be specified; found"
            f" num_steps={num_steps}, last_step={last_step}"
        )


class StopAtStepHook(SessionRunHook):
    """Asks to stop after a number of steps, or at a step.

    Args:
      num_steps: how many steps from the one that the first session begins with.
      last_step: the step after which to stop; exactly one of both is to be given.

    Raises:
      ValueError: both or none were given.

    Example:
      >>> import penstock as tf
      >>> step = tf.train.create_global_step()
      >>> train = step.assign_add(1)
      >>> hooks = [tf.train.StopAtStepHook(last_step=3)]
      >>> with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
      ...     while not session.should_stop():
      ...         last = session.run(train)
      >>> int(last)
      3
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        check_one_end(num_steps, last_step)
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self) -> None:
        """Makes the node that reads the global step."""
        self._global_step = required_global_step_read("StopAtStepHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Learns, from the first session, which step is the last."""
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = session.run(self._global_step) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Asks to stop when the last step is reached."""
        # What the step read may be from before its update, so look again before stopping.
        if run_values.results + 1 >= self._last_step:
            step = run_context.session.run(self._global_step)
            if step >= self._last_step:
                run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Ends training when the loss is NaN.

    Args:
      loss_tensor: the loss, a scalar.
      fail_on_nan_loss: whether to raise ``NanLossDuringTrainingError``; else it asks to stop.
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the loss."""
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Looks at it.

        Raises:
          NanLossDuringTrainingError: it is NaN.
        """
        if not np.isnan(run_values.results):
            return
        said = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            _log.error(said)
            raise NanLossDuringTrainingError
        _log.warning(said)
        run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Holds the first step back until the global step has come far enough.

    For workers that start one after another.  The wait ends early when the session's coordinator
    stops, and with an error when the global step stands still for two hours.

    Args:
      wait_until_step: the global step to wait for.
    """

    # Seconds between two looks, between two logs, and without progress until the wait is given up.
    _PAUSE = 0.5
    _LOG_EVERY = 60.0
    _MOST_WITHOUT_PROGRESS = 7200.0

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step
        self._coord: Any = None

    def begin(self) -> None:
        """Makes the node that reads the global step."""
        self._worker_is_started = False
        self._global_step = required_global_step_read("GlobalStepWaiterHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Notes who may end the wait."""
        self._coord = coord

    def before_run(self, run_context: SessionRunContext) -> None:
        """Waits.

        Raises:
          tf.errors.DeadlineExceededError: the global step stands still.
        """
        if not self._worker_is_started and self._wait_until_step > 0:
            self._wait(run_context.session)
        self._worker_is_started = True

    def _wait(self, session: Any) -> None:
        wanted, last = self._wait_until_step, None
        _log.info("Waiting for global step %d before starting training.", wanted)
        moved = logged = time.monotonic()
        while not (self._coord is not None and self._coord.should_stop()):
            step = session.run(self._global_step)
            if step >= wanted:
                return
            now = time.monotonic()
            if step != last:
                moved, last = now, step
            if now - moved >= self._MOST_WITHOUT_PROGRESS:
                raise errors.DeadlineExceededError(
                    None, None,
                    f"waiting for global step {wanted}: it has stood at {step} for"
                    f" {self._MOST_WITHOUT_PROGRESS:g} secs",
                )  # fmt: skip
            if now - logged >= self._LOG_EVERY:
                logged = now
                _log.info("Waiting for global step %d; the current step is %d.", wanted, step)
            time.sleep(self._PAUSE)


class FinalOpsHook(SessionRunHook):
    """Evaluates tensors at the end of a session.

    Args:
      final_ops: what to run, as for ``Session.run``.
      final_ops_feed_dict: what to feed.
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The values; None until the session has ended."""
        return self._final_ops_values

    def end(self, session: Any) -> None:
        """Runs them."""
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(
                self._final_ops, feed_dict=self._final_ops_feed_dict
            )
        except (errors.OutOfRangeError, StopIteration):
            _log.warning(
                "the ops of FinalOpsHook read from an input that has ended; they should read"
                " variables only, such as the value of a metric and not its update"
            )
            raise


class FeedFnHook(SessionRunHook):
    """Feeds what a function gives before each step.

    Args:
      feed_fn: ``f() -> feed_dict``.
    """

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Calls the function."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
