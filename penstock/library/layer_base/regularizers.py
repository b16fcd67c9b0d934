"""Regularizers of layers: ``tf.keras.regularizers``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from penstock.foundation.graph.build import constant
from penstock.library.layer_base import configs, settings
from penstock.ops.math import elementwise, reduction


class Regularizer:
    """Base of regularizers: called with a tensor, they return a scalar loss."""

    def __call__(self, x: Any) -> Any:
        """The loss."""
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The regularizer that ``get_config`` describes."""
        return cls(**config)


class L1L2(Regularizer):
    """``l1 * sum|x| + l2 * sum x**2``.

    Args:
      l1, l2: factors.
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1 = np.asarray(l1, settings.floatx())
        self.l2 = np.asarray(l2, settings.floatx())

    def __call__(self, x: Any) -> Any:
        """The loss of ``x``, a scalar tensor."""
        if not self.l1 and not self.l2:
            return constant(0.0, settings.floatx())
        loss: Any = 0.0
        if self.l1:
            loss += self.l1 * reduction.reduce_sum(elementwise.abs_(x))
        if self.l2:
            loss += self.l2 * reduction.reduce_sum(elementwise.square(x))
        return loss

    def get_config(self) -> dict[str, float]:
        """The arguments that make this regularizer again."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


def l1(l: float = 0.01) -> L1L2:  # noqa: E741
    """``L1L2`` with the first factor alone."""
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741
    """``L1L2`` with the second factor alone."""
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """``L1L2`` with other defaults."""
    return L1L2(l1=l1, l2=l2)


_KNOWN: dict[str, Any] = {"L1L2": L1L2, "l1": l1, "l2": l2, "l1_l2": l1_l2}
_FACTORIES = {l1, l2, l1_l2}


def serialize(regularizer: Any) -> Any:
    """A regularizer as a configuration."""
    return configs.serialized(regularizer)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The regularizer that a configuration or a name stands for."""
    found = configs.made_from(config, _KNOWN, "regularizer", custom_objects)
    return found() if found in _FACTORIES else found


def get(identifier: Any) -> Any:
    """The regularizer that a name, a configuration, itself or None stands for.

    Raises:
      ValueError: no regularizer has that name.
    """
    if isinstance(identifier, str | dict):
        return deserialize(identifier)
    if identifier is None or callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret regularizer identifier: {identifier}")
