"""A link over a gRPC stream, for clusters with TLS.

Both directions are streams of bytes in pieces: messages one after another.  The opener calls the
other end's ``carry``; the first piece of each direction says who speaks.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from typing import Any

import torch

from penstock.cluster.distributed import frames
from penstock.foundation.base import errors

PIECE_BYTES = 2 << 20
# Pieces that wait to be sent: more would only take memory.
_QUEUED = 4
_POLL_SECONDS = 0.5


class StreamLink(frames.Taker):
    """One end of an open link.

    Args:
      arriving: the pieces of the other end.
      cancel: ends the call.
      describe: the error for an exception of ``arriving``.
      limits: of what the other end sends.
    """

    def __init__(
        self,
        arriving: Iterator[bytes],
        cancel: Callable[[], Any],
        describe: Callable[[BaseException], errors.OpError],
        limits: frames.Limits,
    ) -> None:
        self._arriving, self._cancel = arriving, cancel
        self._describe, self._limits = describe, limits
        self._leaving: queue.Queue[bytes | None] = queue.Queue(_QUEUED)
        self._rest = memoryview(b"")
        self._closed = False
        self.received = 0

    def leaving(self) -> Iterator[bytes]:
        """The pieces for the other end; ends with the link."""
        while not self._closed:
            try:
                piece = self._leaving.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
            if piece is None:
                return
            yield piece

    def first(self) -> bytes:
        """The first piece, before any message."""
        return self._next()

    def post(self, head: bytes, data: torch.Tensor | None) -> bool:
        """Sends a small message without waiting; as ``SocketLink.post``."""
        if len(head) + (0 if data is None else data.numel()) > PIECE_BYTES or self._closed:
            return False
        try:
            self._leaving.put_nowait(head if data is None else head + bytes(frames.memory(data)))
        except queue.Full:
            return False
        return True

    def must_reap(self) -> bool:
        """Whether ``reap`` is due: never."""
        return False

    def reap(self) -> None:
        """Nothing is left to wait for."""

    def send(self, head: bytes, data: torch.Tensor | None) -> None:
        """Sends a message; for one thread.  Raises UnavailableError when the link is closed."""
        if data is None:
            self._put_all(head)
            return
        memory = frames.memory(data)
        if len(head) + len(memory) <= PIECE_BYTES:
            self._put(head + bytes(memory))
            return
        self._put_all(head)
        for start in range(0, len(memory), PIECE_BYTES):
            self._put(bytes(memory[start : start + PIECE_BYTES]))

    def receive(self) -> tuple[bytes, Any] | None:
        """Waits for a message; as ``SocketLink.receive``."""
        return frames.read(self._take, self._take_tensor, self._limits)

    def abort(self) -> None:
        """Closes the link at once."""
        self._closed = True
        self._cancel()

    def close(self) -> None:
        """Nothing is left: the call has ended."""

    def _put_all(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE_BYTES):
            self._put(data[start : start + PIECE_BYTES])

    def _put(self, piece: bytes) -> None:
        while not self._closed:
            try:
                self._leaving.put(piece, timeout=_POLL_SECONDS)
                return
            except queue.Full:
                continue
        raise errors.UnavailableError(None, None, "the link is closed")

    def _take_tensor(self, size: int) -> torch.Tensor:
        self.received += size
        data = torch.empty(size, dtype=torch.uint8)
        self._take_into(frames.memory(data))
        return data

    def _take_into(self, memory: memoryview) -> None:
        at = 0
        while at < len(memory):
            if not self._rest:
                self._rest = memoryview(self._next())
            size = min(len(self._rest), len(memory) - at)
            memory[at : at + size] = self._rest[:size]
            self._rest = self._rest[size:]
            at += size

    def _next(self) -> bytes:
        try:
            return next(self._arriving)
        except StopIteration:
            self._closed = True
            raise errors.UnavailableError(None, None, "the other end closed the link") from None
        except Exception as error:
            self._closed = True
            raise self._describe(error) from None
