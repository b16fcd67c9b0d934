"""A client that sends whatever frames a test wants, and reads what comes back."""

from __future__ import annotations

import socket
from typing import NamedTuple

from hpack import Decoder, Encoder

from penstock.cluster.http2 import frames
from tests.suite.clock import PATIENCE


class Frame(NamedTuple):
    """One that came."""

    kind: int
    flags: int
    stream: int
    payload: bytes


class RawClient:
    """A connection to a server.

    Args:
      port: of the server.
      greet: whether to send what a client begins with.
    """

    def __init__(self, port: int, greet: bool = True) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.encoder, self._decoder = Encoder(), Decoder()
        self._data = b""
        if greet:
            self.send(frames.PREFACE + frames.settings([]))

    def send(self, data: bytes) -> None:
        """Sends bytes."""
        self.socket.sendall(data)

    def head(self, path: str = "/test.Echo/Say", **more: str) -> bytes:
        """A block of headers of a call; names have "_" for "-"."""
        fields = [
            (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "here"),
            ("content-type", "application/grpc"), ("te", "trailers"),
            *((name.replace("_", "-"), value) for name, value in more.items()),
        ]  # fmt: skip
        return bytes(self.encoder.encode(fields))

    def call(self, stream: int, message: bytes, path: str = "/test.Echo/Say", **more: str) -> None:
        """Sends a whole call."""
        head = frames.frame(
            frames.HEADERS, frames.END_HEADERS, stream, self.head(path, **more)
        )  # fmt: skip
        self.send(head + frames.frame(frames.DATA, frames.END_STREAM, stream, prefixed(message)))

    def next(self) -> Frame | None:
        """The next frame; None: the connection is over."""
        head = self._take(frames.HEAD.size)
        if head is None:
            return None
        high, low, kind, flags, stream = frames.HEAD.unpack(head)
        payload = self._take(high << 16 | low)
        return None if payload is None else Frame(kind, flags, stream, payload)

    def until(self, kind: int) -> Frame:
        """The next frame of a kind; windows and pings on the way are answered or passed over."""
        while (found := self.next()) is not None:
            if found.kind == kind and not (kind == frames.SETTINGS and found.flags):
                return found
        raise AssertionError("the connection is over")

    def answer(self, stream: int) -> tuple[dict[str, str], bytes]:
        """Headers and bytes of the answer of a call."""
        headers: dict[str, str] = {}
        data = b""
        while (found := self.next()) is not None:
            if found.stream != stream:
                continue
            assert found.kind in (frames.HEADERS, frames.DATA), found
            if found.kind == frames.DATA:
                data += found.payload
                continue
            block = found.payload
            while not found.flags & frames.END_HEADERS:
                more = self.next()
                assert more is not None and more.kind == frames.MORE
                block += more.payload
                found = found._replace(flags=found.flags | more.flags & frames.END_HEADERS)
            headers.update((str(each[0]), str(each[1])) for each in self._decoder.decode(block))
            if found.flags & frames.END_STREAM:
                return headers, data
        raise AssertionError("the connection is over")

    def code_of_end(self) -> int:
        """The code with which the server ends the connection."""
        goaway = self.until(frames.GOAWAY)
        assert self._over()
        return int.from_bytes(goaway.payload[4:8])

    def _over(self) -> bool:
        try:
            return self.next() is None
        except ConnectionError:
            return True

    def close(self) -> None:
        """Hangs up."""
        self.socket.close()

    def _take(self, size: int) -> bytes | None:
        while len(self._data) < size:
            more = self.socket.recv(1 << 16)
            if not more:
                return None
            self._data += more
        data, self._data = self._data[:size], self._data[size:]
        return data


def prefixed(message: bytes, compressed: int = 0) -> bytes:
    """A message as gRPC sends it."""
    return bytes([compressed]) + frames.NUMBER.pack(len(message)) + message
