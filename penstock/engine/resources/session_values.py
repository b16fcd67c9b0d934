"""Tensors that stay with a session between its steps, by their handles.

State: one dictionary from handle to value, and a counter, under one lock.  It is the session's: a
session in this process drops it when it closes, a task of a cluster when the session's last graph
there is deregistered.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors


class SessionValues:
    """What a session keeps."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._values: dict[bytes, Any] = {}

    def keep(self, value: Any, name: str, device: str) -> np.ndarray:
        """Keeps a copy of a value.

        Args:
          value: a tensor or an array of strings; the step may go on with its memory.
          name: of the node that keeps it.
          device: where it is.

        Returns:
          Its handle, "NAME;NUMBER;DEVICE", as a scalar string tensor.
        """
        copy = value.clone() if isinstance(value, torch.Tensor) else value.copy()
        with self._lock:
            handle = f"{name};{next(self._numbers)};{device}".encode()
            self._values[handle] = copy
        made = np.empty((), object)
        made[()] = handle
        return made

    def value(self, handle: Any, dtype: Any) -> Any:
        """The value behind a handle.

        Args:
          handle: a scalar string tensor.
          dtype: its torch type, ``object`` for strings.

        Raises:
          tf.errors.InvalidArgumentError: nothing is kept under that handle.
          tf.errors.InternalError: it is of another type.
        """
        key = _key(handle)
        value = self._values.get(key)
        if value is None:
            raise _unknown(key)
        found = value.dtype if isinstance(value, torch.Tensor) else object
        if found is not dtype:
            raise errors.InternalError(
                None, None, f"a tensor of {dtype} is asked for; {key.decode()!r} is of {found}"
            )
        return value

    def forget(self, handle: Any) -> None:
        """Drops the value behind a handle.

        Raises:
          tf.errors.InvalidArgumentError: nothing is kept under that handle.
        """
        key = _key(handle)
        with self._lock:
            if self._values.pop(key, None) is None:
                raise _unknown(key)

    def count(self) -> int:
        """How many values are kept."""
        return len(self._values)


def _key(handle: Any) -> bytes:
    array: Any = np.asarray(handle)
    if array.shape:
        raise errors.invalid(f"a handle is a scalar; found shape {list(array.shape)}")
    key: bytes = array[()]
    return key


def _unknown(key: bytes) -> errors.InvalidArgumentError:
    return errors.invalid(
        f"The tensor with handle '{key.decode(errors='replace')}' is not in the session store: it"
        " was deleted, or another session keeps it"
    )
