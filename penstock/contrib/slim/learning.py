"""Training: ``create_train_op`` makes a step, ``train`` runs it under a Supervisor.

State of a run: what the Supervisor keeps in ``logdir``, from which a later run goes on.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from penstock.contrib import training
from penstock.contrib.training.train_op import (
    USE_GLOBAL_STEP,
    Pairs,
    clip_gradient_norms,
    multiply_gradients,
)
from penstock.engine.session.options import RunMetadata, RunOptions
from penstock.foundation.base import errors
from penstock.foundation.formats import gfile
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import IndexedSlices
from penstock.library.variables import global_step as steps, initialized, listing
from penstock.ops.array.constant import constant
from penstock.ops.control.control import group
from penstock.ops.math.clip import global_norm
from penstock.ops.math.comparison import equal, greater_equal
from penstock.storage.checkpoint import saver as tf_saver
from penstock.storage.summary import build
from penstock.tools.profiler import timeline
from penstock.training.data.lookup_initializers import tables_initializer
from penstock.training.monitored import supervisor as supervisor
from penstock.training.train.optimizer import Optimizer
from penstock.training.train.sync_replicas import SyncReplicasOptimizer

__all__ = [
    "add_gradients_summaries", "clip_gradient_norms", "create_train_op", "multiply_gradients",
    "supervisor", "tf_saver", "train", "train_step",
]  # fmt: skip

_USE_DEFAULT = 0
_LOG = logging.getLogger("penstock")


# ---- a step --------------------------------------------------------------------------------------


def add_gradients_summaries(grads_and_vars: Pairs) -> list[Any]:
    """A histogram and the norm of each gradient; (gradient, variable) pairs."""
    found = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            _LOG.info("Var %s has no gradient", variable.op.name)
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        found.append(build.histogram(f"{variable.op.name}/gradient", values))
        found.append(build.scalar(f"{variable.op.name}/gradient_norm", global_norm([values])))
    return found


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = USE_GLOBAL_STEP,
    update_ops: Any = None,
    variables_to_train: Any = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Any:
    """A training step whose value is the loss.

    Args:
      total_loss: a scalar.
      optimizer: an optimizer.
      global_step: counted up by the step; default the graph's; None: nothing is counted.
      update_ops: operations that run before; default UPDATE_OPS.
      variables_to_train: default all trainable variables.
      clip_gradient_norm: largest norm of each gradient; 0: any.
      summarize_gradients: whether gradients are summarized.
      gate_gradients, aggregation_method, colocate_gradients_with_ops: of
        ``Optimizer.compute_gradients``.
      gradient_multipliers: see ``multiply_gradients``.
      check_numerics: whether a loss that is not finite is an error.

    Returns:
      The loss, after the step; it is also in the collection TRAIN_OP.

    Raises:
      AssertionError: what is to be trained is not trainable.
    """

    def transformed(pairs: Pairs) -> Pairs:
        if gradient_multipliers:
            with scopes.name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with scopes.name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    return training.create_train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train, transformed,
        summarize_gradients, gate_gradients, aggregation_method, colocate_gradients_with_ops,
        check_numerics,
    )  # fmt: skip


# ---- running it ----------------------------------------------------------------------------------


def train_step(
    sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Mapping[str, Any]
) -> tuple[Any, Any]:
    """One step, which is logged now and then.

    Args:
      sess: a session.
      train_op: what ``create_train_op`` returned.
      global_step: the counter.
      train_step_kwargs: "should_stop", "should_log" and "should_trace", tensors; with the last,
        "logdir", the directory of traces, and perhaps "summary_writer".

    Returns:
      The loss, and whether to stop.

    Raises:
      ValueError: "should_trace" without "logdir".
    """
    metadata = _metadata_of_trace(sess, train_step_kwargs)
    options = None if metadata is None else RunOptions(trace_level=RunOptions.FULL_TRACE)
    start = time.time()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    spent = time.time() - start
    if metadata is not None:
        _keep_trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        _LOG.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, spent)
    stop = "should_stop" in train_step_kwargs and sess.run(train_step_kwargs["should_stop"])
    return loss, stop


def _metadata_of_trace(sess: Any, kwargs: Mapping[str, Any]) -> Any:
    """What a traced step fills, or None where the step is not to be traced."""
    if "should_trace" not in kwargs:
        return None
    if "logdir" not in kwargs:
        raise ValueError(
            "logdir must be present in train_step_kwargs when should_trace is present; found"
            f" {sorted(kwargs)}"
        )
    return RunMetadata() if sess.run(kwargs["should_trace"]) else None


def _keep_trace(metadata: Any, step: int, kwargs: Mapping[str, Any]) -> None:
    path = os.path.join(kwargs["logdir"], f"tf_trace-{step}.json")
    _LOG.info("Writing trace to %s", path)
    trace = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
    with gfile.GFile(path, "w") as file:
        file.write(trace)
    if kwargs.get("summary_writer") is not None:
        kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}", step)


def train(
    train_op: Any,
    logdir: str | None,
    train_step_fn: Callable[..., Any] = train_step,
    train_step_kwargs: Any = _USE_DEFAULT,
    log_every_n_steps: int | None = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = _USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = _USE_DEFAULT,
    init_fn: Callable[[Any], Any] | None = None,
    ready_op: Any = _USE_DEFAULT,
    summary_op: Any = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Trains until ``number_of_steps``, the end of the input, or an interrupt.

    Args:
      train_op: what ``create_train_op`` returned.
      logdir: directory of checkpoints and summaries; None: none are kept.
      train_step_fn: runs one step; see ``train_step``.
      train_step_kwargs: its arguments; default made from ``number_of_steps`` and
        ``log_every_n_steps``.
      log_every_n_steps: how often a step is logged; None: never.
      graph: the graph; default that of ``train_op``.
      master: where to run.
      is_chief: whether this task initializes and saves.
      global_step: the counter; default the graph's.
      number_of_steps: the last step; None: no limit.
      init_op, init_feed_dict, local_init_op, init_fn, ready_op, summary_op, save_summaries_secs,
        summary_writer, saver: of the Supervisor.
      startup_delay_steps: how many steps a task that is not the chief waits for; 0 with
        ``sync_optimizer``.
      save_interval_secs: time between checkpoints.
      sync_optimizer: the ``SyncReplicasOptimizer``, or several, that the steps update with.
      session_config: of the session.
      session_wrapper: from the session to what runs steps.
      trace_every_n_steps: how often the chief traces a step, for chrome://tracing, in ``logdir``.
      ignore_live_threads: whether threads that go on after the end are no error.

    Returns:
      The last loss, or None if no step was run.

    Raises:
      ValueError: no ``train_op``, or arguments that are at odds.
    """
    _check(train_op, number_of_steps)
    if logdir is None:
        _check_without_logdir(summary_op, saver, trace_every_n_steps)
    replicas = _synchronous(sync_optimizer, startup_delay_steps)
    graph = graph or scopes.get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = steps.get_or_create_global_step()
        saver = saver or tf_saver.Saver()
        hooks = [each.make_session_run_hook(is_chief) for each in replicas]
        for hook in hooks:
            hook.begin()
        arguments = train_step_kwargs
        if arguments is _USE_DEFAULT:
            arguments = _arguments(global_step, number_of_steps, log_every_n_steps)
            if is_chief and trace_every_n_steps is not None:
                arguments["should_trace"] = _every(global_step, trace_every_n_steps)
                arguments["logdir"] = logdir
        with scopes.name_scope("init_ops"):
            if init_op is _USE_DEFAULT:
                init_op = listing.global_variables_initializer()
            if ready_op is _USE_DEFAULT:
                ready_op = initialized.report_uninitialized_variables()
            if local_init_op is _USE_DEFAULT:
                local_init_op = group(listing.local_variables_initializer(), tables_initializer())
        if summary_op is _USE_DEFAULT:
            summary_op = build.merge_all()
        if summary_writer is _USE_DEFAULT:
            summary_writer = supervisor.Supervisor.USE_DEFAULT
    keeper = supervisor.Supervisor(
        graph=graph, is_chief=is_chief, logdir=logdir, init_op=init_op,
        init_feed_dict=init_feed_dict, local_init_op=local_init_op, ready_op=ready_op,
        ready_for_local_init_op=None, summary_op=summary_op, summary_writer=summary_writer,
        global_step=global_step, saver=saver, save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs, init_fn=init_fn,
    )  # fmt: skip
    if summary_writer is not None:
        arguments["summary_writer"] = keeper.summary_writer
    while True:
        try:
            with keeper.managed_session(
                master, start_standard_services=False, config=session_config
            ) as sess:
                if session_wrapper is not None:
                    sess = session_wrapper(sess)
                services: list[Any] = []
                if is_chief and logdir:
                    services = keeper.start_standard_services(sess) or []
                elif not is_chief and startup_delay_steps > 0:
                    until = min(startup_delay_steps, number_of_steps or sys.maxsize)
                    _wait(sess, global_step, until)
                keeper.start_queue_runners(sess)
                for hook in hooks:
                    hook.after_create_session(sess, keeper.coord)
                loss = _loop(keeper, sess, train_op, global_step, train_step_fn, arguments)
                for hook in hooks:
                    hook.end(sess)
                if logdir and is_chief:
                    # A checkpoint that the timer's thread still writes must not come after this.
                    keeper.request_stop()
                    for service in services:
                        service.join()
                    keeper.saver.save(sess, keeper.save_path, global_step=keeper.global_step)
            return loss
        except (errors.AbortedError, errors.UnavailableError):
            _LOG.info("Retrying training!")


