"""Linear algebra: Cholesky and LU factors, inverses, determinants, transposes and products.

LAPACK, through ``torch.linalg``, does the work; half runs in float32, as ATen has no half kernels.
Failures (a singular matrix, one that is not positive definite) are found from LAPACK's info codes
and raised as InvalidArgumentError.  What the
siblings (``linalg_solve``, ``linalg_eig``, ``matrix_functions``) share is here too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, RefusedAtBuild, ShapeContext, show
from penstock.ops.array import nodes
from penstock.ops.linalg import matmul, matrix_diag
from penstock.ops.math import reduction

FLOATS = "{double, float, half, complex64, complex128}"
SINGULAR = "Input matrix is not invertible."


def computed(x: Any) -> Any:
    """``x`` in a dtype that LAPACK has: half becomes float32."""
    return x.float() if x.dtype is torch.float16 else x


def adjoint_view(x: Any) -> Any:
    """The conjugate transpose, not lazily conjugated."""
    return x.mT.conj_physical() if x.dtype.is_complex else x.mT


def plain(x: Any, dtype: Any) -> Any:
    """A result of LAPACK as others expect it: row-major, not lazily conjugated, in ``dtype``."""
    x = x.resolve_conj().contiguous()
    return x if x.dtype is dtype else x.to(dtype)


def check_info(info: Any, message: str) -> None:
    if bool(info.any()):
        raise ValueError(message)


# ---- shape rules -----------------------------------------------------------------------------


def square_dims(ctx: ShapeContext, name: str = "input") -> Dims:
    """Dims of ``name`` checked to be square matrices, each inner dim filled in from the other."""
    dims = ctx.rank_at_least(name, 2)
    if dims is None:
        return None
    rows, columns = dims[-2:]
    if None not in (rows, columns) and rows != columns:
        raise ValueError(
            f"Dimensions must be equal, but are {dims[-2]} and {dims[-1]}: {name} must hold square"
            f" matrices; its shape is {show(dims)}"
        )
    size = columns if rows is None else rows
    return (*dims[:-2], size, size)


def _determinant_shape(ctx: ShapeContext) -> Dims:
    dims = square_dims(ctx)
    return None if dims is None else dims[:-2]


def _log_determinant_shape(ctx: ShapeContext) -> list[Dims]:
    return [_determinant_shape(ctx)] * 2


def merged_batch(a: Any, b: Any) -> Any:
    return shapes.merge_static(a, b)


def _lu_shape(ctx: ShapeContext) -> list[Dims]:
    dims = square_dims(ctx)
    return [None, None] if dims is None else [dims, dims[:-1]]


def _cross_shape(ctx: ShapeContext) -> Dims:
    a, b = ctx.rank_at_least("a", 1), ctx.rank_at_least("b", 1)
    dims: Dims = merged_batch(a, b)
    if dims is not None and dims[-1] not in (None, 3):
        raise RefusedAtBuild(
            f"Cross-products are only defined for 3-element vectors; found {dims[-1]} element(s)",
            "FailedPreconditionError",
        )
    return dims


# ---- kernels ---------------------------------------------------------------------------------


def check_square(x: Any, what: str = "Input matrix") -> Any:
    if x.dim() < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{what} must be square; its shape is {list(x.shape)}")
    return x


def _cholesky(input: Any) -> Any:
    factor, info = torch.linalg.cholesky_ex(computed(check_square(input)))
    check_info(info, "Cholesky decomposition was not successful. The input might not be valid.")
    return plain(factor, input.dtype)


def _inverse(input: Any, adjoint: bool) -> Any:
    x = computed(check_square(input))
    result, info = torch.linalg.inv_ex(adjoint_view(x) if adjoint else x)
    check_info(info, "Input is not invertible.")
    return plain(result, input.dtype)


def _determinant(input: Any) -> Any:
    return torch.linalg.det(computed(check_square(input))).to(input.dtype)


def _log_determinant(input: Any) -> Any:
    sign, magnitude = torch.linalg.slogdet(computed(check_square(input)))
    sign = torch.where(magnitude.isnan(), math.nan, sign)
    return sign.to(input.dtype), magnitude.to(input.dtype)


def _lu_kernel(input: Any, output_idx_type: Any) -> Any:
    if not check_square(input).shape[-1]:
        return input.clone(), input.new_zeros(input.shape[:-1], dtype=output_idx_type)
    factors, pivots, info = torch.linalg.lu_factor_ex(computed(input))
    check_info(info, SINGULAR)
    if bool(factors.diagonal(dim1=-2, dim2=-1).isnan().any()):
        raise ValueError(SINGULAR)
    permutation = torch.lu_unpack(factors, pivots, unpack_data=False)[0].real.argmax(-2)
    return plain(factors, input.dtype), permutation.to(output_idx_type)


def _cross_kernel(a: Any, b: Any) -> Any:
    if a.shape != b.shape or not a.dim() or a.shape[-1] != 3:
        raise ValueError(
            f"a and b must have one shape that ends in 3; found {list(a.shape)}, {list(b.shape)}"
        )
    if a.dtype.is_floating_point or a.dtype.is_complex:
        return torch.linalg.cross(a, b, dim=-1)
    return torch.linalg.cross(a.to(torch.int64), b.to(torch.int64), dim=-1).to(a.dtype)


# ---- gradients -------------------------------------------------------------------------------


def mm(a: Tensor, b: Tensor, **flags: bool) -> Tensor:
    return matmul.matmul(a, b, **flags)


def band(x: Tensor, lower: int, upper: int) -> Tensor:
    return make("MatrixBandPart", x, np.int64(lower), np.int64(upper))


def _cholesky_grad(op: Any, grad: Tensor) -> Tensor:
    factor = op.outputs[0]
    rows = nodes.element(nodes.shape(factor), -1)
    batch = nodes.head(nodes.shape(factor), -2)
    identity = matrix_diag.eye(rows, batch_shape=batch, dtype=factor.dtype)
    inverse = make("MatrixTriangularSolve", factor, identity)
    middle = mm(factor, grad, adjoint_a=True)
    half = nodes.mul(0.5, make("MatrixDiagPart", middle, name="diag_part"))
    middle = make("MatrixSetDiag", middle, half, name="set_diag")
    middle = band(middle, -1, 0)
    result = mm(mm(inverse, middle, adjoint_a=True), inverse)
    return nodes.mul(nodes.add(result, adjoint(result)), 0.5)


def _inverse_grad(op: Any, grad: Tensor) -> Tensor:
    inverse = op.outputs[0]
    if op.attrs["adjoint"]:
        # With the adjoint taken of the input, its gradient is the adjoint of the plain one.
        return make("Neg", mm(mm(inverse, grad, adjoint_b=True), inverse))
    return make("Neg", mm(inverse, mm(grad, inverse, adjoint_b=True), adjoint_a=True))


def _scalar_per_matrix(x: Tensor, value: Tensor) -> Tensor:
    return nodes.reshape(value, nodes.concat([nodes.shape(x), np.array([1, 1], np.int32)], 0))


def _determinant_grad(op: Any, grad: Tensor) -> Tensor:
    inverse = make("MatrixInverse", op.inputs[0], adjoint=True)
    determinant = op.outputs[0]
    scale = nodes.mul(grad, nodes.conj(determinant))
    return nodes.mul(_scalar_per_matrix(determinant, scale), inverse)


def _log_determinant_grad(op: Any, grad_sign: Tensor, grad: Tensor) -> Tensor:
    inverse = make("MatrixInverse", op.inputs[0], adjoint=True)
    return nodes.mul(_scalar_per_matrix(op.outputs[1], grad), inverse)


def _cross_grad(op: Any, grad: Tensor) -> list[Tensor]:
    a, b = op.inputs
    return [make("Cross", b, grad), make("Cross", grad, a)]


# ---- the ops ---------------------------------------------------------------------------------

TYPES = f"T: {FLOATS}"
ADJOINT = "adjoint: bool = False"
_UNARY: list[tuple[str, list[str], Any, Any, dict[str, Any]]] = [
    ("Cholesky", [TYPES], square_dims, _cholesky, {"gradient": _cholesky_grad}),
    ("MatrixInverse", [ADJOINT, TYPES], square_dims, _inverse, {"gradient": _inverse_grad}),
    ("MatrixDeterminant", [TYPES], _determinant_shape, _determinant,
     {"gradient": _determinant_grad}),
]  # fmt: skip
for _name, _attrs, _shape, _kernel, _rest in _UNARY:
    define_op(_name, "input: T -> output: T", attrs=_attrs, shape=_shape, kernel=_kernel, **_rest)
define_op(
    "LogMatrixDeterminant",
    "input: T -> sign: T, log_abs_determinant: T",
    attrs=[TYPES],
    shape=_log_determinant_shape,
    kernel=_log_determinant,
    gradient=_log_determinant_grad,
)
define_op(
    "Lu",
    "input: T -> lu: T, p: output_idx_type",
    attrs=[TYPES, "output_idx_type: {int32, int64} = int32"],
    shape=_lu_shape,
    kernel=_lu_kernel,
    no_gradient="TF 1.15 defines none for Lu",
)
define_op(
    "Cross",
    "a: T, b: T -> product: T",
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32,"
        " uint64}"
    ],
    shape=_cross_shape,
    kernel=_cross_kernel,
    gradient=_cross_grad,
)


# ---- public functions ------------------------------------------------------------------------


def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangular factor L of ``input = L L'``, batched.

    Args:
      input: tensor ``[..., n, n]`` of symmetric (Hermitian) positive definite matrices; only the
        lower triangles are read.

    Returns:
      A tensor of the shape and dtype of ``input``.

    Raises:
      InvalidArgumentError: at run time, where a matrix is not positive definite.
    """
    return make("Cholesky", input, name=name)


