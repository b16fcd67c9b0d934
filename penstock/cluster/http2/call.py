"""One call: what is known of it as it comes, and what its handler may ask and say.

What a handler sees of it has the names that gRPC's ``ServicerContext`` has.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

from penstock.cluster.http2 import message
from penstock.cluster.http2.headers import Head
from penstock.cluster.http2.status import Failed

# Answers a call, given the bytes of its message.
Handler = Callable[[bytes | bytearray, "Call"], bytes]


class Call:
    """One call.

    Args:
      stream: its number in its connection.
      head: its headers.
      own: those of its headers that no other call has.
      window: bytes of an answer that the caller takes at first.
      peer: address of the caller.
    """

    __slots__ = (
        "answered", "begun", "handler", "head", "over", "stream", "taken", "until", "window",
        "_callbacks", "_data", "_gone", "_lock", "_message", "_metadata", "_own", "_peer",
    )  # fmt: skip

    def __init__(
        self, stream: int, head: Head, own: dict[str, str | bytes] | None, window: int, peer: str
    ) -> None:
        self.stream, self.head, self.window = stream, head, window
        # Set once it is clear that there is one.
        self.handler: Handler
        self.until = None if head.seconds is None else time.monotonic() + head.seconds
        # Bytes that have come since the caller was told that it may send more.
        self.taken = 0
        # Whether all of its message has come, an answer to it is being sent, and nothing more is.
        self.begun = self.answered = self.over = False
        self._own, self._peer = own, peer
        # The message if it has come at once, else as much of it as has come.
        self._data: bytes | None = None
        self._message: message.Message | None = None
        self._lock = threading.Lock()
        self._gone = False
        self._callbacks: list[Callable[[], None]] = []
        self._metadata: tuple[tuple[str, bytes], ...] = ()

    # ---- for its connection ------------------------------------------------------------------

    def add(self, piece: memoryview, last: bool, limit: int) -> None:
        """A piece of its message, which may have so many bytes.

        Raises:
          Failed: there is more than one message, or too much of it.
        """
        if self._message is None:
            if last and (data := message.at_once(piece, limit)) is not None:
                self._data = data
                return
            self._message = message.Message(self.head.encoding, limit)
        self._message.add(piece)

    def request(self) -> bytes | bytearray:
        """Its message.

        Raises:
          Failed: something of it is missing, or it is compressed in a way that is not known.
        """
        if self._data is not None:
            return self._data
        return (self._message or message.Message("", 0)).whole()

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

    def metadata(self) -> dict[str, str | bytes]:
        """The headers of the call, but for method and path."""
        return self.head.metadata if self._own is None else {**self.head.metadata, **self._own}

    def invocation_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """The headers of the call."""
        return tuple(self.metadata().items())

    def peer(self) -> str:
        """Address of the caller."""
        return self._peer

    def set_trailing_metadata(self, metadata: tuple[tuple[str, bytes], ...]) -> None:
        """What is sent with the status."""
        self._metadata = metadata

    def abort(self, code: Any, details: str) -> NoReturn:
        """Ends the call with a ``grpc.StatusCode``."""
        raise Failed(code.value[0], details, self._metadata)
