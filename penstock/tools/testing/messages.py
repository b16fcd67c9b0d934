"""Protobuf messages as tests compare them."""

from __future__ import annotations

from typing import Any

_PLACES = 7


def with_rounded_numbers(message: Any) -> Any:
    """A copy of a message with its floats rounded, so that their text can be compared.

    Args:
      message: any protobuf message.
    """
    copy = type(message)()
    copy.CopyFrom(message)
    _round(copy)
    return copy


def _round(message: Any) -> None:
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for inner in _messages(field, value):
                _round(inner)
        elif field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
            if isinstance(value, float):
                setattr(message, field.name, round(value, _PLACES))
            else:
                value[:] = [round(each, _PLACES) for each in value]


def _messages(field: Any, value: Any) -> list[Any]:
    if field.message_type.GetOptions().map_entry:
        inner = field.message_type.fields_by_name["value"]
        return list(value.values()) if inner.type == inner.TYPE_MESSAGE else []
    return [value] if hasattr(value, "ListFields") else list(value)
