"""Ranks and pseudo-inverses of matrices, by their singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import cast, reshape, shape
from penstock.ops.control import control
from penstock.ops.control.check import assert_rank_at_least
from penstock.ops.linalg import matmul
from penstock.ops.linalg.linalg_eig import svd
from penstock.ops.math import reduction, reductions

_TWO_DIMS = "Input `a` must have at least 2 dimensions."


def _matrix(a: Any, validate_args: bool) -> Any:
    """``a`` as a floating tensor, checked to have two dims or more."""
    a = convert_to_tensor(a, name="a", preferred_dtype=dtypes.float32)
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.sizes is not None:
        if len(a.sizes) < 2:
            raise ValueError(f"{_TWO_DIMS[:-1]}; its shape is {a.shape}")
        return a
    if not validate_args:
        return a
    with control_dependencies([assert_rank_at_least(a, rank=2, message=_TWO_DIMS)]):
        return control.identity(a)


def _last_two(a: Any) -> list[int] | None:
    dims = None if a.sizes is None else a.sizes[-2:]
    return None if dims is None or None in dims else list(dims)


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: Any = None) -> Tensor:
    """How many independent rows matrices have: their singular values above ``tol``.

    Args:
      a: floating tensor [..., m, n].
      tol: least singular value that counts; None for the largest one's rounding error.
      validate_args: whether an unknown rank of ``a`` is checked when it is run.

    Returns:
      int32 [...].

    Raises:
      TypeError: ``a`` is not of a floating type.
      ValueError: ``a`` has fewer than two dims.
    """
    with name_scope(name or "matrix_rank"):
        a = _matrix(a, validate_args)
        values: Any = svd(a, compute_uv=False)
        if tol is None:
            known = _last_two(a)
            sizes: Any = shape.shape(a) if known is None else known
            most = reductions.reduce_max(sizes[-2:]) if known is None else np.max(known)
            tol = np.finfo(a.dtype.as_numpy_dtype).eps * cast.cast(most, a.dtype)
            tol *= reductions.reduce_max(values, axis=-1, keepdims=True)
        return reduction.reduce_sum(cast.cast(values > tol, dtypes.int32), axis=-1)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: Any = None) -> Tensor:
    """Moore-Penrose pseudo-inverses.

    Args:
      a: floating tensor [..., m, n].
      rcond: singular values up to this part of the largest one are taken for 0; a scalar, or one
        for each matrix; None for ten times the rounding error.
      validate_args: whether an unknown rank of ``a`` is checked when it is run.

    Returns:
      A tensor [..., n, m].

    Raises:
      TypeError: ``a`` is not of a floating type.
      ValueError: ``a`` has fewer than two dims.
    """
    with name_scope(name or "pinv"):
        a = _matrix(convert_to_tensor(a, name="a"), validate_args)
        kind = a.dtype.as_numpy_dtype
        if rcond is None:
            rcond = 10.0 * _longest_side(a) * np.finfo(kind).eps
        rcond = convert_to_tensor(rcond, a.dtype, name="rcond")
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reductions.reduce_max(values, axis=-1)
        far = np.array(np.inf, kind)
        large = values > reshape.expand_dims(cutoff, -1)
        values = make("SelectV2", large, values, far)
        scaled = right / reshape.expand_dims(values, -2)
        made: Tensor = matmul.matmul(scaled, left, adjoint_b=True)
        if a.sizes is not None:
            made.set_shape([*a.sizes[:-2], a.sizes[-1], a.sizes[-2]])
        return made


def _longest_side(a: Any) -> Any:
    rows, columns = (None, None) if a.sizes is None else a.sizes[-2:]
    if rows is not None and columns is not None:
        return float(max(rows, columns))
    pair = [_size(a, -2) if rows is None else rows, _size(a, -1) if columns is None else columns]
    return cast.cast(make("Maximum", *pair), a.dtype)


def _size(a: Any, axis: int) -> Any:
    sizes: Any = shape.shape(a)
    return sizes[axis]
