"""What all datasets and their iterators share.

A dataset is a value: it has no position.  ``iterator(context)`` starts one; ``next()`` gives the
elements, tuples of run-time values (torch tensors, object arrays for strings and variants, datasets
of windows), and raises ``EndOfSequence`` after the last one and ever after.  ``save()`` gives the
position as plain values (see ``state.py``), which ``restore()`` of a fresh iterator over an equal
dataset continues at.

The memory of an element may be shared (a slice of the data, an element of a cache) unless the
dataset is ``owned``: then whoever takes an element may do with it what they like.

State: a context has the functions that the iterators of one initialization call.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from penstock.engine.resources import python_workers, waiting
from penstock.foundation.base import errors

Element = tuple[Any, ...]
State = Any
Function = Callable[..., tuple[Any, ...]]
INFINITE, UNKNOWN = -1, -2


class EndOfSequence(Exception):
    """There are no further elements."""


class Context:
    """What the iterators of one initialization share: their functions, what cancels them."""

    def __init__(self) -> None:
        self.cancellation = waiting.current_cancellation()
        self._functions: dict[int, tuple[Any, Function]] = {}
        self._lock = threading.Lock()
        self._workers: python_workers.Pool | None = None
        self.statistics: Any = None  # takes what datasets measure

    def with_workers(self, count: int) -> Context:
        """The same, but Python functions run in that many processes at most."""
        made = copy.copy(self)
        made._workers = python_workers.pool_of(self.cancellation, count)
        return made

    def with_statistics(self, statistics: Any) -> Context:
        """The same, but what datasets measure is added to ``statistics``."""
        made = copy.copy(self)
        made.statistics = statistics
        return made

    def function(self, function: Any, captured: Sequence[Any] = ()) -> Function:
        """The function, ready to be called with an element's components.

        What it raises as the end of its own input (OutOfRangeError) ends the iteration.
        """
        with self._lock:
            key = id(function)
            if key not in self._functions:
                # The function is kept, so that its id stays its own.
                self._functions[key] = (function, function.instance())
            run = self._functions[key][1]
        extra, workers = tuple(captured), self._workers

        def call(*args: Any) -> tuple[Any, ...]:
            try:
                return run(*args, *extra)
            except errors.OutOfRangeError as error:
                raise EndOfSequence from error

        def call_with(*args: Any) -> tuple[Any, ...]:
            with python_workers.used(pool):
                return call(*args)

        if workers is None:
            return call
        pool = workers
        return call_with


class Iterator:
    """A position in a dataset."""

    def next(self) -> Element:
        """The next element.

        Raises:
          EndOfSequence: there is none.
        """
        raise NotImplementedError

    def save(self) -> State:
        """The position."""
        raise errors.UnimplementedError(
            None, None, f"the position of {type(self).__name__} cannot be saved"
        )

    def restore(self, state: State) -> None:
        """Goes on at a position that ``save`` gave."""
        raise NotImplementedError


class Dataset:
    """A sequence of elements."""

    # Whether the memory of an element belongs to whoever takes it.
    owned = False

    def iterator(self, context: Context) -> Iterator:
        """A new iterator, at the start."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """The number of elements, INFINITE or UNKNOWN."""
        return UNKNOWN


class Wrapped(Iterator):
    """An iterator over one other; its position is the other's."""

    def __init__(self, source: Iterator) -> None:
        self.source = source

    def save(self) -> State:
        return self.source.save()

    def restore(self, state: State) -> None:
        self.source.restore(state)


def own(values: Sequence[Any]) -> Element:
    """Copies of values that their makers may change: variables, what a caller feeds."""
    return tuple(v.clone() if isinstance(v, torch.Tensor) else _own_array(v) for v in values)


def _own_array(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def row(component: Any, index: int) -> Any:
    """One slice along the first dim."""
    if isinstance(component, torch.Tensor):
        return component[index]
    return component[index : index + 1].reshape(component.shape[1:])


def dims_of(component: Any) -> list[int]:
    """The shape of a component, for messages and comparisons."""
    return list(getattr(component, "shape", ()))


def stacked(elements: Sequence[Element]) -> Element:
    """Elements as one batch, in memory of its own.

    Raises:
      tf.errors.InvalidArgumentError: their shapes differ.
    """
    batch = []
    for index, column in enumerate(zip(*elements, strict=True)):
        first = column[0]
        try:
            batch.append(stack(column))
        except (RuntimeError, ValueError) as error:
            wanted = dims_of(first)
            for position, value in enumerate(column):
                if dims_of(value) != wanted:
                    raise errors.invalid(
                        f"Cannot batch tensors with different shapes in component {index}. First"
                        f" element had shape {wanted} and element {position} had shape"
                        f" {dims_of(value)}."
                    ) from None
            raise error
    return tuple(batch)


def stack(column: Sequence[Any]) -> Any:
    """Values of one shape along a new first dim."""
    first = column[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(list(column))
    if isinstance(first, np.ndarray):
        return np.stack(list(column))
    raise errors.UnimplementedError(None, None, "datasets cannot be put into a batch")
