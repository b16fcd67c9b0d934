"""Sums of rows that indices name, where no row is written down before it is added up.

The pass ``lookup_sums`` makes them of lookups, products and sums.  The rows of all places together
are many times what comes of them, and three ops would write and read them once more each.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array.gather import rows_at, rows_out_of_range
from penstock.ops.nn.fused import MADE_BY_PASSES

_ATTRS = ["T: {float}", "Tindices: {int32, int64}"]


def _shape(ctx: ShapeContext) -> Dims:
    (_, width), indices = ctx.rank("table", 2), ctx["indices"]
    return None if indices is None else (*indices[:-1], width)


def _sum_of_rows(table: Any, indices: Any, mean: bool) -> Any:
    if not indices.numel():
        rows = rows_at(table, indices)
        return rows.mean(-2) if mean else rows.sum(-2)
    return _bags(table, indices, int(mean), None)


def _sum_of_scaled_rows(table: Any, indices: Any, factors: Any) -> Any:
    if not indices.numel() or factors.shape[:-1] != indices.shape:
        return (rows_at(table, indices) * factors).sum(-2)
    return _bags(table, indices, 0, factors.reshape(-1))


def _bags(table: Any, indices: Any, mode: int, factors: Any) -> Any:
    count, flat = indices.shape[-1], indices.reshape(-1)
    begins = torch.arange(0, flat.shape[0], count, dtype=flat.dtype, device=flat.device)
    try:
        made = torch.embedding_bag(table, flat, begins, False, mode, False, factors)[0]
    except RuntimeError as error:
        raise rows_out_of_range(indices, table.shape[0]) or error from None
    return made.view((*indices.shape[:-1], table.shape[1]))


define_op(
    "_SumOfRows",
    "table: T, indices: Tindices -> sum: T",
    attrs=[*_ATTRS, "mean: bool"],
    shape=_shape,
    kernel=_sum_of_rows,
    no_gradient=MADE_BY_PASSES,
    internal=True,
)
define_op(
    "_SumOfScaledRows",
    "table: T, indices: Tindices, factors: T -> sum: T",
    attrs=_ATTRS,
    shape=_shape,
    kernel=_sum_of_scaled_rows,
    no_gradient=MADE_BY_PASSES,
    internal=True,
)
