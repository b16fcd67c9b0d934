"""Graphs beyond protobuf's 2 GB: large constants go into a bundle beside the message.

The bundle (a file format of checkpoints: values with dtype, shape, offset and CRC) is called
``FILE.constants-TOKEN``; a node whose value is in it has, in place of ``value``, the attr
``_external_value`` with ``BUNDLE:START``; START and the node's name make the key.  The token is new
for every write, and the message is renamed into place after the bundle is complete, so readers see
one graph or the other.

Values go from the graph to the file one at a time, and from the file into the graph when it is
imported; neither side holds a second copy of them all.

TensorFlow cannot read such files; it cannot have such graphs in files either.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from google.protobuf.message import EncodeError
from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.foundation.base import errors
from penstock.foundation.formats import files, tensor_proto
from penstock.foundation.formats.bundle import BundleWriter
from penstock.foundation.formats.inside import path_inside
from penstock.foundation.graph import external, graph_message, large_constants, node_message
from penstock.foundation.graph.graph import Graph
from penstock.storage.export import message_files

# In a large graph, constants from this many bytes on go out of the message.
EXTERNAL_FROM = large_constants.LARGE_FROM


def write(
    path: str,
    what: Any,
    as_text: bool,
    external_values: bool | None = None,
    external_from: int = EXTERNAL_FROM,
) -> None:
    """Writes a graph; its large constants beside it when it is too large for one message.

    Args:
      path: the file.
      what: a Graph, or a message that is a GraphDef or holds some (MetaGraphDef, SavedModel).
      as_text: whether the file is text.
      external_values: whether constants go beside it; None decides by size.
      external_from: from how many bytes on a constant does.
    """
    if external_values is None:
        external_values = _estimate(what) > large_constants.LIMIT
    if not external_values:
        message = graph_message.graph_def(what) if isinstance(what, Graph) else what
        try:
            message_files.write_message(path, message, as_text)
            _remove_bundles(path)
            return
        except (EncodeError, ValueError):
            if isinstance(what, Graph) or not _values(what, external_from):
                raise
    name = f"{os.path.basename(path)}.constants-{os.urandom(4).hex()}"
    prefix = os.path.join(os.path.dirname(path), name)
    with BundleWriter(prefix) as writer:
        slim = _slim(what, writer, name, external_from)
    message_files.write_message(path, slim, as_text)
    _remove_bundles(path, except_for=prefix)


def _remove_bundles(path: str, except_for: str | None = None) -> None:
    """Removes the values of the graph that was in the file before."""
    for found in files.glob(f"{_escaped(path)}.constants-????????.*"):
        if except_for is None or os.path.basename(except_for) not in found:
            with suppress(errors.NotFoundError):
                files.remove(found)


def _escaped(path: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


# ---- sizes ---------------------------------------------------------------------------------------


def _estimate(what: Any) -> int:
    """About how many bytes the message takes; asking protobuf would make it."""
    if isinstance(what, Graph):
        return large_constants.graph_bytes(what)
    return sum(large_constants.message_bytes(part) for part in _graph_defs(what))


def _graph_defs(message: Any) -> Iterator[Any]:
    if isinstance(message, GraphDef):
        yield message
        return
    for meta_graph in getattr(message, "meta_graphs", None) or [message]:
        if hasattr(meta_graph, "graph_def"):
            yield meta_graph.graph_def


def _values(message: Any, external_from: int) -> bool:
    nodes = (node for part in _graph_defs(message) for node in part.node)
    return any(large_constants.value_bytes(node) >= external_from for node in nodes)


# ---- out -----------------------------------------------------------------------------------------


def _slim(what: Any, writer: BundleWriter, name: str, external_from: int) -> Any:
    """The message without its large constants, which go to ``writer``."""
    if isinstance(what, Graph):
        return _slim_graph(what, writer, name, external_from)
    if isinstance(what, GraphDef):
        return _slim_graph_def(what, writer, name, external_from, "")
    made = type(what)()
    if not hasattr(what, "meta_graphs"):
        _slim_fields(what, made, writer, name, external_from, "")
        return made
    made.saved_model_schema_version = what.saved_model_schema_version
    for index, meta_graph in enumerate(what.meta_graphs):
        part = made.meta_graphs.add()
        _slim_fields(meta_graph, part, writer, name, external_from, f"{index}/")
    return made


def _slim_fields(
    source: Any, target: Any, writer: BundleWriter, name: str, external_from: int, key: str
) -> None:
    for field, value in source.ListFields():
        if field.name != "graph_def":
            _set_field(target, field, value)
    target.graph_def.CopyFrom(_slim_graph_def(source.graph_def, writer, name, external_from, key))


def _set_field(message: Any, field: Any, value: Any) -> None:
    current = getattr(message, field.name)
    if hasattr(current, "MergeFrom"):
        current.MergeFrom(value)
    else:
        setattr(message, field.name, value)


def _slim_graph(graph: Graph, writer: BundleWriter, name: str, external_from: int) -> Any:
    message = graph_message.graph_def(graph, from_version=graph.version)
    with graph.lock:
        for op in graph.operations:
            value: Any = op.attrs.get("value")
            node = message.node.add()
            outside = (
                op.op_def.role == "constant"
                and value.dtype != object
                and value.nbytes >= external_from
            )
            node_message.node_def(op, node, without="value" if outside else None)
            if outside:
                writer.add(op.name, value)
                node.attr[external.ATTR].s = f"{name}:".encode()
    return message


def _slim_graph_def(
    source: Any, writer: BundleWriter, name: str, external_from: int, key: str
) -> Any:
    """``key`` stands before the names of nodes in the bundle, as several graphs may share it."""
    made = GraphDef()
    made.versions.CopyFrom(source.versions)
    made.library.CopyFrom(source.library)
    for node in source.node:
        slim = made.node.add()
        if large_constants.value_bytes(node) < external_from:
            slim.CopyFrom(node)
            continue
        writer.add(key + node.name, tensor_proto.to_array(node.attr["value"].tensor))
        large_constants.copy_without_value(node, slim)
        slim.attr[external.ATTR].s = f"{name}:{key}".encode()
    return made


# ---- in ------------------------------------------------------------------------------------------


def locate(graph_def: Any, folder: str) -> None:
    """Makes the names of bundles in a GraphDef that was read from ``folder`` whole paths."""
    for node in graph_def.node:
        if external.ATTR in node.attr:
            name = node.attr[external.ATTR].s.decode()
            bundle, _, start = name.rpartition(":")
            prefix = path_inside(folder, bundle, f"the value of node {node.name!r}")
            external.allow(prefix)
            node.attr[external.ATTR].s = f"{prefix}:{start}".encode()
