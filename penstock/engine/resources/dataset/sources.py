"""Datasets that elements come from: tensors, ranges, random numbers, generators, files.

State of an iterator: how many elements it gave; of a generator, what its ``init`` returned as well.
A generator and a file go on after a restore by being read again up to the element.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.dataset.base import (
    UNKNOWN,
    Context,
    Dataset,
    Element,
    EndOfSequence,
    Function,
    Iterator,
    State,
    dims_of,
    own,
    row,
)  # fmt: skip
from penstock.engine.resources.stream import Stream
from penstock.foundation.base import errors


class Counted(Dataset):
    """A dataset whose element at any position is known at once."""

    def __init__(self, count: int) -> None:
        self.count = count

    def element(self, index: int) -> Element:
        """The element at a position."""
        raise NotImplementedError

    def batch(self, start: int, stop: int) -> Element | None:
        """The elements of a range as one batch in memory of its own, where that is quick."""
        return None

    def iterator(self, context: Context) -> Iterator:
        return CountedIterator(self)

    def cardinality(self) -> int:
        return self.count


class CountedIterator(Iterator):
    """A position, as a number."""

    def __init__(self, dataset: Counted) -> None:
        self.dataset = dataset
        self.position = 0

    def next(self) -> Element:
        position = self.position
        if position >= self.dataset.count:
            raise EndOfSequence
        self.position = position + 1
        return self.dataset.element(position)

    def left(self) -> int:
        """How many elements are to come."""
        return self.dataset.count - self.position

    def next_batch(self, count: int, whole: bool) -> Element | None:
        """Up to ``count`` elements as a batch; None where that is not quick."""
        start = self.position
        stop = min(start + count, self.dataset.count)
        if start >= stop or whole and stop - start < count:
            self.position = self.dataset.count
            raise EndOfSequence
        made = self.dataset.batch(start, stop)
        if made is not None:
            self.position = stop
        return made

    def save(self) -> State:
        return self.position

    def restore(self, state: State) -> None:
        self.position = state


class Tensors(Counted):
    """One element."""

    def __init__(self, components: Sequence[Any]) -> None:
        super().__init__(1)
        self._components = own(components)

    def element(self, index: int) -> Element:
        return self._components


class Slices(Counted):
    """The slices of tensors along their first dim."""

    def __init__(self, components: Sequence[Any]) -> None:
        sizes = {dims_of(c)[0] if dims_of(c) else None for c in components}
        if len(sizes) != 1 or None in sizes:
            raise errors.invalid(
                "the components of a dataset of slices must have the same size along their first"
                f" dim; found shapes {[dims_of(c) for c in components]}"
            )
        super().__init__(int(sizes.pop()))  # type: ignore[arg-type]
        self._components = own(components)

    def element(self, index: int) -> Element:
        return tuple([row(c, index) for c in self._components])

    def batch(self, start: int, stop: int) -> Element:
        return own([c[start:stop] for c in self._components])


class Elements(Counted):
    """Elements that are in memory: a window, a group."""

    def __init__(self, elements: Sequence[Element]) -> None:
        super().__init__(len(elements))
        self.elements = list(elements)

    def element(self, index: int) -> Element:
        return self.elements[index]


class Range(Counted):
    """Integers from ``start`` to ``stop`` in steps."""

    owned = True

    def __init__(self, start: int, stop: int, step: int) -> None:
        if step == 0:
            raise errors.invalid("step must be a non-zero integer.")
        self._range = range(start, stop, step)
        # len() has no numbers beyond those of a C ssize_t, which a range from below 0 may need.
        super().__init__(max(-((start - stop) // step), 0))

    def element(self, index: int) -> Element:
        return (torch.tensor(self._range[index], dtype=torch.int64),)

    def batch(self, start: int, stop: int) -> Element:
        part = self._range[start:stop]
        return (torch.arange(part.start, part.stop, part.step, dtype=torch.int64),)


class SparseSlices(Counted):
    """The rows of a sparse tensor, each as indices, values and shape."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        indices, values, dense_shape = own((indices, values, dense_shape))
        rows = indices[:, 0].contiguous()
        if bool((rows[1:] < rows[:-1]).any()):
            raise errors.UnimplementedError(
                None, None, "Row-wise indices of a sparse tensor must be ordered"
            )
        super().__init__(int(dense_shape[0]))
        ends = torch.searchsorted(rows, torch.arange(self.count + 1)).tolist()
        self._ends, self._indices, self._values = ends, indices, values
        self._shape = dense_shape[1:]

    def element(self, index: int) -> Element:
        part = slice(self._ends[index], self._ends[index + 1])
        return self._indices[part, 1:], self._values[part], self._shape


