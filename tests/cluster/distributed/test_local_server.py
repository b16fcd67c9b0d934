"""Servers of one task: their names and addresses, their config, and resetting them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from tests.suite.clock import Clock, wait_until


@pytest.fixture
def server() -> Iterator[Any]:
    made = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        yield made
    made.stop()


def test_a_local_server_has_an_address(server) -> None:
    assert server.target.startswith("grpc://localhost:")
    assert server.server_def.job_name == "local"
    assert int(server.target.rpartition(":")[2]) > 0
    with tf.Session(server.target) as session:
        names = [device.name for device in session.list_devices()]
        assert names == ["/job:local/replica:0/task:0/device:CPU:0"]
        with tf.device("/job:local/task:0"):
            assert session.run(tf.constant(3) + 4) == 7


def test_the_only_task_may_have_any_number() -> None:
    server = tf.train.Server({"local": {37: "localhost:0"}})
    assert server.server_def.task_index == 37
    with tf.Graph().as_default(), tf.Session(server.target) as session:
        assert session.run(tf.constant(3)) == 3
        assert "/task:37/" in session.list_devices()[0].name
    server.stop()


@pytest.mark.parametrize("cluster, what", [
    ({"a": ["localhost:0"], "b": ["localhost:0"]}, "job_name"),
    ({"a": ["localhost:0", "localhost:1"]}, "task_index"),
    ({"a": {3: "localhost:0", 5: "localhost:1"}}, "task_index"),
])  # fmt: skip
def test_which_task_a_server_is_must_be_said(cluster: Any, what: str) -> None:
    with pytest.raises(ValueError, match=f"Must specify an explicit `{what}`"):
        tf.train.Server(cluster)


# As TensorFlow 1.15 does it: what is made in no container is in that of the job's name.
@pytest.mark.parametrize("containers, gone", [
    (None, ["v"]), ([], ["v"]), ([""], []), (["local"], ["v"]), (["kept"], ["k"]), (["no"], []),
    (["local", "kept"], ["k", "v"]),
])  # fmt: skip
def test_resetting_containers(server, containers: Any, gone: list[str]) -> None:
    with tf.container("kept"):
        k = tf.Variable(1.0, name="k")
    v = tf.Variable(2.0, name="v")
    with tf.Session(server.target) as session:
        session.run(tf.global_variables_initializer())
    tf.Session.reset(server.target, containers)
    with tf.Session(server.target) as session:
        left = session.run(tf.report_uninitialized_variables([k, v]))
    assert [name.decode() for name in left] == gone


@pytest.mark.long
def test_a_sessions_config_is_completed_by_the_servers() -> None:
    config = tf.ConfigProto(operation_timeout_in_ms=300, allow_soft_placement=True)
    server = tf.train.Server.create_local_server(config=config)
    with tf.Graph().as_default():
        taken = tf.FIFOQueue(5, tf.int32).dequeue()
        with tf.device("/gpu:7"):
            moved = tf.constant(1.0) + 1.0
        for given in (None, tf.ConfigProto(), tf.ConfigProto(log_device_placement=True)):
            with tf.Session(server.target, config=given) as session:
                with pytest.raises(tf.errors.DeadlineExceededError, match=r"within its 0\.3 s"):
                    session.run(taken)
                with pytest.raises(tf.errors.DeadlineExceededError):
                    session.make_callable(taken)()
                assert session.run(moved) == 2.0
        own = tf.ConfigProto(operation_timeout_in_ms=100)
        with (
            tf.Session(server.target, config=own) as session,
            pytest.raises(tf.errors.DeadlineExceededError, match=r"within its 0\.1 s"),
        ):
            session.run(taken)
    server.stop()


@pytest.mark.parametrize("target", ["", "server"])
def test_a_callable_has_the_sessions_time(target: str, server) -> None:
    taken = tf.FIFOQueue(5, tf.int32).dequeue()
    config = tf.ConfigProto(operation_timeout_in_ms=200)
    with tf.Session(server.target if target else "", config=config) as session:
        call = session.make_callable(taken)
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"within its 0\.2 s"):
            call()
        handle = session.partial_run_setup([taken], [])
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"within its 0\.2 s"):
            session.partial_run(handle, taken)


def _blocked(session: Any, fetch: Any) -> tuple[threading.Thread, list[tf.errors.OpError]]:
    found: list[tf.errors.OpError] = []

    def run() -> None:
        try:
            session.run(fetch)
        except tf.errors.OpError as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, found


@pytest.mark.parametrize("how", ["close", "reset"])
def test_what_ends_a_session_ends_its_blocked_steps(server, how: str) -> None:
    taken = tf.FIFOQueue(5, tf.int32).dequeue()
    session = tf.Session(server.target)
    thread, found = _blocked(session, taken)
    wait_until(lambda: server._worker.counts()["open"] == 1)
    if how == "close":
        session.close()
    else:
        tf.Session.reset(server.target)
    thread.join()
    assert [type(error) for error in found] == [tf.errors.CancelledError]
    if how == "reset":
        with pytest.raises(tf.errors.AbortedError, match="Session .* is not found"):
            session.run(tf.constant(1))
    with tf.Session(server.target) as other:
        assert other.run(tf.constant(1)) == 1
    assert server._worker.counts()["open"] == 0


def test_resetting_where_no_server_is_ends_in_time() -> None:
    clock = Clock()
    config = tf.ConfigProto(operation_timeout_in_ms=50)
    with pytest.raises(tf.errors.DeadlineExceededError, match=r"0\.05 s"):
        tf.Session.reset("grpc://localhost:1", ["x"], config=config)
    assert clock.seconds() < 10
