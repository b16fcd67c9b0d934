"""Sessions that nobody uses are closed after a while; one in which a step runs is in use."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.cluster.distributed import client_sessions, in_process
from penstock.cluster.distributed.master import MasterSession
from tests.suite.clock import wait_until

_IDLE = 0.3


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tf.train.Server]:
    """One that sessions of this process call as those of others do."""
    monkeypatch.setattr(client_sessions, "IDLE_SECONDS", _IDLE)
    server = tf.train.Server.create_local_server()
    in_process.remove_master(server.target)
    with tf.Graph().as_default():
        yield server
    server.stop()


def _in_thread(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(call())
        except tf.errors.OpError as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


def _let_idle(server: tf.train.Server) -> None:
    """Time passes, and a new session has those that are idle closed."""
    time.sleep(3 * _IDLE)
    with tf.Session(server.target) as session:
        session.run(tf.constant(1.0))


@pytest.mark.long
def test_a_session_is_not_idle_while_a_step_runs(server: tf.train.Server) -> None:
    queue = tf.FIFOQueue(1, tf.float32, shared_name="queue")
    taken, put = queue.dequeue(), queue.enqueue(7.0)
    waiting, other = tf.Session(server.target), tf.Session(server.target)
    assert other.run(queue.size()) == 0
    thread, found = _in_thread(lambda: waiting.run(taken))
    wait_until(lambda: _running(server) == 1)
    for _ in range(3):
        _let_idle(server)
    assert found == [] and _running(server) == 1
    with tf.Session(server.target) as session:
        session.run(put)
    thread.join()
    assert found == [7.0]
    # The end of the step counts as use; the one that did nothing meanwhile is gone.
    assert waiting.run(queue.size()) == 0
    with pytest.raises(tf.errors.AbortedError, match="has no session"):
        other.run(queue.size())
    _let_idle(server)
    with pytest.raises(tf.errors.AbortedError, match="has no session"):
        waiting.run(queue.size())


def test_a_session_is_not_idle_while_a_step_is_prepared(
    server: tf.train.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    prepare = MasterSession.prepare

    def slow(self: MasterSession, *args: Any) -> Any:
        if not begun.is_set():
            begun.set()
            go_on.wait()
        return prepare(self, *args)

    monkeypatch.setattr(MasterSession, "prepare", slow)
    five = tf.constant(5.0)
    session = tf.Session(server.target)
    thread, found = _in_thread(lambda: session.run(five))
    begun.wait()
    _let_idle(server)
    go_on.set()
    thread.join()
    assert found == [5.0]
    session.close()


def _running(server: tf.train.Server) -> int:
    """How many steps it runs."""
    return int(server._worker.table.counts()["open"])
