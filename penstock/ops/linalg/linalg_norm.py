"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import nodes
from penstock.ops.linalg import linalg_eig
from penstock.ops.math import elementwise, reduction, reductions

_MATRIX_ORDERS = ("euclidean", "fro", 1, 2, np.inf)
_VECTOR_ORDERS = ("euclidean", 1, 2, np.inf)


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    keep_dims: Any = None,
) -> Tensor:
    """Norms of vectors or matrices held in ``tensor``.

    Args:
      tensor: floating or complex tensor.
      ord: ``"euclidean"``, ``"fro"`` (matrices), 1, 2, ``numpy.inf``, or for vectors any positive
        number.
      axis: None takes all elements as one vector; an int, vectors along that axis; a pair of ints,
        matrices.
      keepdims: whether reduced dims stay, with size 1; ``keep_dims`` is the former name.

    Returns:
      A tensor of the dtype of ``tensor``; of a complex one, real but for euclidean norms, which are
      complex with no imaginary part.

    Raises:
      ValueError: ``ord`` or ``axis`` is not one of the above.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     float(session.run(tf.norm([3.0, 4.0])))
      5.0
    """
    keep = bool(reduction.renamed("keepdims", keepdims, "keep_dims", keep_dims))
    matrices = isinstance(axis, tuple | list) and len(axis) == 2
    axis = _checked_axes(axis)
    _check_order(ord, matrices)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if ord in ("fro", "euclidean", 2, 2.0):
            if matrices and ord in (2, 2.0):
                result = _spectral(x, axis)
            else:
                squares = nodes.mul(x, nodes.conj(x))
                result = make("Sqrt", reduction.reduce_sum(squares, _listed(axis), keepdims=True))
        else:
            result = _by_magnitude(elementwise.abs_(x), ord, axis, matrices)
        if keep:
            return result
        dims = [] if axis is None else axis if isinstance(axis, list) else [axis]
        return make("Squeeze", result, squeeze_dims=dims)


def _listed(axis: Any) -> Any:
    return [axis] if isinstance(axis, int) else axis


def _checked_axes(axis: Any) -> int | list[int] | None:
    if axis is None or isinstance(axis, int):
        return axis
    pair = list(axis) if isinstance(axis, tuple | list) else []
    if len(pair) != 2 or not all(isinstance(a, int) for a in pair) or pair[0] == pair[1]:
        raise ValueError(
            f"'axis' must be None, an integer, or a tuple of 2 unique integers; found {axis!r}"
        )
    return pair


def _check_order(ord: Any, matrices: bool) -> None:
    if isinstance(ord, str) or matrices:
        allowed = _MATRIX_ORDERS if matrices else _VECTOR_ORDERS
        if ord not in allowed:
            kind = "matrix" if matrices else "vector"
            raise ValueError(
                f"'ord' must be a supported {kind} norm, got {ord}:"
                f" norm: a {kind} norm's ord may be one of {allowed}; found {ord!r}"
            )
    elif not np.isreal(ord) or ord <= 0:
        raise ValueError(
            f"'ord' must be a supported vector norm, got {ord}: norm: ord must be positive; found"
            f" {ord!r}"
        )


def _by_magnitude(x: Tensor, ord: Any, axis: Any, matrices: bool) -> Tensor:
    if ord == 1:
        first = axis[0] if matrices else axis
        total = reduction.reduce_sum(x, first, keepdims=True)
        return reductions.reduce_max(total, axis[-1], keepdims=True) if matrices else total
    if ord == np.inf:
        if not matrices:
            return reductions.reduce_max(x, axis, keepdims=True)
        total = reduction.reduce_sum(x, axis[1], keepdims=True)
        return reductions.reduce_max(total, axis[0], keepdims=True)
    power = make("Pow", x, np.asarray(ord, x.dtype.as_numpy_dtype))
    total = reduction.reduce_sum(power, _listed(axis), keepdims=True)
    return make("Pow", total, np.asarray(1.0 / ord, x.dtype.as_numpy_dtype))


def _spectral(x: Tensor, axis: list[int]) -> Tensor:
    """Largest singular values; TF finds the permutation by loops in the graph, here it is known."""
    if x.sizes is None:
        raise ValueError("norm: ord=2 of matrices needs a tensor of known rank")
    rank = len(x.sizes)
    axes = [a % rank for a in axis]
    perm = [*(i for i in range(rank) if i not in axes), *axes]
    values = linalg_eig.svd(nodes.transpose(x, perm), compute_uv=False)
    largest = reductions.reduce_max(elementwise.abs_(values), -1, keepdims=True)
    back = [perm.index(i) for i in range(rank)]
    return nodes.transpose(make("ExpandDims", largest, -1), back, name="transpose")
