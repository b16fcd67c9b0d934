"""``tf.contrib.copy_graph``: operations and variables copied into another graph, by name.

What an operation needs is copied with it, unless the other graph has a namesake already.  Variables
are copied on their own, with the values that they begin with.

Source: ``tf.contrib.copy_graph`` of TensorFlow 1.15 (names, order, collections).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.engine.session.session import Session
from penstock.foundation.base import public_names
from penstock.foundation.graph import editing
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.variable import Variable

_KEPT = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)


def _scoped(name: str, scope: str) -> str:
    return f"{scope}/{name}" if scope else name


def copy_variable_to_graph(org_instance: Any, to_graph: Graph, scope: str = "") -> Any:
    """Copies a variable into another graph, with the value that it begins with.

    Args:
      org_instance: the variable.
      to_graph: where to.
      scope: what the copy's name begins with.

    Returns:
      The copy, whose shape is not checked.

    Raises:
      TypeError: it is no variable.
    """
    if not isinstance(org_instance, Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    graph = org_instance.graph
    keys = [key for key in graph.collections if _holds(graph, key, org_instance)]
    with graph.as_default(), Session(graph=graph) as session:
        value = session.run(org_instance.initialized_value())
    name = _scoped(org_instance.op.name, scope)
    with to_graph.as_default():
        return Variable(
            value,
            trainable=GraphKeys.TRAINABLE_VARIABLES in keys,
            name=name,
            collections=[key if key in _KEPT else _scoped(key, scope) for key in keys],
            validate_shape=False,
        )


def _holds(graph: Graph, key: Any, item: Any) -> bool:
    return any(other is item for other in graph.get_collection(key))


def copy_op_to_graph(
    org_instance: Any, to_graph: Graph, variables: Iterable[Any], scope: str = ""
) -> Any:
    """Copies an operation, or a tensor's, into another graph, with all that it needs.

    Args:
      org_instance: the operation or tensor.
      to_graph: where to.
      variables: variables of that graph that stand for those of this one, by name.
      scope: what names of copies begin with.

    Returns:
      The copy: an operation, or a tensor.

    Raises:
      TypeError: it is no operation and no tensor.

    Example:
      >>> import penstock as tf
      >>> from penstock.contrib import copy_graph
      >>> with tf.Graph().as_default():
      ...     y = tf.negative(tf.constant(2.0), name="y")
      >>> other = tf.Graph()
      >>> copied = copy_graph.copy_op_to_graph(y, other, [], "copy")
      >>> with tf.Session(graph=other) as sess:
      ...     print(copied.name, sess.run(copied))
      copy/y:0 -2.0
    """
    if isinstance(org_instance, Variable):
        org_instance = org_instance.op.outputs[0]
    if not isinstance(org_instance, Tensor | Operation):
        raise TypeError(f"Could not copy instance: {org_instance} is no Operation and no Tensor")
    given = {variable.op.name: variable.op for variable in variables}
    made = _copied(org_instance, to_graph, given, scope)
    return made.outputs[org_instance.value_index] if isinstance(org_instance, Tensor) else made


def _node(item: Any) -> Operation:
    op: Operation = item.op if isinstance(item, Tensor) else item
    return op


def _copied(last: Any, to_graph: Graph, variables: dict[str, Operation], scope: str) -> Operation:
    """Copies an operation, behind those that it waits for and takes from."""

    def found(op: Operation) -> Operation | None:
        name = _scoped(op.name, scope)
        return variables.get(name) or to_graph.by_name.get(name)

    stack = [last]
    while stack:
        op = _node(stack[-1])
        before = [*op.control_inputs, *op.inputs]
        missing = [] if found(op) else [b for b in before if found(_node(b)) is None]
        if missing:
            stack += reversed(missing)
            continue
        item = stack.pop()
        if found(op) is None:
            _copy_one(item, to_graph, found, scope)
    made = found(_node(last))
    assert made is not None
    return made


def _copy_one(item: Any, to_graph: Graph, found: Any, scope: str) -> None:
    """Copies the operation of an item; the copy of the item is in the item's collections."""
    op = _node(item)
    name = to_graph.unique_name(_scoped(op.name, scope))
    inputs = [found(t.op).outputs[t.value_index] for t in op.inputs]
    made = editing.copy_node(op, to_graph, name, inputs, [found(c) for c in op.control_inputs])
    copied = made.outputs[item.value_index] if isinstance(item, Tensor) else made
    for key in op.graph.collections:
        if _holds(op.graph, key, item):
            to_graph.add_to_collection(_scoped(key, scope), copied)


def get_copied_op(org_instance: Any, graph: Graph, scope: str = "") -> Any:
    """The namesake of an operation in another graph.

    Args:
      org_instance: the operation.
      graph: the other graph.
      scope: what the namesake's name begins with.

    Raises:
      KeyError: there is none.
    """
    return graph.as_graph_element(
        _scoped(org_instance.name, scope), allow_tensor=True, allow_operation=True
    )


__dir__ = public_names.listing(__name__)
