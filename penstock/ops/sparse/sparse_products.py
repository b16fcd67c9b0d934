"""Products of sparse matrices and dense ones: each row is a weighted sum of the dense one's rows.

A matrix whose entries lie row by row has such sums at once; of another, or of one that is read
along its columns, they are brought into that order first.  Where several products of a step need
the same order it is a node of its own, ``_SparseRows``, and the products are
``_SparseRowsMatMul`` (``compiler/passes/sparse_products.py`` makes both).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import gather, transpose
from penstock.ops.array.row_sums import add_rows
from penstock.ops.math import reduction
from penstock.ops.sparse import sparse_entries as entries

# As many rows have numbers of 16 bits.
_MOST_ROWS = 1 << 16


def _matmul_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("a_values", 1)
    ctx.rank("a_indices", 2)
    b = ctx.rank("b", 2)
    ctx.rank("a_shape", 1)
    dims = ctx.shape_value("a_shape")
    if dims is not None and len(dims) != 2:
        raise ValueError(f"a_shape must have 2 elements; found {show(dims)}")
    rows, inner = dims if dims is not None else (None, None)
    if ctx.attr("adjoint_a"):
        rows, inner = inner, rows
    b_inner, columns = b[::-1] if ctx.attr("adjoint_b") else b
    if None not in (inner, b_inner) and inner != b_inner:
        raise ValueError(f"a has {inner} column(s), b {b_inner} row(s)")
    return rows, columns


def _matmul(
    a_indices: Any, a_values: Any, a_shape: list[int], b: Any, adjoint_a: bool, adjoint_b: bool
) -> Any:
    if b.dim() != 2 or len(a_shape) != 2:
        raise ValueError(f"a and b must be matrices; found {a_shape} and {list(b.shape)}")
    entries.check(a_indices, a_values, a_shape, "a")
    entries.check_bounds(a_indices, a_shape, "a_indices")
    row, column = a_indices.long().unbind(1)
    rows, inner = a_shape
    if adjoint_a:
        row, column, rows, inner = column, row, inner, rows
        a_values = a_values.conj_physical()
    if adjoint_b:
        b = b.mH.resolve_conj() if b.is_complex() else b.mT
    if inner != b.shape[0]:
        raise ValueError(f"a has {inner} column(s), b {b.shape[0]} row(s)")
    if not b.shape[1] or not len(row):
        return b.new_zeros((rows, b.shape[1]))
    return _product(row, column, a_values, rows, b)


def _product(row: Any, column: Any, values: Any, rows: int, b: Any) -> Any:
    if values.dtype in (torch.float32, torch.float64):
        is_on_cpu = b.device.type == "cpu"
        if is_on_cpu and (rows <= _MOST_ROWS or _are_in_order(row)):
            return _sums(*_by_rows(row, column, rows), values, b)
        if b.shape[1] > 1:
            size = (rows, b.shape[0])
            a = torch.sparse_coo_tensor(
                torch.stack([row, column]), values, size, is_coalesced=False, check_invariants=False
            )
            return torch.mm(a, b)
    picked = entries.wide(b.contiguous())[column] * entries.wide(values)[:, None]
    made = add_rows(picked.new_zeros((rows, b.shape[1])), row, picked)
    return made.to(b.dtype)


def _are_in_order(row: Any) -> bool:
    numbers = row.numpy()
    return not (numbers[1:] < numbers[:-1]).any()


def _by_rows(row: Any, column: Any, rows: int) -> tuple[Any, Any, Any]:
    """Where each row's entries begin, their columns, and their order (empty: as they are)."""
    row, column = row.contiguous(), column.contiguous()
    if row.device.type != "cpu":
        order = torch.argsort(row, stable=True)
    elif _are_in_order(row):
        order = row[:0]
    else:
        # NumPy sorts numbers of 16 bits by their digits, ten times as fast as torch.
        digits = row.numpy().astype(np.uint16) if rows <= _MOST_ROWS else row.numpy()
        order = torch.from_numpy(np.argsort(digits, kind="stable"))
    if len(order):
        row, column = row.index_select(0, order), column.index_select(0, order)
    return torch._convert_indices_from_coo_to_csr(row, rows), column, order


