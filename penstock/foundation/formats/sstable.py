"""Sorted tables of keys and values in a file, as LevelDB and TensorFlow write them.

A table is a row of blocks, each followed by a byte that names its compression and a masked CRC; an
index block with, for each block, a key not below its last and its place; and a footer of 48 bytes
with the place of the index block and a magic number.  Within a block a key is written as how much
it shares with the one before, and the rest; every 16th is whole, and the places of those stand at
the block's end.

State: `TableWriter` the block being made and the places of those written; `TableReader` the decoded
index.

Source: LevelDB's table format.
"""

from __future__ import annotations

import bisect
import os
from collections.abc import Iterator

from penstock.foundation.base import errors
from penstock.foundation.formats import crc, snappy
from penstock.foundation.formats.coding import read_varint, varint
from penstock.foundation.formats.streams import Sink, Source

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_TRAILER = 5
_RESTART_INTERVAL = 16
_BLOCK_SIZE = 256 << 10
_PLAIN, _SNAPPY = 0, 1

Handle = tuple[int, int]  # offset and size of a block, without its trailer


class _Block:
    """A block being made."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._restarts = [0]
        self._since = 0
        self._last = b""

    def __len__(self) -> int:
        return len(self._data)

    def add(self, key: bytes, value: bytes) -> None:
        if self._since == _RESTART_INTERVAL:
            self._restarts.append(len(self._data))
            self._since, self._last = 0, b""
        shared = len(os.path.commonprefix([self._last, key]))
        self._data += varint(shared) + varint(len(key) - shared) + varint(len(value))
        self._data += key[shared:]
        self._data += value
        self._since, self._last = self._since + 1, key

    def finish(self) -> bytes:
        for place in [*self._restarts, len(self._restarts)]:
            self._data += place.to_bytes(4, "little")
        return bytes(self._data)


class TableWriter:
    """Writes a table.

    Args:
      sink: the file; the caller closes it.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._block = _Block()
        self._last = b""
        self._index: list[tuple[bytes, Handle]] = []

    def add(self, key: bytes, value: bytes) -> None:
        """Appends an entry.

        Raises:
          InternalError: the key does not sort behind the one before.
        """
        if key <= self._last and (self._index or len(self._block)):
            text = f"{self._sink.path}: key {key!r} does not sort behind {self._last!r}"
            raise errors.InternalError(None, None, text)
        self._block.add(key, value)
        self._last = key
        if len(self._block) >= _BLOCK_SIZE:
            self._end_block()

    def _end_block(self) -> None:
        if len(self._block):
            self._index.append((self._last, self._write(self._block)))
            self._block = _Block()

    def _write(self, block: _Block) -> Handle:
        content = block.finish()
        place = (self._sink.length, len(content))
        self._sink.write(content)
        kind = bytes([_PLAIN])
        sealed = crc.mask(crc.extend(crc.extend(0, content), kind))
        self._sink.write(kind + sealed.to_bytes(4, "little"))
        return place

    def finish(self) -> None:
        """Writes the index and the footer."""
        self._end_block()
        meta = self._write(_Block())
        index = _Block()
        for key, place in self._index:
            index.add(key, b"".join(map(varint, place)))
        places = b"".join(map(varint, meta + self._write(index)))
        self._sink.write(places.ljust(_FOOTER - 8, b"\0") + _MAGIC.to_bytes(8, "little"))


class TableReader:
    """Reads a table: entry by entry, or one by its key.

    Args:
      source: the file.

    Raises:
      DataLossError: it is not a table, or a corrupt one; with the file and the place.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        footer = self._footer()
        try:
            _, at = read_varint(footer, 0)
            _, at = read_varint(footer, at)
            offset, at = read_varint(footer, at)
            size, _ = read_varint(footer, at)
        except ValueError as error:
            at = source.size - _FOOTER
            raise source.lost("the footer of the table", at, str(error)) from error
        self._keys: list[bytes] = []
        self._places: list[Handle] = []
        for key, value in self._entries((offset, size)):
            self._keys.append(key)
            self._places.append(self._handle(value))

    def _footer(self) -> bytes:
        source = self._source
        if source.size < _FOOTER:
            found = f"a table has at least {_FOOTER} bytes, this file {source.size}"
            raise source.lost("the footer of the table", 0, found)
        footer = source.read(source.size - _FOOTER, _FOOTER, "the footer of the table")
        if int.from_bytes(footer[-8:], "little") != _MAGIC:
            found = "not an sstable (bad magic number): truncated, corrupt or another format"
            raise source.lost("the footer of the table", source.size - _FOOTER, found)
        return footer[:-8]

    def _handle(self, value: bytes) -> Handle:
        try:
            offset, at = read_varint(value, 0)
            size, _ = read_varint(value, at)
        except ValueError as error:
            raise self._source.lost("the index of the table", 0, str(error)) from error
        return offset, size

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for place in self._places:
            yield from self._entries(place)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None.

        Raises:
          DataLossError: the block where it stands is corrupt.
        """
        block = bisect.bisect_left(self._keys, key)
        if block == len(self._keys):
            return None
        return next((v for k, v in self._entries(self._places[block]) if k == key), None)

    def _entries(self, place: Handle) -> Iterator[tuple[bytes, bytes]]:
        content = self._block(place)
        try:
            yield from _decode(content)
        except ValueError as error:
            raise self._source.lost("a block of the table", place[0], str(error)) from error

    def _block(self, place: Handle) -> bytes:
        offset, size = place
        what = "a block of the table"
        raw = self._source.read(offset, size + _TRAILER, what)
        content, kind, stored = raw[:size], raw[size], raw[size + 1 :]
        computed = crc.masked_crc32c(memoryview(raw)[: size + 1])
        if int.from_bytes(stored, "little") != computed:
            raise self._source.lost(what, offset, "block checksum mismatch (corrupt data)")
        if kind == _PLAIN:
            return content
        if kind != _SNAPPY:
            raise self._source.lost(what, offset, f"compressed in an unknown way, {kind}")
        try:
            return snappy.decompress(content)
        except (ValueError, IndexError) as error:
            raise self._source.lost(what, offset, str(error)) from error


def _decode(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a block.

    Raises:
      ValueError: it is not one.
    """
    restarts = int.from_bytes(content[-4:], "little")
    end = len(content) - 4 * (restarts + 1)
    if len(content) < 4 or end < 0:
        raise ValueError(f"{restarts} restarts do not fit a block of {len(content)} bytes")
    at = 0
    key = b""
    while at < end:
        shared, at = read_varint(content, at)
        fresh, at = read_varint(content, at)
        size, at = read_varint(content, at)
        if shared > len(key) or at + fresh + size > end:
            raise ValueError("an entry goes past the end of its block")
        key = key[:shared] + content[at : at + fresh]
        at += fresh + size
        yield key, content[at - size : at]
