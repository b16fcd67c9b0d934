"""Work ahead of the consumer: a thread that fills a buffer, threads that run a mapped function.

Threads never keep an iterator alive: they hold the parts that they need, and a finalizer of the
iterator tells them to end.  A consumer waits as a blocked op does (``waiting``), so that its step's
deadline and the closing of the session end the wait; the threads work under the cancellation of the
session that initialized the iterator.  What fails, fails where its element would come out.

State of an iterator: that of its source and the elements made but not taken; in the middle of
making, saving waits until the element is made.
"""

from __future__ import annotations

import os
import queue
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from penstock.base import errors
from penstock.resources import threads, waiting
from penstock.resources.dataset.base import (
    Context,
    Dataset,
    Element,
    EndOfSequence,
    Function,
    Iterator,
    State,
    Wrapped,
)  # fmt: skip
from penstock.resources.dataset.functional import Called
from penstock.resources.dataset.order import Over
from penstock.resources.dataset.outcomes import Outcome, made, restored, saved, taken

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
            raise errors.InvalidArgumentError(None, None, f"buffer_size must be >= 0; found {size}")
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
        self.waiter: waiting.Waiter | None = None
        self.stopped: Any = False  # another thread sets it
        # Held while an element is made.
        self.making = threading.Lock()

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            self.items.clear()
            self.room.notify_all()

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
        weakref.finalize(self, buffer.stop)
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
                waiter = buffer.waiter = waiting.Waiter()
            waiting.wait(waiter, lambda: True, lambda: "an element to be made ahead")
        if isinstance(outcome[1], EndOfSequence):
            self._ended = True
        return taken(outcome)

    def save(self) -> State:
        buffer = self._buffer
        with buffer.making, buffer.lock:
            items = [saved(o) for o in buffer.items]
            return [self._ended, items, buffer.source.save()]

    def restore(self, state: State) -> None:
        self._ended = state[0]
        self._buffer.items = deque(restored(s) for s in state[1])
        self._buffer.source.restore(state[2])


class _Future:
    """A call of a function that a worker makes."""

    __slots__ = ("run", "args", "outcome", "_lock", "_waiter")

    def __init__(self, run: Function, args: Element) -> None:
        self.run, self.args = run, args
        self.outcome: Outcome | None = None
        self._lock = threading.Lock()
        self._waiter: waiting.Waiter | None = None

    def work(self) -> None:
        outcome = made(lambda: self.run(*self.args))
        with self._lock:
            self.outcome = outcome
            if self._waiter is not None:
                self._waiter.wake()

    def result(self) -> Outcome:
        while True:
            with self._lock:
                if self.outcome is not None:
                    return self.outcome
                waiter = self._waiter = waiting.Waiter()
            waiting.wait(waiter, lambda: True, lambda: "a mapped function to return")


class _Workers:
    """Threads that run calls in the order in which they come."""

    def __init__(self, count: int, cancellation: waiting.Cancellation | None) -> None:
        self._calls: queue.SimpleQueue[_Future | None] = queue.SimpleQueue()
        self._count, self._started = count, 0
        self._cancellation = cancellation

    def add(self, future: _Future) -> None:
        if self._started < self._count:
            self._started += 1
            target, args = _serve, (self._calls, self._cancellation)
            threading.Thread(target=target, args=args, name="penstock map", daemon=True).start()
        self._calls.put(future)

    def stop(self) -> None:
        for _ in range(self._started):
            self._calls.put(None)


def _serve(
    calls: queue.SimpleQueue[_Future | None], cancellation: waiting.Cancellation | None
) -> None:
    threads.compute_alone()
    with waiting.running(cancellation):
        while (future := calls.get()) is not None:
            future.work()
            del future


class ParallelMap(Called):
    """What the function makes of each element, several at a time, in the order of the elements.

    Args:
      source, function, captured: as for ``Map``.
      calls: how many at a time; AUTOTUNE: as many as there are processors.
    """

    owned = True

    def __init__(
        self, source: Dataset, function: Any, captured: Sequence[Any], calls: int
    ) -> None:
        super().__init__(source, function, captured)
        if calls < 1 and calls != AUTOTUNE:
            raise errors.InvalidArgumentError(
                None, None, f"num_parallel_calls must be greater than zero; found {calls}"
            )
        self.calls = processors() if calls == AUTOTUNE else calls

    def iterator(self, context: Context) -> Iterator:
        source = self.source.iterator(context)
        return _ParallelMapIterator(source, self.run(context), self.calls, context)

    def cardinality(self) -> int:
        return self.source.cardinality()


class _ParallelMapIterator(Wrapped):
    def __init__(self, source: Iterator, run: Function, calls: int, context: Context) -> None:
        super().__init__(source)
        self._run, self._calls = run, calls
        self._workers = _Workers(calls, context.cancellation)
        weakref.finalize(self, self._workers.stop)
        # Calls in work, and outcomes of calls that a checkpoint brought.
        self._pending: deque[_Future | Outcome] = deque()
        self._ended = False

    def next(self) -> Element:
        while not self._ended and len(self._pending) < self._calls:
            try:
                element = self.source.next()
            except EndOfSequence:
                self._ended = True
            except Exception as error:
                self._pending.append((None, error))
            else:
                future = _Future(self._run, element)
                self._pending.append(future)
                self._workers.add(future)
        if not self._pending:
            raise EndOfSequence
        first = self._pending[0]
        outcome = first.result() if isinstance(first, _Future) else first
        self._pending.popleft()
        if isinstance(outcome[1], EndOfSequence):
            # The function itself ended the sequence.
            self._ended = True
            self._pending.clear()
        return taken(outcome)

    def save(self) -> State:
        outcomes = [p.result() if isinstance(p, _Future) else p for p in self._pending]
        return [self._ended, [saved(o) for o in outcomes], self.source.save()]

    def restore(self, state: State) -> None:
        self._ended = state[0]
        self._pending = deque(restored(s) for s in state[1])
        self.source.restore(state[2])


def reading_ahead(size: int) -> Callable[[Context, Iterator], Iterator]:
    """Makes an iterator read ahead: for interleaving in parallel."""
    return lambda context, iterator: PrefetchIterator(iterator, max(size, 1), context)
