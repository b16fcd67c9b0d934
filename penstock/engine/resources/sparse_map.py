"""A map of sparse tensors: one step puts them in and gets handles, another takes them out.

State: the tensors by handle, the next handle, one lock.  Handles count from 0; a tensor is taken
once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from penstock.foundation.base import errors

# Indices, values and dense shape.
Parts = tuple[Any, Any, Any]


class SparseTensorsMap:
    """Sparse tensors by handle.

    Args:
      name: for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._items: dict[int, Parts] = {}
        self._next = 0

    def add(self, tensors: Iterable[Parts]) -> list[int]:
        """Keeps the tensors, whose memory becomes the map's; returns their handles."""
        handles = []
        with self._lock:
            for parts in tensors:
                self._items[self._next] = parts
                handles.append(self._next)
                self._next += 1
        return handles

    def take(self, handles: Iterable[int]) -> list[Parts]:
        """Takes the tensors out.

        Raises:
          tf.errors.InvalidArgumentError: one is not in the map; those before it are taken.
        """
        taken = []
        with self._lock:
            for handle in handles:
                parts = self._items.pop(handle, None)
                if parts is None:
                    raise errors.invalid(
                        f"Unable to find SparseTensor: {handle} in map: {self.name}"
                    )
                taken.append(parts)
        return taken
