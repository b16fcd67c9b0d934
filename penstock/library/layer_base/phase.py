"""The learning phase: whether layers such as dropout train, where a call does not say.

State of a graph: the value that was set (0 or 1), or the placeholder ``keras_learning_phase``, made
when it is first asked for, which is False unless it is fed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import constant, make

_PHASE = "layer_base.learning_phase"


def learning_phase() -> Any:
    """The learning phase of the default graph: 0, 1 or a scalar bool tensor."""
    graph = scopes.get_default_graph()
    found = graph.attached.get(_PHASE)
    if graph.executes:
        return found if isinstance(found, int) else 0
    if found is None:
        with scopes.name_scope(""):
            default = constant(False, name="keras_learning_phase/input")
            found = make("PlaceholderWithDefault", default, shape=(), name="keras_learning_phase")
        graph.attached[_PHASE] = found
    return found


def set_learning_phase(value: Any) -> None:
    """Sets the learning phase of the default graph.

    Args:
      value: 0 (test) or 1 (train).

    Raises:
      ValueError: another value.
    """
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    scopes.get_default_graph().attached[_PHASE] = value


@contextmanager
def learning_phase_scope(value: Any) -> Iterator[None]:
    """The learning phase is ``value`` in a ``with`` block."""
    attached = scopes.get_default_graph().attached
    saved = attached.get(_PHASE)
    set_learning_phase(value)
    try:
        yield
    finally:
        attached[_PHASE] = saved
