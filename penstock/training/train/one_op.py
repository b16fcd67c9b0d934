"""Optimizers whose update of a variable is one op: ``ApplyMomentum`` and its like.

Such an op comes in four forms, ``[Resource][Sparse]Apply<name>``, with the same operands: the
variable and its slots, hyper-parameters, the gradient (and the rows it is for), more
hyper-parameters.  A subclass says the name, the slots and the hyper-parameters, and has the four
``_apply`` methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.ops.array import constant
from penstock.training.train.optimizer import Optimizer, as_operation


class OneOpOptimizer(Optimizer):
    """Base of the optimizers that have an op of their own."""

    def _op_name(self) -> str:
        """The update op's name after ``Apply``."""
        raise NotImplementedError

    def _op_slots(self) -> tuple[str, ...]:
        """Names of the slots, as the op's inputs are ordered."""
        return ()

    def _op_attrs(self) -> dict[str, Any]:
        """Attrs beside ``use_locking``."""
        return {}

    def _operands(self, var: Any, dtype: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        """Hyper-parameters of ``dtype`` that come before the gradient, and after it."""
        raise NotImplementedError

    def _update(self, form: str, var: Any, dtype: Any, *gradient: Any) -> Any:
        slots = [self.get_slot(var, name) for name in self._op_slots()]
        before, after = self._operands(var, dtype)
        made = make(
            f"{form}Apply{self._op_name()}", var, *slots, *before, *gradient, *after,
            use_locking=self._use_locking, **self._op_attrs(),
        )  # fmt: skip
        return as_operation(made)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._update("", var, var.dtype.base_dtype, grad)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._update("Resource", handle, grad.dtype.base_dtype, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._update("Sparse", var, var.dtype.base_dtype, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._update("ResourceSparse", handle, grad.dtype.base_dtype, grad, indices)


def constant_like(var: Any, value: float) -> Any:
    """A constant of the type and static shape of ``var``, all ``value``, placed with it."""
    with scopes.colocate_with(var):
        return constant.constant(value, var.dtype.base_dtype, var.get_shape())


def checked_positive(name: str, value: float) -> float:
    """``value``, which must be above zero.

    Raises:
      ValueError: it is not.
    """
    if value <= 0.0:
        raise ValueError(f"{name} must be positive; found {value}")
    return value