class RandomNumbers(Dataset):
    """Random integers without end, each iterator from the start of the seed's sequence."""

    owned = True

    def __init__(self, seed: int, seed2: int) -> None:
        self._seeds = (seed, seed2)

    def iterator(self, context: Context) -> Iterator:
        return _RandomIterator(self._seeds)


class _RandomIterator(Iterator):
    def __init__(self, seeds: tuple[int, int]) -> None:
        self._start = Stream(*seeds).seed
        self._count = 0
        self._numbers = np.random.Generator(np.random.SFC64(self._start))

    def next(self) -> Element:
        self._count += 1
        return (torch.tensor(int(self._numbers.integers(0, 1 << 32)), dtype=torch.int64),)

    def save(self) -> State:
        return [self._start, self._count]

    def restore(self, state: State) -> None:
        self._start, self._count = state
        self._numbers = np.random.Generator(np.random.SFC64(self._start))
        for _ in range(self._count):
            self._numbers.integers(0, 1 << 32)


class Generator(Dataset):
    """What a function gives, called again and again until it says that the end is reached.

    Args:
      init, following, final: functions, each with the values that it captured: of a new iterator's
        state, of an element from the state, and of what is to be done at the end.
    """

    def __init__(
        self, init: tuple[Any, Any], following: tuple[Any, Any], final: tuple[Any, Any]
    ) -> None:
        self._functions = [(f, own(captured)) for f, captured in (init, following, final)]

    def iterator(self, context: Context) -> Iterator:
        return _GeneratorIterator(*[context.function(f, c) for f, c in self._functions])


class _GeneratorIterator(Iterator):
    def __init__(self, init: Function, following: Function, final: Function) -> None:
        self._init, self._following, self._final = init, following, final
        self._state: tuple[Any, ...] | None = None
        self._finish: Any = None
        self._count = 0
        self._ended = False

    def next(self) -> Element:
        if self._ended:
            raise EndOfSequence
        if self._state is None:
            self._state = self._init()
            # Runs when the iterator is given up in the middle as well.
            self._finish = weakref.finalize(self, _quietly, self._final, self._state)
            self._finish.atexit = False
        try:
            element = self._following(*self._state)
        except EndOfSequence:
            self._ended = True
            if self._finish is not None:
                self._finish()
            raise
        self._count += 1
        return element

    def save(self) -> State:
        return [self._count, self._ended]

    def restore(self, state: State) -> None:
        for _ in range(state[0]):
            self.next()
        self._ended = state[1]


def _quietly(function: Function, state: tuple[Any, ...]) -> None:
    with suppress(Exception):
        function(*state)


class Records(Dataset):
    """The records of files, one file after the other.

    Args:
      names: of the files.
      read: gives the elements of a file, and in place of one that cannot be made its error.
    """

    def __init__(
        self, names: Sequence[Any], read: Callable[[Any], Iterable[Element | Exception]]
    ) -> None:
        self.names, self.read = list(names), read

    def iterator(self, context: Context) -> Iterator:
        return _RecordIterator(self)

    def cardinality(self) -> int:
        return UNKNOWN


class _RecordIterator(Iterator):
    def __init__(self, dataset: Records) -> None:
        self._dataset = dataset
        self._file = 0
        self._count = 0
        self._records: Any = None

    def next(self) -> Element:
        while self._file < len(self._dataset.names):
            if self._records is None:
                self._records = iter(self._dataset.read(self._dataset.names[self._file]))
                for _ in range(self._count):
                    next(self._records)
            try:
                record: Element | Exception = next(self._records)
            except StopIteration:
                self._leave()
                continue
            except errors.DataLossError:
                # What is damaged is not read again: the next file is.
                self._leave()
                raise
            except BaseException:
                # What cannot be opened is tried again, as TF does.
                self._records = None
                raise
            self._count += 1
            if isinstance(record, Exception):
                raise record
            return record
        raise EndOfSequence

    def _leave(self) -> None:
        self._file, self._count, self._records = self._file + 1, 0, None

    def save(self) -> State:
        return [self._file, self._count]

    def restore(self, state: State) -> None:
        self._file, self._count = state
        self._records = None
