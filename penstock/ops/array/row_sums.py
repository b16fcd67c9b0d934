"""Rows added to the rows of a tensor that indices name: by which of ATen's two kernels.

``index_add_`` adds one row after another.  ``scatter_add_``, given an index that is expanded along
the row, brings the rows that meet into order first and then adds them, in the order they came in,
so that both give the same bits.  Measured on float32 rows of 1 to 512 numbers, on AVX-512, with
tables of 10 to a million rows, as the second's time in the first's:

| rows | narrower than 16 | wider, one thread | wider, two threads |
|---|---|---|---|
| 64 | 0.9 to 1.3 | 1.2 to 2.9 | 2.2 to 4.1 |
| 128 | 0.6 to 0.9 | 0.6 to 1.3 | 1.5 to 2.7 |
| 256 | 0.4 to 0.7 | 0.6 to 0.9 | 1.0 to 2.0 |
| 1,344 | 0.1 to 0.5 | 0.2 to 0.8 | 0.4 to 0.9 |
| 8,192 | 0.1 to 0.5 | 0.3 to 0.7 | 0.1 to 0.5 |
"""

from __future__ import annotations

from typing import Any

import torch

# As many rows are worth bringing into order; as many of those that are narrow.
_MANY = 512
_MANY_NARROW = 128
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
    if _are_many(target, rows):
        return by_scattering(target, indices, rows)
    if target.dtype in _HALVES:
        return target.index_add_(0, indices, rows.neg(), alpha=-1)
    return target.index_add_(0, indices, rows)


def subtract_rows(target: Any, indices: Any, rows: Any) -> Any:
    """Subtracts rows from those that indices name; see ``add_rows``."""
    if _are_many(target, rows):
        return by_scattering(target, indices, rows.neg())
    return target.index_add_(0, indices, rows, alpha=-1)


def by_scattering(target: Any, indices: Any, rows: Any) -> Any:
    """``add_rows`` by ``scatter_add_``."""
    index = indices.long()
    if rows.dim() > 1:
        index = index.reshape(-1, *[1] * (rows.dim() - 1)).expand(rows.shape)
    return target.scatter_add_(0, index, rows)


def _are_many(target: Any, rows: Any) -> bool:
    count = rows.shape[0] if rows.dim() else 0
    if count < _MANY and (count < _MANY_NARROW or rows.numel() >= _NARROW * count):
        return False
    # Numbers of half precision are rounded where they are added up, and no two kernels do alike.
    # scatter_add_ takes rows that are wider than those of its target.
    fits = target.dim() == rows.dim() and target.shape[1:] == rows.shape[1:]
    return fits and target.is_cpu and target.dtype in (torch.float32, torch.float64)
