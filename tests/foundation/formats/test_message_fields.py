"""Fields of messages against protobuf's own reader and writer; damaged bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, message_factory
from hypothesis import given, strategies as st

from penstock.foundation.base import errors
from penstock.foundation.formats import message_fields

FIELD = descriptor_pb2.FieldDescriptorProto


def _described() -> bytes:
    file = descriptor_pb2.FileDescriptorProto(name="f.proto", package="f", syntax="proto3")
    row = file.message_type.add(name="Row")
    for number, (name, kind, label) in enumerate(
        [("ints", "INT64", 3), ("one", "INT32", 1), ("words", "STRING", 3), ("half", "FLOAT", 1)], 1
    ):
        row.field.add(name=name, number=number, label=label, type=getattr(FIELD, f"TYPE_{kind}"))
    row.field.add(name="inner", number=9, label=1, type=FIELD.TYPE_MESSAGE, type_name=".f.Row")
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


SOURCE = b"bytes://" + _described()
ROW = message_fields.find_message(SOURCE, "f.Row")
NAMES = ["words", "ints", "one", "half", "inner"]
DTYPES = ["string", "int64", "int32", "float32", "string"]


def _message(**fields: Any) -> bytes:
    made: bytes = message_factory.GetMessageClass(ROW)(**fields).SerializeToString()
    return made


MESSAGES = [_message(ints=[1, -2, 3], one=4, words=["a"]), b"", _message(half=0.5, words=["b", ""])]


def test_fields_are_read() -> None:
    sizes, values = message_fields.read_fields(MESSAGES, ROW, NAMES, DTYPES)
    assert sizes.tolist() == [[1, 3, 1, 0, 0], [0] * 5, [2, 0, 0, 1, 0]]
    assert values[0].tolist() == [[b"a", b""], [b"", b""], [b"b", b""]]
    assert values[1].tolist() == [[1, -2, 3], [0, 0, 0], [0, 0, 0]]
    assert values[3].tolist() == [[0], [0], [0.5]] and values[3].dtype == np.float32


def test_what_is_written_is_what_was_read() -> None:
    sizes, values = message_fields.read_fields(MESSAGES, ROW, NAMES, DTYPES)
    assert message_fields.write_fields(ROW, NAMES, DTYPES, sizes, values) == MESSAGES


def test_submessages_and_groups_of_others_are_passed_over() -> None:
    group = b"\x5b\x08\x07\x5b\x5c\x5c"  # field 11, with one in it
    data = group + _message(one=4, inner={"one": 5})
    sizes, values = message_fields.read_fields([data], ROW, ["one", "inner"], ["int64", "string"])
    assert sizes.tolist() == [[1, 1]]
    assert [v.tolist() for v in values] == [[[4]], [[_message(one=5)]]]


@pytest.mark.parametrize("data", [b"\xff", b"\x5b", b"\x5c", b"\x0d\0", b"\x0a\x05a", b"\0\0"])
def test_damaged_messages_are_refused(data: bytes) -> None:
    with pytest.raises(errors.DataLossError, match="Unable to parse"):
        message_fields.read_fields([data], ROW, NAMES, DTYPES)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        sizes, values = message_fields.read_fields([data], ROW, NAMES, DTYPES)
    except errors.DataLossError:
        return
    assert all(size <= v.shape[1] for size, v in zip(sizes[0], values, strict=True))


@pytest.mark.parametrize("source", [b"bytes://no", b"/no/such/file", b"\xff", b"local://"])
def test_sources_that_describe_nothing(source: bytes) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="descriptor"):
        message_fields.find_message(source, "f.Row")


def test_a_file_is_a_source(tmp_path: Any) -> None:
    path = tmp_path / "rows.bin"
    path.write_bytes(_described())
    assert message_fields.find_message(str(path).encode(), "f.Row").full_name == "f.Row"
