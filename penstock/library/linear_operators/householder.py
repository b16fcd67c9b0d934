"""``LinearOperatorHouseholder``: reflections."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import name_scope
from penstock.library.linear_operators import arguments, dense
from penstock.library.linear_operators.operator import LinearOperator
from penstock.ops.array import nodes, reshape
from penstock.ops.control import control
from penstock.ops.linalg import matrix_diag
from penstock.ops.linalg.matmul import matmul as dense_matmul
from penstock.ops.math import elementwise


class LinearOperatorHouseholder(LinearOperator):
    """A batch of reflections ``I - 2 v v^H / |v|^2``: each is its own adjoint and its own inverse.

    Args:
      reflection_axis: floating or complex tensor ``[B1, ..., Bb, N]``, the vectors v.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see
        ``LinearOperator``. Reflections are square, self-adjoint and never positive definite.

    Raises:
      ValueError: a scalar, or hints that cannot be.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     operator = tf.linalg.LinearOperatorHouseholder([2.0, 0.0])
      ...     session.run(operator.matvec([1.0, 5.0])).tolist()
      [-1.0, 5.0]
    """

    _axis = arguments.Held()

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        with name_scope(name, values=[reflection_axis]):
            held = arguments.array(reflection_axis, "reflection_axis", 1)
            self._axis = held
            given = {
                "is_self_adjoint": (is_self_adjoint, True),
                "is_positive_definite": (is_positive_definite, False),
                "is_square": (is_square, True),
            }
            hints = {
                hint: arguments.implied(hint, value, holds, "the operator is a reflection")
                for hint, (value, holds) in given.items()
            }
            super().__init__(held.dtype, [held], is_non_singular, name=name, **hints)

    @property
    def reflection_axis(self) -> Any:
        """The vectors ``[B1, ..., Bb, N]`` that are turned around, as given."""
        return arguments.given(self, "_axis")

    def _shape(self) -> Any:
        known = self._axis.shape
        return known.concatenate(known[-1:]) if known.ndims is not None else known

    def _shape_tensor(self) -> Any:
        sizes: Any = nodes.shape(self._axis)
        return dense.concat_shapes(sizes, sizes[-1:])

    def _assert_non_singular(self) -> Operation:
        return control.no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        raise arguments.impossible("a reflection is not positive definite")

    def _assert_self_adjoint(self) -> Operation:
        return control.no_op("assert_self_adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = dense.adjoint_if(x, adjoint_arg)
        unit = reshape.expand_dims(self._unit(), -1)
        along = dense_matmul(unit, x, adjoint_a=True)
        return nodes.sub(x, nodes.mul(2, dense_matmul(unit, along)))

    def _unit(self) -> Any:
        return nodes.div(self._axis, dense.length(self._axis))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _trace(self) -> Any:
        size = nodes.cast(self._dimension_along(-1), self.dtype)
        return nodes.mul(nodes.sub(size, 2), self._ones())

    def _ones(self) -> Any:
        return dense.filled(self._batch_tensor(), self.batch_shape, 1, self.dtype)

    def _determinant(self) -> Any:
        return elementwise.negative(self._ones())

    def _log_abs_determinant(self) -> Any:
        return dense.filled(self._batch_tensor(), self.batch_shape, 0, self.dtype)

    def _to_dense(self) -> Any:
        unit = reshape.expand_dims(self._unit(), -1)
        product = nodes.mul(-2, dense_matmul(unit, unit, adjoint_b=True))
        diagonal = nodes.add(1, matrix_diag.matrix_diag_part(product))
        return matrix_diag.matrix_set_diag(product, diagonal)

    def _diag_part(self) -> Any:
        unit = self._unit()
        return nodes.sub(1, nodes.mul(2, nodes.mul(unit, dense.conj(unit))))
