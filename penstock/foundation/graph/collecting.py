"""The default graph's collections: lists that nodes and other objects of a graph are put into."""

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


def add_to_collection(name: Any, value: Any) -> None:
    """``Graph.add_to_collection`` of the default graph.

    Args:
      name: the collection's name; made where it is new.
      value: what to add; once more where it is there already.

    Example:
      >>> import penstock as tf
      >>> penalty = 0.01 * tf.nn.l2_loss(tf.ones([3]))
      >>> tf.add_to_collection("penalties", penalty)
      >>> tf.get_collection("penalties") == [penalty]
      True
    """
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """``Graph.add_to_collections`` of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """``Graph.get_collection`` of the default graph.

    Args:
      key: its name, such as a member of ``tf.GraphKeys``.
      scope: regular expression that names of what is listed must begin with.

    Returns:
      A list, in the order of adding; a copy.

    Example:
      >>> import penstock as tf
      >>> with tf.variable_scope("first"):
      ...     a = tf.get_variable("a", [2])
      >>> with tf.variable_scope("second"):
      ...     b = tf.get_variable("b", [2])
      >>> [v.name for v in tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="second")]
      ['second/b:0']
    """
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """``Graph.get_collection_ref`` of the default graph."""
    return get_default_graph().get_collection_ref(key)
