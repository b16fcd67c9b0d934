"""A tensor that is read when it is needed: what a restore gives to the variables that take it.

A variable that is assigned a ``Pending`` keeps the memory that it is read into, so that restoring
a model never holds more than one of its tensors twice.  Any other use of one reads it first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


class Pending:
    """A value not read yet.

    Args:
      dims: its shape.
      dtype: its torch type.
      read: reads it into new memory.
    """

    __slots__ = ("shape", "dtype", "_read")

    def __init__(
        self, dims: Sequence[int], dtype: torch.dtype, read: Callable[[], torch.Tensor]
    ) -> None:
        self.shape = torch.Size(dims)
        self.dtype = dtype
        self._read = read

    def take(self) -> torch.Tensor:
        """The value, in memory that nobody else holds; reads anew each time."""
        return self._read()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._read(), name)

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
