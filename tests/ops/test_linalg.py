"""Linear algebra: reconstructions, closed forms, gradients through factorizations, errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.linalg import (
    affine,
    contraction,
    linalg,
    linalg_eig,
    linalg_norm,
    linalg_solve,
    matmul,
    matrix_diag,
    matrix_functions,
)
from penstock.ops.math import reduction


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _run(fetch: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetch, feeds)


def _random(*shape: int, dtype: str = "float64") -> np.ndarray:
    rng = np.random.default_rng(shape)
    values = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.uniform(-1, 1, shape)
    return values.astype(dtype)


def _adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


_DTYPES = ["float64", "complex128"]


# ---- reconstructions -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_qr_reconstructs(dtype: str, shape: tuple[int, ...], full: bool) -> None:
    x = _random(*shape, dtype=dtype)
    q, r = _run(linalg_eig.qr(tf.constant(x), full_matrices=full))
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    np.testing.assert_allclose(_adjoint(q) @ q, np.broadcast_to(
        np.eye(q.shape[-1]), (*shape[:-2], q.shape[-1], q.shape[-1])), atol=1e-12)  # fmt: skip
    np.testing.assert_allclose(np.tril(r, -1), np.zeros_like(r), atol=1e-14)


@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_svd_reconstructs(dtype: str, shape: tuple[int, ...], full: bool) -> None:
    x = _random(*shape, dtype=dtype)
    s, u, v = _run(linalg_eig.svd(tf.constant(x), full_matrices=full))
    p = s.shape[-1]
    assert s.dtype == np.float64
    assert np.all(np.diff(s) <= 0)
    np.testing.assert_allclose(u[..., :p] * s[..., None, :] @ _adjoint(v[..., :p]), x, atol=1e-12)
    assert u.shape[-1] == (shape[-2] if full else p)
    values = _run(linalg_eig.svd(tf.constant(x), compute_uv=False))
    np.testing.assert_allclose(values, s, atol=1e-12)


@pytest.mark.parametrize("dtype", _DTYPES)
def test_eigenvectors_reconstruct(dtype: str) -> None:
    x = _random(2, 4, 4, dtype=dtype)
    x = x + _adjoint(x)
    e, v = _run(linalg_eig.self_adjoint_eig(tf.constant(x)))
    np.testing.assert_allclose(x @ v, v * e[..., None, :], atol=1e-12)
    assert np.all(np.diff(e.real) >= 0)
    values = _run(linalg_eig.self_adjoint_eigvals(tf.constant(x)))
    np.testing.assert_allclose(values, e.real, atol=1e-12)
    # Only the lower triangle is read.
    lower = _run(linalg_eig.self_adjoint_eigvals(tf.constant(np.tril(x))))
    np.testing.assert_allclose(lower, values, atol=1e-12)


def test_lu_reconstructs() -> None:
    x = _random(2, 4, 4)
    packed, permutation = _run(linalg.lu(tf.constant(x)))
    product = (np.tril(packed, -1) + np.eye(4)) @ np.triu(packed)
    for one, p, original in zip(product, permutation, x, strict=True):
        np.testing.assert_allclose(one, original[p], atol=1e-12)


def test_matrix_functions() -> None:
    x = _random(2, 3, 3)
    spd = x @ _adjoint(x) + np.eye(3)
    root = _run(matrix_functions.sqrtm(tf.constant(spd)))
    np.testing.assert_allclose(root @ root, spd, atol=1e-10)
    log = _run(matrix_functions.logm(tf.constant(spd.astype(np.complex128))))
    np.testing.assert_allclose(_run(matrix_functions.expm(tf.constant(log))), spd, atol=1e-10)


@pytest.mark.parametrize("function", [matrix_functions.sqrtm, matrix_functions.logm])
def test_functions_of_a_defective_matrix(function: Any) -> None:
    jordan = np.array([[2.0, 1.0], [0.0, 2.0]], np.complex128)
    found = _run(function(tf.constant(jordan)))
    # f([[a, 1], [0, a]]) = [[f(a), f'(a)], [0, f(a)]].
    is_root = function is matrix_functions.sqrtm
    value, slope = (2**0.5, 0.5 / 2**0.5) if is_root else (np.log(2), 0.5)
    np.testing.assert_allclose(found, [[value, slope], [0, value]], atol=1e-10)


# ---- closed forms ----------------------------------------------------------------------------


def test_ridge_regression_in_closed_form() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 5)), rng.normal(size=(50, 2))
    ridge = 0.7
    expected = np.linalg.solve(x.T @ x + ridge * np.eye(5), x.T @ y)
    features = tf.placeholder(tf.float64, [None, 5])
    targets = tf.placeholder(tf.float64, [None, 2])
    penalty = ridge * matrix_diag.eye(5, dtype=tf.float64)
    gram = matmul.matmul(features, features, transpose_a=True) + penalty
    moment = matmul.matmul(features, targets, transpose_a=True)
    found = {
        "inverse": matmul.matmul(linalg.matrix_inverse(gram), moment),
        "solve": linalg_solve.matrix_solve(gram, moment),
        "cholesky": linalg_solve.cholesky_solve(linalg.cholesky(gram), moment),
        "least squares": tf.matrix_solve_ls(features, targets, ridge),
        "static least squares": tf.matrix_solve_ls(tf.constant(x), tf.constant(y), ridge),
    }
    for name, value in _run(found, {features: x, targets: y}).items():
        np.testing.assert_allclose(value, expected, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
@pytest.mark.parametrize("fast", [False, True])
def test_least_squares(shape: tuple[int, int], fast: bool) -> None:
    a, b = _random(*shape), _random(shape[0], 2)
    found = _run(tf.matrix_solve_ls(tf.constant(a), tf.constant(b), fast=fast))
    np.testing.assert_allclose(found, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-8)


def test_determinants() -> None:
    x = _random(2, 3, 3)
    sign, log = _run(linalg.slogdet(tf.constant(x)))
    np.testing.assert_allclose(sign * np.exp(log), np.linalg.det(x), rtol=1e-10)
    spd = x @ _adjoint(x) + np.eye(3)
    found = _run(linalg.logdet(tf.constant(spd)))
    np.testing.assert_allclose(found, np.log(np.linalg.det(spd)), rtol=1e-10)


@pytest.mark.parametrize("ord", ["euclidean", 1, 2, 3, np.inf])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_vector_norms(ord: Any, axis: Any, keepdims: bool) -> None:
    x = _random(3, 4)
    found = _run(linalg_norm.norm(tf.constant(x), ord, axis, keepdims))
    where = axis
    order = 2 if ord == "euclidean" else ord
    flat = x.ravel() if axis is None else x
    expected = np.linalg.norm(flat, order, 0 if axis is None else where)
    np.testing.assert_allclose(np.squeeze(found), expected, rtol=1e-10)
    if keepdims:
        assert found.ndim == 2


@pytest.mark.parametrize("ord", ["fro", "euclidean", 1, 2, np.inf])
@pytest.mark.parametrize("axis", [[0, 1], [2, 0], [-1, -2]])
def test_matrix_norms(ord: Any, axis: list[int]) -> None:
    x = _random(2, 3, 4)
    found = _run(linalg_norm.norm(tf.constant(x), ord, axis))
    expected = np.linalg.norm(x, "fro" if ord == "euclidean" else ord, tuple(axis))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_norm_refuses() -> None:
    x = tf.constant(_random(3, 4))
    for arguments in ({"ord": "fro"}, {"ord": -1}, {"axis": [0, 0]}, {"ord": 3, "axis": [0, 1]}):
        with pytest.raises(ValueError, match="norm|'axis' must be"):
            linalg_norm.norm(x, **arguments)


# ---- products --------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((2, 3, 4), (4, 5), 1),
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3, 4), (4, 2, 5), [[2, 0], [0, 1]]),
        ((2, 3), (4, 5), 0),
        ((2, 3, 4), (3, 2), [[-2], [0]]),
    ],
)
def test_tensordot(known: bool, a: Any, b: Any, axes: Any) -> None:
    x, y = _random(*a), _random(*b)
    left = tf.placeholder(tf.float64, a if known else None)
    right = tf.placeholder(tf.float64, b if known else None)
    made = contraction.tensordot(left, right, axes)
    found = _run(made, {left: x, right: y})
    np.testing.assert_allclose(found, np.tensordot(x, y, axes), rtol=1e-10)
    assert made.shape.is_compatible_with(found.shape)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ij->ji", [(2, 3)]),
        ("ij->", [(2, 3)]),
        ("i,j->ji", [(2,), (3,)]),
        ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
        ("bhwc,hkc->bwk", [(2, 3, 4, 5), (3, 6, 5)]),
        ("ij,jk,kl->li", [(2, 3), (3, 4), (4, 5)]),
        ("bij,bij->b", [(5, 2, 3), (5, 2, 3)]),
        ("ijk,ik->kj", [(2, 3, 4), (2, 4)]),
    ],
)
def test_einsum(known: bool, equation: str, shapes: list[tuple[int, ...]]) -> None:
    values = [_random(*shape) for shape in shapes]
    dims = [shape if known else [None] * len(shape) for shape in shapes]
    feeds = [tf.placeholder(tf.float64, d) for d in dims]
    found = _run(contraction.einsum(equation, *feeds), dict(zip(feeds, values, strict=True)))
    np.testing.assert_allclose(found, np.einsum(equation, *values), rtol=1e-10)


def test_einsum_with_ellipsis_and_refusals() -> None:
    x, y = _random(5, 2, 3), _random(5, 3, 4)
    a, b = tf.constant(x), tf.constant(y)
    np.testing.assert_allclose(_run(contraction.einsum("...ij,...jk->...ik", a, b)), x @ y)
    for equation in ("ij,jk->ik", "bij", "bbj,bjk->k", "bij,bjk->z", "b1j,bjk"):
        with pytest.raises(ValueError, match="einsum"):
            contraction.einsum(equation, a, b)


def test_matmul_variants() -> None:
    x, y = _random(2, 3, 4, dtype="complex128"), _random(2, 3, 5, dtype="complex128")
    a, b = tf.constant(x), tf.constant(y)
    np.testing.assert_allclose(
        _run(matmul.matmul(a, b, adjoint_a=True)), _adjoint(x) @ y, atol=1e-12
    )
    np.testing.assert_allclose(
        _run(matmul.matmul(a, b, transpose_a=True)), np.swapaxes(x, 1, 2) @ y, atol=1e-12
    )
    with pytest.raises(ValueError, match="only one of"):
        matmul.matmul(a, b, transpose_a=True, adjoint_a=True)
    with pytest.raises(ValueError, match="inner dims"):
        matmul.matmul(a, b)
    assert matmul.matmul(tf.placeholder(tf.float32), tf.constant([[1.0]])).op.type == (
        "BatchMatMulV2"
    )
    vector = _random(2, 3, dtype="complex128")
    found = _run(affine.matvec(a, tf.constant(vector), adjoint_a=True))
    np.testing.assert_allclose(found, (_adjoint(x) @ vector[..., None])[..., 0], atol=1e-12)


def test_matmul_is_one_call_of_aten() -> None:
    a, b = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.float32, [4, 3])
    product = matmul.matmul(a, b, transpose_a=True, transpose_b=True)
    with tf.Session() as session:
        assert "torch.mm(f0.t(), f1.t())" in str(session.explain(product, [a, b]))


# ---- diagonals -------------------------------------------------------------------------------


def test_eye() -> None:
    n = tf.placeholder(tf.int32, [])
    made = [
        (matrix_diag.eye(2, 3), np.eye(2, 3)),
        (matrix_diag.eye(n), np.eye(4)),
        (matrix_diag.eye(n, 2), np.eye(4, 2)),
        (matrix_diag.eye(2, batch_shape=[3]), np.broadcast_to(np.eye(2), (3, 2, 2))),
        (matrix_diag.eye(2, batch_shape=[n]), np.broadcast_to(np.eye(2), (4, 2, 2))),
    ]
    for tensor, expected in made:
        np.testing.assert_array_equal(_run(tensor, {n: 4}), expected)
    assert matrix_diag.eye(2, dtype=tf.int32).dtype == tf.int32


def test_trace_transpose_and_adjoint() -> None:
    x = _random(2, 3, 4, dtype="complex128")
    a = tf.constant(x)
    np.testing.assert_allclose(_run(linalg.trace(a)), np.trace(x, axis1=1, axis2=2))
    np.testing.assert_array_equal(_run(linalg.adjoint(a)), _adjoint(x))
    fed = tf.placeholder(tf.complex128)
    found = _run(linalg.matrix_transpose(fed), {fed: x})
    np.testing.assert_array_equal(found, np.swapaxes(x, 1, 2))


# ---- gradients -------------------------------------------------------------------------------


def _numeric(loss: Any, feed: Any, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    result = np.zeros_like(x)
    with tf.Session() as session:
        for index in np.ndindex(*x.shape):
            up, down = x.copy(), x.copy()
            up[index] += step
            down[index] -= step
            result[index] = (session.run(loss, {feed: up}) - session.run(loss, {feed: down})) / (
                2 * step
            )
    return result


def _weighted(values: Any) -> Any:
    """A loss that does not change with the sign of a column: squares, weighted."""
    weights = np.arange(1.0, 1.0 + np.prod(values.shape.as_list())).reshape(values.shape.as_list())
    return reduction.reduce_sum(values * values * tf.constant(weights))


@pytest.mark.parametrize(
    ("shape", "losses"),
    [
        ((4, 3), lambda x: linalg_eig.qr(x)),
        ((3, 3), lambda x: linalg_eig.qr(x, full_matrices=True)),
        ((3, 4), lambda x: linalg_eig.qr(x)),
        ((2, 4), lambda x: linalg_eig.qr(x, full_matrices=True)),
        ((4, 3), lambda x: linalg_eig.svd(x)),
        ((3, 4), lambda x: linalg_eig.svd(x)),
        ((3, 3), lambda x: linalg_eig.svd(x)),
        ((3, 4), lambda x: linalg_eig.svd(x, full_matrices=True)),
        ((3, 4), lambda x: [linalg_eig.svd(x, compute_uv=False)]),
        ((3, 3), lambda x: linalg_eig.self_adjoint_eig(x + linalg.matrix_transpose(x))),
        ((3, 3), lambda x: [linalg_eig.self_adjoint_eigvals(x + linalg.matrix_transpose(x))]),
        ((3, 3), lambda x: [matrix_functions.expm(x)]),
        (
            (2, 3, 3),
            lambda x: [
                linalg.cholesky(
                    matmul.matmul(x, x, transpose_b=True) + matrix_diag.eye(3, dtype=tf.float64)
                )
            ],
        ),
        ((5, 3), lambda x: [tf.matrix_solve_ls(x, tf.constant(_random(5, 2)), 0.3)]),
    ],
)
def test_gradients_numerically(shape: tuple[int, ...], losses: Any) -> None:
    value = _random(*shape) + np.eye(*shape[-2:]) * 2
    x = tf.placeholder(tf.float64, shape)
    outputs = losses(x)
    loss = sum((_weighted(y) for y in outputs[1:]), _weighted(outputs[0]))
    (grad,) = tf.gradients(loss, [x])
    np.testing.assert_allclose(
        _run(grad, {x: value}), _numeric(loss, x, value), rtol=1e-5, atol=1e-6
    )


def _squared_by_svd(x: Any) -> Any:
    s, u, v = linalg_eig.svd(x)
    scaled = u * tf.cast(s**2, tf.complex128)
    return matmul.matmul(scaled, v, adjoint_b=True)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: linalg.matrix_determinant(x),
        lambda x: matrix_functions.sqrtm(matmul.matmul(x, x, adjoint_b=True)),
        lambda x: tf.matrix_solve_ls(x, tf.ones([3, 2], tf.complex128), 0.3),
        # What does not change with the phases of singular vectors; tall and wide.
        lambda x: _squared_by_svd(x[:, :2]),
        lambda x: _squared_by_svd(x[:2]),
        # The diagonal of R is real, which decides all phases.
        lambda x: linalg_eig.qr(x[:, :2])[0],
        lambda x: linalg_eig.qr(x[:, :2])[1],
        lambda x: linalg_eig.qr(x[:2])[1],
    ],
)
def test_complex_gradients_are_derivatives(function: Any) -> None:
    """Where TF lacks a conjugate, too: the directional derivative is Re<grad, direction>."""
    value, direction = (_random(3, n, dtype="complex128")[:, :3] for n in (3, 4))
    value = value + 3 * np.eye(3)
    x = tf.placeholder(tf.complex128, [3, 3])
    y = function(x)
    weights = np.ones(y.shape.as_list()) * (1 + 2j)
    (grad,) = tf.gradients(y, [x], grad_ys=tf.constant(weights, tf.complex128))
    step = 1e-6
    with tf.Session() as session:
        up, down = (session.run(y, {x: value + h * direction}) for h in (step, -step))
        found = session.run(grad, {x: value})
    change = np.sum(np.conj(weights) * (up - down)).real / (2 * step)
    np.testing.assert_allclose(np.sum(np.conj(found) * direction).real, change, rtol=1e-6)


# ---- errors ----------------------------------------------------------------------------------


def test_singular_and_indefinite_matrices() -> None:
    singular = tf.constant([[1.0, 2.0], [2.0, 4.0]])
    ones = tf.constant([[1.0], [1.0]])
    for made in (
        linalg.matrix_inverse(singular),
        linalg_solve.matrix_solve(singular, ones),
        linalg_solve.matrix_triangular_solve(tf.constant([[0.0, 0.0], [1.0, 1.0]]), ones),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            _run(made)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cholesky"):
        _run(linalg.cholesky(tf.constant([[1.0, 2.0], [2.0, 1.0]])))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_a_triangle_that_is_a_constant_is_solved_as_one_that_is_fed(
    lower: bool, adjoint: bool, batch: Any
) -> None:
    """The program of the one solves alone, that of the other looks at the diagonal first."""
    rng = np.random.RandomState(2)
    matrix = rng.rand(*batch, 3, 3) + 2 * np.eye(3)
    right = tf.placeholder(tf.float64, [*batch, 3, 2])
    fed = tf.placeholder(tf.float64, [*batch, 3, 3])
    solved = [
        linalg_solve.matrix_triangular_solve(a, right, lower=lower, adjoint=adjoint)
        for a in (tf.constant(matrix), fed)
    ]
    solved += [tf.reshape(s, [-1]) for s in solved]
    value = rng.rand(*batch, 3, 2)
    with tf.Session() as session:
        explained = str(session.explain(solved[:1], {right: value}))
        found = session.run(solved, {right: value, fed: matrix})
    assert "torch.linalg.solve_triangular(c" in explained
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
    np.testing.assert_allclose(found[2], found[3], rtol=1e-12)
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    side = np.swapaxes(triangle, -1, -2) if adjoint else triangle
    np.testing.assert_allclose(side @ found[0], value, rtol=1e-12)


def test_matrices_that_are_not_square() -> None:
    with pytest.raises(ValueError, match="square"):
        linalg.matrix_inverse(tf.constant([[1.0, 2.0]]))
    fed = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="square"):
        _run(linalg.matrix_determinant(fed), {fed: np.ones((2, 3))})


def test_a_session_survives_a_singular_matrix() -> None:
    x = tf.placeholder(tf.float32, [2, 2])
    inverse = linalg.matrix_inverse(x)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(inverse, {x: np.zeros((2, 2))})
        np.testing.assert_array_equal(session.run(inverse, {x: np.eye(2) * 2}), np.eye(2) / 2)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("ord", ["euclidean", 1, 2, 0.5, 3, np.inf])
def test_norms_of_complex_vectors(ord: Any, axis: Any, keepdims: bool, dtype: str) -> None:
    x = _random(3, 4, dtype="complex128").astype(dtype)
    made = linalg_norm.norm(tf.constant(x), ord, axis, keepdims)
    assert made.dtype.is_complex == (ord in ("euclidean", 2))
    flat = x.ravel() if axis is None else x
    order = 2 if ord == "euclidean" else ord
    expected = np.linalg.norm(flat, order, 0 if axis is None else axis)
    tolerance = 1e-5 if dtype == "complex64" else 1e-10
    np.testing.assert_allclose(np.squeeze(_run(made)), expected, rtol=tolerance)


@pytest.mark.parametrize("ord", ["fro", 1, 2, np.inf])
def test_norms_of_complex_matrices(ord: Any) -> None:
    x = _random(2, 3, 4, dtype="complex128")
    found = _run(linalg_norm.norm(tf.constant(x), ord, [1, 2]))
    np.testing.assert_allclose(found, np.linalg.norm(x, ord, (1, 2)), rtol=1e-10)


@pytest.mark.parametrize("ord", [1, 3, np.inf])
def test_gradients_of_norms_of_complex_vectors(ord: Any) -> None:
    x = _random(5, dtype="complex128")
    given = tf.constant(x)
    (found,) = tf.gradients(linalg_norm.norm(given, ord), given)
    size = np.abs(x)
    of_sizes = {
        1: np.ones(5),
        3: (size / np.linalg.norm(size, 3)) ** 2,
        np.inf: (size == size.max()).astype(float),
    }[ord]
    np.testing.assert_allclose(_run(found), of_sizes * x / size, rtol=1e-10)
