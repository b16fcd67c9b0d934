"""``tf.train.MonitoredTrainingSession``: a MonitoredSession with the usual hooks of a trainer."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

from penstock.training.monitored.checkpoint_hook import CheckpointSaverHook
from penstock.training.monitored.creators import ChiefSessionCreator, WorkerSessionCreator
from penstock.training.monitored.hook import SessionRunHook
from penstock.training.monitored.monitored_session import MonitoredSession
from penstock.training.monitored.scaffold import Scaffold
from penstock.training.monitored.summary_hooks import StepCounterHook, SummarySaverHook


class _Default(enum.Enum):
    USE = "what is not given follows from what is"


_USE_DEFAULT: Any = _Default.USE


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: Any = None,
    scaffold: Scaffold | None = None,
    hooks: Iterable[SessionRunHook] | None = None,
    chief_only_hooks: Iterable[SessionRunHook] | None = None,
    save_checkpoint_secs: Any = _USE_DEFAULT,
    save_summaries_steps: Any = _USE_DEFAULT,
    save_summaries_secs: Any = _USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = _USE_DEFAULT,
    summary_dir: Any = None,
) -> MonitoredSession:
    """A session for training, of a chief or a worker.

    A chief restores or initializes the model, saves checkpoints and summaries, and logs its speed;
    a worker waits for the chief.

    Args:
      master: target of the session.
      is_chief: whether this is the chief.
      checkpoint_dir: where checkpoints are restored from and saved to.
      scaffold: supplies the ops; default is one that makes them all.
      hooks: the hooks.
      chief_only_hooks: hooks that only a chief has; called first.
      save_checkpoint_secs: seconds between checkpoints; default 600, unless steps are given.
      save_summaries_steps: steps between summaries; default 100, unless seconds are given.
      save_summaries_secs: seconds between summaries.
      config: a ``ConfigProto`` for the session.
      stop_grace_period_secs: how long threads may take to end when the session closes.
      log_step_count_steps: steps between two logs of the speed.
      max_wait_secs: the longest that a worker waits for the chief.
      save_checkpoint_steps: steps between checkpoints.
      summary_dir: where summaries go; default ``checkpoint_dir``.  With neither, there are none.

    Returns:
      A ``MonitoredSession``.

    Example:
      >>> import penstock as tf, tempfile
      >>> with tf.Graph().as_default():
      ...     train = tf.assign_add(tf.train.get_or_create_global_step(), 1)
      ...     with tf.train.MonitoredTrainingSession(checkpoint_dir=tempfile.mkdtemp()) as sess:
      ...         sess.run(train)
      np.int64(1)
    """
    save_summaries_steps, save_summaries_secs = _either(
        save_summaries_steps, save_summaries_secs, (100, None)
    )
    save_checkpoint_steps, save_checkpoint_secs = _either(
        save_checkpoint_steps, save_checkpoint_secs, (None, 600)
    )
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks, stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or ())
    chief = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir and _positive(log_step_count_steps):
        all_hooks.append(
            StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps)
        )
    if summary_dir and (_positive(save_summaries_steps) or _positive(save_summaries_secs)):
        all_hooks.append(
            SummarySaverHook(
                scaffold=scaffold, save_steps=save_summaries_steps,
                save_secs=save_summaries_secs, output_dir=summary_dir,
            )
        )  # fmt: skip
    if checkpoint_dir and (_positive(save_checkpoint_secs) or _positive(save_checkpoint_steps)):
        all_hooks.append(
            CheckpointSaverHook(
                checkpoint_dir, save_steps=save_checkpoint_steps,
                save_secs=save_checkpoint_secs, scaffold=scaffold,
            )
        )  # fmt: skip
    return MonitoredSession(chief, [*all_hooks, *(hooks or ())], stop_grace_period_secs)


def _either(steps: Any, secs: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """The default where neither is given; what is not given is None where the other is."""
    if steps is _USE_DEFAULT and secs is _USE_DEFAULT:
        return default
    return None if steps is _USE_DEFAULT else steps, None if secs is _USE_DEFAULT else secs


def _positive(count: Any) -> bool:
    return bool(count) and count > 0
