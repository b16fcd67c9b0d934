"""``tf.estimator.train_and_evaluate``: training with an evaluation of its checkpoints.

In one process, evaluation takes place as checkpoints are saved.  In a cluster that TF_CONFIG
describes, each process does the part of its task: chief and workers train, parameter servers keep
variables, the evaluator waits for checkpoints and evaluates them.

State of a ``_Evaluator``: the checkpoint it has evaluated last, and when it has told that none is
new.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from penstock.cluster.distributed.server import Server
from penstock.engine.session.options import ConfigProto
from penstock.foundation.graph.keys import GraphKeys
from penstock.training.estimator.estimator import Estimator
from penstock.training.estimator.exporters import Exporter
from penstock.training.estimator.run_config import RunConfig, TaskType, read_tf_config
from penstock.training.monitored.checkpoint_hook import CheckpointSaverListener
from penstock.training.monitored.hook import SessionRunHook
from penstock.training.monitored.timers import SecondOrStepTimer

_log = logging.getLogger("penstock")
_MAX_DELAY_SECS = 60
_DELAY_SECS_PER_WORKER = 5
_SECS_BETWEEN_WARNINGS = 600
# With ``throttle_secs=0`` an evaluator would look for a checkpoint without a pause.
_LEAST_WAIT_SECS = 0.1
_TRAINERS = (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER)


class _Training(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[SessionRunHook, ...]


class TrainSpec(_Training):
    """The training of ``train_and_evaluate``.

    Args:
      input_fn: as of ``Estimator.train``.
      max_steps: the global step to train up to; None trains until the input ends.
      hooks: hooks for the session.

    Raises:
      ValueError: ``max_steps`` is not above 0.
      TypeError: ``input_fn`` cannot be called, or a hook is something else.
    """

    __slots__ = ()

    def __new__(
        cls, input_fn: Callable[..., Any], max_steps: int | None = None, hooks: Any = None
    ) -> TrainSpec:
        """Checks the arguments."""
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks))


class _Evaluation(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[SessionRunHook, ...]
    exporters: tuple[Exporter, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_Evaluation):
    """The evaluations of ``train_and_evaluate``.

    Args:
      input_fn: as of ``Estimator.evaluate``.
      steps: how many batches; None is all of the input.
      name: of the evaluation, where there are several.
      hooks: hooks for the session.
      exporters: an ``Exporter`` or several, with different names.
      start_delay_secs: how long the evaluator of a cluster waits at first.
      throttle_secs: the least time between the beginnings of two evaluations.

    Raises:
      ValueError: a number is below what it may be, or exporters have no or equal names.
      TypeError: an argument has another type.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Any = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        """Checks the arguments."""
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name!r}")
        for what, secs in (
            ("start_delay_secs", start_delay_secs),
            ("throttle_secs", throttle_secs),
        ):
            if secs < 0:
                raise ValueError(f"Must specify {what} >= 0, given: {secs}")
        return super().__new__(
            cls, input_fn, steps, name, _checked_hooks(hooks), _checked_exporters(exporters),
            start_delay_secs, throttle_secs,
        )  # fmt: skip


def train_and_evaluate(estimator: Any, train_spec: Any, eval_spec: Any) -> Any:
    """Trains, and evaluates checkpoints on the way; in a cluster, this task's part of that.

    Args:
      estimator: an ``Estimator``.
      train_spec: a ``TrainSpec``.
      eval_spec: an ``EvalSpec``.

    Returns:
      In one process, (metrics of the last evaluation, what the exporters returned); in a cluster
      None.

    Raises:
      TypeError: an argument is something else.
      ValueError: TF_CONFIG names a task that has no part in it.

    Example:
      ``tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(read_train, 1000),
      tf.estimator.EvalSpec(read_test))``
    """
    for what, value, kind in (
        ("eval_spec", eval_spec, EvalSpec),
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
    ):
        if not isinstance(value, kind):
            raise TypeError(
                f"`{what}` must have type `tf.estimator.{kind.__name__}`. Got: {type(value)}"
            )
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR:
        if config.task_id > 0:
            raise ValueError(
                "For distributed training, there can only be one `evaluator` task (with task id"
                f" 0).  Given task id {config.task_id}"
            )
        return _evaluate_continuously(estimator, train_spec, eval_spec)
    if not config.cluster_spec:
        return _run_here(estimator, train_spec, eval_spec)
    if config.task_type == TaskType.PS:
        server = _start_server(config)
        return server.join() if server is not None else None
    if config.task_type not in _TRAINERS:
        allowed = [*_TRAINERS, TaskType.PS, TaskType.EVALUATOR]
        raise ValueError(
            f"Task type {config.task_type} is not supported. Supported task types are {allowed}"
        )
    listeners = []
    if config.task_type == TaskType.MASTER:
        listeners = [_EvaluateAtSave(_Evaluator(estimator, train_spec, eval_spec))]
    return _train_in_cluster(estimator, train_spec, listeners)


