"""Adagrad dual averaging: the weights are a function of all gradients so far, l1-sparse if asked.

Only rows with a gradient are brought up to date; the regularization that a row missed is made up
for when it is next touched, which the global step is for.

Source: Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.ops.control import control
from penstock.training.train.one_op import OneOpOptimizer, checked_positive, constant_like
from penstock.training.train.optimizer import cast


class AdagradDAOptimizer(OneOpOptimizer):
    """Adagrad dual averaging.

    Args:
      learning_rate: float or scalar tensor.
      global_step: int64 variable that counts the steps.
      initial_gradient_squared_accumulator_value: what the sums of squares start from; above zero.
      l1_regularization_strength: at least zero.
      l2_regularization_strength: at least zero.
      use_locking: whether updates take the variable's lock.
      name: name of the training op; slots are ``W/AdagradDA`` and ``W/AdagradDA_1``.

    Raises:
      ValueError: an initial value that is not positive.
    """

    def __init__(
        self, learning_rate: Any, global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
        use_locking: bool = False, name: str = "AdagradDA",
    ) -> None:  # fmt: skip
        start = checked_positive(
            "initial_gradient_squared_accumulator_value",
            initial_gradient_squared_accumulator_value,
        )
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._initial_gradient_squared_accumulator_value = start
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._learning_rate_tensor: Any = None
        self._global_step_on_worker: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            zeros = constant_like(var, 0.0)
            start = constant_like(var, self._initial_gradient_squared_accumulator_value)
            self._get_or_make_slot(var, zeros, "gradient_accumulator", self._name)
            self._get_or_make_slot(var, start, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._learning_rate, name="learning_rate")
        # One copy of the step a worker, so that not every update asks the task that holds it.
        with scopes.colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = control.identity(self._global_step) + 1

    def _op_name(self) -> str:
        return "AdagradDA"

    def _op_slots(self) -> tuple[str, ...]:
        return ("gradient_accumulator", "gradient_squared_accumulator")

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        with scopes.device(var.device):
            step = control.identity(self._global_step_on_worker)
        after = [
            cast(self._learning_rate_tensor, dtype),
            cast(self._l1_regularization_strength, dtype),
            cast(self._l2_regularization_strength, dtype),
            step,
        ]
        return [], after