def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Inverses of square matrices, or of their adjoints.

    Args:
      input: floating or complex tensor ``[..., n, n]``.
      adjoint: whether the conjugate transpose is inverted.

    Returns:
      A tensor of the shape and dtype of ``input``.

    Raises:
      ValueError: the matrices are not square.
      InvalidArgumentError: at run time, where a matrix is singular.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.matrix_inverse([[2.0, 0.0], [0.0, 4.0]])).tolist()
      [[0.5, 0.0], [0.0, 0.25]]
    """
    return make("MatrixInverse", input, name=name, adjoint=bool(adjoint))


def matrix_determinant(input: Any, name: str | None = None) -> Tensor:
    """Determinants of square matrices ``[..., n, n]``, of shape ``[...]``."""
    return make("MatrixDeterminant", input, name=name)


def slogdet(input: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Sign and logarithm of the absolute value of determinants.

    Args:
      input: floating or complex tensor ``[..., n, n]``.

    Returns:
      ``(sign, log_abs_determinant)``, each of shape ``[...]``.
    """
    return make("LogMatrixDeterminant", input, name=name)


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """Logarithm of the determinant of Hermitian positive definite matrices.

    Args:
      matrix: tensor ``[..., n, n]``.

    Returns:
      A tensor of shape ``[...]``.
    """
    with name_scope(name, "logdet", [matrix]):
        diagonal = make("MatrixDiagPart", cholesky(matrix), name="diag_part")
        if diagonal.dtype.is_complex:
            diagonal = make("Real", diagonal, Tout=diagonal.dtype.real_dtype)
        return nodes.mul(2.0, reduction.reduce_sum(make("Log", diagonal), [-1]))


