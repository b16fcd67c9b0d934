"""Nodes whose inputs and attrs are written down, as in a GraphDef: checked and added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.opdef import OpDef

if TYPE_CHECKING:
    from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.solve import Solver, complete_attrs, output_types


def solved_node(
    op_def: OpDef, name: str, attrs: dict[str, Any]
) -> tuple[dict[str, Any], list[dtypes.DType]]:
    """All attrs of a node from those written down, checked, and its output types.

    Raises:
      TypeError, ValueError: as ``make`` does.
    """
    complete = complete_attrs(op_def, name, {}, attrs)
    return complete, output_types(op_def, complete)


def add_checked(
    graph: Graph,
    op_def: OpDef,
    inputs: list[Tensor],
    attrs: dict[str, Any],
    full: str,
    controls: Sequence[Operation] = (),
) -> Operation:
    """Adds a node from flat inputs and explicit attrs, as GraphDef import and create_op do.

    Args:
      controls: control inputs, besides those of the current scopes.

    Raises:
      TypeError, ValueError: as ``make`` does.
    """
    grouped: list[Any] = []
    position = 0
    for index, arg in enumerate(op_def.inputs):
        if not arg.is_list:
            if position >= len(inputs):
                raise ValueError(f"{op_def.name} {full!r}: input {arg.name!r} is missing")
            grouped.append(inputs[position])
            position += 1
            continue
        attr = attrs.get(arg.number_attr or arg.type_list_attr or "")
        rest = sum(1 for a in op_def.inputs[index + 1 :] if not a.is_list)
        count = len(inputs) - position - rest if attr is None else attr
        count = count if isinstance(count, int) else len(count)
        grouped.append(inputs[position : position + count])
        position += count
    if position != len(inputs):
        raise ValueError(f"{op_def.name} {full!r}: takes {position} input(s), found {len(inputs)}")
    tensors, solved = Solver(op_def, graph, full, attrs).solve(grouped)
    if graph.building_function:
        tensors = [graph.capture(t) for t in tensors]
    extra = {k: v for k, v in attrs.items() if k not in op_def.attrs and not k.startswith("_")}
    known = {k: v for k, v in attrs.items() if k not in extra}
    complete = complete_attrs(op_def, full, solved, known)
    types = output_types(op_def, complete)
    return graph.add_operation(op_def, tensors, complete, types, full, controls)
