"""Rows of protocol buffer messages as tensors."""

from __future__ import annotations

import numpy as np
from google.protobuf import descriptor_pb2

from tests.ops.opcase import OpCase, feed, strings

_FIELD = descriptor_pb2.FieldDescriptorProto
_STRING = ("string",)
# Name of a field's type, value on the wire, types of tensors that take it.
_NUMBERS = (
    ("double", b"\x00\x00\x00\x00\x00\x00\xf8\x3f", ("float64",)),
    ("float", b"\x00\x00\xc0\x3f", ("float32", "float64")),
    ("int64", b"\x80\x80\x80\x80\x80\xe0\xff\xff\xff\x01", ("int64",)),
    ("uint64", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", ("uint64",)),
    ("int32", b"\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01", ("int32", "int64")),
    ("fixed64", b"\x05\0\0\0\0\0\0\x80", ("uint64",)),
    ("fixed32", b"\x05\0\0\x80", ("uint32", "uint64")),
    ("bool", b"\x01", ("bool",)),
    ("uint32", b"\xff\xff\xff\xff\x0f", ("uint32", "uint64")),
    ("enum", b"\x03", ("int32",)),
    ("sfixed32", b"\xfb\xff\xff\xff", ("int32", "int64")),
    ("sfixed64", b"\xfb\xff\xff\xff\xff\xff\xff\xff", ("int64",)),
    ("sint32", b"\x09", ("int32", "int64")),
    ("sint64", b"\x09", ("int64",)),
)
_TEXTS = ("string", "bytes", "message")
_WIRE = {"double": 1, "fixed64": 1, "sfixed64": 1, "float": 5, "fixed32": 5, "sfixed32": 5}


def _described() -> bytes:
    file = descriptor_pb2.FileDescriptorProto(name="rows.proto", package="rows", syntax="proto2")
    kinds = file.enum_type.add(name="Kind")
    kinds.value.add(name="FIRST", number=0)
    row = file.message_type.add(name="Row")
    names = [name for name, _, _ in _NUMBERS] + list(_TEXTS)
    for number, name in enumerate(names, 1):
        for prefix, label, at in (("", 1, number), ("many_", 3, number + 100)):
            field = row.field.add(name=prefix + name, number=at, label=label)
            field.type = getattr(_FIELD, f"TYPE_{name.upper()}")
            if name in ("enum", "message"):
                field.type_name = ".rows.Kind" if name == "enum" else ".rows.Row"
    row.field.add(name="seven", number=90, label=1, type=_FIELD.TYPE_INT32, default_value="7")
    row.field.add(name="word", number=91, label=1, type=_FIELD.TYPE_STRING, default_value="hey")
    row.field.add(name="packed", number=92, label=3, type=_FIELD.TYPE_INT32).options.packed = True
    files = descriptor_pb2.FileDescriptorSet()
    files.file.append(file)
    return files.SerializeToString()


def _tag(number: int, wire: int) -> bytes:
    tag = number << 3 | wire
    return bytes([tag]) if tag < 128 else bytes([tag & 127 | 128, tag >> 7])


_ALL = b"".join(
    _tag(at, _WIRE.get(name, 0)) + data
    for number, (name, data, _) in enumerate(_NUMBERS, 1)
    for at in (number, number + 100, number + 100)
)
_WORDS = b"".join(
    _tag(at, 2) + b"\x03\x2a\x01a"[:4]
    for number in range(len(_NUMBERS) + 1, len(_NUMBERS) + 4)
    for at in (number, number + 100)
)
_PACKED = _tag(92, 2) + b"\x03\xac\x02\x05" + _tag(92, 0) + b"\x01"
_MESSAGES = strings([_ALL + _WORDS, b"", _PACKED + _tag(5, 0) + b"\x01" + _tag(5, 0) + b"\x02"])
_ROW = {"message_type": "rows.Row", "descriptor_source": b"bytes://" + _described()}


def _decoded(fields, types, messages=_MESSAGES, raises=False, **more):
    attrs = {**_ROW, "field_names": list(fields), "output_types": list(types), **more}
    return OpCase("DecodeProtoV2", [messages], attrs, _STRING, raises=raises)


def _encoded(sizes, fields, values, raises=False, **more):
    return OpCase(
        "EncodeProto",
        [feed(sizes, "int32"), values],
        {**_ROW, "field_names": fields, **more},
        _STRING,
        raises=raises,
    )


_PAIR = feed([[5, 300], [-6, 7]], "int32")
_STRINGS = strings([["a", "b"], ["c", ""]])

CASES = [
    *(
        _decoded([name, f"many_{name}"], [kind, kind])
        for name, _, types in _NUMBERS for kind in types
    ),
    _decoded([p + name for name in _TEXTS for p in ("", "many_")], ["string"] * 6),
    _decoded(["seven", "word", "packed"], ["int32", "string", "int32"]),
    _decoded(["int32"], ["int32"], strings([[_ALL, b""]])),
    _decoded(["int32", "packed"], ["int32", "int64"], strings(["int32: 4 packed: [1, 2]"]),
             message_format="text"),
    _decoded(["many_message", "int32"], ["string", "int32"], sanitize=True),
    _decoded(["none"], ["int32"], raises=True),
    _decoded(["int32"], ["float32"], raises=True),
    _decoded(["int32"], ["int32"], raises=True, message_type="rows.Column"),
    _decoded(["int32"], ["int32"], raises=True, descriptor_source="bytes://no descriptor"),
    _decoded(["int32"], ["int32"], strings([b"\xff\xff"]), raises=True),
    _decoded(["int32"], ["int32"], strings([_ALL[:-1]]), raises=True),
    _decoded(["int32"], ["int32"], raises=True, message_format="json"),
    *(
        _encoded([[2], [1]], [f"many_{name}"], [feed(np.array([[1, 5], [0, 1]]), kind)])
        for name, _, types in _NUMBERS for kind in types
    ),
    _encoded([[1, 2], [0, 1]], ["string", "many_bytes"], [_STRINGS, _STRINGS]),
    _encoded([[2, 1, 2], [2, 0, 0]], ["packed", "many_message", "many_int32"],
             [_PAIR, _STRINGS, _PAIR]),
    _encoded([[3], [1]], ["packed"], [_PAIR], raises=True),
    _encoded([[1], [1]], ["none"], [_PAIR], raises=True),
    _encoded([[1], [1]], ["many_double"], [_PAIR], raises=True),
    _encoded([[1]], ["packed"], [_PAIR], raises=True),
]  # fmt: skip
