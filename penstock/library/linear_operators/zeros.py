"""``LinearOperatorZeros``: matrices of zeros."""

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
from penstock.ops.control import control


class LinearOperatorZeros(LinearOperator):
    """A batch of matrices of zeros.

    Args:
      num_rows: M: int or integer scalar tensor, not negative.
      num_columns: N: likewise; ``num_rows`` by default.
      batch_shape: vector of ints, the shape of the batch; none by default.
      dtype: dtype of the matrices; float32 by default.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints. Where the matrices
        are not square, ``is_square`` and ``is_self_adjoint`` must be False.
      assert_proper_shapes: whether a step checks sizes that are not known before.

    Raises:
      ValueError: hints that cannot be, or sizes that cannot be.
      TypeError: sizes that are not integers.
    """

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            if not is_self_adjoint and is_square:
                raise ValueError("square zeros are self-adjoint: is_self_adjoint must be True")
            if is_non_singular:
                raise ValueError(f"zeros are singular: is_non_singular is {is_non_singular}")
            if is_positive_definite:
                raise ValueError(
                    "zeros are not positive definite: is_positive_definite must not be True"
                )
            super().__init__(
                dtype or dtypes.float32, None, is_non_singular, is_self_adjoint,
                is_positive_definite, is_square, name,
            )  # fmt: skip
            self._num_rows, self._rows = sizes.scalar(num_rows, "num_rows")
            self._num_columns, self._columns = self._num_rows, self._rows
            if num_columns is not None:
                self._num_columns, self._columns = sizes.scalar(num_columns, "num_columns")
            self._batch: Tensor | None = None
            self._batch_known = shapes.TensorShape([])
            if batch_shape is not None:
                self._batch, self._batch_known = sizes.vector(batch_shape, assert_proper_shapes)
            self._check_square_sizes()

    def _check_square_sizes(self) -> None:
        rows, columns = self._rows, self._columns
        if self._is_square and rows is not None and columns is not None and rows != columns:
            raise ValueError(
                f"is_square is True, but num_rows is {rows} and num_columns is {columns}"
            )

    def _shape(self) -> Any:
        return self._batch_known.concatenate([self._rows, self._columns])

    def _shape_tensor(self) -> Any:
        both = [self._num_rows, self._num_columns]
        return dense.concat_shapes(self._batch if self._batch is not None else [], both)

    def _assert_non_singular(self) -> Operation:
        raise arguments.impossible("zeros are singular")

    def _assert_positive_definite(self) -> Operation:
        raise arguments.impossible("zeros are not positive definite")

    def _assert_self_adjoint(self) -> Operation:
        return control.no_op("assert_self_adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = dense.adjoint_if(x, adjoint_arg)
        if self._assert_proper_shapes:
            x = sizes.with_matching_rows(x, self._num_rows if adjoint else self._num_columns)
        rows = self._size_along(-1 if adjoint else -2)
        if isinstance(rows, Tensor) and self.is_square:
            rows = dense.last_size(x, -2)
        columns = dense.last_size(x, -1)
        mine = self._batch_tensor()
        theirs = dense.batch_vector(x, 2)
        known = dense.common_batch([self.batch_shape, dense.batch_of(x, 2)])
        return dense.filled(
            dense.concat_shapes(dense.common_batch_tensor([mine, theirs]), [rows, columns]),
            known.concatenate([_known(rows), _known(columns)]),
            0,
            x.dtype,
        )

    def _of_batch(self) -> Any:
        return dense.filled(self._batch_tensor(), self.batch_shape, 0, self.dtype)

    def _determinant(self) -> Any:
        return self._of_batch()

    def _trace(self) -> Any:
        return self._of_batch()

    def _diag_part(self) -> Any:
        rows, columns = self._size_along(-2), self._size_along(-1)
        if isinstance(rows, Tensor) or isinstance(columns, Tensor):
            least: Any = make("Minimum", self._dimension_along(-2), self._dimension_along(-1))
        else:
            least = min(rows, columns)
        return dense.filled(
            dense.concat_shapes(self._batch_tensor(), [least]),
            self.batch_shape.concatenate([_known(least)]),
            0,
            self.dtype,
        )

    def _to_dense(self) -> Any:
        return dense.filled(self._any_shape(), self.shape, 0, self.dtype)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        """``A + mat`` for a tensor ``mat`` that broadcasts with the dense matrices."""
        with self._name_scope(name):
            tensor = convert_to_tensor(mat, name="mat")
            self._check_dtype(tensor)
            if self._batch is None:
                return tensor
            return sizes.spread(tensor, self._batch, self._batch_known)


def _known(size: Any) -> int | None:
    return None if isinstance(size, Tensor) else size
