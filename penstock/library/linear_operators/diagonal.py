"""``LinearOperatorDiag``: diagonal matrices."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import name_scope
from penstock.library.linear_operators import arguments, dense
from penstock.library.linear_operators.operator import LinearOperator
from penstock.ops.array import nodes, reshape
from penstock.ops.control import check
from penstock.ops.linalg import matrix_diag
from penstock.ops.math import reduction, reductions


class LinearOperatorDiag(LinearOperator):
    """A batch of diagonal matrices: everything costs as much as the diagonals are long.

    Args:
      diag: floating or complex tensor ``[B1, ..., Bb, N]``.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see
        ``LinearOperator``. Real diagonals are self-adjoint.

    Raises:
      ValueError: a scalar, or hints that cannot be.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
      ...     session.run(operator.solve([[3.0], [3.0]])).tolist()
      [[3.0], [1.5]]
    """

    diagonal = arguments.Held()

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        with name_scope(name, values=[diag]):
            held = arguments.array(diag, "diag", 1)
            self.diagonal = held
            if not held.dtype.is_complex:
                is_self_adjoint = arguments.implied(
                    "is_self_adjoint", is_self_adjoint, True, "the diagonal is real"
                )
            is_square = arguments.implied(
                "is_square", is_square, True, "a diagonal matrix is square"
            )
            super().__init__(
                held.dtype, [held], is_non_singular, is_self_adjoint,
                is_positive_definite, is_square, name,
            )  # fmt: skip

    @property
    def diag(self) -> Any:
        """The diagonals ``[B1, ..., Bb, N]``: the tensor or variable given."""
        return arguments.given(self, "diagonal")

    def _shape(self) -> Any:
        known = self.diagonal.shape
        return known.concatenate(known[-1:]) if known.ndims is not None else known

    def _shape_tensor(self) -> Any:
        sizes: Any = nodes.shape(self.diagonal)
        return dense.concat_shapes(sizes, sizes[-1:])

    def _assert_non_singular(self) -> Operation:
        return arguments.assert_no_zeros(
            self.diagonal, "the matrix is singular: a zero on its diagonal"
        )

    def _assert_positive_definite(self) -> Operation:
        return check.assert_positive(
            dense.real(self.diagonal),
            message="the matrix is not positive definite: a real part on its diagonal is not > 0",
        )

    def _assert_self_adjoint(self) -> Operation:
        return arguments.assert_real(
            self.diagonal,
            "the matrix is not self-adjoint: an imaginary part on its diagonal is not 0",
        )

    def _factors(self, adjoint: bool) -> Any:
        """The diagonals as columns, conjugated for the adjoint."""
        diag = dense.conj(self.diagonal) if adjoint else self.diagonal
        return reshape.expand_dims(diag, -1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return nodes.mul(self._factors(adjoint), dense.adjoint_if(x, adjoint_arg))

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return nodes.mul(dense.conj(self.diagonal) if adjoint else self.diagonal, x)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return nodes.div(dense.adjoint_if(rhs, adjoint_arg), self._factors(adjoint))

    def _determinant(self) -> Any:
        return reductions.reduce_prod(self.diagonal, axis=[-1])

    def _log_abs_determinant(self) -> Any:
        return reduction.reduce_sum(dense.log_abs(self.diagonal), axis=[-1])

    def _to_dense(self) -> Any:
        return matrix_diag.matrix_diag(self.diagonal)

    def _diag_part(self) -> Any:
        return self.diagonal

    def _add_to_tensor(self, x: Any) -> Any:
        summed = nodes.add(self.diagonal, matrix_diag.matrix_diag_part(x))
        x = dense.expand_batch(x, dense.batch_vector(summed, 1), dense.batch_of(summed, 1))
        return matrix_diag.matrix_set_diag(x, summed)
