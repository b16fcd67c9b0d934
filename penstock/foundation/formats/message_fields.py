"""Fields of protocol buffer messages as arrays, by descriptors that are given as bytes or files.

Messages are read and written by their wire format, field by field: fields of submessages stay the
bytes that they are, and fields that nobody asks for are passed over.

Source: the encoding of protocol buffers.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.message import DecodeError

from penstock.foundation.base import errors
from penstock.foundation.formats import files
from penstock.foundation.formats.coding import read_varint, varint

_VARINT, _EIGHT, _SIZED, _OPEN, _CLOSE, _FOUR = range(6)
_LOCAL, _BYTES = (b"", b"local://"), b"bytes://"
_FIELD = descriptor_pb2.FieldDescriptorProto


# ---- kinds of fields -----------------------------------------------------------------------------


class Kind(NamedTuple):
    """How values of a type are written, and the dtypes of arrays of them."""

    wire: int
    read: Callable[[Any], Any]
    write: Callable[[Any], bytes]
    dtypes: tuple[str, ...]


def _signed(bits: int) -> Callable[[int], int]:
    half = 1 << (bits - 1)
    return lambda value: ((value & (2 * half - 1)) ^ half) - half


def _zigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


def _from_zigzag(value: int) -> bytes:
    return varint(value * 2 if value >= 0 else -value * 2 - 1)


def _fixed(code: str, *dtypes: str) -> Kind:
    packing = struct.Struct("<" + code)
    wire = _EIGHT if packing.size == 8 else _FOUR
    return Kind(wire, lambda data: packing.unpack(data)[0], packing.pack, dtypes)


def _number(read: Callable[[int], Any], *dtypes: str) -> Kind:
    return Kind(_VARINT, read, lambda value: varint(int(value) & (1 << 64) - 1), dtypes)


_SIZED_KIND = Kind(_SIZED, bytes, lambda data: varint(len(data)) + data, ("string",))
_KINDS = {
    _FIELD.TYPE_DOUBLE: _fixed("d", "float64"),
    _FIELD.TYPE_FLOAT: _fixed("f", "float32", "float64"),
    _FIELD.TYPE_INT64: _number(_signed(64), "int64"),
    _FIELD.TYPE_UINT64: _number(int, "uint64"),
    _FIELD.TYPE_INT32: _number(_signed(32), "int32", "int64"),
    _FIELD.TYPE_FIXED64: _fixed("Q", "uint64"),
    _FIELD.TYPE_FIXED32: _fixed("I", "uint32", "uint64"),
    _FIELD.TYPE_BOOL: _number(bool, "bool"),
    _FIELD.TYPE_STRING: _SIZED_KIND,
    _FIELD.TYPE_MESSAGE: _SIZED_KIND,
    _FIELD.TYPE_BYTES: _SIZED_KIND,
    _FIELD.TYPE_UINT32: _number(lambda value: value & 0xFFFFFFFF, "uint32", "uint64"),
    _FIELD.TYPE_ENUM: _number(_signed(32), "int32"),
    _FIELD.TYPE_SFIXED32: _fixed("i", "int32", "int64"),
    _FIELD.TYPE_SFIXED64: _fixed("q", "int64"),
    _FIELD.TYPE_SINT32: Kind(
        _VARINT, lambda value: _signed(32)(_zigzag(value)), _from_zigzag, ("int32", "int64")
    ),
    _FIELD.TYPE_SINT64: Kind(_VARINT, _zigzag, _from_zigzag, ("int64",)),
}


# ---- descriptors ---------------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def find_message(source: bytes, message_type: str) -> Any:
    """The descriptor of a message.

    Args:
      source: ``local://`` for messages that Python has loaded, ``bytes://`` and a serialized
        FileDescriptorSet, or the path of a file that holds one.
      message_type: full name of the message.

    Raises:
      InvalidArgumentError: there is no such source or message.
    """
    pool = descriptor_pool.Default() if source in _LOCAL else _pool(source)
    try:
        return pool.FindMessageTypeByName(message_type)
    except KeyError:
        raise errors.invalid(f"No descriptor found for message type {message_type}") from None


def _pool(source: bytes) -> Any:
    pool = descriptor_pool.DescriptorPool()
    try:
        if source.startswith(_BYTES):
            data = source.removeprefix(_BYTES)
        else:
            with files.open_file(source.decode()) as stream:
                data = stream.read()
        for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
            pool.Add(file)
    except (DecodeError, TypeError, UnicodeError, OSError, errors.OpError) as error:
        raise errors.invalid(
            "the descriptor source is neither 'local://', nor 'bytes://' and a serialized"
            f" FileDescriptorSet, nor a file of one: {error}"
        ) from None
    return pool


def _field(message: Any, name: str, dtype: str) -> tuple[Any, Kind]:
    field = message.fields_by_name.get(name)
    if field is None:
        raise errors.invalid(f"Unknown field: {name} in message type {message.full_name}")
    kind = _KINDS.get(field.type)
    if kind is None or dtype not in kind.dtypes:
        allowed = "none" if kind is None else ", ".join(kind.dtypes)
        raise errors.invalid(f"Incompatible type for field {name}: {dtype}; allowed are: {allowed}")
    return field, kind


def _repeated(field: Any) -> bool:
    """As newer versions of protobuf say it, and older ones."""
    known = getattr(field, "is_repeated", None)
    return bool(field.label == _FIELD.LABEL_REPEATED if known is None else known)


# ---- reading -------------------------------------------------------------------------------------


def _entries(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Number, wire type and value of each field; groups are passed over."""
    at = depth = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        value: Any = None
        if wire == _VARINT:
            value, at = read_varint(data, at)
        elif wire in (_EIGHT, _FOUR, _SIZED):
            size, at = read_varint(data, at) if wire == _SIZED else (8 if wire == _EIGHT else 4, at)
            value, at = data[at : at + size], at + size
        elif wire == _OPEN:
            depth += 1
            continue
        elif wire == _CLOSE and depth:
            depth -= 1
            continue
        if at > len(data) or not number or wire > _FOUR or value is None:
            raise ValueError(f"no field ends at byte {at} of {len(data)}")
        if not depth:
            yield number, wire, value
    if depth:
        raise ValueError("a group has no end")


