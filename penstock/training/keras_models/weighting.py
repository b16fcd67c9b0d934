"""How numbers of samples are weighed and become one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.foundation.graph import replicas, scopes
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


def masked(weights: Any, mask: Any, dtype: Any) -> Any:
    """Weights that are zero where a layer masked its output; ``weights`` or ``mask`` may be None.

    Args:
      weights: of samples, or of their steps.
      mask: [batch, steps], bool.
      dtype: of the result where there is a mask.
    """
    if mask is None:
        return weights
    mask = math.cast(mask, dtype)
    return mask if weights is None else mask * fitting(mask, weights)


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


def compute_weighted_loss(
    losses: Any, sample_weight: Any = None, reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Numbers of samples, weighed and reduced.

    Args:
      losses: [batch, ...].
      sample_weight: None, or broadcast to ``losses`` from the left.
      reduction: of ``Reduction``; "auto" is "sum_over_batch_size".
      name: of the scope.

    Raises:
      ValueError: there is no such reduction.
    """
    Reduction.validate(reduction)
    with scopes.name_scope(name, "weighted_loss", (losses, sample_weight)):
        return weighted_loss(losses, 1.0 if sample_weight is None else sample_weight, reduction)


def scale_loss_for_distribution(loss_value: Any) -> Any:
    """A loss divided by the number of replicas that train in step.

    Args:
      loss_value: the loss.
    """
    count = replicas.in_sync("scale_loss_for_distribution")
    return loss_value if count <= 1 else loss_value * (1.0 / count)


def standardize_sample_weights(sample_weight: Any, output_names: Sequence[str]) -> list[Any]:
    """Weights of samples in the order of a model's outputs.

    Args:
      sample_weight: for one output, or a list or dict for all.
      output_names: the outputs' names.

    Raises:
      ValueError: more weights than outputs.
      TypeError: something else.
    """
    names = list(output_names)
    if sample_weight is None or (isinstance(sample_weight, list | tuple) and not sample_weight):
        return [None] * len(names)
    if len(names) == 1:
        if isinstance(sample_weight, list | tuple) and len(sample_weight) == 1:
            return list(sample_weight)
        if isinstance(sample_weight, Mapping) and names[0] in sample_weight:
            return [sample_weight[names[0]]]
        return [sample_weight]
    if isinstance(sample_weight, Mapping):
        return [sample_weight.get(name) for name in names]
    if not isinstance(sample_weight, list | tuple):
        raise TypeError(
            f"The model has multiple outputs, so `sample_weight` should be either a list or a dict."
            f" Provided `sample_weight` type not understood: {sample_weight}"
        )
    if len(sample_weight) != len(names):
        raise ValueError(
            f"Provided `sample_weight` was a list of {len(sample_weight)} elements, but the model"
            f" has {len(names)} outputs. You should provide one `sample_weight` array per model"
            " output."
        )
    return list(sample_weight)
