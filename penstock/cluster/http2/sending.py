"""What a server sends over one connection, no more than the other end takes."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Sequence

from penstock.cluster.http2 import frames, headers
from penstock.cluster.http2.call import Call
from penstock.cluster.http2.frames import ConnectionFailed
from penstock.cluster.http2.status import Failed

# Data that is sent in one piece: so long a short answer may wait for its turn.
_PIECE_BYTES = 1 << 18
# The longest that an answer waits for a caller who takes no more.
_PATIENCE_SECONDS = 60.0
# What stands before and after the message of a short answer: frames of headers, and the head of
# that of the message with its prefix.
_HEAD = frames.HEAD.format.removeprefix(">")
_BEFORE = struct.Struct(f">{_HEAD}{len(headers.BEFORE_ANSWER)}s{_HEAD}BI")
_AFTER = struct.Struct(f">{_HEAD}{len(headers.AFTER_ANSWER)}s")


class Stalled:
    """The answers of all connections that wait for callers who take no more.

    Each has a thread.  Callers who keep too many are hung up on, so that others find one.

    Args:
      limit: of them.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._count = limit, 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            if self._count >= self._limit:
                raise TimeoutError(f"{self._limit} answers wait to be taken already")
            self._count += 1

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            self._count -= 1


class Sending:
    """The sending side of a connection, for any number of threads.

    Args:
      connection: the socket.
      stalled: of the server.
    """

    def __init__(self, connection: socket.socket, stalled: Stalled) -> None:
        self._socket, self._stalled = connection, stalled
        self.first_window = frames.FIRST_WINDOW
        self._largest = frames.FIRST_FRAME_SIZE
        self._window = frames.FIRST_WINDOW
        self._over = False
        # The one is held while something is sent, the other while windows are looked at.
        self._turn, self._lock = threading.Lock(), threading.Lock()
        self._changed = threading.Condition(self._lock)
        # Answers that wait for wider windows.
        self._waiting = 0

    # ---- sending -----------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Sends frames as they are; raises OSError when the connection is over."""
        with self._turn:
            self._socket.sendall(data)

    def fits(self, call: Call, size: int) -> bool:
        """Whether an answer can be sent without waiting for the caller."""
        return size + 5 <= min(self._window, call.window)

    def answer(self, call: Call, message: bytes) -> None:
        """Sends the answer of a call, as its caller takes it; stops where that gives up."""
        stream, size = call.stream, len(message) + 5
        if size <= self._largest and self._reserve_at_once(call, size):
            self.send(_whole_answer(stream, message, size))
            return
        self.send(frames.header_frames(stream, 0, headers.BEFORE_ANSWER, self._largest))
        prefix = b"\0" + frames.NUMBER.pack(len(message))
        if self._send_data(call, memoryview(prefix + message)) and not call.over:
            block = headers.AFTER_ANSWER
            self.send(frames.header_frames(stream, frames.END_STREAM, block, self._largest))

    def _send_data(self, call: Call, data: memoryview) -> bool:
        at = 0
        while at < len(data):
            count = self._reserve(call, min(len(data) - at, _PIECE_BYTES))
            if not count:
                return False
            self.send(self._data_frames(call.stream, data[at : at + count]))
            at += count
        return True

    def _data_frames(self, stream: int, data: memoryview) -> bytes:
        parts: list[bytes | memoryview] = []
        for at in range(0, len(data), self._largest):
            part = data[at : at + self._largest]
            parts += (frames.head(frames.DATA, 0, stream, len(part)), part)
        return b"".join(parts)

    def fail(self, stream: int, error: Failed) -> None:
        """Ends a call with an error."""
        block = headers.BEFORE_ANSWER + headers.failed(error.code, error.text, error.metadata)
        self.send(frames.header_frames(stream, frames.END_STREAM, block, self._largest))

    def fail_quietly(self, stream: int, error: Failed) -> None:
        """The same, where it does not matter whether someone hears it."""
        try:
            self.fail(stream, error)
            self.send(frames.reset(stream, frames.CANCEL))
        except OSError:
            pass  # the connection has ended

    def ping(self) -> None:
        """Asks whether the other end is there, unless something is being sent."""
        if not self._turn.acquire(blocking=False):
            return
        try:
            if self._socket.fileno() >= 0:
                self._socket.send(frames.frame(frames.PING, 0, 0, bytes(8)), socket.MSG_DONTWAIT)
        except OSError:
            pass  # its buffers are full, or it has gone: either shows
        finally:
            self._turn.release()

    # ---- windows -----------------------------------------------------------------------------

    def _reserve_at_once(self, call: Call, size: int) -> bool:
        """Takes so many bytes of the windows, if both have them."""
        with self._lock:
            if size > self._window or size > call.window or self._over or call.over:
                return False
            self._window -= size
            call.window -= size
        return True

    def _reserve(self, call: Call, size: int) -> int:
        """How many of so many bytes may be sent, once some may be; 0: none ever."""
        with self._changed:
            while not (self._over or call.over):
                count = min(size, self._window, call.window)
                if count > 0:
                    self._window -= count
                    call.window -= count
                    return count
                self._waiting += 1
                try:
                    with self._stalled:
                        in_time = self._changed.wait(_PATIENCE_SECONDS)
                finally:
                    self._waiting -= 1
                if not in_time:
                    raise TimeoutError("the caller does not take its answer")
            return 0

    def widen(self, call: Call | None, size: int, stream: int) -> None:
        """The other end takes so many bytes more: of a call, or of all where the stream is 0."""
        if not size:
            raise ConnectionFailed(frames.PROTOCOL_ERROR, "a window of nothing")
        with self._lock:
            if stream == 0:
                self._window = _widened(self._window, size)
            elif call is not None:
                call.window = _widened(call.window, size)
            if self._waiting:
                self._changed.notify_all()

    def obey(self, settings: dict[int, int], calls: Sequence[Call]) -> None:
        """Takes the other end's settings, and says so."""
        first = settings.get(frames.INITIAL_WINDOW)
        largest = settings.get(frames.FRAME_SIZE)
        if settings.get(frames.PUSH, 0) > 1:
            raise ConnectionFailed(frames.PROTOCOL_ERROR, "a setting that is neither 0 nor 1")
        if first is not None:
            if first > frames.LARGEST_WINDOW:
                raise ConnectionFailed(frames.FLOW_CONTROL_ERROR, "a window that is too large")
            with self._changed:
                for call in calls:
                    call.window = _widened(call.window, first - self.first_window)
                self.first_window = first
                self._changed.notify_all()
        if largest is not None:
            if not frames.FIRST_FRAME_SIZE <= largest < 1 << 24:
                raise ConnectionFailed(frames.PROTOCOL_ERROR, "a size of frames that is none")
            self._largest = largest
        self.send(frames.frame(frames.SETTINGS, frames.ACK, 0))

    # ---- ending ------------------------------------------------------------------------------

    def wake(self) -> None:
        """A call has been given up: what waits to be sent of it is to look."""
        with self._changed:
            self._changed.notify_all()

    def end(self) -> None:
        """Nothing more is sent."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def close(self) -> None:
        """Gives the socket back."""
        with self._turn:
            self._socket.close()


def _whole_answer(stream: int, message: bytes, size: int) -> bytes:
    """The three frames of a short answer."""
    begin = _BEFORE.pack(
        0, len(headers.BEFORE_ANSWER), frames.HEADERS, frames.END_HEADERS, stream,
        headers.BEFORE_ANSWER, size >> 16, size & 0xFFFF, frames.DATA, 0, stream, 0, len(message),
    )  # fmt: skip
    end = _AFTER.pack(
        0, len(headers.AFTER_ANSWER), frames.HEADERS, frames.END_HEADERS | frames.END_STREAM,
        stream, headers.AFTER_ANSWER,
    )  # fmt: skip
    return begin + message + end


def _widened(window: int, size: int) -> int:
    if window + size > frames.LARGEST_WINDOW:
        raise ConnectionFailed(frames.FLOW_CONTROL_ERROR, "a window that is too large")
    return window + size
