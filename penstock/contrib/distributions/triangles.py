"""Triangular and tridiagonal matrices made from vectors, and what changes a diagonal."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import cast, join, pad, reshape, shape, transpose
from penstock.ops.linalg import matrix_diag
from penstock.ops.math import elementwise


def fill_triangular(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """Triangular matrices of the numbers of vectors.

    The numbers run along the rows of the upper triangle; in the lower one they wind: the last row
    has the first ones, in reverse.

    Args:
      x: tensor ``[..., n (n + 1) / 2]``.
      upper: whether the upper triangle is filled; else the lower one.

    Returns:
      A tensor ``[..., n, n]`` of the same dtype.

    Raises:
      ValueError: the last dim of ``x`` is known and no such number.

    Example:
      >>> import penstock as tf
      >>> matrix = tf.contrib.distributions.fill_triangular([1, 2, 3, 4, 5, 6])
      >>> tf.Session().run(matrix).tolist()
      [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    """
    with name_scope(name, "fill_triangular", [x]):
        x = convert_to_tensor(x, name="x")
        known = None if x.shape.ndims is None else x.shape.as_list()[-1]
        n: Any
        if known is not None:
            n = (math.isqrt(8 * known + 1) - 1) // 2
            if n * (n + 1) // 2 != known:
                raise ValueError(
                    f"Input right-most shape ({known}) does not correspond to a triangular matrix."
                )
            static = x.shape[:-1].concatenate([n, n])
        else:
            dims: Any = shape.shape(x)
            root = elementwise.sqrt(0.25 + cast.cast(2 * dims[-1], dtypes.float32))
            n = cast.cast(root, dtypes.int32)
            static = x.shape[:-1].concatenate([None, None])
        whole: Any = x
        turned = transpose.reverse(whole if not upper else whole[..., n:], [-1])
        parts = [whole, turned] if upper else [whole[..., n:], turned]
        sizes: Any = shape.shape(x)
        square = reshape.reshape(join.concat(parts, -1), join.concat([sizes[:-1], [n, n]], 0))
        band = (0, -1) if upper else (-1, 0)
        found = matrix_diag.matrix_band_part(square, *band)
        found.set_shape(static)
        return found


def fill_triangular_inverse(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """The vectors of which ``fill_triangular`` makes the matrices ``x``.

    Args:
      x: tensor ``[..., n, n]``.
      upper: whether the upper triangle is read; else the lower one.

    Returns:
      A tensor ``[..., n (n + 1) / 2]`` of the same dtype.

    Raises:
      ValueError: ``x`` is known to have less than two dims.

    Example:
      >>> import penstock as tf
      >>> matrix = [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
      >>> tf.Session().run(tf.contrib.distributions.fill_triangular_inverse(matrix)).tolist()
      [1, 2, 3, 4, 5, 6]
    """
    with name_scope(name, "fill_triangular_inverse", [x]):
        x = shape_of_rank_two(convert_to_tensor(x, name="x"))
        known = None if x.shape.ndims is None else x.shape.as_list()[-1]
        sizes: Any = shape.shape(x)
        n: Any = sizes[-1] if known is None else known
        whole: Any = x
        # The first n numbers have a row of their own; each of the others stands in one of two
        # places that a turn by half a circle exchanges, and the other place has a zero.
        if upper:
            first, rest = whole[..., 0, :], whole[..., 1:, :]
        else:
            first, rest = transpose.reverse(whole[..., n - 1, :], [-1]), whole[..., : n - 1, :]
        both = rest + transpose.reverse(rest, [-2, -1])
        flat: Any = reshape.reshape(both, join.concat([sizes[:-2], [n * (n - 1)]], 0))
        found = join.concat([first, flat[..., : n * (n - 1) // 2]], -1)
        count = None if known is None else known * (known + 1) // 2
        found.set_shape(x.shape[:-2].concatenate([count]))
        return found


def shape_of_rank_two(x: Tensor) -> Tensor:
    """``x``, which is checked to have two dims or more while the graph is built."""
    if x.shape.ndims is not None and x.shape.ndims < 2:
        raise ValueError(f"Shape {x.shape} must have rank at least 2")
    return x


def tridiag(
    below: Any = None, diag: Any = None, above: Any = None, name: str | None = None
) -> Tensor:
    """Matrices of three diagonals.

    Args:
      below: the diagonal below the main one, ``[..., n - 1]``.
      diag: the main diagonal, ``[..., n]``.
      above: the diagonal above it, ``[..., n - 1]``; what is None is zeros.

    Returns:
      A tensor ``[..., n, n]``.

    Raises:
      ValueError: none is given.

    Example:
      >>> import penstock as tf
      >>> matrix = tf.contrib.distributions.tridiag(below=[1], diag=[2, 3], above=[4])
      >>> tf.Session().run(matrix).tolist()
      [[2, 4], [1, 3]]
    """
    with name_scope(name, "tridiag", [below, diag, above]):
        parts = []
        for given, before, after in ((below, 1, 0), (diag, 0, 0), (above, 0, 1)):
            if given is not None:
                given = convert_to_tensor(given)
                parts.append(_shifted(given, before, after) if before or after
                             else matrix_diag.matrix_diag(given))  # fmt: skip
        if not parts:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        total: Any = parts[0]
        for part in parts[1:]:
            total = total + part
        return total  # type: ignore[no-any-return]


def _shifted(diagonal: Tensor, before: int, after: int) -> Tensor:
    """The matrix with ``diagonal`` a row below the main one (``before``), or above (``after``)."""
    none = [[0, 0]] * (diagonal.shape.ndims or 1)
    inner = matrix_diag.matrix_diag(diagonal)
    return pad.pad(inner, [*none[:-1], [before, after], [after, before]])


def matrix_diag_transform(
    matrix: Any, transform: Callable[[Any], Any] | None = None, name: str | None = None
) -> Tensor:
    """Matrices with a function applied to their diagonals.

    Args:
      matrix: tensor ``[..., k, k]``.
      transform: from a diagonal ``[..., k]`` to another; None leaves it.

    Returns:
      A tensor of the shape of ``matrix``.

    Example:
      >>> import penstock as tf
      >>> found = tf.contrib.distributions.matrix_diag_transform([[1., 2.], [3., 2.]], tf.square)
      >>> tf.Session().run(found).tolist()
      [[1.0, 2.0], [3.0, 4.0]]
    """
    with name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        if transform is None:
            found: Tensor = matrix
            return found
        diagonal = transform(matrix_diag.matrix_diag_part(matrix))
        return matrix_diag.matrix_set_diag(matrix, diagonal)
