"""A training op that returns the loss, and the loop that runs it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.library.ragged_tensors import dispatched
from penstock.library.variables.global_step import get_or_create_global_step
from penstock.library.variables.listing import trainable_variables
from penstock.ops.control.control import no_op, with_dependencies
from penstock.ops.math.clip import clip_by_norm, global_norm
from penstock.storage.summary.build import histogram, scalar
from penstock.training.monitored.training_session import MonitoredTrainingSession

_LOG = logging.getLogger("penstock")
USE_GLOBAL_STEP = 0

Pairs = list[tuple[Any, Any]]


def _on_values(grad: Any, change: Callable[[Any], Any]) -> Any:
    """A gradient with its values changed, sparse or not."""
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(change(grad.values), grad.indices, grad.dense_shape)
    return change(grad)


def clip_gradient_norms(gradients_to_variables: Pairs, max_norm: Any) -> Pairs:
    """Clips each gradient to a norm of its own.

    Args:
      gradients_to_variables: (gradient or None, variable) pairs.
      max_norm: the greatest norm.

    Returns:
      A list of pairs.
    """
    return [
        (g if g is None else _on_values(g, lambda x: clip_by_norm(x, max_norm)), v)
        for g, v in gradients_to_variables
    ]


def clip_gradient_norms_fn(max_norm: Any) -> Callable[[Pairs], Pairs]:
    """``clip_gradient_norms`` as a function of the pairs alone."""

    def clip_norms(gradients_to_variables: Pairs) -> Pairs:
        return clip_gradient_norms(gradients_to_variables, max_norm)

    return clip_norms


def multiply_gradients(grads_and_vars: Pairs, gradient_multipliers: Mapping[Any, Any]) -> Pairs:
    """Multiplies the gradients of some variables.

    Args:
      grads_and_vars: list of (gradient, variable) pairs.
      gradient_multipliers: from variables or their names to numbers.

    Returns:
      A list of pairs.

    Raises:
      ValueError: arguments of other types, no multipliers, or one of a variable without gradient.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError(f"`grads_and_vars` must be a list; found {type(grads_and_vars).__name__}.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    made = []
    for grad, var in grads_and_vars:
        key = var if var in gradient_multipliers else var.op.name
        if key in gradient_multipliers:
            if grad is None:
                raise ValueError(f"Requested multiple of `None` gradient: {var.op.name}.")
            by: Any = convert_to_tensor(gradient_multipliers[key], dtype=grad.dtype)
            grad = _on_values(grad, lambda x, by=by: x * by)  # type: ignore[misc]
        made.append((grad, var))
    return made


def add_gradients_summaries(grads_and_vars: Pairs) -> list[Any]:
    """Adds a histogram and the norm of each gradient.

    Args:
      grads_and_vars: (gradient or None, variable) pairs.

    Returns:
      The summaries.
    """
    summaries = []
    for grad, var in grads_and_vars:
        if grad is None:
            _LOG.info("Var %s has no gradient", var.op.name)
            continue
        values = grad.values if isinstance(grad, IndexedSlices) else grad
        summaries.append(histogram(f"{var.op.name}_gradient", values))
        norm = global_norm([values])
        summaries.append(scalar(f"{var.op.name}_gradient_norm", norm))
    return summaries


def _after_updates(total_loss: Any, update_ops: Sequence[Any] | None) -> Any:
    """The loss, once the update ops have run."""
    collected = list(dict.fromkeys(collecting.get_collection(GraphKeys.UPDATE_OPS)))
    updates = collected if update_ops is None else list(dict.fromkeys(update_ops))
    if any(op not in updates for op in collected):
        _LOG.warning(
            "update_ops in create_train_op does not contain all the update_ops in"
            " GraphKeys.UPDATE_OPS"
        )
    if not updates:
        return total_loss
    with control_dependencies(updates):
        barrier = no_op(name="update_barrier")
    return with_dependencies([barrier], total_loss)


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = USE_GLOBAL_STEP,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    transform_grads_fn: Callable[[Pairs], Pairs] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = 1,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """A tensor that trains one step and is the loss.

    Args:
      total_loss: a scalar.
      optimizer: an optimizer.
      global_step: what is counted up; None for nothing; default the graph's global step.
      update_ops: ops to run first; default ``GraphKeys.UPDATE_OPS``.
      variables_to_train: default all trainable variables.
      transform_grads_fn: from (gradient, variable) pairs to pairs.
      summarize_gradients: whether gradients get summaries.
      gate_gradients, aggregation_method, colocate_gradients_with_ops: those of
        ``tf.train.Optimizer.compute_gradients``.
      check_numerics: whether a loss that is infinite or NaN is an error.

    Returns:
      A tensor; it is added to ``GraphKeys.TRAIN_OP``.

    Raises:
      AssertionError: no variables, or ones that are not trainable.
    """
    if global_step is USE_GLOBAL_STEP:
        global_step = get_or_create_global_step()
    total_loss = _after_updates(total_loss, update_ops)
    trainable = trainable_variables()
    variables = trainable if variables_to_train is None else list(variables_to_train)
    if not variables or any(all(v is not t for t in trainable) for v in variables):
        raise AssertionError(
            f"variables_to_train must be trainable variables; found {[str(v) for v in variables]}"
        )
    pairs = optimizer.compute_gradients(
        total_loss,
        variables,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    updates = optimizer.apply_gradients(pairs, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = dispatched.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = with_dependencies([updates], total_loss)
    collected = scopes.get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
    if all(train_op is not op for op in collected):
        collected.append(train_op)
    return train_op


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Sequence[Any] | None = None,
    chief_only_hooks: Sequence[Any] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
    max_wait_secs: float = 7200,
    run_metadata: Any = None,
) -> Any:
    """Runs a training op until a hook stops it.

    Args:
      train_op: what ``create_train_op`` returned.
      logdir: directory of checkpoints and summaries.
      master: where to run.
      is_chief: whether this task initializes and saves.
      scaffold, hooks, chief_only_hooks, save_checkpoint_secs, save_summaries_steps, config,
      max_wait_secs: those of ``tf.train.MonitoredTrainingSession``.
      run_metadata: a ``tf.RunMetadata`` to fill.

    Returns:
      The last value of ``train_op``.

    Raises:
      ValueError: something is to be saved, and there is no ``logdir``.
    """
    if logdir is None and is_chief:
        for what, given in (
            ("save_summaries_steps", save_summaries_steps),
            ("save_checkpoint_secs", save_checkpoint_secs),
        ):
            if given:
                raise ValueError(f"logdir cannot be None when {what} is not None")
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        loss = None
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
