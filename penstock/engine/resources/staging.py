"""Staging areas: where steps leave tuples of tensors for later steps.

A ``StagingArea`` is a line of tuples.  A ``MapStagingArea`` keeps tuples under keys; a tuple may be
put in piece by piece (it is *incomplete* until it is whole) and taken piece by piece.  Both have an
optional bound on the number of tuples and on their bytes.  Pieces of incomplete tuples count only
towards the bytes, and the piece that completes a tuple does not wait for a place, as in TensorFlow;
a tuple that is put in whole does.  A key may have a whole tuple and pieces of its next one.

State: the tuples, their bytes, the requests that wait, one lock.  Requests are served by trying
them in the order in which they came, whenever the area has changed.  In a map they wait for
different keys, so that one which can go on does not stand behind one which cannot; puts among
themselves keep their order, and so do gets of the same key.  A request is done in one go or not at
all, so that one that is withdrawn has nothing to give back.

Source: ``Stage``, ``MapStage`` and their kin of TensorFlow 1.15 (bounds, order, errors).  Other
than there, a second whole tuple of a key is refused: TensorFlow accepts and loses it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from penstock.engine.resources import blocking
from penstock.foundation.base import errors

_NOT_YET: Any = object()


class _Request:
    """``attempt()`` gives the result, or ``_NOT_YET``; ``line`` names those that keep order."""

    __slots__ = ("attempt", "line", "what", "waiter", "result", "error", "done", "abandoned")

    def __init__(self, attempt: Callable[[], Any], line: Any, what: str) -> None:
        self.attempt, self.line, self.what = attempt, line, what
        self.waiter: blocking.Waiter | None = None
        self.result: Any = None
        self.error: errors.OpError | None = None
        self.done = self.abandoned = False


class Ticket:
    """A put that was started; a dropped ticket withdraws it if it is not in yet."""

    __slots__ = ("_area", "_request")

    def __init__(self, area: _Area, request: _Request) -> None:
        self._area = area
        self._request: _Request | None = request

    def settle(self) -> None:
        """Waits until it has ended."""
        request, self._request = self._request, None
        if request is not None:
            self._area._finish(request)

    def __del__(self) -> None:
        if self._request is not None:
            self._area._abandon(self._request)


class _Area:
    """What both kinds share: bounds, and the requests that wait."""

    kind = "staging area"

    def __init__(self, name: str, capacity: int, memory_limit: int) -> None:
        self.name, self.capacity, self.memory_limit = name, capacity, memory_limit
        self._lock = threading.Lock()
        self._requests: list[_Request] = []
        self._bytes = 0

    def _request(self, attempt: Callable[[], Any], line: Any, what: str) -> Any:
        return self._finish(self._start(_Request(attempt, line, what)))

    def _start(self, request: _Request) -> _Request:
        with self._lock:
            self._requests.append(request)
            self._serve()
            if not request.done:
                request.waiter = blocking.Waiter()
        return request

    def _finish(self, request: _Request) -> Any:
        if request.waiter is not None:
            blocking.wait(
                request.waiter,
                lambda: self._withdraw(request),
                lambda: self._waits_for(request.what),
            )
        if request.error is not None:
            raise request.error
        return request.result

    def _abandon(self, request: _Request) -> None:
        # The collector may call this at any time, even while this thread holds the lock; then the
        # request is dropped when the area is served next.
        request.abandoned = True
        if self._lock.acquire(blocking=False):
            try:
                self._serve()
            finally:
                self._lock.release()

    def _serve(self) -> None:
        changed = True
        while changed and self._requests:
            changed = False
            blocked: set[Any] = set()
            left: list[_Request] = []
            for request in self._requests:
                if request.abandoned:
                    changed = True
                elif request.line in blocked or not self._advance(request):
                    blocked.add(request.line)
                    left.append(request)
                else:
                    changed = True
            self._requests = left

    @staticmethod
    def _advance(request: _Request) -> bool:
        try:
            request.result = request.attempt()
        except errors.OpError as error:
            request.error = error
        else:
            if request.result is _NOT_YET:
                return False
        request.done = True
        if request.waiter is not None:
            request.waiter.wake()
        return True

    def _withdraw(self, request: _Request) -> bool:
        with self._lock:
            if request.done:
                return False
            self._requests.remove(request)
            self._serve()
            return True

    def _fitting(self, values: Sequence[Any]) -> int:
        """Bytes of a tuple that may be put in at all."""
        size = sum(_bytes_of(v) for v in values)
        if self.memory_limit and size > self.memory_limit:
            raise errors.ResourceExhaustedError(
                None,
                None,
                f"{self._named()}: tensors with a combined size of {size} bytes cannot go into an"
                f" area with a memory limit of {self.memory_limit}",
            )
        return size

    def _over_limit(self, size: int) -> bool:
        return bool(self.memory_limit) and self._bytes + size > self.memory_limit

    def _named(self) -> str:
        return f"{self.kind} {self.name!r}"

    def _waits_for(self, what: str) -> str:
        bounds = f"capacity {self.capacity or 'unbounded'}"
        if self.memory_limit:
            bounds += f", {self._bytes} of {self.memory_limit} bytes used"
        return f"{what} in {self._named()} ({bounds}), which holds {self.size()}"

    def size(self) -> int:
        """The number of whole tuples in it."""
        raise NotImplementedError


class StagingArea(_Area):
    """A line of tuples.

    Args:
      name: for messages.
      capacity: the most tuples; 0: no bound.
      memory_limit: the most bytes; 0: no bound.
    """

    def __init__(self, name: str, capacity: int, memory_limit: int) -> None:
        super().__init__(name, capacity, memory_limit)
        self._line: deque[list[Any]] = deque()

    def put(self, values: Sequence[Any]) -> None:
        """Puts a tuple last; waits while the area is full.

        Raises:
          tf.errors.ResourceExhaustedError: the tuple alone is over the memory limit.
        """
        self.start_put(values).settle()

    def start_put(self, values: Sequence[Any]) -> Ticket:
        """As ``put``, but the waiting is left to ``settle`` of the ticket."""
        size = self._fitting(values)
        own = [_owned(v) for v in values]

        def attempt() -> Any:
            if self.capacity and len(self._line) >= self.capacity or self._over_limit(size):
                return _NOT_YET
            self._line.append(own)
            self._bytes += size
            return None

        return Ticket(self, self._start(_Request(attempt, "put", "room for a tuple")))

    def get(self, dtypes: Sequence[Any]) -> list[Any]:
        """Takes the first tuple out; waits while there is none.

        Raises:
          tf.errors.InvalidArgumentError: its tensors are of other types than ``dtypes`` (torch
            types, ``object`` for strings); it stays.
        """

        def attempt() -> Any:
            if not self._line:
                return _NOT_YET
            values = self._line[0]
            _check_types(self._named(), values, dtypes)
            self._line.popleft()
            self._bytes -= sum(_bytes_of(v) for v in values)
            return values

        values: list[Any] = self._request(attempt, "get", "a tuple")
        return values

    def peek(self, index: int, dtypes: Sequence[Any]) -> list[Any]:
        """Copies of the tuple at a position; waits until there are as many tuples.

        Raises:
          tf.errors.InvalidArgumentError: as ``get``, or the index is negative.
        """
        if index < 0:
            raise errors.invalid(f"{self._named()}: index must be at least 0; found {index}")

        def attempt() -> Any:
            if index >= len(self._line):
                return _NOT_YET
            values = self._line[index]
            _check_types(self._named(), values, dtypes)
            return [_owned(v) for v in values]

        values: list[Any] = self._request(attempt, object(), f"tuple number {index}")
        return values

    def size(self) -> int:
        """The number of tuples in it."""
        return len(self._line)

    def clear(self) -> None:
        """Drops all tuples."""
        with self._lock:
            self._line.clear()
            self._bytes = 0
            self._serve()


class MapStagingArea(_Area):
    """Tuples by key.

    Args:
      name: for messages.
      capacity, memory_limit: as for ``StagingArea``.
      ordered: whether ``get_any`` gives the smallest key, or the one that was whole first.
    """

    kind = "map staging area"

    def __init__(self, name: str, capacity: int, memory_limit: int, ordered: bool) -> None:
        super().__init__(name, capacity, memory_limit)
        self._ordered = ordered
        # A component that is not there (yet, or any more) is None.
        self._whole: dict[int, list[Any]] = {}
        self._incomplete: dict[int, list[Any]] = {}

    def put(self, key: int, indices: Sequence[int], values: Sequence[Any], count: int) -> None:
        """Puts components of the tuple of a key in; waits while the area is full.

        All components at once are a tuple of their own, whatever pieces of the key there are.

        Args:
          key: of the tuple.
          indices: which components.
          values: the components.
          count: how many components the whole tuple has.

        Raises:
          tf.errors.InvalidArgumentError: components that do not fit, or are there already, or
            that complete a second tuple of the key.
          tf.errors.ResourceExhaustedError: they alone are over the memory limit.
        """
        self.start_put(key, indices, values, count).settle()

    def start_put(
        self, key: int, indices: Sequence[int], values: Sequence[Any], count: int
    ) -> Ticket:
        """As ``put``, but the waiting is left to ``settle`` of the ticket."""
        self._check_put(indices, values, count)
        size = self._fitting(values)
        own = [_owned(v) for v in values]
        what = f"room for the tuple of key {key}"
        request = _Request(lambda: self._put(key, indices, own, count, size), "put", what)
        return Ticket(self, self._start(request))

    def get(self, key: int, indices: Sequence[int], dtypes: Sequence[Any]) -> list[Any]:
        """Takes components of a key's tuple out; waits until the tuple is whole.

        Raises:
          tf.errors.InvalidArgumentError: no such component, or it was taken already; or the
            indices do not increase.
        """
        return self._take(lambda: key, indices, dtypes, ("get", key), f"key {key}")[1]

    def get_any(
        self, indices: Sequence[int], dtypes: Sequence[Any]
    ) -> tuple[torch.Tensor, list[Any]]:
        """Takes components of some key's tuple out; waits until there is a tuple."""
        key, values = self._take(self._next_key, indices, dtypes, "get any", "a tuple")
        return torch.tensor(key, dtype=torch.int64), values

    def peek(self, key: int, indices: Sequence[int], dtypes: Sequence[Any]) -> list[Any]:
        """Copies of components of a key's tuple; waits until the tuple is whole."""
        self._check_order(indices)

        def attempt() -> Any:
            values = self._whole.get(key)
            if values is None:
                return _NOT_YET
            self._check_get(key, values, indices, dtypes)
            return [_owned(values[i]) for i in indices]

        found: list[Any] = self._request(attempt, object(), f"key {key}")
        return found

    def size(self) -> int:
        """The number of whole tuples in it."""
        return len(self._whole)

    def incomplete_size(self) -> int:
        """The number of tuples that lack components."""
        return len(self._incomplete)

    def clear(self) -> None:
        """Drops everything, incomplete tuples too."""
        with self._lock:
            self._whole.clear()
            self._incomplete.clear()
            self._bytes = 0
            self._serve()

    # ---- under the lock ----------------------------------------------------------------------

    def _next_key(self) -> int | None:
        if not self._whole:
            return None
        return min(self._whole) if self._ordered else next(iter(self._whole))

    def _check_put(self, indices: Sequence[int], values: Sequence[Any], count: int) -> None:
        if not values:
            raise errors.invalid(f"{self._named()}: empty values are not allowed")
        if len(indices) != len(values):
            raise errors.invalid(
                f"{self._named()}: {len(values)} value(s) need as many indices; found {indices}"
            )
        self._check_order(indices)
        self._check_indices(indices, count)

    def _check_order(self, indices: Sequence[int]) -> None:
        if any(a >= b for a, b in zip(indices, indices[1:])):
            raise errors.invalid(f"{self._named()}: indices must increase; found {indices}")

    def _check_indices(self, indices: Sequence[int], count: int) -> None:
        if not all(0 <= i < count for i in indices):
            raise errors.invalid(
                f"{self._named()}: indices must be from 0 to {count - 1}; found {indices}"
            )

    def _put(
        self, key: int, indices: Sequence[int], values: list[Any], count: int, size: int
    ) -> Any:
        whole = len(indices) == count
        pieces = None if whole else self._incomplete.get(key)
        taken = [i for i in indices if pieces is not None and pieces[i] is not None]
        if taken:
            raise errors.invalid(
                f"{self._named()}: the tuple of key {key} has components {taken} already"
            )
        merged: list[Any] = [None] * count if pieces is None else list(pieces)
        for index, value in zip(indices, values):
            merged[index] = value
        completes = all(v is not None for v in merged)
        if completes and key in self._whole:
            raise errors.invalid(f"{self._named()}: there is a whole tuple of key {key} already")
        full = whole and bool(self.capacity) and len(self._whole) >= self.capacity
        if full or self._over_limit(size):
            return _NOT_YET
        self._bytes += size
        if not completes:
            self._incomplete[key] = merged
            return None
        if not whole:
            self._incomplete.pop(key, None)
        self._whole[key] = merged
        return None

    def _take(
        self,
        choose: Callable[[], int | None],
        indices: Sequence[int],
        dtypes: Sequence[Any],
        line: Any,
        what: str,
    ) -> tuple[int, list[Any]]:
        self._check_order(indices)

        def attempt() -> Any:
            key = choose()
            values = None if key is None else self._whole.get(key)
            if key is None or values is None:
                return _NOT_YET
            self._check_get(key, values, indices, dtypes)
            found = [values[i] for i in indices]
            for i in indices:
                values[i] = None
            self._bytes -= sum(_bytes_of(v) for v in found)
            if all(v is None for v in values):
                del self._whole[key]
            return key, found

        taken: tuple[int, list[Any]] = self._request(attempt, line, what)
        return taken

    def _check_get(
        self, key: int, values: list[Any], indices: Sequence[int], dtypes: Sequence[Any]
    ) -> None:
        self._check_indices(indices, len(values))
        gone = [i for i in indices if values[i] is None]
        if gone:
            raise errors.invalid(
                f"{self._named()}: components {gone} of key {key} have been taken already"
            )
        _check_types(self._named(), [values[i] for i in indices], dtypes)


def _check_types(named: str, values: Sequence[Any], dtypes: Sequence[Any]) -> None:
    found = [v.dtype if isinstance(v, torch.Tensor) else object for v in values]
    if found != list(dtypes):
        raise errors.invalid(
            f"{named}: tensors of types {list(dtypes)} are asked for; found {found}"
        )


def _owned(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone(memory_format=torch.contiguous_format)
    return np.array(value, object)


def _bytes_of(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return sum(len(item) for item in value.flat)
