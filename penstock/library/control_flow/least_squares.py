"""``tf.matrix_solve_ls``: least squares by the normal equations, or by one op.

Which of the two forms of the normal equations is the smaller one depends on the shape of the
matrices; where the graph does not know it, a conditional asks when the step runs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.inference import Dims
from penstock.library.control_flow.cond import cond
from penstock.ops.array import nodes, slicing
from penstock.ops.linalg import matrix_diag
from penstock.ops.linalg.linalg import cholesky, mm
from penstock.ops.linalg.linalg_solve import cholesky_solve

# More bytes than that, in more matrices than they have rows or columns, are the op's.
_IN_CACHE = 256000


def matrix_solve_ls(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """Least squares: x that minimizes ``|matrix x - rhs|^2 + l2_regularizer |x|^2``.

    Args:
      matrix: tensor ``[..., m, n]``; of full rank for ``fast``.
      rhs: tensor ``[..., m, k]``.
      l2_regularizer: weight of the penalty on the solution; without ``fast`` it has no effect.
      fast: solve the normal equations by Cholesky; else find the solution of least norm by an
        orthogonal decomposition, which has no gradient.

    Returns:
      A tensor ``[..., n, k]``.

    Raises:
      InvalidArgumentError: at run time, for a matrix that is not of full rank, or for a negative
        ``l2_regularizer`` without ``fast``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.matrix_solve_ls([[1.0], [1.0]], [[1.0], [3.0]])).round(3).tolist()
      [[2.0]]
    """
    matrix = convert_to_tensor(matrix, name="matrix")
    if not fast or _many(matrix):
        given = isinstance(l2_regularizer, Tensor)
        penalty = l2_regularizer if given else np.float64(l2_regularizer)
        solved: Tensor = make("MatrixSolveLs", matrix, rhs, penalty, name=name, fast=bool(fast))
        return solved
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):

        def tall() -> Tensor:
            factor = _regularized_factor(matrix, l2_regularizer, tall=True)
            return cholesky_solve(factor, mm(matrix, rhs, adjoint_a=True))

        def wide() -> Tensor:
            factor = _regularized_factor(matrix, l2_regularizer, tall=False)
            return mm(matrix, cholesky_solve(factor, rhs), adjoint_a=True)

        dims: Dims = matrix.sizes
        if dims is not None and None not in dims[-2:]:
            return tall() if dims[-2] >= dims[-1] else wide()  # type: ignore[operator]
        sizes = slicing.getitem(nodes.shape(matrix), slice(-2, None))
        rows, columns = nodes.element(sizes, -2), nodes.element(sizes, -1)
        found: Tensor = cond(make("GreaterEqual", rows, columns), tall, wide)
        return found


def _many(matrix: Tensor) -> bool:
    """Whether it is known to hold many small matrices."""
    dims = matrix.sizes
    if dims is None or None in dims:
        return False
    small = min(dims[-2:])  # type: ignore[type-var]
    size = math.prod(dims) * matrix.dtype.size  # type: ignore[arg-type]
    return size > _IN_CACHE and math.prod(dims[:-2]) > small  # type: ignore[arg-type, operator]


def _regularized_factor(matrix: Tensor, l2: Any, *, tall: bool) -> Tensor:
    gram = mm(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if isinstance(l2, Tensor) or l2 != 0:
        shape = nodes.shape(matrix)
        batch = nodes.head(shape, -2)
        small = nodes.element(shape, -1 if tall else -2)
        identity = matrix_diag.eye(small, batch_shape=batch, dtype=matrix.dtype)
        gram = nodes.add(gram, nodes.mul(l2, identity))
    return cholesky(gram)
