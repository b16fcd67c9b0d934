"""Nodes of op types that Penstock does not have: their signature comes with the graph.

A MetaGraph lists the ops that its graph uses.  From such a row a definition is made that has a
signature and no kernel: its nodes can be imported, looked at and exported; only running them fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph import node_message
from penstock.foundation.opdef.opdef import REQUIRED, ArgDef, AttrDef, OpDef
from penstock.foundation.opdef.registry import OPS


def definitions(op_list: Any, used: Iterable[str]) -> dict[str, OpDef]:
    """Definitions, without kernels, of the op types in ``used`` that are not registered.

    Args:
      op_list: an ``OpList`` message, or None.
      used: op types.

    Returns:
      By op type; those that ``op_list`` does not describe are missing.
    """
    wanted = {name for name in used if name not in OPS}
    rows = op_list.op if op_list is not None and wanted else ()
    return {row.name: _definition(row) for row in rows if row.name in wanted}


def missing_message(missing: dict[str, list[str]]) -> str:
    """What to tell about op types that nothing describes; ``missing`` has the nodes by type."""
    lines = []
    for op_type, names in sorted(missing.items()):
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        lines.append(f"  {OPS.missing(op_type)}; node(s) {', '.join(names[:3])}{more}")
    return (
        "the graph has nodes of unknown op types:\n"
        + "\n".join(lines)
        + "\nA part without them can be imported: tf.graph_util.extract_sub_graph(graph_def, names)"
    )


def _definition(row: Any) -> OpDef:
    inputs = tuple(_arg(arg) for arg in row.input_arg)
    outputs = tuple(_arg(arg) for arg in row.output_arg)
    made = OpDef(row.name, inputs, outputs, {attr.name: _attr(attr) for attr in row.attr})
    made.shape = _no_shapes
    # Nothing is known about what it does, so it is neither dropped, merged nor computed early.
    made.stateful = made.effect = True
    made.no_gradient = "Penstock does not have this op"
    made.inline = _refuse
    return made


def _refuse(call: Any) -> str:
    """Where a program would call the kernel."""
    op = call.op
    raise errors.UnimplementedError(
        op.node_def, op, f"node {op.name!r} is needed here: {OPS.missing(op.type)}"
    )


def _arg(arg: Any) -> ArgDef:
    return ArgDef(
        arg.name,
        dtype=dtypes.as_dtype(arg.type) if arg.type else None,
        type_attr=arg.type_attr or None,
        number_attr=arg.number_attr or None,
        type_list_attr=arg.type_list_attr or None,
        is_ref=arg.is_ref,
    )


def _attr(attr: Any) -> AttrDef:
    default: Any = REQUIRED
    if attr.HasField("default_value"):
        default = node_message.attr_from_any(attr.default_value)
    return AttrDef(attr.name, attr.type, default)


def _no_shapes(ctx: Any) -> Any:
    outputs = ctx.op.outputs
    single = len(outputs) == 1 and not ctx.op.op_def.has_list_output
    return None if single else [None] * len(outputs)
