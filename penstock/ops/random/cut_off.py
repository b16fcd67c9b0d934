"""Draws from normal distributions that are cut off anywhere, one each batch."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.random.random import seeds, shape_tensor


def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers drawn from a normal distribution that is cut off anywhere.

    Args:
      shape: of the result; its first dim are batches.
      means, stddevs: of the distribution before it is cut off; scalars, or one each batch.
      minvals, maxvals: where it is cut off; likewise.
      dtype: half, bfloat16, float32 or float64.
      seed: op-level seed.

    Returns:
      A tensor of ``shape`` and ``dtype``.
    """
    given = (("means", means), ("stddevs", stddevs), ("minvals", minvals), ("maxvals", maxvals))
    values = [shape, means, stddevs, minvals, maxvals]
    with name_scope(name, "parameterized_truncated_normal", values):
        sizes = shape_tensor(shape)
        parts = [convert_to_tensor(value, dtype, name=what) for what, value in given]
        return make("ParameterizedTruncatedNormal", sizes, *parts, **seeds(seed))
