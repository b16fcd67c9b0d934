"""Datasets that put elements together and take them apart: batches, padded batches, slices.

State of an iterator: that of its source; of ``Unbatch``, the element being taken apart as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.dataset import outcomes
from penstock.engine.resources.dataset.base import (
    Context,
    Dataset,
    Element,
    EndOfSequence,
    Iterator,
    State,
    Wrapped,
    dims_of,
    row,
    stacked,
)  # fmt: skip
from penstock.foundation.base import errors


def _size(batch_size: int) -> int:
    if batch_size < 1:
        raise errors.invalid(f"batch_size must be greater than zero; found {batch_size}")
    return batch_size


class Batch(Dataset):
    """Elements in batches; the last one may be smaller, or is left out (``whole``)."""

    owned = True

    def __init__(self, source: Dataset, batch_size: int, whole: bool) -> None:
        self.source, self.size, self.whole = source, _size(batch_size), whole

    def iterator(self, context: Context) -> Iterator:
        return _BatchIterator(self, self.source.iterator(context))

    def cardinality(self) -> int:
        n = self.source.cardinality()
        return n if n < 0 else n // self.size if self.whole else -(-n // self.size)

    def join(self, elements: Sequence[Element]) -> Element:
        """One batch of elements."""
        return stacked(elements)

    def take(self, source: Iterator) -> list[Element]:
        """The elements of the next batch."""
        return taken(source, self.size)


class FixedBatch(Batch):
    """Batches that always begin at the same elements: one that fails, fails with its batch."""

    def take(self, source: Iterator) -> list[Element]:
        found: list[outcomes.Outcome] = []
        while len(found) < self.size and (one := outcomes.attempted(source)) is not None:
            found.append(one)
        return [outcomes.taken(one) for one in found]


class _BatchIterator(Wrapped):
    def __init__(self, dataset: Batch, source: Iterator) -> None:
        super().__init__(source)
        self._dataset = dataset
        quick = getattr(source, "next_batch", None)
        self._quick = quick if type(dataset) is Batch else None
        self._make_ahead = getattr(source, "make_ahead", None)

    def next(self) -> Element:
        dataset = self._dataset
        if self._quick is not None:
            made: Element | None = self._quick(dataset.size, dataset.whole)
            if made is not None:
                return made
        if self._make_ahead is not None:
            self._make_ahead(dataset.size)
        elements = dataset.take(self.source)
        if not elements or (dataset.whole and len(elements) < dataset.size):
            raise EndOfSequence
        return dataset.join(elements)


def taken(source: Iterator, count: int) -> list[Element]:
    """Up to ``count`` elements."""
    elements: list[Element] = []
    try:
        while len(elements) < count:
            elements.append(source.next())
    except EndOfSequence:
        pass
    return elements


class PaddedBatch(Batch):
    """Elements padded to one shape, in batches.

    Args:
      source, batch_size, whole: as for ``Batch``.
      shapes: the shape of each component; -1 stands for the largest of the batch.
      values: what each component is padded with.
    """

    def __init__(
        self, source: Dataset, batch_size: int, shapes: Sequence[Sequence[int]],
        values: Sequence[Any], whole: bool,
    ) -> None:  # fmt: skip
        super().__init__(source, batch_size, whole)
        self._shapes = [list(s) for s in shapes]
        self._values = [v.item() for v in values]

    def join(self, elements: Sequence[Element]) -> Element:
        columns = zip(*elements, strict=True)
        return tuple(self._padded(i, column) for i, column in enumerate(columns))

    def _padded(self, index: int, column: Sequence[Any]) -> Any:
        wanted = self._shapes[index]
        found = [dims_of(v) for v in column]
        if any(len(dims) != len(wanted) for dims in found):
            bad = next(d for d in found if len(d) != len(wanted))
            raise errors.invalid(
                f"All elements in a batch must have the same rank as the padded shape for component"
                f"{index}: expected rank {len(wanted)} but got element with rank {len(bad)}"
            )
        dims = list(wanted)
        for axis, size in enumerate(wanted):
            largest = max(d[axis] for d in found)
            if size < 0:
                dims[axis] = largest
            elif largest > size:
                raise errors.DataLossError(
                    None, None,
                    f"Attempted to pad to a smaller size than the input element: component {index},"
                    f" dim {axis}: {largest} > {size}",
                )  # fmt: skip
        first = column[0]
        shape = [len(column), *dims]
        made: Any
        if isinstance(first, torch.Tensor):
            made = torch.full(shape, self._values[index], dtype=first.dtype)
        else:
            made = np.full(shape, self._values[index], object)
        for position, value in enumerate(column):
            made[(position, *[slice(n) for n in dims_of(value)])] = value
        return made


class Unbatch(Dataset):
    """The slices of each element along its first dim."""

    def __init__(self, source: Dataset) -> None:
        self.source = source

    def iterator(self, context: Context) -> Iterator:
        return _UnbatchIterator(self.source.iterator(context))


class _UnbatchIterator(Wrapped):
    def __init__(self, source: Iterator) -> None:
        super().__init__(source)
        self._element: Element = ()
        self._index = self._count = 0

    def next(self) -> Element:
        while self._index >= self._count:
            self._open(self.source.next(), 0)
        self._index += 1
        return tuple([row(c, self._index - 1) for c in self._element])

    def _open(self, element: Element, index: int) -> None:
        sizes = {dims_of(c)[0] if dims_of(c) else None for c in element}
        if None in sizes:
            raise errors.invalid("Cannot unbatch a scalar component")
        if len(sizes) > 1:
            raise errors.invalid(
                "Input element must have the same batch size in each component; found shapes"
                f" {[dims_of(c) for c in element]}"
            )
        self._element, self._index, self._count = element, index, int(sizes.pop() or 0)

    def save(self) -> State:
        return [list(self._element), self._index, self.source.save()]

    def restore(self, state: State) -> None:
        if state[0]:
            self._open(tuple(state[0]), state[1])
        self.source.restore(state[2])
