"""Training that updates masks after every step."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from penstock.contrib.slim import learning

_USE_DEFAULT = inspect.signature(learning.train).parameters["train_step_kwargs"].default


def train(
    train_op: Any,
    logdir: str | None,
    mask_update_op: Any,
    train_step_fn: Callable[..., Any] = learning.train_step,
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
    trace_every_n_steps: int | None = None,
) -> Any:
    """As ``tf.contrib.slim.learning.train``, and runs ``mask_update_op`` after every step.

    Args:
      train_op: what ``create_train_op`` returned.
      logdir: directory of checkpoints and summaries.
      mask_update_op: such as ``Pruning(...).conditional_mask_update_op()``.
      train_step_fn .. trace_every_n_steps: as there.

    Returns:
      The last loss.
    """

    def step(sess: Any, *args: Any) -> Any:
        found = train_step_fn(sess, *args)
        sess.run(mask_update_op)
        return found

    return learning.train(
        train_op, logdir, train_step_fn=step, train_step_kwargs=train_step_kwargs,
        log_every_n_steps=log_every_n_steps, graph=graph, master=master, is_chief=is_chief,
        global_step=global_step, number_of_steps=number_of_steps, init_op=init_op,
        init_feed_dict=init_feed_dict, local_init_op=local_init_op, init_fn=init_fn,
        ready_op=ready_op, summary_op=summary_op, save_summaries_secs=save_summaries_secs,
        summary_writer=summary_writer, startup_delay_steps=startup_delay_steps, saver=saver,
        save_interval_secs=save_interval_secs, sync_optimizer=sync_optimizer,
        session_config=session_config, trace_every_n_steps=trace_every_n_steps,
    )  # fmt: skip
