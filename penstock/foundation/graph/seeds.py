"""Seeds of random operations: one of the graph, from which theirs follow."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.defaults import (
    default_graph_scope as default_graph_scope,
    default_session_scope as default_session_scope,
    forget_default_graphs as forget_default_graphs,
    get_default_session as get_default_session,
    session_for as session_for,
)
from penstock.foundation.graph.scopes import get_default_graph


def set_random_seed(seed: int | None) -> None:
    """Sets the graph-level seed of the default graph.

    An op's seeds derive from it and from the op's own ``seed``; with the graph seed alone set, each
    op still gets its own reproducible stream.

    Args:
      seed: whole number from which, with each operation's own, seeds are made; None: other numbers
        in each session.

    Example:
      >>> import penstock as tf
      >>> tf.set_random_seed(7)
      >>> drawn = tf.random_uniform([3])
      >>> with tf.Session() as session:
      ...     first = session.run(drawn)
      >>> with tf.Session() as session:
      ...     bool((session.run(drawn) == first).all())  # a new session draws the same
      True
    """
    get_default_graph().seed = seed


_DEFAULT_GRAPH_SEED = 87654321


_MAXINT32 = 2**31 - 1


def get_seed(op_seed: Any) -> tuple[Any, Any]:
    """The two seeds for a random op made now, from the graph seed and the op seed.

    Args:
      op_seed: an int, an integer scalar, or None.

    Returns:
      ``(graph seed, op seed)``; both None when the op is to be non-deterministic.
    """
    graph = get_default_graph()
    graph_seed = graph.seed
    if graph_seed is not None:
        if op_seed is None:
            op_seed = graph.operation_seed()
        seeds: tuple[Any, Any] = (graph_seed % _MAXINT32, op_seed % _MAXINT32)
    elif op_seed is not None:
        seeds = (_DEFAULT_GRAPH_SEED, op_seed % _MAXINT32)
    else:
        return None, None
    # Both zero would mean "not seeded" to the op.
    return (0, _MAXINT32) if seeds == (0, 0) else seeds
