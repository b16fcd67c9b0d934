"""Adadelta: steps in the proportion of past updates to past gradients.

::

    accum = rho * accum + (1 - rho) * g * g
    update = g * sqrt(accum_update + epsilon) / sqrt(accum + epsilon)
    accum_update = rho * accum_update + (1 - rho) * update * update
    var -= learning_rate * update

Source: Zeiler, "ADADELTA: An Adaptive Learning Rate Method".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.training.train.one_op import OneOpOptimizer
from penstock.training.train.optimizer import cast


class AdadeltaOptimizer(OneOpOptimizer):
    """Adadelta.

    Args:
      learning_rate: float or scalar tensor, as all hyper-parameters (or functions that give those);
        the paper's is 1.0.
      rho: decay of the averages.
      epsilon: added under the roots.
      use_locking: whether updates take the variable's lock.
      name: name of the training op; slots are ``W/Adadelta`` and ``W/Adadelta_1``.
    """

    def __init__(
        self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-08,
        use_locking: bool = False, name: str = "Adadelta",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon
        self._lr_t: Any = None
        self._rho_t: Any = None
        self._epsilon_t: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "accum", self._name)
            self._zeros_slot(var, "accum_update", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(self._call_if_callable(self._lr), name="lr")
        self._rho_t = convert_to_tensor(self._call_if_callable(self._rho), name="rho")
        self._epsilon_t = convert_to_tensor(self._call_if_callable(self._epsilon), name="epsilon")

    def _op_name(self) -> str:
        return "Adadelta"

    def _op_slots(self) -> tuple[str, ...]:
        return ("accum", "accum_update")

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        return [cast(t, dtype) for t in (self._lr_t, self._rho_t, self._epsilon_t)], []
