"""``HDF5Matrix``: a data set of an HDF5 file, or a part of it, read batch by batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from penstock.foundation.formats import hdf5


class HDF5Matrix:
    """A data set of an HDF5 file in the place of an array that ``fit`` and its kin are given.

    HDF5 reads rows in ascending order alone: train with ``shuffle="batch"`` or False.

    Args:
      datapath: path of the file.
      dataset: name of the data set.
      start, end: the first row, and that after the last; default all.
      normalizer: function of the rows that are read.

    Raises:
      ImportError: h5py is not installed.
    """

    # The files that are open, by path.
    refs: ClassVar[dict[Any, Any]] = {}

    def __init__(
        self, datapath: Any, dataset: str, start: int = 0, end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        try:
            import_module("h5py")
        except ImportError:
            raise ImportError(
                "The use of HDF5Matrix requires HDF5 and h5py installed: pip install penstock[hdf5]"
            ) from None
        if datapath not in self.refs:
            self.refs[datapath] = hdf5.open_file(datapath, "r", "HDF5Matrix")
        self.data = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer

    def __len__(self) -> int:
        return int(self.end - self.start)

    def __getitem__(self, key: Any) -> Any:
        """Rows: a number, a slice, or numbers in ascending order."""
        if isinstance(key, slice):
            first = key.start or 0
            last = len(self) if key.stop is None else key.stop
            at: Any = slice(first + self.start, last + self.start)
            past = last + self.start > self.end
        else:
            past = np.max(key) + self.start >= self.end
            numbers = isinstance(key, int | np.integer)
            at = key + self.start if numbers else [int(k) + self.start for k in key]
        if past:
            raise IndexError(f"{key} is not among the {len(self)} rows of {self.data.name}")
        found = self.data[at]
        return found if self.normalizer is None else self.normalizer(found)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes, rows first."""
        return (len(self), *self.data.shape[1:])

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """How many dims there are."""
        return int(self.data.ndim)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return math.prod(self.shape)
