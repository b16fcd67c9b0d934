"""One call: its message as it comes, and what its handler may ask and say.

What a handler sees of it has the names that gRPC's ``ServicerContext`` has.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable
from typing import Any, NoReturn

from penstock.cluster.http2.headers import Head

# Codes of gRPC.
DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL = 4, 8, 12, 13
_WINDOW_BITS = {"gzip": 31, "deflate": 15}
# So much memory is taken for a message before more of it has come.
_AHEAD_BYTES = 1 << 19


class Failed(Exception):
    """A call ends with an error.

    Args:
      code: gRPC's number of it.
      text: for the caller.
      metadata: sent with it.
    """

    def __init__(self, code: int, text: str, metadata: tuple[tuple[str, bytes], ...] = ()) -> None:
        super().__init__(text)
        self.code, self.text, self.metadata = code, text, metadata


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
        if len(self._prefix) < 5:
            missing = 5 - len(self._prefix)
            self._prefix += piece[:missing]
            piece = piece[missing:]
            if len(self._prefix) < 5:
                return
            self._size = int.from_bytes(self._prefix[1:5])
            if self._size > self._limit:
                raise _too_large(self._size, self._limit)
        end = self._filled + len(piece)
        if end > self._size:
            raise Failed(UNIMPLEMENTED, "the method takes exactly one request message")
        if end > len(self._data):
            ahead = max(end, min(self._size, max(2 * self._filled, _AHEAD_BYTES)))
            if self._data:
                self._data.extend(bytes(ahead - len(self._data)))
            else:
                self._data = bytearray(ahead)
        self._data[self._filled : end] = piece
        self._filled = end

    def whole(self) -> bytes | bytearray:
        """The message.

        Raises:
          Failed: something of it is missing, or it is compressed in a way that is not known.
        """
        if len(self._prefix) < 5 or self._filled < self._size:
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


class Call:
    """One call.

    Args:
      stream: its number in its connection.
      head: its headers.
      limit: bytes that its message may have.
      window: bytes of an answer that the caller takes at first.
      peer: address of the caller.
    """

    def __init__(self, stream: int, head: Head, limit: int, window: int, peer: str) -> None:
        self.stream, self.head, self.window = stream, head, window
        self.message = Message(head.encoding, limit)
        self.until = None if head.seconds is None else time.monotonic() + head.seconds
        # Bytes that have come since the caller was told that it may send more.
        self.taken = 0
        # Whether all of its message has come, an answer to it is being sent, and nothing more is.
        self.begun = self.answered = self.over = False
        self._peer = peer
        self._lock = threading.Lock()
        self._gone = False
        self._callbacks: list[Callable[[], None]] = []
        self._metadata: tuple[tuple[str, bytes], ...] = ()

    # ---- for its connection ------------------------------------------------------------------

    def cancel(self) -> list[Callable[[], None]]:
        """Nobody waits for it any more; what is to be called, but not while something is held."""
        with self._lock:
            self._gone = True
            callbacks, self._callbacks = self._callbacks, []
        return callbacks

    # ---- for its handler ---------------------------------------------------------------------

    def add_callback(self, callback: Callable[[], None]) -> bool:
        """Has a function called when nobody waits any more; False if so it is."""
        with self._lock:
            if self._gone:
                return False
            self._callbacks.append(callback)
        return True

    def is_active(self) -> bool:
        """Whether the caller still waits."""
        return not self._gone

    def time_remaining(self) -> float | None:
        """The seconds that the caller still waits; None for any time."""
        return None if self.until is None else max(self.until - time.monotonic(), 0.0)

    def invocation_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """The headers of the call."""
        return tuple(self.head.metadata.items())

    def peer(self) -> str:
        """Address of the caller."""
        return self._peer

    def set_trailing_metadata(self, metadata: tuple[tuple[str, bytes], ...]) -> None:
        """What is sent with the status."""
        self._metadata = metadata

    def abort(self, code: Any, details: str) -> NoReturn:
        """Ends the call with a ``grpc.StatusCode``."""
        raise Failed(code.value[0], details, self._metadata)
