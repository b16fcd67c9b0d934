"""The readers as users see them: classes that make a reader node and the nodes that use it.

A reader holds nothing but its handle; the file being read is state of a session
(``engine/resources/reader.py``).

Source: the readers of TensorFlow 1.15 (names of nodes, which of them can save their state).
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.formats.record_file import TFRecordOptions
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor


class ReaderBase:
    """What all readers share: records, as key and value, of the files whose names a queue gives.

    Args:
      reader_ref: the handle of the reader.
      supports_serialize: whether it can save and restore its state.
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The handle of the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether it can save and restore its state."""
        return self._supports_serialize

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next record; takes a name from the queue when a file begins, and waits for it.

        Args:
          queue: a queue of file names (one string scalar an element), or its handle.

        Returns:
          (key, value): two string scalars.

        Raises:
          OutOfRangeError: when it is run, and the queue is closed and empty.
        """
        return make(*self._op("ReaderRead"), self._queue(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """The next records, at most ``num_records``.

        Args:
          queue: as for ``read``.
          num_records: int64 scalar.

        Returns:
          (keys, values): two string vectors.
        """
        return make(*self._op("ReaderReadUpTo"), self._queue(queue), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """An int64 scalar: how many records it has given out."""
        return make_tensor(*self._op("ReaderNumRecordsProduced"), name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """An int64 scalar: how many files it has finished."""
        return make_tensor(*self._op("ReaderNumWorkUnitsCompleted"), name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        """A string scalar: its state, for ``restore_state``; not all readers can."""
        return make_tensor(*self._op("ReaderSerializeState"), name=name)

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """An operation that restores a state.

        Args:
          state: string scalar that ``serialize_state`` of a reader of this kind gave.
        """
        made: Operation = make(*self._op("ReaderRestoreState"), state, name=name)
        return made

    def reset(self, name: str | None = None) -> Operation:
        """An operation that forgets the open file and all counters."""
        made: Operation = make(*self._op("ReaderReset"), name=name)
        return made

    def _op(self, kind: str) -> tuple[str, Tensor]:
        """The type of an op that uses this reader, in its form for this handle, and the handle."""
        return kind if self._reader_ref.dtype.is_ref else f"{kind}V2", self._reader_ref

    def _queue(self, queue: Any) -> Tensor:
        handle: Tensor = queue if isinstance(queue, Tensor) else queue.queue_ref
        if self._reader_ref.dtype.is_ref and not handle.dtype.is_ref:
            return make_tensor("FakeQueue", handle)
        return handle


class WholeFileReader(ReaderBase):
    """A file is one record: the key is its name, the value its contents.

    Example:
      >>> import penstock as tf
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "note.txt")
      >>> with open(path, "w") as file:
      ...     _ = file.write("all of it")
      >>> files = tf.train.string_input_producer([path])
      >>> name, content = tf.WholeFileReader().read(files)
      >>> with tf.Session() as session:
      ...     coordinator = tf.train.Coordinator()
      ...     threads = tf.train.start_queue_runners(session, coordinator)
      ...     found = session.run(content)
      ...     coordinator.request_stop()
      ...     coordinator.join(threads)
      >>> found
      b'all of it'
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(make("WholeFileReaderV2", name=name), supports_serialize=True)


class IdentityReader(ReaderBase):
    """A name is a record: key and value are the name itself, and no file is opened."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(make("IdentityReaderV2", name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """A line is a record, without its end; the key is ``file:line``.

    Args:
      skip_header_lines: lines to leave out at the start of each file.
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(
            make("TextLineReaderV2", skip_header_lines=skip_header_lines or 0, name=name)
        )


class FixedLengthRecordReader(ReaderBase):
    """Records of a fixed number of bytes; the key is ``file:record``.

    Args:
      record_bytes: of a record.
      header_bytes, footer_bytes: at the start and end of each file, left out.
      hop_bytes: from the start of a record to that of the next; default ``record_bytes``.
      encoding: "GZIP" or "ZLIB" for compressed files; any other for plain ones.
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        super().__init__(
            make(
                "FixedLengthRecordReaderV2",
                record_bytes=record_bytes,
                header_bytes=header_bytes or 0,
                footer_bytes=footer_bytes or 0,
                hop_bytes=hop_bytes or 0,
                encoding=encoding or "",
                name=name,
            )
        )


class TFRecordReader(ReaderBase):
    """Records of TFRecord files; the key is ``file:offset``.

    Args:
      options: ``TFRecordOptions``, for compressed files.

    Example:
      >>> import penstock as tf
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "data.tfrecords")
      >>> with tf.python_io.TFRecordWriter(path) as writer:
      ...     writer.write(b"first")
      >>> files = tf.train.string_input_producer([path])
      >>> key, value = tf.TFRecordReader().read(files)
      >>> with tf.Session() as session:
      ...     coordinator = tf.train.Coordinator()
      ...     threads = tf.train.start_queue_runners(session, coordinator)
      ...     record = session.run(value)
      ...     coordinator.request_stop()
      ...     coordinator.join(threads)
      >>> record
      b'first'
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(make("TFRecordReaderV2", compression_type=compression, name=name))


class LMDBReader(ReaderBase):
    """Records of LMDB databases, by rising key; a queue gives their folders, or their files.

    They are read by the package lmdb: ``pip install penstock[lmdb]``.

    Args:
      options: kept for programs that give it.
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        super().__init__(make("LMDBReader", name=name))
