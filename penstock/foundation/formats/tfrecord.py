"""TFRecord files: records of bytes, each with its length and two masked CRCs; gzip and zlib too.

State: `RecordWriter` an open file and its compressor.

Source: the TFRecord format: length (8 bytes, little-endian), masked CRC-32C of the length, data,
masked CRC-32C of the data.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO, Any, Self

from penstock.foundation.base import errors
from penstock.foundation.formats import crc, files

_WINDOW = {"": None, "GZIP": 31, "ZLIB": 15}
_CHUNK = 1 << 20
_HEADER = 12
_CRC = 4


def _window(compression: str | None) -> int | None:
    """zlib's window bits of a kind of compression; None for none."""
    try:
        return _WINDOW[compression or ""]
    except KeyError:
        text = f"compression {compression!r} is not known; allowed are '', 'GZIP' and 'ZLIB'"
        raise errors.invalid(text) from None


class RecordWriter:
    """Writes a TFRecord file.

    Args:
      path: local or remote; an older file is emptied.
      compression: "" or None, "GZIP" or "ZLIB".
      level: zlib's level; -1 is its default.

    Raises:
      NotFoundError: the directory does not exist.
      InvalidArgumentError: another kind of compression.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/records"
    >>> with RecordWriter(path, "GZIP") as writer:
    ...     writer.write(b"one")
    >>> list(read_records(path, "GZIP"))
    [b'one']
    """

    def __init__(self, path: str, compression: str | None = None, level: int = -1) -> None:
        window = _window(compression)
        self._path = path
        self._squeeze = None if window is None else zlib.compressobj(level, zlib.DEFLATED, window)
        self._stream: IO[Any] | None = files.open_file(path, "wb")

    def write(self, record: bytes) -> None:
        """Appends a record."""
        length = len(record).to_bytes(8, "little")
        self._put(length + _sealed(length))
        self._put(record)
        self._put(_sealed(record))

    def _put(self, data: bytes) -> None:
        if self._stream is None:
            raise self._closed()
        with files.error_names(self._path):
            self._stream.write(data if self._squeeze is None else self._squeeze.compress(data))

    def flush(self) -> None:
        """Hands what was written to the file, so that a reader finds it.

        Raises:
          FailedPreconditionError: the writer is closed.
        """
        if self._stream is None:
            raise self._closed()
        with files.error_names(self._path):
            if self._squeeze is not None:
                self._stream.write(self._squeeze.flush(zlib.Z_SYNC_FLUSH))
            self._stream.flush()

    def _closed(self) -> errors.FailedPreconditionError:
        return errors.FailedPreconditionError(
            None, None, f"Writer not initialized or previously closed: {self._path}"
        )

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        if self._stream is None:
            return
        stream, self._stream = self._stream, None
        with files.error_names(self._path):
            if self._squeeze is not None:
                stream.write(self._squeeze.flush())
            stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _sealed(data: bytes) -> bytes:
    return crc.masked_crc32c(data).to_bytes(_CRC, "little")


def read_records(path: str, compression: str | None = None) -> Iterator[bytes]:
    """The records of a file, one by one.

    Args:
      path: local or remote.
      compression: "" or None, "GZIP" or "ZLIB".

    Raises:
      NotFoundError: there is no such file.
      DataLossError: it is corrupt or ends within a record; with the file and the offset.
      InvalidArgumentError: another kind of compression.
    """
    window = _window(compression)
    with files.open_file(path, "rb") as stream:
        chunks = _plain(stream) if window is None else inflated(stream, path, window)
        yield from _records(_Taker(chunks), path)


def read_plain(path: str, compression: str | None = None) -> bytes:
    """All that a file holds, decompressed.

    Args:
      path: local or remote.
      compression: "" or None, "GZIP" or "ZLIB".

    Raises:
      NotFoundError, DataLossError, InvalidArgumentError: as ``read_records``.
    """
    window = _window(compression)
    with files.open_file(path, "rb") as stream:
        return b"".join(_plain(stream) if window is None else inflated(stream, path, window))


class _Taker:
    """Chunks of any size, taken in the sizes that are asked for."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._held = b""
        self._at = 0

    def take(self, size: int) -> bytes:
        """The next bytes; fewer at the end."""
        end = self._at + size
        if end > len(self._held):
            # Joined once, and bounded by what is there rather than by what a record claims.
            parts = [self._held[self._at :]]
            have = len(parts[0])
            while have < size and (chunk := next(self._chunks, None)) is not None:
                parts.append(chunk)
                have += len(chunk)
            self._held, self._at, end = b"".join(parts), 0, size
        found = self._held[self._at : end]
        self._at += len(found)
        return found


def _records(source: _Taker, path: str) -> Iterator[bytes]:
    offset = 0
    while header := source.take(_HEADER):
        length = int.from_bytes(header[:8], "little")
        if len(header) < _HEADER or header[8:] != _sealed(header[:8]):
            raise _lost(path, offset, len(header) < _HEADER)
        record, stored = source.take(length), source.take(_CRC)
        if len(stored) < _CRC or stored != _sealed(record):
            raise _lost(path, offset, len(stored) < _CRC)
        yield record
        offset += _HEADER + length + _CRC


def next_record(stream: IO[Any], path: str, offset: int) -> bytes | None:
    """The record at an offset of an open file; None where the file ends before the record does.

    Raises:
      DataLossError: the record is corrupt.
    """
    stream.seek(offset)
    header = stream.read(_HEADER)
    if len(header) < _HEADER:
        return None
    if header[8:] != _sealed(header[:8]):
        raise _lost(path, offset, short=False)
    length = int.from_bytes(header[:8], "little")
    body: bytes = stream.read(length + _CRC)
    if len(body) < length + _CRC:
        return None
    if body[length:] != _sealed(body[:length]):
        raise _lost(path, offset, short=False)
    return body[:length]


def _lost(path: str, offset: int, short: bool) -> errors.DataLossError:
    what = "truncated record" if short else "corrupted record"
    return errors.DataLossError(None, None, f"{path}: {what} at {offset}")


def _plain(stream: IO[Any]) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        yield chunk


def inflated(stream: IO[Any], path: str, window: int) -> Iterator[bytes]:
    """What a compressed file holds, in chunks; several streams one after another are one.

    Args:
      stream: the file.
      path: its name, for the error.
      window: zlib's window bits.

    Raises:
      DataLossError: it is damaged or truncated; with the file, and the offset in it.
    """
    inflate = zlib.decompressobj(window)
    started = False
    place = 0
    for chunk in _plain(stream):
        rest = chunk
        place += len(chunk)
        while rest:
            if inflate.eof:
                inflate = zlib.decompressobj(window)
            before = place - len(rest)
            try:
                out = inflate.decompress(rest, _CHUNK)
            except zlib.error as error:
                raise _damaged(path, f"{error} in the compressed data", before) from error
            started = True
            rest = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
            if out:
                yield out
    if started and not inflate.eof:
        if out := inflate.flush():
            yield out
        if not inflate.eof:
            raise _damaged(path, "the compressed data is truncated", place)


def _damaged(path: str, what: str, place: int) -> errors.DataLossError:
    return errors.DataLossError(None, None, f"{path}: {what}, at {place}")
