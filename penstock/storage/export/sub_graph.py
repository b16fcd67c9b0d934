"""Parts of GraphDefs: what some nodes need, without what only training needs."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation

_VARIABLE_OPS = {
    "Assign", "AssignAdd", "AssignSub", "Queue", "ScatterAdd", "ScatterSub", "ScatterUpdate",
    "TruncatedNormal", "Variable", "VariableV2",
}  # fmt: skip
# Op types that have no GPU kernel for some types, with the attr that says the type.
_HOST_TYPES = {
    "Const": ("dtype", (dtypes.string, dtypes.int32)),
    "DynamicStitch": ("T", (dtypes.int32,)),
    "ParallelDynamicStitch": ("T", (dtypes.int32,)),
    "Cast": ("SrcT", (dtypes.int32,)),
}


def node_of(name: str) -> str:
    """The node that an input's name means: without ``^`` and ``:0``."""
    return name[1:] if name.startswith("^") else name.partition(":")[0]


def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Whether a node has to run on a CPU.

    Args:
      node: an Operation or NodeDef.
      pin_variables_on_cpu: whether variables and their updates count as such.

    Raises:
      TypeError: ``node`` is neither.
    """
    message = node.node_def if isinstance(node, Operation) else node
    if not isinstance(message, NodeDef):
        raise TypeError(f"node must be an Operation or NodeDef; found {type(node).__name__}")
    if pin_variables_on_cpu and message.op in _VARIABLE_OPS:
        return True
    attr, types = _HOST_TYPES.get(message.op, ("", ()))
    return bool(types) and dtypes.as_dtype(message.attr[attr].type) in types


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """The nodes of a GraphDef that some of its nodes need, directly or not.

    Args:
      graph_def: the ``GraphDef``.
      dest_nodes: names of nodes.

    Returns:
      A ``GraphDef`` with these nodes, in their order; nodes that they are colocated with are kept.

    Raises:
      TypeError: ``graph_def`` is no GraphDef, or ``dest_nodes`` is one string.
      AssertionError: a name is not in the graph (the class is TF's).
    """
    if not isinstance(graph_def, GraphDef):
        raise TypeError(f"graph_def must be a GraphDef; found {type(graph_def).__name__}")
    if isinstance(dest_nodes, str):
        raise TypeError(f"dest_nodes must be a list of names; found the string {dest_nodes!r}")
    inputs = {node.name: _needs(node) for node in graph_def.node}
    for name in dest_nodes:
        if name not in inputs:
            raise AssertionError(f"{name} is not in graph")
    kept = reachable_nodes(dest_nodes, inputs)
    made = GraphDef()
    for node in graph_def.node:
        if node.name in kept:
            made.node.add().CopyFrom(node)
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    return made


def reachable_nodes(
    target_nodes: Iterable[str], name_to_input_name: Mapping[str, Iterable[str]]
) -> set[str]:
    """The names of nodes and of all that they need.

    Args:
      target_nodes: names of nodes.
      name_to_input_name: from each node's name to those of its inputs.

    Raises:
      KeyError: if a node takes one that is not there.
    """
    kept: set[str] = set()
    waiting = list(target_nodes)
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            if name not in name_to_input_name:
                raise KeyError(f"the graph lacks node {name!r}, which one of its nodes takes")
            waiting.extend(name_to_input_name[name])
    return kept


def graph_summary(graph_def: Any) -> tuple[dict[str, list[str]], dict[str, Any], dict[str, int]]:
    """A GraphDef by the names of its nodes: what each takes, the node itself, and its place."""
    taken = {node.name: [node_of(name) for name in node.input] for node in graph_def.node}
    nodes = {node.name: node for node in graph_def.node}
    return taken, nodes, {name: place for place, name in enumerate(nodes)}


def _needs(node: Any) -> list[str]:
    names = [node_of(name) for name in node.input]
    if "_class" in node.attr:
        groups = (group.decode() for group in node.attr["_class"].list.s)
        names.extend(group[5:] for group in groups if group.startswith("loc:@"))
    return names


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> shapes.TensorShape:
    """The static shape of the tensor that a NodeDef's input names (``"x"`` is ``"x:0"``)."""
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).get_shape()


def remove_training_nodes(input_graph: Any, protected_nodes: Iterable[str] | None = None) -> Any:
    """A GraphDef without ``CheckNumerics`` nodes and without ``Identity`` nodes that do nothing.

    Identity nodes that have control inputs, or are control inputs, stay.

    Args:
      input_graph: the ``GraphDef``.
      protected_nodes: names of nodes to keep in any case.

    Returns:
      A new ``GraphDef``.
    """
    protected = frozenset(protected_nodes or ())
    checks = {
        node.name
        for node in input_graph.node
        if node.op == "CheckNumerics" and node.name not in protected
    }
    kept = []
    for node in input_graph.node:
        if node.name not in checks:
            made = NodeDef()
            made.CopyFrom(node)
            made.input[:] = [name for name in node.input if name.lstrip("^") not in checks]
            kept.append(made)
    spliced = _spliced(kept, protected)
    result = GraphDef()
    for node in kept:
        if node.name not in spliced:
            node.input[:] = [_behind(name, spliced) for name in node.input]
            result.node.append(node)
    return result


def _spliced(nodes: list[Any], protected: Container[str]) -> dict[str, str]:
    """Identity nodes that may go, with what they hand on."""
    are_controls = {name[1:] for node in nodes for name in node.input if name.startswith("^")}
    return {
        node.name: node.input[0]
        for node in nodes
        if node.op == "Identity"
        and node.name not in protected
        and node.name not in are_controls
        and not any(name.startswith("^") for name in node.input)
    }


def _behind(name: str, spliced: dict[str, str]) -> str:
    while name.lstrip("^") in spliced:
        name = spliced[name.lstrip("^")]
    return name
