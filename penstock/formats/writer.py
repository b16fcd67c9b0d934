"""What writers of all checkpoint formats share: being finished or abandoned, slices that fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np

from penstock.base import errors
from penstock.formats.tensor_slice import TensorSlice


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
        return errors.InvalidArgumentError(None, None, f"{self.path}: {text}")

    def _full_shape(
        self, name: str, full_shape: Sequence[int], piece: TensorSlice, array: np.ndarray
    ) -> tuple[int, ...]:
        """The shape of the whole tensor; refuses values that have not the shape of the slice."""
        shape = tuple(int(size) for size in full_shape)
        if piece.shape(shape) != np.shape(array):
            raise self._refused(
                f"tensor {name}: slice {piece} of {list(shape)} has not the shape"
                f" {list(np.shape(array))}"
            )
        return shape
