"""``penstock summarize``: a graph at a glance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from penstock.cli.graph_files import GraphFile, read_graph_file
from penstock.cli.graph_report import Report, Scope, report, scopes
from penstock.cli.inspecting import show_nodes
from penstock.cli.output import Output, size


def summarize_graph(output: Output, path: str, depth: int) -> None:
    """Prints inputs, likely outputs, parameters, float operations, op counts and scopes.

    Args:
      output: where to print.
      path: the graph.
      depth: levels of the tree of scopes.

    Raises:
      Failure: there is no graph.
    """
    from penstock.foundation.opdef.registry import all_ops

    read = read_graph_file(path)
    found = report(read.graph, all_ops())
    tree = scopes(read.graph, found)
    flops, why = _float_operations(read, found)
    if output.as_json:
        facts = {"path": path} | asdict(found) | {"parameters": found.trained()}
        facts |= {"float_operations": flops, "scopes": list(_rows(tree, depth, 0, ""))}
        output.json(facts)
        return
    output.title(f"{path}: {found.nodes} nodes, {len(found.ops)} types of operations")
    slots = sum(v.elements or 0 for v in found.variables if v.role == "slot")
    of_slots = f" (and {slots} of optimizer slots)" if slots else ""
    output.line(f"parameters        {found.trained()}{of_slots}")
    output.line(f"constants         {found.constant_elements} ({size(found.constant_bytes)})")
    output.line(f"float operations  {why if flops is None else f'{flops} (open dims taken as 1)'}")
    for title, nodes in (("inputs", found.inputs), ("likely outputs", found.outputs)):
        output.line()
        output.title(title)
        show_nodes(output, [asdict(node) for node in nodes])
    output.line()
    output.title("operations")
    output.table(("op", "nodes"), found.ops.items(), right=("nodes",))
    output.line()
    output.title("scopes")
    rows = [
        ("  " * row["depth"] + row["name"], row["nodes"], row["parameters"])
        for row in _rows(tree, depth, 0, "")
    ]
    output.table(("scope", "nodes", "parameters"), rows, right=("nodes", "parameters"))


def _rows(scope: Scope, depth: int, level: int, prefix: str) -> Iterator[dict[str, Any]]:
    name = scope.name or "(all)"
    path = f"{prefix}{scope.name}"
    yield {
        "name": name, "path": path, "depth": level, "nodes": scope.nodes,
        "parameters": scope.parameters,
    }  # fmt: skip
    if level < depth:
        for child in scope.children.values():
            yield from _rows(child, depth, level + 1, f"{path}/" if path else "")


def _float_operations(read: GraphFile, found: Report) -> tuple[int | None, str]:
    """Float operations of one run of every node, or why they cannot be counted."""
    if found.unknown:
        return None, f"not counted: Penstock does not have {', '.join(found.unknown)}"
    if found.functions:
        return None, "not counted: the graph has functions"
    from penstock.foundation.graph.graph import Graph
    from penstock.foundation.graph.graphdef import import_graph_def
    from penstock.tools.profiler import float_ops

    graph = Graph()
    try:
        with graph.as_default():
            import_graph_def(read.graph, name="")
        tensors = [t for op in graph.operations for t in op.outputs]
        shapes = {
            t.name: tuple(1 if d is None else d for d in t.sizes)
            for t in tensors
            if t.sizes is not None
        }
        return sum(_count(float_ops, op, shapes) for op in graph.operations), ""
    except ValueError as error:
        return None, f"not counted: {error}"


def _count(float_ops: Any, op: Any, shapes: dict[str, tuple[int, ...]]) -> int:
    try:
        return int(float_ops.count(op, shapes))
    except float_ops.UnknownShapeError:
        return 0
