"""How the items of a collection become messages, and come back: one row a collection.

State: the table, filled when modules are imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class _Functions(NamedTuple):
    proto_type: Any
    to_proto: Callable[..., Any] | None
    from_proto: Callable[..., Any] | None


_FUNCTIONS: dict[str, _Functions] = {}


def register_proto_function(
    collection_name: str,
    proto_type: Any = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """Says how MetaGraphs hold the items of a collection.

    Args:
      collection_name: the collection.
      proto_type: the message class.
      to_proto: ``to_proto(item, export_scope=None) -> message``, or None to leave the item out.
      from_proto: ``from_proto(message, import_scope=None) -> item``.

    Raises:
      TypeError: a function is not callable.
      KeyError: the collection has its functions already.
    """
    for what, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function is not None and not callable(function):
            raise TypeError(f"{what} must be callable; found {function!r}")
    if collection_name in _FUNCTIONS:
        raise KeyError(f"collection {collection_name!r} has its functions already")
    _FUNCTIONS[collection_name] = _Functions(proto_type, to_proto, from_proto)


def get_collection_proto_type(collection_name: str) -> Any:
    """The message class of a collection's items, or None."""
    found = _FUNCTIONS.get(collection_name)
    return found.proto_type if found else None


def get_to_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """The function from an item to its message, or None."""
    found = _FUNCTIONS.get(collection_name)
    return found.to_proto if found else None


def get_from_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """The function from a message to the item, or None."""
    found = _FUNCTIONS.get(collection_name)
    return found.from_proto if found else None
