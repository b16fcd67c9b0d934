"""Diagonals and bands: building tensors from diagonals, taking and setting them, identities."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, RefusedAtBuild, ShapeContext, show
from penstock.ops.array import nodes
from penstock.ops.math import reductions

_NUMBERS = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"


# ---- shape rules -----------------------------------------------------------------------------


def _diag_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank_at_least("diagonal", 1)
    return None if dims is None else dims + dims


def _diag_part_shape(ctx: ShapeContext) -> Dims:
    dims = ctx["input"]
    if dims is None:
        return None
    half, odd = divmod(len(dims), 2)
    if odd or not half:
        text = f"Input must have even and non-zero rank, input rank is {len(dims)}: {show(dims)}"
        raise ValueError(text) if odd else RefusedAtBuild(text)
    try:
        return shapes.merge_static(dims[:half], dims[half:])
    except ValueError:
        found = next((a, b) for a, b in zip(dims[:half], dims[half:]) if a != b)
        raise ValueError(
            f"Dimensions must be equal, but are {found[0]} and {found[1]}: Invalid shape"
            f" {show(dims)}: its halves must match"
        ) from None


def _matrix_diag_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank_at_least("diagonal", 1)
    return None if dims is None else (*dims, dims[-1])


def _smaller(rows: int | None, columns: int | None) -> int | None:
    if rows is None or columns is None:
        return 0 if 0 in (rows, columns) else None
    return min(rows, columns)


def _matrix_diag_part_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank_at_least("input", 2)
    return None if dims is None else (*dims[:-2], _smaller(*dims[-2:]))


def _matrix_set_diag_shape(ctx: ShapeContext) -> Dims:
    dims, diagonal = ctx.rank_at_least("input", 2), ctx.rank_at_least("diagonal", 1)
    if dims is None:
        return None if diagonal is None else (*diagonal[:-1], None, None)
    if diagonal is None:
        return dims
    wanted = (*dims[:-2], _smaller(*dims[-2:]))
    text = (
        f"diagonal must have shape {show(wanted)} for an input of shape {show(dims)}; its shape is"
        f" {show(diagonal)}"
    )
    fits = [None in (a, b) or a == b for a, b in zip(diagonal, wanted, strict=False)]
    if len(diagonal) != len(wanted) or not fits[-1]:
        raise ValueError(text)
    if not all(fits):
        # Where all of the input is known, TensorFlow's rule does not ask for the rest.
        raise ValueError(text) if None in dims else FailsAtRun(text, dims)
    merged = zip(dims[:-2], diagonal[:-1], strict=True)
    return (*(b if a is None else a for a, b in merged), *dims[-2:])


def _band_shape(ctx: ShapeContext) -> Dims:
    dims: Dims = ctx["input"]
    for name in ("num_lower", "num_upper"):
        if ctx[name]:
            raise FailsAtRun(f"{name} must be scalar, got shape {show(ctx[name])}", dims)
    if dims is not None and len(dims) < 2:
        raise FailsAtRun(f"input must be at least 2-dim, received shape: {show(dims)}", dims)
    return dims


# ---- kernels ---------------------------------------------------------------------------------


def _diag(diagonal: Any) -> Any:
    return torch.diag(diagonal.reshape(-1)).reshape(diagonal.shape + diagonal.shape)


def _diag_part(input: Any) -> Any:
    half, odd = divmod(input.dim(), 2)
    if odd or input.shape[:half] != input.shape[half:]:
        raise ValueError(
            f"input must have an even rank and equal halves of its shape; found {list(input.shape)}"
        )
    size = input.shape[:half].numel()
    return input.reshape(size, size).diagonal().reshape(input.shape[:half])


def _matrix_set_diag(input: Any, diagonal: Any) -> Any:
    result = input.clone()
    target = result.diagonal(dim1=-2, dim2=-1)
    if target.shape != diagonal.shape:
        raise ValueError(
            f"diagonal must have shape {list(target.shape)} for an input of shape"
            f" {list(input.shape)}; its shape is {list(diagonal.shape)}"
        )
    target.copy_(diagonal)
    return result


def _band_part(input: Any, num_lower: int, num_upper: int) -> Any:
    rows, columns = input.shape[-2:]
    for label, count, limit in (("num_lower", num_lower, rows), ("num_upper", num_upper, columns)):
        if count > max(limit, 0):
            raise ValueError(
                f"{label} must be negative or less or equal to number of"
                f" {'rows' if label == 'num_lower' else 'columns'} ({limit}) got: {count}"
            )
    row = torch.arange(rows, device=input.device).unsqueeze(1)
    offset = torch.arange(columns, device=input.device) - row
    keep = torch.ones((rows, columns), dtype=torch.bool, device=input.device)
    if num_lower >= 0:
        keep &= offset >= -num_lower
    if num_upper >= 0:
        keep &= offset <= num_upper
    return torch.where(keep, input, torch.zeros((), dtype=input.dtype, device=input.device))


# ---- gradients -------------------------------------------------------------------------------


def _matrix_diag_part_grad(op: Any, grad: Tensor) -> Tensor:
    dims = op.inputs[0].sizes
    if dims is not None and dims[-2] is not None and dims[-2] == dims[-1]:
        return make("MatrixDiag", grad, name="diag")
    return make("MatrixSetDiag", nodes.zeros_like(op.inputs[0]), grad, name="set_diag")


def _matrix_set_diag_grad(op: Any, grad: Tensor) -> list[Tensor]:
    x, diagonal = op.inputs
    grad = convert_to_tensor(grad)
    dims = shapes.merge_static(x.sizes, grad.sizes)
    known = diagonal.sizes
    if dims is not None:
        known = shapes.merge_static(known, (*dims[:-2], _smaller(*dims[-2:])))
    if known is not None and None not in known:
        zeros = nodes.zeros(list(known), grad.dtype)
    else:
        zeros = _runtime_zeros(grad)
    cleared = make("MatrixSetDiag", grad, zeros, name="set_diag")
    return [cleared, make("MatrixDiagPart", grad, name="diag_part")]


def _runtime_zeros(grad: Tensor) -> Tensor:
    """Zeros of the shape of the diagonals of ``grad``, found at run time."""
    shape, rank = nodes.shape(grad), nodes.rank(grad)
    batch = make("Slice", shape, np.array([0], np.int32), [nodes.sub(rank, 2)])
    inner = make("Slice", shape, [nodes.sub(rank, 2)], np.array([2], np.int32))
    return nodes.zeros(nodes.concat([batch, [reductions.reduce_min(inner)]], 0), grad.dtype)


def _band_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    return [make("MatrixBandPart", grad, op.inputs[1], op.inputs[2]), None, None]


# ---- the ops ---------------------------------------------------------------------------------

define_op(
    "Diag",
    "diagonal: T -> output: T",
    attrs=[_NUMBERS],
    shape=_diag_shape,
    kernel=_diag,
    gradient=lambda op, grad: make("DiagPart", grad),
    moves=True,
)
define_op(
    "DiagPart",
    "input: T -> diagonal: T",
    attrs=[_NUMBERS],
    shape=_diag_part_shape,
    kernel=_diag_part,
    aliases=("input",),
    gradient=lambda op, grad: make("Diag", grad),
    moves=True,
)
define_op(
    "MatrixDiag",
    "diagonal: T -> output: T",
    attrs=["T: type"],
    shape=_matrix_diag_shape,
    kernel="torch.diag_embed({diagonal})",
    gradient=lambda op, grad: make("MatrixDiagPart", grad, name="diag_part"),
    moves=True,
)
define_op(
    "MatrixDiagPart",
    "input: T -> diagonal: T",
    attrs=["T: type"],
    shape=_matrix_diag_part_shape,
    kernel="{input}.diagonal(dim1=-2, dim2=-1)",
    aliases=("input",),
    gradient=_matrix_diag_part_grad,
    moves=True,
)
define_op(
    "MatrixSetDiag",
    "input: T, diagonal: T -> output: T",
    attrs=["T: type"],
    shape=_matrix_set_diag_shape,
    kernel=_matrix_set_diag,
    gradient=_matrix_set_diag_grad,
    moves=True,
)
define_op(
    "MatrixBandPart",
    "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
    attrs=["T: type", "Tindex: {int32, int64} = int64"],
    shape=_band_shape,
    kernel=_band_part,
    host=("num_lower", "num_upper"),
    gradient=_band_grad,
    moves=True,
)


# ---- public functions ------------------------------------------------------------------------


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """A tensor of twice the rank with ``diagonal`` on its diagonal and zeros elsewhere.

    Args:
      diagonal: numeric tensor of rank at least 1.

    Returns:
      A tensor of shape ``diagonal.shape + diagonal.shape``.
    """
    return make("Diag", diagonal, name=name)


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """The diagonal of a tensor whose shape is two equal halves; the inverse of ``diag``."""
    return make("DiagPart", input, name=name)


def _main_diagonal_only(function: str, k: Any, **others: Any) -> None:
    values = {"k": (k, 0), **others}
    for name, (value, default) in values.items():
        if not isinstance(value, int) or value != default:
            raise ValueError(
                f"{function}: {name} must be {default}, as in TF 1.15 (found {value!r}); other"
                " diagonals are not built yet"
            )


def matrix_diag(
    diagonal: Any,
    name: str | None = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
) -> Tensor:
    """Square matrices with the given diagonals.

    Args:
      diagonal: tensor ``[..., n]``.
      k, num_rows, num_cols, padding_value: only the defaults, as in TF 1.15.

    Returns:
      A tensor ``[..., n, n]``.

    Raises:
      ValueError: another diagonal, size or padding is asked for.
    """
    _main_diagonal_only(
        "matrix_diag", k, num_rows=(num_rows, -1), num_cols=(num_cols, -1),
        padding_value=(padding_value, 0),
    )  # fmt: skip
    return make("MatrixDiag", diagonal, name=name)


def matrix_diag_part(
    input: Any, name: str | None = "diag_part", k: Any = 0, padding_value: Any = 0
) -> Tensor:
    """The main diagonals of matrices ``[..., m, n]``: ``[..., min(m, n)]``."""
    _main_diagonal_only("matrix_diag_part", k, padding_value=(padding_value, 0))
    return make("MatrixDiagPart", input, name=name)


def matrix_set_diag(input: Any, diagonal: Any, name: str | None = "set_diag", k: Any = 0) -> Tensor:
    """``input`` with its main diagonals replaced.

    Args:
      input: tensor ``[..., m, n]``.
      diagonal: tensor ``[..., min(m, n)]`` of its dtype.
      k: only 0, as in TF 1.15.

    Returns:
      A tensor of the shape and dtype of ``input``.
    """
    _main_diagonal_only("matrix_set_diag", k)
    return make("MatrixSetDiag", input, diagonal, name=name)


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Matrices with everything outside a band around the main diagonal set to zero.

    Args:
      input: tensor ``[..., m, n]``.
      num_lower: how many subdiagonals are kept; negative keeps them all.
      num_upper: how many superdiagonals are kept; negative keeps them all.

    Returns:
      A tensor of the shape and dtype of ``input``.
    """
    return make("MatrixBandPart", input, num_lower, num_upper, name=name)


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices.

    Args:
      num_rows: int or scalar int32 tensor.
      num_columns: likewise; ``num_rows`` by default.
      batch_shape: leading dims: a list of ints or an int32 vector.
      dtype: dtype of the result.

    Returns:
      A tensor ``batch_shape + [num_rows, num_columns]``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.eye(2)).tolist()
      [[1.0, 0.0], [0.0, 1.0]]
    """
    dtype = dtypes.as_dtype(dtype)
    same = isinstance(num_rows, int) and isinstance(num_columns, int) and num_rows == num_columns
    square = num_columns is None or same
    columns = num_rows if square else num_columns
    _check_sizes(num_rows, columns)
    given: Any = [] if batch_shape is None else batch_shape
    with name_scope(name or "eye"):
        static = not any(isinstance(v, Tensor) for v in (num_rows, columns, given))
        static = static and not any(isinstance(v, Tensor) for v in given)
        if static:
            batch = [int(d) for d in given]
            diagonal_size: Any = [*batch, min(num_rows, columns)]
            size: Any = [*batch, num_rows, columns]
        else:
            if isinstance(num_rows, Tensor) or isinstance(columns, Tensor):
                smaller = _least(num_rows, columns)
            else:
                smaller = min(num_rows, columns)
            if not isinstance(given, Tensor):
                given = _batch_vector(given)
            diagonal_size = nodes.concat([given, [smaller]], 0)
            if not square:
                size = nodes.concat([given, [num_rows, columns]], 0)
        ones = nodes.ones(diagonal_size, dtype)
        if square:
            return make("MatrixDiag", ones, name="diag")
        return make("MatrixSetDiag", nodes.zeros(size, dtype), ones, name="set_diag")


def _least(x: Any, y: Any) -> Tensor:
    return make("Minimum", x, y)


def _check_sizes(*sizes: Any) -> None:
    if any(isinstance(size, Tensor) for size in sizes):
        return
    if not all(isinstance(size, int | np.integer) for size in sizes):
        raise TypeError(
            f"num_rows and num_columns must be positive integer values; found {sizes[0]!r} and"
            f" {sizes[1]!r}"
        )


def _batch_vector(dims: Any) -> Tensor:
    if not any(isinstance(d, Tensor) for d in dims):
        return constant(np.array(list(dims), np.int32), dtypes.int32, name="shape")
    return convert_to_tensor(list(dims), dtypes.int32, name="shape")
