"""Work ahead of the consumer: a thread that fills a buffer, threads that run a mapped function.

Those of a mapped function read its source themselves.  What is made and not taken is limited: to as
many as run at once, and for batches to two batches.

Threads never keep an iterator alive: they hold the parts that they need, and a finalizer of the
iterator tells them to end.  A consumer waits as a blocked op does (``waiting``), so that its step's
deadline and the closing of the session end the wait; the threads work under the cancellation of the
session that initialized the iterator.  What fails, fails where its element would come out.

State of an iterator: that of its source and the elements made but not taken; in the middle of
making, saving waits until the element is made.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Any

import torch

from penstock.engine.resources import blocking, ending, threads, waiting
from penstock.engine.resources.dataset.base import (
    Context,
    Dataset,
    Element,
    EndOfSequence,
    Function,
    Iterator,
    State,
)  # fmt: skip
from penstock.engine.resources.dataset.functional import Called
from penstock.engine.resources.dataset.order import Over
from penstock.engine.resources.dataset.outcomes import (
    Outcome,
    made,
    restored,
    saved,
    saved_ahead,
    taken,
)
from penstock.foundation.base import errors

AUTOTUNE = -1
_AUTOMATIC_BUFFER = 4


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Prefetch(Over):
    """The elements of the source, made ahead by a thread.

    Args:
      source: the elements.
      size: the most that are held; 0: none are made ahead; AUTOTUNE: a few.
    """

    def __init__(self, source: Dataset, size: int) -> None:
        super().__init__(source)
        if size < AUTOTUNE:
            raise errors.invalid(f"buffer_size must be >= 0; found {size}")
        self.size = _AUTOMATIC_BUFFER if size == AUTOTUNE else size

    def iterator(self, context: Context) -> Iterator:
        source = self.source.iterator(context)
        return PrefetchIterator(source, self.size, context) if self.size else source

    def cardinality(self) -> int:
        return self.source.cardinality()


class _Buffer:
    """What the thread and the consumer of a prefetch share."""

    def __init__(self, source: Iterator, size: int, context: Context) -> None:
        self.source, self.size, self.cancellation = source, size, context.cancellation
        self.lock = threading.Lock()
        self.room = threading.Condition(self.lock)
        self.items: deque[Outcome] = deque()
        self.waiter: blocking.Waiter | None = None
        self.stopped: Any = False  # another thread sets it
        # Held while an element is made.
        self.making = threading.Lock()

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            self.items.clear()
            self.room.notify_all()

    @ending.in_steps
    def produce(self) -> None:
        """The thread's work."""
        threads.compute_alone()
        with waiting.running(self.cancellation):
            ended = False
            while not ended:
                with self.lock:
                    while len(self.items) >= self.size and not self.stopped:
                        self.room.wait()
                with self.making:
                    if self.stopped:
                        return
                    outcome = made(self.source.next)
                    ended = isinstance(outcome[1], EndOfSequence)
                    with self.lock:
                        if self.stopped:
                            return
                        self.items.append(outcome)
                        if self.waiter is not None:
                            self.waiter.wake()
                            self.waiter = None


class PrefetchIterator(Iterator):
    """Reads ahead in a thread of its own, from the first call on."""

    def __init__(self, source: Iterator, size: int, context: Context) -> None:
        self._buffer = _Buffer(source, size, context)
        self._started = False
        self._ended = False

    def _start(self) -> None:
        self._started = True
        buffer = self._buffer
        weakref.finalize(self, buffer.stop).atexit = False
        threading.Thread(target=buffer.produce, name="penstock prefetch", daemon=True).start()

    def next(self) -> Element:
        if self._ended:
            raise EndOfSequence
        if not self._started:
            self._start()
        buffer = self._buffer
        while True:
            with buffer.lock:
                if buffer.items:
                    outcome = buffer.items.popleft()
                    buffer.room.notify()
                    break
                waiter = buffer.waiter = blocking.Waiter()
            blocking.wait(waiter, lambda: True, lambda: "an element to be made ahead")
        if isinstance(outcome[1], EndOfSequence):
            self._ended = True
        return taken(outcome)

    def save(self) -> State:
        return saved_ahead(self._ended, self._buffer)

    def restore(self, state: State) -> None:
        self._ended = state[0]
        self._buffer.items = deque(restored(s) for s in state[1])
        self._buffer.source.restore(state[2])


# Elements of at least so many bytes are worth writing into their batch one by one.
_LARGE = 1 << 14


