"""The node that hooks fetch to learn the global step.

A hook's fetch must be no reference that the step's own update changes before it is looked at, and
the hook may be the first to read the variable.  One node for all hooks of a graph, kept in a
collection: the variable's value if it has one, else its initial value, plus zero.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.library.variables.global_step import get_global_step
from penstock.library.variables.initialized import is_variable_initialized
from penstock.library.variables.variable import Variable

GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def global_step_read(graph: Any = None) -> Tensor | None:
    """The node that reads the global step, made when there is none.

    Args:
      graph: default is the default graph.

    Returns:
      The tensor, or None where the graph has no global step.

    Raises:
      RuntimeError: the graph holds several such nodes.
    """
    graph = graph or scopes.get_default_graph()
    made = graph.get_collection(GLOBAL_STEP_READ_KEY)
    if len(made) > 1:
        raise RuntimeError(
            f"the collection {GLOBAL_STEP_READ_KEY!r} should hold one tensor; it holds {made}"
        )
    if made:
        read: Tensor = made[0]
        return read
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), scopes.name_scope(None), scopes.name_scope(step.op.name + "/"):
        value = _initialized_value(step) if isinstance(step, Variable) else step
        read = value + 0
    graph.add_to_collection(GLOBAL_STEP_READ_KEY, read)
    return read


def required_global_step_read(asker: str) -> Tensor:
    """The node that reads the global step.

    Args:
      asker: what needs it, for the message.

    Raises:
      RuntimeError: the graph has no global step.
    """
    read = global_step_read()
    if read is None:
        raise RuntimeError(
            f"Global step should be created to use {asker}:"
            " tf.train.get_or_create_global_step() makes one"
        )
    return read


def _initialized_value(variable: Any) -> Tensor:
    with scopes.get_default_graph().control_dependencies(None):
        value: Tensor = cond(
            is_variable_initialized(variable),
            variable.read_value,
            lambda: variable.initial_value,
        )
    return value
