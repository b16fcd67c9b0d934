"""AddSign and PowerSign: a longer step where gradient and momentum agree in sign.

With ``m = beta m + (1 - beta) g`` and agreement ``s = decay sign(g) sign(m)``, AddSign moves by
``rate (alpha + s) g``, PowerSign by ``rate base^s g``.

Source: Bello et al., "Neural Optimizer Search with Reinforcement Learning", section 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies
from penstock.library.ragged_tensors.dispatched import exp, gather, sign
from penstock.ops.control.control import group
from penstock.ops.state.state import assign
from penstock.ops.state.state_scatter import scatter_add, scatter_sub
from penstock.training.train.one_op import OneOpOptimizer
from penstock.training.train.optimizer import cast


class _SignOptimizer(OneOpOptimizer):
    def __init__(
        self, learning_rate: Any, beta: Any, sign_decay_fn: Callable[[Any], Any] | None,
        use_locking: bool, name: str,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._lr, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn
        self._lr_t: Any = None
        self._beta_t: Any = None
        self._sign_decay_t: Any = None

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """As ``tf.train.Optimizer.apply_gradients``; the decay is a function of ``global_step``."""
        if self._sign_decay_fn is not None:
            decay = self._sign_decay_fn(global_step)
            self._sign_decay_t = convert_to_tensor(decay, name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(self._lr, name="learning_rate")
        self._beta_t = convert_to_tensor(self._beta, name="beta")
        self._prepare_size()
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert_to_tensor(1.0, name="sign_decay")

    def _prepare_size(self) -> None:
        raise NotImplementedError

    def _size(self) -> Any:
        """The tensor of the hyper-parameter that says how much agreement counts."""
        raise NotImplementedError

    def _factor(self, size: Any, agreement: Any) -> Any:
        raise NotImplementedError

    def _op_slots(self) -> tuple[str, ...]:
        return ("m",)

    def _operands(self, var: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
        given = (self._lr_t, self._size(), self._sign_decay_t, self._beta_t)
        return [cast(tensor, dtype) for tensor in given], []

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        (rate, size, decay, beta), _ = self._operands(var, var.dtype.base_dtype)
        m = self.get_slot(var, "m")
        kept: Any = m * beta
        with control_dependencies([assign(m, kept, use_locking=self._use_locking)]):
            added = scatter_add(
                m, grad.indices, grad.values * (1 - beta), use_locking=self._use_locking
            )
        signs = gather(sign(added), grad.indices) * sign(grad.values)
        step = rate * self._factor(size, decay * signs) * grad.values
        moved = scatter_sub(var, grad.indices, step, use_locking=self._use_locking)
        return group(moved, added)


class AddSignOptimizer(_SignOptimizer):
    """AddSign.

    Args:
      learning_rate: float or scalar tensor.
      alpha: the factor without agreement.
      beta: decay of the average of gradients.
      sign_decay_fn: from the global step to how much agreement counts; default 1.
      use_locking: whether updates take the variable's lock.
      name: name of the training op; the slot is ``W/AddSignOptimizer``.
    """

    def __init__(
        self, learning_rate: Any = 0.1, alpha: Any = 1.0, beta: Any = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None, use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha
        self._alpha_t: Any = None

    def _prepare_size(self) -> None:
        self._alpha_t = convert_to_tensor(self._alpha, name="alpha")

    def _size(self) -> Any:
        return self._alpha_t

    def _op_name(self) -> str:
        return "AddSign"

    def _factor(self, size: Any, agreement: Any) -> Any:
        return size + agreement


class PowerSignOptimizer(_SignOptimizer):
    """PowerSign; arguments as ``AddSignOptimizer``.

    Args:
      base: raised to the agreement.
    """

    def __init__(
        self, learning_rate: Any = 0.1, base: float = math.e, beta: Any = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None, use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = math.log(base)
        self._logbase_t: Any = None

    def _prepare_size(self) -> None:
        self._logbase_t = convert_to_tensor(self._logbase, name="logbase")

    def _size(self) -> Any:
        return self._logbase_t

    def _op_name(self) -> str:
        return "PowerSign"

    def _factor(self, size: Any, agreement: Any) -> Any:
        return exp(size * agreement)