def _unpacked(data: bytes, kind: Kind) -> list[Any]:
    if kind.wire != _VARINT:
        size = 8 if kind.wire == _EIGHT else 4
        return [kind.read(data[at : at + size]) for at in range(0, len(data), size)]
    values, at = [], 0
    while at < len(data):
        value, at = read_varint(data, at)
        values.append(kind.read(value))
    return values


def _binary(message: Any, data: bytes, text: bool, sanitize: bool) -> bytes:
    if not text and not sanitize:
        return data
    made = message_factory.GetMessageClass(message)()
    if text:
        text_format.Parse(data, made)
    else:
        made.ParseFromString(data)
    return made.SerializeToString()


def read_fields(
    messages: Sequence[bytes], message: Any, names: Sequence[str], dtypes: Sequence[str],
    *, text: bool = False, sanitize: bool = False,
) -> tuple[np.ndarray, list[np.ndarray]]:  # fmt: skip
    """Fields of messages.

    Args:
      messages: serialized messages, one or more.
      message: their descriptor.
      names, dtypes: fields, and the element type of each one's array; "string" for bytes.
      text: whether messages are in the text format.
      sanitize: whether messages are parsed and written anew before.

    Returns:
      int32 [messages, fields]: how often a message has a field; for each field an array [messages,
      n], filled up with zeros or empty strings, or with the default of a field that is not
      repeated; n is at least 1.

    Raises:
      InvalidArgumentError: an unknown field, or a dtype that cannot hold it.
      DataLossError: bytes that are no message.
    """
    fields = [_field(message, name, dtype) for name, dtype in zip(names, dtypes, strict=True)]
    places = {field.number: (n, kind) for n, (field, kind) in enumerate(fields)}
    found: list[list[list[Any]]] = [[[] for _ in messages] for _ in fields]
    for row, data in enumerate(messages):
        try:
            for number, wire, value in _entries(_binary(message, data, text, sanitize)):
                place, kind = places.get(number, (0, None))
                if kind is not None and wire == kind.wire:
                    found[place][row].append(kind.read(value))
                elif kind is not None and wire == _SIZED:
                    found[place][row] += _unpacked(value, kind)
        except (ValueError, struct.error, DecodeError, text_format.ParseError) as error:
            raise errors.DataLossError(
                None, None, f"Unable to parse {message.full_name} {row} of {len(messages)}: {error}"
            ) from None
    sizes = np.zeros((len(messages), len(fields)), np.int32)
    arrays = []
    for place, (field, _) in enumerate(fields):
        rows = found[place] if _repeated(field) else [values[-1:] for values in found[place]]
        sizes[:, place] = [len(values) for values in rows]
        arrays.append(_filled(rows, field, dtypes[place]))
    return sizes, arrays


def _filled(rows: list[list[Any]], field: Any, dtype: str) -> np.ndarray:
    width = max(map(len, rows), default=1) or 1
    empty: Any = b"" if dtype == "string" else 0
    if not _repeated(field) and field.type not in (_FIELD.TYPE_MESSAGE, _FIELD.TYPE_GROUP):
        empty = field.default_value
        empty = empty.encode() if isinstance(empty, str) else empty
    made = np.full((len(rows), width), empty, object if dtype == "string" else dtype)
    for row, values in enumerate(rows):
        made[row, : len(values)] = values
    return made


# ---- writing -------------------------------------------------------------------------------------


def write_fields(
    message: Any, names: Sequence[str], dtypes: Sequence[str], sizes: np.ndarray,
    values: Sequence[np.ndarray],
) -> list[bytes]:  # fmt: skip
    """Messages of fields.

    Args:
      message: their descriptor.
      names, dtypes: fields, and the element type of each one's array.
      sizes: [messages, fields]: how many of a field's values a message takes.
      values: an array [messages, n] for each field.

    Raises:
      InvalidArgumentError: an unknown field, a dtype that it cannot take, or too few values.
    """
    fields = [_field(message, name, dtype) for name, dtype in zip(names, dtypes, strict=True)]
    order = sorted(range(len(fields)), key=lambda n: fields[n][0].number)
    made = []
    for row in range(len(sizes)):
        parts = []
        for place in order:
            size, width = int(sizes[row, place]), values[place].shape[1]
            if size > width:
                raise errors.invalid(
                    "Size to write must not be larger than value tensor; but saw:"
                    f" {size} > {width} at message {row} field {place}"
                )
            parts.append(_written(*fields[place], values[place][row, : max(size, 0)].tolist()))
        made.append(b"".join(parts))
    return made


def _written(field: Any, kind: Kind, values: list[Any]) -> bytes:
    if values and kind.wire != _SIZED and _packed(field):
        data = b"".join(map(kind.write, values))
        return varint(field.number << 3 | _SIZED) + varint(len(data)) + data
    tag = varint(field.number << 3 | kind.wire)
    return b"".join(tag + kind.write(value) for value in values)


def _packed(field: Any) -> bool:
    known = getattr(field, "is_packed", None)
    return bool(_repeated(field) and field.GetOptions().packed if known is None else known)
