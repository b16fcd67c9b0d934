"""``tf.python_io``: TFRecord files as TensorFlow 1.x programs write and read them.

State: a writer has an open file.  Of the options of compression only the kind and the level change
what is written; readers of any program understand all the others as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from penstock.foundation.formats import tfrecord


class TFRecordCompressionType:
    """The kinds of compression, as numbers."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How a TFRecord file is compressed.

    Args:
      compression_type: "GZIP", "ZLIB", "" or None for none; a ``TFRecordCompressionType``; or
        other ``TFRecordOptions``, whose kind is taken.
      compression_level: 0 to 9; None or -1 for zlib's default.
      flush_mode .. compression_strategy: kept, without an effect.

    Raises:
      ValueError: there is no such kind.
    """

    compression_type_map: ClassVar[dict[int, str]] = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        # Refuses what is no kind of compression.
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The kind of compression by its name: "", "ZLIB" or "GZIP".

        >>> TFRecordOptions.get_compression_type_string(TFRecordCompressionType.GZIP)
        'GZIP'
        """
        if options is None:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return str(options)
        raise ValueError(
            f'Not a valid compression_type: "{options}"; allowed are'
            f" {sorted(cls.compression_type_map.values())} and their numbers"
        )


class TFRecordWriter:
    """Writes records to a TFRecord file.

    Args:
      path: the file; an older one is emptied.
      options: ``TFRecordOptions``, or a kind of compression as they take it.

    Example:
      >>> import tempfile, penstock as tf
      >>> path = tempfile.mkdtemp() + "/data.tfrecord"
      >>> with tf.python_io.TFRecordWriter(path) as writer:
      ...     writer.write(b"one")
      ...     writer.write(b"two")
      >>> list(tf.python_io.tf_record_iterator(path))
      [b'one', b'two']
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        kind = TFRecordOptions.get_compression_type_string(options)
        level = getattr(options, "compression_level", None)
        self._writer = tfrecord.RecordWriter(path, kind, -1 if level is None else level)

    def write(self, record: bytes) -> None:
        """Appends a record.

        Raises:
          TypeError: it is not bytes.
          FailedPreconditionError: the writer is closed.
        """
        if not isinstance(record, bytes | bytearray | memoryview):
            raise TypeError(f"expected bytes, {type(record).__name__} found")
        self._writer.write(bytes(record))

    def flush(self) -> None:
        """Hands what was written to the file, so that a reader finds it."""
        self._writer.flush()

    def close(self) -> None:
        """Closes the file."""
        self._writer.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a TFRecord file, one by one.

    Args:
      path: the file.
      options: ``TFRecordOptions``, or a kind of compression as they take it.

    Raises:
      NotFoundError: there is no such file.
      DataLossError: the file is corrupt or ends within a record.
    """
    yield from tfrecord.read_records(path, TFRecordOptions.get_compression_type_string(options))
