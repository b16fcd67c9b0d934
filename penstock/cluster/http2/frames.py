"""HTTP/2's frames: their bytes, and what makes a connection end.  Source: RFC 9113."""

from __future__ import annotations

import struct
from collections.abc import Iterable

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW, MORE = range(10)
# Flags.  That of an answer to SETTINGS and PING has the number of END_STREAM.
END_STREAM = ACK = 0x1
END_HEADERS, PADDED, WITH_PRIORITY = 0x4, 0x8, 0x20
# Codes of errors.
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR = range(4)
STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR = range(5, 10)
ENHANCE_YOUR_CALM = 11
# Names of settings.
TABLE_SIZE, PUSH, STREAMS, INITIAL_WINDOW, FRAME_SIZE, HEADER_LIST_SIZE = range(1, 7)

HEAD = struct.Struct(">BHBBI")
SETTING = struct.Struct(">HI")
NUMBER = struct.Struct(">I")
LARGEST_WINDOW = (1 << 31) - 1
# What holds until a peer's settings say something else.
FIRST_WINDOW, FIRST_FRAME_SIZE = 65535, 16384


class ConnectionFailed(Exception):
    """A peer breaks the protocol, or asks too much: its connection ends.

    Args:
      code: of the error.
      text: what was wrong.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


def head(kind: int, flags: int, stream: int, size: int) -> bytes:
    """The first nine bytes of a frame with so many bytes behind them.

    >>> head(PING, ACK, 0, 8).hex()
    '000008060100000000'
    """
    return HEAD.pack(size >> 16, size & 0xFFFF, kind, flags, stream)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """A whole frame."""
    return head(kind, flags, stream, len(payload)) + payload


def settings(values: Iterable[tuple[int, int]]) -> bytes:
    """A SETTINGS frame."""
    return frame(SETTINGS, 0, 0, b"".join(SETTING.pack(*each) for each in values))


def reset(stream: int, code: int) -> bytes:
    """A frame that ends a stream."""
    return frame(RST_STREAM, 0, stream, NUMBER.pack(code))


def window(stream: int, size: int) -> bytes:
    """A frame that lets the peer send so many bytes more; stream 0 is the connection."""
    return frame(WINDOW, 0, stream, NUMBER.pack(size))


def goaway(last: int, code: int, text: str = "") -> bytes:
    """A frame that says which stream was the last one that is answered."""
    return frame(GOAWAY, 0, 0, NUMBER.pack(last) + NUMBER.pack(code) + text.encode())


def header_frames(stream: int, flags: int, block: bytes, largest: int) -> bytes:
    """A block of headers, in as many frames as its size needs."""
    if len(block) <= largest:
        return frame(HEADERS, flags | END_HEADERS, stream, block)
    parts = [block[at : at + largest] for at in range(0, len(block), largest)]
    made = [frame(HEADERS, flags, stream, parts[0])]
    made += [frame(MORE, 0, stream, part) for part in parts[1:-1]]
    made.append(frame(MORE, END_HEADERS, stream, parts[-1]))
    return b"".join(made)


def unpadded(flags: int, payload: memoryview) -> memoryview:
    """What a DATA or HEADERS frame holds between its padding and priority.

    Raises:
      ConnectionFailed: there is more padding than frame.
    """
    start = padding = 0
    if flags & PADDED:
        if not payload:
            raise ConnectionFailed(FRAME_SIZE_ERROR, "a padded frame without padding")
        start, padding = 1, payload[0]
    if flags & WITH_PRIORITY:
        start += 5
    if start + padding > len(payload):
        raise ConnectionFailed(PROTOCOL_ERROR, "more padding than frame")
    return payload[start : len(payload) - padding]
