"""Losses of ``tf.contrib.losses``: weighted, averaged over what has a weight, and collected.

A weight of rank r goes with the first r dims of the losses: a scalar with all of them, a vector
with examples.  The average is over all losses whose weight is not 0.
"""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import name_scope
from penstock.library.ragged_tensors import dispatched
from penstock.library.ragged_tensors.dispatched import (
    add_n,
    cast,
    div,
    div_no_nan,
    equal,
    multiply,
    not_equal,
    reduce_prod,
    reduce_sum,
    size,
    squeeze,
    where,
)
from penstock.ops.array.fill import ones
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape
from penstock.ops.array.slicing import slice_


def weighted_sum(losses: Any, weights: Any) -> Any:
    """The sum of losses times their weights."""
    axes = list(range(weights.get_shape().ndims, losses.get_shape().ndims))
    return reduce_sum(multiply(reduce_sum(losses, axes), weights))


def count_weighted(losses: Any, weights: Any) -> Any:
    """How many losses of each example have a weight that is not 0."""
    if weights.get_shape().ndims == 0:
        batch = reshape(slice_(shape(losses), [0], [1]), [])
        each = div(cast(size(losses), dtypes.float32), cast(batch, dtypes.float32))
        each = where(equal(weights, 0), 0.0, each)
        return dispatched.multiply(ones(reshape(batch, [1])), each)
    axes = list(range(1, weights.get_shape().ndims))
    present = reduce_sum(cast(not_equal(weights, 0), dtypes.float32), axes)
    inner = slice_(shape(losses), [weights.get_shape().ndims], [-1])
    return dispatched.multiply(present, cast(reduce_prod(inner), dtypes.float32))


def check_rank(what: str, tensor: Any) -> None:
    """Raises ValueError where a tensor's rank is not known."""
    if tensor.get_shape().ndims is None:
        raise ValueError(f"{what}.get_shape().ndims cannot be None; found {tensor}")


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean of losses, weighted; it is added to ``GraphKeys.LOSSES``.

    Args:
      losses: tensor [batch, ...].
      weights: scalar, or a tensor of the first dims of ``losses`` (a last dim of 1 is dropped).
      scope: name scope.

    Returns:
      A scalar of the type of ``losses``.

    Raises:
      ValueError: an unknown rank.
    """
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        dtype = losses.dtype
        losses = cast(losses, dtypes.float32)
        weights = cast(convert_to_tensor(weights), dtypes.float32)
        check_rank("losses", losses)
        check_rank("weights", weights)
        dims = weights.get_shape().dims
        if len(dims) > 1 and dims[-1].is_compatible_with(1):
            weights = squeeze(weights, [-1])
        total = weighted_sum(losses, weights)
        count = reduce_sum(count_weighted(losses, weights))
        mean = cast(div_no_nan(reduce_sum(total), count, name="value"), dtype)
        add_loss(mean)
        return mean


# ---- the collection of losses ------------------------------------------------------------------


@add_arg_scope
def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection.

    Args:
      loss: a scalar.
      loss_collection: the collection; None for none.
    """
    if loss_collection:
        collecting.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses of a collection whose names begin with ``scope``."""
    found: list[Any] = collecting.get_collection(loss_collection, scope)
    return found


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The regularization losses whose names begin with ``scope``."""
    found: list[Any] = collecting.get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)
    return found


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """The sum of all losses.

    Args:
      add_regularization_losses: whether the regularization losses count, too.
      name: name of the node.
    """
    losses = get_losses() + (get_regularization_losses() if add_regularization_losses else [])
    return add_n(losses, name=name)