def _sums(starts: Any, columns: Any, order: Any, values: Any, b: Any) -> Any:
    """A sixth of the time that a product of coo's takes, for entries in order."""
    weights = values.index_select(0, order) if len(order) else values
    return torch.embedding_bag(
        b.contiguous(), columns, starts, per_sample_weights=weights, include_last_offset=True
    )[0]


def _matmul_grad(op: Any, grad: Tensor) -> list[Any]:
    indices, values, shape, b = op.inputs
    adjoint_a, adjoint_b = op.attrs["adjoint_a"], op.attrs["adjoint_b"]
    is_complex = b.dtype.is_complex
    b_grad = make("SparseTensorDenseMatMul", indices, values, shape, grad, adjoint_a=not adjoint_a)
    if adjoint_b:
        b_grad = transpose.transpose(b_grad, conjugate=is_complex)
    rows, columns = indices[:, 0], indices[:, 1]
    if adjoint_a:
        rows, columns = columns, rows
    parts_a: Any = gather.gather(grad, rows)
    other = transpose.transpose(b, conjugate=is_complex) if adjoint_b else b
    parts_b: Any = gather.gather(other, columns)
    if is_complex and adjoint_a:
        parts_a = make("Conj", parts_a)
    elif is_complex:
        parts_b = make("Conj", parts_b)
    return [None, reduction.reduce_sum(parts_a * parts_b, axis=1), None, b_grad]


define_op(
    "SparseTensorDenseMatMul",
    "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T",
    attrs=[
        "T: type", "Tindices: {int32, int64} = int64", "adjoint_a: bool = False",
        "adjoint_b: bool = False",
    ],
    shape=_matmul_shape,
    kernel=_matmul,
    host=("a_shape",),
    gradient=_matmul_grad,
)  # fmt: skip

# ---- the same in two steps, of which several products share the first ---------------------------

_MADE_BY_PASSES = "made by passes only, after gradients are built"


def _rows_shape(ctx: ShapeContext) -> list[Dims]:
    dims, count = ctx.shape_value("a_shape"), ctx.rank("a_indices", 2)[0]
    rows = None if dims is None else dims[1 if ctx.attr("adjoint_a") else 0]
    return [(None if rows is None else rows + 1,), (count,), (None,)]


def _rows(a_indices: Any, a_shape: list[int], adjoint_a: bool) -> tuple[Any, Any, Any]:
    entries.check(a_indices, a_indices.new_empty(a_indices.shape[:1]), a_shape, "a")
    entries.check_bounds(a_indices, a_shape, "a_indices")
    row, column = a_indices.long().unbind(1)
    rows = a_shape[0]
    if adjoint_a:
        row, column, rows = column, row, a_shape[1]
    return _by_rows(row, column, rows)


def _rows_matmul_shape(ctx: ShapeContext) -> Dims:
    starts, b = ctx.rank("starts", 1)[0], ctx.rank("b", 2)
    return None if starts is None else starts - 1, b[0] if ctx.attr("adjoint_b") else b[1]


def _rows_matmul(
    starts: Any, columns: Any, order: Any, a_values: Any, b: Any, inner: int, adjoint_b: bool
) -> Any:
    if adjoint_b:
        b = b.mT
    if a_values.shape != columns.shape:
        raise ValueError(
            f"a_values has shape {show(tuple(a_values.shape))}, but a_indices has"
            f" {len(columns)} row(s)"
        )
    if inner != b.shape[0]:
        raise ValueError(f"a has {inner} column(s), b {b.shape[0]} row(s)")
    if not b.shape[1] or not len(columns):
        return b.new_zeros((len(starts) - 1, b.shape[1]))
    return _sums(starts, columns, order, a_values, b)


define_op(
    "_SparseRows",
    "a_indices: Tindices, a_shape: int64 -> starts: int64, columns: int64, order: int64",
    attrs=["Tindices: {int32, int64} = int64", "adjoint_a: bool = False"],
    shape=_rows_shape,
    kernel=_rows,
    host=("a_shape",),
    no_gradient=_MADE_BY_PASSES,
    internal=True,
)

define_op(
    "_SparseRowsMatMul",
    "starts: int64, columns: int64, order: int64, a_values: T, b: T -> product: T",
    attrs=["T: {float, double}", "inner: int", "adjoint_b: bool = False"],
    shape=_rows_matmul_shape,
    kernel=_rows_matmul,
    no_gradient=_MADE_BY_PASSES,
    internal=True,
)
