"""What can be said of a GraphDef without running it: inputs, outputs, variables, ops, scopes.

Works on the message, so that graphs with unknown ops are described too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.opdef.registry import all_ops, control_of, role_of

# Nodes that a saver or `tf.gradients` made: nobody feeds or fetches them by hand.
_MACHINERY = re.compile(r"(^|/)(save|gradients)(_\d+)?/")
_TO_BE_FED = ("placeholder", "default")
_NOT_WANTED = (*_TO_BE_FED, "constant", "initialized", "shape")
# Nodes at the end of a graph that nobody would fetch for its value.
_NO_RESULTS = (
    "NoOp", "Assert", "SaveV2", "Save", "SaveSlices", "RestoreV2", "Restore", "Print",
    "ScalarSummary", "HistogramSummary", "ImageSummary", "AudioSummary", "TensorSummary",
    "TensorSummaryV2", "FIFOQueueV2",
)  # fmt: skip


@dataclass
class Node:
    """A tensor or state of interest."""

    name: str
    op: str
    dtype: str
    shape: list[int] | None
    role: str = ""

    @property
    def elements(self) -> int | None:
        """How many numbers it has; None where a dim is open."""
        if self.shape is None or any(d < 0 for d in self.shape):
            return None
        return math.prod(self.shape)


@dataclass
class Report:
    """What is known of one graph.

    ``ops`` counts nodes by type (functions of the graph's library too); ``unknown`` are the op
    types that Penstock has no definition of, with one node of each.
    """

    producer: int
    nodes: int
    functions: int
    ops: dict[str, int]
    inputs: list[Node]
    outputs: list[Node]
    variables: list[Node]
    constant_elements: int
    constant_bytes: int
    unknown: dict[str, str] = field(default_factory=dict)

    def trained(self) -> int:
        """Elements of variables that are no optimizer's slots or steps."""
        return sum(v.elements or 0 for v in self.variables if v.role != "slot")


def report(graph: Any, known: Iterable[str] | None = None) -> Report:
    """Describes a graph.

    Args:
      graph: a GraphDef.
      known: op types that have a definition, or None when that does not matter.
    """
    all_ops()  # what nodes are for, their definitions say
    nodes = {node.name: node for node in graph.node}
    ops: Counter[str] = Counter(node.op for node in graph.node)
    functions = {f.signature.name for f in graph.library.function}
    for function in graph.library.function:
        ops.update(node.op for node in function.node_def)
    constants = [_described(n) for n in graph.node if role_of(n.op) == "constant"]
    found = Report(
        producer=graph.versions.producer,
        nodes=len(graph.node),
        functions=len(functions),
        ops=dict(sorted(ops.items(), key=lambda row: (-row[1], row[0]))),
        inputs=[
            _described(n)
            for n in graph.node
            if role_of(n.op) in _TO_BE_FED and not _MACHINERY.search(n.name)
        ],
        outputs=[_described(n) for n in _outputs(graph, nodes)],
        variables=_variables(graph, nodes),
        constant_elements=sum(c.elements or 0 for c in constants),
        constant_bytes=sum((c.elements or 0) * dtypes.as_dtype(c.dtype).size for c in constants),
    )
    if known is not None:
        have = set(known) | functions
        for node in graph.node:
            if node.op not in have:
                found.unknown.setdefault(node.op, node.name)
    return found


def _described(node: Any, role: str = "") -> Node:
    attr = node.attr
    kind, shape = "", None
    if role_of(node.op) == "constant" and "value" in attr:
        kind = dtypes.as_dtype(attr["value"].tensor.dtype).name
        shape = _dims(attr["value"].tensor.tensor_shape)
    else:
        for key in ("dtype", "T", "DstT", "output_type"):
            if key in attr and attr[key].type:
                kind = dtypes.as_dtype(attr[key].type).name
                break
        if "shape" in attr:
            shape = _dims(attr["shape"].shape)
        elif "_output_shapes" in attr and attr["_output_shapes"].list.shape:
            shape = _dims(attr["_output_shapes"].list.shape[0])
    return Node(node.name, node.op, kind, shape, role)


def _dims(proto: Any) -> list[int] | None:
    return None if proto.unknown_rank else [d.size for d in proto.dim]


def node_of(text: str) -> str:
    """The node that an input names.

    >>> node_of("^a/b"), node_of("a/b:1")
    ('a/b', 'a/b')
    """
    return text.lstrip("^").partition(":")[0]


def _outputs(graph: Any, nodes: dict[str, Any]) -> list[Any]:
    """Nodes whose values nobody in the graph takes, and that somebody could want."""
    used = {node_of(text) for node in graph.node for text in node.input if text[0] != "^"}
    # A value that is only printed, summarized or asserted is a result all the same.
    return [
        node
        for node in graph.node
        if node.name not in used
        and node.op not in _NO_RESULTS
        and role_of(node.op) not in _NOT_WANTED
        and not _is_variable(node)
        and not _is_update(node)
        and not _MACHINERY.search(node.name)
        and _variable_behind(node.name, nodes) is None
    ]


def _is_variable(node: Any) -> bool:
    return role_of(node.op) == "variable" or node.op == "TemporaryVariable"


def _passes_on(node: Any) -> bool:
    handed_on = role_of(node.op) in ("identity", "read") or node.op == "StopGradient"
    return handed_on or control_of(node.op) in ("enter", "switch")


def _is_update(node: Any) -> bool:
    return (
        node.op.startswith(("Assign", "Scatter", "ResourceScatter"))
        or "Apply" in node.op
        or node.op.endswith("VariableOp")
        and role_of(node.op) != "read"
    )


def _variables(graph: Any, nodes: dict[str, Any]) -> list[Node]:
    """Variables with their roles: what an optimizer trains, its slots, and the others."""
    roles: dict[str, str] = {}
    for node in graph.node:
        if "Apply" not in node.op:
            continue
        for position, text in enumerate(node.input):
            source = _variable_behind(node_of(text), nodes)
            if source is None:
                continue
            if position == 0:
                roles[source] = "trained"
            elif roles.get(source) != "trained":
                roles[source] = "slot"
    return [_described(n, roles.get(n.name, "")) for n in graph.node if _is_variable(n)]


def _variable_behind(name: str, nodes: dict[str, Any]) -> str | None:
    """The variable whose value a node hands on."""
    for _ in range(8):
        node = nodes.get(name)
        if node is None:
            return None
        if _is_variable(node):
            return name
        if not _passes_on(node) or not node.input:
            return None
        name = node_of(node.input[0])
    return None


@dataclass
class Scope:
    """One name scope: nodes under it and the parameters of those."""

    name: str
    nodes: int = 0
    parameters: int = 0
    children: dict[str, Scope] = field(default_factory=dict)


def scopes(graph: Any, found: Report) -> Scope:
    """The tree of name scopes with counts of nodes and of parameters.

    Parameters are the elements of variables that are no slots; where a graph has no variables
    (a frozen one) they are the elements of its constants.
    """
    if found.variables:
        sizes = {v.name: v.elements or 0 for v in found.variables if v.role != "slot"}
    else:
        constants = (_described(n) for n in graph.node if role_of(n.op) == "constant")
        sizes = {c.name: c.elements or 0 for c in constants}
    root = Scope("")
    for node in graph.node:
        count = sizes.get(node.name, 0)
        at = root
        at.nodes += 1
        at.parameters += count
        for part in node.name.split("/")[:-1]:
            at = at.children.setdefault(part, Scope(part))
            at.nodes += 1
            at.parameters += count
    return root
