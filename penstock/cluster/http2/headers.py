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
_OWN = (":", "grpc-", "content-type")
_UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_PLAIN = frozenset(range(0x20, 0x7F)) - {0x25}


class Head(NamedTuple):
    """What the headers of a call say.

    ``seconds`` is how long its caller waits, None for ever and negative where it makes no sense.
    """

    method: str
    path: str
    content: str
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

    def head(self, block: bytes) -> Head:
        """Raises ConnectionFailed where the block is malformed or too large."""
        parts = _parts(block)
        if parts is None:
            return self._decoded(block)[0]
        noted, literals = parts
        found = self._known.get(noted)
        if found is None:
            found = self._remembered(noted)
        if literals:
            return found._replace(metadata={**found.metadata, **literals})
        return found

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


def _parts(block: bytes) -> tuple[bytes, dict[str, str | bytes]] | None:
    """A block as references to what is noted, and fields that are not to be.

    TensorFlow's clients number their calls in such a field.  None where there is anything else, or
    a field that is not for handlers alone.
    """
    noted, at = bytearray(), 0
    literals: dict[str, str | bytes] = {}
    while at < len(block):
        first = block[at]
        at += 1
        if 0x80 < first < 0xFF:
            noted.append(first)
            continue
        if first not in (0x00, 0x10):
            return None
        end = at + 1 + block[at] if at < len(block) else at
        stop = end + 1 + block[end] if end < len(block) else end
        # Longer ones, and those in Huffman's code, have lengths of another form.
        if stop > len(block) or not 0 < end - at - 1 < 127 or not 0 <= stop - end - 1 < 127:
            return None
        name = block[at + 1 : end].decode("latin-1")
        if name.startswith(_OWN) or name.endswith("-bin"):
            return None
        literals[name] = block[end + 1 : stop].decode("latin-1")
        at = stop
    return bytes(noted), literals


def _head(fields: list[tuple[bytes, bytes]]) -> Head:
    metadata: dict[str, str | bytes] = {}
    for name, value in fields:
        key = name.decode("latin-1")
        metadata[key] = _binary(value) if key.endswith("-bin") else value.decode("latin-1")
    return Head(
        str(metadata.pop(":method", "")), str(metadata.pop(":path", "")),
        str(metadata.get("content-type", "")), str(metadata.get("grpc-encoding", "identity")),
        _seconds(metadata.get("grpc-timeout")), metadata,
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
