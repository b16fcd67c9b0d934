"""One file of events, written as they come: what programs reach as ``pywrap_tensorflow``'s writer.

State: the file, None until it is first used and once it is closed.
"""

from __future__ import annotations

import os
import socket
import time
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event

from penstock.foundation.formats.tfrecord import RecordWriter

_VERSION = "brain.Event:2"


class EventsWriter:
    """Writes events to one file, whose name begins as asked; nothing waits in a queue.

    Args:
      filename_prefix: the path that the file's name begins with.

    Example:
      >>> import penstock as tf
      >>> from penstock.python import pywrap_tensorflow
      >>> writer = pywrap_tensorflow.EventsWriter(f"{tf.test.get_temp_dir()}/run")
      >>> writer.WriteEvent(tf.summary.Event(step=3))
      >>> writer.Close()
      >>> [event.step for event in tf.train.summary_iterator(writer.FileName().decode())]
      [0, 3]
    """

    def __init__(self, filename_prefix: Any) -> None:
        self._prefix, self._suffix = os.fsdecode(filename_prefix), ""
        self._path = ""
        self._file: RecordWriter | None = None

    def InitWithSuffix(self, suffix: Any) -> None:
        """Opens the file, with something behind its name."""
        self._suffix = os.fsdecode(suffix)
        self._open()

    def _open(self) -> RecordWriter:
        if self._file is None:
            where = f"{int(time.time()):010d}.{socket.gethostname()}"
            self._path = f"{self._prefix}.out.tfevents.{where}{self._suffix}"
            self._file = RecordWriter(self._path)
            self._file.write(
                Event(wall_time=time.time(), file_version=_VERSION).SerializeToString()
            )
        return self._file

    def FileName(self) -> bytes:
        """The path of the file, which is opened by that if none was yet."""
        if not self._path:
            self._open()
        return os.fsencode(self._path)

    def WriteEvent(self, event: Any) -> None:
        """Writes an ``Event``."""
        self._open().write(event.SerializeToString())

    def Flush(self) -> None:
        """Returns when all events are in the file."""
        self._open().flush()

    def Close(self) -> None:
        """Closes the file; the next event opens another one."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
