"""Adagrad: each weight's step shrinks with the sum of its squared gradients.

::

    accum += g * g
    var -= learning_rate * g / sqrt(accum)

Source: Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.variables import initializers
from penstock.ops.array import shape as shape_ops
from penstock.training.train.one_op import OneOpOptimizer, checked_positive
from penstock.training.train.optimizer import cast


class AdagradOptimizer(OneOpOptimizer):
    """Adagrad.

    Args:
      learning_rate: float or scalar tensor (or a function that gives it).
      initial_accumulator_value: what the sums start from; above zero.
      use_locking: whether updates take the variable's lock.
      name: name of the training op; the slot is ``W/Adagrad``.

    Raises:
      ValueError: an initial value that is not positive.

    Example:
      >>> import penstock as tf
      >>> x = tf.Variable(1.0)
      >>> train = tf.train.AdagradOptimizer(1.0, initial_accumulator_value=0.1).minimize(x * x)
      >>> with tf.Session() as session:
      ...     session.run(tf.global_variables_initializer())
      ...     for _ in range(50):
      ...         session.run(train)
      ...     bool(abs(session.run(x)) < 0.01)
      True
    """

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1,
        use_locking: bool = False, name: str = "Adagrad",
    ) -> None:  # fmt: skip
        start = checked_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate, self._initial_accumulator_value = learning_rate, start
        self._learning_rate_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            start: Any
            if shape.is_fully_defined():
                start = initializers.constant_initializer(
                    self._initial_accumulator_value, dtype=dtype
                )
            else:
                start = self._filled_like(var, dtype)
            self._get_or_make_slot_with_initializer(
                var, start, shape, dtype, "accumulator", self._name
            )

    def _filled_like(self, var: Any, dtype: Any) -> Callable[..., Any]:
        def start(*_: Any, **__: Any) -> Any:
            return cast(make("Fill", shape_ops.shape(var), self._initial_accumulator_value), dtype)

        return start

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")

    def _op_name(self) -> str:
        return "Adagrad"

    def _op_slots(self) -> tuple[str, ...]:
        return ("accumulator",)

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        return [cast(self._learning_rate_tensor, dtype)], []