def lu(
    input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """LU factorization with row pivoting.

    Args:
      input: floating or complex tensor ``[..., n, n]``.
      output_idx_type: int32 or int64.

    Returns:
      ``(lu, p)``: L (unit diagonal, not stored) and U in one tensor, and the permutation: row i of
      ``L U`` is row ``p[i]`` of ``input``.
    """
    return make("Lu", input, name=name, output_idx_type=output_idx_type)


def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """Cross products of 3-vectors: ``a`` and ``b`` of one shape ``[..., 3]``."""
    return make("Cross", a, b, name=name)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Swaps the last two dims of ``a``.

    Args:
      a: tensor of rank at least 2.
      conjugate: whether elements are conjugated too.

    Returns:
      A tensor ``[..., n, m]`` for ``a`` of shape ``[..., m, n]``.

    Raises:
      ValueError: the rank is below 2.
    """
    with name_scope(name):
        a = convert_to_tensor(a, name="a")
        if a.sizes is None:
            rank = nodes.rank(a)
            perm: Any = _swapping_permutation(rank)
        else:
            count = len(a.sizes)
            if count < 2:
                raise ValueError(f"a must have rank at least 2; its shape is {show(a.sizes)}")
            perm = [*range(count - 2), count - 1, count - 2]
        if conjugate and a.dtype.is_complex:
            perm = perm if isinstance(perm, Tensor) else np.array(perm, np.int32)
            return make("ConjugateTranspose", a, perm, name="transpose")
        return nodes.transpose(a, perm)


def _swapping_permutation(rank: Tensor) -> Tensor:
    leading = nodes.range_to(nodes.sub(rank, 2), name="Range")
    last, second = nodes.sub(rank, 1), nodes.sub(rank, 2)
    return nodes.concat([leading, [last, second]], 0)


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transpose of the last two dims of ``matrix``."""
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


def trace(x: Any, name: str | None = None) -> Tensor:
    """Sums of the diagonals of matrices ``[..., m, n]``, of shape ``[...]``."""
    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        diagonal = make("MatrixDiagPart", x, name="diag_part")
        return reduction.reduce_sum(diagonal, [-1], name=scope)
