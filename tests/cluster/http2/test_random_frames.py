"""Frames of any kind in any order: nobody else is harmed, and nothing of them stays."""

from __future__ import annotations

import random
import socket
import threading

import pytest

from penstock.cluster.http2 import frames
from tests.cluster.http2.conftest import Echo
from tests.cluster.http2.raw_client import RawClient, prefixed
from tests.suite.clock import wait_until

_KINDS = [*range(10)] + [frames.DATA, frames.HEADERS, frames.WINDOW] * 3 + [10, 200]
_PATHS = ["/test.Echo/Say", "/test.Echo/Fail", "/test.Echo/Many", "/test.Echo/Block", "/nobody"]


def _frame(client: RawClient, dice: random.Random) -> bytes:
    """One that may be right: of a kind, a stream and a size that it may have, more or less."""
    kind = dice.choice(_KINDS)
    stream = dice.choice([0, 1, 3, 5, 7, 9, 11, 2, 1 << 20, (1 << 31) - 1])
    flags = dice.choice([0, 1, 4, 5, 5, 5, 8, 9, 13, 32, 37, dice.randrange(256)])
    if kind == frames.HEADERS:
        more = dice.choice([{}, {}, {"grpc_timeout": "20m"}, {"stranger": "1"}, {"x": "y" * 300}])
        payload = client.head(dice.choice(_PATHS), **more)
    elif kind == frames.DATA:
        payload = dice.choice([prefixed(b"70000"), prefixed(b"9")[:3], b"9", b"", bytes(500)])
    elif kind == frames.SETTINGS:
        payload = b"".join(
            frames.SETTING.pack(dice.randrange(8), dice.choice([0, 1, 100, 16384, 1 << 16]))
            for _ in range(dice.randrange(4))
        )
    else:
        payload = dice.choice([b"", bytes(4), bytes(5), bytes(8), b"\0\0\1\0", dice.randbytes(8)])
    return frames.frame(kind, flags, stream, payload)


def _talk(echo: Echo, dice: random.Random) -> None:
    client = RawClient(echo.port)
    try:
        if dice.random() < 0.3:  # a buffer that is soon full, of one who reads nothing
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(dice.randint(1, 40)):
            client.send(_frame(client, dice))
    except ConnectionError:
        pass  # it was hung up on
    client.close()


@pytest.mark.parametrize("seed", range(4))
def test_frames_of_any_kind_harm_nobody(
    echo: Echo, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    dice = random.Random(seed)
    seeds = [dice.random() for _ in range(8)]

    def work(number: int) -> None:
        mine = random.Random(seeds[number])
        for _ in range(25):
            _talk(echo, mine)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(seeds))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    client = RawClient(echo.port)
    client.call(1, b"still here")
    assert client.answer(1)[1] == prefixed(b"still here")
    client.close()
    wait_until(lambda: not echo.connections() and not echo.stalled())
    assert "defect" not in caplog.text


@pytest.mark.parametrize("kind", ["ping", "settings", "windows", "priorities", "empty data"])
def test_a_flood_is_answered_or_ends(echo: Echo, kind: str) -> None:
    """A hundred thousand frames of a kind, by one who reads what comes."""
    client = RawClient(echo.port)
    one = {
        "ping": frames.frame(frames.PING, 0, 0, bytes(8)),
        "settings": frames.settings([(frames.INITIAL_WINDOW, 1 << 16)]),
        "windows": frames.window(0, 1),
        "priorities": frames.frame(frames.PRIORITY, 0, 3, bytes(5)),
        "empty data": frames.frame(frames.DATA, 0, 1, b""),
    }[kind]
    if kind == "empty data":
        client.send(frames.frame(frames.HEADERS, frames.END_HEADERS, 1, client.head()))
    reader = threading.Thread(target=lambda: client.answer(3))
    reader.start()
    for _ in range(100):
        client.send(one * 1000)
    client.call(3, b"x")
    reader.join()
    client.close()
