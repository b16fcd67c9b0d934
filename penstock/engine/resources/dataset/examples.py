"""Datasets of sparse tensors, windows of fixed form, and of what functions of the runtime parse.

A sparse tensor is one value of three cells: positions, entries and shape.

State of an iterator: that of its source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.dataset.base import (
    Context,
    Dataset,
    Element,
    Iterator,
    Wrapped,
    dims_of,
    stack,
)  # fmt: skip
from penstock.engine.resources.dataset.batches import Batch
from penstock.engine.resources.dataset.order import Window
from penstock.engine.resources.dataset.parallel import ParallelMap
from penstock.foundation.base import errors


def sparse_cells(indices: Any, values: Any, shape: Any) -> np.ndarray:
    """A sparse tensor as one value."""
    made = np.empty(3, object)
    made[0], made[1], made[2] = indices, values, shape
    return made


class DenseToSparseBatch(Batch):
    """Dense elements of up to a shape as rows of a sparse tensor, every entry of theirs in it."""

    def __init__(self, source: Dataset, batch_size: int, row_shape: Sequence[int]) -> None:
        super().__init__(source, batch_size, False)
        self._row = list(row_shape)

    def join(self, elements: Sequence[Element]) -> Element:
        row, places, values = list(self._row), [], []
        for number, (value,) in enumerate(elements):
            dims = dims_of(value)
            if len(dims) != len(row):
                raise errors.invalid(
                    f"Input element had shape ({dims}) that is incompatible with the row shape"
                    f" ({row})."
                )
            for axis, (size, limit) in enumerate(zip(dims, self._row, strict=True)):
                if limit < 0:
                    row[axis] = max(row[axis], size)
                elif size > limit:
                    raise errors.DataLossError(
                        None, None,
                        f"Input element had shape ({dims}) that is larger than the row shape"
                        f" ({self._row}).",
                    )  # fmt: skip
            inside = np.indices(dims, np.int64).reshape(len(dims), -1).T
            first = np.full((len(inside), 1), number, np.int64)
            places.append(np.concatenate([first, inside], 1))
            values.append(value.reshape(-1))
        text = isinstance(values[0], np.ndarray)
        joined = np.concatenate(values) if text else torch.cat(values)
        shape = torch.tensor([len(elements), *(max(d, 0) for d in row)], dtype=torch.int64)
        return (sparse_cells(torch.from_numpy(np.concatenate(places)), joined, shape),)


class SlidingWindow(Dataset):
    """Windows of elements, each joined to one element; those that are not full are left out."""

    owned = True

    def __init__(self, source: Dataset, size: int, shift: int, stride: int) -> None:
        self._windows = Window(source, size, shift, stride, True)

    def iterator(self, context: Context) -> Iterator:
        return _SlidingIterator(self._windows.iterator(context))


class _SlidingIterator(Wrapped):
    def next(self) -> Element:
        windows = self.source.next()
        return tuple(stack([e[0] for e in window.elements]) for window in windows)


class _Given:
    """A function of the runtime in the form of a compiled body."""

    def __init__(self, function: Callable[..., Element]) -> None:
        self._function = function

    def instance(self) -> Callable[..., Element]:
        return self._function


def parsed(source: Dataset, parse: Callable[..., Element], calls: int) -> Dataset:
    """What a function makes of each element, several at a time."""
    return ParallelMap(source, _Given(parse), [], calls)
