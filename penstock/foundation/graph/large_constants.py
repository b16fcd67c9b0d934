"""Constants that make a graph larger than a message may be: protobuf's messages end at 2 GB.

A graph in memory has no such limit, and neither have the files of ``tf.train.write_graph`` and of
savers, which put large constants beside the message (``storage/export/large_graph.py``).  What
has to be one message says which constants are too large, who made them, and what to do instead.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.foundation.base import dtypes

if TYPE_CHECKING:
    from penstock.foundation.graph.graph import Graph
    from penstock.foundation.graph.operation import Operation

MESSAGE_LIMIT = (1 << 31) - (1 << 10)
# Of a whole graph; this leaves room for what the estimates do not count.
LIMIT = (1 << 31) - (1 << 26)
# In a large graph, constants from this many bytes on are left out of the message.
LARGE_FROM = 1 << 16
# What a node takes besides its value, about.
_NODE_BYTES = 200
_NAMED = 3


def graph_bytes(graph: Graph) -> int:
    """About how many bytes the message of a graph takes; asking protobuf would make it."""
    return sum(_NODE_BYTES + array_bytes(op) for op in graph.operations)


def message_bytes(message: Any) -> int:
    """About how many bytes a ``GraphDef`` takes."""
    return sum(_NODE_BYTES + value_bytes(node) for node in message.node)


def array_bytes(op: Operation) -> int:
    """Bytes of a node's constant."""
    value = op.attrs.get("value")
    return int(value.nbytes) if isinstance(value, np.ndarray) else 0


def value_bytes(node: Any) -> int:
    """Bytes of the constant of a ``NodeDef``; 0 for strings and for what is not stored whole."""
    if node.op != "Const" or "value" not in node.attr:
        return 0
    tensor = node.attr["value"].tensor
    dtype = dtypes.as_dtype(tensor.dtype)
    if dtype is dtypes.string:
        return 0
    return int(math.prod(d.size for d in tensor.tensor_shape.dim) * dtype.size)


def too_large(graph: Graph) -> ValueError:
    """The error of a graph that does not fit into a message, with the constants that are why."""
    return ValueError(
        f"GraphDef cannot be larger than 2GB. {largest(graph)}. Give such values to variables (an"
        " initializer that is fed by a placeholder keeps them out of the graph), or write the graph"
        " by tf.train.write_graph(graph, folder, name), which puts large constants beside the file"
    )


def largest(graph: Graph) -> str:
    """Says which constants of a graph take the most bytes, and where they were made.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default() as graph:
      ...     table = tf.constant(np.zeros([1000, 250], np.float32), name="table")
      >>> largest(graph)
      "The largest of its constants: 'table' (1.0 MB, float32 [1000,250], made at ...)"
    """
    found = sorted(graph.operations, key=array_bytes, reverse=True)[:_NAMED]
    return "The largest of its constants: " + ", ".join(_described(op) for op in found)


def _described(op: Operation) -> str:
    tensor = op.outputs[0]
    sizes = ",".join(map(str, tensor.sizes or ()))
    origin = op.origin
    made = f", made at {origin.filename}:{origin.lineno}" if origin is not None else ""
    return f"{op.name!r} ({array_bytes(op) / 1e6:.1f} MB, {tensor.dtype.name} [{sizes}]{made})"


def without_values(source: Any) -> tuple[Any, list[str]]:
    """A ``GraphDef`` without its large constants' values, and the names of their nodes."""
    made = GraphDef()
    made.versions.CopyFrom(source.versions)
    made.library.CopyFrom(source.library)
    left_out = []
    for node in source.node:
        if value_bytes(node) < LARGE_FROM:
            made.node.add().CopyFrom(node)
        else:
            copy_without_value(node, made.node.add())
            left_out.append(node.name)
    return made, left_out


def copy_without_value(source: Any, target: Any) -> None:
    """Makes an empty ``NodeDef`` a copy of another one that lacks its value."""
    target.name, target.op, target.device = source.name, source.op, source.device
    target.input.extend(source.input)
    for key in source.attr:
        if key != "value":
            target.attr[key].CopyFrom(source.attr[key])
