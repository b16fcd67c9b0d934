"""Linear equations with tridiagonal matrices: Gaussian elimination in as many steps as rows.

A matrix is held by its diagonals ``[..., 3, n]``: the one above (its last element unused), the main
one, the one below (its first element unused).  Steps are vectorized over the batch and over the
right-hand sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import fill, join, nodes, reshape, squeeze
from penstock.ops.array.gather import gather_nd
from penstock.ops.array.pad import pad
from penstock.ops.array.transpose import transpose
from penstock.ops.linalg.linalg import SINGULAR, matrix_transpose, merged_batch
from penstock.ops.math import reduction


def _solve_shape(ctx: ShapeContext) -> Dims:
    diagonals, rhs = ctx.rank_at_least("diagonals", 2), ctx.rank_at_least("rhs", 2)
    if diagonals is None or rhs is None:
        return rhs
    if len(diagonals) != len(rhs):
        raise ValueError(f"diagonals has shape {show(diagonals)}, rhs {show(rhs)}: ranks differ")
    if diagonals[-2] not in (None, 3):
        raise ValueError(f"diagonals must hold 3 diagonals; its shape is {show(diagonals)}")
    if None not in (diagonals[-1], rhs[-2]) and diagonals[-1] != rhs[-2]:
        raise ValueError(f"diagonals is of {diagonals[-1]} row(s), rhs of {rhs[-2]}")
    rows = rhs[-2] if rhs[-2] is not None else diagonals[-1]
    return (*merged_batch(diagonals[:-2], rhs[:-2]), rows, rhs[-1])


def _solve(diagonals: Any, rhs: Any, partial_pivoting: bool) -> Any:
    if diagonals.shape[-2] != 3 or diagonals.shape[-1] != rhs.shape[-2]:
        raise ValueError(
            f"diagonals must be [..., 3, n] and rhs [..., n, k]; found {list(diagonals.shape)} and"
            f" {list(rhs.shape)}"
        )
    size = diagonals.shape[-1]
    if not rhs.numel():
        return rhs.clone()
    above, main, below = (diagonals[..., i, :, None] for i in range(3))
    rows: list[tuple[Any, Any, Any, Any]] = []  # pivot, two elements right of it, right-hand side
    pivot, value = main[..., 0, :], rhs[..., 0, :]
    zero = torch.zeros_like(pivot)
    right = above[..., 0, :] if size > 1 else zero
    for i in range(1, size):
        left, own, over = below[..., i, :], main[..., i, :], above[..., i, :]
        over = over if i + 1 < size else zero
        other = rhs[..., i, :]
        if partial_pivoting:
            swap = left.abs() > pivot.abs()
            first = [torch.where(swap, a, b) for a, b in (
                (left, pivot), (own, right), (over, zero), (other, value)
            )]  # fmt: skip
            second = [torch.where(swap, a, b) for a, b in (
                (pivot, left), (right, own), (zero, over), (value, other)
            )]  # fmt: skip
        else:
            first, second = [pivot, right, zero, value], [left, own, over, other]
        _check_pivot(first[0])
        factor = second[0] / first[0]
        rows.append((first[0], first[1], first[2], first[3]))
        pivot = second[1] - factor * first[1]
        right = second[2] - factor * first[2]
        value = second[3] - factor * first[3]
    _check_pivot(pivot)
    solved = [value / pivot]
    after = torch.zeros_like(solved[0])
    for pivot, right, second_right, value in reversed(rows):
        found = (value - right * solved[-1] - second_right * after) / pivot
        after = solved[-1]
        solved.append(found)
    return torch.stack(solved[::-1], -2)


def _check_pivot(pivot: Any) -> None:
    if bool((pivot == 0).any()):
        raise ValueError(SINGULAR)


def _transposed(diagonals: Any) -> Tensor:
    """Diagonals of the transposed matrix."""
    main, up, down = diagonals[..., 1, :], diagonals[..., 2, 1:], diagonals[..., 0, :-1]
    if nodes.is_known(diagonals):
        zeros = fill.zeros([*diagonals.sizes[:-2], 1], dtype=diagonals.dtype)
        up, down = join.concat([up, zeros], axis=-1), join.concat([zeros, down], axis=-1)
    else:
        lead = fill.zeros([nodes.rank(diagonals) - 2, 2], dtype="int32")
        up = pad(up, join.concat([lead, [[0, 1]]], axis=0))
        down = pad(down, join.concat([lead, [[1, 0]]], axis=0))
    return join.stack([up, main, down], axis=-2)


def _three_diagonals(x: Any, y: Any) -> Tensor:
    """The three diagonals of ``x y'``."""
    main = reduction.reduce_sum(x * y, axis=-1)
    if nodes.is_known(y):
        zeros = fill.zeros([*y.sizes[:-2], 1, y.sizes[-1]], dtype=y.dtype)
        following = join.concat([y[..., 1:, :], zeros], axis=-2)
        up = reduction.reduce_sum(x * following, axis=-1)
        before = join.concat([zeros, y[..., :-1, :]], axis=-2)
        down = reduction.reduce_sum(x * before, axis=-1)
        return join.stack([up, main, down], axis=-2)
    lead = fill.zeros([nodes.rank(y) - 2, 2], dtype="int32")
    following = pad(y[..., 1:, :], join.concat([lead, [[0, 1], [0, 0]]], axis=0))
    up = reduction.reduce_sum(x * following, axis=-1)
    before = pad(y[..., :-1, :], join.concat([lead, [[1, 0], [0, 0]]], axis=0))
    down = reduction.reduce_sum(x * before, axis=-1)
    return join.stack([up, main, down], axis=-2)


