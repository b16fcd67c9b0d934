"""What comes over one connection, as frames."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from penstock.cluster.http2 import frames
from penstock.cluster.http2.frames import ConnectionFailed

Frame = tuple[int, int, int, memoryview]


class Reading:
    """The receiving side of a connection, for one thread at a time.

    Args:
      connection: the socket, which waits for a limited time.
      largest: bytes that a frame may have.
    """

    def __init__(self, connection: socket.socket, largest: int) -> None:
        self._socket, self._largest = connection, largest
        self._buffer = bytearray()
        self._view = memoryview(self._buffer)
        # What has come and was not looked at.
        self._start = self._end = 0

    def wait(self) -> bool:
        """Waits until something comes; False: nothing has, and memory was given back.

        Raises:
          OSError: the connection is over.
        """
        self._make_room()
        try:
            size = self._socket.recv_into(self._view[self._end :])
        except BlockingIOError:
            if self._start == self._end:  # no connection that rests needs a buffer
                self._view, self._buffer = memoryview(b""), bytearray()
            return False
        if not size:
            raise ConnectionResetError("the other end has closed it")
        self._end += size
        return True

    def _make_room(self) -> None:
        if self._start == self._end:
            self._start = self._end = 0
        if not self._buffer:
            self._buffer = bytearray(2 * self._largest)
            self._view = memoryview(self._buffer)
        elif len(self._buffer) - self._start <= self._largest + frames.HEAD.size:
            size = self._end - self._start
            self._view[:size] = bytes(self._view[self._start : self._end])
            self._start, self._end = 0, size

    def greeted(self) -> bool:
        """Whether the other end has said that it speaks HTTP/2; to be asked before all else.

        Raises:
          ConnectionFailed: it speaks something else.
        """
        found = bytes(self._view[: min(self._end, len(frames.PREFACE))])
        if not frames.PREFACE.startswith(found):
            raise ConnectionFailed(frames.PROTOCOL_ERROR, "no HTTP/2")
        if len(found) < len(frames.PREFACE):
            return False
        self._start = len(found)
        return True

    def frames(self) -> Iterator[Frame]:
        """The whole frames that have come: kind, flags, stream, and bytes until ``wait``.

        Raises:
          ConnectionFailed: one is too large.
        """
        unpack, head_bytes = frames.HEAD.unpack_from, frames.HEAD.size
        while (begin := self._start + head_bytes) <= self._end:
            high, low, kind, flags, stream = unpack(self._buffer, self._start)
            end = begin + (high << 16 | low)
            if end - begin > self._largest:
                raise ConnectionFailed(frames.FRAME_SIZE_ERROR, f"a frame of {end - begin} bytes")
            if end > self._end:
                return
            self._start = end
            yield kind, flags, stream & frames.LARGEST_WINDOW, self._view[begin:end]
