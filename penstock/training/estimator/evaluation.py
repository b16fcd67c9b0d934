"""One evaluation of a checkpoint: metrics over batches, and what is written of them."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from google.protobuf import message
from tensorboard.compat.proto import summary_pb2

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables import getting, initializers, metrics
from penstock.ops.array import messages
from penstock.ops.control import control
from penstock.ops.state.state_update import assign_add
from penstock.storage.summary.writer import FileWriterCache
from penstock.training.estimator.estimator_spec import LOSS_METRIC_KEY
from penstock.training.monitored.basic_hooks import FinalOpsHook
from penstock.training.monitored.creators import ChiefSessionCreator
from penstock.training.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from penstock.training.monitored.monitored_session import MonitoredSession

_log = logging.getLogger("penstock")


class StopAfterNEvalsHook(SessionRunHook):
    """Ends an evaluation after a number of batches.

    Args:
      num_evals: how many; None leaves the end to the input.
      log_progress: whether each tenth of them is logged.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals = num_evals
        self._log_progress = log_progress
        few = num_evals is None or num_evals < 20
        self._every = 1 if few else math.floor(int(num_evals or 0) / 10)
        self.evals_completed: Any = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the number of batches done."""
        return SessionRunArgs({"evals_completed": self.evals_completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Looks at it."""
        done, wanted = int(run_values.results["evals_completed"]), self._num_evals
        if self._log_progress and (done % self._every == 0 or done == wanted):
            _log.info("Evaluation [%d%s]", done, "" if wanted is None else f"/{wanted}")
        if wanted is not None and done >= wanted:
            run_context.request_stop()


def eval_step() -> Any:
    """The local variable that counts the batches of an evaluation, made when there is none.

    Raises:
      ValueError: the graph has several.
    """
    found = collecting.get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError(f"Multiple tensors added to tf.GraphKeys.EVAL_STEP: {found}")
    if found:
        return found[0]
    return getting.get_variable(
        "eval_step", shape=[], dtype=dtypes.int64, initializer=initializers.zeros_initializer(),
        trainable=False, collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )  # fmt: skip


def with_loss(eval_metric_ops: dict[str, Any], loss: Any) -> dict[str, Any]:
    """Adds the mean of the loss to a model's metrics.

    Raises:
      ValueError: the model calls a metric "loss".
    """
    if LOSS_METRIC_KEY in eval_metric_ops:
        raise ValueError(
            f'Metric with name "{LOSS_METRIC_KEY}" is not allowed, because Estimator already'
            " defines a default metric with the same name."
        )
    eval_metric_ops[LOSS_METRIC_KEY] = metrics.mean(loss)
    return eval_metric_ops


def updates_and_values(eval_metric_ops: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """All updates as one op (None where there is no metric), and the values by name."""
    ordered = sorted(eval_metric_ops.items())
    updates = [update for _, (_, update) in ordered]
    values = {name: value for name, (value, _) in ordered}
    return (control.group(*updates) if updates else None), values


def evaluate_once(
    checkpoint_path: Any,
    master: str,
    scaffold: Any,
    eval_op: Any,
    final_ops: dict[str, Any],
    hooks: Iterable[SessionRunHook],
    config: Any,
) -> dict[str, Any]:
    """Runs an op until the input or a hook ends it, and then fetches the results.

    Args:
      checkpoint_path: the checkpoint to restore; None initializes the model.
      master: target of the session.
      scaffold: supplies ops.
      eval_op: updates the metrics by one batch; None if there are none.
      final_ops: the results.
      hooks: the hooks.
      config: a ``ConfigProto``.

    Returns:
      The values of ``final_ops``.
    """
    hooks = list(hooks)
    ops = counted(eval_op, hooks)
    return run_counted(ops, checkpoint_path, master, scaffold, final_ops, hooks, config)


def counted(eval_op: Any, hooks: Iterable[SessionRunHook]) -> list[Any] | None:
    """An update of the metrics with the count of its batch, which hooks are told; None of None."""
    step = eval_step()
    if eval_op is None:
        return None
    ops = [eval_op, assign_add(step, 1, use_locking=True)]
    with scopes.control_dependencies(ops):
        completed = control.identity(step.read_value())
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook.evals_completed = completed
    return ops


def run_counted(
    ops: list[Any] | None,
    checkpoint_path: Any,
    master: str,
    scaffold: Any,
    final_ops: dict[str, Any],
    hooks: list[SessionRunHook],
    config: Any,
) -> dict[str, Any]:
    """Runs what ``counted`` made, in a new session; the rest as of ``evaluate_once``."""
    _log.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    last = FinalOpsHook(final_ops)
    creator = ChiefSessionCreator(
        scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master,
        config=config,
    )  # fmt: skip
    with MonitoredSession(session_creator=creator, hooks=[*hooks, last]) as session:
        while ops is not None and not session.should_stop():
            session.run(ops)
    _log.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    found: dict[str, Any] = last.final_ops_values
    return found


# ---- what is written -----------------------------------------------------------------------------


def write_results(output_dir: str, results: Mapping[str, Any], checkpoint_path: Any) -> None:
    """Writes an evaluation's results, and of which checkpoint they are, into event files."""
    step = int(results[GraphKeys.GLOBAL_STEP])
    shown = ", ".join(f"{k} = {v}" for k, v in sorted(results.items()) if not isinstance(v, bytes))
    _log.info("Saving dict for global step %d: %s", step, shown)
    writer = FileWriterCache.get(output_dir)
    summary = summary_pb2.Summary()
    for key, value in results.items():
        if value is not None and key != GraphKeys.GLOBAL_STEP:
            summary.value.extend(_values(key, value))
    writer.add_summary(summary, step)
    writer.flush()
    if checkpoint_path:
        _log.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint_path)
        text = messages.make_tensor_proto(checkpoint_path, dtype=dtypes.string)
        tagged = summary_pb2.Summary.Value(tag="checkpoint_path", tensor=text)
        writer.add_summary(summary_pb2.Summary(value=[tagged]), step)
        writer.flush()


def _values(key: str, value: Any) -> list[Any]:
    if isinstance(value, float | int | np.float32 | np.int32 | np.int64):
        return [summary_pb2.Summary.Value(tag=key, simple_value=float(value))]
    if isinstance(value, bytes):
        try:
            found = list(summary_pb2.Summary.FromString(value).value)
        except message.DecodeError:
            _log.warning("Skipping summary for %s, cannot parse string to Summary.", key)
            return []
        for number, each in enumerate(found):
            each.tag = f"{key}/{number}"
        return found
    if isinstance(value, np.ndarray):
        proto = messages.make_tensor_proto(value)
        return [summary_pb2.Summary.Value(tag=key, node_name=key, tensor=proto)]
    _log.warning(
        "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or"
        " np.ndarray or a serialized string of Summary; found %s", key, type(value).__name__,
    )  # fmt: skip
    return []
