"""Graphs trained and evaluated by their tensors: what estimators of TF 0.x were made of."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from penstock.contrib.learn.monitors import replace_monitors_with_hooks
from penstock.foundation.base import errors
from penstock.foundation.formats.messages import Summary
from penstock.foundation.graph.scopes import default_graph_scope
from penstock.library.variables.global_step import get_global_step
from penstock.storage.checkpoint.management import latest_checkpoint
from penstock.storage.checkpoint.reader import NewCheckpointReader
from penstock.storage.summary.writer import FileWriterCache
from penstock.training.monitored.basic_hooks import NanTensorHook, StopAtStepHook
from penstock.training.monitored.creators import ChiefSessionCreator
from penstock.training.monitored.monitored_session import MonitoredSession
from penstock.training.monitored.scaffold import Scaffold
from penstock.training.monitored.summary_hooks import LoggingTensorHook
from penstock.training.monitored.training_session import MonitoredTrainingSession


def train(
    graph: Any, output_dir: Any, train_op: Any, loss_op: Any, global_step_tensor: Any = None,
    init_op: Any = None, init_feed_dict: Any = None, init_fn: Callable[[Any], Any] | None = None,
    log_every_steps: int = 10, supervisor_is_chief: bool = True, supervisor_master: str = "",
    supervisor_save_model_secs: float = 600, keep_checkpoint_max: int = 5,
    supervisor_save_summaries_steps: int | None = 100,
    feed_fn: Callable[[], Mapping[Any, Any]] | None = None, steps: int | None = None,
    fail_on_nan_loss: bool = True, monitors: Any = None, max_steps: int | None = None,
) -> Any:  # fmt: skip
    """Trains a graph, from the last checkpoint of a directory where there is one.

    Args:
      graph: the graph.
      output_dir: directory of checkpoints and summaries.
      train_op: operation of a step.
      loss_op: the loss.
      global_step_tensor: counts steps; default the graph's.
      init_op, init_feed_dict, init_fn: what initializes it; ``init_fn`` takes the session.
      log_every_steps: steps between lines in the log.
      supervisor_is_chief: whether this task initializes and saves.
      supervisor_master: target of the session.
      supervisor_save_model_secs: seconds between checkpoints.
      keep_checkpoint_max: accepted; the graph's saver says how many are kept.
      supervisor_save_summaries_steps: steps between summaries.
      feed_fn: gives what is fed in each step.
      steps: how many steps; or
      max_steps: the step at which to stop.
      fail_on_nan_loss: whether a NaN is an error, or the end.
      monitors: monitors and hooks.

    Returns:
      The last loss; None where ``max_steps`` are done already.

    Raises:
      ValueError: something is missing, or both numbers of steps are given.
      tf.train.NanLossDuringTrainingError: the loss is NaN.

    Example:
      >>> import penstock as tf
      >>> import tempfile
      >>> with tf.Graph().as_default() as graph:
      ...     step = tf.train.create_global_step()
      ...     w = tf.get_variable("w", initializer=4.0)
      ...     move = tf.train.GradientDescentOptimizer(0.5).minimize(w * w, step)
      ...     found = tf.contrib.learn.train(graph, tempfile.mkdtemp(), move, w * 1.0, max_steps=2)
      >>> float(found) < 4.0
      True
    """
    del keep_checkpoint_max
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    needed = {
        "Output directory should be non-empty": output_dir, "Missing train_op.": train_op,
        "Missing loss_op.": loss_op,
    }  # fmt: skip
    for what, value in needed.items():
        if value is None or isinstance(value, str) and not value:
            raise ValueError(f"{what} found {value!r}")
    with default_graph_scope(graph):
        counter = get_global_step(graph) if global_step_tensor is None else global_step_tensor
        if counter is None:
            raise ValueError('No "global_step" was provided or found in the graph.')
        done = _saved_step(output_dir, counter)
        if max_steps is not None and done >= max_steps:
            return None
        hooks = replace_monitors_with_hooks(monitors, None)
        hooks.append(NanTensorHook(loss_op, fail_on_nan_loss))
        if log_every_steps:
            hooks.append(LoggingTensorHook({"loss": loss_op}, every_n_iter=log_every_steps))
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        begun = None if init_fn is None else lambda _, session: init_fn(session)
        with MonitoredTrainingSession(
            supervisor_master, supervisor_is_chief, output_dir,
            Scaffold(init_op, init_feed_dict, begun), hooks,
            save_checkpoint_secs=supervisor_save_model_secs,
            save_summaries_steps=supervisor_save_summaries_steps, save_summaries_secs=None,
        ) as session:  # fmt: skip
            loss = None
            while not session.should_stop():
                feed = None if feed_fn is None else feed_fn()
                _, loss = session.run([train_op, loss_op], feed)
            return loss


def _saved_step(output_dir: Any, counter: Any) -> int:
    path = latest_checkpoint(output_dir)
    if path is None:
        return 0
    reader = NewCheckpointReader(path)
    name = counter.name.partition(":")[0]
    return int(reader.get_tensor(name)) if reader.has_tensor(name) else 0


def evaluate(
    graph: Any, output_dir: Any, checkpoint_path: Any, eval_dict: Mapping[str, Any],
    update_op: Any = None, global_step_tensor: Any = None, supervisor_master: str = "",
    log_every_steps: int = 10, feed_fn: Callable[[], Mapping[Any, Any]] | None = None,
    max_steps: int | None = None,
) -> tuple[dict[str, Any], int]:  # fmt: skip
    """Evaluates a graph with the variables of a checkpoint.

    Args:
      graph: the graph.
      output_dir: directory of the summary of what is found.
      checkpoint_path: the checkpoint, or its directory; None initializes the variables.
      eval_dict: tensors by name, whose values are found after the last step.
      update_op: operation of each step; None for none.
      global_step_tensor: counts steps; default the graph's.
      supervisor_master: target of the session.
      log_every_steps: accepted.
      feed_fn: gives what is fed in each step; its StopIteration ends the steps.
      max_steps: how many steps; None until the input ends.

    Returns:
      The values by name, and the global step of the checkpoint.

    Raises:
      ValueError: the graph has no global step.
    """
    del log_every_steps
    with default_graph_scope(graph):
        counter = get_global_step(graph) if global_step_tensor is None else global_step_tensor
        if counter is None:
            raise ValueError('No "global_step" was provided or found in the graph.')
        # A directory stands for its last checkpoint.
        path = checkpoint_path and (latest_checkpoint(checkpoint_path) or checkpoint_path)
        creator = ChiefSessionCreator(
            Scaffold(), supervisor_master, checkpoint_filename_with_path=path
        )
        with MonitoredSession(creator) as session:
            step, feed = int(session.run(counter)), None
            try:
                for _ in itertools.count() if max_steps is None else range(max_steps):
                    feed = None if feed_fn is None else feed_fn()
                    if update_op is not None:
                        session.run(update_op, feed)
            except (StopIteration, errors.OutOfRangeError):
                pass
            found = session.run(dict(eval_dict), feed)
    _write(output_dir, found, step)
    return found, step


def _write(output_dir: Any, found: Mapping[str, Any], step: int) -> None:
    summary = Summary()
    for tag, value in sorted(found.items()):
        if np.ndim(value) == 0 and np.issubdtype(np.asarray(value).dtype, np.number):
            summary.value.add(tag=tag, simple_value=float(value))
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(summary, step)
    writer.flush()
