"""Rows added to the rows of a tensor that indices name: by which of ATen's two kernels.

``index_add_`` of rows by int32, or with a factor, adds one row after another.  By int64 and without
a factor it brings the rows that meet into order first, and then adds them, in the order they came
in, so that both give the same bits.  Measured on float32 rows of 1 to 512 numbers, on AVX-512, with
tables of 1,000 and 50,000 rows, as the second's time in the first's:

| rows | narrower than 16 | wider, one thread | wider, two threads |
|---|---|---|---|
| 64 | 0.7 to 0.8 | 1.1 to 1.5 | 2.2 to 3.2 |
| 256 | 0.3 to 0.6 | 0.5 to 0.9 | 1.1 to 1.8 |
| 512 | 0.2 to 0.6 | 0.3 to 0.8 | 0.6 to 1.4 |
| 1,344 | 0.1 to 0.5 | 0.3 to 0.8 | 0.4 to 0.9 |
| 8,192 | 0.1 to 0.5 | 0.2 to 0.6 | 0.1 to 0.4 |

Vectors are added number by number either way.
"""

from __future__ import annotations

from typing import Any

import torch

# As many rows are worth bringing into order; as many of those that are narrow.
_MANY = 512
_MANY_NARROW = 64
_NARROW = 16
# Of these ATen sums up rows that meet before it rounds, but where it is given a factor.
_HALVES = (torch.float16, torch.bfloat16)


def add_rows(target: Any, indices: Any, rows: Any) -> Any:
    """Adds rows to those that indices name; those that meet add up, in their order.

    Args:
      target: changed in place.
      indices: vector, int32 or int64.
      rows: as many, each of the shape of one of ``target``, of its dtype, apart from its memory.

    Returns:
      ``target``.

    Raises:
      IndexError, RuntimeError: an index is out of range, or a shape or dtype does not fit.
    """
    if indices.dtype is torch.int32 and _are_many(rows):
        indices = indices.long()
    if target.dtype in _HALVES:
        return target.index_add_(0, indices, rows.neg(), alpha=-1)
    return target.index_add_(0, indices, rows)


def subtract_rows(target: Any, indices: Any, rows: Any) -> Any:
    """Subtracts rows from those that indices name; see ``add_rows``."""
    if _are_many(rows):
        return target.index_add_(0, indices.long(), rows.neg())
    return target.index_add_(0, indices, rows, alpha=-1)


def by_scattering(target: Any, indices: Any, rows: Any) -> Any:
    """``add_rows`` by the operator for which torch's compiler calls the second kernel."""
    index = indices.long()
    if rows.dim() > 1:
        index = index.reshape(-1, *[1] * (rows.dim() - 1)).expand(rows.shape)
    return target.scatter_add_(0, index, rows)


def _are_many(rows: Any) -> bool:
    if rows.dim() < 2 or rows.shape[0] < _MANY_NARROW:
        return False
    count = rows.shape[0]
    # Numbers of half precision are rounded where they are added up, and no two kernels do alike.
    floats = rows.dtype is torch.float32 or rows.dtype is torch.float64
    return floats and (count >= _MANY or rows.numel() < _NARROW * count) and rows.is_cpu
