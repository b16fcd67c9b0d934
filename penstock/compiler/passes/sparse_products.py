"""Products by one sparse matrix: its entries are looked at, and put in order, once for all.

    y = A @ u;  z = A @ v      ->      starts, columns, order = rows of A
                                       y = sums by rows of u;  z = sums by rows of v

A graph network multiplies by its adjacency in every layer, and by its transpose in every layer's
gradient.  Of a constant matrix the rows are a constant too, which the next pass makes of them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static

PRODUCT = "SparseTensorDenseMatMul"
# More rows are not sorted by the digits of 16 bits: that takes longer than the products.
_MOST_ROWS = 1 << 16


def share_sparse_rows(step: StepGraph) -> StepGraph:
    """The pass."""
    uses = Counter(_matrix(op) for op in step.operations if _has_rows(op))
    made: dict[Any, list[Tensor]] = {}

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if not _has_rows(op) or (uses[_matrix(op)] < 2 and not _is_constant(op)):
            return None
        indices, values, shape, b = rebuilder.inputs(op)
        rows = made.get(_matrix(op))
        if rows is None:
            adjoint = op.attrs["adjoint_a"]
            rows = rebuilder.make_beside("_SparseRows", indices, shape, adjoint_a=adjoint)
            made[_matrix(op)] = rows
        inner, adjoint_b = _dims(op)[1], op.attrs["adjoint_b"]
        return [
            rebuilder.make("_SparseRowsMatMul", *rows, values, b, inner=inner, adjoint_b=adjoint_b)
        ]

    return Rebuilder(step).run(rule)


def _has_rows(op: Operation) -> bool:
    """Whether an op is a product whose rows can be a node of their own."""
    if op.type != PRODUCT or op.control_inputs:
        return False
    rows, inner = _dims(op)
    return (
        op.attrs["T"] in (dtypes.float32, dtypes.float64) and 0 <= rows <= _MOST_ROWS and inner >= 0
    )


def _matrix(op: Operation) -> Any:
    return op.inputs[0], op.inputs[2], op.attrs["adjoint_a"], op.device


def _is_constant(op: Operation) -> bool:
    return op.inputs[0].op.op_def.role == "constant"


def _dims(op: Operation) -> tuple[int, int]:
    """Rows and columns of the sparse operand, as the product reads it; -1 where not known."""
    dims = static.constant_value(op.inputs[2])
    if dims is None or len(dims) != 2:
        return -1, -1
    rows, columns = map(int, dims)
    return (columns, rows) if op.attrs["adjoint_a"] else (rows, columns)
