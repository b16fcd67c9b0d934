"""Initializers by the number of inputs and outputs of a unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.ops.random.random import random_uniform, truncated_normal

_MODES = ("FAN_IN", "FAN_OUT", "FAN_AVG")


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = dtypes.float32,
) -> Callable[..., Any]:
    """Random values whose variance is ``factor / n``, n the inputs or outputs of a unit.

    Args:
      factor: scale of the variance.
      mode: what n is: "FAN_IN", "FAN_OUT", or "FAN_AVG", their mean.
      uniform: whether they are uniform; else from a truncated normal.
      seed: op-level seed.
      dtype: floating type of the values.

    Returns:
      An initializer.

    Raises:
      TypeError: ``dtype`` is not floating, or ``mode`` is another.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     values = tf.contrib.layers.variance_scaling_initializer(seed=1)([50, 2])
      ...     sess.run(values).shape
      (50, 2)

    Source: He et al. 2015.
    """
    if not dtypes.as_dtype(dtype).is_floating:
        raise TypeError(f"Cannot create initializer for non-floating point type; found {dtype}")
    if mode not in _MODES:
        raise TypeError(f"Unknown mode {mode} [{', '.join(_MODES)}]")

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        if not dtypes.as_dtype(dtype).is_floating:
            raise TypeError(f"Cannot create initializer for non-floating point type; found {dtype}")
        count = _inputs(shape, mode)
        if uniform:
            limit = math.sqrt(3.0 * factor / count)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        # A normal that is cut off at two deviations keeps 1 / 1.3 of its variance.
        deviation = math.sqrt(1.3 * factor / count)
        return truncated_normal(shape, 0.0, deviation, dtype, seed=seed)

    return initializer


def _inputs(shape: Any, mode: str) -> float:
    sizes = [float(size) for size in shape]
    fan_in = sizes[-2] if len(sizes) > 1 else sizes[-1] if sizes else 1.0
    fan_out = sizes[-1] if sizes else 1.0
    field = math.prod(sizes[:-2])
    by_mode = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}
    return by_mode[mode] * field


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = dtypes.float32
) -> Callable[..., Any]:
    """Random values that keep the variance of what goes through a layer in both directions.

    Args:
      uniform: whether they are uniform; else from a truncated normal.
      seed: op-level seed.
      dtype: floating type of the values.

    Returns:
      An initializer.

    Source: Glorot and Bengio 2010.

    Example:
      >>> import penstock as tf
      >>> weights = tf.get_variable(
      ...     "weights", [100, 50], initializer=tf.contrib.layers.xavier_initializer()
      ... )
      >>> with tf.Session() as session:
      ...     session.run(weights.initializer)
      ...     bool(abs(session.run(weights)).max() <= (6 / (100 + 50)) ** 0.5)
      True
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer
