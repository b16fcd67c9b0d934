"""``sequence_loss``: cross entropy of sequences, weighted, summed or averaged."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from penstock.ops.array import cast, nodes, reshape, shape
from penstock.ops.math import no_nan, reduction, statistics


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Any = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of sequences of logits.

    Args:
      logits: [batch, time, classes] floats.
      targets: [batch, time] ints.
      weights: [batch, time] floats, 0 for elements that do not count.
      average_across_timesteps: whether to divide the sum over time by the weights of all.
      average_across_batch: the same over the batch.
      sum_over_timesteps: whether to divide the sum over time by the number of weights that are
        not zero.
      sum_over_batch: the same over the batch.
      softmax_loss_function: from (labels, logits), named so, to losses; default the sparse
        softmax cross entropy.

    Returns:
      A scalar, or [time] or [batch] or [batch, time] where nothing is said of a dim.

    Raises:
      ValueError: ranks do not fit, or both average and sum over a dim are asked for.
    """
    _check_ranks(logits, targets, weights)
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError(
            "average_across_timesteps and sum_over_timesteps cannot be set to True at same time."
        )
    if average_across_batch and sum_over_batch:
        raise ValueError(
            "average_across_batch and sum_over_batch cannot be set to True at same time."
        )
    with scopes.name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = nodes.element(shape.shape(logits), 2)
        flat_logits = reshape.reshape(logits, [-1, classes])
        flat_targets = reshape.reshape(targets, [-1])
        loss_fn = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        losses: Any = loss_fn(labels=flat_targets, logits=flat_logits)
        losses = losses * reshape.reshape(weights, [-1])
        both = (average_across_timesteps and average_across_batch) or (
            sum_over_timesteps and sum_over_batch
        )
        if both:
            return _divided(losses, weights, None, average_across_batch)
        dims: Any = shape.shape(logits)
        losses = reshape.reshape(losses, dims[0:2])
        if average_across_batch or sum_over_batch:
            return _divided(losses, weights, 0, average_across_batch)
        if average_across_timesteps or sum_over_timesteps:
            return _divided(losses, weights, 1, average_across_timesteps)
        made: Tensor = losses
        return made


def _divided(losses: Tensor, weights: Any, axis: int | None, by_weight: bool) -> Tensor:
    """Sum over ``axis`` (or all), by the sum of weights or the number of those not zero."""
    where = None if axis is None else [axis]
    total = reduction.reduce_sum(losses, axis=where)
    if by_weight:
        count = reduction.reduce_sum(weights, axis=where)
    else:
        count = cast.cast(statistics.count_nonzero(weights, axis=axis), total.dtype)
    return no_nan.div_no_nan(total, count)


def _check_ranks(logits: Any, targets: Any, weights: Any) -> None:
    for which, value, rank, dims in (
        ("Logits", logits, 3, "[batch_size x sequence_length x logits]"),
        ("Targets", targets, 2, "[batch_size x sequence_length]"),
        ("Weights", weights, 2, "[batch_size x sequence_length]"),
    ):
        found = convert_to_tensor(value).get_shape()
        if found.ndims != rank:
            raise ValueError(f"{which} must be a {dims} tensor; found shape {found}")
