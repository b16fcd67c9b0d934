"""Sessions whose config names their cluster, of servers that did not know each other before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.cluster.distributed import in_process
from tests.cluster.distributed import certificates
from tests.cluster.distributed.server_process import ServerProcess, free_addresses
from tests.suite.clock import Clock, wait_until


class Servers:
    """Two local servers of this process."""

    def __init__(self) -> None:
        self.all = [tf.train.Server.create_local_server() for _ in range(2)]
        self.addresses = [server.target.removeprefix("grpc://") for server in self.all]

    def session(self, at: int = 0, config: Any = None, client: bool = False) -> Any:
        """A session on one of them, as a process without servers has it if ``client``."""
        config = config or _config({"worker": self.addresses})
        target = self.all[at].target
        if not client:
            return tf.Session(target, config=config)
        master = in_process.master_of(target)
        assert master is not None
        in_process.remove_master(target)
        session = tf.Session(target, config=config)
        in_process.add_master(target, master)
        return session

    def clusters(self) -> list[int]:
        """In how many clusters besides its own each of them is."""
        return [len(server._listening.memberships._joined) for server in self.all]

    def steps(self) -> int:
        """How many steps their tasks of other clusters run now."""
        joined = [list(server._listening.memberships._joined.values()) for server in self.all]
        return sum(each.worker.table.counts()["open"] for found in joined for each in found)

    def end(self) -> None:
        for server in self.all:
            server.stop()


def _config(jobs: Any, **options: Any) -> Any:
    return tf.ConfigProto(cluster_def=tf.train.ClusterSpec(jobs).as_cluster_def(), **options)


@pytest.fixture
def servers() -> Iterator[Servers]:
    made = Servers()
    with tf.Graph().as_default():
        yield made
    made.end()


def _on_other(value: Any) -> Any:
    with tf.device("/job:worker/task:1"):
        return tf.identity(value)


@pytest.mark.parametrize("client", [False, True])
def test_tasks_are_those_of_the_config(servers, client: bool) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(_on_other(x * 2.0)) + 1.0
    with servers.session(client=client) as session:
        assert session.run(y, {x: [1.0, 2.0]}) == 7.0
        assert session.run(y, {x: range(10_000)}) == 99_990_001.0
        names = [device.name for device in session.list_devices()]
    assert names == [f"/job:worker/replica:0/task:{n}/device:CPU:0" for n in range(2)]
    wait_until(lambda: servers.clusters() == [0, 0])
    with tf.Session(servers.all[0].target) as session:
        assert [device.name for device in session.list_devices()] == [
            "/job:local/replica:0/task:0/device:CPU:0"
        ]


def test_the_master_may_be_any_of_the_tasks(servers) -> None:
    y = _on_other(tf.constant(17)) + 1
    with servers.session(at=1) as session:
        assert session.run(y) == 18
        assert session.run(y) == 18


def test_each_session_has_a_state_of_its_own(servers) -> None:
    with tf.device("/job:worker/task:1"):
        v = tf.Variable(3.0, name="v")
    missing = tf.report_uninitialized_variables([v])
    with servers.session() as one, servers.session() as other:
        one.run(v.initializer)
        assert one.run(v.assign_add(1.0)) == 4.0
        assert other.run(missing).tolist() == [b"v"]
        assert one.run(v) == 4.0
        with tf.Graph().as_default(), tf.Session(servers.all[1].target) as plain:
            w = tf.Variable(3.0, name="v")
            assert plain.run(tf.report_uninitialized_variables([w])).tolist() == [b"v"]
    with servers.session() as later:
        assert later.run(missing).tolist() == [b"v"]


def test_clusters_that_name_no_or_several_own_tasks(servers) -> None:
    one, other = servers.addresses
    for jobs, match in [
        ({"worker": [other]}, r"The master \(current machine\) is not included"),
        ({"worker": [one, one]}, "Found multiple matching tasks"),
        ({"local": [one, other]}, "same names that were provided when the server booted"),
        ({}, r"The master \(current machine\) is not included"),
    ]:
        for client in (False, True):
            with pytest.raises(tf.errors.InvalidArgumentError, match=match):
                servers.session(config=_config(jobs), client=client).run(tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="job:worker"):
        servers.session(
            config=_config({"worker": servers.addresses}, device_filters=["/job:worker/task:0"])
        ).run(_on_other(tf.constant(1.0)))


def test_steps_end_with_their_time(servers) -> None:
    with tf.device("/job:worker/task:1"):
        taken = tf.FIFOQueue(3, tf.float32).dequeue()
    with servers.session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(taken, options=tf.RunOptions(timeout_in_ms=300))


@pytest.mark.parametrize("how", ["close", "reset"])
def test_what_ends_the_session_ends_its_steps_and_its_cluster(servers, how: str) -> None:
    with tf.device("/job:worker/task:1"):
        taken = tf.FIFOQueue(3, tf.float32).dequeue()
    session = servers.session()
    found: list[Any] = []

    def wait() -> None:
        try:
            session.run(taken)
        except tf.errors.OpError as error:
            found.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(lambda: servers.clusters() == [1, 1] and servers.steps() > 0)
    if how == "close":
        session.close()
    else:
        tf.Session.reset(servers.all[0].target)
        with pytest.raises(tf.errors.AbortedError, match="is not found"):
            session.run(taken)
    thread.join()
    assert [type(error) for error in found] == [tf.errors.CancelledError]
    wait_until(lambda: servers.clusters() == [0, 0])


def test_a_task_that_is_not_up(servers) -> None:
    (nowhere,) = free_addresses(1)
    config = _config({"worker": [servers.addresses[0], nowhere]}, operation_timeout_in_ms=500)
    clock = Clock()
    with servers.session(config=config) as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match="replica:0/task:1 .*to be up"):
            session.run(_on_other(tf.constant(1.0)))
        assert session.run(tf.constant(2.0)) == 2.0
    assert clock.seconds() < 15


@pytest.mark.long
@pytest.mark.parametrize("tls", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_server_of_another_process_that_restarts(tls: bool, tmp_path, monkeypatch) -> None:
    environment = certificates.environment(tmp_path) if tls else {}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (address,) = free_addresses(1)
    process = ServerProcess({"alone": [address]}, "alone", 0, **environment)
    server = tf.train.Server.create_local_server()
    process.wait_until_up()
    jobs = {"ps": [address], "worker": [server.target.removeprefix("grpc://")]}
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(tf.ones([100_000]))
        total = tf.reduce_sum(v)
        with tf.Session(server.target, config=_config(jobs)) as session:
            session.run(v.initializer)
            assert session.run(total) == 100_000.0
            process.end()
            process = ServerProcess({"alone": [address]}, "alone", 0, **environment)
            process.wait_until_up()
            while True:
                try:
                    session.run(total + 1.0)
                except tf.errors.UnavailableError:
                    continue
                except tf.errors.AbortedError:
                    break
        with tf.Session(server.target, config=_config(jobs)) as session:
            session.run(v.initializer)
            assert session.run(total) == 100_000.0
    server.stop()
    process.end()
