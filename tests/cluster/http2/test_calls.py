"""Calls as they should be: of a client of bare frames, and of gRPC's own."""

from __future__ import annotations

import gzip
import threading
import time
import zlib

import grpc
import pytest

from penstock.cluster.http2 import frames
from tests.cluster.http2.conftest import MESSAGE_BYTES, STREAMS, Echo
from tests.cluster.http2.raw_client import RawClient, prefixed
from tests.suite.clock import PATIENCE, wait_until


def _still_answers(client: RawClient, stream: int = 99) -> None:
    client.call(stream, b"still here")
    assert client.answer(stream)[1] == prefixed(b"still here")


def test_a_call(client: RawClient) -> None:
    for stream in (1, 3, 9):
        client.call(stream, b"hello")
        headers, data = client.answer(stream)
        assert data == prefixed(b"hello")
        assert headers == {
            ":status": "200", "content-type": "application/grpc", "grpc-status": "0"
        }  # fmt: skip


def test_calls_in_one_breath_and_in_small_pieces(client: RawClient) -> None:
    block = [client.head() for _ in range(3)]
    data = b"".join(
        frames.frame(frames.HEADERS, frames.END_HEADERS, stream, block[n])
        + frames.frame(frames.DATA, 0, stream, prefixed(b"abc")[:4])
        + frames.frame(frames.DATA, 0, stream, b"")
        + frames.frame(frames.DATA, frames.END_STREAM | frames.PADDED, stream,
                       b"\2" + prefixed(b"abc")[4:] + b"\0\0")
        for n, stream in enumerate((1, 3, 5))
    )  # fmt: skip
    client.send(data)
    found = {}
    while len(found) < 3:
        frame = client.until(frames.DATA)
        found[frame.stream] = frame.payload
    assert found == dict.fromkeys((1, 3, 5), prefixed(b"abc"))
    block = [client.head() for _ in range(3)]
    for byte in frames.frame(frames.HEADERS, frames.END_HEADERS, 7, block[0]):
        client.send(bytes([byte]))
    client.send(frames.frame(frames.DATA, frames.END_STREAM, 7, prefixed(b"x")))
    assert client.answer(7)[1] == prefixed(b"x")


def test_headers_that_are_remembered_mean_what_they_meant(client: RawClient) -> None:
    """A block of the same bytes refers to notes, which others have changed since."""
    for stream, path in enumerate(["Say", "Fail", "Say", "Fail", "Say", "Say", "Fail"]):
        number = 2 * stream + 1
        client.call(number, b"9", f"/test.Echo/{path}", noise=f"{stream // 3}")
        assert client.answer(number)[0]["grpc-status"] == ("0" if path == "Say" else "9")


def test_a_failure_has_code_text_and_metadata(client: RawClient) -> None:
    client.call(1, "50% ünd\nmore".encode(), "/test.Echo/Fail")
    headers, data = client.answer(1)
    assert (headers["grpc-status"], data) == ("9", b"")
    assert headers["grpc-message"] == "50%25 %C3%BCnd%0Amore"
    assert headers["found-bin"] == "AAE"
    # More than a frame holds goes on in others.
    client.call(3, b"x" * 40_000, "/test.Echo/Fail")
    assert client.answer(3)[0]["grpc-message"] == "x" * 40_000


@pytest.mark.parametrize(
    ("encoding", "data"),
    [("gzip", gzip.compress(b"z" * 999)), ("deflate", zlib.compress(b"z" * 999))],
    ids=["gzip", "deflate"],  # a compressed file begins with the time: workers would differ
)
def test_a_message_may_be_compressed(client: RawClient, encoding: str, data: bytes) -> None:
    head = frames.frame(
        frames.HEADERS, frames.END_HEADERS, 1, client.head(grpc_encoding=encoding)
    )  # fmt: skip
    client.send(head + frames.frame(frames.DATA, frames.END_STREAM, 1, prefixed(data, 1)))
    assert client.answer(1)[1] == prefixed(b"z" * 999)


def test_a_large_answer_waits_for_its_caller(client: RawClient) -> None:
    size = 300_000
    client.call(1, str(size).encode(), "/test.Echo/Many")
    taken = 0
    while taken < frames.FIRST_WINDOW:
        taken += len(client.until(frames.DATA).payload)
    assert taken == frames.FIRST_WINDOW
    _ping(client)  # nothing more has come in front of the answer
    client.send(frames.window(1, 1 << 20))
    _ping(client)
    client.send(frames.window(0, 1 << 20))
    while taken < size + 5:
        taken += len(client.until(frames.DATA).payload)
    assert taken == size + 5
    assert client.until(frames.HEADERS).flags & frames.END_STREAM


def _ping(client: RawClient) -> None:
    client.send(frames.frame(frames.PING, 0, 0, b"12345678"))
    found = client.next()
    assert found == (frames.PING, frames.ACK, 0, b"12345678")


