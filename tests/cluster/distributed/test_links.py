"""Links between processes: what arrives, and what happens when the other end dies or hangs."""

from __future__ import annotations

import gc
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from penstock.cluster.distributed import links as links_module, rpc
from penstock.cluster.distributed.links import Links
from penstock.cluster.distributed.security import Security
from penstock.engine.resources import waiting
from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages
from tests.cluster.distributed import certificates
from tests.cluster.distributed.link_peer import Peer
from tests.suite.clock import PATIENCE, Clock

ME = "/job:worker/replica:0/task:0"
OTHER = "/job:ps/replica:0/task:0"
KINDS = ("tcp", "tls")


class End:
    """This process's end: a server with links, and what happens to it."""

    def __init__(self, env: dict[str, str], me: str = ME, incarnation: int = 1) -> None:
        self.events: queue.Queue[tuple[Any, ...]] = queue.Queue()
        self.addresses: dict[str, str] = {}
        self.me, self.incarnation, self.env = me, incarnation, env
        self.security = Security.from_environment(env)
        self.links = Links(
            me,
            lambda task: rpc.Stub(self.addresses[task], "Links", task, self.security),
            lambda *message: self.events.put(("message", *message)),
            lambda task, error: self.events.put(("lost", task, error)),
            self.security,
            incarnation=incarnation,
        )
        self.server = rpc.serve("localhost:0", {"Links": self.links}, self.security, task=me)

    def expect(self, what: str, seconds: float = PATIENCE) -> tuple[Any, ...]:
        event = self.events.get(timeout=seconds)
        assert event[0] == what, event
        return event[1:]

    def close(self) -> None:
        self.links.close()
        self.server.stop(0)


