"""What a queue keeps its elements in, and in which order it gives them out.

Elements travel in *batches*: one tensor a component, the elements along its first dim.  A store
owns the batches put into it (``copied`` makes the copies, since what an op is given may be a
variable's or the caller's memory) and gives out slices of them, so that a batch goes through a FIFO
queue with one copy on the way in and at most one on the way out.  An element is given out once, and
slices do not overlap: whoever gets one may overwrite it.

State of each store: its elements, the types and shapes of their components.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors
from penstock.foundation.base.mismatch import show

# One tensor a component (strings: object arrays), elements along the first dim.
Batch = Sequence[Any]
Dims = tuple[int | None, ...] | None


def single(components: Sequence[Any]) -> Batch:
    """One element as a batch, in the memory that it is in."""
    return [c[None] for c in components]


def copied(components: Sequence[Any]) -> Batch:
    """A batch of its own memory."""
    return [_copy(c) for c in components]


def _copy(component: Any) -> Any:
    if isinstance(component, torch.Tensor):
        return component.clone(memory_format=torch.contiguous_format)
    return np.array(component, object)


def batch_size(components: Sequence[Any], named: str) -> int:
    """The number of elements of a batch; refuses components that disagree."""
    sizes = {int(c.shape[0]) if len(c.shape) else -1 for c in components}
    if len(sizes) != 1 or -1 in sizes:
        shapes = [list(c.shape) for c in components]
        raise errors.invalid(
            f"{named}: the components of a batch must have the same size along their first dim;"
            f" found shapes {shapes}"
        )
    return sizes.pop()


class Store:
    """Elements in the order in which they came.

    Args:
      dtypes: torch dtype of each component, ``object`` for strings.
      shapes: static dims of each component; None where they are not declared.
    """

    # Whether `put` copies: if not, the batches put in must be the store's own.
    copies_in = False
    # Whether a request takes all of its elements at once, and none before they are there.
    whole = False

    def __init__(self, dtypes: Sequence[Any], shapes: Sequence[Dims]) -> None:
        self.dtypes = list(dtypes)
        self.shapes = list(shapes)
        # Whether elements can be joined to a batch.
        self.joins = None not in self.shapes
        self._segments: deque[tuple[Batch, int, int]] = deque()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def check(self, batch: Batch, named: str) -> None:
        """Refuses a batch whose elements have another shape than declared."""
        for i, (component, dims) in enumerate(zip(batch, self.shapes)):
            found = tuple(component.shape[1:])
            if dims is None or found == dims:
                continue
            fits = len(found) == len(dims) and all(d is None or d == f for d, f in zip(dims, found))
            if not fits:
                raise errors.invalid(
                    f"Shape mismatch in tuple component {i}. Expected {show(dims)}, got"
                    f" {show(found)}: that is what an element of {named} may be"
                )

    def put(self, batch: Batch, start: int, count: int) -> None:
        """Takes in ``count`` elements of the batch, from ``start`` on."""
        self._segments.append((batch, start, start + count))
        self._size += count

    def take(self, count: int) -> list[Batch]:
        """Gives out ``count`` elements, as batches."""
        self._size -= count
        taken = []
        while count:
            batch, start, stop = self._segments.popleft()
            end = min(stop, start + count)
            if end < stop:
                self._segments.appendleft((batch, end, stop))
            whole = start == 0 and end == len(batch[0])
            taken.append(batch if whole else [c[start:end] for c in batch])
            count -= end - start
        return taken

    def give_back(self, pieces: list[Batch]) -> None:
        """Takes back what ``take`` gave out, as if it had never been taken."""
        for batch in reversed(pieces):
            self._segments.appendleft((batch, 0, len(batch[0])))
            self._size += len(batch[0])

    def one(self, pieces: list[Batch]) -> Sequence[Any]:
        """The components of the one element that was taken."""
        return [
            c.squeeze(0) if isinstance(c, torch.Tensor) else c.reshape(c.shape[1:])
            for c in pieces[0]
        ]

    def many(self, pieces: list[Batch]) -> Sequence[Any]:
        """The pieces as one batch."""
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return [_empty(t, s) for t, s in zip(self.dtypes, self.shapes)]
        return [_joined(parts) for parts in zip(*pieces)]


def _empty(dtype: Any, dims: Dims) -> Any:
    shape = (0, *(d or 0 for d in dims or ()))
    return np.empty(shape, object) if dtype is object else torch.empty(shape, dtype=dtype)


def _joined(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], torch.Tensor):
        return torch.cat(list(parts))
    return np.concatenate(parts)


class PaddingStore(Store):
    """First in, first out; a batch is padded with zeros to its largest element."""

    def many(self, pieces: list[Batch]) -> Sequence[Any]:
        """The pieces as one batch, padded along the dims of unknown size."""
        if not pieces:
            return super().many(pieces)
        return [_padded(parts) for parts in zip(*pieces)]


def _padded(parts: Sequence[Any]) -> Any:
    shapes = {tuple(p.shape[1:]) for p in parts}
    if len(shapes) == 1:
        return _joined(parts)
    dims = tuple(map(max, zip(*shapes)))
    count = sum(len(p) for p in parts)
    if isinstance(parts[0], torch.Tensor):
        whole: Any = parts[0].new_zeros((count, *dims))
    else:
        whole = np.full((count, *dims), b"", object)
    start = 0
    for part in parts:
        place = (slice(start, start + len(part)), *(slice(0, d) for d in part.shape[1:]))
        whole[place] = part
        start += len(part)
    return whole


class ShuffledStore(Store):
    """Gives out elements drawn at random.

    The elements are ``slots``; a drawn slot is filled with one from the end, so that drawing takes
    time independent of the size.  Where all shapes are declared the slots are rows of one tensor a
    component, so that a batch is drawn by one gather; else they are a list.

    Args:
      dtypes, shapes: as for ``Store``.
      seed: of the random numbers; None for one that differs each time.
    """

    def __init__(
        self, dtypes: Sequence[Any], shapes: Sequence[Dims], seed: Sequence[int] | None
    ) -> None:
        super().__init__(dtypes, shapes)
        self._random = np.random.default_rng(seed)
        self._rows: list[Any] | None = None
        self.copies_in = all(s is not None and None not in s for s in shapes)
        if self.copies_in:
            self._rows = [_empty(t, s) for t, s in zip(dtypes, shapes)]
        self._slots: list[Batch] = []

    def put(self, batch: Batch, start: int, count: int) -> None:
        """Takes in ``count`` elements of the batch, from ``start`` on."""
        size = self._size
        if self._rows is None:
            self._slots.extend([c[i : i + 1] for c in batch] for i in range(start, start + count))
        else:
            self._grow(size + count)
            for rows, component in zip(self._rows, batch):
                rows[size : size + count] = component[start : start + count]
        self._size = size + count

    def _grow(self, size: int) -> None:
        assert self._rows is not None
        old = len(self._rows[0])
        if size <= old:
            return
        for i, rows in enumerate(self._rows):
            shape = (max(size, 2 * old), *rows.shape[1:])
            if isinstance(rows, torch.Tensor):
                wider: Any = torch.empty(shape, dtype=rows.dtype)
            else:
                wider = np.empty(shape, object)
            wider[: self._size] = rows[: self._size]
            self._rows[i] = wider

    def take(self, count: int) -> list[Batch]:
        """Gives out ``count`` elements drawn without replacement."""
        drawn, holes, movers = self._draw(count)
        self._size -= count
        if self._rows is None:
            taken = [self._slots[i] for i in drawn]
            for hole, mover in zip(holes, movers):
                self._slots[hole] = self._slots[mover]
            del self._slots[self._size :]
            return taken
        return [[self._taken(rows, drawn, holes, movers) for rows in self._rows]]

    def _draw(self, count: int) -> tuple[Any, Any, Any]:
        """Which slots are drawn, which of them stay in use, and what slots go there."""
        size, left = self._size, self._size - count
        if count == 1:
            one = int(self._random.integers(size))
            return [one], [one] if one < left else [], [left]
        drawn = self._random.choice(size, count, replace=False)
        rest = np.ones(count, bool)
        rest[drawn[drawn >= left] - left] = False
        return drawn, drawn[drawn < left], np.flatnonzero(rest) + left

    def _taken(self, rows: Any, drawn: Any, holes: Any, movers: Any) -> Any:
        if isinstance(rows, torch.Tensor):
            batch: Any = rows[torch.as_tensor(drawn)]
            if len(holes):
                rows[torch.as_tensor(holes)] = rows[torch.as_tensor(movers)]
            return batch
        batch = rows[drawn]
        if len(holes):
            rows[holes] = rows[movers]
        rows[self._size : self._size + len(drawn)] = None  # a string lives no longer than needed
        return batch

    def give_back(self, pieces: list[Batch]) -> None:
        """Takes back what ``take`` gave out."""
        for batch in pieces:
            self.put(batch, 0, len(batch[0]))


class PriorityStore(Store):
    """Gives out the element of the smallest first component; equals in the order they came."""

    whole = True

    def __init__(self, dtypes: Sequence[Any], shapes: Sequence[Dims]) -> None:
        super().__init__(dtypes, shapes)
        self._heap: list[tuple[int, int, Batch]] = []
        self._later = itertools.count()
        self._earlier = itertools.count(-1, -1)

    def put(self, batch: Batch, start: int, count: int) -> None:
        """Takes in ``count`` elements of the batch, from ``start`` on."""
        for i in range(start, start + count):
            element = [c[i : i + 1] for c in batch]
            heapq.heappush(self._heap, (int(element[0][0]), next(self._later), element))
        self._size += count

    def take(self, count: int) -> list[Batch]:
        """Gives out the ``count`` elements that come first."""
        self._size -= count
        return [heapq.heappop(self._heap)[2] for _ in range(count)]

    def give_back(self, pieces: list[Batch]) -> None:
        """Takes back what ``take`` gave out, before others of equal priority."""
        for element in reversed(pieces):
            heapq.heappush(self._heap, (int(element[0][0]), next(self._earlier), element))
        self._size += len(pieces)
