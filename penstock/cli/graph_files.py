"""Reading graphs from files: GraphDef or MetaGraphDef, binary or text, and large graphs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.graph_pb2 import GraphDef as GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from penstock.cli.identify import Kind, single
from penstock.cli.output import Failure
from penstock.foundation.formats import files

_OP_TYPE = re.compile(r"^[A-Za-z_>][\w>./-]*$")


@dataclass(frozen=True)
class GraphFile:
    """A graph that was read: its GraphDef and, where the file had one, the MetaGraphDef."""

    path: str
    graph: Any
    meta: Any = None


def message_kind(data: bytes) -> str:
    """``"graph"``, ``"metagraph"`` or ``""``, from a serialized message.

    The first field is looked at: in a GraphDef it is a node with a name and an op type.
    """
    first = _first_field(data)
    if first is None:
        return ""
    number, body = first
    if number == 1:
        try:
            node = NodeDef.FromString(body)
        except DecodeError:
            node = None
        if node is not None and node.name and _OP_TYPE.match(node.op):
            return "graph"
    if number <= 2:
        try:
            graph = MetaGraphDef.FromString(data).graph_def
        except DecodeError:
            return ""
        if graph.node and _OP_TYPE.match(graph.node[0].op):
            return "metagraph"
    return ""


def _first_field(data: bytes) -> tuple[int, bytes] | None:
    """Number and content of the first field, when that has a length."""
    if len(data) < 2 or data[0] & 7 != 2 or data[0] >= 0x80:
        return None
    length = shift = 0
    for position in range(1, min(11, len(data))):
        byte = data[position]
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            start = position + 1
            whole = start + length <= len(data)
            return (data[0] >> 3, data[start : start + length]) if whole else None
    return None


def read_graph_file(path: str) -> GraphFile:
    """Reads the graph at a path, whatever form it has.

    Args:
      path: a GraphDef or MetaGraphDef file (binary or text), a SavedModel, or the prefix of a
        checkpoint that has a ``.meta`` file beside it.

    Raises:
      Failure: it is something else, or it cannot be parsed.
    """
    kinds = (Kind.GRAPH, Kind.META_GRAPH, Kind.SAVED_MODEL, Kind.CHECKPOINT, Kind.V1)
    found = single(path, kinds, "a graph (GraphDef, MetaGraphDef, SavedModel)")
    if found.kind is Kind.SAVED_MODEL:
        from penstock.cli.saved_models import read_saved_model

        meta = read_saved_model(found.path).meta_graphs[0]
        return GraphFile(path, meta.graph_def, meta)
    name = found.path
    if found.kind in (Kind.CHECKPOINT, Kind.V1):
        name = f"{found.path}.meta"
        if not files.exists(name):
            raise Failure(f"{path}: a checkpoint without a graph beside it (no {name})")
    if found.kind is Kind.GRAPH:
        return GraphFile(path, parse_message(name, GraphDef))
    meta = parse_message(name, MetaGraphDef)
    return GraphFile(path, meta.graph_def, meta)


def parse_message(path: str, kind: Any) -> Any:
    """A message of class ``kind`` from a binary or text file; a large graph's values are found.

    Raises:
      Failure: it cannot be parsed.
    """
    from penstock.storage.export import graph_file, message_files, meta_graph

    try:
        if kind is GraphDef:
            return graph_file.read_graph(path)
        if kind is MetaGraphDef:
            return meta_graph.read_meta_graph_file(path)
        return message_files.read_message(path, kind)
    except (OSError, ValueError, DecodeError) as error:
        raise Failure(f"{path}: {error}") from None
