"""A variable that lives within one step: made by the step's first use, gone when it is destroyed.

State: one value a thread, because concurrent steps must not share it and a step runs on one thread.
"""

from __future__ import annotations

import threading
from typing import Any

import torch

from penstock.engine.resources.variable import Variable


class TemporaryVariable(Variable):
    """Scratch memory for a step.

    Args:
      name: the name of the variable's node, for messages.
      dims: static dims, all known.
      dtype: element type.
    """

    __slots__ = ("_dtype", "_local")

    def __init__(self, name: str, dims: tuple[int | None, ...], dtype: torch.dtype) -> None:
        super().__init__(name, dims)
        self._dtype = dtype
        self._local = threading.local()

    @property
    def value(self) -> Any:
        """This step's tensor, made (of unspecified content) when there is none."""
        local = self._local
        if not hasattr(local, "value"):
            local.value = torch.empty([d or 0 for d in self.dims or ()], dtype=self._dtype)
        return local.value

    @value.setter
    def value(self, value: Any) -> None:
        self._local.value = value

    @value.deleter
    def value(self) -> None:
        if hasattr(self._local, "value"):
            del self._local.value