def test_settings_change_windows_and_frames(client: RawClient) -> None:
    client.send(frames.settings([(frames.INITIAL_WINDOW, 10), (frames.FRAME_SIZE, 1 << 15)]))
    client.call(1, b"100000", "/test.Echo/Many")
    assert len(client.until(frames.DATA).payload) == 10
    client.send(frames.window(0, 1 << 20))
    client.send(frames.settings([(frames.INITIAL_WINDOW, 100_005)]))
    sizes = []
    while sum(sizes) < 99_995:
        sizes.append(len(client.until(frames.DATA).payload))
    assert max(sizes) == 1 << 15


def test_a_caller_who_gives_up_is_heard_of_while_the_call_runs(
    echo: Echo, client: RawClient
) -> None:
    client.call(1, b"", "/test.Echo/Block")
    assert echo.blocked.acquire(timeout=PATIENCE)
    _still_answers(client, 3)
    client.send(frames.reset(1, frames.CANCEL))
    assert echo.cancelled.acquire(timeout=PATIENCE)
    _still_answers(client)


def test_a_connection_that_ends_cancels_its_calls(echo: Echo) -> None:
    client = RawClient(echo.port)
    for stream in (1, 3):
        client.call(stream, b"", "/test.Echo/Block")
        assert echo.blocked.acquire(timeout=PATIENCE)
    client.close()
    for _ in range(2):
        assert echo.cancelled.acquire(timeout=PATIENCE)


def test_a_deadline_ends_a_call(echo: Echo, client: RawClient) -> None:
    client.call(1, b"", "/test.Echo/Block", grpc_timeout="100m")
    assert echo.blocked.acquire(timeout=PATIENCE)
    assert client.answer(1)[0]["grpc-status"] == "4"
    assert echo.cancelled.acquire(timeout=PATIENCE)
    client.call(3, b"x", grpc_timeout="1H")
    assert client.answer(3)[1] == prefixed(b"x")


@pytest.mark.long
def test_a_connection_that_rests_needs_no_thread(echo: Echo, client: RawClient) -> None:
    before = threading.active_count()
    clients = [RawClient(echo.port) for _ in range(20)]
    for each in clients:
        each.call(1, b"x")
        each.answer(1)
    time.sleep(1.5)
    idle = [t for t in threading.enumerate() if t.name == "penstock-test"]
    assert threading.active_count() <= before + len(idle)
    for each in clients:
        _still_answers(each)
        each.close()


def test_grpc_s_own_client(echo: Echo) -> None:
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(f"localhost:{echo.port}", options) as channel:
        say = channel.unary_unary("/test.Echo/Say")
        for size in (0, 1, 100, 70_000, 1 << 20, MESSAGE_BYTES):
            data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
            assert say(data, timeout=PATIENCE) == data
        with pytest.raises(grpc.RpcError) as caught:
            say(bytes(MESSAGE_BYTES + 1), timeout=PATIENCE)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert say(b"x", compression=grpc.Compression.Gzip, timeout=PATIENCE) == b"x"
        blocked = [channel.unary_unary("/test.Echo/Block").future(b"") for _ in range(STREAMS - 1)]
        for _ in blocked:
            assert echo.blocked.acquire(timeout=PATIENCE)
        assert say(b"beside", timeout=PATIENCE) == b"beside"
        for each in blocked:
            each.cancel()
        for _ in blocked:
            assert echo.cancelled.acquire(timeout=PATIENCE)


def test_many_threads_of_one_client(echo: Echo) -> None:
    with grpc.insecure_channel(f"localhost:{echo.port}") as channel:
        say = channel.unary_unary("/test.Echo/Say")
        wrong: list[bytes] = []

        def work(number: int) -> None:
            for turn in range(50):
                data = b"%d/%d " % (number, turn) * (turn * 200)
                if say(data, timeout=PATIENCE) != data:
                    wrong.append(data)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert not wrong


def test_a_server_that_stops_lets_calls_end() -> None:
    echo = Echo()
    client = RawClient(echo.port)
    client.call(1, b"", "/test.Echo/Block")
    assert echo.blocked.acquire(timeout=PATIENCE)
    stopping = threading.Thread(target=echo.server.stop, args=(PATIENCE,))
    stopping.start()
    assert client.until(frames.GOAWAY).payload[:8] == bytes([0, 0, 0, 1, 0, 0, 0, 0])
    client.call(3, b"too late")
    assert client.until(frames.RST_STREAM).stream == 3
    client.send(frames.reset(1, frames.CANCEL))
    assert echo.cancelled.acquire(timeout=PATIENCE)
    stopping.join(PATIENCE)
    assert not stopping.is_alive()
    with pytest.raises(ConnectionError):
        RawClient(echo.port)
    wait_until(lambda: client.next() is None)
    echo.stop()
