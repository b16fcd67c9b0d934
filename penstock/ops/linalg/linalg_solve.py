"""Solving linear systems: general, triangular, by a Cholesky factor; the op of least squares.

``matrix_solve_ls`` itself is in ``library/control_flow/least_squares.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import nodes
from penstock.ops.linalg import matrix_diag
from penstock.ops.linalg.linalg import (
    ADJOINT,
    SINGULAR,
    TYPES,
    adjoint,
    adjoint_view,
    band,
    check_info,
    check_square,
    computed,
    merged_batch,
    mm,
    plain,
    square_dims,
)

# What LAPACK computes in as it is, with nothing to conjugate.
_PLAIN = (dtypes.float32, dtypes.float64)


def _solve_shape(ctx: ShapeContext) -> Dims:
    matrix, rhs = square_dims(ctx, "matrix"), ctx.rank_at_least("rhs", 2)
    if matrix is None or rhs is None:
        return rhs if matrix is None else (*matrix[:-1], None)
    if None not in (matrix[-1], rhs[-2]) and matrix[-1] != rhs[-2]:
        raise ValueError(f"matrix has {matrix[-1]} row(s), rhs {rhs[-2]}")
    rows = rhs[-2] if matrix[-1] is None else matrix[-1]
    batch = merged_batch(matrix[:-2], rhs[:-2])
    return (*batch, rows, rhs[-1])


def _solve_ls_shape(ctx: ShapeContext) -> Dims:
    matrix, rhs = ctx.rank_at_least("matrix", 2), ctx.rank_at_least("rhs", 2)
    ctx.rank("l2_regularizer", 0)
    if matrix is None and rhs is None:
        return None
    if matrix is None or rhs is None:
        batch, size, columns = (
            (rhs[:-2], None, rhs[-1]) if matrix is None else (matrix[:-2], matrix[-1], None)
        )
        return (*batch, size, columns)
    if None not in (matrix[-2], rhs[-2]) and matrix[-2] != rhs[-2]:
        raise ValueError(f"matrix has {matrix[-2]} row(s), rhs {rhs[-2]}")
    return (*merged_batch(matrix[:-2], rhs[:-2]), matrix[-1], rhs[-1])


def _solve(matrix: Any, rhs: Any, adjoint: bool) -> Any:
    a, b = computed(check_square(matrix)), computed(rhs)
    check_rows(a, b)
    result, info = torch.linalg.solve_ex(adjoint_view(a) if adjoint else a, b)
    check_info(info, SINGULAR)
    if bool(result.isnan().any()) and bool(a.isnan().any()):  # a pivot that is not above 0
        raise ValueError(SINGULAR)
    return plain(result, rhs.dtype)


def check_rows(a: Any, b: Any) -> None:
    if b.dim() < 2 or a.shape[-2] != b.shape[-2]:
        raise ValueError(
            f"Input matrix and rhs must have as many rows; their shapes are {list(a.shape)} and"
            f" {list(b.shape)}"
        )


def _triangular_solve(matrix: Any, rhs: Any, lower: bool, adjoint: bool) -> Any:
    a, b = computed(check_square(matrix)), computed(rhs)
    check_rows(a, b)
    if not bool(a.diagonal(dim1=-2, dim2=-1).all()):
        raise ValueError(SINGULAR)
    if adjoint:
        a = adjoint_view(a)
    result = torch.linalg.solve_triangular(a, b, upper=lower == adjoint)
    return plain(result, rhs.dtype)


def _triangular_solve_inline(call: Any) -> str | None:
    """The solve alone, where the matrix is a constant that is known to be regular.

    What LAPACK gives lies column by column, a transposed view as others make them.
    """
    matrix, dims = call.value("matrix"), call.dims("rhs")
    if matrix is None or dims is None or len(dims) < 2 or dims[-2] != matrix.shape[-1]:
        return None
    if call.dtype("matrix") not in _PLAIN or not _diagonal(matrix).all():
        return None
    adjoint = call.attr("adjoint")
    side = call.arg["matrix"] + (".mT" if adjoint else "")
    upper = literal(call.attr("lower") == adjoint)
    return f"torch.linalg.solve_triangular({side}, {call.arg['rhs']}, upper={upper})"


def _diagonal(matrix: np.ndarray) -> np.ndarray:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def _solve_ls(matrix: Any, rhs: Any, l2_regularizer: float, fast: bool) -> Any:
    a, b = computed(matrix), computed(rhs)
    check_rows(a, b)
    if l2_regularizer < 0:
        raise ValueError(f"l2_regularizer must be >= 0; found {l2_regularizer}")
    if not fast:
        # Minimum norm through the singular values, which copes with deficient rank.
        eps = torch.finfo(a.dtype).eps * max(a.shape[-2:])
        return plain(torch.matmul(torch.linalg.pinv(a, rtol=eps), b), rhs.dtype)
    tall = a.shape[-2] >= a.shape[-1]
    transposed = adjoint_view(a)
    gram = transposed @ a if tall else a @ transposed
    gram.diagonal(dim1=-2, dim2=-1).add_(l2_regularizer)
    factor, info = torch.linalg.cholesky_ex(gram)
    check_info(info, "Input matrix was rank deficient or ill-conditioned. Try setting fast=False.")
    right = transposed @ b if tall else b
    solved = torch.cholesky_solve(right, factor)
    return plain(solved if tall else transposed @ solved, rhs.dtype)


def _solve_grad(op: Any, grad: Tensor) -> list[Tensor]:
    matrix, solution = op.inputs[0], op.outputs[0]
    flipped = op.attrs["adjoint"]
    grad_rhs = make("MatrixSolve", matrix, grad, adjoint=not flipped)
    first, second = (solution, grad_rhs) if flipped else (grad_rhs, solution)
    return [make("Neg", mm(first, second, adjoint_b=True)), grad_rhs]


def _triangular_solve_grad(op: Any, grad: Tensor) -> list[Tensor]:
    matrix, solution = op.inputs[0], op.outputs[0]
    flipped, lower = op.attrs["adjoint"], op.attrs["lower"]
    grad_rhs = make("MatrixTriangularSolve", matrix, grad, lower=lower, adjoint=not flipped)
    first, second = (solution, grad_rhs) if flipped else (grad_rhs, solution)
    dense = make("Neg", mm(first, second, adjoint_b=True))
    return [band(dense, -1, 0) if lower else band(dense, 0, -1), grad_rhs]


def _solve_ls_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    """Gradient through the normal equations; tall and wide matrices differ."""
    a, b, l2 = op.inputs
    x = op.outputs[0]
    dims = a.sizes
    if not op.attrs["fast"]:
        raise ValueError("the gradient of MatrixSolveLs is defined for fast=True only")
    if dims is None or None in dims[-2:]:
        raise ValueError("the gradient of MatrixSolveLs needs the matrix's static inner dims")
    tall = dims[-2] >= dims[-1]
    batch = nodes.head(nodes.shape(a), -2)
    size = dims[-1] if tall else dims[-2]
    identity = matrix_diag.eye(size, batch_shape=batch, dtype=a.dtype)
    gram = nodes.add(
        mm(a, a, adjoint_a=tall, adjoint_b=not tall),
        nodes.mul(nodes.cast(l2, a.dtype), identity),
    )
    factor = make("Cholesky", gram)
    if tall:
        z = cholesky_solve(factor, grad)
        xz = mm(x, z, adjoint_b=True)
        grad_a = nodes.add(make("Neg", mm(a, nodes.add(xz, adjoint(xz)))), mm(b, z, adjoint_b=True))
        return [grad_a, mm(a, z), None]
    grad_b = cholesky_solve(factor, mm(a, grad))
    inner = cholesky_solve(factor, b)
    first = make("Neg", mm(grad_b, mm(inner, a, adjoint_a=True)))
    difference = nodes.sub(grad, mm(a, grad_b, adjoint_a=True))
    return [nodes.add(first, mm(inner, difference, adjoint_b=True)), grad_b, None]


define_op(
    "MatrixSolve",
    "matrix: T, rhs: T -> output: T",
    attrs=[ADJOINT, TYPES],
    shape=_solve_shape,
    kernel=_solve,
    gradient=_solve_grad,
)
define_op(
    "MatrixTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    attrs=["lower: bool = True", ADJOINT, TYPES],
    shape=_solve_shape,
    kernel=_triangular_solve,
    inline=_triangular_solve_inline,
    gradient=_triangular_solve_grad,
)
define_op(
    "MatrixSolveLs",
    "matrix: T, rhs: T, l2_regularizer: double -> output: T",
    attrs=[TYPES, "fast: bool = True"],
    shape=_solve_ls_shape,
    kernel=_solve_ls,
    host=("l2_regularizer",),
    gradient=_solve_ls_grad,
)


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Solves ``A x = rhs`` given the Cholesky factor of A.

    Args:
      chol: lower triangular factors ``[..., n, n]``.
      rhs: right-hand sides ``[..., n, k]``.

    Returns:
      Solutions ``[..., n, k]``.
    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = matrix_triangular_solve(chol, rhs, adjoint=False, lower=True)
        return matrix_triangular_solve(chol, y, adjoint=True, lower=True)


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves ``matrix x = rhs``.

    Args:
      matrix: floating or complex tensor ``[..., n, n]``.
      rhs: tensor ``[..., n, k]`` of that dtype.
      adjoint: whether the conjugate transpose of ``matrix`` is meant.

    Returns:
      A tensor ``[..., n, k]``.

    Raises:
      InvalidArgumentError: at run time, where a matrix is singular.
    """
    return make("MatrixSolve", matrix, rhs, name=name, adjoint=bool(adjoint))


def matrix_triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves ``matrix x = rhs`` where one triangle of ``matrix`` is taken as zero.

    Args:
      matrix: floating or complex tensor ``[..., n, n]``.
      rhs: tensor ``[..., n, k]`` of that dtype.
      lower: whether the lower triangle is read.
      adjoint: whether the conjugate transpose of the triangle is meant.

    Returns:
      A tensor ``[..., n, k]``.

    Raises:
      InvalidArgumentError: at run time, where the diagonal holds a zero.
    """
    return make(
        "MatrixTriangularSolve", matrix, rhs, name=name, lower=bool(lower), adjoint=bool(adjoint)
    )
