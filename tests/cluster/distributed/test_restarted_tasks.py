"""A parameter server that is killed and started again: sessions that used it notice in any step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from tests.cluster.distributed.server_process import ServerProcess, free_addresses
from tests.suite.clock import wait_until


class Cluster:
    """A ps and a worker in processes of their own, and a worker of this process."""

    def __init__(self) -> None:
        ps, other, own = free_addresses(3)
        self._spec = {"ps": [ps], "worker": [other, own]}
        self._ps = ServerProcess(self._spec, "ps", 0)
        self._other = ServerProcess(self._spec, "worker", 0)
        self._own = tf.train.Server(self._spec, "worker", 1)
        for process in (self._ps, self._other):
            process.wait_until_up()
        self.targets = [self._own.target, self._other.target]

    def restart_ps(self) -> None:
        self._ps.end()
        self._ps = ServerProcess(self._spec, "ps", 0)
        self._ps.wait_until_up()

    @property
    def own_peers(self) -> Any:
        """How the worker of this process reaches the others."""
        return self._own._listening.peers

    def end_ps(self) -> None:
        self._ps.end()

    def end(self) -> None:
        self._own.stop()
        self._other.end()
        self._ps.end()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster()
    with tf.Graph().as_default():
        yield made
    made.end()


def _settled(session: Any, fetch: Any) -> Any:
    """What a step gives once the task can be reached again, or its error."""
    while True:
        try:
            return session.run(fetch)
        except tf.errors.UnavailableError:
            continue
        except tf.errors.OpError as error:
            return error


@pytest.mark.long
def test_steps_that_are_new_to_a_session_notice_a_restart(cluster) -> None:
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(1.0, name="v")
        plus = [v + float(n) for n in range(4)]
    # Of the server in this process, and of one that is reached as a client.
    sessions = [tf.Session(target) for target in cluster.targets]
    sessions[0].run(v.initializer)
    assert [session.run(plus[0]) for session in sessions] == [1.0, 1.0]
    cluster.restart_ps()
    # While the state is missing, and when another session has made it anew.
    assert isinstance(_settled(sessions[0], plus[1]), tf.errors.AbortedError)
    with tf.Session(cluster.targets[0]) as chief:
        assert _settled(chief, v.initializer) is None
    for session in sessions:
        for step in (plus[2], plus[0], plus[3]):
            assert isinstance(_settled(session, step), tf.errors.AbortedError)
        session.close()
    for target in cluster.targets:
        with tf.Session(target) as session:
            assert _settled(session, plus[3]) == 4.0


@pytest.mark.long
def test_a_task_that_stays_away_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that was up before: monitored sessions go on waiting for it."""
    monkeypatch.setenv("PENSTOCK_UP_SECONDS", "3")
    cluster = Cluster()
    with tf.Graph().as_default(), tf.Session(cluster.targets[0]) as session:
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(1.0, name="v")
        session.run(v.initializer)
        cluster.end_ps()
        peers = cluster.own_peers
        wait_until(lambda: not peers._devices)
        # A new session asks the task again for its devices.
        with tf.Session(cluster.targets[0]) as other:
            with pytest.raises(tf.errors.UnavailableError, match="waited 3 s for .* to be up"):
                other.run(v)
            with pytest.raises(tf.errors.DeadlineExceededError):
                other.run(v, options=tf.RunOptions(timeout_in_ms=500))
    cluster.end()
