"""Peers that break HTTP/2 or ask too much: they lose their connection, and others nothing."""

from __future__ import annotations

import gzip
import random
import socket
import struct
import sys
from collections.abc import Callable

import pytest

from penstock.cluster.http2 import frames, incoming, server
from penstock.cluster.http2.message import Message
from tests.cluster.http2.conftest import HEADER_BYTES, STALLED, STREAMS, Echo
from tests.cluster.http2.raw_client import RawClient, prefixed
from tests.suite.clock import PATIENCE, wait_until

_HEAD = frames.frame(frames.HEADERS, frames.END_HEADERS, 1, b"\x83\x86")


def _data(size: int, kind: int = frames.DATA, stream: int = 1, flags: int = 0) -> bytes:
    return frames.frame(kind, flags, stream, bytes(size))


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        # Frames of the wrong size.
        (struct.pack(">BHBBI", 4, 1, frames.DATA, 0, 1), frames.FRAME_SIZE_ERROR),
        (_data(7, frames.PING, 0), frames.FRAME_SIZE_ERROR),
        (_data(5, frames.SETTINGS, 0), frames.FRAME_SIZE_ERROR),
        (_data(6, frames.SETTINGS, 0, frames.ACK), frames.FRAME_SIZE_ERROR),
        (_data(3, frames.WINDOW, 0), frames.FRAME_SIZE_ERROR),
        (_data(3, frames.RST_STREAM), frames.FRAME_SIZE_ERROR),
        (_data(4, frames.PRIORITY), frames.FRAME_SIZE_ERROR),
        # Of streams that they are not for.
        (_data(8, frames.PING, 1), frames.PROTOCOL_ERROR),
        (_data(6, frames.SETTINGS, 1), frames.PROTOCOL_ERROR),
        (_data(5, frames.PRIORITY, 0), frames.PROTOCOL_ERROR),
        (_data(5), frames.PROTOCOL_ERROR),
        (_data(5, stream=0), frames.PROTOCOL_ERROR),
        (frames.reset(1, 0), frames.PROTOCOL_ERROR),
        (frames.reset(0, 0), frames.PROTOCOL_ERROR),
        (frames.window(1, 5), frames.PROTOCOL_ERROR),
        (frames.frame(frames.HEADERS, 4, 0, b"\x83"), frames.PROTOCOL_ERROR),
        (frames.frame(frames.HEADERS, 4, 2, b"\x83"), frames.PROTOCOL_ERROR),
        (_data(4, frames.PUSH_PROMISE), frames.PROTOCOL_ERROR),
        # Windows and settings that make no sense.
        (frames.window(0, 0), frames.PROTOCOL_ERROR),
        (frames.window(0, frames.LARGEST_WINDOW), frames.FLOW_CONTROL_ERROR),
        (frames.settings([(frames.INITIAL_WINDOW, 1 << 31)]), frames.FLOW_CONTROL_ERROR),
        (frames.settings([(frames.FRAME_SIZE, 100)]), frames.PROTOCOL_ERROR),
        (frames.settings([(frames.FRAME_SIZE, 1 << 24)]), frames.PROTOCOL_ERROR),
        (frames.settings([(frames.PUSH, 2)]), frames.PROTOCOL_ERROR),
        # Headers: malformed, interrupted, without an end, padded with more than there is.
        (frames.frame(frames.HEADERS, 4, 1, b"\x80"), frames.COMPRESSION_ERROR),
        (frames.frame(frames.HEADERS, 4, 1, b"\xff" * 40), frames.COMPRESSION_ERROR),
        (frames.frame(frames.HEADERS, 4, 1, b"\x00\x7f\xff\xff\xff\x0f"), frames.COMPRESSION_ERROR),
        (frames.frame(frames.HEADERS, 0, 1, b"\x83") + _data(8, frames.PING, 0),
         frames.PROTOCOL_ERROR),
        (frames.frame(frames.MORE, 4, 1, b"\x83"), frames.PROTOCOL_ERROR),
        (frames.frame(frames.HEADERS, 0, 1, b"\x83") + frames.frame(frames.MORE, 4, 3, b""),
         frames.PROTOCOL_ERROR),
        (frames.frame(frames.HEADERS, 12, 1, b"\x09\x83"), frames.PROTOCOL_ERROR),
        (frames.frame(frames.HEADERS, 12, 1, b""), frames.FRAME_SIZE_ERROR),
        (frames.frame(frames.HEADERS, 0, 1, b"") + frames.frame(frames.MORE, 0, 1) * 100,
         frames.ENHANCE_YOUR_CALM),
        (frames.frame(frames.HEADERS, 0, 1, b"") + frames.frame(frames.MORE, 0, 1, bytes(9000)) * 2,
         frames.ENHANCE_YOUR_CALM),
        (frames.frame(frames.HEADERS, 4, 1, b"\0\1a\1b" * 5000), frames.ENHANCE_YOUR_CALM),
        # A stream that was there before.
        (_HEAD + _HEAD, frames.STREAM_CLOSED),
    ],
)  # fmt: skip
def test_what_ends_a_connection(echo: Echo, client: RawClient, sent: bytes, code: int) -> None:
    client.send(sent)
    assert client.code_of_end() == code
    _answers(echo)


