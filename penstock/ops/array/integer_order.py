"""Equal integers found by a table or one sort of plain numbers, for vectors in a CPU's memory.

Numbers that lie close together are places of a table, which is written and read once.  Of others
NumPy sorts 64-bit numbers in vector registers, where ATen orders by comparing one by one: each
element's position is packed below its value, and one sort orders by both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

_WIDTHS = (torch.int8, torch.int16, torch.int32, torch.int64)


# As far apart may numbers be for a table (4 MB of it): up to here it takes half of the sort's time
# or less, beyond it the processor waits for memory that it never saw.
_CLOSE = 1 << 20


def first_seen(x: torch.Tensor) -> tuple[Any, Any] | None:
    """The distinct elements in order of first occurrence, and which of them each element is.

    Args:
      x: a vector.

    Returns:
      Two tensors, the second int64; None where this way is not for ``x``: another type or device,
      or numbers that lie too far apart.
    """
    if x.dtype not in _WIDTHS or x.device.type != "cpu" or x.dim() != 1 or not x.numel():
        return None
    values = x.numpy()
    low, high = int(values.min()), int(values.max())
    if high - low < _CLOSE:
        new, which = _by_table(values, low, high)
    elif (high - low) >> (63 - (values.size - 1).bit_length()):
        return None
    else:
        new, which = _by_sort(values, low)
    return torch.from_numpy(values[new]), torch.from_numpy(which)


def _by_table(values: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    """Which elements are the first of their kind, and which kind each element is."""
    place = np.subtract(values, low, dtype=np.int64)
    position = np.arange(values.size, dtype=np.int32)
    seen = np.empty(high - low + 1, np.int32)  # read only where it is written before
    seen[place[::-1]] = position[::-1]  # of equal places the last one written stays: the first
    first = seen[place]
    new = first == position
    return new, (new.cumsum() - 1)[first]


def _by_sort(values: np.ndarray, low: int) -> tuple[np.ndarray, np.ndarray]:
    size = values.size
    bits = (size - 1).bit_length()
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
    return new, which


def all_differ(indices: torch.Tensor) -> bool:
    """Whether no integer of a vector occurs twice."""
    if indices.device.type != "cpu":
        return indices.numel() == torch.unique(indices).numel()
    ordered = np.sort(indices.numpy())
    return not (ordered[1:] == ordered[:-1]).any()
