"""How numbers of samples are weighed and become one number."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.ragged_tensors import dispatched as math
from penstock.ops.array import reshape as reshaping


class Reduction:
    """How a loss's numbers become one: ``tf.keras.losses.Reduction``."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """The reductions."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: str) -> None:
        """Refuses what is none of them.

        Raises:
          ValueError: it is none.
        """
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}; it is one of {', '.join(cls.all())}")


def fitting(values: Any, weights: Any) -> Any:
    """Weights in the type of ``values``, with a dim of 1 taken off or added to fit its rank."""
    weights = math.cast(convert_to_tensor(weights), values.dtype)
    rank, have = values.shape.ndims, weights.shape.ndims
    if rank is None or have is None or not rank or not have:
        return weights
    if have == rank + 1:
        return math.squeeze(weights, [-1])
    while have < rank:
        weights, have = math.expand_dims(weights, -1), have + 1
    return weights


def weighted_loss(values: Any, weights: Any, reduction: str) -> Any:
    """The values, weighed and reduced.

    Args:
      values: [batch, ...].
      weights: None, or broadcast to ``values`` from the left.
      reduction: of ``Reduction``.
    """
    values = convert_to_tensor(values)
    if weights is not None:
        values = values * fitting(values, weights)
    if reduction == Reduction.NONE:
        return values
    total = math.reduce_sum(values)
    if reduction == Reduction.SUM:
        return total
    count = math.cast(math.size(reshaping.reshape(values, [-1])), total.dtype)
    return math.div_no_nan(total, count)
