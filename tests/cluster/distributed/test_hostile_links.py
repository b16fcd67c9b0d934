"""Strangers at the ports of links: a server lives on, and its links with others stay whole."""

from __future__ import annotations

import os
import random
import socket
import struct
from collections.abc import Iterator

import pytest
import torch

from penstock.cluster.distributed import frames, rpc
from penstock.cluster.distributed.listener import connect
from penstock.cluster.distributed.security import Security
from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages
from tests.cluster.distributed.link_peer import Peer
from tests.cluster.distributed.test_links import ME, OTHER, End
from tests.suite.clock import PATIENCE

THIRD = "/job:worker/replica:0/task:7"


@pytest.fixture
def here() -> Iterator[End]:
    end = End({})
    yield end
    end.close()


@pytest.fixture
def peer(here: End) -> Iterator[Peer]:
    made = Peer(OTHER, 0, {})
    here.addresses[OTHER] = made.address
    made.tell(do="know", task=ME, address=here.server.address)
    here.links.send(OTHER, b"hello", None)
    made.expect("message")
    yield made
    made.end()


def _still_whole(here: End, peer: Peer) -> None:
    here.links.send(OTHER, b"echo", torch.ones(100_000))
    assert here.expect("message")[1] == b"back"
    assert peer.process.poll() is None


def _ports(process: int) -> list[int]:
    """TCP ports at which a process listens."""
    rows = [line.split() for line in open("/proc/net/tcp").read().splitlines()[1:]]
    mine = {os.readlink(f"/proc/{process}/fd/{fd}") for fd in os.listdir(f"/proc/{process}/fd")}
    return [
        int(row[1].rpartition(":")[2], 16)
        for row in rows
        if row[3] == "0A" and f"socket:[{row[9]}]" in mine
    ]


def test_strangers_at_every_port(here: End, peer: Peer) -> None:
    noise = random.Random(6)
    ports = _ports(peer.process.pid)
    assert ports
    kept = []
    for port in ports:
        numbers = [n.to_bytes(8, "little") + noise.randbytes(100) for n in range(4)]
        for data in (b"", b"x", bytes(8), b"\xff" * 100, noise.randbytes(5000), *numbers):
            stranger = socket.create_connection(("127.0.0.1", port))
            stranger.sendall(data)
            kept.append(stranger)
    _still_whole(here, peer)
    for stranger in kept:
        stranger.close()
    _still_whole(here, peer)


def test_malformed_requests_to_open_a_link(here: End, peer: Peer) -> None:
    stub = rpc.Stub(peer.address, "Links", OTHER, Security())
    for task in ("", OTHER):
        with pytest.raises(errors.InvalidArgumentError):
            stub.open_link(messages.OpenLinkRequest(task=task, incarnation=3), timeout=PATIENCE)
    # Tickets that nobody uses are forgotten.
    for _ in range(50):
        stub.open_link(messages.OpenLinkRequest(task=THIRD, incarnation=3), timeout=PATIENCE)
    stub.close()
    _still_whole(here, peer)


def _connected(peer: Peer, task: str) -> socket.socket:
    stub = rpc.Stub(peer.address, "Links", OTHER, Security())
    request = messages.OpenLinkRequest(task=task, incarnation=3)
    answer = stub.open_link(request, timeout=PATIENCE)
    stub.close()
    return connect("localhost", answer.port, b"", answer.ticket, 5)[0]


def test_a_ticket_serves_once(here: End, peer: Peer) -> None:
    stub = rpc.Stub(peer.address, "Links", OTHER, Security())
    answer = stub.open_link(messages.OpenLinkRequest(task=THIRD, incarnation=3), timeout=PATIENCE)
    port, ticket = answer.port, answer.ticket
    stub.close()
    with pytest.raises(errors.UnavailableError):
        connect("localhost", port, b"", bytes(32), 5)
    first, _ = connect("localhost", port, b"", ticket, 5)
    with pytest.raises(errors.UnavailableError):
        connect("localhost", port, b"", ticket, 5)
    first.close()
    assert peer.expect("lost")["task"] == THIRD
    _still_whole(here, peer)


def test_malformed_frames_end_only_their_own_link(here: End, peer: Peer) -> None:
    noise = random.Random(7)
    good, _ = frames.pack(b"step", torch.ones(3, 4))
    huge = struct.Struct("<IBBHQQ")
    magic = int.from_bytes(good[:4], "little")
    attempts = [
        noise.randbytes(1000),
        b"GET / HTTP/1.1\r\n\r\n" * 4,
        huge.pack(magic, 0, 1, 1, 10, 1 << 62),
        huge.pack(magic, 0, 1, 1, 1 << 62, 4),
        huge.pack(magic, 0, 1, 65000, 0, 4),
        huge.pack(magic, 0, 1, 1, 0, 1 << 39) + struct.pack("<q", -(1 << 37)),
        huge.pack(magic, 0, 1, 2, 0, 4) + struct.pack("<qq", 1 << 62, 1 << 62),
        huge.pack(magic, 0, 7, 1, 0, 24) + struct.pack("<qQQQ", 2, 1 << 60, 1 << 60, 0),
        huge.pack(magic, 7, 0, 0, 0, 0),
    ]
    for _ in range(20):
        broken = bytearray(good)
        broken[noise.randrange(4)] ^= 1 << noise.randrange(8)
        attempts.append(bytes(broken))
    for attempt in attempts:
        stranger = _connected(peer, THIRD)
        stranger.sendall(attempt)
        event = peer.expect("lost")
        assert event["task"] == THIRD and event["error"] == "InternalError", attempt
        assert "malformed" in event["text"]
        stranger.close()
    _still_whole(here, peer)
    # A message that stops half-way is no malformed one, but the end of the link.
    stranger = _connected(peer, THIRD)
    stranger.sendall(good[:-3])
    stranger.close()
    assert peer.expect("lost")["error"] == "UnavailableError"
    _still_whole(here, peer)
