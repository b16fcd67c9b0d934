"""Variants of Adam: the greatest gradient for the root, Nesterov's step, rows left alone.

AdaMax keeps ``v = max(beta2 v, |g|)`` and moves by ``rate / (1 - beta1^t) m / (v + epsilon)``.
Nadam moves by ``beta1 m + (1 - beta1) g`` in place of m.  LazyAdam decays m and v only in the rows
that a sparse gradient has.  The ``GS`` forms take t from the global step, so that there are no
variables of powers.

Source: Kingma and Ba, "Adam", section 7.1; Dozat, "Incorporating Nesterov Momentum into Adam".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.contrib.opt.rows import scatter
from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.scopes import control_dependencies
from penstock.library.ragged_tensors import dispatched
from penstock.library.ragged_tensors.dispatched import (
    abs_,
    gather,
    identity,
    maximum,
    pow_,
    sqrt,
    square,
)
from penstock.ops.control.control import group
from penstock.training.train.adam import AdamOptimizer
from penstock.training.train.optimizer import cast


class AdaMaxOptimizer(AdamOptimizer):
    """AdaMax.

    Args:
      learning_rate: float or scalar tensor, as all hyper-parameters.
      beta1: decay of the average of gradients.
      beta2: decay of the greatest gradient.
      epsilon: added to that.
      use_locking: whether updates take the variable's lock.
      name: name of the training op; slots are ``W/AdaMax`` (m) and ``W/AdaMax_1`` (v).
    """

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
        epsilon: Any = 1e-8, use_locking: bool = False, name: str = "AdaMax",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _power(self) -> Any:
        return self._get_non_slot_variable("beta1_power", scopes.get_default_graph())

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _op_name(self) -> str:
        return "AdaMax"

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        given = (self._power(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return [cast(tensor, dtype) for tensor in given], []

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        (power, rate, beta1, beta2, epsilon), _ = self._operands(var, var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = gather(m, indices) * beta1 + grad * (1 - beta1)
        v_rows = maximum(gather(v, indices) * beta2, abs_(grad))
        step = -rate / (1 - power) * (m_rows / (v_rows + epsilon))
        with control_dependencies([step]):
            m_t = scatter("Update", m, indices, m_rows, self._use_locking)
            v_t = scatter("Update", v, indices, v_rows, self._use_locking)
            moved = scatter_add(var, indices, step)
        return group(moved, m_t, v_t)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            power = self._power()
            with scopes.colocate_with(power):
                later = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return group(*update_ops, later, name=name_scope)


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum; arguments as ``tf.train.AdamOptimizer``."""

    def _op_attrs(self) -> dict[str, Any]:
        return {"use_nesterov": True}

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        operands, _ = self._operands(var, var.dtype.base_dtype)
        power1, power2, rate, beta1, beta2, epsilon = operands
        rate = rate * sqrt(1 - power2) / (1 - power1)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        added = grad * (1 - beta1)
        m_t = self._decay_and_add(m, beta1, indices, added, scatter_add)
        ahead = added + beta1 * gather(m_t, indices)
        v_t = self._decay_and_add(v, beta2, indices, (grad * grad) * (1 - beta2), scatter_add)
        root = sqrt(gather(v_t, indices))
        moved = scatter_add(var, indices, -rate * ahead / (root + epsilon))
        return group(moved, ahead, v_t)


class _LazyRows(AdamOptimizer):
    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        operands, _ = self._operands(var, var.dtype.base_dtype)
        power1, power2, rate, beta1, beta2, epsilon = operands
        rate = rate * sqrt(1 - power2) / (1 - power1)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * gather(v, indices) + (1 - beta2) * square(grad)
        step = rate * m_rows / (sqrt(v_rows) + epsilon)
        with control_dependencies([step]):
            m_t = scatter("Update", m, indices, m_rows, self._use_locking)
            v_t = scatter("Update", v, indices, v_rows, self._use_locking)
            moved = scatter("Sub", var, indices, step, self._use_locking)
        return group(moved, m_t, v_t)


class LazyAdamOptimizer(_LazyRows):
    """Adam that leaves alone the rows a sparse gradient lacks; arguments as Adam's."""


class AdamGSOptimizer(AdamOptimizer):
    """Adam whose t is the global step.

    Args:
      global_step: the number of steps so far: a variable, tensor or int.
      learning_rate, beta1, beta2, epsilon, use_locking, name: those of
        ``tf.train.AdamOptimizer``.
    """

    def __init__(
        self, global_step: Any = 0, learning_rate: Any = 0.001, beta1: Any = 0.9,
        beta2: Any = 0.999, epsilon: Any = 1e-8, use_locking: bool = False, name: str = "Adam",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step
        self._step_t: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        return pow_(self._beta1_t, self._step_t), pow_(self._beta2_t, self._step_t)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        step: Any = identity(self._global_step)
        self._step_t = dispatched.cast(step + 1, dtypes.float32)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        return group(*update_ops, name=name_scope)


class LazyAdamGSOptimizer(_LazyRows, AdamGSOptimizer):
    """``LazyAdamOptimizer`` whose t is the global step; arguments as ``AdamGSOptimizer``."""
