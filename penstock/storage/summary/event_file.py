"""One event file after the other in a directory, by the writer of the ``tensorboard`` package.

That writer has a queue and a thread that empties it; it is imported with the first file.

State: the writer, None when closed; and, for the process, the writers that are open, which are
closed when the interpreter ends: a program that never closes its writer keeps its last events.
"""

from __future__ import annotations

import atexit
import os
from typing import Any

from penstock.foundation.formats import files
from penstock.foundation.formats.crc import masked_crc32c


class EventFileWriter:
    """Appends events to a file in ``logdir``, in the background.

    Args:
      logdir: the directory; made if there is none.
      max_queue: events that may wait; one more waits for the thread.
      flush_secs: seconds after which the file is flushed.
      filename_suffix: appended to the file's name.

    Raises:
      tf.errors.NotFoundError, tf.errors.PermissionDeniedError, ...: the directory cannot be made,
        or no file in it.
    """

    def __init__(
        self,
        logdir: Any,
        max_queue: int | None = 10,
        flush_secs: float | None = 120,
        filename_suffix: str | None = None,
    ) -> None:
        self._logdir: str = os.fsdecode(logdir)
        self._arguments = (
            10 if max_queue is None else max_queue,
            120 if flush_secs is None else flush_secs,
            filename_suffix or "",
        )
        self._writer: Any = None
        self._process = 0
        self.reopen()

    def get_logdir(self) -> str:
        """The directory."""
        return self._logdir

    def reopen(self) -> None:
        """Starts another file, unless one is open."""
        if self._writer is None:
            directory = self._logdir or "."
            with files.error_names(directory):
                self._writer = _new_writer(directory, *self._arguments)
            self._process = os.getpid()
            _open.add(self)

    def add_event(self, event: Any) -> None:
        """Puts an ``Event`` into the queue; does nothing when closed."""
        if self._writer is not None:
            self._writer.add_event(event)

    def flush(self) -> None:
        """Returns when all events are in the file."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Flushes and closes the file."""
        writer, self._writer = self._writer, None
        _open.discard(self)
        # A forked child has a copy of this object, but not the thread.
        if writer is not None and self._process == os.getpid():
            writer.close()


_open: set[EventFileWriter] = set()


def _close_all() -> None:
    for writer in list(_open):
        writer.close()


atexit.register(_close_all)


def _new_writer(logdir: str, max_queue: int, flush_secs: float, suffix: str) -> Any:
    from tensorboard.summary.writer import event_file_writer, record_writer

    # The package computes this CRC in Python: 8 ms for an image of 100 KB, during which the
    # training loop waits for the interpreter's lock.  This is the same function, in C.
    record_writer.masked_crc32c = masked_crc32c
    return event_file_writer.EventFileWriter(logdir, max_queue, flush_secs, suffix)
