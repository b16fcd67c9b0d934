"""The listener of links lives through whatever connects, and through a lack of descriptors."""

from __future__ import annotations

import os
import queue
import resource
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.cluster.distributed import listener as listeners
from penstock.cluster.distributed.listener import Listener, connect
from penstock.foundation.base import errors
from tests.suite.clock import PATIENCE


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener("127.0.0.1")
    yield made
    made.close()


class _Accepted:
    """Takes the connections of tickets."""

    def __init__(self) -> None:
        self.all: queue.SimpleQueue[socket.socket] = queue.SimpleQueue()

    def __call__(self, connection: socket.socket, shared: Any) -> None:
        if shared is not None:
            shared.close()
        self.all.put(connection)

    def one(self) -> socket.socket:
        return self.all.get(timeout=PATIENCE)


def _opens(listener: Listener, local: bytes = b"") -> None:
    accepted = _Accepted()
    ticket = listener.expect(accepted, PATIENCE)
    connection, shared = connect("127.0.0.1", listener.port, local, ticket, PATIENCE)
    connection.close()
    if shared is not None:
        shared.close()
    accepted.one().close()


def _openers() -> int:
    return sum(each.name == "penstock-link-open" for each in threading.enumerate())


@pytest.mark.parametrize("sizes", [[1, 31], [16, 16], [31, 1], [1] * 32])
def test_a_ticket_in_pieces(listener: Listener, sizes: list[int]) -> None:
    accepted = _Accepted()
    ticket = listener.expect(accepted, PATIENCE)
    with socket.create_connection(("127.0.0.1", listener.port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        at = 0
        for size in sizes:
            connection.sendall(ticket[at : at + size])
            at += size
            time.sleep(0.02)
        assert connection.recv(1) == b"\1"
        accepted.one().close()


def test_a_piece_of_a_ticket_is_none(listener: Listener) -> None:
    ticket = listener.expect(_Accepted(), PATIENCE)
    with socket.create_connection(("127.0.0.1", listener.port)) as connection:
        connection.sendall(ticket[:-1])
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""


def test_trickling_does_not_prolong_the_wait(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "_TICKET_SECONDS", 0.5)
    with socket.create_connection(("127.0.0.1", listener.port)) as connection:
        with pytest.raises(OSError):
            for _ in range(31):
                connection.sendall(b"x")
                time.sleep(0.1)
            # Not reached: the other end has closed by then.
            assert connection.recv(1) == b"never"


def test_without_descriptors_it_waits_for_some(listener: Listener) -> None:
    _opens(listener)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    strangers = [socket.socket() for _ in range(20)]
    used = max(int(name) for name in os.listdir("/proc/self/fd"))
    # Every descriptor below the limit is taken.
    fill = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 4, hard))
        with pytest.raises(OSError):
            while True:
                fill.append(os.dup(strangers[0].fileno()))
        for stranger in strangers:
            stranger.connect(("127.0.0.1", listener.port))
        time.sleep(0.3)
    finally:
        for descriptor in fill:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    _opens(listener)
    _opens(listener, listener.local)
    for stranger in strangers:
        stranger.close()


def test_connections_without_a_ticket_are_limited(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "_HALF_OPEN", 10)
    monkeypatch.setattr(listeners, "_TICKET_SECONDS", PATIENCE)
    before = _openers()
    strangers = []
    for _ in range(60):
        strangers.append(socket.create_connection(("127.0.0.1", listener.port)))
        strangers[-1].sendall(b"half")
    # The first ones were closed for the later ones.
    assert strangers[0].recv(1) == b""
    assert strangers[49].recv(1) == b""
    while _openers() - before > 10:
        time.sleep(0.01)
    _opens(listener)
    _opens(listener, listener.local)
    strangers[-1].setblocking(False)
    with pytest.raises(BlockingIOError):
        strangers[-1].recv(1)
    for stranger in strangers:
        stranger.close()


def test_tickets_are_limited_and_make_no_threads(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "_TICKETS", 5)
    before = threading.active_count()
    for _ in range(4):
        listener.expect(_Accepted(), 0.0)
    accepted = _Accepted()
    ticket = listener.expect(accepted, PATIENCE)
    for _ in range(4):
        listener.expect(_Accepted(), PATIENCE)
    assert threading.active_count() == before
    with pytest.raises(errors.ResourceExhaustedError, match="5 links are being opened"):
        listener.expect(_Accepted(), PATIENCE)
    connect("127.0.0.1", listener.port, b"", ticket, PATIENCE)[0].close()
    accepted.one().close()


def test_a_ticket_serves_for_its_time_only(listener: Listener) -> None:
    ticket = listener.expect(_Accepted(), 0.0)
    time.sleep(0.01)
    with pytest.raises(errors.UnavailableError, match="did not know the ticket"):
        connect("127.0.0.1", listener.port, b"", ticket, PATIENCE)
