"""Loss scales: what a loss is multiplied by, so that gradients of float16 do not vanish.

State of a dynamic scale: two variables, the scale and how many steps in a row were finite.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.library.variables import creation
from penstock.ops.control import control
from penstock.ops.math import reductions
from penstock.training.distribute import context as distribution


class LossScale(abc.ABC):
    """Base class of loss scales; subclasses have ``__call__``, ``update`` and ``get_config``."""

    def __init__(self) -> None:
        self._weights: dict[str, Any] = {}
        self._checkpoint_dependencies: list[tuple[str, Any]] = []

    @abc.abstractmethod
    def __call__(self) -> Tensor:
        """The scale now, a float32 scalar."""

    @abc.abstractmethod
    def update(self, grads: Any) -> tuple[Any, Any]:
        """Adapts the scale to gradients.

        Args:
          grads: a nesting of gradients, already divided by the scale.

        Returns:
          The op that adapts it, and whether the gradients are to be applied: a bool or a tensor.
        """

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal scale."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The scale of ``get_config``'s arguments."""
        return cls(**config)

    def _add_weight(self, name: str, initial_value: Any, dtype: Any = None) -> Any:
        """A variable of the scale, saved with it under ``name``.

        Raises:
          RuntimeError: there is one of that name.
        """
        if name in self._weights:
            raise RuntimeError(f"Duplicate variables detected. {name}")
        made = creation.create(
            initial_value, name=name, dtype=dtype, trainable=False, use_resource=True
        )
        self._weights[name] = made
        self._checkpoint_dependencies = sorted(self._weights.items())
        return made


class FixedLossScale(LossScale):
    """A scale that stays as it is.

    Args:
      loss_scale_value: an int or float of at least 1.

    Raises:
      ValueError: it is neither, or less.

    >>> tf.train.experimental.FixedLossScale(128)
    FixedLossScale(128.0)
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        if not isinstance(loss_scale_value, int | float):
            raise ValueError(
                f"loss_scale_value must be a Python int or float.: found {loss_scale_value!r}"
            )
        if loss_scale_value < 1:
            raise ValueError(f"loss_scale_value must be at least 1.: found {loss_scale_value}")
        self._value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        """The scale, a float32 scalar."""
        return convert_to_tensor(self._value)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """Nothing to do, and True."""
        return control.no_op(), True

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal scale."""
        return {"loss_scale_value": self._value}

    def __repr__(self) -> str:
        return f"FixedLossScale({self._value})"


class DynamicLossScale(LossScale):
    """A scale that grows until gradients overflow, and then falls.

    It is multiplied after ``increment_period`` steps in a row whose gradients were all finite, and
    divided, down to 1, after a step with one that was not; such a step is not applied.

    Args:
      initial_loss_scale: the first scale.
      increment_period: how many finite steps make it grow.
      multiplier: by how much it grows or falls.
    """

    def __init__(
        self,
        initial_loss_scale: float = 2**15,
        increment_period: int = 2000,
        multiplier: float = 2.0,
    ) -> None:
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._scale = self._add_weight(
            "current_loss_scale", self._initial_loss_scale, dtypes.float32
        )
        self._good_steps = self._add_weight("good_steps", 0, dtypes.int64)

    @property
    def initial_loss_scale(self) -> float:
        """The first scale."""
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        """How many finite steps make the scale grow."""
        return self._increment_period

    @property
    def multiplier(self) -> float:
        """By how much the scale grows or falls."""
        return self._multiplier

    def __call__(self) -> Tensor:
        """The scale now, a float32 scalar."""
        return convert_to_tensor(self._scale)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """Adapts the scale; the gradients are to be applied where all are finite.

        Raises:
          NotImplementedError: in a strategy of several replicas, whose gradients another replica
            does not see; ``FixedLossScale`` works there.
        """
        replicas = distribution.replicas_in_sync()
        if replicas > 1:
            raise NotImplementedError(
                f"DynamicLossScale in a strategy of {replicas} replicas; FixedLossScale works there"
            )
        finite = _all_finite(nest.flatten(grads))
        return cond(finite, self._after_finite, self._after_overflow), finite

    def _after_finite(self) -> Any:
        grows = self._good_steps + 1 >= self._increment_period
        return cond(grows, self._grow, lambda: self._good_steps.assign_add(1).op)

    def _grow(self) -> Any:
        larger = self._scale * self._multiplier

        def put() -> Any:
            return self._scale.assign(larger).op

        grown = cond(make("IsFinite", larger), put, control.no_op)
        return control.group(grown, self._good_steps.assign(0))

    def _after_overflow(self) -> Any:
        smaller = make("Maximum", self._scale / self._multiplier, 1.0)
        return control.group(self._good_steps.assign(0), self._scale.assign(smaller))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal scale."""
        return {
            "initial_loss_scale": self._initial_loss_scale,
            "increment_period": self._increment_period,
            "multiplier": self._multiplier,
        }

    def __repr__(self) -> str:
        return (
            f"DynamicLossScale(initial_loss_scale={self._initial_loss_scale},"
            f" increment_period={self._increment_period}, multiplier={self._multiplier})"
        )


def _all_finite(grads: Sequence[Any]) -> Tensor:
    parts = [g.values if isinstance(g, IndexedSlices) else g for g in grads if g is not None]
    each = [reductions.reduce_all(make("IsFinite", part)) for part in parts]
    found: Tensor = reductions.reduce_all(each)
    return found


def get(identifier: Any) -> LossScale | None:
    """A scale from a number, ``"dynamic"``, a scale or None.

    Raises:
      ValueError: it is none of these.
    """
    if isinstance(identifier, int | float):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")