def _answers(echo: Echo) -> None:
    other = RawClient(echo.port)
    other.call(1, b"x")
    assert other.answer(1)[1] == prefixed(b"x")
    other.close()


def test_too_large_headers(echo: Echo, client: RawClient) -> None:
    """A few bytes that refer to a large note, again and again."""
    client.encoder.huffman = False
    block = client.head(large="x" * 3000)
    again = b"\xbe" * 2000
    client.send(frames.frame(frames.HEADERS, frames.END_HEADERS, 1, block + again))
    assert client.code_of_end() == frames.COMPRESSION_ERROR
    assert 2000 * 3000 > HEADER_BYTES
    _answers(echo)


@pytest.mark.parametrize(
    ("message", "status"),
    [
        (b"", "12"), (b"\0\0\0", "12"), (prefixed(b"abc")[:-1], "12"),
        (prefixed(b"abc") + b"x", "12"), (prefixed(b"abc", 1), "12"), (b"\0\xff\xff\xff\xff", "8"),
    ],
)  # fmt: skip
def test_what_ends_a_call(client: RawClient, message: bytes, status: str) -> None:
    head = frames.frame(frames.HEADERS, frames.END_HEADERS, 1, client.head())
    client.send(head + frames.frame(frames.DATA, frames.END_STREAM, 1, message))
    assert client.answer(1)[0]["grpc-status"] == status
    client.call(3, b"x")
    assert client.answer(3)[1] == prefixed(b"x")


def test_a_bomb_of_a_message(client: RawClient) -> None:
    bomb = gzip.compress(bytes(1 << 26))
    head = frames.frame(frames.HEADERS, frames.END_HEADERS, 1, client.head(grpc_encoding="gzip"))
    client.send(head + frames.frame(frames.DATA, frames.END_STREAM, 1, prefixed(bomb, 1)))
    assert client.answer(1)[0]["grpc-status"] == "8"


def test_calls_that_are_no_calls(client: RawClient) -> None:
    for stream, (path, more, status) in enumerate([
        ("/test.Echo/Nothing", {}, "12"), ("", {}, "12"),
        ("/test.Echo/Say", {"stranger": "1"}, "16"),
        ("/test.Echo/Say", {"grpc_timeout": "soon"}, "13"),
    ]):  # fmt: skip
        client.call(2 * stream + 1, b"x", path, **more)
        assert client.answer(2 * stream + 1)[0]["grpc-status"] == status
    web = client.encoder.encode([(":method", "GET"), (":path", "/"), (":scheme", "http")])
    client.send(frames.frame(frames.HEADERS, frames.END_HEADERS | frames.END_STREAM, 101, web))
    assert client.answer(101)[0] == {":status": "415"}


def test_more_calls_than_are_allowed(echo: Echo, client: RawClient) -> None:
    for number in range(STREAMS + 1):
        client.call(2 * number + 1, b"", "/test.Echo/Block")
    for _ in range(STREAMS):
        assert echo.blocked.acquire(timeout=PATIENCE)
    refused = client.until(frames.RST_STREAM)
    assert refused.payload == frames.NUMBER.pack(frames.REFUSED_STREAM)
    for number in range(STREAMS + 1):
        client.send(frames.reset(2 * number + 1, frames.CANCEL))
    for _ in range(STREAMS):
        assert echo.cancelled.acquire(timeout=PATIENCE)


def test_calls_that_are_given_up_without_end(
    echo: Echo, client: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incoming, "_RESETS_A_SECOND", 200)
    opened = frames.HEADERS, frames.END_HEADERS
    data = b"".join(
        frames.frame(*opened, stream, client.head()) + frames.reset(stream, frames.CANCEL)
        for stream in range(1, 2001, 2)
    )
    client.send(data)
    assert client.code_of_end() == frames.ENHANCE_YOUR_CALM
    _answers(echo)


