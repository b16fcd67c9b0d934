"""Sparsemax: the probabilities that lie nearest to the logits, many of them exactly 0.

With logits sorted downwards, the k greatest are kept for the last k with ``1 + k z_k > z_1 + ... +
z_k``; tau, which is taken from them, makes the sum 1.

Source: Martins and Astudillo, "From Softmax to Sparsemax", algorithm 1 and equation 14.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.ragged_tensors.dispatched import (
    cast,
    equal,
    expand_dims,
    gather_nd,
    greater,
    is_inf,
    is_nan,
    logical_and,
    logical_or,
    maximum,
    reduce_sum,
    stack,
    where,
    zeros_like,
)
from penstock.ops.array.fill import fill
from penstock.ops.array.ranges import range_
from penstock.ops.array.shape import shape
from penstock.ops.array.sorting import top_k
from penstock.ops.math.cumulative import cumsum


def sparsemax(logits: Any, name: str | None = None) -> Any:
    """The probabilities nearest to ``logits``.

    Args:
      logits: [batch, classes] floats.
      name: name scope.

    Returns:
      Floats of that shape; NaN in rows that have one.
    """
    with name_scope(name, "sparsemax", [logits]):
        z: Any = convert_to_tensor(logits, name="logits")
        batch, classes = shape(z)[0], shape(z)[1]
        ordered, _ = top_k(z, k=classes)
        sums: Any = cumsum(ordered, axis=1)
        k: Any = cast(range_(1, classes + 1), z.dtype)
        kept: Any = reduce_sum(cast(greater(1 + k * ordered, sums), dtypes.int32), axis=1)
        last = stack([range_(0, batch), maximum(kept, 1) - 1], axis=1)
        tau = (gather_nd(sums, last) - 1) / cast(kept, z.dtype)
        found = maximum(cast(0, z.dtype), z - expand_dims(tau, 1))
        bad = logical_or(equal(kept, 0), is_nan(sums[:, -1]))
        return where(bad, fill([batch, classes], cast(float("nan"), z.dtype)), found)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> Any:
    """The loss that belongs to ``sparsemax``.

    Args:
      logits: [batch, classes] floats.
      sparsemax: what ``sparsemax(logits)`` returned.
      labels: [batch, classes] probabilities.
      name: name scope.

    Returns:
      [batch] floats.
    """
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        z: Any = convert_to_tensor(logits, name="logits")
        p: Any = convert_to_tensor(sparsemax, name="sparsemax")
        q: Any = convert_to_tensor(labels, name="labels")
        # Infinite logits of classes without probability count for nothing.
        some = logical_or(greater(p, 0), is_nan(p))
        support = where(some, p * (z - 0.5 * p), zeros_like(p))
        none = logical_and(equal(q, 0), is_inf(z))
        wanted = where(none, zeros_like(z), q * (0.5 * q - z))
        return reduce_sum(support + wanted, axis=1)
