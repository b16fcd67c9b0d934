"""``LinearOperatorToeplitz``: matrices that are constant along their diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.linear_operators import arguments, dense
from penstock.library.linear_operators.circulant import complex_of, narrowed
from penstock.library.linear_operators.operator import LinearOperator
from penstock.ops.array import nodes, reshape, transpose
from penstock.ops.control import check
from penstock.ops.linalg import linalg
from penstock.ops.signal import fft


class LinearOperatorToeplitz(LinearOperator):
    """A batch of Toeplitz matrices: entry ``[i, j]`` is ``col[i - j]``, or ``row[j - i]`` above.

    Products go through Fourier transforms: a Toeplitz matrix of N rows is a corner of a circulant
    one of ``2 N - 1``.

    Args:
      col: floating or complex tensor ``[B1, ..., Bb, N]``, the first column.
      row: tensor of its dtype ``[B1, ..., Bb, N]``, the first row; its first element is not used.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see
        ``LinearOperator``.

    Raises:
      ValueError: a scalar, or ``is_square`` is False.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     operator = tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0])
      ...     session.run(operator.to_dense()).tolist()
      [[1.0, 3.0], [2.0, 1.0]]
    """

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        with name_scope(name, values=[col, row]):
            self._row: Tensor = convert_to_tensor(arguments.array(row, "row", 1))
            self._col: Tensor = convert_to_tensor(arguments.array(col, "col", 1))
            _check_together(self._row, self._col)
            is_square = arguments.implied("is_square", is_square, True, "row and col are as long")
            super().__init__(
                self._row.dtype, [self._row, self._col], is_non_singular, is_self_adjoint,
                is_positive_definite, is_square, name,
            )  # fmt: skip

    @property
    def col(self) -> Tensor:
        """The first columns ``[B1, ..., Bb, N]``."""
        return self._col

    @property
    def row(self) -> Tensor:
        """The first rows ``[B1, ..., Bb, N]``."""
        return self._row

    def _shape(self) -> Any:
        known = dense.common_batch([self._row.shape, self._col.shape])
        return known.concatenate(known[-1:]) if known.ndims is not None else known

    def _shape_tensor(self) -> Any:
        both: Any = dense.common_batch_tensor([nodes.shape(self._row), nodes.shape(self._col)])
        return dense.concat_shapes(both, both[-1:])

    def _diagonals(self, column_first: bool) -> Any:
        """The values of all diagonals, ``[..., 2 N - 1]``.

        Column first: as the first column of the circulant matrix, whose second half wraps around;
        else from the upper right corner to the lower left.
        """
        row, col = dense.same_batches(self._row, self._col, inner=1)
        rest: Any = row
        above = transpose.reverse(rest[..., 1:], [-1])
        return nodes.concat([col, above] if column_first else [above, col], -1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = dense.adjoint_if(x, adjoint_arg)
        spectrum = fft.fft(complex_of(self._diagonals(column_first=True), self.dtype))
        if adjoint:
            spectrum = dense.conj(spectrum)
        size = self._size_along(-1)
        vectors = complex_of(linalg.matrix_transpose(x), self.dtype)
        wide = dense.pad_last(vectors, size - 1)
        made: Any = fft.ifft(nodes.mul(fft.fft(wide), reshape.expand_dims(spectrum, -2)))
        return linalg.matrix_transpose(narrowed(made[..., :size], self.dtype))

    def _assert_self_adjoint(self) -> Operation:
        return check.assert_equal(
            self._row,
            dense.conj(self._col),
            message="the matrix is not self-adjoint: its row is not its column, conjugated",
        )

    def _trace(self) -> Any:
        return make("Sum", self.diag_part(), [-1])

    def _diag_part(self) -> Any:
        first: Any = self._col
        ones = dense.filled(
            dense.concat_shapes(self._batch_tensor(), [self._size_along(-1)]),
            self.shape[:-1],
            1,
            self.dtype,
        )
        return nodes.mul(first[..., :1], ones)

    def _to_dense(self) -> Any:
        size: Any = self._size_along(-1)
        if isinstance(size, Tensor):
            steps: Any = nodes.range_to(size)
            rows, columns = reshape.expand_dims(steps, 1), reshape.expand_dims(steps, 0)
            index: Any = nodes.add(nodes.sub(rows, columns), nodes.sub(size, 1))
        else:
            index = np.subtract.outer(np.arange(size), np.arange(size)) + size - 1
            index = index.astype(np.int32)
        made: Tensor = make("GatherV2", self._diagonals(column_first=False), index, np.int32(-1))
        return dense.with_shape(made, self.shape)


def _check_together(row: Tensor, col: Tensor) -> None:
    if row.dtype.base_dtype is not col.dtype.base_dtype:
        raise TypeError(
            f"row and col must be of one dtype; found {row.dtype.name} and {col.dtype.name}"
        )
    sizes = {x.sizes[-1] for x in (row, col) if x.sizes is not None}
    if len(sizes - {None}) > 1:
        raise ValueError(
            f"row and col must be as long; their shapes are {row.shape} and {col.shape}"
        )
