"""The time that a step is given is kept while a task or a master is down, and others may end it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import penstock as tf
from penstock.engine.resources import blocking
from tests.cluster.distributed.server_process import ServerProcess, free_addresses
from tests.suite.clock import Clock, wait_until
from tests.suite.stopping import stop

# A step of half a second, what its master gives tasks to stop, and a busy machine; the waits that
# ignored the step's time took a minute.
_BOUND = 15.0
_HALF = tf.ConfigProto(operation_timeout_in_ms=500)
_OPTIONS = tf.RunOptions(timeout_in_ms=500)
_PS = "/job:ps/task:0"


class Cluster:
    """A worker of this process and one of another; the ps is started when it is asked for."""

    def __init__(self) -> None:
        ps, own, other = free_addresses(3)
        self._spec = {"ps": [ps], "worker": [own, other]}
        self._processes = [ServerProcess(self._spec, "worker", 1)]
        self._own = tf.train.Server(self._spec, "worker", 0)
        self._processes[0].wait_until_up()
        self.targets = [self._own.target, self._processes[0].target]

    def start_ps(self) -> None:
        self._processes.append(ServerProcess(self._spec, "ps", 0))
        self._processes[1].wait_until_up()

    @contextmanager
    def stopped(self, process: int) -> Iterator[None]:
        pid = self._processes[process].process.pid
        stop(pid)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        self._own.stop()
        for process in self._processes:
            process.end()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    made = Cluster()
    yield made
    made.end()


@contextmanager
def _ends_in_time(what: str) -> Iterator[None]:
    clock = Clock()
    with pytest.raises(tf.errors.DeadlineExceededError, match=what):
        yield
    assert clock.seconds() < _BOUND


@pytest.mark.long
def test_no_server_is_at_the_target() -> None:
    (nowhere,) = free_addresses(1)
    with tf.Graph().as_default():
        c = tf.constant(1.0)
        with tf.Session(f"grpc://{nowhere}", config=_HALF) as session:
            with _ends_in_time(r"within its 0\.5 s: .*the master at grpc://.* to be up"):
                session.run(c)
            with _ends_in_time("the master at grpc://"):
                session.list_devices()
            with _ends_in_time("the master at grpc://"):
                session.make_callable(c)()
        with tf.Session(f"grpc://{nowhere}") as session, _ends_in_time("the master at grpc://"):
            session.run(c, options=_OPTIONS)


@pytest.mark.long
@pytest.mark.parametrize("target", [0, 1])
def test_a_task_was_never_up(cluster, target: int) -> None:
    with tf.Graph().as_default():
        with tf.device(_PS):
            c = tf.constant(1.0) + 1.0
        with tf.Session(cluster.targets[target], config=_HALF) as session:
            with _ends_in_time("/job:ps/replica:0/task:0 .*to be up"):
                session.run(c)
            with _ends_in_time("/job:ps/replica:0/task:0 .*to be up"):
                session.list_devices()
            assert session.run(tf.constant(3.0)) == 3.0
        with tf.Session(cluster.targets[target]) as session:
            with _ends_in_time("/job:ps/replica:0/task:0 .*to be up"):
                session.run(c, options=_OPTIONS)


def test_a_step_keeps_its_time_while_another_waits_without_one(cluster) -> None:
    with tf.Graph().as_default():
        with tf.device(_PS):
            c = tf.constant(1.0) + 1.0
        session = tf.Session(cluster.targets[0])
        found: list[Any] = []

        def wait() -> None:
            try:
                session.run(c)
            except tf.errors.OpError as error:
                found.append(error)

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        wait_until(lambda: bool(session._engine._session._cancels))  # type: ignore[attr-defined]
        with _ends_in_time("another step of its session"):
            session.run(c + 1.0, options=_OPTIONS)
        # Closing ends the wait of the first.
        clock = Clock()
        session.close()
        thread.join()
        assert clock.seconds() < _BOUND
        assert [type(error) for error in found] == [tf.errors.CancelledError]


def test_closing_ends_a_clients_wait_for_a_task(cluster) -> None:
    with tf.Graph().as_default():
        with tf.device(_PS):
            c = tf.constant(1.0) + 1.0
        session = tf.Session(cluster.targets[1])
        found: list[Any] = []

        def wait() -> None:
            try:
                session.run(c)
            except tf.errors.OpError as error:
                found.append(error)

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        wait_until(lambda: session._engine._session)  # type: ignore[attr-defined]
        clock = Clock()
        session.close()
        thread.join()
        assert clock.seconds() < _BOUND
        assert [type(error) for error in found] == [tf.errors.CancelledError]


def test_what_is_awaited_is_said(cluster, monkeypatch, caplog) -> None:
    monkeypatch.setattr(blocking, "REMIND_SECONDS", 0.1)
    with tf.Graph().as_default():
        with tf.device(_PS):
            c = tf.constant(1.0) + 1.0
        with tf.Session(cluster.targets[0], config=_HALF) as session, _ends_in_time("to be up"):
            session.run(c)
    said = [m for m in caplog.messages if "still waiting for response from worker" in m]
    assert len(said) >= 2 and "/job:ps/replica:0/task:0" in said[0]


@pytest.mark.long
def test_tasks_that_are_stopped(cluster) -> None:
    cluster.start_ps()
    with tf.Graph().as_default():
        with tf.device(_PS):
            c, new = tf.constant(1.0) + 1.0, tf.constant(2.0) + 1.0
        sessions = [tf.Session(target, config=_HALF) for target in cluster.targets]
        options = tf.RunOptions(timeout_in_ms=60_000)
        for session in sessions:
            assert session.run(c, options=options) == 2.0
        with cluster.stopped(1):
            for session in sessions:
                for step in (c, new):
                    with _ends_in_time("/job:ps/replica:0/task:0"):
                        session.run(step)
        for session in sessions:
            assert session.run([c, new], options=options) == [2.0, 3.0]
        with cluster.stopped(0):
            for step in (c, new, new + 1.0):
                with _ends_in_time("the master at grpc://"):
                    sessions[1].run(step)
        assert sessions[1].run([new, c], options=options) == [3.0, 2.0]
        for session in sessions:
            session.close()
