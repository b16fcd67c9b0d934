"""A link over a TCP connection.

The end that is asked to open tells a port and a ticket by the OpenLink call, which only who may
call gets; the opener connects and shows the ticket.  Whatever else connects is closed unread.
Messages follow each other as ``frames`` lays them out.

``abort`` shuts the connection down, which ends all that waits on it, at once and in both threads.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
from collections.abc import Callable
from typing import Any

import torch

from penstock.base import errors
from penstock.distributed import frames

_TICKET_BYTES = 32
_SMALL = 64 << 10
_BUFFER_BYTES = 64 << 10
_PIECE_BYTES = 1 << 30
# A connection that comes with no ticket in this time is closed.
_TICKET_SECONDS = 5.0


class TcpLink:
    """One end of an open link.

    Args:
      connection: to the other end.
      limits: of what the other end sends.
    """

    def __init__(self, connection: socket.socket, limits: frames.Limits) -> None:
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection, self._limits = connection, limits
        # What a message that was sent without waiting has left over.
        self._rest = memoryview(b"")
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._start = self._end = 0

    def post(self, head: bytes, data: torch.Tensor | None) -> bool:
        """Sends a small message without waiting; says whether it could.

        Raises:
          tf.errors.UnavailableError: the link is closed.
        """
        if self._rest or len(head) + (0 if data is None else data.numel()) > _SMALL:
            return False
        whole = head if data is None else head + bytes(frames.memory(data))
        try:
            sent = self._connection.send(whole, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError as error:
            raise _closed(error) from None
        self._rest = memoryview(whole)[sent:]
        return True

    def must_reap(self) -> bool:
        """Whether ``reap`` is due: something was sent in part."""
        return bool(self._rest)

    def reap(self) -> None:
        """Sends the rest of what was posted; raises as ``send``."""
        try:
            self._connection.sendall(self._rest)
        except OSError as error:
            raise _closed(error) from None
        self._rest = memoryview(b"")

    def send(self, head: bytes, data: torch.Tensor | None) -> None:
        """Sends a message; for one thread, and never while another posts.

        Raises:
          tf.errors.UnavailableError: the link is closed.
        """
        self.reap()
        try:
            self._connection.sendall(head)
            if data is not None:
                self._connection.sendall(frames.memory(data))
        except OSError as error:
            raise _closed(error) from None

    def receive(self) -> tuple[bytes, Any] | None:
        """Waits for a message; for one thread.

        Returns:
          Header and tensor, or None when the other end has said that it closes.

        Raises:
          tf.errors.UnavailableError: the link is closed.
          tf.errors.InvalidArgumentError: what came is malformed.
        """
        start = self._take(frames.PREFIX_BYTES)
        prefix = frames.parse_prefix(start, self._limits)
        if prefix.kind == frames.BYE:
            return None
        rest = self._take(prefix.head_bytes - frames.PREFIX_BYTES)
        head = frames.parse_head(prefix, start + rest)
        data = torch.empty(head.tensor_bytes, dtype=torch.uint8)
        self._take_into(frames.memory(data))
        return head.header, frames.value_of(head, data)

    def abort(self) -> None:
        """Closes the link at once."""
        try:
            self._connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            # The other end was faster.
            return

    def close(self) -> None:
        """Gives the connection back."""
        self._connection.close()

    def _take(self, size: int) -> bytes:
        data = bytearray(size)
        self._take_into(memoryview(data))
        return bytes(data)

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
            raise _closed(error) from None
        if size == 0:
            raise errors.UnavailableError(None, None, "the other end closed the connection")
        return size


class Listener:
    """Where other ends connect.

    Args:
      host: address of this machine to listen at.
    """

    def __init__(self, host: str) -> None:
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        self._socket = socket.create_server(address, family=family, backlog=1024)
        self.port: int = self._socket.getsockname()[1]
        self._lock = threading.Lock()
        self._expected: dict[bytes, Callable[[socket.socket], object]] = {}
        threading.Thread(target=self._accept_all, name="penstock-link-accept", daemon=True).start()

    def expect(self, accepted: Callable[[socket.socket], object], seconds: float) -> bytes:
        """A ticket for a connection, which ``accepted`` gets in a thread of its own."""
        ticket = secrets.token_bytes(_TICKET_BYTES)
        with self._lock:
            self._expected[ticket] = accepted
        timer = threading.Timer(seconds, self._found, [ticket])
        timer.daemon = True
        timer.start()
        return ticket

    def close(self) -> None:
        """Stops listening."""
        # A thread that waits in accept is not woken by closing alone.
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # systems that do not let a listening socket be shut down wake it by closing
        self._socket.close()

    def _accept_all(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(
                target=self._greet, args=(connection,), name="penstock-link-open", daemon=True
            ).start()

    def _greet(self, connection: socket.socket) -> None:
        accepted = None
        try:
            connection.settimeout(_TICKET_SECONDS)
            shown = connection.recv(_TICKET_BYTES, socket.MSG_WAITALL)
            accepted = self._found(shown)
            if accepted is not None:
                connection.sendall(b"\1")
                accepted(connection)
        except OSError:
            accepted = None
        finally:
            if accepted is None:
                connection.close()

    def _found(self, shown: bytes) -> Callable[[socket.socket], object] | None:
        with self._lock:
            for ticket in self._expected:
                if hmac.compare_digest(ticket, shown):
                    return self._expected.pop(ticket)
        return None


def connect(host: str, port: int, ticket: bytes, seconds: float) -> socket.socket:
    """Connects to a listener.

    Raises:
      tf.errors.UnavailableError: it cannot be reached, or does not know the ticket.
    """
    try:
        connection = socket.create_connection((host, port), timeout=seconds)
    except OSError as error:
        raise _closed(error) from None
    try:
        connection.sendall(ticket)
        if connection.recv(1) != b"\1":
            raise errors.UnavailableError(None, None, "the other end did not know the ticket")
    except BaseException as error:
        connection.close()
        if isinstance(error, OSError):
            raise _closed(error) from None
        raise
    return connection


def _closed(error: BaseException) -> errors.UnavailableError:
    return errors.UnavailableError(None, None, f"{type(error).__name__}: {error}")