def _solve_grad(op: Any, grad: Tensor) -> list[Tensor]:
    back = make(
        "TridiagonalSolve", _transposed(op.inputs[0]), grad,
        partial_pivoting=op.attrs["partial_pivoting"],
    )  # fmt: skip
    return [make("Neg", _three_diagonals(back, op.outputs[0])), back]


define_op(
    "TridiagonalSolve",
    "diagonals: T, rhs: T -> output: T",
    attrs=["partial_pivoting: bool = True", "T: {double, float, complex64, complex128}"],
    later=["perturb_singular: bool = False"],
    shape=_solve_shape,
    kernel=_solve,
    gradient=_solve_grad,
)


# ---- public function -----------------------------------------------------------------------------


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
) -> Tensor:
    """Solves equations with tridiagonal matrices.

    Args:
      diagonals: "compact": ``[..., 3, n]``, the diagonals above, on and below the main one, with
        one element unused at the end of the first and at the start of the last; "sequence": a list
        of the three, each with or without that element; "matrix": ``[..., n, n]``, n known.
      rhs: ``[..., n, k]``, or ``[..., n]`` for one right-hand side.
      diagonals_format: "compact", "sequence" or "matrix".
      transpose_rhs: whether ``rhs`` and the result are ``[..., k, n]``.
      conjugate_rhs: whether the conjugate of ``rhs`` is meant.
      partial_pivoting: whether rows are exchanged; slower, and safe for matrices that are not
        diagonally dominant.

    Returns:
      A tensor of the shape and type of ``rhs``.

    Raises:
      ValueError: shapes or a format that do not fit.
      InvalidArgumentError: when it is run, for a singular matrix.
    """
    if diagonals_format == "sequence":
        diagonals = _from_sequence(diagonals)
    elif diagonals_format == "matrix":
        diagonals = _from_matrix(convert_to_tensor(diagonals))
    elif diagonals_format != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    diagonals = convert_to_tensor(diagonals)
    # An array that goes into the op as it is becomes of the type of the diagonals.
    whole = isinstance(rhs, np.ndarray) and not transpose_rhs and not conjugate_rhs
    value: Any = rhs if whole else convert_to_tensor(rhs)
    dims = np.shape(rhs) if whole else value.sizes
    if diagonals.sizes is None or dims is None:
        raise ValueError("the ranks of diagonals and rhs must be known")
    rank, rhs_rank = len(diagonals.sizes), len(dims)
    if rank < 2 or rhs_rank not in (rank, rank - 1):
        raise ValueError(
            f"diagonals must have rank at least 2 and rhs that rank or one less; found"
            f" {show(diagonals.sizes)} and {show(dims)}"
        )
    if rhs_rank == rank - 1:
        value = make("Conj", value) if conjugate_rhs and value.dtype.is_complex else value
        made = make("TridiagonalSolve", diagonals, reshape.expand_dims(value, -1), name=name,
                    partial_pivoting=partial_pivoting)  # fmt: skip
        return squeeze.squeeze(made, [-1])
    if transpose_rhs:
        value = matrix_transpose(value, conjugate=conjugate_rhs)
    elif conjugate_rhs and value.dtype.is_complex:
        value = make("Conj", value)
    made = make("TridiagonalSolve", diagonals, value, name=name, partial_pivoting=partial_pivoting)
    return matrix_transpose(made) if transpose_rhs else made


def _from_sequence(diagonals: Any) -> Tensor:
    if not isinstance(diagonals, list | tuple) or len(diagonals) != 3:
        raise ValueError(f"diagonals must be a sequence of 3; found {diagonals!r}")
    above, main, below = (convert_to_tensor(d) for d in diagonals)
    size = main.shape.as_list()[-1]

    def completed(x: Tensor, ends: list[int], what: str) -> Tensor:
        length = x.shape.as_list()[-1]
        if length is None or length == size:
            return x
        if length != size - 1:
            raise ValueError(f"the {what} must have {size} or {size - 1} elements; found {length}")
        return pad(x, [[0, 0]] * (len(x.shape.as_list()) - 1) + [ends])

    below = completed(below, [1, 0], "subdiagonal")
    above = completed(above, [0, 1], "superdiagonal")
    return join.stack([above, main, below], axis=-2)


def _from_matrix(matrix: Tensor) -> Tensor:
    rows, columns = matrix.shape.as_list()[-2:]
    if None not in (rows, columns) and rows != columns:
        raise ValueError(f"diagonals must be square matrices; found {rows} and {columns}")
    size = rows or columns
    if not size:
        raise ValueError("The size of the matrix needs to be known for diagonals_format='matrix'")
    number = np.arange(size)
    picked = np.stack(
        [np.stack([number + 1, number], 1), np.stack([number, number], 1),
         np.stack([number - 1, number], 1)], 1,
    )  # fmt: skip
    picked[0, 2] = picked[-1, 0] = 0
    return transpose(gather_nd(transpose(matrix), picked.astype(np.int32)))
