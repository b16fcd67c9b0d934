"""Linear algebra: factorizations, inverses, determinants, solvers and matrix functions.

LAPACK, through ``torch.linalg``, does the work; half runs in float32, as ATen has no half kernels.
Failures (a singular matrix, one that is not positive definite) are found from LAPACK's info codes
and raised as InvalidArgumentError.  Eigenvector-like ops and their gradients are in ``linalg_eig``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.base import dtypes
from penstock.graph.build import make
from penstock.graph.convert import convert_to_tensor
from penstock.graph.scopes import name_scope
from penstock.graph.tensor import Tensor
from penstock.opdef import define_op
from penstock.opdef.inference import Dims, ShapeContext, show

__all__ = [
    "adjoint", "cholesky", "cholesky_solve", "cross", "expm", "logdet", "logm", "lu",
    "matrix_determinant", "matrix_inverse", "matrix_solve", "matrix_solve_ls",
    "matrix_square_root", "matrix_transpose", "matrix_triangular_solve", "slogdet", "sqrtm",
    "trace",
]  # fmt: skip

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
    return x.resolve_conj().contiguous().to(dtype)


def _check(info: Any, message: str) -> None:
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
        raise ValueError(f"{name} must hold square matrices; its shape is {show(dims)}")
    size = columns if rows is None else rows
    return (*dims[:-2], size, size)


def _determinant_shape(ctx: ShapeContext) -> Dims:
    dims = square_dims(ctx)
    return None if dims is None else dims[:-2]


def _log_determinant_shape(ctx: ShapeContext) -> list[Dims]:
    return [_determinant_shape(ctx)] * 2


def _merged_batch(a: Any, b: Any) -> Any:
    from penstock.base import shapes

    return shapes.merge_static(a, b)


def _solve_shape(ctx: ShapeContext) -> Dims:
    matrix, rhs = square_dims(ctx, "matrix"), ctx.rank_at_least("rhs", 2)
    if matrix is None or rhs is None:
        return None
    if None not in (matrix[-1], rhs[-2]) and matrix[-1] != rhs[-2]:
        raise ValueError(f"matrix has {matrix[-1]} row(s), rhs {rhs[-2]}")
    rows = rhs[-2] if matrix[-1] is None else matrix[-1]
    batch = _merged_batch(matrix[:-2], rhs[:-2])
    return (*batch, rows, rhs[-1])


def _solve_ls_shape(ctx: ShapeContext) -> Dims:
    matrix, rhs = ctx.rank_at_least("matrix", 2), ctx.rank_at_least("rhs", 2)
    ctx.rank("l2_regularizer", 0)
    if matrix is None or rhs is None:
        return None
    if None not in (matrix[-2], rhs[-2]) and matrix[-2] != rhs[-2]:
        raise ValueError(f"matrix has {matrix[-2]} row(s), rhs {rhs[-2]}")
    return (*_merged_batch(matrix[:-2], rhs[:-2]), matrix[-1], rhs[-1])


def _lu_shape(ctx: ShapeContext) -> list[Dims]:
    dims = square_dims(ctx)
    return [None, None] if dims is None else [dims, dims[:-1]]


def _cross_shape(ctx: ShapeContext) -> Dims:
    a, b = ctx.rank_at_least("a", 1), ctx.rank_at_least("b", 1)
    dims: Dims = _merged_batch(a, b)
    if dims is not None and dims[-1] not in (None, 3):
        raise ValueError(f"the last dim of a and b must be 3; it is {dims[-1]}")
    return dims


# ---- kernels ---------------------------------------------------------------------------------


def _square(x: Any, what: str = "Input matrix") -> Any:
    if x.dim() < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{what} must be square; its shape is {list(x.shape)}")
    return x


def _cholesky(input: Any) -> Any:
    factor, info = torch.linalg.cholesky_ex(computed(_square(input)))
    _check(info, "Cholesky decomposition was not successful. The input might not be valid.")
    return plain(factor, input.dtype)


def _inverse(input: Any, adjoint: bool) -> Any:
    x = computed(_square(input))
    result, info = torch.linalg.inv_ex(adjoint_view(x) if adjoint else x)
    _check(info, "Input is not invertible.")
    return plain(result, input.dtype)


def _determinant(input: Any) -> Any:
    return torch.linalg.det(computed(_square(input))).to(input.dtype)


def _log_determinant(input: Any) -> Any:
    sign, magnitude = torch.linalg.slogdet(computed(_square(input)))
    return sign.to(input.dtype), magnitude.to(input.dtype)


def _solve(matrix: Any, rhs: Any, adjoint: bool) -> Any:
    a, b = computed(_square(matrix)), computed(rhs)
    _check_rows(a, b)
    result, info = torch.linalg.solve_ex(adjoint_view(a) if adjoint else a, b)
    _check(info, SINGULAR)
    return plain(result, rhs.dtype)


def _check_rows(a: Any, b: Any) -> None:
    if b.dim() < 2 or a.shape[-2] != b.shape[-2]:
        raise ValueError(
            f"Input matrix and rhs must have as many rows; their shapes are {list(a.shape)} and"
            f" {list(b.shape)}"
        )


def _triangular_solve(matrix: Any, rhs: Any, lower: bool, adjoint: bool) -> Any:
    a, b = computed(_square(matrix)), computed(rhs)
    _check_rows(a, b)
    if bool((a.diagonal(dim1=-2, dim2=-1) == 0).any()):
        raise ValueError(SINGULAR)
    if adjoint:
        a = adjoint_view(a)
    result = torch.linalg.solve_triangular(a, b, upper=lower == adjoint)
    return plain(result, rhs.dtype)


def _solve_ls(matrix: Any, rhs: Any, l2_regularizer: float, fast: bool) -> Any:
    a, b = computed(matrix), computed(rhs)
    _check_rows(a, b)
    if not fast:
        # Minimum norm through the singular values, which copes with deficient rank.
        eps = torch.finfo(a.dtype).eps * max(a.shape[-2:])
        return plain(torch.matmul(torch.linalg.pinv(a, rtol=eps), b), rhs.dtype)
    if l2_regularizer < 0:
        raise ValueError(f"l2_regularizer must not be negative; found {l2_regularizer}")
    tall = a.shape[-2] >= a.shape[-1]
    transposed = adjoint_view(a)
    gram = transposed @ a if tall else a @ transposed
    gram.diagonal(dim1=-2, dim2=-1).add_(l2_regularizer)
    factor, info = torch.linalg.cholesky_ex(gram)
    _check(info, "Input matrix was rank deficient or ill-conditioned. Try setting fast=False.")
    right = transposed @ b if tall else b
    solved = torch.cholesky_solve(right, factor)
    return plain(solved if tall else transposed @ solved, rhs.dtype)


def _lu_kernel(input: Any, output_idx_type: Any) -> Any:
    factors, pivots, info = torch.linalg.lu_factor_ex(computed(_square(input)))
    _check(info, SINGULAR)
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


def _expm_kernel(input: Any) -> Any:
    return plain(torch.linalg.matrix_exp(computed(_square(input))), input.dtype)


def _function_of(x: Any, function: Any) -> Any:
    """``V f(D) V^-1`` from the eigenvalues, or None where the eigenvectors are near dependent."""
    values, vectors = torch.linalg.eig(x)
    if bool((torch.linalg.cond(vectors) > 1e6).any()):
        return None
    return torch.linalg.solve(vectors, vectors * function(values).unsqueeze(-2), left=False)


def _sqrtm_kernel(input: Any) -> Any:
    x = computed(_square(input))
    exact = torch.complex128 if x.dtype.is_complex else torch.float64
    root = _function_of(x.to(exact), torch.sqrt)
    if root is None:
        root = _denman_beavers(x.to(exact))
    return plain(root if x.dtype.is_complex else root.real, input.dtype)


def _denman_beavers(x: Any) -> Any:
    """The principal square root of matrices that lack independent eigenvectors."""
    root, inverse = x, torch.eye(x.shape[-1], dtype=x.dtype).expand_as(x)
    for _ in range(100):
        step = (root + torch.linalg.inv(inverse)) / 2
        inverse = (inverse + torch.linalg.inv(root)) / 2
        change = torch.linalg.vector_norm(step - root)
        root = step
        if change <= 1e-14 * torch.linalg.vector_norm(root):
            break
    return root


def _logm_kernel(input: Any) -> Any:
    x = _square(input).to(torch.complex128)
    result = _function_of(x, torch.log)
    if result is None:
        result = _log_by_scaling(x)
    return plain(result, input.dtype)


def _log_by_scaling(x: Any) -> Any:
    """Square roots until near the identity, then the series of ``2 atanh((x - 1) / (x + 1))``."""
    identity = torch.eye(x.shape[-1], dtype=x.dtype).expand_as(x)
    scalings = 0
    while bool(torch.linalg.matrix_norm(x - identity, 1).max() > 0.25) and scalings < 60:
        x, scalings = _denman_beavers(x), scalings + 1
    ratio = torch.linalg.solve(x + identity, x - identity)
    square, power, total = ratio @ ratio, ratio, ratio
    for k in range(3, 40, 2):
        power = power @ square
        total = total + power / k
    return total * 2.0 ** (scalings + 1)


# ---- gradients -------------------------------------------------------------------------------


def _mm(a: Tensor, b: Tensor, **flags: bool) -> Tensor:
    from penstock.ops import matmul

    return matmul.matmul(a, b, **flags)


def _band(x: Tensor, lower: int, upper: int) -> Tensor:
    made: Tensor = make("MatrixBandPart", x, np.int64(lower), np.int64(upper))
    return made


def _cholesky_grad(op: Any, grad: Tensor) -> Tensor:
    from penstock.ops import matrix_diag, nodes

    factor = op.outputs[0]
    rows = nodes.element(nodes.shape(factor), -1)
    batch = nodes.head(nodes.shape(factor), -2)
    identity = matrix_diag.eye(rows, batch_shape=batch, dtype=factor.dtype)
    inverse = make("MatrixTriangularSolve", factor, identity)
    middle = _mm(factor, grad, adjoint_a=True)
    half = nodes.mul(0.5, make("MatrixDiagPart", middle, name="diag_part"))
    middle = make("MatrixSetDiag", middle, half, name="set_diag")
    middle = _band(middle, -1, 0)
    result = _mm(_mm(inverse, middle, adjoint_a=True), inverse)
    return nodes.mul(nodes.add(result, adjoint(result)), 0.5)


def _inverse_grad(op: Any, grad: Tensor) -> Tensor:
    inverse = op.outputs[0]
    if op.attrs["adjoint"]:
        # With the adjoint taken of the input, its gradient is the adjoint of the plain one.
        return make("Neg", _mm(_mm(inverse, grad, adjoint_b=True), inverse))
    return make("Neg", _mm(inverse, _mm(grad, inverse, adjoint_b=True), adjoint_a=True))


def _scalar_per_matrix(x: Tensor, value: Tensor) -> Tensor:
    from penstock.ops import nodes

    return nodes.reshape(value, nodes.concat([nodes.shape(x), np.array([1, 1], np.int32)], 0))


def _determinant_grad(op: Any, grad: Tensor) -> Tensor:
    from penstock.ops import nodes

    inverse = make("MatrixInverse", op.inputs[0], adjoint=True)
    determinant = op.outputs[0]
    scale = nodes.mul(grad, nodes.conj(determinant))
    return nodes.mul(_scalar_per_matrix(determinant, scale), inverse)


def _log_determinant_grad(op: Any, grad_sign: Tensor, grad: Tensor) -> Tensor:
    from penstock.ops import nodes

    inverse = make("MatrixInverse", op.inputs[0], adjoint=True)
    return nodes.mul(_scalar_per_matrix(op.outputs[1], grad), inverse)


def _solve_grad(op: Any, grad: Tensor) -> list[Tensor]:
    matrix, solution = op.inputs[0], op.outputs[0]
    flipped = op.attrs["adjoint"]
    grad_rhs = make("MatrixSolve", matrix, grad, adjoint=not flipped)
    first, second = (solution, grad_rhs) if flipped else (grad_rhs, solution)
    return [make("Neg", _mm(first, second, adjoint_b=True)), grad_rhs]


def _triangular_solve_grad(op: Any, grad: Tensor) -> list[Tensor]:
    matrix, solution = op.inputs[0], op.outputs[0]
    flipped, lower = op.attrs["adjoint"], op.attrs["lower"]
    grad_rhs = make("MatrixTriangularSolve", matrix, grad, lower=lower, adjoint=not flipped)
    first, second = (solution, grad_rhs) if flipped else (grad_rhs, solution)
    dense = make("Neg", _mm(first, second, adjoint_b=True))
    return [_band(dense, -1, 0) if lower else _band(dense, 0, -1), grad_rhs]


def _solve_ls_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    """Gradient through the normal equations; tall and wide matrices differ."""
    from penstock.ops import nodes

    a, b, l2 = op.inputs
    x = op.outputs[0]
    dims = a._dims
    if not op.attrs["fast"]:
        raise ValueError("the gradient of MatrixSolveLs is defined for fast=True only")
    if dims is None or None in dims[-2:]:
        raise ValueError("the gradient of MatrixSolveLs needs the matrix's static inner dims")
    from penstock.ops import matrix_diag

    tall = dims[-2] >= dims[-1]
    batch = nodes.head(nodes.shape(a), -2)
    size = dims[-1] if tall else dims[-2]
    identity = matrix_diag.eye(size, batch_shape=batch, dtype=a.dtype)
    gram = nodes.add(
        _mm(a, a, adjoint_a=tall, adjoint_b=not tall),
        nodes.mul(nodes.cast(l2, a.dtype), identity),
    )
    factor = make("Cholesky", gram)
    if tall:
        z = cholesky_solve(factor, grad)
        xz = _mm(x, z, adjoint_b=True)
        grad_a = nodes.add(
            make("Neg", _mm(a, nodes.add(xz, adjoint(xz)))), _mm(b, z, adjoint_b=True)
        )
        return [grad_a, _mm(a, z), None]
    grad_b = cholesky_solve(factor, _mm(a, grad))
    inner = cholesky_solve(factor, b)
    difference = nodes.sub(grad, _mm(a, grad_b, adjoint_a=True))
    grad_a = nodes.sub(
        _mm(inner, difference, adjoint_b=True), _mm(grad_b, x, adjoint_b=True)
    )
    return [grad_a, grad_b, None]


def _cross_grad(op: Any, grad: Tensor) -> list[Tensor]:
    a, b = op.inputs
    return [make("Cross", b, grad), make("Cross", grad, a)]


def _expm_grad(op: Any, grad: Tensor) -> Tensor:
    """The derivative is the upper right block of the exponential of ``[[A', G], [0, A']]``."""
    from penstock.ops import nodes

    flipped = adjoint(op.inputs[0])
    top = nodes.concat([flipped, grad], -1)
    bottom = nodes.concat([nodes.zeros_like(flipped), flipped], -1)
    whole = make("MatrixExponential", nodes.concat([top, bottom], -2))
    top_half = make("Split", -2, whole, num_split=2)[0]
    made: Tensor = make("Split", -1, top_half, num_split=2)[1]
    return made


def _sqrtm_grad(op: Any, grad: Tensor) -> Tensor:
    """Solves the Sylvester equation ``R' X + X R' = grad`` as one linear system of n^2 unknowns.

    With row-major flattening, ``vec(A X B) = (A kron B^T) vec(X)``.
    """
    from penstock.ops import matrix_diag, nodes

    root = adjoint(op.outputs[0])
    if root._dims is None:
        raise ValueError("the gradient of MatrixSquareRoot needs the static rank of its input")
    shape = nodes.shape(root)
    size, batch = nodes.element(shape, -1), nodes.head(shape, -2)
    squared = nodes.mul(size, size)

    def kron(left: Tensor, right: Tensor) -> Tensor:
        rows = make("ExpandDims", make("ExpandDims", left, -1), -3)
        columns = make("ExpandDims", make("ExpandDims", right, -2), -4)
        product = nodes.mul(rows, columns)
        return nodes.reshape(product, nodes.concat([batch, nodes.pack([squared, squared], "m")], 0))

    eye = matrix_diag.eye(size, batch_shape=batch, dtype=root.dtype)
    system = nodes.add(kron(root, eye), kron(eye, matrix_transpose(root)))
    flat = nodes.reshape(grad, nodes.concat([batch, nodes.pack([squared, 1], "v")], 0))
    return nodes.reshape(make("MatrixSolve", system, flat), shape)


# ---- the ops ---------------------------------------------------------------------------------

_T = f"T: {FLOATS}"
_ADJOINT = "adjoint: bool = False"
_UNARY: list[tuple[str, list[str], Any, Any, dict[str, Any]]] = [
    ("Cholesky", [_T], square_dims, _cholesky, {"gradient": _cholesky_grad}),
    ("MatrixInverse", [_ADJOINT, _T], square_dims, _inverse, {"gradient": _inverse_grad}),
    ("MatrixDeterminant", [_T], _determinant_shape, _determinant,
     {"gradient": _determinant_grad}),
    ("MatrixExponential", [_T], square_dims, _expm_kernel, {"gradient": _expm_grad}),
    ("MatrixSquareRoot", [_T], square_dims, _sqrtm_kernel, {"gradient": _sqrtm_grad}),
    ("MatrixLogarithm", ["T: {complex64, complex128}"], square_dims, _logm_kernel,
     {"no_gradient": "TF defines none for MatrixLogarithm"}),
]  # fmt: skip
for _name, _attrs, _shape, _kernel, _rest in _UNARY:
    define_op(
        _name, "input: T -> output: T", attrs=_attrs, shape=_shape, kernel=_kernel, **_rest
    )
define_op(
    "LogMatrixDeterminant",
    "input: T -> sign: T, log_abs_determinant: T",
    attrs=[_T],
    shape=_log_determinant_shape,
    kernel=_log_determinant,
    gradient=_log_determinant_grad,
)
define_op(
    "MatrixSolve",
    "matrix: T, rhs: T -> output: T",
    attrs=[_ADJOINT, _T],
    shape=_solve_shape,
    kernel=_solve,
    gradient=_solve_grad,
)
define_op(
    "MatrixTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    attrs=["lower: bool = True", _ADJOINT, _T],
    shape=_solve_shape,
    kernel=_triangular_solve,
    gradient=_triangular_solve_grad,
)
define_op(
    "MatrixSolveLs",
    "matrix: T, rhs: T, l2_regularizer: double -> output: T",
    attrs=[_T, "fast: bool = True"],
    shape=_solve_ls_shape,
    kernel=_solve_ls,
    host=("l2_regularizer",),
    gradient=_solve_ls_grad,
)
define_op(
    "Lu",
    "input: T -> lu: T, p: output_idx_type",
    attrs=[_T, "output_idx_type: {int32, int64} = int32"],
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
      name: name of the node.

    Returns:
      A tensor of the shape and dtype of ``input``.

    Raises:
      InvalidArgumentError: at run time, where a matrix is not positive definite.
    """
    made: Tensor = make("Cholesky", input, name=name)
    return made


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Solves ``A x = rhs`` given the Cholesky factor of A.

    Args:
      chol: lower triangular factors ``[..., n, n]``.
      rhs: right-hand sides ``[..., n, k]``.
      name: name of the scope.

    Returns:
      Solutions ``[..., n, k]``.
    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = matrix_triangular_solve(chol, rhs, adjoint=False, lower=True)
        return matrix_triangular_solve(chol, y, adjoint=True, lower=True)


