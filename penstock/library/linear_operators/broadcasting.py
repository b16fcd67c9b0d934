"""Systems of equations whose batches broadcast, under the names that programs import.

``tf.linalg``'s own solvers want batches of one shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.linear_operators import dense


def broadcast_matrix_batch_dims(
    batch_matrices: Sequence[Any], name: str | None = None
) -> list[Tensor]:
    """Matrices with their batch dims broadcast to each other's.

    Args:
      batch_matrices: list of tensors ``[..., M, N]``, whose M and N may differ.

    Raises:
      ValueError: one has fewer than two dims, or the batches are known not to broadcast.
    """
    with name_scope(name, "broadcast_matrix_batch_dims", batch_matrices):
        tensors = [convert_to_tensor(each) for each in batch_matrices]
        for each in tensors:
            if each.sizes is not None and len(each.sizes) < 2:
                raise ValueError(f"{each.name} must be a matrix or a batch of them: {each.shape}")
        return dense.same_batches(*tensors) if len(tensors) > 1 else tensors


def matrix_solve_with_broadcast(
    matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """``matrix^-1 rhs``.

    Args:
      matrix: tensor ``[..., N, N]``.
      rhs: tensor ``[..., N, R]``.
      adjoint: whether the adjoint of ``matrix`` is meant.
    """
    with name_scope(name, "MatrixSolveWithBroadcast", [matrix, rhs]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return dense.solve(matrix, convert_to_tensor(rhs, matrix.dtype, name="rhs"), adjoint)


def matrix_triangular_solve_with_broadcast(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """``matrix^-1 rhs`` for a triangular matrix.

    Args:
      matrix: tensor ``[..., N, N]``.
      rhs: tensor ``[..., N, R]``.
      lower: whether it is the lower triangle that counts.
      adjoint: whether the adjoint of ``matrix`` is meant.
    """
    with name_scope(name, "MatrixTriangularSolve", [matrix, rhs]):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, matrix.dtype, name="rhs")
        return dense.triangular_solve(matrix, rhs, lower, adjoint)


def cholesky_solve_with_broadcast(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """``(chol chol^H)^-1 rhs``.

    Args:
      chol: tensor ``[..., N, N]``: lower triangular factors.
      rhs: tensor ``[..., N, R]``.
    """
    with name_scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        chol = convert_to_tensor(chol, name="chol")
        return dense.cholesky_solve(chol, convert_to_tensor(rhs, chol.dtype, name="rhs"))
