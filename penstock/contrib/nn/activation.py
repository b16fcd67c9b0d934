"""Alpha dropout and scaled softplus."""

from __future__ import annotations

import numbers
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.ragged_tensors.dispatched import cast, greater_equal, minimum
from penstock.ops.array import shape as shape_ops
from penstock.ops.array.static_values import get_static_value
from penstock.ops.nn.activation import softplus
from penstock.ops.random.random import random_uniform

# The value of SELU far to the left: -scale * alpha of that function.
_SELU_FLOOR = -1.7580993408473766


def alpha_dropout(
    x: Any, keep_prob: Any, noise_shape: Any = None, seed: int | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Dropout that keeps mean 0 and variance 1, for layers with ``tf.nn.selu``.

    Args:
      x: float tensor.
      keep_prob: scalar in (0, 1]: the probability that an element is kept.
      noise_shape: shape of the draws, which broadcasts to that of ``x``.
      seed: op-level seed.
      name: name scope.

    Returns:
      A tensor as ``x``.

    Raises:
      ValueError: ``keep_prob`` out of range.

    Source: Klambauer et al., "Self-Normalizing Neural Networks", section 2.
    """
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < float(keep_prob) <= 1:
            raise ValueError(
                "keep_prob must be a scalar tensor or a float in the range (0, 1], got"
                f" {float(keep_prob):g}"
            )
        keep: Any = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep.get_shape().assert_has_rank(0)
        if get_static_value(keep) == 1:
            return x
        shape = shape_ops.shape(x) if noise_shape is None else noise_shape
        drawn: Any = random_uniform(shape, seed=seed, dtype=x.dtype)
        kept = cast(greater_equal(drawn, 1 - keep), x.dtype)
        dropped = x * kept + _SELU_FLOOR * (1 - kept)
        scale = (keep + keep * (1 - keep) * _SELU_FLOOR**2) ** -0.5
        offset = -scale * _SELU_FLOOR * (1 - keep)
        return scale * dropped + offset


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> Any:
    """``alpha * softplus(x / alpha)``, at most ``clip``.

    Args:
      x: float tensor.
      alpha: tensor that broadcasts with it.
      clip: the greatest value; default none.
      name: name scope.

    Returns:
      A tensor as ``x``.
    """
    given = [x, alpha] + ([] if clip is None else [clip])
    with name_scope(name, "scaled_softplus", given):
        x = convert_to_tensor(x, name="x")
        scale: Any = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        y = scale * softplus(x / scale)
        if clip is not None:
            y = minimum(y, convert_to_tensor(clip, dtype=x.dtype, name="clip"))
        return y
