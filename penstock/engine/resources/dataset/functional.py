"""Datasets whose elements functions make: map, filter, flat_map, scan, groups.

A function is called in the thread that asks for the element (``parallel.py`` and ``interleave.py``
have the others).

State of an iterator: that of its source, and what the elements in work were made of: a dataset that
a function made is made again from the same element, and its iterator restored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from penstock.engine.resources import waiting
from penstock.engine.resources.dataset.base import (
    Context,
    Dataset,
    Element,
    EndOfSequence,
    Function,
    Iterator,
    State,
    Wrapped,
    own,
)  # fmt: skip
from penstock.engine.resources.dataset.sources import Elements
from penstock.foundation.base import errors


class Called(Dataset):
    """A dataset over one other with a function."""

    def __init__(self, source: Dataset, function: Any, captured: Sequence[Any]) -> None:
        self.source, self.function, self.captured = source, function, own(captured)

    def run(self, context: Context) -> Function:
        """The function, for an iterator."""
        return context.function(self.function, self.captured)


class Map(Called):
    """What the function makes of each element."""

    owned = True

    def iterator(self, context: Context) -> Iterator:
        return _MapIterator(self.source.iterator(context), self.run(context))

    def cardinality(self) -> int:
        return self.source.cardinality()


class _MapIterator(Wrapped):
    def __init__(self, source: Iterator, run: Function) -> None:
        super().__init__(source)
        self._run = run

    def next(self) -> Element:
        return self._run(*self.source.next())


def _is_true(results: tuple[Any, ...]) -> bool:
    value = results[0]
    if len(results) != 1 or value.dtype is not torch.bool or value.dim():
        raise errors.invalid("Filter predicate `f` must return a scalar bool.")
    return bool(value)


class Filter(Called):
    """The elements of which the function says True."""

    @property
    def owned(self) -> bool:  # type: ignore[override]
        """As the elements are those of the source."""
        return self.source.owned

    def iterator(self, context: Context) -> Iterator:
        return _FilterIterator(self.source.iterator(context), self.run(context))


class _FilterIterator(_MapIterator):
    def next(self) -> Element:
        while True:
            element = self.source.next()
            if _is_true(self._run(*element)):
                return element
            waiting.check_running()


class TakeWhile(Filter):
    """The elements before the first of which the function says False."""

    def iterator(self, context: Context) -> Iterator:
        return _TakeWhileIterator(self.source.iterator(context), self.run(context))


class _TakeWhileIterator(_MapIterator):
    _ended = False

    def next(self) -> Element:
        if not self._ended:
            element = self.source.next()
            if _is_true(self._run(*element)):
                return element
            self._ended = True
        raise EndOfSequence

    def save(self) -> State:
        return [self._ended, self.source.save()]

    def restore(self, state: State) -> None:
        self._ended = state[0]
        self.source.restore(state[1])


class Part:
    """The elements that one element of the source stands for."""

    __slots__ = ("made_of", "iterator")

    def __init__(
        self, made_of: Element, run: Function, context: Context,
        wrap: Callable[[Iterator], Iterator] | None = None,
    ) -> None:  # fmt: skip
        dataset = run(*made_of)[0]
        if not isinstance(dataset, Dataset):
            raise errors.invalid(
                f"the function must return a dataset; found {type(dataset).__name__}"
            )
        self.made_of = made_of
        iterator = dataset.iterator(context)
        self.iterator = iterator if wrap is None else wrap(iterator)

    def save(self) -> State:
        return [list(self.made_of), self.iterator.save()]


class FlatMap(Called):
    """The elements of the datasets that the function makes, one dataset after the other."""

    def iterator(self, context: Context) -> Iterator:
        return _FlatMapIterator(self.source.iterator(context), self.run(context), context)


class _FlatMapIterator(Wrapped):
    def __init__(self, source: Iterator, run: Function, context: Context) -> None:
        super().__init__(source)
        self._run, self._context = run, context
        self._part: Part | None = None

    def next(self) -> Element:
        while True:
            if self._part is None:
                self._part = Part(self.source.next(), self._run, self._context)
            try:
                return self._part.iterator.next()
            except EndOfSequence:
                self._part = None
                waiting.check_running()

    def save(self) -> State:
        return [self.source.save(), None if self._part is None else self._part.save()]

    def restore(self, state: State) -> None:
        self.source.restore(state[0])
        self._part = None
        if state[1] is not None:
            self._part = Part(tuple(state[1][0]), self._run, self._context)
            self._part.iterator.restore(state[1][1])


class Scan(Called):
    """What a function makes of each element and a state that it hands on."""

    owned = False

    def __init__(
        self, source: Dataset, initial: Sequence[Any], function: Any, captured: Sequence[Any]
    ) -> None:
        super().__init__(source, function, captured)
        self.initial = own(initial)

    def iterator(self, context: Context) -> Iterator:
        return _ScanIterator(self.source.iterator(context), self.run(context), self.initial)


class _ScanIterator(_MapIterator):
    def __init__(self, source: Iterator, run: Function, initial: Element) -> None:
        super().__init__(source, run)
        self._state = initial

    def next(self) -> Element:
        results = self._run(*self._state, *self.source.next())
        count = len(self._state)
        self._state = results[:count]
        return results[count:]

    def save(self) -> State:
        return [list(self._state), self.source.save()]

    def restore(self, state: State) -> None:
        self._state = tuple(state[0])
        self.source.restore(state[1])


class GroupByWindow(Dataset):
    """Elements of one key, in datasets of up to a window's size, handed to a function.

    Args:
      source: the elements.
      key, reduce, size: functions, each with what it captured: key of an element; dataset from a
        key and a dataset of elements; number of elements from a key.
    """

    def __init__(
        self, source: Dataset, key: tuple[Any, Any], reduce: tuple[Any, Any], size: tuple[Any, Any]
    ) -> None:
        self.source = source
        self.functions = [(f, own(captured)) for f, captured in (key, reduce, size)]

    def iterator(self, context: Context) -> Iterator:
        functions = [context.function(f, c) for f, c in self.functions]
        return _GroupIterator(self.source.iterator(context), functions, context)


class _GroupIterator(Wrapped):
    def __init__(self, source: Iterator, functions: Sequence[Function], context: Context) -> None:
        super().__init__(source)
        self._key, self._reduce, self._size = functions
        self._context = context
        self._groups: dict[int, list[Element]] = {}
        self._sizes: dict[int, int] = {}
        self._ended = False
        self._open: tuple[int, list[Element]] | None = None
        self._part: Iterator | None = None

    def next(self) -> Element:
        while True:
            if self._part is not None:
                try:
                    return self._part.next()
                except EndOfSequence:
                    self._part = self._open = None
            if not self._ended:
                waiting.check_running()
                self._read()
            elif self._groups:
                key = min(self._groups)
                self._start(key, self._groups.pop(key))
            else:
                raise EndOfSequence

    def _read(self) -> None:
        try:
            element = self.source.next()
        except EndOfSequence:
            self._ended = True
            return
        key = int(self._key(*element)[0])
        if key not in self._sizes:
            size = int(self._size(torch.tensor(key))[0])
            if size < 1:
                raise errors.invalid(f"Window size must be greater than zero, but got {size}.")
            self._sizes[key] = size
        group = self._groups.setdefault(key, [])
        group.append(element)
        if len(group) == self._sizes[key]:
            del self._groups[key], self._sizes[key]
            self._start(key, group)

    def _start(self, key: int, elements: list[Element]) -> None:
        self._open = (key, elements)
        dataset = self._reduce(torch.tensor(key), Elements(elements))[0]
        self._part = dataset.iterator(self._context)

    def save(self) -> State:
        return {
            "source": self.source.save(),
            "ended": self._ended,
            "groups": [[k, v] for k, v in self._groups.items()],
            "sizes": [[k, v] for k, v in self._sizes.items()],
            "open": None if self._open is None else list(self._open),
            "part": None if self._part is None else self._part.save(),
        }

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._ended = state["ended"]
        self._groups = {k: [tuple(e) for e in v] for k, v in state["groups"]}
        self._sizes = dict(state["sizes"])
        if state["open"] is not None:
            key, elements = state["open"]
            self._start(key, [tuple(e) for e in elements])
            if self._part is not None:
                self._part.restore(state["part"])


class GroupByReducer(Dataset):
    """One element a key: what a function makes of all elements of the key.

    Args:
      source: the elements.
      functions: key, init, reduce and finalize, each with what it captured.
    """

    def __init__(self, source: Dataset, functions: Sequence[tuple[Any, Any]]) -> None:
        self.source = source
        self.functions = [(f, own(captured)) for f, captured in functions]

    def iterator(self, context: Context) -> Iterator:
        functions = [context.function(f, c) for f, c in self.functions]
        return _ReducerIterator(self.source.iterator(context), functions)


class _ReducerIterator(Wrapped):
    def __init__(self, source: Iterator, functions: Sequence[Function]) -> None:
        super().__init__(source)
        self._key, self._init, self._reduce, self._finalize = functions
        self._states: dict[int, tuple[Any, ...]] = {}
        self._read = False

    def next(self) -> Element:
        while not self._read:
            try:
                element = self.source.next()
            except EndOfSequence:
                self._read = True
                break
            key = int(self._key(*element)[0])
            state = self._states.get(key)
            if state is None:
                state = self._init(torch.tensor(key))
            self._states[key] = self._reduce(*state, *element)
        if not self._states:
            raise EndOfSequence
        return self._finalize(*self._states.pop(min(self._states)))

    def save(self) -> State:
        states = [[key, list(state)] for key, state in self._states.items()]
        return [self._read, states, self.source.save()]

    def restore(self, state: State) -> None:
        self._read = state[0]
        self._states = {key: tuple(values) for key, values in state[1]}
        self.source.restore(state[2])


def reduce(
    dataset: Dataset, initial: Sequence[Any], function: Any, captured: Sequence[Any]
) -> Element:
    """The state after a function has seen all elements."""
    context = Context()
    run = context.function(function, captured)
    iterator = dataset.iterator(context)
    state = own(initial)
    while True:
        try:
            element = iterator.next()
        except EndOfSequence:
            return state
        waiting.check_running()
        state = run(*state, *element)
