"""Datasets in turns: a function makes a dataset of each element, and several are open at once.

In parallel, a fixed number of threads (*readers*) make the next elements of all that are open, each
into a small buffer; a thread makes one element and then looks who waits longest.  What fails is
kept in the place of its element, also where a dataset cannot be opened.

Threads hold the buffers that they fill and never the iterator, whose end ends them.

State of an iterator: that of its source; of each open dataset the element that it was made of, its
iterator's and its buffer; whose turn it is.
"""

from __future__ import annotations

import queue
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from penstock.engine.resources import blocking, ending, threads, waiting
from penstock.engine.resources.dataset.base import (
    Context,
    Dataset,
    Element,
    EndOfSequence,
    Iterator,
    State,
    Wrapped,
)  # fmt: skip
from penstock.engine.resources.dataset.functional import Called, Part
from penstock.engine.resources.dataset.outcomes import (
    Outcome,
    made,
    restored,
    saved,
    saved_ahead,
    taken,
)
from penstock.foundation.base import errors

Wrap = Callable[[Iterator], Iterator]


class Interleave(Called):
    """The elements of the datasets that the function makes, in turns.

    Args:
      source, function, captured: what makes the datasets.
      cycle: how many are open at once.
      block: how many elements of one come together.
      readers: how many threads read ahead; 0: whoever asks for an element makes it.
      ahead: how many elements are read ahead of each.
    """

    def __init__(
        self, source: Dataset, function: Any, captured: Sequence[Any], cycle: int, block: int,
        readers: int = 0, ahead: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(source, function, captured)
        for name, value in (("cycle_length", cycle), ("block_length", block)):
            if value < 1:
                raise errors.invalid(f"`{name}` must be > 0; found {value}")
        self.cycle, self.block = cycle, block
        self.readers, self.ahead = readers, max(ahead, 1)

    def iterator(self, context: Context) -> Iterator:
        return _InterleaveIterator(self, self.source.iterator(context), context)


class _Failed:
    """What stands in the place of a dataset that could not be opened."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def save(self) -> State:
        return saved((None, self.error))


class _InterleaveIterator(Wrapped):
    def __init__(self, dataset: Interleave, source: Iterator, context: Context) -> None:
        super().__init__(source)
        self._dataset, self._context = dataset, context
        self._run = dataset.run(context)
        self._wrap: Wrap | None = None
        if dataset.readers:
            readers = _Readers(dataset.readers, context.cancellation)
            weakref.finalize(self, readers.stop).atexit = False
            ahead = dataset.ahead
            self._wrap = lambda iterator: _ReadAhead(iterator, ahead, readers)
        self._parts: list[Part | _Failed | None] = [None] * dataset.cycle
        self._slot = self._given = 0
        self._ended = False

    def next(self) -> Element:
        if self._wrap is not None:
            self._open_all()
        while not self._ended or any(self._parts):
            part = self._parts[self._slot]
            if isinstance(part, _Failed):
                self._parts[self._slot] = None
                self._advance()
                raise part.error
            if part is not None:
                try:
                    element = part.iterator.next()
                except EndOfSequence:
                    self._parts[self._slot] = None
                    self._advance()
                    continue
                self._given += 1
                if self._given == self._dataset.block:
                    self._advance()
                return element
            if self._ended or not self._open(self._slot):
                self._advance()
        raise EndOfSequence

    def _open_all(self) -> None:
        """Opens what will be read next, so that all are read ahead at the same time."""
        for slot in range(self._dataset.cycle):
            at = (self._slot + slot) % self._dataset.cycle
            if self._ended:
                return
            if self._parts[at] is None:
                try:
                    self._open(at)
                except (errors.CancelledError, errors.DeadlineExceededError):
                    raise
                except errors.OpError as error:
                    self._parts[at] = _Failed(error)

    def _open(self, slot: int) -> bool:
        waiting.check_running()
        try:
            element = self.source.next()
        except EndOfSequence:
            self._ended = True
            return False
        part = self._parts[slot] = Part(element, self._run, self._context, self._wrap)
        if isinstance(part.iterator, _ReadAhead):
            part.iterator.start()
        return True

    def _advance(self) -> None:
        self._given = 0
        self._slot = (self._slot + 1) % self._dataset.cycle

    def save(self) -> State:
        parts = [None if p is None else p.save() for p in self._parts]
        return [self.source.save(), parts, self._slot, self._given, self._ended]

    def restore(self, state: State) -> None:
        self.source.restore(state[0])
        self._slot, self._given, self._ended = state[2:]
        for index, kept in enumerate(state[1]):
            if isinstance(kept, dict):
                error = restored(kept)[1]
                self._parts[index] = None if error is None else _Failed(error)
            elif kept is not None:
                part = Part(tuple(kept[0]), self._run, self._context, self._wrap)
                part.iterator.restore(kept[1])
                self._parts[index] = part


class _Readers:
    """Threads that make elements ahead, for the buffers that have room, one element at a time."""

    def __init__(self, count: int, cancellation: waiting.Cancellation | None) -> None:
        self._tasks: queue.SimpleQueue[_Buffer | None] = queue.SimpleQueue()
        self._count, self._started = count, 0
        self._cancellation = cancellation

    def add(self, buffer: _Buffer) -> None:
        """Has a thread make the next element of a buffer; called by the consumer alone."""
        if self._started < self._count:
            self._started += 1
            target, args = _read, (self._tasks, self._cancellation)
            threading.Thread(
                target=target, args=args, name="penstock interleave", daemon=True
            ).start()
        self._tasks.put(buffer)

    def stop(self) -> None:
        for _ in range(self._started):
            self._tasks.put(None)


@ending.in_steps
def _read(
    tasks: queue.SimpleQueue[_Buffer | None], cancellation: waiting.Cancellation | None
) -> None:
    threads.compute_alone()
    with waiting.running(cancellation):
        while (buffer := _next_of(tasks)) is not None:
            if buffer.make_one():
                tasks.put(buffer)
            del buffer


def _next_of(tasks: queue.SimpleQueue[_Buffer | None]) -> _Buffer | None:
    return tasks.get()


ending.waits_in(_next_of)


class _Buffer:
    """What readers and the consumer of one dataset share."""

    def __init__(self, source: Iterator, size: int) -> None:
        self.source, self.size = source, size
        self.lock = threading.Lock()
        self.items: deque[Outcome] = deque()
        self.waiter: blocking.Waiter | None = None
        # Whether it is in the readers' line; the end was met; the consumer gave it up.
        self.queued = self.ended = self.dropped = False
        # Held while an element is made.
        self.making = threading.Lock()

    def make_one(self) -> bool:
        """Makes an element; says whether there is room for one more."""
        with self.making:
            if self.dropped:
                return False
            outcome = made(self.source.next)
            with self.lock:
                self.ended = isinstance(outcome[1], EndOfSequence)
                self.items.append(outcome)
                if self.waiter is not None:
                    self.waiter.wake()
                    self.waiter = None
                self.queued = not self.ended and len(self.items) < self.size
                return self.queued


class _ReadAhead(Iterator):
    """An iterator whose elements readers make ahead."""

    def __init__(self, source: Iterator, size: int, readers: _Readers) -> None:
        self._buffer, self._readers = _Buffer(source, size), readers
        self._started = self._ended = False

    def start(self) -> None:
        """Lets the readers begin."""
        self._started = True
        buffer = self._buffer
        weakref.finalize(self, setattr, buffer, "dropped", True).atexit = False
        self._want(buffer)

    def _want(self, buffer: _Buffer) -> None:
        with buffer.lock:
            ask = not (buffer.queued or buffer.ended or len(buffer.items) >= buffer.size)
            buffer.queued = buffer.queued or ask
        if ask:
            self._readers.add(buffer)

    def next(self) -> Element:
        if self._ended:
            raise EndOfSequence
        if not self._started:
            self.start()
        buffer = self._buffer
        while True:
            with buffer.lock:
                if buffer.items:
                    outcome = buffer.items.popleft()
                    break
                waiter = buffer.waiter = blocking.Waiter()
            blocking.wait(waiter, lambda: True, lambda: "an element to be read ahead")
        self._want(buffer)
        if isinstance(outcome[1], EndOfSequence):
            self._ended = True
        return taken(outcome)

    def save(self) -> State:
        return saved_ahead(self._ended, self._buffer)

    def restore(self, state: State) -> None:
        self._ended = state[0]
        buffer = self._buffer
        buffer.items = deque(restored(s) for s in state[1])
        buffer.ended = any(isinstance(error, EndOfSequence) for _, error in buffer.items)
        buffer.source.restore(state[2])