@pytest.fixture(scope="module", params=KINDS)
def env(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    if request.param == "tls":
        return certificates.environment(tmp_path_factory.mktemp("tls"))
    return {}


@pytest.fixture
def here(env: dict[str, str]) -> Iterator[End]:
    end = End(env)
    yield end
    end.close()


@pytest.fixture
def near(env: dict[str, str], here: End) -> Iterator[End]:
    """Another end in this process."""
    end = End(env, OTHER, 2)
    _acquaint(here, end)
    yield end
    end.close()


def _acquaint(one: End, other: End) -> None:
    one.addresses[other.me] = other.server.address
    other.addresses[one.me] = one.server.address


@pytest.fixture
def peer(env: dict[str, str], here: End) -> Iterator[Peer]:
    made = _peer(env, here)
    yield made
    made.end()


def _peer(env: dict[str, str], here: End, port: int = 0) -> Peer:
    made = Peer(OTHER, port, env)
    here.addresses[OTHER] = made.address
    made.tell(do="know", task=ME, address=here.server.address)
    return made


VALUES = [
    None,
    torch.tensor(3.5),
    torch.arange(12).reshape(3, 4),
    torch.zeros(0, 3),
    torch.rand(5, 7).t(),
    torch.tensor([True, False]),
    torch.tensor([1 + 2j, -1j]),
    torch.ones(3, dtype=torch.bfloat16),
    torch.arange(9000, dtype=torch.int32),
    torch.rand(3_000_000),
    np.array([[b"a", b""], [b"ccc", b"\0\xff"]], dtype=object),
    np.array(b"x" * 100_000, dtype=object),
    np.array([], dtype=object),
]


def test_values_arrive_as_they_are_and_in_order(here: End, near: End) -> None:
    for number, value in enumerate(VALUES):
        here.links.send(OTHER, b"n%d" % number, value)
    for number, value in enumerate(VALUES):
        task, header, found = near.expect("message")
        assert (task, header) == (ME, b"n%d" % number)
        if isinstance(value, torch.Tensor):
            assert found.dtype == value.dtype and torch.equal(found, value)
        elif value is None:
            assert found is None
        else:
            assert found.shape == value.shape and found.tolist() == value.tolist()


def test_a_long_header_arrives(here: End, near: End) -> None:
    for size in (16_300, 16_384, 16_385, 5_000_000):
        header = os.urandom(size)
        here.links.send(OTHER, header, torch.ones(5))
        _, found, value = near.expect("message")
        assert found == header and value.sum() == 5


def test_memory_may_be_overwritten_after_send(here: End, near: End) -> None:
    for size in (3, 5000, 2_000_000):
        value = torch.ones(size)
        here.links.send(OTHER, b"", value)
        value.zero_()
        assert near.expect("message")[2].sum() == size


def test_many_threads_and_both_directions_at_once(here: End, near: End) -> None:
    def send(end: End, task: str, thread: int) -> None:
        for number in range(40):
            size = 200_000 if number % 10 == 0 else 10
            end.links.send(task, b"%d %d" % (thread, number), torch.full((size,), float(number)))

    threads = [
        threading.Thread(target=send, args=(*ends, thread))
        for thread in range(4)
        for ends in ((here, OTHER), (near, ME))
    ]
    for each in threads:
        each.start()
    for end in (here, near):
        seen: dict[int, int] = {}
        for _ in range(160):
            _, header, value = end.expect("message")
            thread, number = map(int, header.split())
            assert number == seen.get(thread, -1) + 1
            assert value[0] == number and value[-1] == number
            seen[thread] = number
    for each in threads:
        each.join()


def test_a_value_that_is_no_dense_tensor_cannot_be_sent(here: End, near: End) -> None:
    for value in (object(), torch.ones(2).to_sparse(), np.array([object()])):
        with pytest.raises(errors.InvalidArgumentError, match="dense tensor|cannot be sent"):
            here.links.send(OTHER, b"", value)
    here.links.send(OTHER, b"after", None)
    assert near.expect("message")[1] == b"after"


def test_closing_tells_the_other_end_once(here: End, near: End) -> None:
    here.links.send(OTHER, b"", None)
    near.expect("message")
    here.links.close()
    task, error = near.expect("lost")
    assert task == ME and isinstance(error, errors.UnavailableError) and ME in str(error)
    time.sleep(0.3)
    assert near.events.empty() and here.events.empty()
    with pytest.raises(errors.CancelledError):
        here.links.send(OTHER, b"", None)


@pytest.mark.long
def test_a_task_that_is_not_there_is_unavailable(here: End) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    here.addresses[OTHER] = f"localhost:{port}"
    with pytest.raises(errors.UnavailableError, match=f"{OTHER}.*{port}"):
        here.links.send(OTHER, b"", None)


@pytest.mark.long
def test_a_killed_peer_is_lost_at_once_and_its_successor_found(
    here: End, env: dict[str, str]
) -> None:
    peer = _peer(env, here)
    port = int(peer.address.rpartition(":")[2])
    try:
        here.links.send(OTHER, b"hello", torch.ones(4))
        assert peer.expect("message")["sum"] == 4
        peer.signal(signal.SIGKILL)
        clock = Clock()
        task, error = here.expect("lost")
        assert clock.seconds() < 5
        assert task == OTHER and isinstance(error, errors.UnavailableError) and OTHER in str(error)
    finally:
        peer.end()
    with pytest.raises(errors.UnavailableError):
        here.links.send(OTHER, b"nobody", None)
    peer = _peer(env, here, port)
    try:
        rpc.wait_for_server(here.addresses[OTHER], here.security, PATIENCE)
        here.links.send(OTHER, b"again", None)
        assert peer.expect("message")["header"] == "again"
        assert here.events.empty()
    finally:
        peer.end()


def test_killing_a_peer_in_the_middle_of_a_tensor_frees_the_sender(here: End, peer: Peer) -> None:
    here.links.send(OTHER, b"hello", None)
    peer.expect("message")
    peer.stop()
    time.sleep(0.1)
    found: queue.Queue[Any] = queue.Queue()

    def send() -> None:
        try:
            here.links.send(OTHER, b"take", torch.ones(50_000_000))
            found.put(None)
        except errors.OpError as error:
            found.put(error)

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(0.5)
    assert found.empty()
    peer.signal(signal.SIGKILL)
    assert isinstance(found.get(timeout=PATIENCE), errors.UnavailableError)
    sender.join()
    assert isinstance(here.expect("lost")[1], errors.UnavailableError)
    assert here.events.empty()


@pytest.mark.long
def test_the_deadline_of_a_step_ends_its_send(here: End, peer: Peer) -> None:
    here.links.send(OTHER, b"hello", None)
    peer.expect("message")
    peer.stop()
    clock = Clock()
    with waiting.running(seconds=1.0), pytest.raises(errors.DeadlineExceededError, match=OTHER):
        here.links.send(OTHER, b"take", torch.ones(50_000_000))
    assert clock.seconds() < 5
    peer.signal(signal.SIGCONT)
    here.links.send(OTHER, b"after", None)
    assert peer.expect("message")["header"] == "after"


def test_small_messages_to_a_stopped_peer_do_not_wait(here: End, peer: Peer) -> None:
    here.links.send(OTHER, b"hello", None)
    peer.expect("message")
    peer.stop()
    clock = Clock()
    for number in range(100):
        here.links.send(OTHER, b"%d" % number, torch.ones(10))
    assert clock.seconds() < 5
    peer.signal(signal.SIGCONT)
    for number in range(100):
        assert peer.expect("message")["header"] == str(number)


def test_tensors_that_a_stopped_peer_takes_in_part_arrive_whole(here: End, peer: Peer) -> None:
    here.links.send(OTHER, b"hello", None)
    peer.expect("message")
    peer.stop()
    value, sent = torch.empty(25_000), 0
    with pytest.raises(errors.DeadlineExceededError, match=OTHER):
        while sent < 1000:
            value.fill_(sent)
            with waiting.running(seconds=0.5):
                here.links.send(OTHER, b"%d" % sent, value)
            sent += 1
    value.zero_()
    assert 2 <= sent < 1000
    peer.signal(signal.SIGCONT)
    for number in range(sent):
        message = peer.expect("message")
        assert (message["header"], message["sum"]) == (str(number), 25_000 * number)


@pytest.mark.long
def test_a_peer_that_is_stopped_for_ten_seconds_survives(here: End, peer: Peer) -> None:
    here.links.send(OTHER, b"hello", None)
    peer.expect("message")
    peer.stop()
    threading.Timer(10, peer.signal, [signal.SIGCONT]).start()
    here.links.send(OTHER, b"late", torch.ones(20_000_000))
    assert peer.expect("message")["sum"] == 20_000_000
    peer.tell(do="send", task=ME, header="back", size=3)
    peer.expect("sent")
    assert here.expect("message")[1] == b"back"
    assert here.events.empty() and peer.events.empty()


@pytest.mark.long
def test_a_peer_that_stays_silent_is_lost(
    here: End, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links_module, "LOST_SECONDS", 2.0)
    monkeypatch.setattr(links_module, "CHECK_SECONDS", 0.5)
    here.links.send(OTHER, b"hello", None)
    peer.expect("message")
    time.sleep(3)
    assert here.events.empty()
    peer.stop()
    start, clock = time.monotonic(), Clock()
    with pytest.raises(errors.UnavailableError):
        here.links.send(OTHER, b"take", torch.ones(50_000_000))
    task, error = here.expect("lost")
    assert time.monotonic() - start > 1 and clock.seconds() < 10
    assert task == OTHER and "not heard of" in str(error)
    peer.signal(signal.SIGCONT)
    assert peer.expect("lost")["task"] == ME
    here.links.send(OTHER, b"again", None)
    assert peer.expect("message")["header"] == "again"


def test_a_restart_that_was_not_noticed_is_an_aborted_error(here: End, near: End) -> None:
    near.links.send(ME, b"", None)
    here.expect("message")
    near.links.check_link(messages.CheckLinkRequest(task=ME, incarnation=77), None)
    task, error = near.expect("lost")
    assert task == ME and isinstance(error, errors.AbortedError) and "restarted" in str(error)
    assert isinstance(here.expect("lost")[1], errors.UnavailableError)
    near.links.send(ME, b"again", None)
    assert here.expect("message")[1] == b"again"


def test_asking_finds_a_restart(here: End, near: End, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links_module, "CHECK_SECONDS", 0.2)
    here.links.send(OTHER, b"", None)
    near.expect("message")
    near.links._incarnation = 99
    assert isinstance(here.expect("lost")[1], errors.AbortedError)


def test_many_links_leave_nothing_behind(env: dict[str, str], here: End) -> None:
    def round_trip() -> None:
        end = End(env, OTHER, 5)
        _acquaint(here, end)
        here.links.send(OTHER, b"x", torch.ones(100_000))
        end.expect("message")
        end.close()
        here.expect("lost")
        peer = here.links._peers.pop(OTHER)
        assert peer.stub
        peer.stub.close()

    round_trip()
    before = _held()
    for _ in range(8):
        round_trip()
    for _ in range(100):
        gc.collect()
        if all(now <= then + 1 for now, then in zip(_held(), before)):
            return
        time.sleep(0.1)
    pytest.fail(f"threads, descriptors: {before} before, {_held()} after")


def _held() -> tuple[int, int]:
    links = [t for t in threading.enumerate() if "link" in t.name]
    return len(links), len(os.listdir("/proc/self/fd"))


def test_a_stranger_cannot_take_the_name_of_this_task(here: End) -> None:
    stub = rpc.Stub(here.server.address, "Links", ME, here.security)
    request = messages.OpenLinkRequest(task=ME, incarnation=3)
    with pytest.raises((errors.InvalidArgumentError, errors.FailedPreconditionError)):
        stub.open_link(request, timeout=PATIENCE)
    stub.close()