# ---- one process ---------------------------------------------------------------------------------


def _run_here(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> Any:
    config = estimator.config
    _log.info("Running training and evaluation locally (non-distributed).")
    _log.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint."
        " Checkpoint frequency is determined based on RunConfig arguments: save_checkpoints_steps"
        " %s or save_checkpoints_secs %s.", config.save_checkpoints_steps,
        config.save_checkpoints_secs,
    )  # fmt: skip
    listener = _EvaluateAtSave(_Evaluator(estimator, train_spec, eval_spec))
    estimator.train(
        train_spec.input_fn, train_spec.hooks, max_steps=train_spec.max_steps,
        saving_listeners=[listener],
    )  # fmt: skip
    return listener.metrics, listener.exports


class _Evaluator:
    """Evaluates and exports the latest checkpoint, unless it has done so."""

    def __init__(self, estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
        self._estimator, self.spec = estimator, eval_spec
        self._max_steps = train_spec.max_steps
        self._previous: str | None = None
        self._told = -math.inf

    def run(self) -> tuple[dict[str, Any] | None, list[Any]]:
        """The metrics and what exporters returned; None where no checkpoint is new."""
        checkpoint = self._estimator.latest_checkpoint()
        if checkpoint is None or checkpoint == self._previous:
            self._tell(
                "Estimator is not trained yet" if checkpoint is None else "No new checkpoint"
            )
            return None, []
        spec = self.spec
        metrics = self._estimator.evaluate(
            spec.input_fn, steps=spec.steps, name=spec.name, checkpoint_path=checkpoint,
            hooks=spec.hooks,
        )  # fmt: skip
        exports = [self._export(exporter, checkpoint, metrics) for exporter in spec.exporters]
        self._previous = checkpoint
        return metrics, exports

    def _tell(self, why: str) -> None:
        if time.monotonic() - self._told > _SECS_BETWEEN_WARNINGS:
            _log.warning("%s. Will start an evaluation when a checkpoint is ready.", why)
            self._told = time.monotonic()

    def _export(self, exporter: Exporter, checkpoint: str, metrics: dict[str, Any]) -> Any:
        return exporter.export(
            estimator=self._estimator,
            export_path=os.path.join(self._estimator.model_dir, "export", exporter.name),
            checkpoint_path=checkpoint,
            eval_result=metrics,
            is_the_final_export=self.is_last(metrics),
        )

    def is_last(self, metrics: dict[str, Any]) -> bool:
        """Whether training is done with these metrics."""
        return bool(self._max_steps and metrics[GraphKeys.GLOBAL_STEP] >= self._max_steps)


class _EvaluateAtSave(CheckpointSaverListener):
    """Evaluates checkpoints as they are saved, but for the one that training begins with.

    State: when it has evaluated last, and what came of it.
    """

    def __init__(self, evaluator: _Evaluator) -> None:
        self._evaluator = evaluator
        self._timer: Any = None
        self._is_first = True
        self.metrics: dict[str, Any] | None = None
        self.exports: list[Any] | None = None

    def begin(self) -> None:
        """Begins anew."""
        self._timer = SecondOrStepTimer(every_secs=self._evaluator.spec.throttle_secs)
        self._is_first = True

    def after_save(self, session: Any, global_step_value: Any) -> None:
        """Evaluates, unless the last evaluation is younger than ``throttle_secs``."""
        if self._is_first:
            self._is_first = False
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            _log.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).",
                self._evaluator.spec.throttle_secs,
            )

    def end(self, session: Any, global_step_value: Any) -> None:
        """Evaluates the last checkpoint, unless that is done."""
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, step: Any) -> None:
        self._timer.update_last_triggered_step(step)
        self.metrics, self.exports = self._evaluator.run()
        if self.metrics is None:
            raise RuntimeError(f"There was no new checkpoint after the training, at step {step}.")


