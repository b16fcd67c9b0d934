"""Checkpoints of input pipelines alone, so that training goes on with the next element."""

from __future__ import annotations

import os
from typing import Any

from penstock.foundation.graph import scopes
from penstock.storage.checkpoint.management import get_checkpoint_state
from penstock.storage.checkpoint.saver import Saver
from penstock.training.data.transformations import saveable_of_resource
from penstock.training.monitored.global_step_read import required_global_step_read
from penstock.training.monitored.hook import SessionRunArgs, SessionRunHook
from penstock.training.monitored.timers import SecondOrStepTimer

_ITERATORS = ("Iterator", "IteratorV2", "OneShotIterator")


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves where the iterators of an estimator's training are, and goes on there.

    Files ``input.ckpt-*`` lie beside the model's checkpoints, and as often; each worker of several
    has its own.

    Args:
      estimator: a ``tf.estimator.Estimator``, whose directory and ``RunConfig`` count.

    Raises:
      ValueError: when training begins: there is no iterator.

    Example:
      >>> import penstock as tf
      >>> def model_fn(features, labels, mode):
      ...     print(features.shape, mode)
      ...     step = tf.assign_add(tf.train.get_global_step(), 1)
      ...     return tf.estimator.EstimatorSpec(mode, loss=tf.constant(0.0), train_op=step)
      >>> estimator = tf.estimator.Estimator(model_fn)
      >>> hook = tf.contrib.data.CheckpointInputPipelineHook(estimator)
      >>> _ = estimator.train(lambda: tf.data.Dataset.range(9), hooks=[hook], steps=2)
      () train
    """

    def __init__(self, estimator: Any) -> None:
        config = estimator.config
        prefix = "input"
        if config.num_worker_replicas > 1:
            prefix = f"input_{config.task_type}_{config.task_id}"
        self._folder = os.fsdecode(config.model_dir or estimator.model_dir)
        self._path = os.path.join(self._folder, f"{prefix}.ckpt")
        self._latest_filename = f"checkpoint_{prefix}"
        self._timer = SecondOrStepTimer(
            every_secs=config.save_checkpoints_secs, every_steps=config.save_checkpoints_steps
        )
        self._kept = config.keep_checkpoint_max
        self._saver: Any = None
        self._first = True

    def begin(self) -> None:
        """Makes the saver of the iterators of the graph."""
        graph = scopes.get_default_graph()
        iterators = [op.outputs[0] for op in graph.get_operations() if op.type in _ITERATORS]
        if not iterators:
            raise ValueError("No variables to save: the graph has no iterator of a dataset")
        self._saver = Saver(
            [saveable_of_resource(each) for each in iterators], max_to_keep=self._kept, sharded=True
        )
        self._global_step = required_global_step_read("CheckpointInputPipelineHook")

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Restores before the first step, or saves where it begins; asks for the global step."""
        if self._first:
            # Not before: iterators have then been initialized.
            self._first = False
            state = get_checkpoint_state(self._folder, self._latest_filename)
            if state is not None:
                self._saver.restore(run_context.session, state.model_checkpoint_path)
            else:
                step = run_context.session.run(self._global_step)
                self._save(run_context.session, step)
                self._timer.update_last_triggered_step(step)
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Saves when it is time."""
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        step = run_context.session.run(self._global_step)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            self._save(run_context.session, step)

    def end(self, session: Any) -> None:
        """Saves the last step, unless that is done."""
        step = session.run(self._global_step)
        if step != self._timer.last_triggered_step():
            self._save(session, step)

    def _save(self, session: Any, step: Any) -> None:
        self._saver.save(
            session, self._path, global_step=step, latest_filename=self._latest_filename
        )
