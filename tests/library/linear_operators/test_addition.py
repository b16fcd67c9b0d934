"""Sums of operators, and solvers whose batches broadcast: as TensorFlow 1.15's, whose values these
are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.python.ops.linalg import linear_operator_addition, linear_operator_util

# Operators by a letter, the kind, name, hints (non-singular, self-adjoint) and matrix of their sum.
SUMS = [
    ("IS", "ScaledIdentity", "Add/LinearOperatorIdentity__LinearOperatorScaledIdentity/",
     (None, True), [[4, 0], [0, 4]]),
    ("II", "ScaledIdentity", "Add/LinearOperatorIdentity__LinearOperatorIdentity/",
     (True, True), [[2, 0], [0, 2]]),
    ("ID", "Diag", "Add/LinearOperatorDiag__LinearOperatorIdentity/",
     (None, True), [[2, 0], [0, 3]]),
    ("DTI", "LowerTriangular",
     "Add/LinearOperatorLowerTriangular__Add/LinearOperatorIdentity__LinearOperatorDiag//",
     (None, None), [[3, 0], [2, 6]]),
    ("FD", "FullMatrix", "Add/LinearOperatorDiag__LinearOperatorFullMatrix/",
     (None, None), [[2, 2], [3, 6]]),
    ("D", "Diag", "LinearOperatorDiag", (None, True), [[1, 0], [0, 2]]),
    ("IB", "Diag", "Add/LinearOperatorDiag__LinearOperatorIdentity/",
     (None, True), [[[2, 0], [0, 3]], [[4, 0], [0, 5]]]),
    ("ST", "LowerTriangular", "Add/LinearOperatorScaledIdentity__LinearOperatorLowerTriangular/",
     (None, None), [[4, 0], [2, 6]]),
]  # fmt: skip


def _operator(letter: str) -> Any:
    linalg = tf.linalg
    return {
        "I": lambda: linalg.LinearOperatorIdentity(2),
        "S": lambda: linalg.LinearOperatorScaledIdentity(2, 3.0),
        "D": lambda: linalg.LinearOperatorDiag([1.0, 2.0]),
        "B": lambda: linalg.LinearOperatorDiag([[1.0, 2.0], [3.0, 4.0]]),
        "T": lambda: linalg.LinearOperatorLowerTriangular([[1.0, 0.0], [2.0, 3.0]]),
        "F": lambda: linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]),
    }[letter]()


@pytest.mark.parametrize(("letters", "kind", "name", "hints", "matrix"), SUMS)
def test_sums(letters: str, kind: str, name: str, hints: Any, matrix: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        (found,) = linear_operator_addition.add_operators([_operator(one) for one in letters])
        assert type(found).__name__ == f"LinearOperator{kind}" and found.name == name
        assert (found.is_non_singular, found.is_self_adjoint) == hints
        assert session.run(found.to_dense()).tolist() == matrix


def test_operators_of_other_shapes_have_no_sum() -> None:
    add = linear_operator_addition.add_operators
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="must contain at least one operator"):
            add([])
        with pytest.raises(ValueError, match="must have the same domain dimension"):
            add([_operator("I"), tf.linalg.LinearOperatorIdentity(3)])


def test_solvers_whose_batches_broadcast() -> None:
    lower = np.array([[2.0, 0.0], [1.0, 4.0]], np.float32)
    rhs = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        u = linear_operator_util
        solved = session.run([
            u.matrix_triangular_solve_with_broadcast(lower, rhs),
            u.matrix_triangular_solve_with_broadcast(lower, rhs, adjoint=True),
            u.matrix_solve_with_broadcast(lower, rhs),
            u.cholesky_solve_with_broadcast(lower, rhs),
        ])  # fmt: skip
        one, two = u.broadcast_matrix_batch_dims([lower[None], np.ones([4, 2, 3], np.float32)])
        assert one.shape == [4, 2, 2] and two.shape == [4, 2, 3]
    matrices = [lower, lower.T, lower, lower @ lower.T]
    for found, matrix in zip(solved, matrices, strict=True):
        np.testing.assert_allclose(found, np.linalg.solve(matrix[None], rhs), rtol=1e-5, atol=1e-6)
