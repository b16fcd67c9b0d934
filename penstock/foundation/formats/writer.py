"""What writers of all checkpoint formats share: being finished or abandoned, slices that fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np

from penstock.foundation.base import errors
from penstock.foundation.base.dtypes import DType
from penstock.foundation.formats import files
from penstock.foundation.formats.streams import Sink
from penstock.foundation.formats.tensor_slice import TensorSlice

Sizes = tuple[int, ...]


class TensorWriter(ABC):
    """A checkpoint being written; as a context manager finished at the end, or abandoned.

    Args:
      path: where to; errors say it.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            self.finish()
        else:
            self.abandon()

    @abstractmethod
    def finish(self) -> None:
        """Makes the checkpoint visible, atomically."""

    @abstractmethod
    def abandon(self) -> None:
        """Removes what was written; does nothing after that or after `finish`."""

    def _refused(self, text: str) -> errors.InvalidArgumentError:
        return errors.invalid(f"{self.path}: {text}")

    def add_slice(
        self,
        name: str,
        full_shape: Sequence[int],
        piece: TensorSlice,
        array: np.ndarray,
        dtype: DType | None = None,
    ) -> None:
        """Takes a slice of a tensor; other slices of it may follow, or be in other shards.

        Args:
          name: the tensor's name.
          full_shape: the shape of the whole tensor.
          piece: which part of it `array` is.
          array: the values, of the slice's shape.
          dtype: the element type, where the array's own says less (int8 for qint8).

        Raises:
          InvalidArgumentError: as for `add`; or the slice does not fit the tensor or the array, or
            the tensor's dtype or shape is another than with the slice before.
        """
        shape = tuple(int(size) for size in full_shape)
        if piece.shape(shape) != np.shape(array):
            raise self._refused(
                f"tensor {name}: slice {piece} of {list(shape)} has not the shape"
                f" {list(np.shape(array))}"
            )
        self._add_slice(name, shape, piece, array, dtype)

    @abstractmethod
    def _add_slice(
        self, name: str, shape: Sizes, piece: TensorSlice, array: np.ndarray, dtype: DType | None
    ) -> None:
        """Takes a slice that has the shape which it says."""


class StreamWriter(TensorWriter):
    """A writer into a temporary file beside ``path``, which ``finish`` puts in its place."""

    _data: Sink | None
    _temporary: str

    def _open(self) -> Sink:
        if self._data is None:
            text = f"{self.path}: the checkpoint is finished"
            raise errors.FailedPreconditionError(None, None, text)
        return self._data

    def abandon(self) -> None:
        """Removes the temporary file; a second call, and one after `finish`, does nothing."""
        if self._data is not None:
            data, self._data = self._data, None
            data.close()
            if files.exists(self._temporary):
                files.remove(self._temporary)
