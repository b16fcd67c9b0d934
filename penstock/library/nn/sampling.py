"""Losses over a few sampled classes in place of all: NCE and sampled softmax.

Both compare each example's true classes with candidates that are shared by the whole batch.  With
the logits of one and the other less the log of their expected counts (so that frequent candidates
do not count for more), NCE asks a logistic question for each, sampled softmax one softmax over all.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import documented_as
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn import elementwise_losses, softmax_cross_entropy
from penstock.ops.array import fill, join, nodes, reshape, shape as shape_ops
from penstock.ops.control import control
from penstock.ops.linalg import matmul
from penstock.ops.nn import candidates, embedding
from penstock.ops.sparse import sparse


def _shape(x: Tensor) -> Any:
    return shape_ops.shape(x)


def _sum_rows(x: Tensor) -> Tensor:
    # A product with ones: for large batches faster than a sum along rows, and what TensorFlow does.
    ones = fill.ones(join.stack([_shape(x)[1], 1]), x.dtype)
    return reshape.reshape(matmul.matmul(x, ones), [-1])


def sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    subtract_log_q: bool = True,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Logits and labels of the true classes and of the candidates.

    Args:
      weights: ``[classes, dim]``, or a list of parts of it.
      biases: ``[classes]``.
      labels: ``[batch, num_true]``, the true classes.
      inputs: ``[batch, dim]``.
      num_sampled: how many candidates to draw for the batch.
      num_classes: how many classes there are.
      num_true: how many true classes an example has.
      sampled_values: what a candidate sampler returned; by default log-uniform candidates.
      subtract_log_q: whether to subtract the log of expected counts.
      remove_accidental_hits: whether a candidate that is a true class is taken out of the example.
      partition_strategy: how classes are spread over parts of ``weights``.
      seed: op-level seed of the default sampler.

    Returns:
      Logits and labels, both ``[batch, num_true + num_sampled]``; an example's labels sum to 1.
    """
    parts = embedding.as_parts(weights, "weights")
    with name_scope(name, "compute_sampled_logits", [*parts, biases, inputs, labels]):
        labels = _as_int64(convert_to_tensor(labels, name="labels"))
        inputs = convert_to_tensor(inputs, name="inputs")
        flat = reshape.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = candidates.log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes, seed
            )
        sampled, true_count, sampled_count = (control.stop_gradient(s) for s in sampled_values)
        sampled = _as_int64(sampled)
        true, others = _raw_logits(
            parts, biases, inputs, flat, sampled, num_true, partition_strategy
        )
        if remove_accidental_hits:
            others = others + _hits(labels, sampled, num_true, num_sampled, others.dtype)
        if subtract_log_q:
            true = true - make("Log", true_count)
            others = others - make("Log", sampled_count)
        logits = join.concat([true, others], 1)
        ones: Any = nodes.ones_like(true)
        wanted = join.concat([ones / num_true, nodes.zeros_like(others)], 1)
        return logits, wanted


def _as_int64(value: Tensor) -> Tensor:
    if value.dtype.base_dtype is dtypes.int64:
        return value
    return make_tensor("Cast", value, DstT=dtypes.int64)


def _raw_logits(
    parts: list[Any], biases: Any, inputs: Tensor, flat: Tensor, sampled: Tensor, num_true: int,
    strategy: str,
) -> tuple[Any, Any]:  # fmt: skip
    """Products with the true classes' weights, ``[batch, num_true]``, and with the candidates'."""
    everything = join.concat([flat, sampled], 0)
    rows = embedding.embedding_lookup(parts, everything, strategy)
    true_size = join.stack([_shape(flat)[0], -1])
    true_rows = make("Slice", rows, [0, 0], true_size)
    start = join.stack([_shape(flat)[0], 0])
    sampled_rows = make("Slice", rows, start, [-1, -1])
    others: Any = matmul.matmul(inputs, sampled_rows, transpose_b=True)

    bias = embedding.embedding_lookup(biases, everything, strategy)
    true_bias = make("Slice", bias, [0], _shape(flat))
    sampled_bias = make("Slice", bias, _shape(flat), [-1])

    dim = _shape(true_rows)[1:2]
    by_example = join.concat([[-1, num_true], dim], 0)
    products = make(
        "Mul", reshape.expand_dims(inputs, 1), reshape.reshape(true_rows, by_example), name="Mul"
    )
    dots = _sum_rows(reshape.reshape(products, join.concat([[-1], dim], 0)))
    true: Any = reshape.reshape(dots, [-1, num_true])
    true = true + reshape.reshape(true_bias, [-1, num_true])
    return true, others + sampled_bias


def _hits(
    labels: Tensor, sampled: Tensor, num_true: int, num_sampled: int, dtype: dtypes.DType
) -> Tensor:
    """What takes accidental hits out of the candidates' logits: the lowest float at each."""
    row, place, weight = candidates.compute_accidental_hits(labels, sampled, num_true)
    column = reshape.reshape(row, [-1, 1])
    other = reshape.reshape(make("Cast", place, DstT=dtypes.int32), [-1, 1])
    indices = join.concat([column, other], 1, "sparse_indices")
    size = join.concat([_shape(labels)[:1], reshape.expand_dims(num_sampled, 0)], 0)
    if weight.dtype is not dtype:
        weight = make("Cast", weight, DstT=dtype)
    return sparse.sparse_to_dense(indices, size, weight, 0.0, validate_indices=False)


@documented_as(sampled_logits)
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation: is this class the data's or the sampler's?

    Returns:
      The loss of each example, ``[batch]``.

    Source: Gutmann and Hyvärinen, Noise-contrastive estimation, 2010.

    Example:
      >>> import penstock as tf
      >>> weights, biases = tf.get_variable("weights", [1000, 8]), tf.zeros([1000])
      >>> words, context = tf.constant([[17], [42]]), tf.ones([2, 8])
      >>> loss = tf.nn.nce_loss(weights, biases, words, context, num_sampled=16, num_classes=1000)
      >>> loss.shape.as_list()  # an example each
      [2]
    """
    logits, wanted = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits=remove_accidental_hits, partition_strategy=partition_strategy,
        name=name,
    )  # fmt: skip
    return _sum_rows(
        elementwise_losses.sigmoid_cross_entropy_with_logits(
            labels=wanted, logits=logits, name="sampled_losses"
        )
    )


@documented_as(nce_loss, sampled_logits)
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """Softmax cross-entropy over the true classes and sampled candidates; for training only.

    Source: Jean et al., On Using Very Large Target Vocabulary, 2014.

    Example:
      >>> import penstock as tf
      >>> weights, biases = tf.get_variable("weights", [1000, 8]), tf.zeros([1000])
      >>> words, context = tf.constant([[17], [42]]), tf.ones([2, 8])
      >>> loss = tf.nn.sampled_softmax_loss(weights, biases, words, context, 16, 1000)
      >>> loss.shape.as_list()
      [2]
    """
    logits, wanted = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits=remove_accidental_hits, partition_strategy=partition_strategy,
        name=name, seed=seed,
    )  # fmt: skip
    wanted = make("StopGradient", wanted, name="labels_stop_gradient")
    return softmax_cross_entropy.softmax_cross_entropy_with_logits_v2(labels=wanted, logits=logits)
