"""Losses over replicas: what each replica's part of a batch adds to the loss of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import replicas
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import ranks, shape
from penstock.ops.array.cast import cast
from penstock.ops.control import check
from penstock.ops.math import binary, reduction, weights as spread


@contextmanager
def _of_rank_one(losses: Tensor) -> Iterator[None]:
    """Checks that losses are not one number: now, or when the step runs."""
    if losses.sizes is not None:
        if not losses.sizes:
            raise ValueError(
                "Invalid value passed for `per_example_loss`. Expected a tensor with at least"
                f" rank 1, received: {losses}"
            )
        yield
        return
    message = "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1."
    rank = ranks.rank(losses)
    one = cast(1, dtypes.int32)
    with control_dependencies([check.assert_greater_equal(rank, one, message=message)]):
        yield


def _weighted(losses: Tensor, sample_weight: Any) -> Tensor:
    losses, weights = cast(losses, dtypes.float32), cast(sample_weight, dtypes.float32)
    weights = spread.with_rank_of(weights, losses)
    made: Tensor = binary.multiply(losses, spread.broadcast_weights(weights, losses))
    return made


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """The losses of examples, summed up and divided by the size of the batch of all replicas.

    Args:
      per_example_loss: a loss for each example (and more dims, as of ``sample_weight``).
      sample_weight: what each counts: a scalar, or of a shape that spreads over the losses.
      global_batch_size: how many examples all replicas have; default this replica's, times the
        number of replicas.

    Returns:
      A scalar: the sum over replicas is the mean loss of the batch.

    Raises:
      RuntimeError: in a cross-replica context.
      ValueError: a loss that is a scalar.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.nn.compute_average_loss([2.0, 4.0], global_batch_size=4))
      np.float32(1.5)
    """
    losses = convert_to_tensor(per_example_loss)
    dtype = losses.dtype
    with _of_rank_one(losses):
        if sample_weight is not None:
            losses = _weighted(losses, sample_weight)
        losses = cast(losses, dtype)
        if global_batch_size is None:
            number = replicas.in_sync("compute_average_loss")
            examples: Any = shape.shape(losses)[0]
            global_batch_size = cast(examples * number, dtype)
        made: Tensor = reduction.reduce_sum(losses) / global_batch_size
        return made


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """A regularization loss, summed up and divided by the number of replicas that work in step.

    Args:
      regularization_loss: numbers.

    Raises:
      RuntimeError: in a cross-replica context.
    """
    number = replicas.in_sync("scale_regularization_loss")
    made: Tensor = reduction.reduce_sum(regularization_loss) / number
    return made
