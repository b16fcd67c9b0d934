"""Readers: records of the files whose names a queue gives, one file after the other.

A reader takes the next name (a *work unit*) from the queue when it has none, and gives out the
records of that file until it ends.  Steps that read at once take turns, in the order they came: one
holds the reader while it waits for a name or for the disk, the others wait for it as any blocked op
waits (``blocking.py``), so a deadline or a closed session ends their wait.

State: the file being read, as an iterator over its records; how many work units were begun and
ended, and how many records were given out; who holds the reader, and who waits for it.

Source: the readers of TensorFlow 1.15 (counters, ends of files, errors).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from penstock.engine.resources import blocking
from penstock.foundation.base import errors

Record = tuple[bytes, bytes]
# Opens the file of a work unit: an iterator over keys and values.
Opener = Callable[[bytes], Iterator[Record]]


class Progress(NamedTuple):
    """How far a reader has come; what ``serialize_state`` writes."""

    work_started: int = 0
    work_finished: int = 0
    records: int = 0
    work: bytes = b""


class Reader:
    """Reads records of files.

    Args:
      kind: for messages: "TextLineReader".
      name: the name of the reader, for messages.
      opener: opens the file of a work unit.
      one_record: whether a work unit is one record, so that it ends with it; only such a reader
        can tell and restore its progress.
    """

    def __init__(self, kind: str, name: str, opener: Opener, one_record: bool = False) -> None:
        self.kind = kind
        self.name = name
        self._open = opener
        self._one_record = one_record
        self._progress = Progress()
        self._records: Iterator[Record] | None = None
        self._lock = threading.Lock()
        self._held = False
        self._waiters: deque[blocking.Waiter] = deque()

    # ---- what ops call -----------------------------------------------------------------------

    def read(self, queue: Any) -> Record:
        """The next record, as key and value; waits for a name where no file is open."""
        with self._turn():
            return self._next(queue)

    def read_up_to(self, queue: Any, count: int) -> list[Record]:
        """The next ``count`` records; fewer at the end of a file.

        Raises:
          InvalidArgumentError: ``count`` is not positive.
          OutOfRangeError: there is no record any more.
        """
        if count <= 0:
            raise errors.invalid(f"{self._named()}: num_records must be positive; found {count}")
        with self._turn():
            records = [self._next(queue)]
            while len(records) < count and self._records is not None:
                record = self._advance()
                if record is None:
                    self._end_work()
                    break
                records.append(record)
                self._count()
        return records

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return self._progress

    def reset(self) -> None:
        """Forgets the file being read and all counters."""
        with self._turn():
            self._records = None
            self._progress = Progress()

    def saved(self) -> Progress:
        """Its progress, to restore later.

        Raises:
          UnimplementedError: a file has several records, whose place it cannot tell.
        """
        self.check_saves("SerializeState")
        with self._turn():
            return self._progress

    def restore(self, progress: Progress) -> None:
        """Goes on from a saved progress.

        Raises:
          UnimplementedError: as ``saved``.
          InvalidArgumentError: there can be no such progress; the reader is then as new.
        """
        self.check_saves("RestoreState")
        started, finished, records, _ = progress
        if min(started, finished, records) < 0 or started > finished:
            self.reset()
            raise errors.invalid(
                f"{self._named()}: cannot restore {started} work unit(s) started, {finished}"
                f" finished, {records} record(s)"
            )
        with self._turn():
            self._progress = progress
            self._records = None

    def check_saves(self, what: str) -> None:
        """Refuses to save and restore where it cannot.

        Raises:
          UnimplementedError: it cannot.
        """
        if not self._one_record:
            raise errors.UnimplementedError(
                None, None, f"Reader {what}: {self._named()} does not support it"
            )

    # ---- records, by whoever holds the reader ------------------------------------------------

    def _next(self, queue: Any) -> Record:
        while True:
            if self._records is None:
                self._begin(queue)
            record = self._advance()
            if record is None or self._one_record:
                self._end_work()
            if record is not None:
                self._count()
                return record

    def _end_work(self) -> None:
        self._records = None
        self._progress = self._progress._replace(work_finished=self._progress.work_started)

    def _count(self) -> None:
        self._progress = self._progress._replace(records=self._progress.records + 1)

    def _begin(self, queue: Any) -> None:
        work = queue.dequeue()
        if len(work) != 1 or work[0].ndim or not isinstance(work[0].item(), bytes):
            raise errors.invalid(
                f"{self._named()} takes names from queue {queue.name!r}: its elements must be one"
                f" string scalar each; found {len(work)} component(s)"
            )
        name: bytes = work[0].item()
        self._records = self._open(name)
        started = self._progress.work_started + 1
        self._progress = self._progress._replace(work_started=started, work=name)

    def _advance(self) -> Record | None:
        assert self._records is not None
        try:
            return next(self._records, None)
        except errors.OpError as error:
            # As in TensorFlow, the next read finds the same damage at the same place.
            self._records = _failing(error)
            raise

    def _named(self) -> str:
        return f"{self.kind} {self.name!r}"

    # ---- turns -------------------------------------------------------------------------------

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Holds the reader, after all who came before."""
        waiter = None
        with self._lock:
            if self._held:
                waiter = blocking.Waiter()
                self._waiters.append(waiter)
            self._held = True
        if waiter is not None:
            mine = waiter
            blocking.wait(mine, lambda: self._withdraw(mine), lambda: f"a turn at {self._named()}")
        try:
            yield
        finally:
            with self._lock:
                if self._waiters:
                    self._waiters.popleft().wake()
                else:
                    self._held = False

    def _withdraw(self, waiter: blocking.Waiter) -> bool:
        with self._lock:
            if waiter not in self._waiters:
                return False
            self._waiters.remove(waiter)
            return True


def _failing(error: errors.OpError) -> Iterator[Record]:
    class _Failing(Iterator[Record]):
        def __next__(self) -> Record:
            raise error

    return _Failing()
