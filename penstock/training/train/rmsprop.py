"""RMSProp: gradients divided by a running root mean square, with momentum, optionally centered.

::

    rms = decay * rms + (1 - decay) * g * g
    mg = decay * mg + (1 - decay) * g                        # centered only, else 0
    mom = momentum * mom + learning_rate * g / sqrt(rms - mg * mg + epsilon)
    var -= mom

Source: Hinton's lecture 6e of "Neural Networks for Machine Learning"; centered: Graves, "Generating
Sequences With Recurrent Neural Networks", section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.variables import initializers
from penstock.ops.math import elementwise
from penstock.training.train.one_op import OneOpOptimizer
from penstock.training.train.optimizer import cast


class RMSPropOptimizer(OneOpOptimizer):
    """RMSProp.

    Args:
      learning_rate: float or scalar tensor, as all hyper-parameters (or functions that give those).
      decay: of the averages.
      momentum: what stays of the last step in the next.
      epsilon: added under the root.
      use_locking: whether updates take the variable's lock.
      centered: divide by an estimate of the variance, not of the mean square.
      name: name of the training op; slots are ``W/RMSProp``, ``W/RMSProp_1`` (and ``W/RMSProp_2``).

    Example:
      >>> import penstock as tf
      >>> x = tf.Variable(5.0)
      >>> train = tf.train.RMSPropOptimizer(0.1).minimize((x - 3) ** 2)
      >>> with tf.Session() as session:
      ...     session.run(tf.global_variables_initializer())
      ...     for _ in range(100):
      ...         session.run(train)
      ...     bool(abs(session.run(x) - 3) < 0.1)
      True
    """

    def __init__(
        self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
        use_locking: bool = False, centered: bool = False, name: str = "RMSProp",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate, self._decay = learning_rate, decay
        self._momentum, self._epsilon = momentum, epsilon
        self._centered = centered
        self._learning_rate_tensor: Any = None
        self._decay_tensor: Any = None
        self._momentum_tensor: Any = None
        self._epsilon_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            start: Any
            if shape.is_fully_defined():
                start = initializers.ones_initializer(dtype=dtype)
            else:
                start = elementwise.ones_like(var)
            self._get_or_make_slot_with_initializer(var, start, shape, dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        def tensor(value: Any, name: str) -> Any:
            return convert_to_tensor(self._call_if_callable(value), name=name)

        self._learning_rate_tensor = tensor(self._learning_rate, "learning_rate")
        self._decay_tensor = tensor(self._decay, "decay")
        self._momentum_tensor = tensor(self._momentum, "momentum")
        self._epsilon_tensor = tensor(self._epsilon, "epsilon")

    def _op_name(self) -> str:
        return "CenteredRMSProp" if self._centered else "RMSProp"

    def _op_slots(self) -> tuple[str, ...]:
        return ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        given = (
            self._learning_rate_tensor, self._decay_tensor,
            self._momentum_tensor, self._epsilon_tensor,
        )  # fmt: skip
        return [cast(tensor, dtype) for tensor in given], []