class _Rows:
    """The memory of one batch.

    Workers write into it what they have made, while that is still in their core's cache.
    """

    __slots__ = ("_count", "_lock", "memory")

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()
        self.memory: Element | None = None  # that of the first one's shapes

    def write(self, place: int, element: Element) -> Element | None:
        """The element as a row of the batch; None where it does not belong there."""
        if not all(map(_is_large, element)):
            return None
        with self._lock:
            if self.memory is None:
                self.memory = tuple(
                    torch.empty((self._count, *v.shape), dtype=v.dtype) for v in element
                )
        row = tuple(m.select(0, place) for m in self.memory)
        if any(r.shape != v.shape or r.dtype is not v.dtype for r, v in zip(row, element)):
            return None
        for mine, value in zip(row, element):
            mine.copy_(value)
        return row


def _is_large(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_cpu and value.nbytes >= _LARGE


class _Future:
    """A call of a function that a worker makes.

    The worker writes the outcome and then looks for a waiter, the consumer leaves a waiter and then
    looks for the outcome: one of them finds the other without a lock.
    """

    __slots__ = ("run", "args", "rows", "place", "written", "outcome", "_waiter")

    def __init__(self, run: Function, args: Element, rows: _Rows | None, place: int) -> None:
        self.run, self.args = run, args
        # Where in which batch the outcome belongs, and whether it is there.
        self.rows, self.place, self.written = rows, place, False
        self.outcome: Outcome | None = None
        self._waiter: blocking.Waiter | None = None

    def work(self) -> None:
        try:
            self.outcome = self._made(), None
        except ending.ProcessEnds:
            raise
        except BaseException as error:
            self.outcome = None, error
        if self._waiter is not None:
            self._waiter.wake()

    def _made(self) -> Element:
        element = self.run(*self.args)
        row = None if self.rows is None else self.rows.write(self.place, element)
        self.written = row is not None
        return element if row is None else row

    def result(self) -> Outcome:
        while (outcome := self.outcome) is None:
            waiter = self._waiter = blocking.Waiter()
            if self.outcome is None:
                blocking.wait(waiter, lambda: True, lambda: "a mapped function to return")
        return outcome


class _Calls:
    """What the workers and the consumer of a parallel map share.

    The workers read the source themselves, one at a time and in order, so that none of them waits
    for the consumer while there is room for what they make.
    """

    def __init__(self, source: Iterator, run: Function, room: int, context: Context) -> None:
        self.source, self.run, self.room = source, run, room
        self.cancellation = context.cancellation
        self.turn = threading.Lock()  # held while the source is read
        self.lock = threading.Lock()
        self.taken = threading.Condition(self.lock)
        # Calls in work, outcomes of calls that a checkpoint brought, errors of the source.
        self.pending: deque[_Future | Outcome] = deque()
        self.waiter: blocking.Waiter | None = None  # of a consumer that finds too little pending
        self.wanted = 0  # the place that it looks at: before that is taken, waking it is in vain
        self.ended: Any = False  # another thread sets it
        self.stopped: Any = False
        # Of a consumer that takes batches: their size, the one begun last, how much of it is read.
        self.batch = self.read = 0
        self.rows: _Rows | None = None

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            self.pending.clear()
            self.taken.notify_all()

    @ending.in_steps
    def serve(self) -> None:
        """A worker's work."""
        threads.compute_alone()
        with waiting.running(self.cancellation):
            while (future := self._read()) is not None:
                future.work()
                del future

    def _read(self) -> _Future | None:
        while True:
            with self.lock:
                while len(self.pending) >= self.room and not (self.stopped or self.ended):
                    self.taken.wait()
            with self.turn:
                if self.stopped or self.ended:
                    return None
                if len(self.pending) >= self.room:  # another worker was first
                    continue
                element, error = made(self.source.next)
                future = None
                with self.lock:
                    if element is not None:
                        future = _Future(self.run, element, *self._place())
                        self.pending.append(future)
                    elif isinstance(error, EndOfSequence):
                        self.ended = True
                    else:
                        self.pending.append((None, error))
                    reached = self.ended or len(self.pending) > self.wanted
                    if reached and self.waiter is not None:
                        self.waiter.wake()
                        self.waiter = None
                if future is not None:
                    return future

    def _place(self) -> tuple[_Rows | None, int]:
        """Where the element that was just read belongs."""
        if not self.batch:
            return None, 0
        place = self.read % self.batch
        if not place:
            self.rows = _Rows(self.batch)
        self.read = place + 1
        return self.rows, place

    def take(self, count: int) -> Element | None:
        """The next ``count`` as one batch, if they were written into one and all of it is there."""
        with self.lock:
            first = list(islice(self.pending, count))
        for each in first:
            _outcome(each)
        with self.lock:
            rows = _rows_of(first, count)
            if rows is None:
                # After an error, or what a checkpoint brought: what is yet to be read begins anew
                # where a batch will.
                if first and isinstance(first[0], _Future) and first[0].place:
                    self.read, self.rows = len(self.pending) % count, None
                return None
            for _ in first:
                self.pending.popleft()
            self.taken.notify_all()
        return rows.memory

    def find(self, index: int) -> _Future | Outcome | None:
        """What is pending at a place, or last where the end comes before; None: at the end."""
        while True:
            with self.lock:
                if len(self.pending) > index:
                    return self.pending[index]
                if self.ended:
                    return self.pending[-1] if self.pending else None
                self.wanted = index
                waiter = self.waiter = blocking.Waiter()
            blocking.wait(waiter, lambda: True, lambda: "an element to map")


def _outcome(pending: _Future | Outcome) -> Outcome:
    return pending.result() if isinstance(pending, _Future) else pending


def _rows_of(pending: Sequence[_Future | Outcome], count: int) -> _Rows | None:
    """The batch that these are all of, if they are."""
    futures = [p for p in pending if isinstance(p, _Future) and p.written]
    if len(futures) < count:
        return None
    rows = futures[0].rows
    whole = all(f.rows is rows and f.place == place for place, f in enumerate(futures))
    return rows if whole else None


class ParallelMap(Called):
    """What the function makes of each element, several at a time, in the order of the elements.

    Args:
      source, function, captured: as for ``Map``.
      calls: how many at a time; AUTOTUNE: as many as there are processors.
    """

    owned = True

    def __init__(self, source: Dataset, function: Any, captured: Sequence[Any], calls: int) -> None:
        super().__init__(source, function, captured)
        if calls < 1 and calls != AUTOTUNE:
            raise errors.invalid(f"num_parallel_calls must be greater than zero; found {calls}")
        self.calls = processors() if calls == AUTOTUNE else calls

    def iterator(self, context: Context) -> Iterator:
        source = self.source.iterator(context)
        return _ParallelMapIterator(source, self.run(context), self.calls, context)

    def cardinality(self) -> int:
        return self.source.cardinality()


class _ParallelMapIterator(Iterator):
    def __init__(self, source: Iterator, run: Function, calls: int, context: Context) -> None:
        self._calls = _Calls(source, run, calls, context)
        self._workers = calls
        self._started = False

    def _start(self) -> None:
        self._started = True
        calls = self._calls
        weakref.finalize(self, calls.stop).atexit = False
        for _ in range(self._workers):
            threading.Thread(target=calls.serve, name="penstock map", daemon=True).start()

    def make_ahead(self, count: int) -> None:
        """Waits for the last of ``count`` elements, once: the first ones are there by then.

        While the consumer puts them together, the workers go on with as many.
        """
        calls = self._calls
        if not self._started:
            self._start()
        if calls.room < 2 * count:
            with calls.lock:
                calls.room = 2 * count
                calls.taken.notify_all()
        last = calls.find(count - 1)
        if last is not None:
            _outcome(last)

    def next_batch(self, count: int, whole: bool) -> Element | None:
        """Up to ``count`` elements that are one batch already; None where they are not."""
        self._calls.batch = count if count > 1 else 0
        self.make_ahead(count)
        return self._calls.take(count)

    def next(self) -> Element:
        if not self._started:
            self._start()
        calls = self._calls
        first = calls.find(0)
        if first is None:
            raise EndOfSequence
        outcome = _outcome(first)
        with calls.lock:
            calls.pending.popleft()
            if isinstance(outcome[1], EndOfSequence):
                # The function itself ended the sequence.
                calls.ended = True
                calls.pending.clear()
            if calls.ended:
                calls.taken.notify_all()
            else:
                calls.taken.notify()
        return taken(outcome)

    def save(self) -> State:
        calls = self._calls
        with calls.turn:
            outcomes = [_outcome(p) for p in calls.pending]
            return [calls.ended, [saved(o) for o in outcomes], calls.source.save()]

    def restore(self, state: State) -> None:
        self._calls.ended = state[0]
        self._calls.pending = deque(restored(s) for s in state[1])
        self._calls.source.restore(state[2])
