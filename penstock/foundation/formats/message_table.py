"""Protobuf messages from tables of fields.

A table is {message: {field: (number, type)}}.  In front of a type, ``*`` means repeated, ``?`` an
alternative of the message's only oneof; ``map<T>`` maps strings to T; a type with a dot is
``tensorboard``'s, or a message inside another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Rows: TypeAlias = "dict[str, tuple[int, str]]"


def make_messages(
    name: str,
    messages: Mapping[str, Rows],
    *,
    imported: Iterable[Any] = (),
    enums: Mapping[str, Iterable[str]] | None = None,
    foreign_enums: Collection[str] = (),
    oneofs: Mapping[str, str] | None = None,
    package: str = "penstock",
) -> dict[str, Any]:
    """Makes message classes.

    They are in the pool where ``tensorboard``'s are: only so can they hold each other.

    Args:
      name: of the table, for the descriptor pool.
      messages: the table.
      imported: the ``_pb2`` modules whose messages the table names.
      enums: enums of the table, each with its values from 0; a dot puts one inside a message.
      foreign_enums: which of the types with a dot are enums of ``tensorboard``.
      oneofs: names of the oneofs, by message.
      package: the proto package of the messages, where two tables have one of the same name.

    Returns:
      The classes by name, those inside other messages left out.
    """
    enums = enums or {}
    pool = descriptor_pool.Default()
    file = descriptor_pb2.FileDescriptorProto(
        name=f"penstock/foundation/formats/{name}.proto", package=package, syntax="proto3"
    )
    file.dependency.extend(module.DESCRIPTOR.name for module in imported)
    made: dict[str, Any] = {}
    kinds = frozenset({*enums, *foreign_enums})
    # A message before those inside it: they are added to it.
    for full_name in sorted(messages, key=lambda each: each.count(".")):
        outer, _, inner = full_name.rpartition(".")
        siblings = made[outer].nested_type if outer else file.message_type
        message = made[full_name] = siblings.add(name=inner)
        if oneofs and full_name in oneofs:
            message.oneof_decl.add(name=oneofs[full_name])
        _add_fields(message, full_name, messages[full_name], _Types(package, kinds))
    for full_name, values in enums.items():
        outer, _, inner = full_name.rpartition(".")
        enum = (made[outer] if outer else file).enum_type.add(name=inner)
        for number, value in enumerate(values):
            enum.value.add(name=value, number=number)
    pool.AddSerializedFile(file.SerializeToString())
    return {
        each: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{each}"))
        for each in messages
        if "." not in each
    }


class _Types(NamedTuple):
    """How the table's names of types are meant."""

    package: str
    enums: Collection[str]


def _add_fields(message: Any, full_name: str, rows: Rows, types: _Types) -> None:
    for field, (number, kind) in rows.items():
        if kind.startswith("map<"):
            entry = field.title().replace("_", "") + "Entry"
            nested = message.nested_type.add(name=entry)
            nested.options.map_entry = True
            _add_field(nested, "key", 1, "string", types)
            _add_field(nested, "value", 2, kind[len("map<") : -1], types)
            kind = f"*{full_name}.{entry}"
        _add_field(message, field, number, kind, types)


def _add_field(message: Any, name: str, number: int, kind: str, types: _Types) -> None:
    kinds = descriptor_pb2.FieldDescriptorProto
    bare = kind.lstrip("*?")
    field = message.field.add(name=name, number=number)
    field.label = kinds.LABEL_REPEATED if kind.startswith("*") else kinds.LABEL_OPTIONAL
    if kind.startswith("?"):
        field.oneof_index = 0
    if bare[0].islower() and "." not in bare:
        field.type = kinds.Type.Value("TYPE_" + bare.upper())
        return
    field.type = kinds.TYPE_ENUM if bare in types.enums else kinds.TYPE_MESSAGE
    foreign = bare.startswith("tensorboard.")
    field.type_name = f".{bare}" if foreign else f".{types.package}.{bare}"
