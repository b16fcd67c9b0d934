"""How the two ends of a link without TLS find each other.

The end that is asked to open tells a port, a local name and a ticket by the OpenLink call, which
only who may call gets; the opener connects and shows the ticket, which serves once.  Whatever else
connects is closed unread: after a few seconds, or before where there are too many, the oldest
first, since who has a ticket shows it at once.  A failure to accept (no descriptors are left, say)
passes, and is no reason to stop listening.

The local name is of the system's abstract kind: it reaches processes of the same machine and
network namespace, and nothing else, so an opener just tries it first.  It shows its ticket together
with the descriptors of the memory that both ends will share.
"""

from __future__ import annotations

import hmac
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable

from penstock.cluster.distributed import shared_pieces
from penstock.cluster.distributed.shared_pieces import SharedPieces
from penstock.cluster.distributed.socket_link import closed
from penstock.foundation.base import errors

_TICKET_BYTES = 32
# A connection that comes with no ticket in this time is closed.
_TICKET_SECONDS = 5.0
# How many connections may be without a ticket at a time, and how many tickets may be awaited.
_HALF_OPEN, _TICKETS = 128, 4096
# After a failure to accept, until the next attempt.
_AGAIN_SECONDS = 0.1
_LOCAL_PREFIX = b"\0penstock-link-"
_WELCOME = b"\1"

_log = logging.getLogger(__name__)

Accepted = Callable[[socket.socket, SharedPieces | None], object]