# ---- a cluster -----------------------------------------------------------------------------------


def _start_server(config: RunConfig) -> Server | None:
    """This task's server; None where it is alone and needs none.

    Raises:
      RuntimeError: the configuration has no master.
    """
    if read_tf_config().get("environment") == "google":
        return None
    spec = config.cluster_spec
    if not config.master:
        if len(spec.jobs) == 1 and spec.num_tasks(spec.jobs[0]) == 1:
            _log.info("Skip starting Tensorflow server as there is only one node in the cluster.")
            return None
        raise RuntimeError(
            "Could not start server; be sure to specify master in RunConfig or set the TF_CONFIG"
            " environment variable."
        )
    _log.info("Start Tensorflow server.")
    options = ConfigProto()
    if config.session_config is not None:
        options.gpu_options.CopyFrom(config.session_config.gpu_options)
    return Server(
        spec, job_name=config.task_type, task_index=config.task_id, config=options,
        protocol=config.protocol,
    )  # fmt: skip


def _train_in_cluster(
    estimator: Estimator, train_spec: TrainSpec, listeners: Iterable[CheckpointSaverListener]
) -> None:
    config = estimator.config
    _start_server(config)
    if config.task_type == TaskType.WORKER:
        # Workers that begin one after the other do not all compute on the same first values.
        longest = config.experimental_max_worker_delay_secs
        delay = (config.task_id + 1) * _DELAY_SECS_PER_WORKER
        delay = min(_MAX_DELAY_SECS if longest is None else longest, delay)
        if delay > 0:
            _log.info("Waiting %d secs before starting training.", delay)
            time.sleep(delay)
    estimator.train(
        train_spec.input_fn, train_spec.hooks, max_steps=train_spec.max_steps,
        saving_listeners=list(listeners),
    )  # fmt: skip


def _evaluate_continuously(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> None:
    """The evaluator's part: each new checkpoint, until that of the last step."""
    if eval_spec.start_delay_secs:
        _log.info("Waiting %f secs before starting eval.", eval_spec.start_delay_secs)
        time.sleep(eval_spec.start_delay_secs)
    evaluator = _Evaluator(estimator, train_spec, eval_spec)
    while True:
        begun = time.monotonic()
        metrics, _ = evaluator.run()
        left = eval_spec.throttle_secs - (time.monotonic() - begun)
        if left > 0:
            _log.info("Waiting %f secs before starting next eval run.", left)
            time.sleep(left)
        elif metrics is None:
            time.sleep(_LEAST_WAIT_SECS)
        if metrics is not None and evaluator.is_last(metrics):
            _log.info(
                "Exiting evaluation, global_step=%s >= train max_steps=%s",
                metrics[GraphKeys.GLOBAL_STEP], train_spec.max_steps,
            )  # fmt: skip
            return


# ---- checks --------------------------------------------------------------------------------------


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn!r}")


def _checked_hooks(hooks: Any) -> tuple[SessionRunHook, ...]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook!r}")
    return found


def _checked_exporters(exporters: Any) -> tuple[Exporter, ...]:
    if not exporters:
        return ()
    listed = [exporters] if isinstance(exporters, Exporter) else exporters
    if not isinstance(listed, Iterable):
        listed = [None]
    found = tuple(listed)
    if not all(isinstance(each, Exporter) for each in found):
        raise TypeError(
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found"
            f" {exporters!r}."
        )
    names: list[Any] = [each.name for each in found]
    for name in names:
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. All exporter names:"
                f" {names}"
            )
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
    if len(set(names)) < len(names):
        raise ValueError(f"`exporters` must have unique names. All exporter names: {names}")
    return found
