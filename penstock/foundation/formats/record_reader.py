"""A reader of TFRecord files that may still grow: what TensorBoard reads event files with.

State: the open file, the place behind the last whole record, and that record.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, Any

from penstock.foundation.base import errors
from penstock.foundation.formats import files, tfrecord


class PyRecordReader:
    """Reads one record after the other; at the end it can be asked again, once there is more.

    Args:
      path: the file.
      offset: where the first record begins.
      compression: the kind by its name; what is compressed is read as a whole.

    Raises:
      NotFoundError: there is no such file.
    """

    def __init__(self, path: str, offset: int = 0, compression: str = "") -> None:
        self._path, self._offset, self._record = path, offset, b""
        self._whole: Iterator[bytes] | None = None
        self._file: IO[Any] | None = None
        if compression:
            self._whole = iter(list(tfrecord.read_records(path, compression)))
        else:
            self._file = files.open_file(path, "rb")

    def GetNext(self) -> None:
        """Goes on to the next record.

        Raises:
          OutOfRangeError: the file ends before it does; the next call looks again.
          DataLossError: the record is damaged.
        """
        if self._whole is not None:
            found = next(self._whole, None)
        elif self._file is not None:
            found = tfrecord.next_record(self._file, self._path, self._offset)
        else:
            raise errors.FailedPreconditionError(None, None, "Reader is closed.")
        if found is None:
            raise errors.OutOfRangeError(None, None, "Read less bytes than requested")
        self._record = found
        if self._file is not None:
            self._offset = self._file.tell()

    def record(self) -> bytes:
        """The record."""
        return self._record

    def offset(self) -> int:
        """The place behind it."""
        return self._offset

    def Close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
        self._file = self._whole = None


def new_reader(path: Any, offset: int, compression: Any, status: Any) -> PyRecordReader | None:
    """A reader of a file.

    Args:
      path: the file, as bytes or text.
      offset: where the first record begins.
      compression: the kind by its name, as bytes or text.
      status: a ``Status``, which says what is wrong where None is returned.
    """
    try:
        return PyRecordReader(os.fsdecode(path), offset, os.fsdecode(compression))
    except errors.OpError as error:
        status.set(error.error_code, error.message)
        return None
