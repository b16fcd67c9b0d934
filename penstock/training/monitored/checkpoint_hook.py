"""The hook that saves checkpoints, and the interface of those who take part in saving."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

from penstock.foundation.formats.messages import SessionLog
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.storage.export.graph_file import write_graph
from penstock.storage.export.meta_graph import export_meta_graph
from penstock.storage.summary.writer import FileWriterCache
from penstock.training.monitored.global_step_read import required_global_step_read
from penstock.training.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from penstock.training.monitored.scaffold import Scaffold
from penstock.training.monitored.timers import SecondOrStepTimer

_log = logging.getLogger("penstock")


class CheckpointSaverListener:
    """What ``CheckpointSaverHook`` calls around saving; each method does nothing until overridden.

    Example:
      >>> import penstock as tf
      >>> class Tell(tf.train.CheckpointSaverListener):
      ...     def after_save(self, session, global_step_value):
      ...         return global_step_value >= 1000  # True asks for the end of training
    """

    def begin(self) -> None:
        """Called before the session is made."""

    def before_save(self, session: Any, global_step_value: Any) -> None:
        """Called before each save."""

    def after_save(self, session: Any, global_step_value: Any) -> bool | None:
        """Called after each save; returning True asks for the end of training."""

    def end(self, session: Any, global_step_value: Any) -> None:
        """Called when the session ends, after the last save."""


class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint when a session is made, every so many steps or seconds, and at the end.

    It also writes ``graph.pbtxt``, and the graph to the event file.

    Args:
      checkpoint_dir: directory of the checkpoints.
      save_secs: seconds between saves.
      save_steps: steps between saves; exactly one of both is to be given.
      saver: the saver.
      checkpoint_basename: first part of the files' names.
      scaffold: has the saver; default is the only one of the collection ``SAVERS``.
      listeners: ``CheckpointSaverListener`` objects.

    Raises:
      ValueError: both ``saver`` and ``scaffold``; not exactly one of ``save_*``.
    """

    def __init__(
        self,
        checkpoint_dir: Any,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> None:
        _log.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold, which has a saver")
        self._saver = saver
        self._scaffold = scaffold
        self._checkpoint_dir = os.fsdecode(checkpoint_dir)
        self._save_path = os.path.join(self._checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = list(listeners or ())

    def begin(self) -> None:
        """Opens the event file, and makes the node that reads the global step."""
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._global_step = required_global_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Writes the graph and the first checkpoint."""
        step = session.run(self._global_step)
        graph = scopes.get_default_graph()
        graph_def = graph.as_graph_def(add_shapes=True)
        write_graph(graph_def, self._checkpoint_dir, "graph.pbtxt")
        saver_def = self._get_saver().saver_def
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(
            export_meta_graph(graph=graph, graph_def=graph_def, saver_def=saver_def)
        )
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Saves when it is time."""
        # What the step read may be from before its update, so look again before saving.
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        step = run_context.session.run(self._global_step)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """Saves the last step, unless that is done."""
        step = session.run(self._global_step)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: Any) -> bool:
        """Saves; whether a listener asks to stop."""
        _log.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        saved = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(saved, step)
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                _log.info("The listener %r of checkpoints has asked to stop training.", listener)
                should_stop = True
        return should_stop

    def _get_saver(self) -> Any:
        if self._saver is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._saver is None:
            savers = collecting.get_collection(GraphKeys.SAVERS)
            if len(savers) != 1:
                raise RuntimeError(
                    f"the collection {GraphKeys.SAVERS!r} must hold one saver; it holds"
                    f" {len(savers)}. Give CheckpointSaverHook a saver or scaffold"
                )
            self._saver = savers[0]
        return self._saver


def add_listener(hook: CheckpointSaverHook, listener: CheckpointSaverListener) -> None:
    """Has a hook call one more listener, unless it does so already."""
    if listener not in hook._listeners:
        hook._listeners.append(listener)
