"""LARS: momentum with a rate of each variable's own, after the norms of it and its gradient.

Source: You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks", algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.ragged_tensors.dispatched import greater, where
from penstock.ops.linalg.linalg_norm import norm
from penstock.training.train.one_op import OneOpOptimizer
from penstock.training.train.optimizer import as_operation, cast


class LARSOptimizer(OneOpOptimizer):
    """LARS.

    Args:
      learning_rate: float or scalar tensor.
      momentum: decay of the accumulated gradients.
      weight_decay: how much of the variable is added to its gradient.
      eeta: the rate at equal norms.
      epsilon: added to the divisor.
      name: name of the training op; the slot is ``W/LARSOptimizer``.
      skip_list: parts of names of variables that are trained with the global rate alone.
      use_nesterov: whether Nesterov's momentum is used.

    Raises:
      ValueError: a negative momentum or weight decay.
    """

    def __init__(
        self, learning_rate: Any, momentum: Any = 0.9, weight_decay: Any = 0.0001,
        eeta: Any = 0.001, epsilon: Any = 0.0, name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None, use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(False, name)
        self._learning_rate, self._momentum, self._weight_decay = (
            learning_rate, momentum, weight_decay
        )  # fmt: skip
        self._eeta, self._epsilon = eeta, epsilon
        self._skip_list, self._use_nesterov = skip_list, use_nesterov
        self._learning_rate_tensor: Any = None
        self._momentum_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        momentum = self._call_if_callable(self._momentum)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")
        self._momentum_tensor = convert_to_tensor(momentum, name="momentum")

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """The rate of a variable, and its gradient with the decay of weights."""
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return self._learning_rate, grad
        size, slope = norm(var, ord=2), norm(grad, ord=2)
        ratio = self._eeta * size / (slope + self._weight_decay * size + self._epsilon)
        ratio = where(greater(slope, 0), ratio, 1.0)
        ratio = where(greater(size, 0), ratio, 1.0)
        return self._learning_rate * ratio, grad + self._weight_decay * var

    def _op_name(self) -> str:
        return "Momentum"

    def _op_slots(self) -> tuple[str, ...]:
        return ("momentum",)

    def _op_attrs(self) -> dict[str, Any]:
        return {"use_nesterov": self._use_nesterov}

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        rate = cast(self._learning_rate_tensor, dtype)
        return [rate], [cast(self._momentum_tensor, dtype)]

    def _scaled(self, op_type: str, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        dtype = var.dtype.base_dtype
        one = convert_to_tensor(1.0, dtype)
        momentum = convert_to_tensor(self._momentum, dtype)
        slot = self.get_slot(var, "momentum")
        made = make(
            op_type, var, slot, one, grad * rate, momentum, use_locking=False,
            use_nesterov=self._use_nesterov,
        )  # fmt: skip
        return as_operation(made)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._scaled("ApplyMomentum", grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._scaled("ResourceApplyMomentum", grad, handle)
