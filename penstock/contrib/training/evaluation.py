"""Evaluating checkpoints: one, or each as it appears."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import control_dependencies
from penstock.library.ragged_tensors.dispatched import identity
from penstock.library.variables.getting import get_variable
from penstock.library.variables.global_step import get_or_create_global_step, global_step
from penstock.library.variables.initializers import zeros_initializer
from penstock.ops.state.state_update import assign_add
from penstock.storage.checkpoint.management import latest_checkpoint
from penstock.storage.summary.build import merge_all
from penstock.storage.summary.writer import FileWriterCache
from penstock.training.monitored.basic_hooks import FinalOpsHook
from penstock.training.monitored.creators import ChiefSessionCreator
from penstock.training.monitored.hook import SessionRunArgs, SessionRunHook
from penstock.training.monitored.monitored_session import MonitoredSession

_LOG = logging.getLogger("penstock")


def get_or_create_eval_step() -> Any:
    """The variable that counts evaluation steps: local, int64, called ``eval_step``.

    Raises:
      ValueError: several variables are registered as such.
    """
    found = scopes.get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError(
            f"Multiple tensors added to tf.GraphKeys.EVAL_STEP: {[v.name for v in found]}"
        )
    if found:
        return found[0]
    return get_variable(
        "eval_step",
        shape=[],
        dtype=dtypes.int64,
        initializer=zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


# ---- hooks -------------------------------------------------------------------------------------


class StopAfterNEvalsHook(SessionRunHook):
    """Stops an evaluation after a number of steps.

    Args:
      num_evals: the number; None for no end.
      log_progress: whether steps are logged.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals, self._log_progress = num_evals, log_progress
        self._evals_completed: Any = None
        self._log_frequency = 1 if num_evals is None or num_evals < 20 else num_evals // 10

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: Any) -> Any:
        """Asks for the number of steps."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stops once there were enough."""
        done = run_values.results["evals_completed"]
        last = self._num_evals is not None and done >= self._num_evals
        if self._log_progress and (last or done % self._log_frequency == 0):
            of = "" if self._num_evals is None else f"/{self._num_evals}"
            _LOG.info("Evaluation [%s%s]", done, of)
        if last:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes summaries when a session ends.

    Args:
      log_dir: directory of the event file.
      summary_writer: a writer, in place of ``log_dir``.
      summary_op: the summary; default all of the graph.
      feed_dict: what it needs to be fed.

    Raises:
      ValueError: neither directory nor writer.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._log_dir, self._summary_writer = log_dir or "", summary_writer
        self._summary_op, self._feed_dict = summary_op, feed_dict
        self._merge_all = summary_op is None
        self._global_step: Any = None

    def begin(self) -> None:
        """Finds the summaries and the global step."""
        if self._merge_all:
            self._summary_op = merge_all()
        self._global_step = get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens the writer."""
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        """Writes the summaries."""
        if self._summary_op is not None:
            step = global_step(session, self._global_step)
            summary = session.run(self._summary_op, self._feed_dict)
            self._summary_writer.add_summary(summary, step)
        self._summary_writer.flush()


# ---- waiting for checkpoints ---------------------------------------------------------------------


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Waits until a directory has another checkpoint.

    Args:
      checkpoint_dir: the directory.
      last_checkpoint: the one that is not awaited.
      seconds_to_sleep: time between looks.
      timeout: seconds to wait at most; None for no end.

    Returns:
      The checkpoint, or None after ``timeout``.
    """
    end = None if timeout is None else time.time() + timeout
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            return found
        if end is not None and time.time() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """The checkpoints of a directory as they appear; see ``tf.train.checkpoints_iterator``.

    Args:
      checkpoint_dir: the directory.
      min_interval_secs: least time between two of them.
      timeout: seconds to wait for one at most; None for no end.
      timeout_fn: asked after ``timeout`` whether to end.
    """
    last = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, last, timeout=timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        start = time.time()
        last = found
        yield found
        time.sleep(max(0.0, start + min_interval_secs - time.time()))


# ---- evaluating ----------------------------------------------------------------------------------


def _counted(eval_ops: Any, hooks: Sequence[Any]) -> Any:
    """The ops with the count of steps, which the hooks are told."""
    if eval_ops is None:
        return None
    count = assign_add(get_or_create_eval_step(), 1, use_locking=True)
    if isinstance(eval_ops, dict):
        eval_ops = {**eval_ops, "update_eval_step": count}
        waited = list(eval_ops.values())
    else:
        several = isinstance(eval_ops, list | tuple)
        eval_ops = waited = [*eval_ops, count] if several else [eval_ops, count]
    with control_dependencies(waited):
        value = identity(get_or_create_eval_step().read_value())
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._set_evals_completed_tensor(value)
    return eval_ops


def _evaluate(
    checkpoint_path: str | None,
    eval_ops: Any,
    feed_dict: Any,
    hooks: Sequence[Any],
    **creator: Any,
) -> None:
    session_creator = ChiefSessionCreator(checkpoint_filename_with_path=checkpoint_path, **creator)
    _LOG.info("Starting evaluation of %s", checkpoint_path)
    with MonitoredSession(session_creator=session_creator, hooks=hooks) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    _LOG.info("Finished evaluation of %s", checkpoint_path)


def evaluate_once(
    checkpoint_path: str | None,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Sequence[Any] | None = None,
    config: Any = None,
) -> Any:
    """Evaluates one checkpoint.

    Args:
      checkpoint_path: what ``Saver.save`` returned.
      master: where to run.
      scaffold: a ``tf.train.Scaffold``.
      eval_ops: what each step runs: an op, a list or a dictionary; None for no steps.
      feed_dict: what they are fed.
      final_ops: what is run at the end.
      final_ops_feed_dict: what that is fed.
      hooks: hooks; ``StopAfterNEvalsHook`` ends the steps.
      config: a ``tf.ConfigProto``.

    Returns:
      The values of ``final_ops``.
    """
    get_or_create_eval_step()
    all_hooks = list(hooks or [])
    counted = _counted(eval_ops, all_hooks)
    last = FinalOpsHook(final_ops, final_ops_feed_dict)
    _evaluate(
        checkpoint_path, counted, feed_dict, [*all_hooks, last],
        scaffold=scaffold, master=master, config=config,
    )  # fmt: skip
    return last.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Sequence[Any] | None = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluates each checkpoint of a directory as it appears; other arguments as ``evaluate_once``.

    Args:
      checkpoint_dir: the directory.
      eval_interval_secs: least time between two evaluations.
      max_number_of_evaluations: how many there are at most.
      timeout, timeout_fn: those of ``checkpoints_iterator``.

    Returns:
      The values of ``final_ops`` in the last evaluation.
    """
    get_or_create_eval_step()
    all_hooks = list(hooks or [])
    counted = _counted(eval_ops, all_hooks)
    last = FinalOpsHook(final_ops, final_ops_feed_dict)
    done = 0
    for path in checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        _evaluate(
            path, counted, feed_dict, [*all_hooks, last],
            scaffold=scaffold, master=master, config=config,
        )  # fmt: skip
        done += 1
        if max_number_of_evaluations is not None and done >= max_number_of_evaluations:
            break
    return last.final_ops_values
