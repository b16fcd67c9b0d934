"""The default graph, the default session and the module-level scope functions.

This is the only implicit state of graph building: per thread, a stack of default graphs and one of
default sessions, above one global default graph.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

from penstock.foundation.base.decorators import contextmanager
from penstock.foundation.graph.defaults import (
    default_graph_scope as default_graph_scope,
    default_session_scope as default_session_scope,
    forget_default_graphs as forget_default_graphs,
    get_default_session as get_default_session,
    innermost_graph,
    replace_default_graphs,
    session_for as session_for,
    stacks,
)
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

_global_graph: Graph | None = None
_global_lock = threading.Lock()


def get_default_graph() -> Graph:
    """The graph that nodes are added to now.

    Returns:
      The ``Graph`` that nodes are made in: of the innermost ``Graph.as_default``, or the program's.

    Example:
      >>> import penstock as tf
      >>> x = tf.constant(1.0, name="x")
      >>> [op.name for op in tf.get_default_graph().get_operations()]
      ['x']
      >>> with tf.Graph().as_default() as other:
      ...     tf.get_default_graph() is other
      True
    """
    global _global_graph
    graphs = stacks.graphs  # as innermost_graph, without the call: operations ask at each
    if graphs:
        return graphs[-1]
    if stacks.instead is not None:
        return stacks.instead
    if _global_graph is None:
        with _global_lock:
            if _global_graph is None:
                _global_graph = Graph()
    return _global_graph


def reset_default_graph() -> None:
    """Replaces the global default graph by an empty one.

    Operations that run as they are called do so afterwards, too.

    Raises:
      AssertionError: inside a ``with graph.as_default()`` block, where it would have no effect.

    Example:
      >>> import penstock as tf
      >>> v = tf.get_variable("v", [2])
      >>> tf.reset_default_graph()  # in a notebook, before a cell builds its graph again
      >>> v = tf.get_variable("v", [2])
      >>> [op.name for op in tf.global_variables()]
      ['v:0']
    """
    global _global_graph
    if innermost_graph() is not None:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs: inside of `with"
            " graph.as_default():` that graph is the default. Call it outside of the block, or make"
            " another tf.Graph()"
        )
    _global_graph = Graph() if _global_graph is None else _global_graph.emptied()


def start_anew() -> None:
    """Makes an empty graph the default, whatever blocks this thread is in.

    For tests: one that failed may have left the block of a graph unfinished.  Where a program runs
    operations as they are called, a block in which they are built keeps to that.
    """
    innermost, outermost = innermost_graph(), _global_graph
    if innermost and outermost and outermost.executes and not innermost.executes:
        replace_default_graphs(Graph())
    else:
        forget_default_graphs()
        reset_default_graph()


def replace_global_graph(graph: Graph) -> None:
    """Makes ``graph`` the default where no block of a thread says another.

    Raises:
      ValueError: the one that was it has nodes, or a block has a graph of its own.
    """
    global _global_graph
    if innermost_graph() is not None or (_global_graph and _global_graph.operations):
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    _global_graph = graph


def graph_from_inputs(items: Iterable[Any], graph: Graph | None = None) -> Graph:
    """The one graph that all graph elements among ``items`` are in, else the default graph.

    Args:
      items: graph elements, and what is none.
      graph: the graph that they must be in, if that is known.

    Raises:
      ValueError: when two elements are of different graphs, naming both; or one is
        not of ``graph``.
    """
    if graph is not None:
        for item in items:
            if isinstance(item, Tensor | Operation) and item.graph is not graph:
                raise ValueError(f"{item} is not from the passed-in graph.")
        return graph
    default = get_default_graph()
    if default.building_function or default.executes:
        return default
    found: Any = None
    for item in items:
        if isinstance(item, Tensor | Operation):
            if found is None:
                found = item
            elif item.graph is not found.graph:
                raise ValueError(
                    f"{item} must be from the same graph as {found}.: {item.name!r} is not in the"
                    f" same graph as {found.name!r}"
                )
    return default if found is None else found.graph


class name_scope:
    """Prefixes the names of nodes made in a ``with`` block.

    Args:
      name: the scope's name; None means ``default_name``.
      default_name: used, made unique, when ``name`` is None.
      values: graph elements that say which graph is meant.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.name_scope("layer"):
      ...     tf.constant(1.0).name
      'layer/Const:0'
    """

    def __init__(self, name: Any, default_name: str | None = None, values: Any = None) -> None:
        if isinstance(name, bytes):
            name = name.decode()
        if not (name is None or isinstance(name, str)):
            raise TypeError(f"name must be a string or None; found {type(name).__name__}")
        self._name = default_name if name is None else name
        if self._name is None and values is not None:
            raise ValueError("name_scope: at least one of name and default_name must be given")
        self._values = values
        self._stack: list[Any] = []

    @property
    def name(self) -> str | None:
        """The name given."""
        return self._name

    def __enter__(self) -> str:
        graph = graph_from_inputs(self._values) if self._values else get_default_graph()
        scope = graph.name_scope(self._name)
        if graph.executes:  # it is the default: a call costs what its scopes do
            self._stack.append((None, scope))
            return scope.__enter__()
        default = default_graph_scope(graph)
        default.__enter__()
        try:
            text = scope.__enter__()
        except BaseException:
            default.__exit__(None, None, None)
            raise
        self._stack.append((default, scope))
        return text

    def __exit__(self, *exc: Any) -> None:
        default, scope = self._stack.pop()
        scope.__exit__(*exc)
        if default is not None:
            default.__exit__(*exc)


def control_dependencies(control_inputs: Iterable[Any] | None) -> Any:
    """``Graph.control_dependencies`` of the default graph.

    Args:
      control_inputs: operations or tensors that must have run before what the block makes; None:
        those of blocks outside do not count.

    Returns:
      A context manager.

    Example:
      >>> import penstock as tf
      >>> count = tf.Variable(0)
      >>> add = tf.assign_add(count, 1)
      >>> with tf.control_dependencies([add]):
      ...     done = tf.constant("counted")  # runs after the count
      >>> with tf.Session() as session:
      ...     session.run(count.initializer)
      ...     session.run(done), int(session.run(count))
      (b'counted', 1)
    """
    return get_default_graph().control_dependencies(control_inputs)


def device(device_name_or_function: Any) -> Any:
    """``Graph.device`` of the default graph.

    Args:
      device_name_or_function: a device such as "/cpu:0" or "/job:ps/task:1"; a function of an
        operation that returns one; None: the blocks outside do not count.

    Returns:
      A context manager.

    Raises:
      ValueError: it is no name of a device.

    Example:
      >>> import penstock as tf
      >>> with tf.device("/cpu:0"):
      ...     weights = tf.zeros([100])
      >>> weights.device
      '/device:CPU:0'
    """
    return get_default_graph().device(device_name_or_function)


def container(container_name: str) -> Any:
    """``Graph.container`` of the default graph."""
    return get_default_graph().container(container_name)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """``Graph.colocate_with`` of the default graph."""
    return get_default_graph().colocate_with(op, ignore_existing)


@contextmanager
def init_scope() -> Iterator[None]:
    """Lifts nodes out of control dependencies and functions, into the outermost graph."""
    graph = get_default_graph()
    scope = graph.get_name_scope()
    with default_graph_scope(graph.outermost) as outer, outer.control_dependencies(None):
        with outer.name_scope(f"{scope}/" if scope else None):
            yield
