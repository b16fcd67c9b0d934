"""The default graphs and sessions of each thread, as stacks.

State: the stacks.  This is below ``Graph``, whose methods enter them; the graph that is the default
where no other is stands in ``scopes``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.foundation.graph.graph import Graph


class _Stacks(threading.local):
    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        # After blocks were forgotten: the default in their place, until this one of them is left.
        self.instead: Graph | None = None
        self.forgotten: Graph | None = None
        self.sessions: list[Any] = []


stacks = _Stacks()


def innermost_graph() -> Graph | None:
    """The graph of the innermost block of this thread, if it is in one."""
    graphs = stacks.graphs  # of a thread: each look costs
    return graphs[-1] if graphs else stacks.instead


@contextmanager
def default_graph_scope(graph: Graph, ordered: bool = True) -> Iterator[Graph]:
    """Makes ``graph`` the default for this thread.

    Args:
      graph: the graph.
      ordered: whether blocks that were entered later must have been left before.

    Raises:
      AssertionError: they were not.
    """
    stacks.graphs.append(graph)
    try:
        yield graph
    finally:
        _leave(stacks.graphs, graph, ordered)
        if graph is stacks.forgotten:
            stacks.instead = stacks.forgotten = None


def forget_default_graphs() -> None:
    """Makes the global default graph the default of this thread, whatever blocks it is in.

    For tests: one that failed may have left the ``with`` block of a graph unfinished.
    """
    stacks.graphs.clear()
    stacks.instead = stacks.forgotten = None


def replace_default_graphs(graph: Graph) -> None:
    """Makes a graph the default of this thread until the block is left that it is in now."""
    if stacks.graphs:
        stacks.forgotten = stacks.graphs[-1]
    stacks.instead = graph
    stacks.graphs.clear()


def get_default_session() -> Any:
    """The innermost default session of this thread, or None.

    Returns:
      The session of the innermost ``with session``; None outside of all.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     tf.get_default_session() is session
      True
      >>> tf.get_default_session() is None
      True
    """
    return stacks.sessions[-1] if stacks.sessions else None


@contextmanager
def default_session_scope(session: Any, ordered: bool = True) -> Iterator[Any]:
    """Makes ``session`` the default for this thread; ``ordered`` is as for graphs."""
    stacks.sessions.append(session)
    try:
        yield session
    finally:
        _leave(stacks.sessions, session, ordered)


def _leave(stack: list[Any], item: Any, ordered: bool) -> None:
    """Takes an item off; it need not be there, since tests forget all graphs."""
    violated = ordered and bool(stack) and stack[-1] is not item
    for index in range(len(stack) - 1, -1, -1):
        if stack[index] is item:
            del stack[index]
            break
    if violated:
        raise AssertionError(
            f"Nesting violated for default stack of {type(item)} objects: blocks are left in the"
            " reverse of the order in which they were entered"
        )


_NO_SESSION = (
    "No default session is registered. Use `with sess.as_default()` or pass an explicit session, as"
    " in `eval(session=sess)` and `run(session=sess)`"
)
# What TensorFlow says first, where others ask it by their names.
_WITHOUT_SESSION = {
    "Tensor.eval": "Cannot evaluate tensor using `eval()`",
    "Variable.eval": "Cannot evaluate tensor using `eval()`",
    "Operation.run": "Cannot execute operation using `run()`",
}


def session_for(session: Any, graph: Graph, asker: str) -> Any:
    """``session`` or the default one, checked to run ``graph``."""
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(f"{_WITHOUT_SESSION.get(asker, asker)}: {_NO_SESSION}")
    if session.graph is not graph:
        raise ValueError(
            "Cannot use the default session to evaluate tensor: the tensor's graph is different"
            f" from the session's graph.: {asker}: the session runs another graph than the one of"
            " this element"
        )
    return session
