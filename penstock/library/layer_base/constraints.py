"""Constraints of weights: ``tf.keras.constraints``; functions from a value to the nearest allowed.

The optimizer applies a variable's constraint after each update.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from penstock.foundation.graph.build import constant
from penstock.library.layer_base import configs, settings
from penstock.ops.array import cast, gather, reshape
from penstock.ops.math import clip, elementwise, reduction


class Constraint:
    """Base of constraints: called with a weight, they return the value that replaces it."""

    def __call__(self, w: Any) -> Any:
        """The value that replaces ``w``."""
        return w

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this constraint again."""
        return {}


def _norm(w: Any, axis: Any) -> Any:
    squares = reduction.reduce_sum(elementwise.square(w), axis, keepdims=True)
    least, most = constant(0.0, w.dtype), constant(np.inf, w.dtype)
    return elementwise.sqrt(clip.clip_by_value(squares, least, most))


def _clipped(x: Any, least: float, most: float) -> Any:
    low, high = constant(least, x.dtype), constant(most, x.dtype)
    return clip.clip_by_value(x, low, high)


class MaxNorm(Constraint):
    """The norm over ``axis`` is at most ``max_value``.

    Args:
      max_value: bound.
      axis: axis or axes that are summed.
    """

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        """``w``, shortened where it is too long."""
        norms = _norm(w, self.axis)
        desired = _clipped(norms, 0, self.max_value)
        return w * (desired / (settings.epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this constraint again."""
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """No weight is negative."""

    def __call__(self, w: Any) -> Any:
        """``w`` with zeros for what is negative."""
        return w * cast.cast(w >= 0.0, settings.floatx())


class UnitNorm(Constraint):
    """The norm over ``axis`` is 1.

    Args:
      axis: axis or axes that are summed.
    """

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """``w`` by its norm."""
        return w / (settings.epsilon() + _norm(w, self.axis))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this constraint again."""
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """The norm over ``axis`` lies between two bounds.

    Args:
      min_value, max_value: bounds.
      rate: how much of the way to the bounds an update goes; 1 all of it.
      axis: axis or axes that are summed.
    """

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0
    ) -> None:
        self.min_value, self.max_value = min_value, max_value
        self.rate, self.axis = rate, axis

    def __call__(self, w: Any) -> Any:
        """``w`` with its norm moved towards the bounds."""
        norms = _norm(w, self.axis)
        within = _clipped(norms, self.min_value, self.max_value)
        desired = self.rate * within + (1 - self.rate) * norms
        return w * (desired / (settings.epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this constraint again."""
        return {
            "min_value": self.min_value, "max_value": self.max_value, "rate": self.rate,
            "axis": self.axis,
        }  # fmt: skip


class RadialConstraint(Constraint):
    """All weights of a square kernel that are as far from its middle are the same.

    Those of each ring become what stands on the diagonal half a kernel after it, those in the
    middle what stands there before it: a kernel of four rows has the second number of the diagonal
    in its middle and the last around it. It is for kernels of images.

    Example:
      >>> import numpy as np
      >>> import penstock as tf
      >>> kernel = np.arange(9.0).reshape(3, 3, 1, 1)
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     made = tf.keras.constraints.RadialConstraint()(tf.constant(kernel))
      ...     session.run(made)[:, :, 0, 0].tolist()
      [[4.0, 4.0, 4.0], [4.0, 0.0, 4.0], [4.0, 4.0, 4.0]]
    """

    def __call__(self, w: Any) -> Any:
        """The kernel [rows, columns, input channels, output channels] with its rings made even.

        Raises:
          ValueError: it has another rank.
        """
        if w.shape.ndims != 4:
            raise ValueError(
                f"The weight tensor must be of rank 4, but is of shape: {w.shape}; it is"
                " [rows, columns, input channels, output channels]"
            )
        dims = w.shape.as_list()
        size, half = dims[0], dims[0] // 2
        even = size % 2 == 0
        away = np.abs(np.arange(size) - half)
        if even:  # two rows are in the middle
            away = np.minimum(away, np.abs(np.arange(size) - half + 1))
        ring = np.maximum(away[:, None], away)
        at = np.where(ring == 0, half - 1, half + ring - (0 if even else 1))
        found = gather.gather_nd(w, constant(np.stack([at, at], -1)))
        return reshape.reshape(found, dims)


_KNOWN: dict[str, Any] = {
    "MaxNorm": MaxNorm, "NonNeg": NonNeg, "UnitNorm": UnitNorm, "MinMaxNorm": MinMaxNorm,
    "max_norm": MaxNorm, "non_neg": NonNeg, "unit_norm": UnitNorm, "min_max_norm": MinMaxNorm,
    "RadialConstraint": RadialConstraint, "radial_constraint": RadialConstraint,
    "maxnorm": MaxNorm, "nonneg": NonNeg, "unitnorm": UnitNorm,
}  # fmt: skip


def serialize(constraint: Any) -> Any:
    """A constraint as a configuration."""
    return configs.serialized(constraint)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The constraint that a configuration or a name stands for."""
    return configs.made_from(config, _KNOWN, "constraint", custom_objects)


def get(identifier: Any) -> Any:
    """The constraint that a name, a configuration, itself or None stands for.

    Raises:
      ValueError: no constraint has that name.
    """
    if isinstance(identifier, str | dict):
        return deserialize(identifier)
    if identifier is None or callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret constraint identifier: {identifier}")