def test_data_of_a_refused_call_is_dropped(client: RawClient) -> None:
    head = frames.frame(frames.HEADERS, frames.END_HEADERS, 1, client.head(stranger="1"))
    client.send(head)
    assert client.answer(1)[0]["grpc-status"] == "16"
    for _ in range(100):  # more than all windows, if they were not opened again
        client.send(_data(1 << 18))
    client.call(3, b"x")
    while (found := client.until(frames.DATA)).stream != 3:
        pass
    assert found.payload == prefixed(b"x")


def test_a_stranger_who_says_nothing_is_hung_up_on(
    echo: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_GREETING_SECONDS", 0.2)
    for begin in (b"", frames.PREFACE[:10]):
        stranger = RawClient(echo.port, greet=False)
        stranger.send(begin)
        assert stranger.until(frames.SETTINGS)
        wait_until(lambda: stranger.next() is None)  # noqa: B023
        stranger.close()


@pytest.mark.long
def test_a_silent_peer_is_pinged_and_given_up(echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_IDLE_SECONDS", 0.3)
    monkeypatch.setattr(server, "_PATIENCE_SECONDS", 1.0)
    client = RawClient(echo.port)
    client.call(1, b"", "/test.Echo/Block")
    assert echo.blocked.acquire(timeout=PATIENCE)
    assert client.until(frames.PING).flags == 0
    assert echo.cancelled.acquire(timeout=PATIENCE)
    client.close()


def test_answers_that_nobody_takes_do_not_take_all_threads(echo: Echo) -> None:
    """Windows of nothing: each answer waits in a thread, but only so many of all connections."""
    slow = [RawClient(echo.port) for _ in range(3)]
    for each in slow:
        each.send(frames.settings([(frames.INITIAL_WINDOW, 0)]))
    for number in range(STALLED // 2):
        for each in slow[:2]:
            each.call(2 * number + 1, b"x")
            assert each.until(frames.HEADERS).stream == 2 * number + 1
    wait_until(lambda: echo.stalled() == STALLED)
    slow[2].call(1, b"x")
    with pytest.raises(AssertionError, match="the connection is over"):
        slow[2].until(frames.DATA)
    _answers(echo)
    # Those that wait do so until they may.
    slow[0].send(frames.settings([(frames.INITIAL_WINDOW, 1000)]))
    for _ in range(STALLED // 2):
        assert slow[0].until(frames.DATA).payload == prefixed(b"x")
    for each in slow:
        each.close()
    wait_until(lambda: echo.stalled() == 0)


def test_a_few_bytes_that_announce_many_take_no_memory() -> None:
    message = Message("identity", 1 << 30)
    message.add(memoryview(b"\0" + frames.NUMBER.pack(1 << 29) + b"x"))
    assert sys.getsizeof(message._data) < 1 << 13


def test_an_odd_end(echo: Echo) -> None:
    """A connection that is reset while an answer is on its way."""
    for _ in range(20):
        client = RawClient(echo.port)
        client.call(1, b"4000000", "/test.Echo/Many")
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    _answers(echo)


def _spoiled(data: bytes, dice: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(made) + 1)
        end = min(len(made), at + dice.randint(0, 6))
        made[at:end] = dice.choice([b"", dice.randbytes(3), b"\xff" * 5, bytes(made[:7]), b"\0"])
    return bytes(made)


def test_random_bytes_harm_nobody(echo: Echo, caplog: pytest.LogCaptureFixture) -> None:
    dice = random.Random(20)
    whole: list[bytes] = []
    recorder = RawClient(echo.port)
    send: Callable[[bytes], None] = whole.append
    recorder.send = send  # type: ignore[method-assign]
    recorder.call(1, b"hello")
    recorder.call(3, b"hello", "/test.Echo/Fail")
    whole.append(frames.window(0, 9) + frames.frame(frames.PING, 0, 0, bytes(8)))
    recorder.close()
    data = b"".join(whole)
    for _ in range(300):
        client = RawClient(echo.port)
        try:
            client.send(_spoiled(data, dice))
            client.send(_spoiled(data, dice))
        except ConnectionError:
            pass  # it was hung up on already
        client.close()
    _answers(echo)
    assert "defect" not in caplog.text
