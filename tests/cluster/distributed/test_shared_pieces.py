"""Memory shared by two ends: whole tensors, both ways; closing wakes; nothing hostile is mapped."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from penstock.cluster.distributed import frames, listener, shared_pieces
from penstock.cluster.distributed.buffers import Buffers
from penstock.cluster.distributed.listener import Listener, connect
from penstock.cluster.distributed.shared_pieces import SharedPieces
from penstock.cluster.distributed.socket_link import SocketLink
from penstock.foundation.base import errors
from tests.suite.clock import PATIENCE, wait_until

pytestmark = pytest.mark.skipif(
    not shared_pieces.available(), reason="this system has no sealed shared memory"
)

LIMITS = frames.Limits(1 << 20, 1 << 30)
SLOT = shared_pieces._SLOT_BYTES
RING = SLOT * shared_pieces._SLOTS


class Meeting:
    """A listener and the links that it accepted."""

    def __init__(self) -> None:
        self.listener = Listener("127.0.0.1")
        self.accepted: list[SocketLink] = []
        self.came = threading.Semaphore(0)

    def ticket(self) -> bytes:
        def add(connection: socket.socket, shared: SharedPieces | None) -> None:
            self.accepted.append(SocketLink(connection, shared, LIMITS, Buffers()))
            self.came.release()

        return self.listener.expect(add, PATIENCE)

    def pair(self, local: bytes) -> tuple[SocketLink, SocketLink]:
        made = connect("127.0.0.1", self.listener.port, local, self.ticket(), PATIENCE)
        assert (made[1] is not None) == bool(local)
        assert self.came.acquire()
        return SocketLink(*made, LIMITS, Buffers()), self.accepted[-1]


@pytest.fixture
def meeting() -> Iterator[Meeting]:
    made = Meeting()
    yield made
    made.listener.close()


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _settles(count: int) -> bool:
    return bool(wait_until(lambda: _descriptors() <= count))


@pytest.mark.parametrize("shared", [True, False])
def test_tensors_of_all_sizes_both_ways(meeting: Meeting, shared: bool) -> None:
    before = _descriptors()
    here, there = meeting.pair(meeting.listener.local if shared else b"")
    dice = np.random.RandomState(3)
    # Around a slot, around the ring, several times around it.
    sizes = [1, SLOT - 1, SLOT, SLOT + 1, RING - 1, RING, RING + 1, 3 * RING + 17, 128 << 10]
    values = [torch.from_numpy(dice.randint(0, 256, n).astype(np.uint8)) for n in sizes]
    errors_found: list[BaseException] = []

    def send(link: SocketLink, order: list[torch.Tensor]) -> None:
        try:
            for value in order:
                link.send(*frames.pack(b"%d" % value.numel(), value))
        except BaseException as error:
            errors_found.append(error)

    senders = [
        threading.Thread(target=send, args=(here, values)),
        threading.Thread(target=send, args=(there, values[::-1])),
    ]
    for sender in senders:
        sender.start()
    found: dict[str, list[Any]] = {"here": [], "there": []}
    takers = [
        threading.Thread(target=lambda: found["there"].extend(there.receive() for _ in sizes)),
        threading.Thread(target=lambda: found["here"].extend(here.receive() for _ in sizes)),
    ]
    for thread in takers:
        thread.start()
    for thread in (*senders, *takers):
        thread.join()
    assert not errors_found
    for name, order in (("there", values), ("here", values[::-1])):
        for (header, value), sent in zip(found[name], order, strict=True):
            assert header == b"%d" % sent.numel()
            assert torch.equal(value, sent)
    for link in (here, there):
        link.abort()
        link.close()
    assert _settles(before)


@pytest.mark.parametrize("who", ["here", "there"])
def test_a_sender_that_waits_for_the_other_end_is_woken(meeting: Meeting, who: str) -> None:
    here, there = meeting.pair(meeting.listener.local)
    found: list[BaseException] = []

    def send() -> None:
        try:
            here.send(*frames.pack(b"", torch.zeros(4 * RING, dtype=torch.uint8)))
        except errors.UnavailableError as error:
            found.append(error)

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(0.1)
    assert sender.is_alive()
    (here if who == "here" else there).abort()
    sender.join()
    assert found


def test_a_tensor_of_which_a_part_is_missing_never_arrives(meeting: Meeting) -> None:
    here, there = meeting.pair(meeting.listener.local)
    head, data = frames.pack(b"", torch.zeros(2 * SLOT, dtype=torch.uint8))
    here._connection.sendall(head + b"\0")
    here.abort()
    with pytest.raises(errors.UnavailableError):
        there.receive()
    assert data is not None


def _memory(size: int, *, sealed: bool) -> int:
    if sealed:
        made = shared_pieces._made()
        assert size == RING
        return made
    made = os.memfd_create("test")
    os.ftruncate(made, size)
    return made


def _shown(meeting: Meeting, ticket: bytes, descriptors: list[int]) -> bytes:
    """What a stranger is answered who shows these at the local name."""
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(PATIENCE)
        stranger.connect(meeting.listener.local)
        if descriptors:
            socket.send_fds(stranger, [ticket], descriptors)
        else:
            stranger.sendall(ticket)
        return stranger.recv(1)


def test_what_a_stranger_shows_at_the_local_name_is_checked(meeting: Meeting) -> None:
    ticket = meeting.ticket()
    good, end = [_memory(RING, sealed=True) for _ in range(2)], socket.socketpair()
    unsealed, small = _memory(RING, sealed=False), _memory(10, sealed=False)
    pipe = os.pipe()
    before = _descriptors()
    file = end[0].fileno()
    for attempt in (
        [], [good[0]], [unsealed, good[1], file], [good[0], small, file], [pipe[0], good[1], file],
        [*good, good[0]],
    ):  # fmt: skip
        assert _shown(meeting, ticket, attempt) == b"", attempt
    assert _shown(meeting, bytes(32), [*good, file]) == b""
    assert _settles(before)
    # The ticket is still good, once.
    assert _shown(meeting, ticket, [*good, file]) == b"\1"
    assert _shown(meeting, ticket, [*good, file]) == b""
    for descriptor in (*good, unsealed, small, *pipe):
        os.close(descriptor)
    for each in end:
        each.close()


def test_sealed_memory_cannot_be_shrunk() -> None:
    made = shared_pieces._made()
    with pytest.raises(PermissionError):
        os.ftruncate(made, 0)
    os.close(made)


def test_a_name_that_nobody_listens_at_means_the_port(meeting: Meeting) -> None:
    name = listener._LOCAL_PREFIX + b"nobody"
    connection, shared = connect("127.0.0.1", meeting.listener.port, name, meeting.ticket(), 5.0)
    assert shared is None and connection.family == socket.AF_INET
    connection.close()
