"""What readers of all checkpoint formats share: finding names, and slices put together.

A format says what it stores under a name and fills an array from one stored piece; here are the
checks of names and destinations, and the assembly of any slice from those of any partitioning.
"""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from penstock.foundation.base import errors
from penstock.foundation.base.dtypes import DType
from penstock.foundation.formats.tensor_slice import TensorSlice, volume

_SUGGESTIONS = 5
_LONGEST_LIST = 10


@dataclass(frozen=True)
class Stored:
    """What a checkpoint holds of a tensor; no slices: the whole of it in one piece."""

    dtype: DType
    shape: tuple[int, ...]
    slices: tuple[TensorSlice, ...] = ()


class TensorReader(ABC):
    """A checkpoint that is open for reading.  Several threads may read at once.

    Args:
      path: what the user named it; errors say it.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    @abstractmethod
    def names(self) -> list[str]:
        """The names of the tensors, sorted."""

    @abstractmethod
    def _stored(self, name: str) -> Stored:
        """What is stored of a tensor that is in `names`; DataLossError where that is corrupt."""

    @abstractmethod
    def _check(self, name: str, piece: TensorSlice | None) -> None:
        """Raises DataLossError where a stored piece cannot be there, before memory is taken."""

    @abstractmethod
    def _load(self, name: str, piece: TensorSlice | None, out: np.ndarray) -> None:
        """Fills an array, of any strides, with a stored piece (None: the whole tensor)."""

    @abstractmethod
    def close(self) -> None:
        """Closes the files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def __contains__(self, name: object) -> bool:
        """Whether there is a tensor of that name."""

    def dtype(self, name: str) -> DType:
        """The element type of a tensor.

        Raises:
          NotFoundError: there is none of that name.
        """
        return self._find(name).dtype

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, all its slices together.

        Raises:
          NotFoundError: there is none of that name.
        """
        return self._find(name).shape

    def slices(self, name: str) -> list[TensorSlice]:
        """The slices in which a tensor is stored; none where it is stored whole.

        Raises:
          NotFoundError: there is none of that name.
        """
        return list(self._find(name).slices)

    def _find(self, name: str) -> Stored:
        if name not in self:
            raise errors.NotFoundError(None, None, self._missing(name))
        return self._stored(name)

    def _missing(self, name: str) -> str:
        names = self.names()
        text = f"Key {name} not found in checkpoint {self.path}, which has {len(names)} tensors"
        near = difflib.get_close_matches(name, names, _SUGGESTIONS, 0.4)
        if near:
            return f"{text}; the nearest names are {', '.join(near)}"
        if len(names) <= _LONGEST_LIST:
            return f"{text}: {', '.join(names)}"
        return text

    def read(self, name: str, into: np.ndarray | None = None) -> np.ndarray:
        """The value of a tensor.

        Args:
          name: which.
          into: an array of its shape and dtype, of any strides, that is to be filled instead of a
            new one.  After an error its content is undefined.

        Returns:
          `into`, or a new array in C order; strings as an object array of bytes.

        Raises:
          NotFoundError: there is no such tensor, or not all of its slices; with the nearest names.
          DataLossError: the data is corrupt; with file, tensor and offset.
          InvalidArgumentError: `into` does not fit.
        """
        stored = self._find(name)
        return self._assemble(name, stored, TensorSlice.full(len(stored.shape)), into)

    def read_slice(
        self, name: str, piece: TensorSlice, into: np.ndarray | None = None
    ) -> np.ndarray:
        """A slice of a tensor, put together from stored slices of any other partitioning.

        Args:
          name: which tensor.
          piece: which part of it.
          into: as for `read`.

        Raises:
          NotFoundError, DataLossError: as for `read`.
          InvalidArgumentError: the slice does not fit the tensor.
        """
        return self._assemble(name, self._find(name), piece, into)

    def _assemble(
        self, name: str, stored: Stored, piece: TensorSlice, into: np.ndarray | None
    ) -> np.ndarray:
        shape = piece.shape(stored.shape)
        parts = self._parts(name, stored, piece)
        for part, _ in parts:
            self._check(name, part)
        out = self._destination(name, stored.dtype, shape, into)
        for part, common in parts:
            if part is None and shape == stored.shape:
                self._load(name, None, out)
                continue
            source = part or TensorSlice.full(len(stored.shape))
            target = out[common.within(piece, stored.shape)]
            if common.shape(stored.shape) == source.shape(stored.shape):
                self._load(name, part, target)
                continue
            whole = np.empty(source.shape(stored.shape), stored.dtype.as_numpy_dtype)
            self._load(name, part, whole)
            target[...] = whole[common.within(source, stored.shape)]
        return out

    def _parts(
        self, name: str, stored: Stored, piece: TensorSlice
    ) -> list[tuple[TensorSlice | None, TensorSlice]]:
        """The stored pieces that a slice needs, each with what is needed of it."""
        if not stored.slices:
            return [(None, piece)]
        parts: list[tuple[TensorSlice | None, TensorSlice]] = []
        covered = 0
        for part in stored.slices:
            common = part.intersect(piece, stored.shape)
            if common is not None:
                parts.append((part, common))
                covered += volume(common.shape(stored.shape))
        overlap = any(
            a.intersect(b, stored.shape) for at, (_, a) in enumerate(parts) for _, b in parts[:at]
        )
        if overlap:
            text = f"{self.path}: the stored slices of tensor {name} overlap: {_listed(stored)}"
            raise errors.DataLossError(None, None, text)
        if covered != volume(piece.shape(stored.shape)):
            raise errors.NotFoundError(
                None,
                None,
                f"{self.path} does not have sufficient slices of tensor {name}, shape "
                f"{list(stored.shape)}, to restore the slice {str(piece)!r}: {_listed(stored)}",
            )
        return parts

    def _destination(
        self, name: str, dtype: DType, shape: tuple[int, ...], into: np.ndarray | None
    ) -> np.ndarray:
        wanted = np.dtype(dtype.as_numpy_dtype)
        if into is None:
            try:
                return np.empty(shape, wanted)
            except (MemoryError, ValueError) as error:
                text = f"{self.path}: no memory for tensor {name}, shape {list(shape)}: {error}"
                raise errors.ResourceExhaustedError(None, None, text) from error
        bare = wanted[0] if wanted.fields else wanted  # a quantized type may come as its integers
        if into.shape != shape or into.dtype not in (wanted, bare):
            raise errors.invalid(
                f"{self.path}: tensor {name} has the shape {list(shape)} and the dtype "
                f"{dtype.name}; it does not go into {into.dtype} of shape {list(into.shape)}"
            )
        return into


def _listed(stored: Stored) -> str:
    texts: Sequence[str] = [str(piece) for piece in stored.slices]
    more = f", ... ({len(texts)} in all)" if len(texts) > _LONGEST_LIST else ""
    return "stored slices: " + ", ".join(texts[:_LONGEST_LIST]) + more
