"""Headers of calls: blocks of them, decoded once, and the answers' own.  Source: RFC 7541.

After its first calls a client sends the same few bytes with each, which refer to what both ends
have noted before; these are decoded once for as long as the notes stay as they are.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

from hpack import Decoder, HPACKError

from penstock.cluster.http2.frames import COMPRESSION_ERROR, ConnectionFailed

# How many different blocks of a connection are remembered.
_REMEMBERED = 64
_TIMEOUT = re.compile(r"([0-9]{1,8})([HMSmun])")
# Names of fields that say what a call is.
_OWN = (b":", b"grpc-", b"content-type")
# Bytes that each refer to something noted, and those that a field begins with that is not to be.
_NOTES = re.compile(rb"[\x81-\xfe]*")
_UNNOTED = (0x00, 0x10)
_UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_PLAIN = frozenset(range(0x20, 0x7F)) - {0x25}


class Head(NamedTuple):
    """What the headers of a call say.

    ``is_call`` tells whether they are those of a call of gRPC; ``seconds`` is how long its caller
    waits, None for ever and negative where it makes no sense.
    """

    method: str
    path: str
    is_call: bool
    encoding: str
    seconds: float | None
    metadata: dict[str, str | bytes]


class Blocks:
    """Decodes the blocks of headers of one connection, which must be all of them in order.

    Args:
      limit: bytes that the headers of a call may have.
    """

    def __init__(self, limit: int) -> None:
        self._decoder = Decoder(limit)
        self._known: dict[bytes, Head] = {}

    def head(self, block: bytes) -> tuple[Head, dict[str, str | bytes] | None]:
        """What a block says that may come again, and the fields that are this call's alone.

        Raises:
          ConnectionFailed: the block is malformed or too large.
        """
        parts = _parts(block)
        if parts is None:
            return self._decoded(block)[0], None
        noted, own = parts
        return self._known.get(noted) or self._remembered(noted), own

    def _remembered(self, block: bytes) -> Head:
        made, same = self._decoded(block)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        if same:
            self._known[block] = made
        return made

    def _decoded(self, block: bytes) -> tuple[Head, bool]:
        """What a block says, and whether both ends have noted nothing new."""
        before = self._notes()
        try:
            fields = list(self._decoder.decode(block, raw=True))
        except (HPACKError, IndexError, ValueError) as error:
            raise ConnectionFailed(COMPRESSION_ERROR, f"malformed headers: {error}") from None
        # Objects are compared: what is noted anew is another one, even where it is equal.
        after = self._notes()
        same = before[:2] == after[:2] and before[2] is after[2]
        if not same:
            self._known.clear()
        return _head([(bytes(field[0]), bytes(field[1])) for field in fields]), same

    def _notes(self) -> tuple[int, int, object]:
        """What every note changes: the size of the table, how many are in it, the last one."""
        table = self._decoder.header_table
        entries = table.dynamic_entries
        return table.maxsize, len(entries), entries[0] if entries else None


def _parts(block: bytes) -> tuple[bytes, dict[str, str | bytes] | None] | None:
    """A block as references to what is noted, and fields that are not to be.

    TensorFlow's clients number their calls in such a field.  None where there is anything else, or
    a field that is not for handlers alone.
    """
    at = _end_of_notes(block, 0)
    if at == len(block):
        return block, None
    noted, own = block[:at], {}
    while at < len(block):
        found = _literal(block, at)
        if found is None:
            return None
        name, value, stop = found
        own[name] = value
        at = _end_of_notes(block, stop)
        noted += block[stop:at]
    return noted, own


def _end_of_notes(block: bytes, at: int) -> int:
    return _NOTES.match(block, at).end()  # type: ignore[union-attr]  # which any text has


def _literal(block: bytes, at: int) -> tuple[str, str | bytes, int] | None:
    """Name and value of a field at a place, and where it ends; None where it is another thing."""
    size = len(block)
    middle = at + 2 + block[at + 1] if at + 1 < size else size
    end = middle + 1 + block[middle] if middle < size else size + 1
    # Longer ones, and those in Huffman's code, have lengths of another form.
    if block[at] not in _UNNOTED or end > size or middle - at > 128 or end - middle > 127:
        return None
    raw = block[at + 2 : middle]
    if not raw or raw.startswith(_OWN) or raw.endswith(b"-bin"):
        return None
    return raw.decode("latin-1"), block[middle + 1 : end].decode("latin-1"), end


def _head(fields: list[tuple[bytes, bytes]]) -> Head:
    metadata: dict[str, str | bytes] = {}
    for name, value in fields:
        key = name.decode("latin-1")
        metadata[key] = _binary(value) if key.endswith("-bin") else value.decode("latin-1")
    method = str(metadata.pop(":method", ""))
    content = str(metadata.get("content-type", ""))
    return Head(
        method, str(metadata.pop(":path", "")),
        method == "POST" and content.startswith("application/grpc"),
        str(metadata.get("grpc-encoding", "identity")), _seconds(metadata.get("grpc-timeout")),
        metadata,
    )  # fmt: skip


def _binary(value: bytes) -> bytes:
    try:
        return base64.b64decode(value + b"=" * (-len(value) % 4))
    except binascii.Error:
        return b""


def _seconds(text: str | bytes | None) -> float | None:
    if text is None:
        return None
    found = _TIMEOUT.fullmatch(str(text))
    return int(found[1]) * _UNITS[found[2]] if found else -1.0


def _length(size: int) -> bytes:
    """The length of a text, as blocks of headers have it: seven bits, then seven at a time."""
    if size < 127:
        return bytes([size])
    made, size = [127], size - 127
    while size >= 128:
        made.append(size & 127 | 128)
        size >>= 7
    return bytes([*made, size])


def field(name: str, value: bytes) -> bytes:
    """A header that nothing is to be noted of.

    >>> field("a", b"b").hex()
    '0001610162'
    """
    return b"\0" + _length(len(name)) + name.encode() + _length(len(value)) + value


# Entry 8 of the table that all have is ":status: 200".
BEFORE_ANSWER = b"\x88" + field("content-type", b"application/grpc")
AFTER_ANSWER = field("grpc-status", b"0")
NO_GRPC = field(":status", b"415")


def failed(code: int, text: str, metadata: tuple[tuple[str, bytes], ...] = ()) -> bytes:
    """What follows the headers of a call that failed."""
    made = field("grpc-status", b"%d" % code) + field("grpc-message", _escaped(text))
    for name, value in metadata:
        sent = base64.b64encode(value).rstrip(b"=") if name.endswith("-bin") else value
        made += field(name, sent)
    return made


def _escaped(text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return "".join(chr(b) if b in _PLAIN else f"%{b:02X}" for b in data).encode()
