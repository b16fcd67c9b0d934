"""Protobuf messages from tables of fields.

A table is {message: {field: (number, type)}}.  In front of a type, ``*`` means repeated, ``?`` an
alternative of the message's only oneof; ``map<T>`` maps strings to T; a type with a dot is
``tensorboard``'s, or a message inside another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

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
) -> dict[str, Any]:
    """Makes message classes.

    They are in the proto package ``penstock``, in the pool where ``tensorboard``'s are: only so can
    they hold each other.

    Args:
      name: of the table, for the descriptor pool.
      messages: the table.
      imported: the ``_pb2`` modules whose messages the table names.
      enums: enums of the table, each with its values from 0; a dot puts one inside a message.
      foreign_enums: which of the types with a dot are enums of ``tensorboard``.
      oneofs: names of the oneofs, by message.

    Returns:
      The classes by name, those inside other messages left out.
    """
    enums = enums or {}
    pool = descriptor_pool.Default()
    file = descriptor_pb2.FileDescriptorProto(
        name=f"penstock/foundation/formats/{name}.proto", package="penstock", syntax="proto3"
    )
    file.dependency.extend(module.DESCRIPTOR.name for module in imported)
    made: dict[str, Any] = {}
    # A message before those inside it: they are added to it.
    for full_name in sorted(messages, key=lambda each: each.count(".")):
        outer, _, inner = full_name.rpartition(".")
        siblings = made[outer].nested_type if outer else file.message_type
        message = made[full_name] = siblings.add(name=inner)
        if oneofs and full_name in oneofs:
            message.oneof_decl.add(name=oneofs[full_name])
        _add_fields(message, full_name, messages[full_name], {*enums, *foreign_enums})
    for full_name, values in enums.items():
        outer, _, inner = full_name.rpartition(".")
        enum = (made[outer] if outer else file).enum_type.add(name=inner)
        for number, value in enumerate(values):
            enum.value.add(name=value, number=number)
    pool.AddSerializedFile(file.SerializeToString())
    return {
        each: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"penstock.{each}"))
        for each in messages
        if "." not in each
    }


def _add_fields(message: Any, full_name: str, rows: Rows, enums: Collection[str]) -> None:
    for field, (number, kind) in rows.items():
        if kind.startswith("map<"):
            entry = field.title().replace("_", "") + "Entry"
            nested = message.nested_type.add(name=entry)
            nested.options.map_entry = True
            _add_field(nested, "key", 1, "string", enums)
            _add_field(nested, "value", 2, kind[len("map<") : -1], enums)
            kind = f"*{full_name}.{entry}"
        _add_field(message, field, number, kind, enums)


def _add_field(message: Any, name: str, number: int, kind: str, enums: Collection[str]) -> None:
    kinds = descriptor_pb2.FieldDescriptorProto
    bare = kind.lstrip("*?")
    field = message.field.add(name=name, number=number)
    field.label = kinds.LABEL_REPEATED if kind.startswith("*") else kinds.LABEL_OPTIONAL
    if kind.startswith("?"):
        field.oneof_index = 0
    if bare[0].islower() and "." not in bare:
        field.type = kinds.Type.Value("TYPE_" + bare.upper())
        return
    field.type = kinds.TYPE_ENUM if bare in enums else kinds.TYPE_MESSAGE
    field.type_name = "." + bare if bare.startswith("tensorboard.") else ".penstock." + bare
