"""Graphs and GraphDefs: their placeholders, names in scopes, and parts replaced by one op."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.foundation.formats.messages import GraphDef, NodeDef
from penstock.foundation.graph import scopes
from penstock.foundation.graph.graph import Graph


def get_placeholders(graph: Graph) -> list[Any]:
    """The outputs of all ``Placeholder`` nodes of a graph.

    Raises:
      TypeError: ``graph`` is none.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def get_graph_from_inputs(op_input_list: Iterable[Any], graph: Graph | None = None) -> Graph:
    """The graph that nodes with these inputs belong to.

    Args:
      op_input_list: tensors, ops or other values, which have no graph.
      graph: the graph that they must be of; default that of the first, else the default graph.

    Raises:
      ValueError: inputs of several graphs.
    """
    found, witness = graph, None
    for value in op_input_list:
        own = getattr(value, "graph", None)
        if not isinstance(own, Graph):
            continue
        if found is None:
            found, witness = own, value
        elif own is not found:
            other = witness if witness is not None else "the graph that was passed"
            raise ValueError(f"{value} must be from the same graph as {other}.")
    return found or scopes.get_default_graph()


def get_name_scope() -> str:
    """The current name scope of the default graph, without its last slash."""
    scope: str = scopes.get_default_graph().get_name_scope()
    return scope


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """``name`` without ``export_scope`` at its beginning (after ``^`` or ``loc:@``, too)."""
    if not export_scope:
        return name
    scope = export_scope.removesuffix("/")
    return re.sub(rf"([\^]|loc:@|^){re.escape(scope)}[\/]+(.*)", r"\1\2", name, count=1)


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """``name`` with ``import_scope`` at its beginning (after ``^`` or ``loc:@``, if any)."""
    if not import_scope:
        return name
    scope = import_scope.removesuffix("/")
    return re.sub(r"([\^]|loc:@|^)(.*)", rf"\1{scope}/\2", name, count=1)


# ---- one op in place of several ---------------------------------------------------------------


def _plain(name: str) -> str:
    return name.removeprefix("^").split(":")[0]


def _behind(names: Sequence[str], inputs: dict[str, list[str]]) -> set[str]:
    """The nodes with these names and all that they need."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += inputs[name]
    return seen


def fuse_op(
    graph_def: Any,
    input_nodes: Sequence[str],
    output_nodes: Sequence[str],
    output_dtypes: Sequence[int],
    output_quantized: bool,
    op_name: str,
    op_type: str,
) -> Any:
    """A GraphDef in which one node stands for all between its inputs and its outputs.

    Args:
      graph_def: the GraphDef.
      input_nodes: names of the nodes that feed the new one.
      output_nodes: names of nodes with one input each; they get the new node's outputs.
      output_dtypes: types of its outputs.
      output_quantized: whether these are quantized.
      op_name, op_type: its name and op type.

    Returns:
      A new GraphDef.

    Raises:
      AssertionError: nodes that are not there, or output nodes with other numbers of inputs.
      TypeError: no GraphDef, a name in place of a list, or a node in between that is needed
        elsewhere.
    """
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    for what, given in (("input_nodes", input_nodes), ("output_nodes", output_nodes)):
        if isinstance(given, str):
            raise TypeError(f"{what} must be a list; found {given!r}")
    inputs = {node.name: [_plain(i) for i in node.input] for node in graph_def.node}
    for name in [*input_nodes, *output_nodes]:
        if name not in inputs:
            raise AssertionError(f"{name} is not in graph")
    for name in output_nodes:
        if len(inputs[name]) != 1:
            raise AssertionError(f"{name} must have one input; found {inputs[name]}")
    before = _behind(input_nodes, inputs)
    within = _behind(output_nodes, inputs) - before - set(output_nodes)
    for name in sorted(within):
        entered = [n for n in inputs[name] if n in before and n not in input_nodes]
        if entered:
            raise TypeError(f"Node {name} uses input {entered[0]} not in input_nodes.")
    return _with_fused(
        graph_def, before, within, list(output_nodes), _fused_node(
            input_nodes, output_dtypes, output_quantized, op_name, op_type
        )
    )  # fmt: skip


def _fused_node(
    input_nodes: Sequence[str], dtypes: Sequence[int], quantized: bool, name: str, op_type: str
) -> Any:
    node = NodeDef(name=name, op=op_type, input=list(input_nodes))
    node.attr["_output_types"].list.type[:] = dtypes
    node.attr["_output_quantized"].b = quantized
    return node


def _with_fused(
    graph_def: Any, before: set[str], within: set[str], output_nodes: list[str], fused: Any
) -> Any:
    made = GraphDef(library=graph_def.library, versions=graph_def.versions)
    nodes = {node.name: node for node in graph_def.node}
    made.node.extend(node for name, node in nodes.items() if name in before)
    made.node.append(fused)
    for index, name in enumerate(output_nodes):
        copied = made.node.add()
        copied.CopyFrom(nodes[name])
        copied.input[:] = [f"{fused.name}:{index}" if index else fused.name]
    gone = before | within | set(output_nodes)
    made.node.extend(node for name, node in nodes.items() if name not in gone)
    return made
