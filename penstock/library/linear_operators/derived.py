"""``LinearOperatorAdjoint`` and ``LinearOperatorInversion``: another operator, turned."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import name_scope
from penstock.library.linear_operators import dense
from penstock.library.linear_operators.operator import LinearOperator
from penstock.ops.linalg import linalg
from penstock.ops.math import elementwise


def _hint(hint: str, given: bool | None, found: bool | None, kind: str) -> bool | None:
    """The hint of the operator inside, or the one given where that is unknown."""
    if None not in (given, found) and given is not found:
        raise ValueError(f"{hint} of an operator and its {kind} agree; found {found} and {given}")
    return found if given is None else given


class _Turned(LinearOperator):
    """An operator whose hints are those of the one inside."""

    _suffix: str
    _kind: str
    _regular: bool = False

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        given = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
            "is_square": is_square,
        }
        hints = {
            hint: _hint(hint, value, getattr(operator, hint), self._kind)
            for hint, value in given.items()
        }
        for hint in ("is_non_singular", "is_square") if self._regular else ():
            if hints[hint] is False:
                raise ValueError(f"{operator.name} has no inverse: {hint} is False")
        name = operator.name + self._suffix if name is None else name
        self._operator = operator
        with name_scope(name, values=operator.graph_parents):
            super().__init__(operator.dtype, operator.graph_parents, name=name, **hints)

    @property
    def operator(self) -> LinearOperator:
        """The operator inside."""
        return self._operator


class LinearOperatorAdjoint(_Turned):
    """The conjugate transpose of an operator, without making a matrix.

    Args:
      operator: a LinearOperator.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; those of
        ``operator`` by default.
      name: name of the scopes; ``operator.name + "_adjoint"`` by default.

    Raises:
      ValueError: hints that contradict those of ``operator``.
    """

    _suffix, _kind = "_adjoint", "adjoint"

    def _shape(self) -> Any:
        return dense.swapped(self.operator.shape)

    def _shape_tensor(self) -> Any:
        return dense.swapped_tensor(self.operator.shape_tensor())

    def _assert_non_singular(self) -> Operation:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Operation:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        return self.operator.assert_self_adjoint()

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self.operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self) -> Any:
        return dense.conj(self.operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Any:
        return dense.conj(self.operator.trace())

    def _diag_part(self) -> Any:
        return dense.conj(self.operator.diag_part())

    def _to_dense(self) -> Any:
        return linalg.adjoint(self.operator.to_dense())

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x


class LinearOperatorInversion(_Turned):
    """The inverse of an operator: multiplying solves, solving multiplies.

    Args:
      operator: a LinearOperator, square and non-singular.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; those of
        ``operator`` by default.
      name: name of the scopes; ``operator.name + "_inv"`` by default.

    Raises:
      ValueError: hints that contradict those of ``operator``, or say that it has no inverse.
    """

    _suffix, _kind, _regular = "_inv", "inverse", True

    def _shape(self) -> Any:
        return self.operator.shape

    def _shape_tensor(self) -> Any:
        return self.operator.shape_tensor()

    def _assert_non_singular(self) -> Operation:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Operation:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        return self.operator.assert_self_adjoint()

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self.operator.solvevec(x, adjoint=adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self.operator.matvec(rhs, adjoint=adjoint)

    def _determinant(self) -> Any:
        return elementwise.reciprocal(self.operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return elementwise.negative(self.operator.log_abs_determinant())
