"""Messages of collections that Penstock has no objects for: kept as they came, and written again.

All strings in these messages are names of nodes, so moving one into a name scope or out of it needs
no more than the numbers of the fields, which the table below has.  A row says what a
length-delimited field is: a name, or a message with rows of its own.

Source: field numbers of TensorFlow's queue_runner.proto and control_flow.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.foundation.graph.keys import GraphKeys

_NAME = "name"
_Rows = dict[int, Any]

_PAIR: _Rows = {1: _NAME, 2: _NAME}
_VALUES: _Rows = {1: _NAME, 2: _PAIR}
_COND: _Rows = {1: _NAME, 2: _NAME, 3: _NAME, 5: _VALUES}
_WHILE: _Rows = {1: _NAME, 5: _NAME, 6: _NAME, 7: _NAME, 8: _NAME, 9: _VALUES, 10: _NAME, 11: _NAME}
_NESTED: _Rows = {1: _COND, 2: _WHILE}
_COND[6] = _WHILE[12] = _NESTED
_COLLECTIONS: dict[str, _Rows] = {
    GraphKeys.QUEUE_RUNNERS: {1: _NAME, 2: _NAME, 3: _NAME, 4: _NAME},
    GraphKeys.COND_CONTEXT: _COND,
    GraphKeys.WHILE_CONTEXT: _WHILE,
    GraphKeys.SAVERS: {1: _NAME, 2: _NAME, 3: _NAME},
}


class KeptMessage:
    """One message of a collection.

    Args:
      collection: the collection's name, which says what the message is.
      data: its bytes.
    """

    def __init__(self, collection: str, data: bytes) -> None:
        self.collection = collection
        self.data = data

    def moved(self, rename: Callable[[str], str]) -> KeptMessage:
        """This with other names of nodes."""
        rows = _COLLECTIONS[self.collection]
        return KeptMessage(self.collection, _renamed(self.data, rows, rename))

    @property
    def node_name(self) -> str:
        """The first name in it: the queue, or the context, it is about."""
        for number, _, payload in _fields(self.data):
            if number == 1 and isinstance(payload, bytes):
                return payload.decode()
        return ""

    def __repr__(self) -> str:
        return f"<message of collection {self.collection!r} about {self.node_name!r}>"


def can_keep(collection: str) -> bool:
    """Whether items of the collection are messages that this module knows how to move."""
    return collection in _COLLECTIONS


def _renamed(data: bytes, rows: _Rows, rename: Callable[[str], str]) -> bytes:
    made = bytearray()
    for number, whole, payload in _fields(data):
        row = rows.get(number)
        if payload is None or row is None:
            made += whole
            continue
        if row == _NAME:
            payload = rename(payload.decode()).encode()
        else:
            payload = _renamed(payload, row, rename)
        made += _varint(number << 3 | 2) + _varint(len(payload)) + payload
    return bytes(made)


def _fields(data: bytes) -> Iterator[tuple[int, bytes, bytes | None]]:
    """Number, all bytes, and the payload (None unless length-delimited) of each field."""
    position = 0
    while position < len(data):
        start = position
        tag, position = _read_varint(data, position)
        payload = None
        kind = tag & 7
        if kind == 0:
            _, position = _read_varint(data, position)
        elif kind in (1, 5):
            position += 8 if kind == 1 else 4
        elif kind == 2:
            size, position = _read_varint(data, position)
            payload = data[position : position + size]
            position += size
        else:
            raise ValueError(f"malformed message: wire type {kind} at byte {start}")
        if position > len(data):
            raise ValueError(f"malformed message: it ends within the field at byte {start}")
        yield tag >> 3, data[start:position], payload


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(data):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
    raise ValueError("malformed message: it ends within a number")


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)
