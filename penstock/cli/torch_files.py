"""Torch's state dicts as checkpoints: tensors by name, mapped from the file and not loaded.

Files are read with ``weights_only=True``: what else than tensors and plain containers a pickle
would run is refused.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import torch

from penstock.cli.output import Failure
from penstock.foundation.base import dtypes
from penstock.foundation.base.dtypes import DType
from penstock.foundation.formats import files

_BFLOAT16 = np.dtype(dtypes.bfloat16.as_numpy_dtype)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{name}.{index}" if name else str(index))
    else:
        yield name, value


class TorchReader:
    """A file that ``torch.save`` wrote; nested containers give names with dots.

    Args:
      path: the file, local.

    Raises:
      Failure: it cannot be read so, or it holds no tensors.
    """

    def __init__(self, path: str) -> None:
        local = files.local(path)
        try:
            content = torch.load(local, map_location="cpu", weights_only=True, mmap=True)
        except (RuntimeError, pickle.UnpicklingError, ValueError, EOFError) as first:
            try:  # the older file format cannot be mapped
                content = torch.load(local, map_location="cpu", weights_only=True)
            except (RuntimeError, pickle.UnpicklingError, ValueError, EOFError):
                said = str(first).splitlines()[0] if str(first) else type(first).__name__
                raise Failure(f"{path}: torch cannot read it (weights_only=True): {said}") from None
        found = dict(_leaves(content, ""))
        self._tensors = {n: t for n, t in found.items() if isinstance(t, torch.Tensor)}
        self.ignored = [n for n in found if n not in self._tensors]
        if not self._tensors:
            raise Failure(f"{path}: a torch file without tensors")

    def names(self) -> list[str]:
        """The names, sorted."""
        return sorted(self._tensors)

    def dtype(self, name: str) -> DType:
        """The type of a tensor.

        Raises:
          Failure: TensorFlow has none like it.
        """
        kind = str(self._tensors[name].dtype).removeprefix("torch.")
        try:
            return dtypes.as_dtype(kind)
        except TypeError:
            raise Failure(f"{name!r} is {kind}, which TensorFlow does not have") from None

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return tuple(self._tensors[name].shape)

    def slices(self, name: str) -> list[Any]:
        """None: torch's tensors are whole."""
        return []

    def read(self, name: str) -> np.ndarray:
        """The values of a tensor."""
        tensor = self._tensors[name].detach()
        if tensor.layout is not torch.strided:
            raise Failure(f"{name!r} is a sparse tensor; only dense ones can be read")
        tensor = tensor.contiguous().resolve_conj().resolve_neg()
        if tensor.dtype is torch.bfloat16:
            return tensor.view(torch.int16).numpy().view(_BFLOAT16)
        return tensor.numpy()

    def close(self) -> None:
        """Forgets the file."""
        self._tensors = {}


class TorchWriter:
    """Writes a state dict, one tensor at a time.

    ``torch.save`` wants all tensors at once; until then they lie in a temporary file beside the
    final one, mapped into memory, so that memory holds what the system keeps of them.

    Args:
      path: the file, local.
    """

    def __init__(self, path: str) -> None:
        if files.is_remote(path):
            raise Failure(f"{path}: torch files are written to local paths", 2)
        self._path = files.local(path)
        folder = os.path.dirname(self._path) or "."
        with files.error_names(path):
            self._scratch = tempfile.TemporaryFile(dir=folder)
        self._entries: list[tuple[str, DType, tuple[int, ...], int]] = []
        self._offset = 0

    def add(self, name: str, array: np.ndarray) -> None:
        """Takes a tensor.

        Raises:
          Failure: torch has no such type.
        """
        if array.dtype == object:
            raise Failure(f"{name!r} is a string tensor, which torch does not have (--exclude)")
        dtype = dtypes.as_dtype(array.dtype)
        if not hasattr(torch, dtype.name):
            raise Failure(f"{name!r} is {dtype.name}, which torch does not have (--exclude)")
        data = np.ascontiguousarray(array)
        self._entries.append((name, dtype, array.shape, self._offset))
        with files.error_names(self._path):
            self._scratch.write(data.reshape(-1).view(np.uint8).data)
            self._offset += data.nbytes
            padding = -self._offset % 64
            self._scratch.write(bytes(padding))
        self._offset += padding

    def finish(self) -> None:
        """Writes the file and makes it visible at once."""
        self._scratch.flush()
        state = {name: self._mapped(kind, dims, at) for name, kind, dims, at in self._entries}
        beside = files.temporary(self._path)
        try:
            torch.save(state, beside)
            files.replace(beside, self._path)
        finally:
            if files.exists(beside):
                files.remove(beside)
            self.abandon()

    def _mapped(self, dtype: DType, shape: tuple[int, ...], offset: int) -> torch.Tensor:
        kind = getattr(torch, dtype.name)
        count = int(np.prod(shape, dtype=np.int64)) * dtype.size
        if not count:
            return torch.empty(shape, dtype=kind)
        raw = np.memmap(self._scratch, np.uint8, "c", offset, (count,))
        return torch.from_numpy(raw).view(kind).reshape(shape)

    def abandon(self) -> None:
        """Removes what was written."""
        self._scratch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            self.finish()
        else:
            self.abandon()