class Listener:
    """Where other ends connect.

    Args:
      host: address of this machine to listen at.
    """

    def __init__(self, host: str) -> None:
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        remote = socket.create_server(address, family=family, backlog=1024)
        self.port: int = remote.getsockname()[1]
        self.local = b""
        self._sockets = [remote]
        self._lock = threading.Lock()
        # Until when each ticket serves, and for what.
        self._expected: dict[bytes, tuple[float, Accepted]] = {}
        # Connections without a ticket, the oldest first.
        self._half_open: dict[socket.socket, None] = {}
        self._closed = threading.Event()
        if shared_pieces.available():
            self.local = _LOCAL_PREFIX + secrets.token_hex(16).encode()
            local = socket.socket(socket.AF_UNIX)
            local.bind(self.local)
            local.listen(1024)
            self._sockets.append(local)
        for listening in self._sockets:
            threading.Thread(
                target=self._accept_all, args=(listening,), name="penstock-link-accept", daemon=True
            ).start()

    def expect(self, accepted: Accepted, seconds: float) -> bytes:
        """A ticket for a connection, which ``accepted`` gets in a thread of its own.

        With it comes the memory shared with the other end, if that is on this machine.

        Raises:
          tf.errors.ResourceExhaustedError: too many tickets wait for their connections.
        """
        ticket, now = secrets.token_bytes(_TICKET_BYTES), time.monotonic()
        with self._lock:
            for old in [each for each, (until, _) in self._expected.items() if until < now]:
                del self._expected[old]
            if len(self._expected) >= _TICKETS:
                raise errors.ResourceExhaustedError(
                    None, None, f"{_TICKETS} links are being opened; no more are allowed at a time"
                )
            self._expected[ticket] = now + seconds, accepted
        return ticket

    def close(self) -> None:
        """Stops listening."""
        self._closed.set()
        for listening in self._sockets:
            # A thread that waits in accept is not woken by closing alone.
            try:
                listening.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # systems that do not let a listening socket be shut down wake it by closing
            listening.close()

    def _accept_all(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError as error:
                if self._closed.is_set():
                    return
                _log.warning("cannot accept a link: %s; trying again", error)
                self._closed.wait(_AGAIN_SECONDS)
                continue
            self._make_room(connection)
            try:
                threading.Thread(
                    target=self._greet, args=(connection,), name="penstock-link-open", daemon=True
                ).start()
            except RuntimeError:  # there are no more threads
                self._end(connection)

    def _make_room(self, connection: socket.socket) -> None:
        with self._lock:
            self._half_open[connection] = None
            if len(self._half_open) <= _HALF_OPEN:
                return
            oldest = next(iter(self._half_open))
            del self._half_open[oldest]
            try:
                oldest.shutdown(socket.SHUT_RDWR)  # its thread closes it
            except OSError:
                pass  # the other end was faster

    def _end(self, connection: socket.socket) -> None:
        with self._lock:
            self._half_open.pop(connection, None)
            connection.close()

    def _greet(self, connection: socket.socket) -> None:
        kept = False
        try:
            until = time.monotonic() + _TICKET_SECONDS
            connection.settimeout(_TICKET_SECONDS)
            if connection.family == socket.AF_UNIX:
                kept = self._greet_local(connection, until)
            else:
                kept = self._welcome(connection, _ticket(connection, b"", until), None)
        except OSError:
            return  # who went away
        finally:
            if not kept:
                self._end(connection)

    def _greet_local(self, connection: socket.socket, until: float) -> bool:
        shown, descriptors, _, _ = socket.recv_fds(
            connection, _TICKET_BYTES, shared_pieces.DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        try:
            shared = SharedPieces.adopt(descriptors)
        except (OSError, ValueError, errors.InvalidArgumentError):
            return False
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        kept = False
        try:
            kept = self._welcome(connection, _ticket(connection, shown, until), shared)
        finally:
            if not kept:
                shared.close()
        return kept

    def _welcome(
        self, connection: socket.socket, shown: bytes, shared: SharedPieces | None
    ) -> bool:
        accepted = self._found(shown)
        if accepted is None:
            return False
        with self._lock:
            if connection not in self._half_open:
                return False  # it was the oldest of too many
            del self._half_open[connection]
        connection.settimeout(_TICKET_SECONDS)
        connection.sendall(_WELCOME)
        accepted(connection, shared)
        return True

    def _found(self, shown: bytes) -> Accepted | None:
        with self._lock:
            for ticket in self._expected:
                if hmac.compare_digest(ticket, shown):
                    until, accepted = self._expected.pop(ticket)
                    return accepted if time.monotonic() < until else None
        return None


def _ticket(connection: socket.socket, shown: bytes, until: float) -> bytes:
    """What a connection shows as its ticket, in however many pieces it comes.

    Raises:
      OSError: it does not come in time.
    """
    while len(shown) < _TICKET_BYTES:
        connection.settimeout(max(until - time.monotonic(), 0.001))
        more = connection.recv(_TICKET_BYTES - len(shown))
        if not more:
            break
        shown += more
    return shown


def connect(
    host: str, port: int, local: bytes, ticket: bytes, seconds: float
) -> tuple[socket.socket, SharedPieces | None]:
    """Connects to a listener: on this machine by its local name, else to its port.

    Raises:
      tf.errors.UnavailableError: it cannot be reached, or does not know the ticket.
    """
    if local.startswith(_LOCAL_PREFIX) and shared_pieces.available():
        try:
            return _connect_local(local, ticket, seconds)
        except (ConnectionRefusedError, FileNotFoundError):
            pass  # it is on another machine, or in a network of its own
        except OSError as error:
            raise closed(error) from None
    try:
        connection = socket.create_connection((host, port), timeout=seconds)
    except OSError as error:
        raise closed(error) from None
    try:
        connection.sendall(ticket)
        _await_welcome(connection)
    except BaseException as error:
        connection.close()
        if isinstance(error, OSError):
            raise closed(error) from None
        raise
    return connection, None


def _connect_local(
    local: bytes, ticket: bytes, seconds: float
) -> tuple[socket.socket, SharedPieces]:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(seconds)
        connection.connect(local)
        shared, theirs = SharedPieces.create()
        try:
            socket.send_fds(connection, [ticket], theirs)
            _await_welcome(connection)
        except BaseException:
            shared.close()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
    except BaseException:
        connection.close()
        raise
    return connection, shared


def _await_welcome(connection: socket.socket) -> None:
    if connection.recv(1) != _WELCOME:
        raise errors.UnavailableError(None, None, "the other end did not know the ticket")
