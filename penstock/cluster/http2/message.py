"""The message of a call, as it comes: in pieces of any size, and perhaps compressed.

Most messages are short and come in one piece: ``at_once`` has those without any of the rest.
"""

from __future__ import annotations

import zlib

from penstock.cluster.http2 import frames
from penstock.cluster.http2.status import INTERNAL, RESOURCE_EXHAUSTED, UNIMPLEMENTED, Failed

# Whether it is compressed, and its size.
PREFIX_BYTES = 5
_WINDOW_BITS = {"gzip": 31, "deflate": 15}
# So much memory is taken for a message before more of it has come, or as much as has come: a few
# bytes may say that a gigabyte follows.
_AHEAD_BYTES = 1 << 12


def at_once(piece: memoryview, limit: int) -> bytes | None:
    """The message that all of a piece is; None where it takes a ``Message`` to say.

    >>> at_once(memoryview(bytes([0, 0, 0, 0, 2]) + b"ab"), 9)
    b'ab'
    """
    size = len(piece) - PREFIX_BYTES
    if size < 0 or size > limit or piece[0] or frames.NUMBER.unpack_from(piece, 1)[0] != size:
        return None
    return piece[PREFIX_BYTES:].tobytes()


class Message:
    """A message while it comes, in pieces of any size.

    Args:
      encoding: how it may be compressed.
      limit: bytes that it may have.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        self._encoding, self._limit = encoding, limit
        self._prefix = bytearray()
        self._data = bytearray()
        self._size, self._filled = 0, 0

    def add(self, piece: memoryview) -> None:
        """Raises Failed where there is more than one message, or too much of it."""
        if len(self._prefix) < PREFIX_BYTES:
            missing = PREFIX_BYTES - len(self._prefix)
            self._prefix += piece[:missing]
            piece = piece[missing:]
            if len(self._prefix) < PREFIX_BYTES:
                return
            self._size = int.from_bytes(self._prefix[1:])
            if self._size > self._limit:
                raise _too_large(self._size, self._limit)
        end = self._filled + len(piece)
        if end > self._size:
            raise Failed(UNIMPLEMENTED, "the method takes exactly one request message")
        if end > len(self._data):
            self._grow(end)
        self._data[self._filled : end] = piece
        self._filled = end

    def _grow(self, end: int) -> None:
        ahead = min(self._size, max(2 * end, _AHEAD_BYTES))
        if self._data:
            self._data.extend(bytes(ahead - len(self._data)))
        else:
            self._data = bytearray(ahead)

    def whole(self) -> bytes | bytearray:
        """The message.

        Raises:
          Failed: something of it is missing, or it is compressed in a way that is not known.
        """
        if len(self._prefix) < PREFIX_BYTES or self._filled < self._size:
            raise Failed(UNIMPLEMENTED, "the method takes exactly one request message")
        return self._unpacked() if self._prefix[0] else self._data

    def _unpacked(self) -> bytes:
        bits = _WINDOW_BITS.get(self._encoding)
        if bits is None or self._prefix[0] != 1:
            raise Failed(UNIMPLEMENTED, f"messages compressed by {self._encoding!r} are not taken")
        unpacking = zlib.decompressobj(bits)
        try:
            data = unpacking.decompress(self._data, self._limit + 1)
        except zlib.error as error:
            raise Failed(INTERNAL, f"the message cannot be decompressed: {error}") from None
        if len(data) > self._limit:
            raise _too_large(len(data), self._limit)
        if not unpacking.eof:
            raise Failed(INTERNAL, "the compressed message ends too early")
        return data


def _too_large(size: int, limit: int) -> Failed:
    return Failed(
        RESOURCE_EXHAUSTED, f"CLIENT: Received message larger than max ({size} vs. {limit})"
    )
