"""Arrays of strings, element by element: what the kernels of the string families share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes

REASON = "its inputs are strings"


def as_bytes(value: Any) -> bytes:
    """A string scalar, or a string attr, as bytes."""
    item = value.item() if isinstance(value, np.ndarray) else value
    return item.encode() if isinstance(item, str) else bytes(item)


def shown(data: bytes) -> str:
    """Text for a message."""
    return data.decode("utf-8", "backslashreplace")


def strings(values: Sequence[bytes], shape: Any = None) -> np.ndarray:
    """An array of strings from a flat sequence."""
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made if shape is None else made.reshape(shape)


def boxed(data: bytes) -> np.ndarray:
    """One string as an array without dims."""
    result = np.empty((), dtype=object)
    result[()] = data
    return result


def stored_type(dtype: dtypes.DType) -> Any:
    """What run-time values of ``dtype`` have as their type: ``object`` where they are strings."""
    return object if dtype is dtypes.string else getattr(torch, dtypes.stored_as(dtype).name)


def mapped(function: Callable[[bytes], bytes], array: Any) -> np.ndarray:
    """``function`` of each element."""
    array = np.asarray(array, dtype=object)
    return strings([function(text) for text in array.ravel()], array.shape)


def counted(function: Callable[[bytes], int], array: Any, dtype: torch.dtype) -> torch.Tensor:
    """An integer for each element."""
    array = np.asarray(array, dtype=object)
    return torch.tensor([function(t) for t in array.ravel()], dtype=dtype).reshape(array.shape)
