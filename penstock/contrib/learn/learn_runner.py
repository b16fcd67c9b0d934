"""``tf.contrib.learn.learn_runner``: runs the method of an experiment that a process is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.contrib.learn.experiment import Experiment
from penstock.contrib.learn.run_config import RunConfig, TaskType

# What a task of a cluster does.
_BY_TASK = {TaskType.MASTER: "train_and_evaluate", TaskType.WORKER: "train"}


def run(
    experiment_fn: Callable[..., Any],
    output_dir: Any = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Makes an experiment and runs one of its methods.

    Args:
      experiment_fn: ``f(output_dir)`` or ``f(run_config, hparams)`` that returns an
        ``Experiment``.
      output_dir: what it gets in its first form.
      schedule: the method's name; default by the role of this process: "train_and_evaluate" for
        the only one, "train" for workers.
      run_config, hparams: what it gets in its second form.

    Returns:
      What the method returns.

    Raises:
      ValueError: both forms, or neither; no such method, or no role has a default.
      TypeError: ``experiment_fn`` is no function, or returns something else.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if not output_dir and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError('Experiment builder "experiment_fn" is not callable.')
    if run_config is None:
        config, made = RunConfig(), experiment_fn(output_dir=output_dir)
    else:
        config, made = run_config, experiment_fn(run_config=run_config, hparams=hparams)
    if not isinstance(made, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {made}.")
    name = schedule or _default_schedule(config)
    method = getattr(made, name, None)
    if not callable(method):
        raise ValueError(f"Schedule references non-existent or non-callable member {name}")
    return method()


def _default_schedule(config: Any) -> str:
    if not config.cluster_spec or not config.task_type:
        return "train_and_evaluate"
    if config.task_type not in _BY_TASK:
        raise ValueError(
            f"No default schedule for task type: {config.task_type}; give schedule one of the"
            " experiment's methods"
        )
    return _BY_TASK[config.task_type]
