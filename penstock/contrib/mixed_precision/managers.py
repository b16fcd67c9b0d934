"""What the loss is multiplied by: a number, or a variable that follows the gradients."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors.dispatched import (
    greater_equal,
    identity,
    is_finite,
    maximum,
    where,
)
from penstock.library.variables.variable import Variable
from penstock.ops.control.control import group, no_op
from penstock.ops.state.state import assign
from penstock.ops.state.state_update import assign_add


class LossScaleManager(abc.ABC):
    """Says the scale of the loss, and changes it after each step."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """The scale: a float32 scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """The op that changes it, given whether all gradients are finite."""


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays.

    Args:
      loss_scale: at least 1.

    Raises:
      ValueError: less than 1.
    """

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError(f"loss scale must be at least 1; found {loss_scale}.")
        self._loss_scale = convert_to_tensor(loss_scale, dtype=dtypes.float32)

    def get_loss_scale(self) -> Any:
        """The scale."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An op that does nothing."""
        return no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after good steps and shrinks after bad ones.

    Args:
      init_loss_scale: the scale at first.
      incr_every_n_steps: how many good steps in a row make it grow.
      decr_every_n_nan_or_inf: how many bad steps make it shrink.
      incr_ratio, decr_ratio: what it is then multiplied by; it is never below 1.
    """

    def __init__(
        self, init_loss_scale: float, incr_every_n_steps: int, decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2, decr_ratio: float = 0.8,
    ) -> None:  # fmt: skip
        self._incr_every, self._decr_every = incr_every_n_steps, decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        start = convert_to_tensor(init_loss_scale, dtypes.float32)
        self._scale: Any = Variable(start, name="loss_scale", dtype=dtypes.float32, trainable=False)
        self._good: Any = Variable(0, name="good_steps", dtype=dtypes.int32, trainable=False)
        self._bad: Any = Variable(0, name="bad_steps", dtype=dtypes.int32, trainable=False)

    def get_loss_scale(self) -> Any:
        """The variable of the scale."""
        return self._scale

    def _set(self, scale: Any) -> Any:
        return group(assign(self._scale, scale), assign(self._good, 0), assign(self._bad, 0))

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """The op that counts the step, and changes the scale when its time has come."""

        def good() -> Any:
            def grow() -> Any:
                more = self._scale * self._incr_ratio
                return self._set(where(is_finite(more), more, identity(self._scale)))

            return self._either(self._good, self._incr_every, grow, self._count_good)

        def bad() -> Any:
            def shrink() -> Any:
                return self._set(maximum(1.0, self._scale * self._decr_ratio))

            return self._either(self._bad, self._decr_every, shrink, self._count_bad)

        return cond(finite_grads, good, bad)

    def _count_good(self) -> Any:
        return group(assign_add(self._good, 1))

    def _count_bad(self) -> Any:
        return group(assign_add(self._bad, 1), assign(self._good, 0))

    @staticmethod
    def _either(steps: Any, every: int, change: Callable[[], Any], count: Callable[[], Any]) -> Any:
        return cond(greater_equal(steps + 1, every), change, count)
