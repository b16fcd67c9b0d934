"""A server in a process of its own, for clients of other languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.distributed.server_process import ServerProcess, free_addresses


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    server = ServerProcess({"local": free_addresses(1)}, "local", 0)
    try:
        server.wait_until_up()
        yield server.target
    finally:
        server.process.kill()
        server.process.wait()
