"""Products of tridiagonal matrices, held by their diagonals, with others."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import fill, join, nodes, reshape
from penstock.ops.array.gather import gather_nd
from penstock.ops.array.pad import pad
from penstock.ops.array.transpose import transpose
from penstock.ops.linalg import matrix_diag
from penstock.ops.linalg.linalg import matrix_transpose
from penstock.ops.math import reduction

_DIAGONALS = ("superdiag", "maindiag", "subdiag")


# ---- the op --------------------------------------------------------------------------------------


def _product_shape(ctx: ShapeContext) -> Dims:
    rhs = ctx.rank_at_least("rhs", 2)
    for name in _DIAGONALS:
        dims = ctx.rank_at_least(name, 2)
        if rhs is None or dims is None:
            continue
        wanted = (*rhs[:-2], 1, rhs[-2])
        if not shapes.is_compatible_static(dims, wanted):
            raise ValueError(f"{name} has shape {show(dims)}; rhs {show(rhs)} needs {show(wanted)}")
    return rhs


def _product(superdiag: Any, maindiag: Any, subdiag: Any, rhs: Any) -> Any:
    wanted = (*rhs.shape[:-2], 1, rhs.shape[-2])
    for name, one in zip(_DIAGONALS, (superdiag, maindiag, subdiag), strict=True):
        if tuple(one.shape) != wanted:
            raise ValueError(
                f"{name} must be {list(wanted)} for rhs {list(rhs.shape)}; found {list(one.shape)}"
            )
    above, main, below = (d.transpose(-1, -2) for d in (superdiag, maindiag, subdiag))
    result = main * rhs
    result[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
    result[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
    return result


def _moved(x: Any, up: bool) -> Tensor:
    """Rows moved up or down by one; zeros come in."""
    lead = fill.zeros((nodes.rank(x) - 2, 2), dtype="int32")
    ends = convert_to_tensor([[0, 1] if up else [1, 0], [0, 0]])
    amounts = join.concat([lead, ends], axis=0)
    return pad(x[..., 1:, :] if up else x[..., :-1, :], amounts)


def _product_grad(op: Any, grad: Any) -> list[Tensor]:
    above, main, below = (matrix_transpose(d, conjugate=True) for d in op.inputs[:3])
    rhs = nodes.conj(op.inputs[3])
    by_diagonal = [
        reduction.reduce_sum(_moved(rhs, True) * grad, axis=-1),
        reduction.reduce_sum(rhs * grad, axis=-1),
        reduction.reduce_sum(_moved(rhs, False) * grad, axis=-1),
    ]
    by_rhs = _moved(above * grad, False) + main * grad + _moved(below * grad, True)
    return [*(reshape.expand_dims(g, -2) for g in by_diagonal), by_rhs]


define_op(
    "TridiagonalMatMul",
    "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T",
    attrs=["T: {double, float, complex64, complex128}"],
    shape=_product_shape,
    kernel=_product,
    gradient=_product_grad,
)


# ---- public function -----------------------------------------------------------------------------


def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """Products of tridiagonal matrices with others.

    Args:
      diagonals: "compact": ``[..., 3, n]``, the diagonals above, on and below the main one, with
        one element unused at the end of the first and at the start of the last; "sequence": a list
        of the three; "matrix": ``[..., n, n]``, n known; its other elements are not looked at.
      rhs: ``[..., n, k]``.
      diagonals_format: "compact", "sequence" or "matrix".

    Returns:
      A tensor of the shape and type of ``rhs``.

    Raises:
      ValueError: shapes or a format that do not fit.
    """
    if diagonals_format == "compact":
        whole: Any = convert_to_tensor(diagonals)
        parts = [whole[..., i, :] for i in range(3)]
    elif diagonals_format == "sequence":
        parts = list(diagonals)
        if len(parts) != 3:
            raise ValueError(f"diagonals must be a sequence of 3; found {len(parts)}")
    elif diagonals_format == "matrix":
        parts = _of_matrix(convert_to_tensor(diagonals))
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    rows = [reshape.expand_dims(part, -2) for part in parts]
    return make("TridiagonalMatMul", *rows, rhs, name=name)


def _of_matrix(matrix: Any) -> list[Any]:
    dims = matrix.sizes
    if dims is not None and len(dims) >= 2 and None not in dims[-2:] and dims[-1] != dims[-2]:
        raise ValueError(f"diagonals must be square matrices; the shape is {show(dims)}")
    size = None if dims is None or len(dims) < 2 else dims[-1] or dims[-2]
    if not size:
        raise ValueError("The size of the matrix needs to be known for diagonals_format='matrix'")
    main = matrix_diag.matrix_diag_part(matrix)
    flipped = transpose(matrix)
    rows = np.arange(size, dtype=np.int32)
    # What is beyond the matrix is not used: any element will do.
    above, below = np.stack([rows + 1, rows], 1), np.stack([rows - 1, rows], 1)
    above[-1] = below[0] = 0
    picked = [transpose(gather_nd(flipped, places)) for places in (above, below)]
    return [picked[0], main, picked[1]]