def _check(train_op: Any, count: Any) -> None:
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if count is not None and count <= 0:
        raise ValueError(f"`number_of_steps` must be either None or a positive number: {count}")


def _check_without_logdir(summary_op: Any, saver: Any, trace: int | None) -> None:
    given = {"saver": saver is not None, "trace_every_n_steps": trace is not None}
    given["summary_op"] = summary_op is not _USE_DEFAULT
    for name, is_given in given.items():
        if is_given:
            raise ValueError(f"Cannot provide {name} because logdir=None: nothing is written")


def _synchronous(given: Any, delay: int) -> list[Any]:
    """The optimizers of ``sync_optimizer``."""
    if given is None:
        return []
    if delay > 0:
        raise ValueError(
            "startup_delay_steps must be zero when sync_optimizer is supplied: each step needs its"
            f" replicas; found {delay}"
        )
    found = given if isinstance(given, (list, tuple)) else [given]
    for each in found:
        if not isinstance(each, SyncReplicasOptimizer):
            raise ValueError(
                f"`sync_optimizer` must be a tf.train.SyncReplicasOptimizer, or a list of them;"
                f" found {each!r}"
            )
    return list(found)


def _arguments(global_step: Any, count: int | None, every: int | None) -> dict[str, Any]:
    with scopes.name_scope("train_step"):
        found: dict[str, Any] = {}
        found["should_stop"] = greater_equal(global_step, count) if count else constant(False)
        if every:
            found["should_log"] = _every(global_step, every)
        return found


def _every(global_step: Any, count: int) -> Any:
    return equal(global_step % count, 0)


def _wait(sess: Any, global_step: Any, until: int) -> None:
    while sess.run(global_step) < until:
        time.sleep(1)


def _loop(
    keeper: Any, sess: Any, train_op: Any, global_step: Any, step_fn: Callable[..., Any],
    arguments: Any,
) -> Any:  # fmt: skip
    """Steps until one says to stop; the last loss."""
    loss = None
    try:
        while not keeper.should_stop():
            loss, stop = step_fn(sess, train_op, global_step, arguments)
            if stop:
                _LOG.info("Stopping Training.")
                keeper.request_stop()
                break
    except errors.OutOfRangeError:
        _LOG.info("Caught OutOfRangeError. Stopping Training.")
        keeper.request_stop()
    return loss
