"""Equal integers found by one sort of plain numbers, for vectors in a CPU's memory.

NumPy sorts 64-bit numbers in vector registers; ATen orders by comparing one by one. So each
element's position is packed below its value: one sort orders by both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

_WIDTHS = (torch.int8, torch.int16, torch.int32, torch.int64)


def first_seen(x: torch.Tensor) -> tuple[Any, Any, Any] | None:
    """The distinct elements in order of first occurrence, which of them each element is, counts.

    Args:
      x: a vector.

    Returns:
      Three tensors, the last two int64; None where this way is not for ``x``: another type or
      device, or numbers that lie too far apart.
    """
    if x.dtype not in _WIDTHS or x.device.type != "cpu" or x.dim() != 1 or not x.numel():
        return None
    values = x.numpy()
    size = values.size
    bits = (size - 1).bit_length()
    low, high = int(values.min()), int(values.max())
    if (high - low) >> (63 - bits):
        return None
    packed = values.astype(np.int64)
    packed -= low
    packed <<= bits
    packed |= np.arange(size)
    packed.sort()
    order = packed & ((1 << bits) - 1)
    packed >>= bits
    begins = np.empty(size, np.bool_)
    begins[0] = True
    np.not_equal(packed[1:], packed[:-1], out=begins[1:])
    first = order[begins]  # positions of first occurrences, in the order of values
    new = np.zeros(size, np.bool_)
    new[first] = True
    rank = new.cumsum()[first] - 1
    which = np.empty(size, np.int64)
    which[order] = rank[begins.cumsum() - 1]
    counts = np.empty_like(rank)
    counts[rank] = np.diff(np.flatnonzero(begins), append=size)
    return torch.from_numpy(values[new]), torch.from_numpy(which), torch.from_numpy(counts)


def all_differ(indices: torch.Tensor) -> bool:
    """Whether no integer of a vector occurs twice."""
    if indices.device.type != "cpu":
        return indices.numel() == torch.unique(indices).numel()
    ordered = np.sort(indices.numpy())
    return not (ordered[1:] == ordered[:-1]).any()
