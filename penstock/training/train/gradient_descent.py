"""Plain gradient descent: ``var -= learning_rate * gradient``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.training.train.optimizer import Optimizer, cast


class GradientDescentOptimizer(Optimizer):
    """Gradient descent.

    Args:
      learning_rate: float or scalar tensor (or a function without arguments that gives it).
      use_locking: whether updates take the variable's lock.
      name: name of the training op.

    Example:
      >>> import penstock as tf
      >>> x = tf.Variable(1.0)
      >>> train = tf.train.GradientDescentOptimizer(0.25).minimize(x * x)
      >>> with tf.Session() as session:
      ...     session.run(x.initializer)
      ...     for _ in range(3):
      ...         session.run(train)
      ...     print(session.run(x))  # halved each time
      0.125
    """

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        rate = cast(self._learning_rate_tensor, var.dtype)
        return make("ApplyGradientDescent", var, rate, grad, use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        rate = cast(self._learning_rate_tensor, grad.dtype)
        return make(
            "ResourceApplyGradientDescent", handle, rate, grad, use_locking=self._use_locking
        )

    # Subtracting row after row is right for repeated indices too, so they need not be summed first.

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        rows = grad.values * cast(self._learning_rate_tensor, var.dtype)
        delta = IndexedSlices(rows, grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        rows = -grad * self._call_if_callable(self._learning_rate)
        return make("ResourceScatterAdd", handle, indices, rows)
