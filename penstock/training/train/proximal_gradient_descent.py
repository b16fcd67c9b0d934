"""Proximal gradient descent: a gradient step, then the step that l1 and l2 penalties make exactly.

::

    prox = var - learning_rate * g
    var = sign(prox) * max(|prox| - learning_rate * l1, 0) / (1 + learning_rate * l2)

Source: Duchi and Singer, "Efficient Learning using Forward-Backward Splitting".
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.training.train.one_op import OneOpOptimizer
from penstock.training.train.optimizer import cast


class ProximalGradientDescentOptimizer(OneOpOptimizer):
    """Proximal gradient descent.

    Args:
      learning_rate: float or scalar tensor.
      l1_regularization_strength: at least zero.
      l2_regularization_strength: at least zero.
      use_locking: whether updates take the variable's lock.
      name: name of the training op.
    """

    def __init__(
        self, learning_rate: Any, l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0, use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._learning_rate_tensor: Any = None
        self._l1_regularization_strength_tensor: Any = None
        self._l2_regularization_strength_tensor: Any = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._learning_rate, name="learning_rate")
        self._l1_regularization_strength_tensor = convert_to_tensor(
            self._l1_regularization_strength, name="l1_regularization_strength"
        )
        self._l2_regularization_strength_tensor = convert_to_tensor(
            self._l2_regularization_strength, name="l2_regularization_strength"
        )

    def _op_name(self) -> str:
        return "ProximalGradientDescent"

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        given = (
            self._learning_rate_tensor,
            self._l1_regularization_strength_tensor,
            self._l2_regularization_strength_tensor,
        )
        return [cast(tensor, dtype) for tensor in given], []
