"""A server that echoes, fails, and blocks."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from penstock.cluster.distributed.daemon_pool import DaemonPool
from penstock.cluster.http2.call import Call
from penstock.cluster.http2.incoming import Rules
from penstock.cluster.http2.server import Server
from penstock.cluster.http2.status import Failed
from tests.cluster.http2.raw_client import RawClient

MESSAGE_BYTES, HEADER_BYTES, STREAMS, STALLED = 1 << 22, 1 << 14, 40, 10


class Echo:
    """The server, and what its handlers tell."""

    def __init__(self) -> None:
        self.blocked, self.cancelled = threading.Semaphore(0), threading.Semaphore(0)
        methods = {
            "/test.Echo/Say": lambda data, call: bytes(data),
            "/test.Echo/Fail": self._fail,
            "/test.Echo/Block": self._block,
            "/test.Echo/Many": lambda data, call: bytes(int(bytes(data))),
        }
        rules = Rules(methods, _admit, MESSAGE_BYTES, HEADER_BYTES, STREAMS, STALLED)
        self._pool = DaemonPool("penstock-test")
        self.server = Server("localhost", 0, rules, self._pool)
        self.port = self.server.port

    def connections(self) -> int:
        """How many have not ended."""
        return len(self.server._connections)

    def stalled(self) -> int:
        """How many answers wait for callers who take no more."""
        return self.server._stalled._count

    def _fail(self, data: bytes | bytearray, call: Call) -> bytes:
        raise Failed(9, bytes(data).decode(), (("found-bin", b"\0\1"),))

    def _block(self, data: bytes | bytearray, call: Call) -> bytes:
        gone = threading.Event()
        if not call.add_callback(gone.set):
            gone.set()
        self.blocked.release()
        gone.wait()
        self.cancelled.release()
        return b""

    def stop(self) -> None:
        self.server.stop(0.0)
        self._pool.shutdown(wait=False)


def _admit(call: Call) -> None:
    if "stranger" in call.metadata():
        raise Failed(16, "who are you?")


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    made = Echo()
    yield made
    made.stop()


@pytest.fixture
def client(echo: Echo) -> Iterator[RawClient]:
    made = RawClient(echo.port)
    yield made
    made.close()
