"""What op types a GraphDef uses, and what a tensor's value is known to be."""

from __future__ import annotations

from typing import Any

from penstock.ops.array import static_values
from penstock.storage.export.op_list import stripped_op_list


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor where it is known before running; see ``tf.get_static_value``."""
    return static_values.get_static_value(tensor, partial)


def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """The op types of a GraphDef, those of the functions that it calls included, sorted."""
    functions = {function.signature.name: function for function in graph_def.library.function}
    used: set[str] = set()
    waiting = list(graph_def.node)
    while waiting:
        op = waiting.pop().op
        if op not in used:
            used.add(op)
            if op in functions:
                waiting += functions[op].node_def
    return sorted(used - set(functions))


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """The ``OpList`` of the op types that a GraphDef uses."""
    return stripped_op_list(graph_def)
