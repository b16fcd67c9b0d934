"""Elements kept after the first pass: in memory, or in a file.

A cache is complete once an iterator has come to the end of its source; iterators that begin before
make the elements anew.  A file is written whole, under a temporary name, when it is complete; one
iterator at a time collects for it, and holds a lock until it ends, is dropped or its process dies.

State: the elements, of the dataset; of an iterator, how many it gave and what it has collected.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import weakref
from typing import Any, TextIO

from penstock.engine.resources.dataset import state as states
from penstock.engine.resources.dataset.base import (
    UNKNOWN,
    Context,
    Dataset,
    Element,
    EndOfSequence,
    Iterator,
    State,
)  # fmt: skip
from penstock.foundation.base import errors

_SUFFIX = ".cache"
_LOCK_SUFFIX = "_0.lockfile"


class _Lock:
    """That nobody else collects elements for a file.

    Args:
      path: of the lock's own file.

    Raises:
      tf.errors.AlreadyExistsError: somebody does.
    """

    def __init__(self, path: str) -> None:
        file = open(path, "w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise errors.AlreadyExistsError(
                None, None,
                "There appears to be a concurrent caching iterator running - cache lockfile already"
                f" exists ({path!r}): one iterator at a time may collect elements for a file",
            ) from None  # fmt: skip
        self.release = weakref.finalize(self, _unlock, file, path)


def _unlock(file: TextIO, path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    fcntl.flock(file, fcntl.LOCK_UN)  # a forked process may have the file open as well
    file.close()


class Cache(Dataset):
    """The elements of the source, made once.

    Args:
      source: the elements.
      path: of a file, without its suffix; the empty string: in memory.
    """

    def __init__(self, source: Dataset, path: str = "") -> None:
        self.source = source
        self._path = path and path + _SUFFIX
        self._lock_path = path and path + _LOCK_SUFFIX
        self._lock = threading.Lock()
        self._elements: list[Element] | None = None

    def elements(self) -> list[Element] | None:
        """All elements, once they are known."""
        with self._lock:
            if self._elements is None and self._path and os.path.exists(self._path):
                with open(self._path, "rb") as file:
                    self._elements = [tuple(e) for e in states.decode(file.read())]
            return self._elements

    def lock(self) -> _Lock | None:
        """The lock for collecting elements; None where they are kept in memory."""
        return _Lock(self._lock_path) if self._lock_path else None

    def complete(self, elements: list[Element]) -> None:
        """Takes the elements of a pass that came to its end."""
        with self._lock:
            if self._elements is not None:
                return
            self._elements = elements
            if self._path:
                temporary = f"{self._path}.{os.getpid()}"
                with open(temporary, "wb") as file:
                    file.write(states.encode([list(e) for e in elements]))
                os.replace(temporary, self._path)

    def iterator(self, context: Context) -> Iterator:
        return _CacheIterator(self, context)

    def cardinality(self) -> int:
        n = self.source.cardinality()
        return n if n != UNKNOWN or self._elements is None else len(self._elements)


class _CacheIterator(Iterator):
    def __init__(self, dataset: Cache, context: Context) -> None:
        self._dataset, self._context = dataset, context
        self._known = dataset.elements()
        self._position = 0
        self._collected: list[Element] = []
        self._lock: _Lock | None = None
        self._source = dataset.source.iterator(context) if self._known is None else None

    def next(self) -> Element:
        if self._source is not None:
            if self._lock is None:
                self._lock = self._dataset.lock()
            try:
                element = self._source.next()
            except EndOfSequence:
                self._dataset.complete(self._collected)
                if self._lock is not None:
                    self._lock.release()
                self._known, self._source = self._collected, None
                self._position = len(self._collected)
                raise
            self._collected.append(element)
            return element
        assert self._known is not None
        if self._position >= len(self._known):
            raise EndOfSequence
        self._position += 1
        return self._known[self._position - 1]

    def save(self) -> State:
        source: Any = None if self._source is None else self._source.save()
        known = self._known if self._known is not None else self._collected
        return [self._known is not None, self._position, [list(e) for e in known], source]

    def restore(self, state: State) -> None:
        complete, self._position, elements, source = state
        known = [tuple(e) for e in elements]
        if complete:
            self._dataset.complete(known)
            self._known, self._source = known, None
            return
        self._known, self._collected = None, known
        self._source = self._dataset.source.iterator(self._context)
        self._source.restore(source)
