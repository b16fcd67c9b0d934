"""A server whose threads all wait says so, and still hears who ends a wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.cluster.distributed import peers, rpc, rpc_services
from penstock.cluster.distributed.daemon_pool import DaemonPool
from penstock.cluster.distributed.room import Room
from penstock.cluster.distributed.security import Security
from penstock.foundation.base import errors
from penstock.foundation.formats import master_messages as messages
from tests.cluster.distributed.server_process import free_addresses
from tests.suite.clock import PATIENCE, wait_until

_ROOM = 4


def test_room_is_given_back() -> None:
    room = Room("/job:ps", 2)
    for _ in range(3):
        room.enter("RunStep")
        room.leave()
    room.enter("RunStep")
    room.enter("RunStep")
    with pytest.raises(errors.ResourceExhaustedError, match="RunStep at /job:ps: 2 others run or"):
        room.enter("RunStep")
    room.leave()
    room.enter("RunStep")


@pytest.fixture(params=["plain", "grpc"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A server of a few threads: Penstock's own, or gRPC's as with TLS."""
    for module in (rpc, peers):
        monkeypatch.setattr(module, "Room", lambda whose: Room(whose, _ROOM))
        monkeypatch.setattr(module, "DaemonPool", lambda name: DaemonPool(name, limit=_ROOM + 3))
    monkeypatch.setattr(rpc, "AVAILABLE", request.param == "plain")
    made = tf.train.Server.create_local_server()
    yield made
    made.stop()


@pytest.fixture
def stub(small: tf.train.Server) -> Iterator[rpc.Stub]:
    address = small.target.partition("://")[2]
    made = rpc.Stub(address, rpc_services.TENSORFLOW, "the server", Security())
    yield made
    made.close()


def _session(stub: rpc.Stub) -> str:
    with tf.Graph().as_default() as graph:
        tf.FIFOQueue(1, tf.float32, [], name="queue").dequeue(name="get")
        tf.constant(1.0, name="one")
    request = messages.CreateSessionRequest(graph_def=graph.as_graph_def().SerializeToString())
    return str(stub.create_session(request, timeout=PATIENCE).session_handle)


def _step(session: str, fetch: str) -> Any:
    return messages.RunStepRequest(session_handle=session, fetch=[f"{fetch}:0"])


def _fill(server: Any, stub: rpc.Stub, session: str) -> list[rpc.Pending]:
    waiting = [stub.run_step.start(_step(session, "get")) for _ in range(_ROOM)]
    wait_until(lambda: server._worker.table.waiting() == _ROOM)
    return waiting


@pytest.mark.parametrize("ends", ["close_session", "reset"])
def test_a_full_server_refuses_and_is_emptied(small: Any, stub: rpc.Stub, ends: str) -> None:
    session = _session(stub)
    waiting = _fill(small, stub, session)
    for _ in range(10):
        with pytest.raises(errors.ResourceExhaustedError, match="4 others run or wait there"):
            stub.run_step(_step(session, "one"), timeout=PATIENCE)
    with pytest.raises(errors.ResourceExhaustedError, match="CreateSession"):
        _session(stub)
    if ends == "reset":
        stub.reset(messages.ResetRequest(), timeout=PATIENCE)
    else:
        stub.close_session(messages.CloseSessionRequest(session_handle=session), timeout=PATIENCE)
    for each in waiting:
        with pytest.raises(errors.CancelledError):
            each.result()
    fresh = _session(stub)
    assert stub.run_step(_step(fresh, "one"), timeout=PATIENCE).tensor[0].name == "one:0"


def test_callers_who_give_up_make_room(small: Any, stub: rpc.Stub) -> None:
    session = _session(stub)
    for each in _fill(small, stub, session):
        each.cancel()
    wait_until(lambda: not small._worker.table.waiting())
    assert len(stub.run_step(_step(session, "one"), timeout=PATIENCE).tensor) == 1


def test_parts_of_steps_that_have_no_thread_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task whose threads all wait for a queue tells the masters of further parts."""
    monkeypatch.setattr(peers, "Room", lambda whose: Room(whose, _ROOM))
    monkeypatch.setattr(peers, "DaemonPool", lambda name: DaemonPool(name, limit=_ROOM + 3))
    addresses = free_addresses(2)
    cluster = tf.train.ClusterSpec({"ps": addresses[:1], "worker": addresses[1:]})
    servers = [tf.train.Server(cluster, job_name=job) for job in ("ps", "worker")]
    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(1, tf.float32, [])
        get, number = queue.dequeue(), tf.random_normal([3, 2])
        session = tf.Session(servers[1].target)
    said: list[Any] = []

    def wait() -> None:
        try:
            session.run(get)
        except errors.OpError as error:
            said.append(type(error))

    threads = [threading.Thread(target=wait) for _ in range(_ROOM)]
    for each in threads:
        each.start()
    wait_until(lambda: servers[0]._worker.table.waiting() == _ROOM)
    with pytest.raises(errors.ResourceExhaustedError, match="a part of a step at /job:ps"):
        session.run(number)
    session.close()
    for each in threads:
        each.join()
    assert said == [errors.CancelledError] * _ROOM
    with tf.Session(servers[1].target, graph=number.graph) as again:
        assert again.run(number).shape == (3, 2)
    for server in servers:
        server.stop()
