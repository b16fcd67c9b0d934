"""Orthogonal factorizations: QR, singular values, eigenvalues of Hermitian matrices.

Signs (phases) of the columns of Q, U, V are not determined; they are what LAPACK gives.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import control_dependencies
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array import nodes
from penstock.ops.linalg import matmul, matrix_diag
from penstock.ops.linalg.linalg import (
    FLOATS,
    adjoint,
    band,
    computed,
    matrix_transpose,
    plain,
    square_dims,
)

# ---- shape rules -----------------------------------------------------------------------------


def _least(m: int | None, n: int | None) -> int | None:
    if m is None or n is None:
        return 0 if 0 in (m, n) else None
    return min(m, n)


def _qr_shape(ctx: ShapeContext) -> list[Dims]:
    dims = ctx.rank_at_least("input", 2)
    if dims is None:
        return [None, None]
    *batch, m, n = dims
    inner = m if ctx.attr("full_matrices") else _least(m, n)
    return [(*batch, m, inner), (*batch, inner, n)]


def _svd_shape(ctx: ShapeContext) -> list[Dims]:
    dims = ctx.rank_at_least("input", 2)
    if not ctx.attr("compute_uv"):
        return [None if dims is None else (*dims[:-2], _least(*dims[-2:])), (0,), (0,)]
    if dims is None:
        return [None, None, None]
    *batch, m, n = dims
    p = _least(m, n)
    full = ctx.attr("full_matrices")
    return [(*batch, p), (*batch, m, m if full else p), (*batch, n, n if full else p)]


def _eig_shape(ctx: ShapeContext) -> list[Dims]:
    dims = square_dims(ctx)
    values = None if dims is None else dims[:-1]
    return [values, dims if ctx.attr("compute_v") else (0,)]


# ---- kernels ---------------------------------------------------------------------------------


def _qr(input: Any, full_matrices: bool) -> Any:
    mode = "complete" if full_matrices else "reduced"
    q, r = torch.linalg.qr(computed(input), mode=mode)
    return plain(q, input.dtype), plain(r, input.dtype)


def _svd(input: Any, compute_uv: bool, full_matrices: bool) -> Any:
    x, dtype = computed(input), input.dtype
    if not compute_uv:
        return torch.linalg.svdvals(x).to(dtype), input.new_empty(0), input.new_empty(0)
    u, s, vh = torch.linalg.svd(x, full_matrices=full_matrices)
    return s.to(dtype), plain(u, dtype), plain(vh.mH, dtype)


def _found(values: Any) -> Any:
    if not bool(values.isfinite().all()):
        raise ValueError(
            "Self-adjoint eigen decomposition was not successful. The input might not be valid."
        )
    return values


def _eig(input: Any, compute_v: bool) -> Any:
    if input.dim() < 2 or input.shape[-1] != input.shape[-2]:
        raise ValueError(f"Input matrix must be square; its shape is {list(input.shape)}")
    x, dtype = computed(input), input.dtype
    if not compute_v:
        return _found(torch.linalg.eigvalsh(x)).to(dtype), input.new_empty(0)
    values, vectors = torch.linalg.eigh(x)
    _found(values)
    return values.to(dtype), plain(vectors, dtype)


# ---- gradients -------------------------------------------------------------------------------


def _mm(a: Tensor, b: Tensor, **flags: bool) -> Tensor:
    return matmul.matmul(a, b, **flags)


def _diag(x: Tensor) -> Tensor:
    return make("MatrixDiag", x, name="diag")


def _zero_diagonal(x: Tensor, zeros: Tensor) -> Tensor:
    return make("MatrixSetDiag", x, zeros, name="set_diag")


def _imaginary_diagonal(x: Tensor) -> Tensor:
    """The diagonal of a complex ``x`` less its real part, as a matrix."""
    diagonal = make("MatrixDiagPart", x, name="diag_part")
    real = make("Real", diagonal, Tout=diagonal.dtype.real_dtype)
    return _diag(nodes.sub(diagonal, nodes.cast(real, diagonal.dtype)))


def _qr_grad(op: Any, grad_q: Tensor, grad_r: Tensor) -> Tensor:
    q, r = op.outputs
    q_dims, r_dims = q.sizes, r.sizes
    if q_dims is None or r_dims is None or None in (*q_dims[-2:], *r_dims[-2:]):
        raise NotImplementedError("the gradient of Qr needs static inner dims")
    rows, columns = r_dims[-2:]
    if op.attrs["full_matrices"] and rows > columns:
        raise NotImplementedError(
            "the gradient of Qr with full_matrices is not defined for rows > columns; Q has dims"
            f" {q_dims[-2:]}, R {r_dims[-2:]}"
        )
    if rows >= columns:
        return _tall_qr_grad(q, r, grad_q, grad_r)
    # [X, Y] = Q [U, V]: X = Q U is square, and V = Q' Y.
    right = nodes.columns(op.inputs[0], rows, columns)
    grad_v = nodes.columns(grad_r, rows, columns)
    through_v = nodes.add(grad_q, _mm(right, grad_v, adjoint_b=True))
    left = _tall_qr_grad(q, nodes.columns(r, 0, rows), through_v, nodes.columns(grad_r, 0, rows))
    return nodes.concat([left, _mm(q, grad_v)], -1)


def _tall_qr_grad(q: Tensor, r: Tensor, grad_q: Tensor, grad_r: Tensor) -> Tensor:
    def by_inverse_of_r(x: Tensor) -> Tensor:
        """``x R^-H`` by a triangular solve."""
        return adjoint(make("MatrixTriangularSolve", r, adjoint(x), lower=False, adjoint=False))

    q_part = _mm(q, grad_q, adjoint_a=True)
    q_skew = nodes.sub(q_part, adjoint(q_part))
    r_part = _mm(r, grad_r, adjoint_b=True)
    r_skew = nodes.sub(r_part, adjoint(r_part))
    lower = band(nodes.add(q_skew, r_skew), -1, 0)
    inside = _mm(q, nodes.add(grad_r, by_inverse_of_r(lower)))
    outside = by_inverse_of_r(nodes.sub(grad_q, _mm(q, q_part)))
    total = nodes.add(inside, outside)
    if q.dtype.is_complex:
        # The diagonal of R is real, which decides the phases of Q's columns.
        phases = _imaginary_diagonal(nodes.sub(r_part, adjoint(q_part)))
        total = nodes.sub(total, _mm(q, by_inverse_of_r(phases)))
    return total


def _gaps(values: Tensor) -> Tensor:
    """``values[j] - values[i]`` at ``[i, j]``."""
    return nodes.sub(make("ExpandDims", values, -2), make("ExpandDims", values, -1))


def _svd_grad(op: Any, grad_s: Tensor, grad_u: Tensor, grad_v: Tensor) -> Tensor:
    a = op.inputs[0]
    if not op.attrs["compute_uv"]:
        # Singular vectors are computed here, where they are first needed.
        diagonal = _diag(grad_s)
        _, u, v = make("Svd", a, compute_uv=True)
        return _mm(u, _mm(diagonal, v, adjoint_b=True))
    _check_svd(op)
    s, u, v = op.outputs
    m, n = a.sizes[-2:]
    diagonal = _diag(grad_s)
    tall = m > n
    if tall:
        # The adjoint is differentiated instead, so that rows <= columns below.
        u, v, grad_u, grad_v, m, n = v, u, grad_v, grad_u, n, m
    with control_dependencies([grad_s, grad_u, grad_v]):
        result = _wide_svd_grad(op, s, u, v, diagonal, grad_u, grad_v, m, n)
        return matrix_transpose(result, conjugate=True) if tall else result


def _check_svd(op: Any) -> None:
    dims = op.inputs[0].sizes
    if dims is None or None in dims[-2:]:
        raise NotImplementedError("the gradient of Svd needs static inner dims")
    if op.attrs["full_matrices"] and abs(dims[-1] - dims[-2]) > 1:
        raise NotImplementedError(
            "the gradient of Svd with full_matrices is defined where rows and columns differ by at"
            f" most 1; they are {dims[-2:]}"
        )


def _wide_svd_grad(
    op: Any, s: Tensor, u: Tensor, v: Tensor, diagonal: Tensor, grad_u: Tensor, grad_v: Tensor,
    m: int, n: int,
) -> Tensor:  # fmt: skip
    s_matrix, squares = _diag(s), make("Square", s)
    shape = nodes.shape(s)
    rows = nodes.element(shape, -1)
    batch = nodes.head(shape, -1)
    identity = matrix_diag.eye(rows, batch_shape=batch, dtype=s.dtype)
    # The identity only keeps the diagonal, which is dropped right after, from dividing by zero.
    inverse_gaps = make("Reciprocal", nodes.add(_gaps(squares), identity))
    f = _zero_diagonal(inverse_gaps, nodes.zeros_like(s))
    s_inverse = _diag(make("Reciprocal", s))
    v1, grad_v1 = nodes.columns(v, 0, m), nodes.columns(grad_v, 0, m)
    u_part, v_part = _mm(u, grad_u, adjoint_a=True), _mm(v1, grad_v1, adjoint_a=True)
    f_u, f_v = nodes.mul(f, u_part), nodes.mul(f, v_part)
    core = nodes.add(diagonal, _mm(nodes.add(f_u, adjoint(f_u)), s_matrix))
    core = nodes.add(core, _mm(s_matrix, nodes.add(f_v, adjoint(f_v))))
    if s.dtype.is_complex:
        # The phases of a pair of vectors are free together: what is due to V's alone is U's too.
        phases = _imaginary_diagonal(v_part)
        core = nodes.sub(core, _mm(s_inverse, phases))
    inside = _mm(u, _mm(core, v1, adjoint_b=True))
    if m == n:
        return inside
    transposed = matrix_transpose(grad_v1, conjugate=True)
    projected = _mm(_mm(transposed, v1), v1, adjoint_b=True)
    outside = nodes.sub(transposed, projected)
    if op.attrs["full_matrices"]:
        v2, grad_v2 = nodes.columns(v, m, n), nodes.columns(grad_v, m, n)
        outside = nodes.sub(outside, _mm(_mm(v1, grad_v2, adjoint_a=True), v2, adjoint_b=True))
    return nodes.add(inside, _mm(_mm(u, s_inverse), outside))


def _eig_grad(op: Any, grad_e: Tensor, grad_v: Tensor) -> Tensor:
    e, v = op.outputs
    with control_dependencies([grad_e, grad_v]):
        if op.attrs["compute_v"]:
            # A true reciprocal is infinite on the diagonal, and its own gradient there is NaN.
            gaps = _gaps(e)
            inverse = make("DivNoNan", 1, gaps, name="Reciprocal", T=gaps.dtype)
            f = _zero_diagonal(inverse, nodes.zeros_like(e))
            inner = nodes.add(_diag(grad_e), nodes.mul(f, _mm(v, grad_v, adjoint_a=True)))
        else:
            _, v = make("SelfAdjointEigV2", op.inputs[0], compute_v=True)
            inner = _diag(grad_e)
        full = _mm(v, _mm(inner, v, adjoint_b=True))
        # Only the lower triangle of the input is read: it receives what both halves are due.
        full = band(nodes.add(full, adjoint(full)), -1, 0)
        half = nodes.mul(0.5, make("MatrixDiagPart", full, name="diag_part"))
        return _zero_diagonal(full, half)


# ---- the ops ---------------------------------------------------------------------------------

define_op(
    "Qr",
    "input: T -> q: T, r: T",
    attrs=["full_matrices: bool = False", f"T: {FLOATS}"],
    shape=_qr_shape,
    kernel=_qr,
    gradient=_qr_grad,
)
define_op(
    "Svd",
    "input: T -> s: T, u: T, v: T",
    attrs=["compute_uv: bool = True", "full_matrices: bool = False", f"T: {FLOATS}"],
    shape=_svd_shape,
    kernel=_svd,
    gradient=_svd_grad,
)
define_op(
    "SelfAdjointEigV2",
    "input: T -> e: T, v: T",
    attrs=["compute_v: bool = True", f"T: {FLOATS}"],
    shape=_eig_shape,
    kernel=_eig,
    gradient=_eig_grad,
)


# ---- public functions ------------------------------------------------------------------------


def _real(x: Tensor) -> Tensor:
    return make("Real", x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else x


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """QR factorization: ``input = Q R``, Q with orthonormal columns, R upper triangular.

    Args:
      input: floating or complex tensor ``[..., m, n]``.
      full_matrices: whether Q is ``[..., m, m]``; else ``[..., m, min(m, n)]``.

    Returns:
      ``(q, r)``.
    """
    return make("Qr", input, name=name, full_matrices=bool(full_matrices))


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Singular value decomposition: ``tensor = u diag(s) v'``.

    Args:
      tensor: floating or complex tensor ``[..., m, n]``; p below is ``min(m, n)``.
      full_matrices: whether u and v are square.
      compute_uv: whether u and v are wanted.

    Returns:
      ``(s, u, v)`` of shapes ``[..., p]``, ``[..., m, p]`` and ``[..., n, p]``, or only s; s is
      real and descending.
    """
    s, u, v = make(
        "Svd", tensor, name=name, compute_uv=bool(compute_uv), full_matrices=bool(full_matrices)
    )
    return (_real(s), u, v) if compute_uv else _real(s)


def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Args:
      tensor: floating or complex tensor ``[..., n, n]``; only the lower triangles are read.

    Returns:
      ``(e, v)``: ascending eigenvalues ``[..., n]`` and, as columns, eigenvectors ``[..., n, n]``.
    """
    e, v = make("SelfAdjointEigV2", tensor, name=name, compute_v=True)
    return e, v


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Ascending eigenvalues of Hermitian matrices ``[..., n, n]``: ``[..., n]``, of their type."""
    values, _ = make("SelfAdjointEigV2", tensor, name=name, compute_v=False)
    return values
