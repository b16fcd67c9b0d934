"""Losses of lists of logits, and models for buckets of lengths."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import cast, nodes, reshape, shape
from penstock.ops.math import addn, reduction


def sequence_loss_by_example(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    softmax_loss_function: Any = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of each example.

    Args:
      logits: list of tensors [batch, classes].
      targets: list of as many int tensors [batch].
      weights: list of as many float tensors [batch].
      average_across_timesteps: whether to divide by the sum of the weights.
      softmax_loss_function: from (labels, logits), named so, to losses; default the sparse softmax
        cross entropy.

    Returns:
      [batch] floats.

    Raises:
      ValueError: lists of different lengths.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)},"
            f" {len(weights)}, {len(targets)}."
        )
    with scopes.name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                target = reshape.reshape(target, [-1])
                loss = sparse_softmax_cross_entropy_with_logits(labels=target, logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total: Any = addn.add_n(losses)
        if average_across_timesteps:
            # Just enough to avoid division by zero where all weights are.
            size: Any = addn.add_n(weights)
            total = total / (size + 1e-12)
        made: Tensor = total
        return made


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Any = None,
    name: str | None = None,
) -> Tensor:
    """The sum or mean over the batch of ``sequence_loss_by_example``.

    Args:
      logits, targets, weights, average_across_timesteps, softmax_loss_function: as there.
      average_across_batch: whether to divide by the batch size.

    Returns:
      A scalar.

    Raises:
      ValueError: lists of different lengths.
    """
    with scopes.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost: Any = reduction.reduce_sum(
            sequence_loss_by_example(
                logits,
                targets,
                weights,
                average_across_timesteps=average_across_timesteps,
                softmax_loss_function=softmax_loss_function,
            )
        )
        if not average_across_batch:
            summed: Tensor = cost
            return summed
        batch_size = nodes.element(shape.shape(targets[0]), 0)
        mean: Tensor = cost / cast.cast(batch_size, cost.dtype)
        return mean


def model_with_buckets(
    encoder_inputs: Any,
    decoder_inputs: Any,
    targets: Any,
    weights: Any,
    buckets: Any,
    seq2seq: Any,
    softmax_loss_function: Any = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """One model for each of several pairs of lengths, with the same variables.

    Args:
      encoder_inputs, decoder_inputs, targets, weights: lists of tensors, as long as the largest
        bucket.
      buckets: list of pairs (encoder length, decoder length), growing.
      seq2seq: from (encoder inputs, decoder inputs) to (outputs, state).
      softmax_loss_function: as of ``sequence_loss``.
      per_example_loss: whether losses are [batch], or scalars.

    Returns:
      The outputs and the losses of the buckets.

    Raises:
      ValueError: a list shorter than the last bucket.
    """
    last = buckets[-1]
    for which, given, wanted in (
        ("encoder_inputs", encoder_inputs, last[0]),
        ("targets", targets, last[1]),
        ("weights", weights, last[1]),
    ):
        if len(given) < wanted:
            raise ValueError(
                f"Length of {which} ({len(given)}) must be at least that of last bucket ({wanted})."
            )
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    values = [*encoder_inputs, *decoder_inputs, *targets, *weights]
    outputs, losses = [], []
    with scopes.name_scope(name, "model_with_buckets", values):
        for index, (longest_in, longest_out) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if index > 0 else None):
                found, _ = seq2seq(encoder_inputs[:longest_in], decoder_inputs[:longest_out])
                outputs.append(found)
                losses.append(
                    loss_of(
                        found,
                        targets[:longest_out],
                        weights[:longest_out],
                        softmax_loss_function=softmax_loss_function,
                    )
                )
    return outputs, losses
