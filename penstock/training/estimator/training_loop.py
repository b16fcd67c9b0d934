"""The loop of ``Estimator.train``: the hooks of a trainer, its saver, and its session."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from penstock.foundation.graph import collecting
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.global_step import get_global_step
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.summary.build import scalar
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.run_config import RunConfig, TaskType
from penstock.training.monitored.basic_hooks import NanTensorHook
from penstock.training.monitored.checkpoint_hook import CheckpointSaverHook, add_listener
from penstock.training.monitored.summary_hooks import (
    LoggingTensorHook,
    StepCounterHook,
    SummarySaverHook,
)
from penstock.training.monitored.training_session import MonitoredTrainingSession

_log = logging.getLogger("penstock")


def train(
    spec: EstimatorSpec,
    config: RunConfig,
    session_config: Any,
    hooks: Iterable[Any],
    listeners: Iterable[Any],
) -> Any:
    """Runs a model's ``train_op`` until a hook, or the end of the input, ends it.

    Args:
      spec: the model, in the default graph.
      config: where to save and how often.
      session_config: a ``ConfigProto``.
      hooks: the hooks of the input and the caller.
      listeners: what is told of checkpoints.

    Returns:
      The loss of the last step; None where there was no step.

    Raises:
      ValueError: there are listeners and no checkpoints.
    """
    if not any(node.op.name == "loss" for node in collecting.get_collection(GraphKeys.SUMMARIES)):
        scalar("loss", spec.loss)
    collecting.add_to_collection(GraphKeys.LOSSES, spec.loss)
    worker_hooks = [*hooks, NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        shown = {"loss": spec.loss, "step": get_global_step()}
        worker_hooks.append(LoggingTensorHook(shown, every_n_iter=config.log_step_count_steps))
    worker_hooks.extend(spec.training_hooks)
    _add_saver(spec, config)
    chief_hooks = _saving(spec, config, [*worker_hooks, *spec.training_chief_hooks], listeners)
    summary_steps, count_steps = config.save_summary_steps, config.log_step_count_steps
    if _has_master_and_workers(config):
        # The master evaluates as well, which would make its summaries late: worker 0 has them.
        summary_steps, count_steps = 0, None
        if config.task_type == TaskType.WORKER and config.task_id == 0:
            worker_hooks.extend(_summaries(spec, config))
    with MonitoredTrainingSession(
        master=config.master,
        is_chief=config.is_chief,
        checkpoint_dir=config.model_dir,
        scaffold=spec.scaffold,
        hooks=worker_hooks,
        chief_only_hooks=[*chief_hooks, *spec.training_chief_hooks],
        save_checkpoint_secs=0,  # a hook saves
        save_summaries_steps=summary_steps,
        config=session_config,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=count_steps,
    ) as session:
        loss = None
        any_step_done = False
        while not session.should_stop():
            _, loss = session.run([spec.train_op, spec.loss])
            any_step_done = True
    if not any_step_done:
        _log.warning(
            "Training with estimator made no steps. Perhaps input is empty or misspecified."
        )
    return loss


def _add_saver(spec: EstimatorSpec, config: RunConfig) -> None:
    if spec.scaffold.saver or collecting.get_collection(GraphKeys.SAVERS):
        return
    saver = Saver(
        sharded=True,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        defer_build=True,
        save_relative_paths=True,
        durable=config.durable,
    )
    collecting.add_to_collection(GraphKeys.SAVERS, saver)


def _saving(
    spec: EstimatorSpec, config: RunConfig, others: list[Any], listeners: Iterable[Any]
) -> list[Any]:
    """The chief's hook that saves, unless there is one; listeners are told by the first."""
    found = [hook for hook in others if isinstance(hook, CheckpointSaverHook)]
    made = []
    if not found and (config.save_checkpoints_secs or config.save_checkpoints_steps):
        made = [
            CheckpointSaverHook(
                config.model_dir, save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps, scaffold=spec.scaffold,
            )
        ]  # fmt: skip
    listeners = list(listeners)
    if listeners and not (found or made):
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the"
            " RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
        )
    for listener in listeners:
        add_listener((found or made)[0], listener)
    return made


def _has_master_and_workers(config: RunConfig) -> bool:
    jobs = config.cluster_spec.jobs if config.cluster_spec else ()
    return TaskType.WORKER in jobs and TaskType.MASTER in jobs


def _summaries(spec: EstimatorSpec, config: RunConfig) -> list[Any]:
    made: list[Any] = []
    if config.save_summary_steps:
        made.append(
            SummarySaverHook(
                save_steps=config.save_summary_steps, output_dir=config.model_dir,
                scaffold=spec.scaffold,
            )
        )  # fmt: skip
    if config.log_step_count_steps:
        made.append(
            StepCounterHook(every_n_steps=config.log_step_count_steps, output_dir=config.model_dir)
        )
    return made
