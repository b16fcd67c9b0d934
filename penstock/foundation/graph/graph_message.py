"""Graphs and functions as messages: ``GraphDef``, ``FunctionDef``; ``graphdef`` reads them.

Attrs that op definitions fill in are all written, in TF's form.  In a FunctionDef an input of a
node is the name of an argument or ``node:output:index``, with the output's name in the op
definition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.function_pb2 import FunctionDef
from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.foundation.graph import large_constants, node_message
from penstock.foundation.graph.bodies import functions_of
from penstock.foundation.graph.tensor import Tensor

if TYPE_CHECKING:
    from penstock.foundation.graph.graph import Graph

_KNOWS_FUNCTIONS = 12


def graph_def(
    graph: Graph,
    from_version: int | None = None,
    add_shapes: bool = False,
    into: Any = None,
    whole: bool = True,
) -> Any:
    """A graph as a ``GraphDef``.

    Args:
      graph: the graph.
      from_version: only nodes made since the graph had this version.
      add_shapes: whether to add an ``_output_shapes`` attr to every node.
      into: an empty message to fill in place, which saves a copy.
      whole: whether values of large constants are in it.

    Returns:
      The message.

    Raises:
      ValueError: a constant is larger than a message may be.
    """
    message = GraphDef() if into is None else into
    message.versions.producer, message.versions.min_consumer = graph._graph_def_versions
    at_most = large_constants.MESSAGE_LIMIT if whole else large_constants.LARGE_FROM
    with graph.lock:
        for op in graph.operations[from_version or 0 :]:
            left_out = None
            if large_constants.array_bytes(op) >= at_most:
                if whole:
                    raise large_constants.too_large(graph)
                left_out = "value"
            node = node_message.node_def(op, message.node.add(), without=left_out)
            if add_shapes:
                node_message.add_output_shapes(node, op)
        _add_library(message, graph)
    return message


def _add_library(message: Any, graph: Graph) -> None:
    for body in functions_of(graph):
        # Who reads a graph with functions must know them.
        message.versions.min_consumer = max(message.versions.min_consumer, _KNOWS_FUNCTIONS)
        function = function_message(body)
        message.library.function.add().CopyFrom(function)
        if body.gradient is not None:
            message.library.gradient.add(function_name=body.name, gradient_func=body.gradient.name)


def function_message(body: Any, node_def: Callable[..., Any] = node_message.node_def) -> Any:
    """The message of a function.

    Args:
      body: the function.
      node_def: makes the message of a node, or fills one.
    """
    if body.exported is not None:
        return body.exported
    message = FunctionDef()
    message.signature.name = body.name
    names: dict[Tensor, str] = {}
    taken: set[str] = set()
    for tensor in body.inputs:
        names[tensor] = _unique(tensor.op.name, taken)
        message.signature.input_arg.add(
            name=names[tensor], type=tensor.dtype.base_dtype.as_datatype_enum
        )
    arguments = {t.op for t in body.inputs}
    for op in body.operations:
        if op in arguments:
            continue
        node = node_def(op, message.node_def.add())
        controls = [text for text in node.input if text.startswith("^")]
        node.input[:] = [names.get(t) or _reference(t) for t in op.inputs] + controls
        message.signature.is_stateful |= op.op_def.effect
    results: set[str] = set()
    for index, tensor in enumerate(body.outputs):
        given = body.output_names[index] if body.output_names else None
        name = given or _unique(tensor.op.name, results)
        message.signature.output_arg.add(name=name, type=tensor.dtype.as_datatype_enum)
        message.ret[name] = names.get(tensor) or _reference(tensor)
    for key, value in body.function_attrs.items():
        message.attr[key].CopyFrom(attr_value(value))
    for op in body.effects():
        message.control_ret[op.name] = op.name
        message.signature.control_output.append(op.name)
    return message


def _unique(name: str, taken: set[str]) -> str:
    base = "".join(c if c.isalnum() else "_" for c in name.lower())
    made, count = base, 0
    while made in taken:
        count += 1
        made = f"{base}_{count}"
    taken.add(made)
    return made


def attr_value(value: Any) -> Any:
    """A remark on a function, as a message."""
    if isinstance(value, bool):
        return AttrValue(b=value)
    return AttrValue(i=value) if isinstance(value, int) else AttrValue(s=str(value).encode())


def _reference(tensor: Tensor) -> str:
    position = tensor.value_index
    for arg in tensor.op.op_def.outputs:
        count = arg.count(tensor.op.attrs) if arg.is_list else 1
        if position < count:
            return f"{tensor.op.name}:{arg.name}:{position}"
        position -= count
    raise ValueError(f"{tensor.name} is no output of its node")
