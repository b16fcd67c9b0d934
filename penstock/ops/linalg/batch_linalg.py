"""Older names of linear algebra: ops from when only some took batches, and ``SelfAdjointEig``.

Each is a row: the op of today that computes it, and the types that the old one takes.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.foundation.opdef.registry import OPS
from penstock.ops.linalg import linalg
from penstock.ops.linalg.linalg_eig import qr as _after_eig  # noqa: F401  (registers what rows name)
from penstock.ops.linalg.linalg_solve import matrix_solve as _after_solve  # noqa: F401
from penstock.ops.linalg.matrix_diag import eye as _after_diag  # noqa: F401

_REALS = "T: {double, float}"
_FOUR = "T: {float, double, complex64, complex128}"
_ADJOINT = "adjoint: bool = False"
_REASON = "TensorFlow 1.15 defines none; the op without Batch has one"
# old op, the op that computes it, signature, attrs
_ROWS: list[tuple[str, str, str, list[str]]] = [
    ("BatchCholesky", "Cholesky", "input: T -> output: T", [_REALS]),
    ("BatchMatrixDeterminant", "MatrixDeterminant", "input: T -> output: T", [_FOUR]),
    ("BatchMatrixInverse", "MatrixInverse", "input: T -> output: T", [_ADJOINT, _REALS]),
    ("BatchMatrixSolve", "MatrixSolve", "matrix: T, rhs: T -> output: T", [_ADJOINT, _REALS]),
    ("BatchMatrixTriangularSolve", "MatrixTriangularSolve", "matrix: T, rhs: T -> output: T",
     ["lower: bool = True", _ADJOINT, _REALS]),
    ("BatchMatrixSolveLs", "MatrixSolveLs",
     "matrix: T, rhs: T, l2_regularizer: double -> output: T", [_REALS, "fast: bool = True"]),
    ("BatchSelfAdjointEigV2", "SelfAdjointEigV2", "input: T -> e: T, v: T",
     ["compute_v: bool = True", _REALS]),
    ("BatchSvd", "Svd", "input: T -> s: T, u: T, v: T",
     ["compute_uv: bool = True", "full_matrices: bool = False", _FOUR]),
    ("BatchMatrixBandPart", "MatrixBandPart",
     "input: T, num_lower: int64, num_upper: int64 -> band: T", ["T: type"]),
    ("BatchMatrixDiag", "MatrixDiag", "diagonal: T -> output: T", ["T: type"]),
    ("BatchMatrixDiagPart", "MatrixDiagPart", "input: T -> diagonal: T", ["T: type"]),
    ("BatchMatrixSetDiag", "MatrixSetDiag", "input: T, diagonal: T -> output: T", ["T: type"]),
]  # fmt: skip


def _unknown_shapes(ctx: ShapeContext) -> list[Dims] | None:
    """TensorFlow has no shape rules for them."""
    count = len(ctx.op.op_def.outputs)
    return [None] * count if count > 1 else None


for _old, _new, _signature, _attrs in _ROWS:
    _op = OPS[_new]
    define_op(
        _old,
        _signature,
        attrs=_attrs,
        shape=_unknown_shapes,
        kernel=_op.template or _op.kernel,
        host=tuple(_op.host),
        aliases=_op.aliases,
        no_gradient=_REASON,
    )


# ---- eigenvalues and eigenvectors in one matrix --------------------------------------------------


def _eig_shape(ctx: ShapeContext) -> Dims:
    dims = linalg.square_dims(ctx)
    if dims is None:
        return None
    return (*dims[:-2], None if dims[-1] is None else dims[-1] + 1, dims[-1])


def _eig(input: Any) -> Any:
    values, vectors = torch.linalg.eigh(linalg.computed(linalg.check_square(input)))
    return linalg.plain(torch.cat([values.unsqueeze(-2), vectors], -2), input.dtype)


define_op(
    "SelfAdjointEig",
    "input: T -> output: T",
    attrs=["T: {double, float, half}"],
    shape=_eig_shape,
    kernel=_eig,
    no_gradient="TensorFlow 1.15 defines none; SelfAdjointEigV2 has one",
)


# ---- the gradient of the Cholesky factor as one op -----------------------------------------------


def _cholesky_grad_shape(ctx: ShapeContext) -> Dims:
    return linalg.square_dims(ctx, "l")


def _cholesky_grad(l: Any, grad: Any) -> Any:  # noqa: E741
    """``sym(L^-T phi(L^T grad) L^-1)``, phi being the lower triangle with half the diagonal."""
    factor, upstream = linalg.computed(linalg.check_square(l)).tril(), linalg.computed(grad)
    middle = (factor.mT @ upstream).tril()
    middle.diagonal(dim1=-2, dim2=-1).mul_(0.5)
    right = torch.linalg.solve_triangular(factor, middle, upper=False, left=False)
    both = torch.linalg.solve_triangular(factor.mT, right, upper=True)
    return linalg.plain((both + both.mT) * 0.5, l.dtype)


define_op(
    "CholeskyGrad",
    "l: T, grad: T -> output: T",
    attrs=["T: {half, float, double}"],
    shape=_cholesky_grad_shape,
    kernel=_cholesky_grad,
    no_gradient="TensorFlow 1.15 defines none",
)
