"""A server of calls of one request and one answer.

One thread waits for new connections, for what comes at connections that nobody reads, and for time
to pass; threads of a pool read and answer.

State: the connections.
"""

from __future__ import annotations

import errno
import logging
import select
import socket
import threading
import time
from concurrent.futures import Executor

from penstock.cluster.http2.connection import Connection
from penstock.cluster.http2.incoming import Rules
from penstock.cluster.http2.sending import Stalled

# Systems without it have no such server.
AVAILABLE = hasattr(select, "epoll")

if AVAILABLE:
    _ARMED, _DISARMED = select.EPOLLIN | select.EPOLLONESHOT, select.EPOLLONESHOT
_TICK_SECONDS = 0.5
# A stranger has so long to say that it speaks HTTP/2.
_GREETING_SECONDS = 10.0
# Peers that are silent so long are pinged, and given up after so much more.
_IDLE_SECONDS, _PATIENCE_SECONDS = 10.0, 15.0
_AGAIN_SECONDS = 0.1
# Connections at a time.
_CONNECTIONS = 8192
# A name may have addresses that this machine lacks, as "localhost" that of IPv6.
_LACKING = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
_log = logging.getLogger(__name__)


class Server:
    """A server that has begun to listen.

    Args:
      host, port: where; port 0 takes a free one.
      rules: what it answers.
      pool: whose threads answer.

    Raises:
      OSError: the address cannot be had.
    """

    def __init__(self, host: str, port: int, rules: Rules, pool: Executor) -> None:
        self._rules, self._pool = rules, pool
        self._stalled = Stalled(rules.stalled)
        self._listening = _listen(host, port)
        self.port: int = self._listening[0].getsockname()[1]
        self._lock = threading.Lock()
        self._connections: dict[int, Connection] = {}
        self._stops = False
        self._numbers = {each.fileno(): each for each in self._listening}
        self._poll = select.epoll()
        self._modify = self._poll.modify
        for each in self._listening:
            self._poll.register(each.fileno(), select.EPOLLIN)
        self._thread = threading.Thread(target=self._run, name="penstock-rpc-watch", daemon=True)
        self._thread.start()

    def stop(self, grace: float) -> None:
        """Stops listening; ends calls that still run after ``grace`` seconds."""
        with self._lock:
            if self._stops:
                return
            self._stops = True
        for each in self._listening:
            each.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._thread.join(5.0)
        for each in self._listening:
            each.close()
        connections = list(self._connections.values())
        for connection in connections:
            connection.drain()
        until = time.monotonic() + grace
        while self._connections and time.monotonic() < until:
            self._poll_once(0.02)
        for connection in connections:
            connection.end()

    # ---- the watch of connections ------------------------------------------------------------

    def arm(self, number: int) -> None:
        """From now on, once, something that comes at a connection has a thread read it."""
        self._modify(number, _ARMED)

    def disarm(self, number: int) -> None:
        """No more."""
        self._modify(number, _DISARMED)

    def ended(self, connection: Connection) -> None:
        """The connection is over; its number will be another's."""
        with self._lock:
            if self._connections.pop(connection.number, None) is not None:
                self._poll.unregister(connection.number)

    # ---- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        ticked = time.monotonic()
        while not self._stops:
            self._poll_once(_TICK_SECONDS)
            now = time.monotonic()
            if now - ticked >= _TICK_SECONDS:
                ticked = now
                self._look(now)

    def _poll_once(self, seconds: float) -> None:
        for number, _ in self._poll.poll(seconds):
            found = self._connections.get(number)
            if found is not None:
                found.take_over()
            elif number in self._numbers and not self._stops:
                self._accept(self._numbers[number])

    def _look(self, now: float) -> None:
        for each in list(self._connections.values()):
            if not each.greeted and now - each.born > _GREETING_SECONDS:
                each.end()
            else:
                each.look(now, _IDLE_SECONDS, _PATIENCE_SECONDS)

    def _accept(self, listening: socket.socket) -> None:
        try:
            accepted, address = listening.accept()
        except BlockingIOError:  # who came has gone again
            return
        except OSError as error:  # no descriptors are left, say: that passes
            _log.warning("cannot accept a connection: %s; trying again", error)
            time.sleep(_AGAIN_SECONDS)
            return
        if len(self._connections) >= _CONNECTIONS:
            accepted.close()
            return
        try:
            peer = _named(accepted.family, address)
            made = Connection(accepted, peer, self._rules, self, self._pool, self._stalled)
        except OSError:  # it has gone already
            accepted.close()
            return
        with self._lock:
            self._connections[made.number] = made
            self._poll.register(made.number, _ARMED)


def _named(family: int, address: tuple[str, int]) -> str:
    host, port = address[:2]
    if family == socket.AF_INET6:
        return f"ipv6:[{host}]:{port}"
    return f"ipv4:{host}:{port}"


def _listen(host: str, port: int) -> list[socket.socket]:
    """Sockets at all addresses of a host, which have one port."""
    made: list[socket.socket] = []
    lacking: OSError | None = None
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    try:
        for family, _, _, _, address in found:
            try:
                listening = _bound(family, (address[0], port, *address[2:]))
            except OSError as error:
                if error.errno not in _LACKING:
                    raise
                lacking = error
                continue
            made.append(listening)
            port = listening.getsockname()[1]
    except OSError:
        for each in made:
            each.close()
        raise
    if lacking is not None and not made:
        raise lacking
    return made


def _bound(family: int, address: tuple[object, ...]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen(1024)
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made
