"""Op definitions as ``OpDef`` messages, and what goes by them: op lists, default attrs."""

from __future__ import annotations

import functools
from typing import Any

from tensorboard.compat.proto import op_def_pb2

from penstock.foundation.base import dtypes
from penstock.foundation.graph import node_message
from penstock.foundation.graph.graph import Graph
from penstock.foundation.opdef.opdef import REQUIRED, ArgDef, AttrDef, OpDef
from penstock.foundation.opdef.registry import OPS


@functools.cache
def op_def_message(definition: OpDef) -> Any:
    """The ``OpDef`` message of a definition; shared, so not to be changed."""
    message = op_def_pb2.OpDef(
        name=definition.name,
        is_commutative=definition.commutative,
        is_stateful=definition.is_stateful,
    )
    message.input_arg.extend(_arg(arg) for arg in definition.inputs)
    message.output_arg.extend(_arg(arg) for arg in definition.outputs)
    message.attr.extend(_attr(definition.attrs[name]) for name in sorted(definition.attrs))
    return message


def _arg(arg: ArgDef) -> Any:
    return op_def_pb2.OpDef.ArgDef(
        name=arg.name,
        type=arg.dtype.as_datatype_enum if arg.dtype is not None else 0,
        type_attr=arg.type_attr or "",
        number_attr=arg.number_attr or "",
        type_list_attr=arg.type_list_attr or "",
        is_ref=arg.is_ref,
    )


def _attr(attr: AttrDef) -> Any:
    message = op_def_pb2.OpDef.AttrDef(name=attr.name, type=attr.kind)
    if attr.default is not REQUIRED:
        message.default_value.CopyFrom(node_message.attr_value(attr.default, attr))
    if attr.minimum is not None:
        message.has_minimum, message.minimum = True, attr.minimum
    for one in sorted(attr.allowed or (), key=str):
        if isinstance(one, dtypes.DType):
            message.allowed_values.list.type.append(one.as_datatype_enum)
        else:
            message.allowed_values.list.s.append(str(one).encode())
    return message


def stripped_op_list(graph_def: Any, graph: Graph | None = None) -> Any:
    """The ``OpList`` of the op types in a GraphDef, sorted.

    Args:
      graph_def: the GraphDef.
      graph: where definitions of op types that Penstock does not have are found.
    """
    functions = {function.signature.name: function for function in graph_def.library.function}
    used = {node.op for node in graph_def.node}
    for function in functions.values():
        used.update(node.op for node in function.node_def)
    foreign = _foreign(graph, used)
    known = {name: OPS[name] for name in used if name in OPS} | foreign
    rows = [op_def_message(known[name]) for name in sorted(known) if name not in functions]
    return op_def_pb2.OpList(op=rows)


def _foreign(graph: Graph | None, used: set[str]) -> dict[str, OpDef]:
    if graph is None or all(name in OPS for name in used):
        return {}
    return {op.type: op.op_def for op in graph.operations if op.type not in OPS}


def strip_default_attrs(graph_def: Any) -> None:
    """Takes attrs that have their default value off the nodes of a GraphDef, in place."""
    functions = {function.signature.name for function in graph_def.library.function}
    bodies = [graph_def.node, *(function.node_def for function in graph_def.library.function)]
    for node in (node for body in bodies for node in body):
        if node.op in functions or node.op not in OPS:
            continue
        defaults = _defaults(OPS[node.op])
        for name in [n for n in node.attr if n in defaults and node.attr[n] == defaults[n]]:
            del node.attr[name]


@functools.cache
def _defaults(definition: OpDef) -> dict[str, Any]:
    rows = op_def_message(definition).attr
    return {row.name: row.default_value for row in rows if row.HasField("default_value")}
