"""A link over a connected socket: TCP, or within a machine a local one with shared memory.

Messages follow each other as ``frames`` lays them out.  Between processes of one machine a large
tensor does not go through the socket: see ``shared_pieces``.

``abort`` shuts the connection down, which ends all that waits on it, at once and in both threads.
"""

from __future__ import annotations

import socket
from typing import Any

import torch

from penstock.cluster.distributed import frames
from penstock.cluster.distributed.buffers import Buffers
from penstock.cluster.distributed.shared_pieces import SharedPieces
from penstock.foundation.base import errors

_BUFFER_BYTES = 64 << 10
_PIECE_BYTES = 1 << 30
# Tensors from this size on are handed over in shared memory, where there is some.  Smaller ones are
# posted, since handing 64 kB to another thread and waiting for it takes several times as long as
# the system's copy of it; the system is asked to keep several of them.
_SHARED_BYTES = 128 << 10
_KEPT_BYTES = 1 << 20


class SocketLink(frames.Taker):
    """One end of an open link.

    Args:
      connection: to the other end.
      shared: memory that both ends have, or None.
      limits: of what the other end sends.
      buffers: memory for what it sends.
    """

    def __init__(
        self,
        connection: socket.socket,
        shared: SharedPieces | None,
        limits: frames.Limits,
        buffers: Buffers,
    ) -> None:
        connection.settimeout(None)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _KEPT_BYTES)
        self._connection, self._shared, self._limits = connection, shared, limits
        self._buffers = buffers
        # What a message that was sent without waiting has left over.
        self._rest = memoryview(b"")
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._start = self._end = 0
        self.received = 0

    def post(self, head: bytes, data: torch.Tensor | None) -> bool:
        """Sends a message without waiting, if it is not large; says whether it could.

        Raises:
          tf.errors.UnavailableError: the link is closed.
        """
        size = 0 if data is None else data.numel()
        if self._rest or size >= _SHARED_BYTES:
            return False
        parts = (head,) if data is None else (head, frames.memory(data))
        try:
            sent = self._connection.sendmsg(parts, (), socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError as error:
            raise closed(error) from None
        if sent < len(head) + size:
            self._rest = memoryview(b"".join(parts))[sent:]
        return True

    def must_reap(self) -> bool:
        """Whether ``reap`` is due: something was sent in part."""
        return bool(self._rest)

    def reap(self) -> None:
        """Sends the rest of what was posted; raises as ``send``."""
        try:
            self._connection.sendall(self._rest)
        except OSError as error:
            raise closed(error) from None
        self._rest = memoryview(b"")

    def send(self, head: bytes, data: torch.Tensor | None) -> None:
        """Sends a message; for one thread, and never while another posts.

        Raises:
          tf.errors.UnavailableError: the link is closed.
        """
        self.reap()
        try:
            self._connection.sendall(head)
            if data is not None and self._shared is not None and data.numel() >= _SHARED_BYTES:
                self._shared.send(frames.memory(data), lambda: self._connection.sendall(b"\0"))
            elif data is not None:
                self._connection.sendall(frames.memory(data))
        except OSError as error:
            raise closed(error) from None

    def receive(self) -> tuple[bytes, Any] | None:
        """Waits for a message; for one thread.

        Returns:
          Header and tensor, or None when the other end has said that it closes.

        Raises:
          tf.errors.UnavailableError: the link is closed.
          tf.errors.InvalidArgumentError: what came is malformed.
        """
        return frames.read(self._take, self._take_tensor, self._limits)

    def abort(self) -> None:
        """Closes the link at once."""
        if self._shared is not None:
            self._shared.abort()
        try:
            self._connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            # The other end was faster.
            return

    def close(self) -> None:
        """Gives the connection back."""
        self._connection.close()
        if self._shared is not None:
            self._shared.close()

    def _take_tensor(self, size: int) -> torch.Tensor:
        self.received += size
        data = self._buffers.take(size)
        memory = frames.memory(data)
        if self._shared is None or size < _SHARED_BYTES:
            self._take_into(memory)
            return data
        try:
            self._shared.receive(memory, lambda: self._take(1))
        except OSError as error:
            raise closed(error) from None
        return data

    def _take_into(self, memory: memoryview) -> None:
        at = 0
        while at < len(memory):
            if self._start == self._end and len(memory) - at >= _BUFFER_BYTES:
                # In one call of the system: Python would take the interpreter's lock for each part.
                at += self._receive_into(memory[at : at + _PIECE_BYTES], socket.MSG_WAITALL)
                continue
            if self._start == self._end:
                self._start, self._end = 0, self._receive_into(self._buffer)
            size = min(self._end - self._start, len(memory) - at)
            memory[at : at + size] = self._buffer[self._start : self._start + size]
            self._start += size
            at += size

    def _receive_into(self, memory: memoryview, flags: int = 0) -> int:
        try:
            size = self._connection.recv_into(memory, 0, flags)
        except OSError as error:
            raise closed(error) from None
        if size == 0:
            raise errors.UnavailableError(None, None, "the other end closed the connection")
        return size


def closed(error: BaseException) -> errors.UnavailableError:
    """What a failure of the system means for a link."""
    return errors.UnavailableError(None, None, f"{type(error).__name__}: {error}")
