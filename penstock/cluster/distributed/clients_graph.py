"""A client's graph, as a server takes it.

What a client sends may ask for far more memory than it has bytes: a constant of one number and a
huge shape, a node with a billion outputs.  That is found here, before anything is made of it.  The
nodes know nothing of the user's lines, which only the client has.
"""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.bodies import functions_of
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.graphdef import import_graph_def
from penstock.foundation.opdef.registry import OPS, role_of

# The most tensors of one list that a node takes or makes.
_MOST_TENSORS = 1 << 20


def graph_of(definition: Any, max_bytes: int) -> Graph:
    """The graph of a GraphDef from a client.

    Args:
      definition: the GraphDef.
      max_bytes: that all its constants may have together.

    Raises:
      tf.errors.InvalidArgumentError: it is no graph.
      tf.errors.ResourceExhaustedError: its constants are too large.
    """
    try:
        _check(definition, max_bytes)
        graph = Graph()
        with graph.as_default():
            import_graph_def(definition, name="")
    except errors.OpError:
        raise
    except Exception as error:  # whatever a hostile graph may do to what reads it
        raise errors.invalid(f"the graph cannot be imported: {error}") from error
    for each in (graph, *functions_of(graph)):
        for op in each.operations:
            op.origin = None
    return graph


def _check(definition: Any, max_bytes: int) -> None:
    left = max_bytes
    bodies = [function.node_def for function in definition.library.function]
    for node in (node for nodes in (definition.node, *bodies) for node in nodes):
        for value in node.attr.values():
            if value.WhichOneof("value") == "tensor":
                left -= _bytes_of(node, value.tensor)
        if left < 0:
            raise errors.ResourceExhaustedError(
                None, None, f"the constants of the graph have more than {max_bytes} bytes, with"
                f" {node.name!r} the first beyond that",
            )  # fmt: skip
        _check_node(node)


def _check_node(node: Any) -> None:
    attrs = node.attr
    if role_of(node.op) == "constant" and "dtype" in attrs and "value" in attrs:
        if attrs["dtype"].type != attrs["value"].tensor.dtype:
            raise ValueError(f"constant {node.name!r} has a value of another type than its own")
    if node.op not in OPS:  # a function's name, or what the import will complain about
        return
    definition = OPS[node.op]
    for arg in (*definition.inputs, *definition.outputs):
        name = arg.number_attr
        if name and name in attrs and attrs[name].i > _MOST_TENSORS:
            raise ValueError(f"node {node.name!r}: {name} is {attrs[name].i}")


def _bytes_of(node: Any, tensor: Any) -> int:
    dims = [int(dim.size) for dim in tensor.tensor_shape.dim]
    if any(dim < 0 for dim in dims):
        raise ValueError(f"a tensor of {node.name!r} has shape {dims}")
    kind = dtypes.as_dtype(tensor.dtype)
    return math.prod(dims) * (1 if kind is dtypes.string else int(kind.size))
