"""``LinearOperatorKronecker``: Kronecker products.

A vector of the product is a tensor with one dim for each operator, row-major.  Each operator takes
the foremost dim and puts what it gives behind the others, so that after the last one the dims
stand in their order again: one reshape and one transpose an operator, and no Kronecker product is
ever made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from penstock.foundation.base import dimension
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.linear_operators import arguments, dense
from penstock.library.linear_operators.of_operators import OfOperators
from penstock.ops.array import nodes, reshape
from penstock.ops.control import control
from penstock.ops.linalg import linalg


class LinearOperatorKronecker(OfOperators):
    """The Kronecker product of operators: ``operators[0] x operators[1] x ...``.

    Args:
      operators: LinearOperators of one dtype; their batches broadcast.
      is_non_singular, is_self_adjoint, is_positive_definite: hints; True by default where they are
        of all operators.
      is_square: hint.
      name: name of the scopes; the operators' names joined by ``_x_`` by default.

    Raises:
      TypeError: their dtypes differ.
      ValueError: there are none, or a hint contradicts theirs.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     both = [tf.linalg.LinearOperatorDiag(d) for d in ([1.0, 2.0], [1.0, 10.0])]
      ...     session.run(tf.linalg.LinearOperatorKronecker(both).diag_part()).tolist()
      [1.0, 10.0, 2.0, 20.0]
    """

    def __init__(
        self,
        operators: Sequence[Any],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operators = arguments.operators_of_one_dtype(operators)
        hints = arguments.hints_of_all(
            self._operators,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            "Kronecker product",
        )
        super().__init__(self._operators, hints, is_square, name, "_x_")

    def _shape(self) -> Any:
        rows = columns = dimension.Dimension(1)
        for one in self.operators:
            rows, columns = rows * one.range_dimension, columns * one.domain_dimension
        batch = dense.common_batch([one.batch_shape for one in self.operators])
        return batch.concatenate([rows, columns])

    def _shape_tensor(self) -> Any:
        batch = dense.common_batch_tensor([one.batch_shape_tensor() for one in self.operators])
        rows = reduce(nodes.mul, (one.range_dimension_tensor() for one in self.operators))
        columns = reduce(nodes.mul, (one.domain_dimension_tensor() for one in self.operators))
        return dense.concat_shapes(batch, [rows, columns])

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._each(
            x, lambda one, part: one.matmul(part, adjoint=adjoint), adjoint, adjoint_arg
        )

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._each(
            rhs, lambda one, part: one.solve(part, adjoint=adjoint), not adjoint, adjoint_arg
        )

    def _each(
        self,
        x: Any,
        act: Callable[[Any, Tensor], Tensor],
        of_range: bool,
        adjoint_arg: bool,
    ) -> Any:
        """What comes of ``x`` when every operator has acted on its dim."""
        x = dense.adjoint_if(x, adjoint_arg)
        vectors = dense.last_size(x, -1)
        taken, given = (-2, -1) if of_range else (-1, -2)
        sizes = [one._size_along(taken) for one in self.operators]
        behind = [one._size_along(given) for one in self.operators]
        for number, one in enumerate(self.operators):
            others = [*sizes[number + 1 :], vectors, *behind[:number]]
            x = dense.reshape_last(x, 2, [sizes[number], _product(others)])
            x = linalg.matrix_transpose(act(one, x))
        # The vectors' own dim is the foremost now.
        x = dense.reshape_last(x, 2, [vectors, _product(behind)])
        return linalg.matrix_transpose(x)

    def _determinant(self) -> Any:
        return reduce(
            nodes.mul,
            (
                one.determinant() ** (nodes.cast(n, self.dtype) if isinstance(n, Tensor) else n)
                for one, n in self._powers()
            ),
        )

    def _log_abs_determinant(self) -> Any:
        return dense.added(
            nodes.mul(term, nodes.cast(n, term.dtype) if isinstance(n, Tensor) else n)
            for term, n in ((one.log_abs_determinant(), n) for one, n in self._powers())
        )

    def _powers(self) -> list[tuple[Any, Any]]:
        """Each operator, with the number of times that its eigenvalues stand in each product."""
        whole, rows = self._size_along(-1), [one._size_along(-1) for one in self.operators]
        return [(one, whole // size) for one, size in zip(self.operators, rows, strict=True)]

    def _trace(self) -> Any:
        return reduce(nodes.mul, (one.trace() for one in self.operators))

    def _diag_part(self) -> Any:
        made = self.operators[0].diag_part()
        for one in self.operators[1:]:
            outer: Any = reshape.expand_dims(made, -1) * reshape.expand_dims(one.diag_part(), -2)
            size = _product([dense.last_size(outer, -2), dense.last_size(outer, -1)])
            made = dense.reshape_last(outer, 2, [size])
        return made

    def _to_dense(self) -> Any:
        made = self.operators[0].to_dense()
        for one in self.operators[1:]:
            made = _kronecker(made, one.to_dense())
        return dense.with_shape(made, self.shape)

    def _assert_non_singular(self) -> Operation:
        return control.group(*(one.assert_non_singular() for one in self.operators))

    def _assert_self_adjoint(self) -> Operation:
        return control.group(*(one.assert_self_adjoint() for one in self.operators))


def _product(sizes: Sequence[Any]) -> Any:
    return reduce(lambda x, y: x * y, sizes, 1)


def _kronecker(left: Tensor, right: Tensor) -> Any:
    """The Kronecker product of two batches of matrices."""
    spread = reshape.expand_dims(reshape.expand_dims(left, -1), -3)
    tiled = reshape.expand_dims(reshape.expand_dims(right, -2), -4)
    # [..., m, 1, n, 1] times [..., 1, p, 1, q]
    outer = nodes.mul(spread, tiled)
    rows = dense.last_size(left, -2) * dense.last_size(right, -2)
    columns = dense.last_size(left, -1) * dense.last_size(right, -1)
    return dense.reshape_last(outer, 4, [rows, columns])
