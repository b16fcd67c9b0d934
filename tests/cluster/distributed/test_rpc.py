"""Calls between processes: errors, deadlines, cancelling, limits, strangers, TLS and tokens."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from penstock.cluster.distributed import rpc, rpc_services
from penstock.cluster.distributed.awaiting import answer_of, answer_once_up
from penstock.cluster.distributed.daemon_pool import DaemonPool
from penstock.cluster.distributed.security import Security
from penstock.engine.resources import blocking, waiting
from penstock.engine.resources.waiting import Cancellation
from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages
from tests.cluster.distributed import certificates
from tests.suite import warm
from tests.suite.clock import PATIENCE, Clock, wait_until

TASK = "/job:worker/replica:0/task:3"


class Node:
    name = "layer/MatMul"


class Master:
    """Does what the name of the graph says."""

    def __init__(self) -> None:
        self.cancelled = threading.Semaphore(0)
        self.blocked = threading.Semaphore(0)

    def list_devices(self, request: Any, context: rpc_services.Context) -> Any:
        return messages.ListDevicesResponse(devices=[messages.Device(name=TASK)])

    def run_step(self, request: Any, context: rpc_services.Context) -> Any:
        if request.session == "block":
            gone = threading.Event()
            context.on_cancel(gone.set)
            self.blocked.release()
            assert gone.wait()
            self.cancelled.release()
        if request.session.startswith("error"):
            code = int(request.session[5:])
            raise errors.make_error(code, "what was asked, ünd found", op=Node())
        if request.session == "long":
            raise errors.AbortedError(None, None, "x" * 1_000_000)
        if request.session == "defect":
            raise KeyError("nothing")
        value = messages.TensorValue(content=bytes(int(request.step or 0)))
        return messages.RunStepResponse(values=[value])


@pytest.fixture
def master() -> Master:
    return Master()


@pytest.fixture
def server(master: Master) -> Iterator[rpc.RpcServer]:
    made = rpc.serve("localhost:0", {"Master": master}, Security(), task=TASK)
    yield made
    made.stop(0)


@pytest.fixture
def stub(server: rpc.RpcServer) -> Iterator[rpc.Stub]:
    made = rpc.Stub(server.address, "Master", TASK, Security())
    yield made
    made.close()


def _run(graph: str, size: int = 0) -> Any:
    return messages.RunStepRequest(session=graph, step=str(size))


def _name(stub: rpc.Stub, seconds: float) -> Any:
    return stub.list_devices(messages.ListDevicesRequest(), timeout=seconds).devices[0].name


def test_a_call(stub: rpc.Stub) -> None:
    assert _name(stub, PATIENCE) == TASK


@pytest.mark.parametrize("code", range(1, 17))
def test_errors_cross_with_class_message_and_node(stub: rpc.Stub, code: int) -> None:
    with pytest.raises(errors.exception_type_from_error_code(code)) as caught:
        stub.run_step(_run(f"error{code}"), timeout=PATIENCE)
    assert str(caught.value) == "what was asked, ünd found"
    assert caught.value.error_code == code and caught.value.op.name == "layer/MatMul"


def test_a_long_message_is_cut(stub: rpc.Stub) -> None:
    with pytest.raises(errors.AbortedError, match="1000000 characters"):
        stub.run_step(_run("long"), timeout=PATIENCE)


def test_a_defect_is_an_internal_error(stub: rpc.Stub, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(errors.InternalError, match="KeyError"):
        stub.run_step(_run("defect"), timeout=PATIENCE)
    assert "RunStep failed" in caplog.text


def test_a_deadline_names_call_task_and_time(stub: rpc.Stub, master: Master) -> None:
    with pytest.raises(errors.DeadlineExceededError) as caught:
        stub.run_step(_run("block"), timeout=1.5)
    for part in ("RunStep", TASK, stub.address, "1.5 s"):
        assert part in str(caught.value)
    assert master.cancelled.acquire()


def test_a_cancellation_ends_a_call_and_its_handler(stub: rpc.Stub, master: Master) -> None:
    cancellation = Cancellation()

    def cancel() -> None:
        assert master.blocked.acquire()
        cancellation.cancel("the session was closed")

    threading.Thread(target=cancel, daemon=True).start()
    with (
        waiting.running(cancellation),
        pytest.raises(errors.CancelledError, match="closed while waiting for the master to run"),
    ):
        answer_of(stub.run_step, _run("block"), PATIENCE, "the master", "to run the step")
    assert master.cancelled.acquire()
    with waiting.running(Cancellation()):
        assert answer_of(stub.run_step, _run(""), PATIENCE, "the master", "to run") is not None


def test_a_call_says_what_it_waits_for(
    stub: rpc.Stub, master: Master, caplog: pytest.LogCaptureFixture, monkeypatch
) -> None:
    monkeypatch.setattr(blocking, "REMIND_SECONDS", 0.2)
    with waiting.running(seconds=1.0), pytest.raises(errors.DeadlineExceededError, match="its 1 s"):
        answer_of(stub.run_step, _run("block"), PATIENCE, "the master", "to run the step")
    assert master.cancelled.acquire()
    said = [each for each in caplog.messages if "still waiting for response from worker" in each]
    assert len(said) >= 2 and "RunStep" in said[0] and "the master to run the step" in said[0]


def test_a_client_that_is_killed_cancels_its_calls(server: rpc.RpcServer, master: Master) -> None:
    code = (
        "import sys\n"
        "from penstock.cluster.distributed import rpc\n"
        "from penstock.cluster.distributed.security import Security\n"
        "from penstock.foundation.formats import cluster_messages as m\n"
        "rpc.Stub(sys.argv[1], 'Master', 'w', Security()).run_step("
        "m.RunStepRequest(session='block'))\n"
    )
    client = warm.Popen([sys.executable, "-c", code, server.address])
    try:
        assert master.blocked.acquire()
        client.send_signal(signal.SIGKILL)
        assert master.cancelled.acquire()
    finally:
        client.kill()
        client.wait()


@pytest.mark.long
def test_hundreds_of_blocked_calls_starve_no_other(stub: rpc.Stub, master: Master) -> None:
    calls = [stub.run_step.start(_run("block"), timeout=PATIENCE) for _ in range(400)]
    for _ in calls:
        assert master.blocked.acquire()
    assert _name(stub, PATIENCE) == TASK
    for call in calls:
        call.cancel()
    for _ in calls:
        assert master.cancelled.acquire()
    with pytest.raises(errors.CancelledError):
        calls[0].result()


def test_a_server_that_stops_is_unavailable(
    server: rpc.RpcServer, stub: rpc.Stub, master: Master
) -> None:
    call = stub.run_step.start(_run("block"), timeout=PATIENCE)
    assert master.blocked.acquire()
    server.stop(0)
    with pytest.raises((errors.UnavailableError, errors.CancelledError), match=TASK):
        call.result()
    with pytest.raises(errors.UnavailableError, match=f"{TASK}.*{server.address}"):
        stub.run_step(_run(""), timeout=PATIENCE)


@pytest.mark.long
def test_waiting_for_a_server_names_it_when_it_does_not_come() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    stub = rpc.Stub(f"localhost:{port}", "Master", TASK, Security())
    start, clock = time.monotonic(), Clock()
    with pytest.raises(errors.UnavailableError, match=f"ListDevices at {TASK}.*no server is up"):
        stub.list_devices(messages.ListDevicesRequest(), timeout=1)
    with pytest.raises(errors.UnavailableError, match="no server is up"):
        stub.wait_until_up(0.5)
    assert time.monotonic() - start > 1 and clock.seconds() < 10
    server: list[rpc.RpcServer] = []

    def serve() -> None:
        server.append(rpc.serve(f"localhost:{port}", {"Master": Master()}, Security()))

    threading.Timer(0.5, serve).start()
    assert _name(stub, PATIENCE) == TASK
    server[0].stop(0)
    stub.close()


def test_a_port_that_is_taken(server: rpc.RpcServer) -> None:
    with pytest.raises(errors.UnknownError, match=f"{server.port}.*taken"):
        rpc.serve(server.address, {}, Security())


def test_limits_say_size_limit_and_how_to_raise_it(master: Master) -> None:
    small = dataclasses.replace(Security(), max_message_bytes=10_000)
    server = rpc.serve("localhost:0", {"Master": master}, small)
    stub, large = (rpc.Stub(server.address, "Master", TASK, s) for s in (small, Security()))
    try:
        request = messages.RunStepRequest(session="x" * 20_000)
        text = "20004 bytes.*10000 bytes; PENSTOCK_MAX_MESSAGE_BYTES"
        with pytest.raises(errors.ResourceExhaustedError, match=text):
            stub.run_step(request, timeout=PATIENCE)
        with pytest.raises(errors.ResourceExhaustedError, match="20004 vs. 10000"):
            large.run_step(request, timeout=PATIENCE)
        with pytest.raises(errors.ResourceExhaustedError, match="answer of RunStep"):
            stub.run_step(_run("", 20_000), timeout=PATIENCE)
        assert stub.run_step(_run("", 9_000), timeout=PATIENCE)
    finally:
        server.stop(0)
        stub.close()
        large.close()


def test_strangers_harm_nothing(server: rpc.RpcServer, stub: rpc.Stub) -> None:
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    web = b"GET / HTTP/1.1\r\n\r\n"
    for data in (b"", web, os.urandom(5000), preface + os.urandom(300)):
        with socket.create_connection(("localhost", server.port)) as stranger:
            stranger.sendall(data)
    assert _name(stub, PATIENCE) == TASK


def test_malformed_messages_are_invalid(server: rpc.RpcServer, stub: rpc.Stub) -> None:
    for data in (b"\xff" * 20, b"\x0a\xff\xff\xff\xff\x7f", os.urandom(1000)):
        call = stub.channel.unary_unary("/penstock.Master/RunStep")
        with pytest.raises(grpc.RpcError) as caught:
            call(data, timeout=PATIENCE)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    with pytest.raises(grpc.RpcError) as caught:
        stub.channel.unary_unary("/penstock.Master/Format")(b"", timeout=PATIENCE)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    with pytest.raises(AttributeError, match="list_devices"):
        stub.format


def test_a_token_is_asked_for(master: Master) -> None:
    server = rpc.serve("localhost:0", {"Master": master}, Security(token="secret"))
    try:
        for token, text in ((None, "no token"), ("sesame", "not the cluster's")):
            stub = rpc.Stub(server.address, "Master", TASK, Security(token=token))
            with pytest.raises(errors.UnauthenticatedError, match=text):
                stub.list_devices(messages.ListDevicesRequest(), timeout=PATIENCE)
            stub.close()
        stub = rpc.Stub(server.address, "Master", TASK, Security(token="secret"))
        assert _name(stub, PATIENCE) == TASK
        stub.close()
    finally:
        server.stop(0)


def test_mutual_tls(master: Master, tmp_path: Path) -> None:
    ours = certificates.security(tmp_path / "ours")
    others = certificates.security(tmp_path / "others")
    server = rpc.serve("localhost:0", {"Master": master}, ours)
    try:
        stub = rpc.Stub(server.address, "Master", TASK, ours)
        assert _name(stub, PATIENCE) == TASK
        stub.close()
        assert ours.tls and others.tls
        # No TLS; another authority; our authority but a certificate of the other.
        stolen = dataclasses.replace(others.tls, authority=ours.tls.authority)
        for wrong in (Security(), others, Security(tls=stolen)):
            stub = rpc.Stub(server.address, "Master", TASK, wrong)
            with pytest.raises(errors.UnavailableError):
                stub.run_step(_run(""), timeout=PATIENCE)
            stub.close()
    finally:
        server.stop(0)


def test_the_pool_ends_idle_threads_and_never_keeps_a_process_alive() -> None:
    pool = DaemonPool("test-pool", idle_seconds=0.2)
    assert [f.result() for f in [pool.submit(pow, 2, n) for n in range(20)]][-1] == 2**19
    failed = pool.submit(int, "x")
    assert isinstance(failed.exception(), ValueError)
    wait_until(lambda: not any(t.name == "test-pool" for t in threading.enumerate()))
    pool.shutdown()
    with pytest.raises(RuntimeError):
        pool.submit(int)
    code = (
        "import time\n"
        "from penstock.cluster.distributed.daemon_pool import DaemonPool\n"
        "DaemonPool('p').submit(time.sleep, 60)\n"
    )
    warm.run([sys.executable, "-c", code], check=True)


def test_the_pool_gives_back_the_threads_of_a_burst_while_calls_go_on() -> None:
    pool = DaemonPool("test-burst", idle_seconds=0.5)
    go = threading.Event()
    burst = [pool.submit(go.wait, PATIENCE) for _ in range(20)]
    go.set()
    assert all(task.result() for task in burst)
    # One at a time, and so many of them that each thread would have one in half a second.
    clock = Clock()
    while (left := sum(t.name == "test-burst" for t in threading.enumerate())) > 2:
        assert clock.seconds() < 20, f"{left} threads for one call at a time"
        pool.submit(time.sleep, 0.005).result()
    pool.shutdown()


def test_the_pool_keeps_its_limit() -> None:
    pool = DaemonPool("test-limit", limit=2)
    go = threading.Event()
    tasks = [pool.submit(go.wait, PATIENCE) for _ in range(5)]
    time.sleep(0.2)
    assert sum(t.name == "test-limit" for t in threading.enumerate()) == 2
    go.set()
    assert all(task.result() for task in tasks)
    pool.shutdown()


class _Breaking:
    """A method whose connection breaks a few times before one holds."""

    def __init__(self, method: rpc.Method, times: int) -> None:
        self.name, self._method, self.left = method.name, method, times

    def start(self, request: Any, seconds: float | None) -> Any:
        pending = self._method.start(request, seconds)
        if self.left:
            self.left -= 1
            pending.result = self._broken
        return pending

    @staticmethod
    def _broken() -> Any:
        raise errors.UnavailableError(None, None, "Socket closed")


def test_a_server_that_is_awaited_may_end_first(stub: rpc.Stub) -> None:
    method = _Breaking(stub.run_step, 2)
    with waiting.running(Cancellation()):
        assert answer_once_up(method, _run(""), PATIENCE, "the master") is not None
        assert method.left == 0
        always = _Breaking(stub.run_step, 1000)
        with pytest.raises(errors.UnavailableError, match="waited 0.3 s for .*: Socket closed"):
            answer_once_up(always, _run(""), 0.3, "the master")
