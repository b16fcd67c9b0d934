"""Sampled softmax losses: from sparse labels, and with candidates ranked and drawn twice."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.scopes import name_scope
from penstock.library.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from penstock.library.nn.sampling import sampled_logits, sampled_softmax_loss
from penstock.library.ragged_tensors.dispatched import cast, gather
from penstock.ops.array.fill import zeros
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape
from penstock.ops.array.sorting import top_k
from penstock.ops.control.control import stop_gradient
from penstock.ops.linalg.matmul import matmul
from penstock.ops.math.statistics import reduce_logsumexp
from penstock.ops.nn.candidates import learned_unigram_candidate_sampler
from penstock.ops.nn.embedding import embedding_lookup


def rank_sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    resampling_temperature: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> Any:
    """``tf.nn.sampled_softmax_loss`` with the most likely of the sampled classes.

    Args:
      weights: [classes, dim], or its parts.
      biases: [classes].
      labels: [batch, num_true] int64 classes.
      inputs: [batch, dim].
      num_sampled: how many classes are drawn.
      num_resampled: how many of those are kept: the ones with the greatest logits.
      num_classes: number of classes.
      num_true: number of labels an example.
      sampled_values: what a candidate sampler returned; default the learned unigram sampler's.
      resampling_temperature: divides logits before they are ranked.
      remove_accidental_hits: whether drawn classes that are labels are left out.
      partition_strategy: ``"div"`` or ``"mod"``.
      name: name scope.

    Returns:
      [batch] losses.

    Raises:
      ValueError: numbers or a strategy that are not allowed.
    """
    if num_sampled > num_classes:
        raise ValueError(
            f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})"
        )
    if num_sampled <= num_resampled:
        raise ValueError(
            f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})"
        )
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    given = [weights, biases, labels, inputs, sampled_values, resampling_temperature]
    with name_scope(name, "rank_sampled_softmax_loss", given) as scope:
        if not sampled_values:
            sampled_values = learned_unigram_candidate_sampler(
                true_classes=labels, num_true=num_true, num_sampled=num_sampled, unique=True,
                range_max=num_classes,
            )  # fmt: skip
        kept = _likeliest(
            weights, biases, inputs, sampled_values, num_resampled, resampling_temperature,
            partition_strategy,
        )  # fmt: skip
        return sampled_softmax_loss(
            weights=weights, biases=biases, labels=labels, inputs=inputs,
            num_sampled=num_resampled, num_classes=num_classes, num_true=num_true,
            sampled_values=kept, remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy, name=scope,
        )  # fmt: skip


def _likeliest(
    weights: Any, biases: Any, inputs: Any, sampled_values: Any, count: int, temperature: Any,
    strategy: str,
) -> tuple[Any, Any, Any]:  # fmt: skip
    sampled, true_expected, sampled_expected = map(stop_gradient, sampled_values)
    sampled = cast(sampled, dtypes.int64)
    rows = embedding_lookup(weights, sampled, partition_strategy=strategy)
    logits = matmul(rows, inputs / temperature, transpose_b=True)
    scores = reduce_logsumexp(logits, axis=1)
    bias = embedding_lookup(biases, sampled, partition_strategy=strategy)
    scores = scores + reshape(bias, [-1]) / temperature
    _, best = top_k(scores, k=count, sorted=False)
    return gather(sampled, best), true_expected, gather(sampled_expected, best)


def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Any:
    """``tf.nn.sampled_softmax_loss`` for one label an example.

    Args:
      weights: [classes, dim], or its parts.
      biases: [classes].
      labels: [batch, 1] int64 classes.
      inputs: [batch, dim].
      num_sampled: how many classes are drawn.
      num_classes: number of classes.
      sampled_values: what a candidate sampler returned; default the log-uniform sampler's.
      remove_accidental_hits: whether drawn classes that are labels are left out.
      partition_strategy: ``"div"`` or ``"mod"``.
      name: name scope.

    Returns:
      [batch] losses.
    """
    logits, _ = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, 1, sampled_values,
        remove_accidental_hits=remove_accidental_hits, partition_strategy=partition_strategy,
        name=name,
    )  # fmt: skip
    first = zeros([shape(logits)[0]], dtypes.int64)  # the true class has the first column
    return sparse_softmax_cross_entropy_with_logits(labels=first, logits=logits)
