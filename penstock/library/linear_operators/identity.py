"""``LinearOperatorIdentity`` and ``LinearOperatorScaledIdentity``.

Both are known by a number of rows, which may be a tensor.  Their batches broadcast what they
multiply, so that shapes are as if there were matrices.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.linear_operators import arguments, dense, sizes
from penstock.library.linear_operators.operator import LinearOperator
from penstock.ops.array import nodes, reshape
from penstock.ops.control import check, control
from penstock.ops.linalg import matrix_diag


class _Identical(LinearOperator):
    """What both share: a number of rows."""

    row_count: Tensor
    _rows: int | None
    _assert_proper_shapes: bool

    def _take_rows(self, num_rows: Any) -> None:
        self.row_count, self._rows = sizes.scalar(num_rows, "num_rows")
        if self._rows is None and self._assert_proper_shapes:
            self.row_count = sizes.with_checks(self.row_count, "num_rows", 0)

    def _checked(self, x: Tensor) -> Any:
        """``x``, of which a step checks the rows if that was asked for."""
        if not self._assert_proper_shapes:
            return x
        return sizes.with_matching_rows(x, self.row_count)

    def _assert_self_adjoint(self) -> Operation:
        return control.no_op("assert_self_adjoint")


class LinearOperatorIdentity(_Identical):
    """A batch of identity matrices.

    Args:
      num_rows: N: int or integer scalar tensor, not negative.
      batch_shape: vector of ints, the shape of the batch; none by default, which also leaves the
        batch of what is multiplied as it is.
      dtype: dtype of the matrices; float32 by default.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints: True, or None.
      assert_proper_shapes: whether a step checks sizes that are not known before.

    Raises:
      ValueError: a hint is False, or a size cannot be.
      TypeError: sizes that are not integers.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     operator = tf.linalg.LinearOperatorIdentity(2)
      ...     session.run(operator.add_to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
      [[2.0, 2.0], [3.0, 5.0]]
    """

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            for hint, what in (
                (is_self_adjoint, "self-adjoint"), (is_non_singular, "non-singular"),
                (is_positive_definite, "positive-definite"), (is_square, "square"),
            ):  # fmt: skip
                if not hint:
                    raise ValueError(f"an identity operator is {what}: the hint is {hint}")
            super().__init__(
                dtype or dtypes.float32, None, is_non_singular, is_self_adjoint,
                is_positive_definite, is_square, name,
            )  # fmt: skip
            self._take_rows(num_rows)
            self.batch: Tensor | None = None
            self._batch_known: shapes.TensorShape = shapes.TensorShape([])
            if batch_shape is not None:
                checked = assert_proper_shapes
                self.batch, self._batch_known = sizes.vector(batch_shape, checked)

    def _shape(self) -> Any:
        return self._batch_known.concatenate([self._rows, self._rows])

    def _shape_tensor(self) -> Any:
        square = [self.row_count, self.row_count]
        return dense.concat_shapes(self.batch if self.batch is not None else [], square)

    def _spread(self, x: Tensor) -> Any:
        """``x``, broadcast to the operator's batch."""
        return x if self.batch is None else sizes.spread(x, self.batch, self._batch_known)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._spread(self._checked(dense.adjoint_if(x, adjoint_arg)))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _of_batch(self, value: int) -> Any:
        return dense.filled(self._batch_tensor(), self.batch_shape, value, self.dtype)

    def _determinant(self) -> Any:
        return self._of_batch(1)

    def _log_abs_determinant(self) -> Any:
        return self._of_batch(0)

    def _trace(self) -> Any:
        return nodes.mul(nodes.cast(self._dimension_along(-1), self.dtype), self._of_batch(1))

    def _diag_part(self) -> Any:
        return dense.filled(
            dense.concat_shapes(self._batch_tensor(), [self._size_along(-1)]),
            self.shape[:-1], 1, self.dtype,
        )  # fmt: skip

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        """``A + mat`` for a tensor ``mat`` ``[..., N, N]``, whose batch stays as it is."""
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            self._check_dtype(mat)
            diagonal: Any = matrix_diag.matrix_diag_part(mat)
            return matrix_diag.matrix_set_diag(mat, 1 + diagonal)

    def _assert_non_singular(self) -> Operation:
        return control.no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        return control.no_op("assert_positive_definite")


class LinearOperatorScaledIdentity(_Identical):
    """A batch of identity matrices, each times a number.

    Args:
      num_rows: N: int or integer scalar tensor, not negative.
      multiplier: tensor ``[B1, ..., Bb]``, the numbers.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see
        ``LinearOperator``. Real multiples are self-adjoint.
      assert_proper_shapes: whether a step checks sizes that are not known before.

    Raises:
      ValueError: ``is_square`` is False, or a size cannot be.
    """

    factor = arguments.Held()

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name, values=[multiplier, num_rows]):
            held = arguments.held(multiplier, name="multiplier")
            self.factor = held
            if not held.dtype.is_complex:
                is_self_adjoint = arguments.implied(
                    "is_self_adjoint", is_self_adjoint, True, "the multiplier is real"
                )
            if not is_square:
                raise ValueError(f"a multiple of the identity is square: is_square is {is_square}")
            super().__init__(
                held.dtype, None, is_non_singular, is_self_adjoint,
                is_positive_definite, is_square, name,
            )  # fmt: skip
            self._take_rows(num_rows)

    @property
    def multiplier(self) -> Any:
        """The numbers ``[B1, ..., Bb]``, as given."""
        return arguments.given(self, "factor")

    def _shape(self) -> Any:
        return self.factor.shape.concatenate([self._rows, self._rows])

    def _shape_tensor(self) -> Any:
        square = [self.row_count, self.row_count]
        return dense.concat_shapes(nodes.shape(self.factor), square)

    def _matrix_of(self, adjoint: bool) -> Any:
        """The numbers as 1 by 1 matrices, conjugated for the adjoint."""
        value = dense.conj(self.factor) if adjoint else self.factor
        return reshape.expand_dims(reshape.expand_dims(value, -1), -1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = self._checked(dense.adjoint_if(x, adjoint_arg))
        return nodes.mul(x, self._matrix_of(adjoint))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = self._checked(dense.adjoint_if(rhs, adjoint_arg))
        return nodes.div(rhs, self._matrix_of(adjoint))

    def _determinant(self) -> Any:
        return make("Pow", self.factor, nodes.cast(self._dimension_along(-1), self.dtype))

    def _log_abs_determinant(self) -> Any:
        logarithm = dense.log_modulus(self.factor)
        return nodes.mul(nodes.cast(self._dimension_along(-1), logarithm.dtype), logarithm)

    def _trace(self) -> Any:
        return nodes.mul(nodes.cast(self._dimension_along(-1), self.dtype), self.factor)

    def _diag_part(self) -> Any:
        ones = dense.filled(
            dense.concat_shapes([self._size_along(-1)]), self.shape[-1:], 1, self.dtype
        )
        return nodes.mul(reshape.expand_dims(self.factor, -1), ones)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        """``A + mat`` for a tensor ``mat`` that broadcasts with the dense matrices."""
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            self._check_dtype(mat)
            batch = self.factor.shape
            mat = sizes.spread(mat, nodes.shape(self.factor), batch)
            diagonal: Any = matrix_diag.matrix_diag_part(mat)
            added = reshape.expand_dims(self.factor, -1) + diagonal
            return matrix_diag.matrix_set_diag(mat, added)

    def _assert_non_singular(self) -> Operation:
        return check.assert_positive(
            dense.modulus(self.factor),
            message="the matrix is singular: a multiplier is 0",
        )

    def _assert_positive_definite(self) -> Operation:
        return check.assert_positive(
            dense.real(self.factor),
            message="the matrix is not positive definite: a multiplier's real part is <= 0",
        )

    def _assert_self_adjoint(self) -> Operation:
        return arguments.assert_real(
            self.factor,
            "the matrix is not self-adjoint: a multiplier has an imaginary part",
        )
