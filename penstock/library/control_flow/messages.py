"""Contexts as messages of MetaGraphs: the collections COND_CONTEXT and WHILE_CONTEXT.

They hold the outermost contexts; those inside are parts of the message.  With them an imported
graph knows its constructs again, so that ``tf.gradients`` can go through them.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import origin
from penstock.foundation.formats import schema
from penstock.foundation.graph import proto_functions
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow import kinds
from penstock.library.control_flow.context import CondContext, ControlFlowContext, WhileContext


def _stripped(name: str, scope: str | None) -> str:
    return name.removeprefix(f"{scope.rstrip('/')}/") if scope else name


def _scoped(name: str, scope: str | None) -> str:
    return f"{scope.rstrip('/')}/{name}" if scope else name


# ---- out -----------------------------------------------------------------------------------------


def to_proto(context: Any, export_scope: str | None = None) -> Any:
    """The CondContextDef or WhileContextDef of a context.

    Args:
      context: the context.
      export_scope: name scope to take off all names; a context that is not in it gives None.
    """
    if export_scope is not None and not context.name.startswith(export_scope):
        return None

    def name(item: Any) -> str:
        return _stripped(item if isinstance(item, str) else item.name, export_scope)

    made = _cond_def(context, name) if context.IsCondContext() else _while_def(context, name)
    made.values_def.values.extend(name(v) for v in sorted(context._values))
    made.values_def.SetInParent()
    for key, tensor in context._external_values.items():
        made.values_def.external_values[name(key)] = name(tensor)
    for nested in context._nested_contexts:
        to_context_def(nested, made.nested_contexts.add(), export_scope)
    return made


def to_context_def(context: Any, into: Any, export_scope: str | None = None) -> None:
    """Fills a ControlFlowContextDef, which holds a context of either kind."""
    field = into.cond_ctxt if context.IsCondContext() else into.while_ctxt
    message = to_proto(context, export_scope)
    if message is not None:
        field.CopyFrom(message)


def _cond_def(context: CondContext, name: Any) -> Any:
    return schema.CondContextDef(
        context_name=name(context.name),
        pred_name=name(context.pred),
        pivot_name=name(context.pivot),
        branch=context.branch,
    )


def _while_def(context: WhileContext, name: Any) -> Any:
    bound = context.maximum_iterations
    return schema.WhileContextDef(
        context_name=name(context.name),
        parallel_iterations=context.parallel_iterations,
        maximum_iterations_name="" if bound is None else name(bound),
        back_prop=context.back_prop,
        swap_memory=context.swap_memory,
        pivot_for_pred_name=name(context.pivot_for_pred),
        pivot_for_body_name=name(context.pivot_for_body),
        pivot_name=name(context.pivot),
        loop_exit_names=map(name, context.loop_exits),
        loop_enter_names=map(name, context.loop_enters),
    )


# ---- in ------------------------------------------------------------------------------------------


def from_proto(message: Any, import_scope: str | None = None) -> Any:
    """The context that a message tells of; its nodes are in the default graph already.

    Args:
      message: a CondContextDef or WhileContextDef.
      import_scope: name scope that the nodes were imported into.

    Raises:
      KeyError: a node it names is not in the graph.
    """
    reader = _Reader(get_default_graph(), import_scope)
    is_cond = "pred_name" in message.DESCRIPTOR.fields_by_name
    made: Any = reader.cond(message) if is_cond else reader.loop(message)
    reader.values(made, message.values_def)
    if not is_cond and import_scope:
        _rename_frame(reader.graph, made)
    made.Enter()
    try:
        for nested in message.nested_contexts:
            from_context_def(nested, import_scope)
    finally:
        made.Exit()
    return made


def from_context_def(message: Any, import_scope: str | None = None) -> Any:
    """The context of a ControlFlowContextDef."""
    field = message.WhichOneof("ctxt")
    if field is None:
        raise NotImplementedError("a ControlFlowContextDef without a context")
    return from_proto(getattr(message, field), import_scope)


class _Reader:
    """Makes contexts of messages."""

    def __init__(self, graph: Graph, scope: str | None) -> None:
        self.graph, self.scope = graph, scope

    def tensor(self, name: str) -> Tensor:
        found: Tensor = self.graph.as_graph_element(_scoped(name, self.scope))
        return found

    def _blank(self, kind: Any, message: Any) -> Any:
        made = kind.__new__(kind)
        ControlFlowContext.__init__(made, _scoped(message.context_name, self.scope))
        # The user's line is where the pivot was made, or imported.
        made.origin = self.tensor(message.pivot_name).op.origin or origin.capture()
        made.pivot = self.tensor(message.pivot_name)
        return made

    def cond(self, message: Any) -> CondContext:
        made: CondContext = self._blank(CondContext, message)
        made.pred, made.branch = self.tensor(message.pred_name), message.branch
        return made

    def loop(self, message: Any) -> WhileContext:
        made: WhileContext = self._blank(WhileContext, message)
        bound = message.maximum_iterations_name
        made.maximum_iterations = self.tensor(bound) if bound else None
        made.parallel_iterations = message.parallel_iterations
        made._back_prop, made.swap_memory = message.back_prop, message.swap_memory
        made._grad_state = None
        made.pivot_for_pred = self.tensor(message.pivot_for_pred_name)
        made.pivot_for_body = self.tensor(message.pivot_for_body_name)
        made.loop_exits = [self.tensor(name) for name in message.loop_exit_names]
        made.loop_enters = [self.tensor(name) for name in message.loop_enter_names]
        made.graph = self.graph
        return made

    def values(self, context: Any, message: Any) -> None:
        """Fills in what is known inside; values that were not exported with it are forgotten."""
        outside = dict(message.external_values)
        for name in set(message.values) | set(outside):
            if not self._has(name):
                continue
            full = _scoped(name, self.scope)
            context._values.add(full)
            if name not in outside:
                self.tensor(name).op._set_control_flow_context(context)
            elif self._has(outside[name]):
                context._external_values[full] = self.tensor(outside[name])

    def _has(self, name: str) -> bool:
        return _scoped(name, self.scope).partition(":")[0] in self.graph.by_name


def _rename_frame(graph: Graph, context: WhileContext) -> None:
    """A loop that comes into a scope runs in a frame of its own."""
    for name in context._values:
        op = graph.as_graph_element(name).op
        if kinds.IsLoopEnter(op):
            op._set_attr("frame_name", context.name)


for _key, _message in (
    (GraphKeys.COND_CONTEXT, schema.CondContextDef),
    (GraphKeys.WHILE_CONTEXT, schema.WhileContextDef),
):
    proto_functions.register_proto_function(_key, _message, to_proto, from_proto)
