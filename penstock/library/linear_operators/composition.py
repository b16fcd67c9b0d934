"""``LinearOperatorComposition``: one operator after another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from penstock.foundation.graph.scopes import name_scope
from penstock.library.linear_operators import arguments, dense
from penstock.library.linear_operators.operator import LinearOperator
from penstock.ops.array import nodes


class LinearOperatorComposition(LinearOperator):
    """The product of operators: ``operators[0] @ operators[1] @ ...``, the last one acting first.

    Args:
      operators: LinearOperators of one dtype, each taking vectors of the size that the next gives;
        their batches broadcast.
      is_non_singular: hint; True by default where all operators are.
      is_self_adjoint, is_positive_definite, is_square: hints; see ``LinearOperator``.
      name: name of the scopes; the operators' names joined by ``_o_`` by default.

    Raises:
      TypeError: their dtypes differ.
      ValueError: there are none, their sizes do not fit, or the hint contradicts theirs.
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
        is_non_singular = arguments.together(
            is_non_singular,
            all(one.is_non_singular for one in self._operators),
            "a product of non-singular operators is so too; is_non_singular must not be False",
        )
        if name is None:
            name = "_o_".join(one.name for one in self._operators)
        with name_scope(name, values=arguments.parents_of(self._operators)):
            super().__init__(
                self._operators[0].dtype, arguments.parents_of(self._operators), is_non_singular,
                is_self_adjoint, is_positive_definite, is_square, name,
            )  # fmt: skip

    @property
    def operators(self) -> list[Any]:
        """The operators, in the order in which they are written."""
        return self._operators

    def _shape(self) -> Any:
        first, last = self.operators[0], self.operators[-1]
        for left, right in zip(self.operators, self.operators[1:], strict=False):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        batch = dense.common_batch([one.batch_shape for one in self.operators])
        return batch.concatenate([first.range_dimension, last.domain_dimension])

    def _shape_tensor(self) -> Any:
        batch = dense.common_batch_tensor([one.batch_shape_tensor() for one in self.operators])
        rows = self.operators[0].range_dimension_tensor()
        columns = self.operators[-1].domain_dimension_tensor()
        return dense.concat_shapes(batch, [rows, columns])

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        first, *others = self.operators if adjoint else self.operators[::-1]
        made = first.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for one in others:
            made = one.matmul(made, adjoint=adjoint)
        return made

    def _determinant(self) -> Any:
        return reduce(nodes.mul, (one.determinant() for one in self.operators))

    def _log_abs_determinant(self) -> Any:
        return dense.added(one.log_abs_determinant() for one in self.operators)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        first, *others = self.operators[::-1] if adjoint else self.operators
        made = first.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for one in others:
            made = one.solve(made, adjoint=adjoint)
        return made
