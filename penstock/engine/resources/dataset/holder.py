"""The resource behind an iterator's handle: which iterator is current.

State: the dataset of the last initialization and the iterator over it, or a position that was
restored before there was one; a line of steps that want an element.  String handles find a resource
by a number; resources are kept by their session alone.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator as Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from penstock.engine.resources import blocking
from penstock.engine.resources.dataset import state as states
from penstock.engine.resources.dataset.base import (
    Context,
    Dataset,
    Element,
    EndOfSequence,
    Iterator,
    own,
)
from penstock.foundation.base import errors

_numbers = itertools.count()
_known: weakref.WeakValueDictionary[bytes, IteratorHolder] = weakref.WeakValueDictionary()


class _Turn:
    """A lock that is handed on in the order of asking, waited for as blocked ops wait."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._held = False
        self._line: deque[blocking.Waiter] = deque()

    @contextmanager
    def __call__(self) -> Iterable[None]:
        with self._lock:
            waiter = None
            if self._held:
                waiter = blocking.Waiter()
                self._line.append(waiter)
            self._held = True
        if waiter is not None:
            mine = waiter
            blocking.wait(mine, lambda: self._withdraw(mine), lambda: f"iterator {self._name!r}")
        try:
            yield
        finally:
            with self._lock:
                if self._line:
                    self._line.popleft().wake()
                else:
                    self._held = False

    def _withdraw(self, waiter: blocking.Waiter) -> bool:
        with self._lock:
            if waiter not in self._line:
                return False
            self._line.remove(waiter)
            return True


class IteratorHolder:
    """An iterator of a session.

    Args:
      name: of the iterator's node, for messages.
      types: torch dtypes of an element's components, ``object`` for others.
      shapes: their static shapes.
      make: makes the dataset, where there is no initializer to do so.
    """

    def __init__(
        self,
        name: str,
        types: list[Any],
        shapes: Sequence[Any],
        make: Callable[[], Dataset] | None = None,
    ) -> None:
        self.name, self.types, self.shapes = name, types, shapes
        self.handle = f"penstock/iterator/{next(_numbers)}/{name}".encode()
        self._make = make
        self._turn = _Turn(name)
        self._dataset: Dataset | None = None
        self._iterator: Iterator | None = None
        self._restored: Any = None
        _known[self.handle] = self

    def initialize(self, dataset: Dataset) -> None:
        """Starts over with a dataset; goes on where a checkpoint was, if one waits to be used."""
        with self._turn():
            self._start(dataset)
            if self._restored is not None:
                state, self._restored = self._restored, None
                self._iterator.restore(state)  # type: ignore[union-attr]

    def _start(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._iterator = dataset.iterator(Context())

    def _current(self, what: str) -> tuple[Dataset, Iterator]:
        if self._iterator is None and self._make is not None:
            self._start(self._make())
        if self._iterator is None or self._dataset is None:
            waits = "; it goes on where the checkpoint was" if self._restored is not None else ""
            raise errors.FailedPreconditionError(
                None, None,
                f"{what} failed because the iterator has not been initialized. Ensure that you have"
                " run the initializer operation for this iterator before getting the next"
                f" element{waits}.",
            )  # fmt: skip
        return self._dataset, self._iterator

    def next(self) -> Element:
        """The next element, its memory the caller's.

        Raises:
          tf.errors.OutOfRangeError: there is none.
          tf.errors.FailedPreconditionError: it was not initialized.
        """
        with self._turn():
            dataset, iterator = self._current("GetNext()")
            try:
                element = iterator.next()
            except EndOfSequence:
                raise errors.OutOfRangeError(None, None, "End of sequence") from None
        self._check(element)
        return element if dataset.owned else own(element)

    def _check(self, element: Element) -> None:
        for index, (value, wanted) in enumerate(zip(element, self.types)):
            found = value.dtype if isinstance(value, torch.Tensor) else object
            if found is not wanted:
                raise errors.invalid(
                    f"component {index} of the element has type {found}, not {wanted}"
                )

    def save(self) -> bytes:
        """The position."""
        with self._turn():
            return states.encode(self._current("SerializeIterator")[1].save())

    def restore(self, data: bytes) -> None:
        """Goes on at a position that was saved; at the next initialization if there was none."""
        state = states.decode(data)
        with self._turn():
            dataset = self._dataset
            if dataset is None and self._make is not None:
                dataset = self._make()
            if dataset is None:
                self._restored = state
                return
            self._start(dataset)
            self._iterator.restore(state)  # type: ignore[union-attr]


def find(handle: bytes) -> IteratorHolder:
    """The iterator of a string handle.

    Raises:
      tf.errors.NotFoundError: its session is closed, or the string is no handle.
    """
    found = _known.get(handle)
    if found is None:
        raise errors.NotFoundError(None, None, f"no iterator has the handle {handle!r}")
    return found
