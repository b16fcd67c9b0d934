"""``convert_variables_to_constants``: a graph with the values of its variables in it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.foundation.base import dtypes
from penstock.foundation.formats import tensor_proto
from penstock.foundation.opdef.registry import OPS, control_of, role_of
from penstock.storage.export.sub_graph import extract_sub_graph, node_of

# What may stand between a handle and its read, besides an identity.
_BETWEEN = frozenset({"switch", "enter", "exit", "merge", "next"})


def convert_variables_to_constants(
    sess: Any,
    input_graph_def: Any,
    output_node_names: Sequence[str],
    variable_names_whitelist: Container[str] | None = None,
    variable_names_blacklist: Container[str] | None = None,
) -> Any:
    """The part of a graph that some nodes need, with constants in place of variables.

    Args:
      sess: a session that has the variables.
      input_graph_def: the ``GraphDef`` of its graph.
      output_node_names: names of the nodes to keep.
      variable_names_whitelist: names of the variables to convert; default all.
      variable_names_blacklist: names of variables to leave.

    Returns:
      A ``GraphDef``.  A variable's node becomes a ``Const`` of its name, reads become ``Identity``
      and gathers ``GatherV2``.

    Raises:
      TypeError: ``output_node_names`` is one string.
      ValueError: a read whose variable cannot be found, or a gather with batch dims.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     w = tf.Variable([1.0, 2.0], name="w")
      ...     y = tf.identity(w * 3.0, name="y")
      ...     sess.run(w.initializer)
      ...     frozen = tf.graph_util.convert_variables_to_constants(
      ...         sess, sess.graph_def, ["y"])
      >>> [node.name for node in frozen.node if node.op == "Const"]
      ['w', 'mul/y']
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    nodes = {node.name: node for node in graph_def.node}
    names = [
        node.name
        for node in graph_def.node
        if role_of(node.op) == "variable"
        and (variable_names_whitelist is None or node.name in variable_names_whitelist)
        and (variable_names_blacklist is None or node.name not in variable_names_blacklist)
    ]
    fetches = [_value_name(nodes[name], sess.graph) for name in names]
    values = dict(zip(names, sess.run(fetches) if fetches else [], strict=True))
    between = _handle_types(nodes)
    made = GraphDef()
    for node in graph_def.node:
        if node.name in values:
            data = np.asarray(values[node.name])
            _add_constant(made, node.name, node.attr["dtype"].type, data)
        elif node.name in between and _variable_of(node, nodes) in values:
            _add_with_type(made, node, between[node.name])
        elif _reads(node) and _variable_of(node, nodes) in values:
            (_add_identity if role_of(node.op) == "read" else _add_gather)(made, node)
        else:
            made.node.add().CopyFrom(node)
    made.library.CopyFrom(graph_def.library)
    return made


def _reads(node: Any) -> bool:
    return role_of(node.op) == "read" or node.op == "ResourceGather"


def _hands_on(node: Any) -> bool:
    return control_of(node.op) in _BETWEEN or role_of(node.op) == "identity"


def _value_name(node: Any, graph: Any) -> str:
    """The tensor with a variable's value: the reference itself, or a read of the handle."""
    if OPS[node.op].outputs[0].is_ref:
        return f"{node.name}:0"
    usual = f"{node.name}/Read/ReadVariableOp"
    if usual in graph.by_name:
        return f"{usual}:0"
    for reader in graph.get_operation_by_name(node.name).outputs[0].consumers():
        if reader.op_def.role == "read":
            return f"{reader.name}:0"
    raise ValueError(f"nothing in the session's graph reads variable {node.name!r}")


def _handle_types(nodes: dict[str, Any]) -> dict[str, Any]:
    """The nodes that hand variables on to their reads, with the type attr they get."""
    found: dict[str, Any] = {}
    for read in (node for node in nodes.values() if _reads(node)):
        waiting = [node_of(read.input[0])]
        while waiting:
            name = waiting.pop()
            node = nodes[name]
            if _hands_on(node):
                if name not in found:
                    found[name] = read.attr["dtype"]
                    sources = node.input[: 2 if control_of(node.op) == "merge" else 1]
                    waiting.extend(node_of(source) for source in sources)
            elif role_of(node.op) != "variable":
                raise ValueError(
                    f"{read.op} {read.name!r} reads {name!r} ({node.op}); only variables can be"
                    " converted"
                )
    return found


def _variable_of(node: Any, nodes: dict[str, Any]) -> str:
    """The variable behind a read, or behind what stands between the two."""
    name = node_of(node.input[0])
    return _variable_of(nodes[name], nodes) if _hands_on(nodes[name]) else name


def _add_constant(graph_def: Any, name: str, type_enum: int, data: np.ndarray) -> None:
    node = graph_def.node.add(name=name, op="Const")
    dtype = dtypes.as_dtype(type_enum).base_dtype
    node.attr["dtype"].type = type_enum
    node.attr["value"].tensor.CopyFrom(tensor_proto.to_proto(data, dtype))


def _add_with_type(graph_def: Any, source: Any, type_attr: Any) -> None:
    """A node on the way of a handle, now on the way of the value; its shapes no longer hold."""
    node = graph_def.node.add(name=source.name, op=source.op)
    node.input.extend(source.input)
    for key in source.attr:
        if key != "_output_shapes":
            node.attr[key].CopyFrom(source.attr[key])
    node.attr["T"].CopyFrom(type_attr)


def _copy_group(source: Any, node: Any) -> None:
    if "_class" in source.attr:
        node.attr["_class"].CopyFrom(source.attr["_class"])


def _add_identity(graph_def: Any, source: Any) -> None:
    node = graph_def.node.add(name=source.name, op="Identity")
    node.input.append(source.input[0])
    node.attr["T"].CopyFrom(source.attr["dtype"])
    _copy_group(source, node)


def _add_gather(graph_def: Any, source: Any) -> None:
    if source.attr["batch_dims"].i:
        raise ValueError(
            f"ResourceGather {source.name!r} has batch_dims {source.attr['batch_dims'].i}; only 0"
            " can be converted"
        )
    axis, index_type = f"{source.name}/axis", source.attr["Tindices"]
    zero = np.zeros((), dtypes.as_dtype(index_type.type).as_numpy_dtype)
    _add_constant(graph_def, axis, index_type.type, zero)
    node = graph_def.node.add(name=source.name, op="GatherV2")
    node.input.extend([source.input[0], source.input[1], axis])
    node.attr["Tparams"].CopyFrom(source.attr["dtype"])
    node.attr["Tindices"].CopyFrom(index_type)
    node.attr["Taxis"].CopyFrom(index_type)
    _copy_group(source, node)
