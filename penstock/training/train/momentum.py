"""Momentum: steps along a decaying sum of gradients, optionally Nesterov's.

::

    accum = momentum * accum + g
    var -= learning_rate * accum                             # Nesterov: lr * (g + momentum * accum)

Source: Sutskever et al., "On the importance of initialization and momentum in deep learning".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.training.train.one_op import OneOpOptimizer
from penstock.training.train.optimizer import cast


class MomentumOptimizer(OneOpOptimizer):
    """Gradient descent with momentum.

    Args:
      learning_rate: float or scalar tensor (or a function that gives it).
      momentum: likewise; what stays of the sum in each step.
      use_locking: whether updates take the variable's lock.
      name: name of the training op; the slot is ``W/Momentum``.
      use_nesterov: look ahead, as Nesterov's method does.

    Example:
      >>> import penstock as tf
      >>> x = tf.Variable(1.0)
      >>> train = tf.train.MomentumOptimizer(0.1, momentum=0.9).minimize(2.0 * x)
      >>> with tf.Session() as session:
      ...     session.run(tf.global_variables_initializer())
      ...     for _ in range(2):
      ...         session.run(train)
      ...     round(float(session.run(x)), 3)  # 1 - 0.1 * 2 - 0.1 * (0.9 * 2 + 2)
      0.42
    """

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False,
        name: str = "Momentum", use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._use_nesterov = use_nesterov
        self._learning_rate_tensor: Any = None
        self._momentum_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")
        momentum = self._call_if_callable(self._momentum)
        self._momentum_tensor = convert_to_tensor(momentum, name="momentum")

    def _op_name(self) -> str:
        return "Momentum"

    def _op_slots(self) -> tuple[str, ...]:
        return ("momentum",)

    def _op_attrs(self) -> dict[str, Any]:
        return {"use_nesterov": self._use_nesterov}

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        return [cast(self._learning_rate_tensor, dtype)], [cast(self._momentum_tensor, dtype)]
