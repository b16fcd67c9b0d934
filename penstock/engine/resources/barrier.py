"""A barrier: elements that are put together piece by piece, and taken out when they are whole.

Each element has a key.  ``insert_many`` brings one component for several keys; an element that has
all of its components is *ready*.  ``take_many`` gives ready elements out in the order of their
indices; the index of an element is the number of the insertion that first named its key, counted
from -2^63, and elements of one index come in the order in which they became ready.

State: the incomplete elements by key; the ready ones in a heap; the line of takes that wait, each
served strictly in its turn; whether the barrier is closed, and whether incomplete elements may
still be completed; one lock for all of it.  A take gets all of its elements at once or waits, so
that one that is withdrawn (deadline, cancelled session) has nothing to give back.

Source: the barrier of TensorFlow 1.15 (order, errors, closing).
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.engine.resources import blocking
from penstock.foundation.base import errors

Dims = tuple[int, ...]
Taken = tuple[torch.Tensor, np.ndarray, list[Any]]
_FIRST_INDEX = -(2**63)


class _Element:
    __slots__ = ("index", "key", "components", "missing")

    def __init__(self, index: int, key: bytes, count: int) -> None:
        self.index, self.key, self.missing = index, key, count
        self.components: list[Any] = [None] * count


class _Take:
    """One request; ``elements`` is set when it was served, ``error`` when it cannot be."""

    __slots__ = ("count", "small", "waiter", "elements", "error")

    def __init__(self, count: int, small: bool) -> None:
        self.count, self.small = count, small
        self.waiter: blocking.Waiter | None = None
        self.elements: list[_Element] | None = None
        self.error: errors.OpError | None = None


class Barrier:
    """Elements by key, put together from their components.

    Args:
      name: for messages.
      dtypes: torch dtype of each component, ``object`` for strings.
      shapes: dims of each component.
    """

    def __init__(self, name: str, dtypes: Sequence[Any], shapes: Sequence[Dims]) -> None:
        self.name = name
        self._dtypes = list(dtypes)
        self._shapes = list(shapes)
        self._lock = threading.Lock()
        self._incomplete: dict[bytes, _Element] = {}
        self._ready: list[tuple[int, int, _Element]] = []
        self._completed = itertools.count()
        self._next_index = _FIRST_INDEX
        self._takes: deque[_Take] = deque()
        self._closed = self._cancelled = False

    # ---- what ops call -----------------------------------------------------------------------

    def insert_many(self, component_index: int, keys: Any, values: Any) -> None:
        """Sets one component of the elements of these keys.

        Args:
          component_index: which component.
          keys: object array of bytes, shape [n].
          values: shape [n, ...].

        Raises:
          tf.errors.InvalidArgumentError: operands that do not fit, or a component set twice; the
            keys before it stay inserted.
          tf.errors.CancelledError: the barrier is closed and a key is new, or it was cancelled.
        """
        self._check_insert(component_index, keys, values)
        with self._lock:
            try:
                self._insert(component_index, keys, values)
            finally:
                self._serve()

    def take_many(self, count: int, allow_small_batch: bool = False) -> Taken:
        """Takes ready elements out; waits until there are ``count``.

        Args:
          count: how many.
          allow_small_batch: of a closed barrier, take what is ready if that is anything, and
            wait for nothing.

        Returns:
          The indices [count] int64, the keys [count], and one batch a component.

        Raises:
          tf.errors.OutOfRangeError: the barrier is closed and has too few elements.
          tf.errors.InvalidArgumentError: the count is negative.
        """
        if count < 0:
            raise errors.invalid(
                f"{self._named()}: {count} elements were asked for; wanted 0 or more"
            )
        if not count and not self._closed:
            return self._batch([])
        take = _Take(count, allow_small_batch)
        with self._lock:
            self._takes.append(take)
            self._serve()
            if take.elements is None and take.error is None:
                take.waiter = blocking.Waiter()
        if take.waiter is not None:
            blocking.wait(take.waiter, lambda: self._withdraw(take), lambda: self._told(count))
        if take.error is not None:
            raise take.error
        assert take.elements is not None
        return self._batch(take.elements)

    def close(self, cancel_pending_enqueues: bool = False) -> None:
        """Refuses new keys; with ``cancel_pending_enqueues`` also drops incomplete elements.

        Raises:
          tf.errors.CancelledError: it is closed already, and as far.
        """
        with self._lock:
            if self._closed and (self._cancelled or not cancel_pending_enqueues):
                how = "closed and cancelled" if self._cancelled else "closed"
                raise errors.CancelledError(None, None, f"{self._named()} is already {how}")
            self._closed = True
            if cancel_pending_enqueues:
                self._cancelled = True
                self._incomplete.clear()
            self._serve()

    def ready_size(self) -> int:
        """The number of elements that can be taken."""
        return len(self._ready)

    def incomplete_size(self) -> int:
        """The number of elements that lack components."""
        return len(self._incomplete)

    # ---- insertion, under the lock -----------------------------------------------------------

    def _check_insert(self, component: int, keys: Any, values: Any) -> None:
        if not 0 <= component < len(self._dtypes):
            raise errors.invalid(
                f"{self._named()} has components 0 to {len(self._dtypes) - 1}; found"
                f" component_index {component}"
            )
        if len(keys.shape) != 1 or not len(values.shape) or values.shape[0] != keys.shape[0]:
            raise errors.invalid(
                f"{self._named()}: keys must be a vector and values have one row a key; found"
                f" shapes {list(keys.shape)} and {list(values.shape)}"
            )
        kind = values.dtype if isinstance(values, torch.Tensor) else object
        if kind is not self._dtypes[component]:
            raise errors.invalid(
                f"{self._named()}: component {component} is {_type_name(self._dtypes[component])};"
                f" found values of {_type_name(kind)}"
            )

    def _insert(self, component: int, keys: Any, values: Any) -> None:
        if self._cancelled:
            raise errors.CancelledError(
                None, None, f"{self._named()} is closed and its incomplete elements are dropped"
            )
        own = values.clone() if isinstance(values, torch.Tensor) else values.copy()
        new = False
        for row, key in enumerate(keys):
            element = self._incomplete.get(key)
            if element is None:
                if self._closed:
                    raise errors.CancelledError(
                        None,
                        None,
                        f"{self._named()} is closed, but attempted to insert a new key: {key!r}",
                    )
                element = _Element(self._next_index, key, len(self._dtypes))
                self._incomplete[key] = element
                new = True
            elif element.components[component] is not None:
                raise errors.invalid(
                    f"{self._named()}: key {key!r} already has a value for component {component}"
                )
            element.components[component] = own[row : row + 1]
            element.missing -= 1
            if not element.missing:
                del self._incomplete[key]
                self._check_shapes(element)
                heapq.heappush(self._ready, (element.index, next(self._completed), element))
        self._next_index += new

    def _check_shapes(self, element: _Element) -> None:
        for i, (value, dims) in enumerate(zip(element.components, self._shapes)):
            found = tuple(value.shape[1:])
            if found != dims:
                raise errors.invalid(
                    f"{self._named()}: shape mismatch in component {i} of key {element.key!r}:"
                    f" expected {list(dims)}, got {list(found)}; the element is dropped"
                )

    # ---- taking, under the lock --------------------------------------------------------------

    def _serve(self) -> None:
        while self._takes and self._advance(self._takes[0]):
            take = self._takes.popleft()
            if take.waiter is not None:
                take.waiter.wake()

    def _advance(self, take: _Take) -> bool:
        """Serves or fails the take; False when it has to wait."""
        ready, wanted = len(self._ready), take.count
        if self._closed:
            # Of a closed barrier that has nothing left not even 0 elements can be taken.
            coming = 0 if take.small else len(self._incomplete)
            if ready + coming < (1 if take.small else max(wanted, 1)):
                take.error = self._too_few(wanted)
                return True
            if take.small:
                wanted = min(wanted, ready)
        if ready < wanted:
            return False
        take.elements = [heapq.heappop(self._ready)[2] for _ in range(wanted)]
        return True

    def _withdraw(self, take: _Take) -> bool:
        with self._lock:
            if take not in self._takes:
                return False
            self._takes.remove(take)
            self._serve()
            return True

    def _batch(self, elements: list[_Element]) -> Taken:
        indices = torch.tensor([e.index for e in elements], dtype=torch.int64)
        keys = np.empty(len(elements), object)
        keys[:] = [e.key for e in elements]
        parts = [[e.components[i] for e in elements] for i in range(len(self._dtypes))]
        return indices, keys, [self._joined(i, part) for i, part in enumerate(parts)]

    def _joined(self, component: int, parts: list[Any]) -> Any:
        if not parts:
            dims, dtype = (0, *self._shapes[component]), self._dtypes[component]
            return np.empty(dims, object) if dtype is object else torch.empty(dims, dtype=dtype)
        if isinstance(parts[0], torch.Tensor):
            return torch.cat(parts)
        return np.concatenate(parts)

    def _too_few(self, count: int) -> errors.OutOfRangeError:
        return errors.OutOfRangeError(
            None,
            None,
            f"{self._named()} is closed and has insufficient elements (requested {count}, total"
            f" size {len(self._ready) + len(self._incomplete)})",
        )

    def _named(self) -> str:
        return f"Barrier {self.name!r}"

    def _told(self, count: int) -> str:
        return (
            f"{count} element(s) asked of {self._named()}, which has {len(self._ready)} ready and"
            f" {len(self._incomplete)} incomplete"
        )


def _type_name(dtype: Any) -> str:
    return "string" if dtype is object else str(dtype).removeprefix("torch.")
