"""Initial values: where they are built, and guarding them against variables not yet initialized.

An initial value may use other variables.  Initializers run in one step in no particular order, so
reads of variables in it are replaced by "the value if there is one, else its own initial value".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.written_nodes import add_checked


@contextmanager
def initializer_scope(graph: Any, scope: str) -> Iterator[None]:
    """Nodes of an initial value: named under ``Initializer``, placed with the variable."""
    attrs = {"_class": [f"loc:@{scope[:-1]}".encode()]}
    with graph._attr_scope(attrs), scopes.name_scope("Initializer"):
        yield


def initialized_value(variable: Any) -> Tensor:
    """The variable's value if it has one, else its initial value.

    TF builds a conditional; here it is one node of the same name, because both sides are at hand
    when it runs.
    """
    made: Tensor
    if scopes.get_default_graph().executes:
        made = variable.read_value()
        return made
    with variable.graph.control_dependencies(None), scopes.name_scope("cond"):
        if variable.dtype.is_ref:
            held, first = variable._ref(), variable.initial_value
            made = make("_InitializedValue", held, first, name="Merge")
        else:
            held, first = variable.handle, variable.initial_value
            made = make("_ResourceInitializedValue", held, first, name="Merge")
    return made


def guarded(scope: str, value: Tensor) -> Tensor:
    """``value`` with variables in it replaced by their initialized values, where there are any.

    Args:
      scope: the new variable's scope; the copies' names end in it.
      value: the initial value.

    Returns:
      ``value`` itself when no variable is in it, or when its graph has a cycle.
    """
    if not value.op.inputs and value.op.op_def.role != "variable":
        return value
    order = _dependencies(value.op)
    if order is None or not any(op.op_def.role == "variable" for op in order):
        return value
    replaced: dict[Operation, Operation] = {}
    for op in order:
        replaced[op] = _safe(scope, op, replaced)
    return replaced[value.op].outputs[value.value_index]


def _dependencies(root: Operation) -> list[Operation] | None:
    """What ``root`` is computed from, inputs first; None when there is a cycle."""
    order: list[Operation] = []
    state: dict[Operation, int] = {}
    stack = [(root, False)]
    while stack:
        op, leaving = stack.pop()
        if leaving:
            state[op] = 2
            order.append(op)
            continue
        if state.get(op) == 2:
            continue
        if state.get(op) == 1:
            return None
        state[op] = 1
        stack.append((op, True))
        before = [] if _is_left_alone(op) else [t.op for t in op.inputs]
        stack.extend((o, False) for o in reversed(before) if state.get(o) != 2)
    return order


def _is_left_alone(op: Operation) -> bool:
    """Whether it works on a variable that has no value, or is ordered by the user."""
    definition = op.op_def
    ordered = definition.control == "if" and definition.stateful
    return ordered or definition.role in ("initialized", "read")


def _safe(scope: str, op: Operation, replaced: dict[Operation, Operation]) -> Operation:
    if _is_left_alone(op):
        return op
    if op.op_def.role == "variable":
        found = _variable_of(op)
        return op if found is None else found.initialized_value().op
    inputs = [replaced[t.op].outputs[t.value_index] for t in op.inputs]
    if all(new is old for new, old in zip(inputs, op.inputs, strict=True)):
        return op
    graph = op.graph
    name = f"{op.name}_{scope}".replace(":", "_")
    attrs = {k: v for k, v in op.attrs.items() if k not in op.op_def.inferred_attrs}
    return add_checked(graph, op.op_def, inputs, attrs, graph.node_name(name, op.type))


def _variable_of(op: Operation) -> Any:
    graph = op.graph
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in graph.get_collection(key):
            if variable.name in (op.name, f"{op.name}:0"):
                return variable
    return None


def slices_of(sparse_delta: Any) -> tuple[Any, Any]:
    """Indices and values of the argument of ``scatter_...`` methods.

    Raises:
      TypeError: it is not an IndexedSlices.
    """
    if not isinstance(sparse_delta, IndexedSlices):
        raise TypeError(f"sparse_delta must be IndexedSlices; found {type(sparse_delta).__name__}")
    return sparse_delta.indices, sparse_delta.values
