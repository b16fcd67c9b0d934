"""What operators of every class do is what their dense matrices do, by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import penstock as tf
from tests.library.linear_operators.programs import DEFINITE, NAMES, SIZE, VARIANTS, Maker

SINGULAR = ("zeros",)
BATCHES: st.SearchStrategy[tuple[int, ...]] = st.sampled_from([(), (1,), (2,), (3, 1), (2, 2)])


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def close(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    scale = max(1.0, float(np.abs(wanted).max(initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-9 * scale)


def expected(dense: np.ndarray, x: np.ndarray, name: str) -> dict[str, Callable[[Any], Any]]:
    """Label to what NumPy says, each a function so that singular matrices are not inverted."""
    regular = {
        "solve": lambda: np.linalg.solve(dense, x),
        "solve adjoint": lambda: np.linalg.solve(adjoint(dense), x),
        "log_abs_determinant": lambda: np.linalg.slogdet(dense)[1],
        "inverse": lambda: np.linalg.inv(dense),
    }
    return {
        "matmul": lambda: dense @ x,
        "matmul adjoint": lambda: adjoint(dense) @ x,
        "matmul of adjoint": lambda: dense @ x,
        "determinant": lambda: np.linalg.det(dense),
        "trace": lambda: np.trace(dense, axis1=-2, axis2=-1),
        "diag_part": lambda: np.diagonal(dense, axis1=-2, axis2=-1),
        "add_to_tensor": lambda: dense + x @ adjoint(x),
        "adjoint": lambda: adjoint(dense),
        "shape": lambda: dense.shape,
        **({} if name in SINGULAR else regular),
        **({"cholesky": lambda: np.linalg.cholesky(dense)} if name in DEFINITE else {}),
    }  # type: ignore[dict-item]


def asked(operator: Any, x: np.ndarray, label: str) -> Any:
    flipped = adjoint(x)
    made = {
        "matmul": lambda: operator.matmul(x),
        "matmul adjoint": lambda: operator.matmul(x, adjoint=True),
        "matmul of adjoint": lambda: operator.matmul(flipped, adjoint_arg=True),
        "solve": lambda: operator.solve(x),
        "solve adjoint": lambda: operator.solve(flipped, adjoint=True, adjoint_arg=True),
        "adjoint": lambda: operator.adjoint().to_dense(),
        "inverse": lambda: operator.inverse().to_dense(),
        "cholesky": lambda: operator.cholesky().to_dense(),
        "add_to_tensor": lambda: operator.add_to_tensor(x @ flipped),
        "shape": lambda: operator.shape_tensor(),
    }
    return made[label]() if label in made else getattr(operator, label)()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_as_dense_matrices(name: str, variant: Any) -> None:
    dtype, batch, dynamic = variant
    with tf.Graph().as_default(), tf.Session() as session:
        operator = Maker(tf, dtype, batch, dynamic).make(name)
        dense = session.run(operator.to_dense())
        x = Maker(tf, dtype, batch).numbers(SIZE, 3)
        wanted = expected(dense, x, name)
        tensors = {label: asked(operator, x, label) for label in wanted}
        for label, found in session.run(tensors).items():
            close(found, wanted[label]())
            assert tensors[label].shape.is_compatible_with(found.shape)


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(NAMES), batch=BATCHES, other=BATCHES, columns=st.integers(0, 3))
def test_batches_broadcast(
    name: str, batch: tuple[int, ...], other: tuple[int, ...], columns: int
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        operator = Maker(tf, "float64", batch).make(name)
        x = Maker(tf, "float64", other).numbers(SIZE, columns)
        try:
            np.broadcast_shapes(batch, other)
        except ValueError:
            return
        tensors = [operator.to_dense(), operator.matmul(x), operator.matvec(x.sum(-1))]
        if name not in SINGULAR:
            tensors += [operator.solve(x), operator.solvevec(x.sum(-1))]
        dense, product, vector, *solved = session.run(tensors)
        if name == "zeros" or batch or not other:
            close(product, dense @ x)
        close(vector, (dense @ x.sum(-1)[..., None])[..., 0])
        for found, given_ in zip(solved, (x, x.sum(-1)[..., None]), strict=False):
            wanted = np.linalg.solve(*_both(dense, given_))
            close(found, wanted.reshape(found.shape))
        for tensor, found in zip(tensors, (dense, product, vector, *solved), strict=True):
            assert tensor.shape == found.shape


def _both(dense: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
    batch = np.broadcast_shapes(dense.shape[:-2], x.shape[:-2])
    return [np.broadcast_to(m, (*batch, *m.shape[-2:])) for m in (dense, x)]


@settings(max_examples=15, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    batches=st.lists(BATCHES.filter(lambda b: len(b) < 2), min_size=3, max_size=3),
    complex_numbers=st.booleans(),
)
def test_blocks_and_factors(
    sizes: list[int], batches: list[tuple[int, ...]], complex_numbers: bool
) -> None:
    dtype = "complex128" if complex_numbers else "float64"
    matrices = [
        Maker(tf, dtype, batch).matrix(n, n) for n, batch in zip(sizes, batches, strict=False)
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        parts = [tf.linalg.LinearOperatorFullMatrix(m) for m in matrices]
        block = tf.linalg.LinearOperatorBlockDiag(parts)
        factor = tf.linalg.LinearOperatorKronecker(parts)
        tensors = [(o.to_dense(), o.determinant(), o.trace(), o.diag_part())
                   for o in (block, factor)]  # fmt: skip
        for found, wanted in zip(
            session.run(tensors), (_direct_sum(matrices), _kronecker(matrices)), strict=True
        ):
            close(found[0], wanted)
            close(found[1], np.linalg.det(wanted))
            close(found[2], np.trace(wanted, axis1=-2, axis2=-1))
            close(found[3], np.diagonal(wanted, axis1=-2, axis2=-1))


def _common(matrices: list[np.ndarray]) -> list[np.ndarray]:
    batch = np.broadcast_shapes(*(m.shape[:-2] for m in matrices))
    return [np.broadcast_to(m, (*batch, *m.shape[-2:])) for m in matrices]


def _direct_sum(matrices: list[np.ndarray]) -> np.ndarray:
    matrices = _common(matrices)
    size = sum(m.shape[-1] for m in matrices)
    whole = np.zeros((*matrices[0].shape[:-2], size, size), matrices[0].dtype)
    at = 0
    for m in matrices:
        whole[..., at : at + m.shape[-1], at : at + m.shape[-1]] = m
        at += m.shape[-1]
    return whole


def _kronecker(matrices: list[np.ndarray]) -> np.ndarray:
    first, *others = _common(matrices)
    for m in others:
        outer = np.einsum("...ij,...kl->...ikjl", first, m)
        n = first.shape[-1] * m.shape[-1]
        first = outer.reshape(*outer.shape[:-4], n, n)
    return first


# ---- gradients -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("identity", "zeros")])
def test_gradients_are_the_dense_ones(name: str) -> None:
    """Through products, solutions and determinants, to the tensors that the operator is made of."""
    x = Maker(tf, "float64").numbers(SIZE, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        operator = Maker(tf, "float64").make(name)
        parents = operator.graph_parents or [operator.multiplier]
        dense = operator.to_dense()
        pairs = [
            (operator.matmul(x), tf.matmul(dense, x)),
            (operator.matmul(x, adjoint=True), tf.matmul(dense, x, transpose_a=True)),
            (operator.solve(x), tf.matrix_solve(dense, x)),
            (operator.log_abs_determinant(), tf.log(tf.abs(tf.matrix_determinant(dense)))),
            (operator.trace(), tf.trace(dense)),
            (operator.diag_part(), tf.matrix_diag_part(dense)),
        ]
        weights = [np.random.RandomState(1).rand(*ours.shape.as_list()) for ours, _ in pairs]
        for (ours, theirs), weight in zip(pairs, weights, strict=True):
            got, want = (
                tf.gradients(
                    tf.reduce_sum(made * weight),
                    parents,
                    unconnected_gradients=tf.UnconnectedGradients.ZERO,
                )
                for made in (ours, theirs)
            )
            for found, wanted in session.run(list(zip(got, want, strict=True))):
                if name == "definite_matrix":
                    # Through a Cholesky factor, both halves of a symmetric matrix count alike.
                    found, wanted = found + found.T, wanted + wanted.T
                close(found, wanted)
