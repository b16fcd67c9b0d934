"""Queues: elements are tuples of tensors that one step puts in and another takes out.

Requests that cannot be served at once wait in two lines, one of enqueues and one of dequeues, each
served strictly from its head: nobody overtakes, and a large request gets its elements bit by bit.
So ``dequeue_many(100)`` empties a queue of capacity 10 ten times.  A queue that sorts is the
exception: what comes later may belong first, so a request waits until all of its elements are there
(unless there will never be room for as many).  Closing stands in the line of enqueues: those that
came before it still get their elements in, those behind it are refused.
Whoever changes the queue serves both lines (``_flush``) before letting go of the lock, and wakes
those whose requests ended.

State: the elements, in a store of the kind of queue (``stores.py``); the two lines; closed or not;
one lock for all of it.  A dequeue that is withdrawn (deadline, cancelled session) or fails gives
what it had taken back to the front of the store, so that nothing is lost; what an enqueue that is
withdrawn had put in stays in.

    enqueues: [E2: 3 left] [E3]          store, capacity 4: a b c d          dequeues: (none)
    dequeue_many(3) -> takes a b c; E2 puts its 3; E3 waits on

Source: the queues of TensorFlow 1.15 (order, errors, closing).
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from penstock.engine.resources import blocking, stores
from penstock.engine.resources.stores import Batch, Store
from penstock.foundation.base import errors

log = logging.getLogger("penstock")
_NEVER_FILLED = (
    "nothing was ever put into it: tf.train.start_queue_runners(sess) starts the threads that fill"
    " the queues of input pipelines (did you forget start_queue_runners?)"
)


class _Request:
    """One enqueue, dequeue or closing: what is left to do, and how it ended."""

    __slots__ = (
        "abandoned", "batch", "count", "done", "error", "left", "pieces", "position", "up_to",
        "waiter",
    )  # fmt: skip

    def __init__(self, count: int, batch: Batch | None = None, up_to: bool = False) -> None:
        self.waiter: blocking.Waiter | None = None
        self.count = count
        self.left = count
        self.batch = batch
        self.position = 0
        self.pieces: list[Batch] = []
        self.up_to = up_to
        self.done = False
        self.abandoned = False
        self.error: Exception | None = None


class Ticket:
    """An enqueue or closing that was started; a dropped ticket withdraws what is left of it."""

    __slots__ = ("_queue", "_request")

    def __init__(self, queue: Queue, request: _Request | None) -> None:
        self._queue = queue
        self._request = request

    def settle(self) -> None:
        """Waits until it has ended."""
        request, self._request = self._request, None
        if request is not None:
            self._queue._await_enqueue(request)

    def __del__(self) -> None:
        if self._request is not None:
            self._queue._abandon(self._request)


class Queue:
    """A bounded queue.

    Args:
      kind: for messages: "FIFOQueue".
      name: the name of the queue, for messages.
      capacity: the most elements that it holds; negative: no bound.
      store: keeps the elements and decides about their order.
      min_after_dequeue: elements that stay in an open queue.
    """

    def __init__(
        self, kind: str, name: str, capacity: int, store: Store, min_after_dequeue: int = 0
    ) -> None:
        self.kind = kind
        self.name = name
        self.capacity = capacity
        self._store = store
        self._kept = min_after_dequeue
        self._lock = threading.Lock()
        self._enqueues: deque[_Request] = deque()
        self._dequeues: deque[_Request] = deque()
        self._closed = False
        self._filled = False  # whether anything was ever put in, or tried to be
        self._reminded = False

    # ---- what ops call -----------------------------------------------------------------------

    def enqueue(self, components: Sequence[Any]) -> None:
        """Puts one element in; waits while the queue is full."""
        self._await_enqueue(self._start(stores.single(components), 1))

    def enqueue_many(self, components: Sequence[Any]) -> None:
        """Puts the slices along the first dim in, in order; waits while the queue is full."""
        self._await_enqueue(self._start(components, self._batch_size(components)))

    def start_enqueue(self, components: Sequence[Any]) -> Ticket:
        """As ``enqueue``, but the waiting is left to ``settle`` of the ticket."""
        return Ticket(self, self._start(stores.single(components), 1))

    def start_enqueue_many(self, components: Sequence[Any]) -> Ticket:
        """As ``enqueue_many``, but the waiting is left to ``settle`` of the ticket."""
        return Ticket(self, self._start(components, self._batch_size(components)))

    def dequeue(self) -> Sequence[Any]:
        """Takes one element out; waits while there is none."""
        return self._store.one(self._dequeue(_Request(1)))

    def dequeue_many(self, count: int) -> Sequence[Any]:
        """Takes ``count`` elements out as one batch; waits until there have been as many."""
        return self._dequeue_batch(count, up_to=False)

    def dequeue_up_to(self, count: int) -> Sequence[Any]:
        """As ``dequeue_many``, but a closed queue gives what is left, if anything."""
        return self._dequeue_batch(count, up_to=True)

    def size(self) -> int:
        """The number of elements in it."""
        return len(self._store)

    @property
    def closed(self) -> bool:
        """Whether no further element may be put in."""
        return self._closed

    def close(self, cancel_pending_enqueues: bool = False) -> None:
        """Refuses further enqueues.

        Args:
          cancel_pending_enqueues: cancel those that wait; else wait until they are in.

        Raises:
          tf.errors.CancelledError: it is closed already, and nothing was to be cancelled.
        """
        self.start_close(cancel_pending_enqueues).settle()

    def start_close(self, cancel_pending_enqueues: bool = False) -> Ticket:
        """As ``close``, but the waiting is left to ``settle`` of the ticket."""
        if not cancel_pending_enqueues:
            return Ticket(self, self._submit(self._enqueues, _Request(0)))
        with self._lock:
            self._closed = True
            while self._enqueues:
                message = (
                    "Enqueue operation was cancelled:"
                    f" {self._named()} was closed and its pending enqueues cancelled"
                )
                self._end(self._enqueues.popleft(), errors.CancelledError(None, None, message))
            self._flush()
        return Ticket(self, None)

    # ---- requests ----------------------------------------------------------------------------

    def _batch_size(self, components: Sequence[Any]) -> int:
        return stores.batch_size(components, self._named())

    def _start(self, batch: Batch, count: int) -> _Request:
        self._store.check(batch, self._named())
        if count:
            own = batch if self._store.copies_in else stores.copied(batch)
            return self._submit(self._enqueues, _Request(count, own))
        nothing = _Request(0)
        nothing.done = True
        return nothing

    def _await_enqueue(self, request: _Request) -> None:
        self._await(
            request,
            self._enqueues,
            lambda: (
                f"room for {request.left} element(s) in {self._told()}"
                if request.batch is not None
                else f"the enqueues before its closing of {self._told()}"
            ),
        )

    def _dequeue_batch(self, count: int, up_to: bool) -> Sequence[Any]:
        if not self._store.joins:
            raise errors.invalid(
                f"{self._named()}'s DequeueMany and DequeueUpTo require the components to have"
                " specified shapes: give `shapes` where the queue is made"
            )
        if count < 0:
            raise errors.invalid(
                f"Dequeue{'UpTo' if up_to else 'Many'}Op requested {count} < 0 elements of"
                f" {self._named()}"
            )
        return self._store.many(self._dequeue(_Request(count, up_to=up_to)) if count else [])

    def _dequeue(self, request: _Request) -> list[Batch]:
        self._submit(self._dequeues, request)
        self._await(
            request,
            self._dequeues,
            lambda: (
                f"{request.left} of {request.count} element(s) asked of {self._told()}"
                + ("" if self._filled else f"; {_NEVER_FILLED}")
            ),
            self._remind,
        )
        return request.pieces

    def _remind(self) -> None:
        """Tells, once, who would wait forever."""
        if not (self._filled or self._reminded):
            self._reminded = True
            log.warning("a step waits for elements of %s, and %s", self._named(), _NEVER_FILLED)

    def _submit(self, line: deque[_Request], request: _Request) -> _Request:
        with self._lock:
            self._filled = self._filled or line is self._enqueues
            line.append(request)
            self._flush()
            if not request.done:
                request.waiter = blocking.Waiter()
                if request.batch is not None and self._store.copies_in:
                    # It lies in memory of others, who may change it while the request waits.
                    request.batch = stores.copied(request.batch)
        return request

    def _await(
        self, request: _Request, line: deque[_Request], waiting_for: Callable[[], str],
        remind: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        if request.waiter is not None:
            blocking.wait(
                request.waiter, lambda: self._withdraw(request, line), waiting_for, remind
            )
        if request.error is not None:
            raise request.error

    def _withdraw(self, request: _Request, line: deque[_Request]) -> bool:
        with self._lock:
            if request.done:
                return False
            line.remove(request)
            self._give_back(request)
            self._flush()
            return True

    def _abandon(self, request: _Request) -> None:
        # The collector may call this at any time, even while this thread holds the lock; then the
        # request is dropped when the line is served next.
        request.abandoned = True
        if self._lock.acquire(blocking=False):
            try:
                self._flush()
            finally:
                self._lock.release()

    # ---- the state machine, under the lock ---------------------------------------------------

    def _flush(self) -> None:
        moved = True
        while moved:
            moved = self._serve(self._enqueues, self._advance_enqueue)
            moved |= self._serve(self._dequeues, self._advance_dequeue)

    def _serve(self, line: deque[_Request], advance: Callable[[_Request], bool]) -> bool:
        moved = False
        while line:
            head = line[0]
            try:
                if head.abandoned:
                    self._end(head)
                elif not advance(head):
                    break
            except Exception as error:  # no memory, for one: it must not hold up the line
                self._end(head, error)
            moved = True
            if head.done:
                line.popleft()
        return moved

    def _advance_enqueue(self, request: _Request) -> bool:
        if self._closed:
            state = "closed" if request.batch is not None else "already closed"
            self._end(request, errors.CancelledError(None, None, f"{self._named()} is {state}"))
            return True
        if request.batch is None:
            self._closed = True
            self._end(request)
            return True
        room = self.capacity - len(self._store) if self.capacity >= 0 else request.left
        count = min(room, request.left)
        if count <= 0:
            return False
        self._store.put(request.batch, request.position, count)
        request.position += count
        request.left -= count
        if not request.left:
            self._end(request)
        return True

    def _advance_dequeue(self, request: _Request) -> bool:
        size = len(self._store)
        count = min(size if self._closed else size - self._kept, request.left)
        if self._store.whole and count < request.left and not self._closed:
            if self.capacity < 0 or request.count <= self.capacity:
                return False
        if count > 0:
            request.pieces.extend(self._store.take(count))
            request.left -= count
        if request.left and self._closed:
            if request.up_to and request.left < request.count:
                request.left = 0
            else:
                self._give_back(request)
                self._end(request, self._too_few(request))
                return True
        if not request.left:
            self._end(request)
        return count > 0 or request.done

    def _give_back(self, request: _Request) -> None:
        if request.pieces:
            self._store.give_back(request.pieces)
            request.pieces = []
            request.left = request.count

    @staticmethod
    def _end(request: _Request, error: Exception | None = None) -> None:
        request.done = True
        request.error = error
        if request.waiter is not None:
            request.waiter.wake()

    def _too_few(self, request: _Request) -> errors.OutOfRangeError:
        return errors.OutOfRangeError(
            None,
            None,
            f"{self._named()} is closed and has insufficient elements (requested"
            f" {request.count}, current size {len(self._store)})",
        )

    def _named(self) -> str:
        return f"{self.kind} {self.name!r}"

    def _told(self) -> str:
        bound = f" of capacity {self.capacity}" if self.capacity >= 0 else ""
        kept = f", {self._kept} of which stay" if self._kept else ""
        return f"{self._named()}{bound}, which holds {len(self._store)}{kept}"
