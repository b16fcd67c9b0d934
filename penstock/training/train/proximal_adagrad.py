"""Proximal Adagrad: Adagrad's step, then the step that l1 and l2 penalties make exactly.

::

    accum += g * g
    rate = learning_rate / sqrt(accum)
    prox = var - rate * g
    var = sign(prox) * max(|prox| - rate * l1, 0) / (1 + rate * l2)

Source: Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning"; Duchi and
Singer, "Efficient Learning using Forward-Backward Splitting".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.training.train.one_op import checked_positive, constant_like
from penstock.training.train.proximal_gradient_descent import ProximalGradientDescentOptimizer


class ProximalAdagradOptimizer(ProximalGradientDescentOptimizer):
    """Proximal Adagrad.

    Args:
      learning_rate: float or scalar tensor.
      initial_accumulator_value: what the sums of squares start from; above zero.
      l1_regularization_strength: at least zero.
      l2_regularization_strength: at least zero.
      use_locking: whether updates take the variable's lock.
      name: name of the training op; the slot is ``W/ProximalAdagrad``.

    Raises:
      ValueError: an initial value that is not positive.
    """

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
        use_locking: bool = False, name: str = "ProximalAdagrad",
    ) -> None:  # fmt: skip
        start = checked_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(
            learning_rate, l1_regularization_strength, l2_regularization_strength, use_locking, name
        )
        self._initial_accumulator_value = start

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            start = constant_like(var, self._initial_accumulator_value)
            self._get_or_make_slot(var, start, "accumulator", self._name)

    def _op_name(self) -> str:
        return "ProximalAdagrad"

    def _op_slots(self) -> tuple[str, ...]:
        return ("accumulator",)
