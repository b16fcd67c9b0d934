"""Adam: steps scaled by running averages of the gradient and of its square.

::

    rate = learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    var -= rate * m / (sqrt(v) + epsilon)

``beta1_power`` and ``beta2_power`` are variables, multiplied once a step after all updates.  For a
sparse gradient all of m and v decay, and so all of the variable moves, as TF does it.

Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization", the formula before section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.ops.control import control
from penstock.ops.state import state, state_update
from penstock.training.train.one_op import OneOpOptimizer
from penstock.training.train.optimizer import cast


class AdamOptimizer(OneOpOptimizer):
    """Adam.

    Args:
      learning_rate: float or scalar tensor, as all hyper-parameters (or functions that give those).
      beta1: decay of the average of gradients.
      beta2: decay of the average of squared gradients.
      epsilon: added to the root; the "epsilon hat" of the paper.
      use_locking: whether updates take the variable's lock.
      name: name of the training op; slots are ``W/Adam`` (m) and ``W/Adam_1`` (v).

    Example:
      >>> import penstock as tf
      >>> x = tf.Variable(5.0)
      >>> train = tf.train.AdamOptimizer(0.5).minimize((x - 3) ** 2)
      >>> with tf.Session() as session:
      ...     session.run(tf.global_variables_initializer())  # its two slots a variable, too
      ...     for _ in range(100):
      ...         session.run(train)
      ...     round(float(session.run(x)), 1)
      3.0
    """

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
        epsilon: Any = 1e-08, use_locking: bool = False, name: str = "Adam",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon
        self._lr_t: Any = None
        self._beta1_t: Any = None
        self._beta2_t: Any = None
        self._epsilon_t: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        graph = scopes.get_default_graph()
        return (
            self._get_non_slot_variable("beta1_power", graph),
            self._get_non_slot_variable("beta2_power", graph),
        )

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        # Every task must put the powers in the same place, so not on "the first variable given".
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(self._call_if_callable(self._lr), name="learning_rate")
        self._beta1_t = convert_to_tensor(self._call_if_callable(self._beta1), name="beta1")
        self._beta2_t = convert_to_tensor(self._call_if_callable(self._beta2), name="beta2")
        self._epsilon_t = convert_to_tensor(self._call_if_callable(self._epsilon), name="epsilon")

    def _op_name(self) -> str:
        return "Adam"

    def _op_slots(self) -> tuple[str, ...]:
        return ("m", "v")

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        given = (
            *self._get_beta_accumulators(),
            self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t,
        )  # fmt: skip
        return [cast(tensor, dtype) for tensor in given], []

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        def scatter_add(slot: Any, indices: Any, rows: Any) -> Any:
            return make("ScatterAdd", slot, indices, rows, use_locking=self._use_locking)

        return self._apply_sparse_shared(grad.values, var, grad.indices, scatter_add)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_sparse_shared(grad, handle, indices, self._resource_scatter_add)

    def _resource_scatter_add(self, slot: Any, indices: Any, rows: Any) -> Any:
        added = make("ResourceScatterAdd", slot, indices, rows)
        with scopes.control_dependencies([added]):
            return slot.value()

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        operands, _ = self._operands(var, var.dtype)
        beta1_power, beta2_power, rate, beta1, beta2, epsilon = operands
        rate = rate * make("Sqrt", 1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t = self._decay_and_add(m, beta1, indices, grad * (1 - beta1), scatter_add)
        v_t = self._decay_and_add(v, beta2, indices, (grad * grad) * (1 - beta2), scatter_add)
        root = make("Sqrt", v_t)
        moved = state_update.assign_sub(
            var, rate * m_t / (root + epsilon), use_locking=self._use_locking
        )
        return control.group(moved, m_t, v_t)

    def _decay_and_add(
        self, slot: Any, beta: Any, indices: Any, rows: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        decayed = state.assign(slot, slot * beta, use_locking=self._use_locking)
        with scopes.control_dependencies([decayed]):
            return scatter_add(slot, indices, rows)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        locking = self._use_locking
        with scopes.control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with scopes.colocate_with(beta1_power):
                first = beta1_power.assign(beta1_power * self._beta1_t, use_locking=locking)
                second = beta2_power.assign(beta2_power * self._beta2_t, use_locking=locking)
        return control.group(*update_ops, first, second, name=name_scope)