def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Inverses of square matrices, or of their adjoints.

    Args:
      input: floating or complex tensor ``[..., n, n]``.
      adjoint: whether the conjugate transpose is inverted.
      name: name of the node.

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
    made: Tensor = make("MatrixInverse", input, name=name, adjoint=bool(adjoint))
    return made


def matrix_determinant(input: Any, name: str | None = None) -> Tensor:
    """Determinants of square matrices ``[..., n, n]``, of shape ``[...]``."""
    made: Tensor = make("MatrixDeterminant", input, name=name)
    return made


def slogdet(input: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Sign and logarithm of the absolute value of determinants.

    Args:
      input: floating or complex tensor ``[..., n, n]``.
      name: name of the node.

    Returns:
      ``(sign, log_abs_determinant)``, each of shape ``[...]``.
    """
    made: tuple[Tensor, Tensor] = make("LogMatrixDeterminant", input, name=name)
    return made


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """Logarithm of the determinant of Hermitian positive definite matrices.

    Args:
      matrix: tensor ``[..., n, n]``.
      name: name of the scope.

    Returns:
      A tensor of shape ``[...]``.
    """
    from penstock.ops import nodes, reduction

    with name_scope(name, "logdet", [matrix]):
        diagonal = make("MatrixDiagPart", cholesky(matrix), name="diag_part")
        if diagonal.dtype.is_complex:
            diagonal = make("Real", diagonal, Tout=diagonal.dtype.real_dtype)
        return nodes.mul(2.0, reduction.reduce_sum(make("Log", diagonal), [-1]))


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves ``matrix x = rhs``.

    Args:
      matrix: floating or complex tensor ``[..., n, n]``.
      rhs: tensor ``[..., n, k]`` of that dtype.
      adjoint: whether the conjugate transpose of ``matrix`` is meant.
      name: name of the node.

    Returns:
      A tensor ``[..., n, k]``.

    Raises:
      InvalidArgumentError: at run time, where a matrix is singular.
    """
    made: Tensor = make("MatrixSolve", matrix, rhs, name=name, adjoint=bool(adjoint))
    return made


def matrix_triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves ``matrix x = rhs`` where one triangle of ``matrix`` is taken as zero.

    Args:
      matrix: floating or complex tensor ``[..., n, n]``.
      rhs: tensor ``[..., n, k]`` of that dtype.
      lower: whether the lower triangle is read.
      adjoint: whether the conjugate transpose of the triangle is meant.
      name: name of the node.

    Returns:
      A tensor ``[..., n, k]``.

    Raises:
      InvalidArgumentError: at run time, where the diagonal holds a zero.
    """
    made: Tensor = make(
        "MatrixTriangularSolve", matrix, rhs, name=name, lower=bool(lower), adjoint=bool(adjoint)
    )
    return made


def matrix_solve_ls(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """Least squares: x that minimizes ``|matrix x - rhs|^2 + l2_regularizer |x|^2``.

    Args:
      matrix: tensor ``[..., m, n]``; of full rank for ``fast``.
      rhs: tensor ``[..., m, k]``.
      l2_regularizer: weight of the penalty on the solution; only with ``fast``.
      fast: solve the normal equations by Cholesky; else find the solution of least norm by an
        orthogonal decomposition, which has no gradient.
      name: name of the scope.

    Returns:
      A tensor ``[..., n, k]``.
    """
    if not fast and not (isinstance(l2_regularizer, int | float) and l2_regularizer == 0):
        raise ValueError("matrix_solve_ls: l2_regularizer must be 0 where fast is False")
    if not fast:
        made: Tensor = make("MatrixSolveLs", matrix, rhs, np.float64(0), name=name, fast=False)
        return made
    if name is None:
        name = "matrix_solve_ls"
    with name_scope(name):
        matrix, rhs = convert_to_tensor(matrix), convert_to_tensor(rhs)
        dims = matrix._dims
        if dims is None or None in dims[-2:]:
            return make("MatrixSolveLs", matrix, rhs, np.float64(l2_regularizer), fast=True)
        if dims[-2] >= dims[-1]:
            factor = _regularized_factor(matrix, l2_regularizer, tall=True)
            return cholesky_solve(factor, _mm(matrix, rhs, adjoint_a=True))
        factor = _regularized_factor(matrix, l2_regularizer, tall=False)
        return _mm(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _regularized_factor(matrix: Tensor, l2: Any, *, tall: bool) -> Tensor:
    from penstock.ops import matrix_diag, nodes

    gram = _mm(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if isinstance(l2, Tensor) or l2 != 0:
        shape = nodes.shape(matrix)
        batch = nodes.head(shape, -2)
        small = nodes.element(shape, -1 if tall else -2)
        identity = matrix_diag.eye(small, batch_shape=batch, dtype=matrix.dtype)
        gram = nodes.add(gram, nodes.mul(l2, identity))
    return cholesky(gram)


def lu(
    input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """LU factorization with row pivoting.

    Args:
      input: floating or complex tensor ``[..., n, n]``.
      output_idx_type: int32 or int64.
      name: name of the node.

    Returns:
      ``(lu, p)``: L (unit diagonal, not stored) and U in one tensor, and the permutation: row i of
      ``L U`` is row ``p[i]`` of ``input``.
    """
    made: tuple[Tensor, Tensor] = make("Lu", input, name=name, output_idx_type=output_idx_type)
    return made


def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """Cross products of 3-vectors: ``a`` and ``b`` of one shape ``[..., 3]``."""
    made: Tensor = make("Cross", a, b, name=name)
    return made


def expm(input: Any, name: str | None = None) -> Tensor:
    """Matrix exponentials of ``[..., n, n]``.

    One MatrixExponential node, where TF 1.15 builds a loop of scalings and squarings.
    """
    made: Tensor = make("MatrixExponential", input, name=name)
    return made


def logm(input: Any, name: str | None = None) -> Tensor:
    """Principal matrix logarithms of complex matrices ``[..., n, n]``."""
    made: Tensor = make("MatrixLogarithm", input, name=name)
    return made


def sqrtm(input: Any, name: str | None = None) -> Tensor:
    """Principal square roots of matrices ``[..., n, n]`` without negative real eigenvalues."""
    made: Tensor = make("MatrixSquareRoot", input, name=name)
    return made


matrix_square_root = sqrtm


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Swaps the last two dims of ``a``.

    Args:
      a: tensor of rank at least 2.
      name: name of the scope.
      conjugate: whether elements are conjugated too.

    Returns:
      A tensor ``[..., n, m]`` for ``a`` of shape ``[..., m, n]``.

    Raises:
      ValueError: the rank is below 2.
    """
    from penstock.ops import nodes

    with name_scope(name):
        a = convert_to_tensor(a, name="a")
        if a._dims is None:
            rank = nodes.rank(a)
            perm: Any = _swapping_permutation(rank)
        else:
            count = len(a._dims)
            if count < 2:
                raise ValueError(f"a must have rank at least 2; its shape is {show(a._dims)}")
            perm = [*range(count - 2), count - 1, count - 2]
        if conjugate and a.dtype.is_complex:
            perm = perm if isinstance(perm, Tensor) else np.array(perm, np.int32)
            made: Tensor = make("ConjugateTranspose", a, perm, name="transpose")
            return made
        return nodes.transpose(a, perm)


def _swapping_permutation(rank: Tensor) -> Tensor:
    from penstock.ops import nodes

    leading = nodes.range_to(nodes.sub(rank, 2), name="Range")
    last, second = nodes.sub(rank, 1), nodes.sub(rank, 2)
    return nodes.concat([leading, [last, second]], 0)


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transpose of the last two dims of ``matrix``."""
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


def trace(x: Any, name: str | None = None) -> Tensor:
    """Sums of the diagonals of matrices ``[..., m, n]``, of shape ``[...]``."""
    from penstock.ops import reduction

    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        diagonal = make("MatrixDiagPart", x, name="diag_part")
        return reduction.reduce_sum(diagonal, [-1], name=scope)
