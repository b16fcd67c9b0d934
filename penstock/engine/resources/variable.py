"""A variable: a tensor that steps read and update.

State: ``value`` (the slot is unset until the variable is initialized, so that reading it costs one
attribute load and an uninitialized read is an AttributeError, which the program's error path turns
into FailedPreconditionError), a lock for ``use_locking=True``, and the physical order of dims
(``layout``) that its readers like best.

Updates are in place: a program that has read ``value`` sees later updates unless it copied.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.pending import Pending


def _shown(dims: tuple[int | None, ...]) -> str:
    return f"[{','.join('?' if d is None else str(d) for d in dims)}]"


class Variable:
    """Mutable tensor state.

    Args:
      name: the name of the variable's node, for messages.
      dims: static dims to check the first value against; None skips the check.
    """

    __slots__ = ("value", "lock", "name", "dims", "layout", "__weakref__")

    value: Any

    def __init__(self, name: str, dims: tuple[int | None, ...] | None = None) -> None:
        self.name = name
        self.dims = dims
        self.lock = threading.RLock()
        self.layout: tuple[int, ...] | None = None

    @property
    def initialized(self) -> bool:
        """Whether it holds a value."""
        return hasattr(self, "value")

    def fill_empty(self, dtype: torch.dtype | None) -> None:
        """Holds its value at once if that has no elements: there is nothing to initialize.

        Args:
          dtype: of its elements; None for strings.
        """
        dims = tuple(d for d in self.dims or () if d is not None)
        if dims == self.dims and 0 in dims:
            self.value = np.empty(dims, object) if dtype is None else torch.empty(dims, dtype=dtype)

    def assign(self, value: Any, validate_shape: bool = True, keeps_shape: bool = False) -> None:
        """Sets the value; copies into the existing memory where the shape is the same.

        Args:
          value: the new value; its memory is not kept, except that a ``Pending`` is read into
            memory that becomes the variable's.
          validate_shape: whether another shape than the declared one is an error.
          keeps_shape: whether the shape that counts then is that of the value it holds, if any.

        Raises:
          ValueError: the shape differs, and must not.
        """
        old = getattr(self, "value", None)
        if isinstance(value, Pending):
            if validate_shape:
                self._check_shape(tuple(value.shape), old if keeps_shape else None)
            taken = value.take()
            self.value = taken if self.layout is None else self._owned(taken)
            value.replaces(old)
            return
        if isinstance(value, torch.Tensor):
            if old is not None and old.shape == value.shape and old.dtype == value.dtype:
                old.copy_(value)
                return
        if validate_shape:
            self._check_shape(tuple(value.shape), old if keeps_shape else None)
        self.value = self._owned(value)

    def _check_shape(self, shape: tuple[int, ...], held: Any) -> None:
        dims = self.dims if held is None else tuple(held.shape)
        fits = dims is None or (
            len(dims) == len(shape)
            and all(d is None or d == s for d, s in zip(dims, shape, strict=True))
        )
        if not fits:
            raise ValueError(
                "Assign requires shapes of both tensors to match. lhs shape="
                f" {_shown(dims or ())} rhs shape= {_shown(shape)}: variable {self.name!r} has"
                f" shape {list(dims or ())}; a value of shape {list(shape)} was assigned"
            )

    def _owned(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value.copy()
        if self.layout is None or value.dim() != len(self.layout):
            return value.clone(memory_format=torch.contiguous_format)
        order = self.layout
        inverse = [order.index(i) for i in range(len(order))]
        physical = value.permute(order).clone(memory_format=torch.contiguous_format)
        return physical.permute(inverse)

    def prefer_layout(self, layout: tuple[int, ...]) -> None:
        """Keeps the value with its dims physically in this order from now on."""
        if self.layout is not None:
            return
        with self.lock:
            self.layout = layout
            if self.initialized:
                self.value = self._owned(self.value)
