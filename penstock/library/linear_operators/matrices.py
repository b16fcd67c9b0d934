"""Operators that hold their matrices: ``LinearOperatorFullMatrix`` and ``...LowerTriangular``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import name_scope
from penstock.library.linear_operators import arguments, dense
from penstock.library.linear_operators.operator import LinearOperator
from penstock.ops.array import nodes
from penstock.ops.linalg import matrix_diag
from penstock.ops.linalg.matmul import matmul as dense_matmul
from penstock.ops.math import reduction, reductions


class _Stored(LinearOperator):
    """An operator over a tensor of its dense matrices."""

    _matrix = arguments.Held()

    def _shape(self) -> Any:
        return self._matrix.shape

    def _shape_tensor(self) -> Any:
        return nodes.shape(self._matrix)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return dense_matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Any:
        return self._matrix


class LinearOperatorFullMatrix(_Stored):
    """A batch of matrices, given entry by entry.

    Args:
      matrix: floating or complex tensor ``[B1, ..., Bb, M, N]``.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see
        ``LinearOperator``.

    Raises:
      TypeError: another dtype.
      ValueError: fewer than two dims.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [0.0, 4.0]])
      ...     session.run(operator.matvec([1.0, 1.0])).tolist()
      [3.0, 4.0]
    """

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        with name_scope(name, values=[matrix]):
            held = arguments.array(matrix, "matrix", 2, arguments.FLOATS_AND_COMPLEX)
            self._matrix = held
            super().__init__(
                held.dtype, [held], is_non_singular, is_self_adjoint,
                is_positive_definite, is_square, name,
            )  # fmt: skip


class LinearOperatorLowerTriangular(_Stored):
    """A batch of square lower triangular matrices: what is above the diagonal counts as zero.

    Args:
      tril: floating or complex tensor ``[B1, ..., Bb, N, N]``.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see
        ``LinearOperator``.

    Raises:
      ValueError: ``is_square`` is False.
    """

    _tril = arguments.Held()

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        is_square = arguments.implied("is_square", is_square, True, "the matrices are square")
        with name_scope(name, values=[tril]):
            held = arguments.array(tril, "tril", 2)
            self._tril = held
            super().__init__(
                held.dtype, [held], is_non_singular, is_self_adjoint,
                is_positive_definite, is_square, name,
            )  # fmt: skip

    @property
    def _matrix(self) -> Any:
        return matrix_diag.matrix_band_part(self._tril, -1, 0)

    @property
    def _diag(self) -> Any:
        return matrix_diag.matrix_diag_part(self._tril)

    def _shape(self) -> Any:
        return self._tril.shape

    def _shape_tensor(self) -> Any:
        return nodes.shape(self._tril)

    def _assert_non_singular(self) -> Operation:
        return arguments.assert_no_zeros(
            self._diag, "the matrix is singular: a zero on its diagonal"
        )

    def _determinant(self) -> Any:
        return reductions.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Any:
        return reduction.reduce_sum(dense.log_modulus(self._diag), axis=[-1])

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = dense.adjoint_if(rhs, adjoint_arg)
        return dense.triangular_solve(self._matrix, rhs, lower=True, adjoint=adjoint)

    def _diag_part(self) -> Any:
        return self._diag
