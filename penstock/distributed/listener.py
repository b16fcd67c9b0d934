"""How the two ends of a link without TLS find each other.

The end that is asked to open tells a port, a local name and a ticket by the OpenLink call, which
only who may call gets; the opener connects and shows the ticket, which serves once.  Whatever else
connects is closed unread.

The local name is of the system's abstract kind: it reaches processes of the same machine and
network namespace, and nothing else, so an opener just tries it first.  It shows its ticket together
with the descriptors of the memory that both ends will share.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import threading
from collections.abc import Callable

from penstock.base import errors
from penstock.distributed import shared_pieces
from penstock.distributed.shared_pieces import SharedPieces
from penstock.distributed.socket_link import closed

_TICKET_BYTES = 32
# A connection that comes with no ticket in this time is closed.
_TICKET_SECONDS = 5.0
_LOCAL_PREFIX = b"\0penstock-link-"
_WELCOME = b"\1"

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
        self._expected: dict[bytes, Accepted] = {}
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
        """
        ticket = secrets.token_bytes(_TICKET_BYTES)
        with self._lock:
            self._expected[ticket] = accepted
        timer = threading.Timer(seconds, self._found, [ticket])
        timer.daemon = True
        timer.start()
        return ticket

    def close(self) -> None:
        """Stops listening."""
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
            except OSError:
                return
            threading.Thread(
                target=self._greet, args=(connection,), name="penstock-link-open", daemon=True
            ).start()

    def _greet(self, connection: socket.socket) -> None:
        kept = False
        try:
            connection.settimeout(_TICKET_SECONDS)
            if connection.family == socket.AF_UNIX:
                kept = self._greet_local(connection)
            else:
                kept = self._welcome(
                    connection, connection.recv(_TICKET_BYTES, socket.MSG_WAITALL), None
                )
        except OSError:
            return  # who went away
        finally:
            if not kept:
                connection.close()

    def _greet_local(self, connection: socket.socket) -> bool:
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
        if self._welcome(connection, shown, shared):
            return True
        shared.close()
        return False

    def _welcome(
        self, connection: socket.socket, shown: bytes, shared: SharedPieces | None
    ) -> bool:
        accepted = self._found(shown)
        if accepted is None:
            return False
        connection.sendall(_WELCOME)
        accepted(connection, shared)
        return True

    def _found(self, shown: bytes) -> Accepted | None:
        with self._lock:
            for ticket in self._expected:
                if hmac.compare_digest(ticket, shown):
                    return self._expected.pop(ticket)
        return None


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
