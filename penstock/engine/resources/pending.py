"""A tensor that is read when it is needed: what a restore gives to the variables that take it.

A variable that is assigned a ``Pending`` keeps the memory that it is read into, so that restoring
a model never holds more than one of its tensors twice; and a variable whose tensor cannot be read
keeps its old value.  The memory of the old value, where nobody else holds it, is what the next
tensor of that size is read into: pages that are new to the process cost more than reading into
them.  Any other use of a ``Pending`` reads it first.

State: ``Spare`` holds the memory of one old value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

_ALIGNMENT = 64
# Smaller memory comes from the allocator's own lists.
_WORTH_KEEPING = 1 << 20
# References in `Spare.keep` to a tensor that the variable gave up: one in each of three frames
# (`Variable.assign`, `Pending.replaces`, `keep`), and the argument of the count.
_REFERENCES = 4


class Spare:
    """Memory for the tensors of one restore."""

    def __init__(self) -> None:
        self._kept: torch.Tensor | None = None

    def empty(self, dims: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """A tensor with undefined content that nobody else holds."""
        kept, self._kept = self._kept, None
        if kept is not None and kept.dtype is dtype and kept.numel() == _volume(dims):
            return kept.view(tuple(dims))
        del kept
        return _large_empty(dims, dtype)

    def keep(self, old: Any) -> None:
        """Takes over the memory of a value that its only holder, the caller, gives up."""
        if not isinstance(old, torch.Tensor) or old.device.type != "cpu":
            return
        if old.nbytes < _WORTH_KEEPING or not old.is_contiguous():
            return
        if sys.getrefcount(old) <= _REFERENCES and _is_only_holder(old):
            self._kept = old


def _is_only_holder(value: torch.Tensor) -> bool:
    """Whether no other tensor, nor an array, shares the memory of a tensor.

    Compared with a tensor that certainly has one holder.  Tensors of programs are made in inference
    mode, where a view does not hold its base.
    """
    if not hasattr(torch._C, "_storage_Use_Count"):
        return False
    return _holders(value) == _holders(torch.empty(value.numel(), dtype=value.dtype))


def storage_uses(storage: torch.UntypedStorage) -> int:
    """How many tensors, arrays and Python's objects hold a tensor's memory."""
    uses: int = torch._C._storage_Use_Count(storage._cdata)
    return uses


def _holders(value: torch.Tensor) -> tuple[int, ...]:
    storage = value.untyped_storage()
    uses = storage_uses(storage)
    tensors: int = value._use_count()  # type: ignore[attr-defined]
    return tensors, uses, sys.getrefcount(storage), storage.nbytes()


def _volume(dims: Sequence[int]) -> int:
    return int(np.prod(dims, dtype=np.int64))


def _large_empty(dims: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """As ``torch.empty``; large ones in NumPy's memory, which asks the system for large pages."""
    size = _volume(dims) * dtype.itemsize
    if size < _WORTH_KEEPING:
        return torch.empty(tuple(dims), dtype=dtype)
    raw = np.empty(size + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return torch.from_numpy(raw[start : start + size]).view(dtype).view(tuple(dims))


class Pending:
    """A value not read yet.

    Args:
      dims: its shape.
      dtype: its torch type.
      read: reads it into memory that it gives.
      spare: where the memory for it comes from.
    """

    __slots__ = ("shape", "dtype", "_read", "_spare")

    def __init__(
        self,
        dims: Sequence[int],
        dtype: torch.dtype,
        read: Callable[[torch.Tensor], torch.Tensor],
        spare: Spare,
    ) -> None:
        self.shape = torch.Size(dims)
        self.dtype = dtype
        self._read, self._spare = read, spare

    def take(self) -> torch.Tensor:
        """The value, in memory that nobody else holds; reads anew each time."""
        return self._read(self._spare.empty(self.shape, self.dtype))

    def replaces(self, old: Any) -> None:
        """Says that the value took the place of another, which the caller holds in a variable."""
        self._spare.keep(old)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.take(), name)

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return function(*_read_all(args), **{k: _read(v) for k, v in (kwargs or {}).items()})


def _read(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_read_all(value))
    return value.take() if isinstance(value, Pending) else value


def _read_all(values: Any) -> list[Any]:
    return [_read(value) for value in values]
