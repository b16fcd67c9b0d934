"""``LinearOperatorBlockDiag``: operators along a diagonal, zeros elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from penstock.foundation.base import dimension
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.linear_operators import arguments, dense
from penstock.library.linear_operators.of_operators import OfOperators
from penstock.ops.array import join, nodes, pad, split
from penstock.ops.control import control


class LinearOperatorBlockDiag(OfOperators):
    """A block diagonal matrix of operators: vectors are cut, and each block takes its part.

    Args:
      operators: square LinearOperators of one dtype; their batches broadcast.
      is_non_singular, is_self_adjoint, is_positive_definite: hints; True by default where they are
        of all operators.
      is_square: must be True.
      name: name of the scopes; the operators' names joined by ``_ds_`` by default.

    Raises:
      TypeError: their dtypes differ.
      ValueError: there are none, one is not known to be square, or a hint contradicts theirs.
    """

    def __init__(
        self,
        operators: Sequence[Any],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        self._operators = arguments.operators_of_one_dtype(operators)
        if not (is_square and all(one.is_square for one in self._operators)):
            found = ", ".join(f"{one.name} of shape {one.shape}" for one in self._operators)
            raise ValueError(
                f"blocks must be known to be square, and is_square True; found {found} and"
                f" is_square={is_square}"
            )
        hints = arguments.hints_of_all(
            self._operators, is_non_singular, is_self_adjoint, is_positive_definite, "direct sum"
        )
        super().__init__(self._operators, hints, is_square, name, "_ds_")

    def _shape(self) -> Any:
        size = dimension.Dimension(0)
        for one in self.operators:
            size = size + one.range_dimension.merge_with(one.domain_dimension)
        batch = dense.common_batch([one.batch_shape for one in self.operators])
        return batch.concatenate([size, size])

    def _shape_tensor(self) -> Any:
        batch = dense.common_batch_tensor([one.batch_shape_tensor() for one in self.operators])
        rows = reduce(nodes.add, (one.range_dimension_tensor() for one in self.operators))
        columns = reduce(nodes.add, (one.domain_dimension_tensor() for one in self.operators))
        return dense.concat_shapes(batch, [rows, columns])

    def _parts(self, x: Tensor, of_range: bool, axis: int) -> list[Tensor]:
        """``x``, cut along ``axis`` as the blocks are high (or wide)."""
        sizes: Any = [one._size_along(-2 if of_range else -1) for one in self.operators]
        if any(isinstance(size, Tensor) for size in sizes):
            sizes = nodes.pack(sizes, "sizes")
        parts: list[Tensor] = split.split(x, sizes, axis=axis)
        return parts

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        parts = self._parts(x, adjoint, -1 if adjoint_arg else -2)
        made = [
            one.matmul(part, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for one, part in zip(self.operators, parts, strict=True)
        ]
        return join.concat(dense.same_batches(*made), -2)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        parts = self._parts(rhs, not adjoint, -1 if adjoint_arg else -2)
        made = [
            one.solve(part, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for one, part in zip(self.operators, parts, strict=True)
        ]
        return join.concat(dense.same_batches(*made), -2)

    def _determinant(self) -> Any:
        return reduce(nodes.mul, (one.determinant() for one in self.operators))

    def _log_abs_determinant(self) -> Any:
        return dense.added(one.log_abs_determinant() for one in self.operators)

    def _trace(self) -> Any:
        return reduce(nodes.add, (one.trace() for one in self.operators))

    def _diag_part(self) -> Any:
        parts = dense.same_batches(*(one.diag_part() for one in self.operators), inner=1)
        return join.concat(parts, -1)

    def _to_dense(self) -> Any:
        before: Any = 0
        after = self._size_along(-1)
        bands = []
        for one, block in zip(
            self.operators,
            dense.same_batches(*(one.to_dense() for one in self.operators)),
            strict=True,
        ):
            width = one._size_along(-1)
            after = after - width
            bands.append(_padded(block, before, after))
            before = before + width
        return dense.with_shape(join.concat(bands, -2), self.shape)

    def _assert_non_singular(self) -> Operation:
        return control.group(*(one.assert_non_singular() for one in self.operators))

    def _assert_positive_definite(self) -> Operation:
        return control.group(*(one.assert_positive_definite() for one in self.operators))

    def _assert_self_adjoint(self) -> Operation:
        return control.group(*(one.assert_self_adjoint() for one in self.operators))


def _padded(block: Tensor, before: Any, after: Any) -> Any:
    """Zeros on the left and on the right."""
    if block.sizes is not None:
        outer: Any = [[0, 0]] * (len(block.sizes) - 1)
        if not isinstance(before, Tensor) and not isinstance(after, Tensor):
            return pad.pad(block, [*outer, [before, after]])
    rank: Any = nodes.rank(block)
    last = nodes.reshape(nodes.pack([before, after], "ends"), [1, 2])
    zeros = nodes.zeros(dense.concat_shapes([rank - 1], [2]), last.dtype)
    return pad.pad(block, nodes.concat([zeros, last], 0))
