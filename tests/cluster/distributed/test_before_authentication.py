"""What a server spends on callers that have not shown its token."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import grpc
import pytest

from penstock.cluster.distributed import rpc
from penstock.cluster.distributed.security import Security
from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages
from tests.suite import warm
from tests.suite.clock import PATIENCE

_SERVER = """
import sys
from penstock.cluster.distributed import rpc
from penstock.cluster.distributed.security import Security
from penstock.foundation.formats import cluster_messages as messages

class Master:
    def list_devices(self, request, context):
        return messages.ListDevicesResponse()

server = rpc.serve("localhost:0", {"Master": Master()}, Security(token="secret"))
print(server.address, flush=True)
for line in sys.stdin:
    status = open("/proc/self/status").read()
    print(status.partition(line.strip() + ":")[2].split()[0], flush=True)
"""
_MB = 1 << 20


class _Server:
    """A server of its own process, that tells what the kernel says of it."""

    def __init__(self) -> None:
        self.process = warm.Popen(
            [sys.executable, "-c", _SERVER],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def number(self, name: str) -> int:
        """A row of /proc/self/status: VmHWM in KiB, Threads."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{name}\n")
        return int(self.process.stdout.readline())


@pytest.fixture(scope="module")
def server() -> Iterator[_Server]:
    made = _Server()
    yield made
    made.process.kill()
    made.process.wait()


def _still_answers(server: _Server) -> None:
    stub = rpc.Stub(server.address, "Master", "the server", Security(token="secret"))
    stub.list_devices(messages.ListDevicesRequest(), timeout=PATIENCE)
    stub.close()


def test_no_message_is_taken_without_the_token(server: _Server) -> None:
    _still_answers(server)
    before = server.number("VmHWM")
    stub = rpc.Stub(server.address, "Master", "the server", Security())
    data = bytes(200 * _MB)
    codes = []

    def call(method: str) -> None:
        with pytest.raises(grpc.RpcError) as caught:
            stub.channel.unary_unary(f"/penstock.Master/{method}")(data, timeout=PATIENCE)
        codes.append(caught.value.code())

    callers = [
        threading.Thread(target=call, args=(method,))
        for method in ("ListDevices", "RunStep", "Nothing")
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    stub.close()
    assert codes == [grpc.StatusCode.UNAUTHENTICATED] * 3
    assert (server.number("VmHWM") - before) / 1024 < 50
    _still_answers(server)


def test_calls_without_the_token_leave_no_threads(server: _Server) -> None:
    _still_answers(server)
    before = server.number("Threads")
    stub = rpc.Stub(server.address, "Master", "the server", Security(token="sesame"))
    request = messages.ListDevicesRequest()
    pending = [stub.list_devices.start(request, PATIENCE) for _ in range(500)]
    for each in pending:
        with pytest.raises(errors.UnauthenticatedError):
            each.result()
    # Streams that say nothing after their first bytes end as well.
    streams = [stub.channel.stream_stream("/penstock.Links/Carry") for _ in range(100)]
    for stream in streams:
        silent = threading.Event()
        call = stream(iter(silent.wait, True), metadata=stub.metadata, timeout=PATIENCE)
        with pytest.raises(grpc.RpcError) as caught:
            next(call)
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        silent.set()
    stub.close()
    assert server.number("Threads") - before < 100
    _still_answers(server)
