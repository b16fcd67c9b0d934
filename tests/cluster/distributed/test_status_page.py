"""Metrics and health of real servers, and what strangers can do to the page that shows them."""

from __future__ import annotations

import os
import resource
import socket
import threading
import urllib.error
from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.cluster.distributed import metrics, status_page
from tests.cluster.distributed.chaos_faults import take_files
from tests.cluster.distributed.metrics_page import Page, parsed
from tests.cluster.distributed.server_process import ServerProcess, free_addresses
from tests.suite.clock import PATIENCE, Clock, wait_until

PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """A page of this process, at a free port."""
    monkeypatch.setenv(status_page.VARIABLE, "0")
    monkeypatch.setattr(status_page, "_page", None)
    monkeypatch.setattr(status_page, "_watched", [])
    made = status_page.Page("0")
    monkeypatch.setattr(status_page, "_page", made)
    yield Page(made.address)
    made.forget()


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A ps in a process of its own that has a page, and a worker of this process."""
    ps, own, at = free_addresses(3)
    spec = {"ps": [ps], "worker": [own]}
    process = ServerProcess(spec, "ps", 0, PENSTOCK_METRICS=at.replace("localhost", "127.0.0.1"))
    server = tf.train.Server(spec, "worker", 0)
    process.wait_until_up()
    with tf.Graph().as_default():
        yield server.target, Page(at), process
    server.stop()
    process.end()


@pytest.mark.long
def test_counts_of_a_parameter_server(cluster: Any) -> None:
    target, page, _ = cluster
    assert page.get("/healthz")[0] == page.get("/readyz")[0] == 200
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(tf.zeros([1000]), name="secret_name")
        failing = tf.check_numerics(v / 0.0, "not a number")
        waiting = tf.FIFOQueue(3, tf.float32, shared_name="shared").dequeue()
    with tf.Session(target) as session:
        session.run(v.initializer)
        done = page.value("penstock_steps_total", result="done", task=PS)
        received = page.value("penstock_link_bytes_total", direction="received")
        sent = page.value("penstock_link_bytes_total", direction="sent")
        for _ in range(5):
            session.run(v)
        assert page.value("penstock_steps_total", result="done") == done + 5
        assert page.value("penstock_step_seconds_count") == done + 5
        assert page.value("penstock_step_seconds_bucket", le="+Inf") == done + 5
        grown = page.value("penstock_link_bytes_total", direction="sent") - sent
        assert 5 * 4000 < grown < 5 * 4000 + 5 * 1000
        assert page.value("penstock_link_bytes_total", direction="received") > received
        assert page.value("penstock_links") >= 1
        with pytest.raises(tf.errors.OpError):
            session.run(failing)
        assert page.value("penstock_steps_total", result="failed") == 1
        assert page.value("penstock_variables") == 1
        assert page.value("penstock_variable_bytes") == 4000
        assert page.value("penstock_sessions") == 1
        # The worker leads it.
        assert page.value("penstock_sessions_led") == 0
        assert page.value("penstock_graphs") >= 3
        thread = threading.Thread(target=_runs_until_closed, args=(session, waiting))
        thread.start()
        wait_until(lambda: page.value("penstock_steps_waiting") == 1)
        assert page.value("penstock_steps_running") == 1
        assert page.value("penstock_resources", kind="Queue") == 1
    thread.join()
    wait_until(lambda: page.value("penstock_sessions") == 0)
    assert page.value("penstock_steps_running") == 0
    assert page.value("process_resident_memory_bytes") > 1e7
    assert "secret_name" not in page.get("/metrics")[1]


def _runs_until_closed(session: Any, fetch: Any) -> None:
    with pytest.raises(tf.errors.CancelledError):
        session.run(fetch)


def test_a_lost_task_is_counted(page: Page) -> None:
    ps, own = free_addresses(2)
    spec = {"ps": [ps], "worker": [own]}
    process = ServerProcess(spec, "ps", 0)
    server = tf.train.Server(spec, "worker", 0)
    process.wait_until_up()
    with tf.Graph().as_default(), tf.Session(server.target) as session:
        with tf.device("/job:ps/task:0"):
            value = tf.Variable(1.0)
        session.run(value.initializer)
        sent = page.value("penstock_link_bytes_total", direction="sent")
        assert sent > 0 and page.value("penstock_tasks_lost_total") == 0
        process.end()
        wait_until(lambda: page.value("penstock_tasks_lost_total", why="unreachable") == 1)
        wait_until(lambda: page.value("penstock_links") == 0)
        # What the link carried counts on.
        assert page.value("penstock_link_bytes_total", direction="sent") >= sent
    server.stop()


def test_a_server_is_ready_from_its_start_to_its_stop(page: Page) -> None:
    assert page.get("/healthz") == (200, "ok\n")
    assert page.get("/readyz")[0] == 503
    server = tf.train.Server.create_local_server(start=False)
    assert page.get("/readyz")[0] == 503 and page.value("penstock_server_ready") == 0
    server.start()
    assert page.get("/readyz") == (200, "ok\n") and page.value("penstock_server_ready") == 1
    other = tf.train.Server.create_local_server()
    assert page.value("penstock_server_ready") == 2  # no series is there twice
    server.stop()
    assert page.get("/readyz")[0] == 200
    other.stop()
    assert page.get("/readyz")[0] == 503 and page.get("/healthz")[0] == 200
    assert "penstock_server" not in page.get("/metrics")[1]


def test_sessions_clusters_count_with_the_server(page: Page) -> None:
    servers = [tf.train.Server.create_local_server() for _ in range(2)]
    addresses = [server.target.removeprefix("grpc://") for server in servers]
    cluster = tf.train.ClusterSpec({"worker": addresses}).as_cluster_def()
    before = page.value("penstock_steps_total")
    with tf.Graph().as_default():
        with tf.device("/job:worker/task:1"):
            y = tf.constant(1.0) + 1.0
        with tf.Session(servers[0].target, config=tf.ConfigProto(cluster_def=cluster)) as session:
            assert session.run(y) == 2.0
            assert page.value("penstock_clusters_joined") == 2
            assert page.value("penstock_steps_total") == before + 2
    wait_until(lambda: page.value("penstock_clusters_joined") == 0)
    assert page.value("penstock_steps_total") == before + 2
    for server in servers:
        server.stop()


def test_nothing_listens_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(status_page.VARIABLE, raising=False)
    monkeypatch.setattr(status_page, "_page", None)
    server = tf.train.Server.create_local_server()
    assert status_page.address() == "" and status_page._watched == []
    server.stop()


@pytest.mark.parametrize("given", ["no", "127.0.0.1:", "1:2:3", "70000", "-1"])
def test_what_is_no_address(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(status_page.VARIABLE, given)
    monkeypatch.setattr(status_page, "_page", None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no address of a server"):
        tf.train.Server.create_local_server()


def test_a_port_that_is_taken(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(status_page.VARIABLE, page.address)
    monkeypatch.setattr(status_page, "_page", None)
    with pytest.raises(tf.errors.UnknownError, match="PENSTOCK_METRICS"):
        tf.train.Server.create_local_server()


def test_a_port_alone_is_one_of_the_loopback_interface(page: Page) -> None:
    assert page.address.startswith("127.0.0.1:")


# ---- strangers ---------------------------------------------------------------------------------


def _said(page: Page, data: bytes, finish: bool = True) -> bytes:
    host, port = page.address.split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        said = b""
        try:
            connection.sendall(data)
            if finish:
                connection.shutdown(socket.SHUT_WR)
            while more := connection.recv(65536):
                said += more
        except OSError:
            pass  # it would not read all
        return said


def test_what_is_asked_wrongly(page: Page) -> None:
    assert page.get("/")[0] == page.get("/metrics/../..")[0] == 404
    assert page.get("/metrics", method="POST")[0] == 405
    assert page.get("/healthz", method="HEAD") == (200, "")
    assert page.get("/healthz?verbose=1")[0] == 200
    assert _said(page, b"\x16\x03\x01\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert _said(page, b"GET /metrics\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert _said(page, b"") == _said(page, b"GET /healthz HTTP/1.1\r\n") == b""
    assert _said(page, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 100_000) == b""
    assert page.get("/healthz")[0] == 200


@pytest.mark.long
def test_who_says_nothing_is_let_go(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_page, "_SECONDS", 1.0)
    clock = Clock()
    assert _said(page, b"GET /metrics HTTP/1.1\r\n", finish=False) == b""
    assert clock.seconds() < 30.0
    # No more than a few are served at once, and afterwards all are again.
    host, port = page.address.split(":")
    held = [socket.create_connection((host, int(port))) for _ in range(3 * status_page._MOST)]
    wait_until(lambda: _answers(page))
    for each in held:
        each.close()


def _answers(page: Page) -> bool:
    try:
        return page.get("/healthz")[0] == 200
    except (urllib.error.URLError, ConnectionError):
        return False


@pytest.mark.long
def test_the_page_outlives_a_time_without_files(cluster: Any) -> None:
    _, page, process = cluster
    pid = process.process.pid
    before = take_files(pid)
    host, port = page.address.split(":")
    # The one that is being waited for has its file already.
    with socket.create_connection((host, int(port)), timeout=PATIENCE):
        with socket.create_connection((host, int(port))) as waits:
            waits.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
            waits.settimeout(1.0)
            with pytest.raises(TimeoutError):
                waits.recv(1)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
            waits.settimeout(PATIENCE)
            assert waits.recv(100).startswith(b"HTTP/1.1 200 ")


def test_a_child_process_leaves_the_port_alone(page: Page) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, b"none" if status_page.address() == "" else b"kept")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 9) == b"none"
    os.close(reading)
    os.close(writing)
    assert page.get("/healthz")[0] == 200


# ---- the text ----------------------------------------------------------------------------------


def test_labels_are_escaped() -> None:
    line = metrics._line("name", {"label": 'a"b\\c\nd'}, 1.5)
    assert line == 'name{label="a\\"b\\\\c\\nd"} 1.5'
    assert list(parsed(f"# TYPE name gauge\n{line}")) == [("name", (("label", 'a\\"b\\\\c\\nd'),))]


def test_restarts_are_what_the_launcher_says(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    server = tf.train.Server.create_local_server()
    assert "penstock_task_restarts" not in page.get("/metrics")[1]
    monkeypatch.setenv(metrics.RESTARTS, "3")
    assert page.value("penstock_task_restarts") == 3
    server.stop()
