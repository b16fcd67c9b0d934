"""Evaluation: one checkpoint, or each as it appears, with summaries at the end.

The loops are those of ``contrib.training``; what is added are the hooks that count evaluations and
write summaries, and the variables that a checkpoint restores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.contrib.training import evaluation
from penstock.contrib.training.evaluation import checkpoints_iterator, wait_for_new_checkpoint
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.summary.build import merge_all
from penstock.training.monitored.scaffold import Scaffold

__all__ = ["checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]

_USE_DEFAULT = 0


def _hooks(
    num_evals: int, logdir: str, summary_op: Any, feed_dict: Any, more: Sequence[Any] | None
) -> list[Any]:
    """The hooks of an evaluation: its end, its summaries, and what the caller adds."""
    hooks: list[Any] = [evaluation.StopAfterNEvalsHook(num_evals)]
    if summary_op is _USE_DEFAULT:
        summary_op = merge_all()
    if summary_op is not None:
        hooks.append(
            evaluation.SummaryAtEndHook(logdir, summary_op=summary_op, feed_dict=feed_dict)
        )
    return [*hooks, *(more or [])]


def _saver(variables: Any) -> Saver | None:
    return None if variables is None else Saver(variables)


def evaluate_once(
    master: str,
    checkpoint_path: str | None,
    logdir: str,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    session_config: Any = None,
    hooks: Sequence[Any] | None = None,
) -> Any:
    """Evaluates one checkpoint.

    Args:
      master: where to run.
      checkpoint_path: what ``Saver.save`` returned.
      logdir: directory of the summaries.
      num_evals: how often ``eval_op`` runs.
      initial_op, initial_op_feed_dict: what runs first where no checkpoint is restored, and what
        it is fed.
      eval_op, eval_op_feed_dict: what each step runs, and what it is fed.
      final_op, final_op_feed_dict: what runs at the end, and what it is fed.
      summary_op, summary_op_feed_dict: the summary that is written at the end, default all of the
        graph, None for none; and what it is fed.
      variables_to_restore: variables that the checkpoint has; default all.
      session_config: a ``tf.ConfigProto``.
      hooks: more hooks.

    Returns:
      The value of ``final_op``; None without one.
    """
    all_hooks = _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    return evaluation.evaluate_once(
        checkpoint_path,
        master,
        Scaffold(initial_op, initial_op_feed_dict, saver=_saver(variables_to_restore)),
        eval_op,
        eval_op_feed_dict,
        final_op,
        final_op_feed_dict,
        all_hooks,
        session_config,
    )


def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    init_fn: Callable[[Any, Any], Any] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Any = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Sequence[Any] | None = None,
) -> Any:
    """Evaluates each checkpoint of a directory as it appears; other arguments as ``evaluate_once``.

    Args:
      checkpoint_dir: the directory.
      init_fn: called with the scaffold and the session after ``initial_op``.
      eval_interval_secs: least time between two evaluations.
      max_number_of_evaluations: how many there are at most; None for no end.
      timeout, timeout_fn: those of ``checkpoints_iterator``.

    Returns:
      The value of ``final_op`` in the last evaluation.
    """
    all_hooks = _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    return evaluation.evaluate_repeatedly(
        checkpoint_dir,
        master,
        Scaffold(initial_op, initial_op_feed_dict, init_fn, saver=_saver(variables_to_restore)),
        eval_op,
        eval_op_feed_dict,
        final_op,
        final_op_feed_dict,
        eval_interval_secs,
        all_hooks,
        session_config,
        max_number_of_evaluations,
        timeout,
        timeout_fn,
    )
