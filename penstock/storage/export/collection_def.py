"""Collections of a graph as ``CollectionDef`` messages, out and in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable
from typing import Any

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError

from penstock.foundation.graph import proto_functions
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.storage.export import kept, names

_log = logging.getLogger(__name__)


def includes(item: Any, export_scope: str | None, exclude: Container[str] | None) -> bool:
    """Whether an item of a collection belongs to the export."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    if not isinstance(name, str):
        return True
    if exclude and (name in exclude or name.partition(":")[0] in exclude):
        return False
    return name.startswith(names.UNBOUND_PREFIX) or names.inside(name, export_scope)


def add_collection(
    meta_graph: Any,
    key: Any,
    items: Iterable[Any],
    export_scope: str | None = None,
    exclude: Container[str] | None = None,
) -> None:
    """Adds a collection to a MetaGraphDef.

    Args:
      meta_graph: the message to add to.
      key: the collection's name; only strings can be written.
      items: what it holds.  Items that no message can hold are left out with a warning, all of
        the collection, as in TF.
      export_scope: name scope that is exported.
      exclude: names of nodes that are not exported.
    """
    if not isinstance(key, str):
        _log.warning("collection %r is not exported: its name is no string", key)
        return
    chosen = [item for item in items if includes(item, export_scope, exclude)]
    if not chosen:
        return
    definition = meta_graph.collection_def[key]
    try:
        _fill(definition, key, chosen, export_scope)
    except (TypeError, ValueError, AttributeError) as error:
        _log.warning("collection %r is not exported: %s", key, error)
        del meta_graph.collection_def[key]


def _fill(definition: Any, key: str, items: list[Any], scope: str | None) -> None:
    to_proto = proto_functions.get_to_proto_function(key)
    if to_proto is not None or isinstance(items[0], kept.KeptMessage):
        definition.bytes_list.SetInParent()
        for item in items:
            data = _message_data(item, to_proto, scope)
            if data is not None:
                definition.bytes_list.value.append(data)
        return
    kind = _kind(items[0])
    if kind == "node_list":
        inside = [item.name for item in items if names.inside(item.name, scope)]
        definition.node_list.value.extend(names.without_scope(name, scope) for name in inside)
        definition.node_list.SetInParent()
    elif kind == "bytes_list":
        definition.bytes_list.value.extend(
            item if isinstance(item, bytes) else item.encode() for item in items
        )
    else:
        # Protobuf refuses a bool where an int stands, which TF's version takes.
        getattr(definition, kind).value.extend(
            int(item) if isinstance(item, bool) else item for item in items
        )


def _message_data(item: Any, to_proto: Callable[..., Any] | None, scope: str | None) -> Any:
    if isinstance(item, kept.KeptMessage):
        if not names.inside(item.node_name, scope):
            return None
        return (
            item.moved(lambda name: names.without_scope(name, scope)).data if scope else (item.data)
        )
    if to_proto is None:
        raise TypeError(f"{item!r} stands among messages and is none")
    message = to_proto(item, export_scope=scope)
    return message.SerializeToString(deterministic=True) if message else None


def _kind(item: Any) -> str:
    for kind, name in (
        ((str, bytes), "bytes_list"), (int, "int64_list"), (float, "float_list"),
        (AnyMessage, "any_list"),
    ):  # fmt: skip
        if isinstance(item, kind):
            return name
    return "node_list"


# ---- in ------------------------------------------------------------------------------------------


def restore_collections(
    meta_graph: Any,
    graph: Graph,
    scope: str,
    wanted: Callable[[str], bool],
    trainable_is_written: bool = True,
) -> None:
    """Adds the collections of a MetaGraphDef, whose nodes are imported already, to a graph.

    Args:
      meta_graph: the MetaGraphDef.
      graph: the graph; must be the default one.
      scope: name scope that the nodes were imported into.
      wanted: says for a collection's name whether to restore it.
      trainable_is_written: whether ``VariableDef.trainable`` means something; else variables are
        trainable that are in the collection of trainable ones (MetaGraphs of TF before 1.9).
    """
    variables: dict[bytes, Any] = {}
    # The trainable ones first, for the sake of old files.
    first = GraphKeys.TRAINABLE_VARIABLES
    for key in sorted(meta_graph.collection_def, key=lambda k: (k != first, k)):
        if not wanted(key):
            continue
        definition = meta_graph.collection_def[key]
        if definition.WhichOneof("kind") is None:
            _log.error("collection %r has no kind; it is skipped", key)
            continue
        for item in _items(key, definition, graph, scope, variables, trainable_is_written):
            graph.add_to_collection(key, item)


def _items(
    key: str, definition: Any, graph: Graph, scope: str, variables: dict[bytes, Any], written: bool
) -> Iterable[Any]:
    kind = definition.WhichOneof("kind")
    values = getattr(definition, kind).value
    if kind == "node_list":
        return [graph.as_graph_element(names.with_scope(value, scope)) for value in values]
    if kind != "bytes_list":
        return list(values)
    from_proto = proto_functions.get_from_proto_function(key)
    if from_proto is None and kept.can_keep(key):
        return [_kept(key, value, scope) for value in values]
    if from_proto is None:
        return [_user_string(value, scope) for value in values]
    message_type = proto_functions.get_collection_proto_type(key)
    items = []
    for value in values:
        if value in variables:
            items.append(variables[value])
            continue
        message = message_type()
        try:
            message.ParseFromString(value)
        except DecodeError as error:
            raise ValueError(
                f"an item of collection {key!r} is no {message_type.__name__}: {error}"
            ) from None
        is_variable = key in GraphKeys._VARIABLE_COLLECTIONS
        if is_variable and not written:
            message.trainable = key == GraphKeys.TRAINABLE_VARIABLES
        item = from_proto(message, import_scope=scope)
        if is_variable:
            variables[value] = item
        items.append(item)
    return items


def _kept(key: str, value: bytes, scope: str) -> kept.KeptMessage:
    message = kept.KeptMessage(key, value)
    return message.moved(lambda name: names.with_scope(name, scope)) if scope else message


def _user_string(value: bytes, scope: str) -> Any:
    """Strings that a user filed count as names when there is a scope, as in TF."""
    if not scope:
        return value
    try:
        return names.with_scope(value.decode(), scope)
    except UnicodeDecodeError:
        return value
