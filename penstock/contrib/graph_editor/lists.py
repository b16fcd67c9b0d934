"""Lists of operations and tensors out of what users give, and what is around them.

State: of ``ControlOutputs``, who waits for whom, as of when it was last updated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor


def _is_iterable(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, Tensor | str | bytes)


def check_graph(given: Any) -> None:
    """Checks that it is a graph."""
    if not isinstance(given, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(given)}")


def checked(items: Any, kinds: Any, one_graph: bool) -> list[Any]:
    """The items, one or several, as a list.

    Raises:
      TypeError: one is of no such kind; or of another graph, if there may be one only.
    """
    found = list(items) if _is_iterable(items) else [items]
    graph: Any = None
    item: Any
    for item in found:
        if not isinstance(item, kinds):
            expected = ", ".join(map(str, kinds))
            raise TypeError(f"Expected a type in ({expected}), got: {type(item)}")
        if one_graph and graph is not None and item.graph is not graph:
            raise ValueError(f"{item.name} does not belong to the same graph as {found[0].name}")
        graph = item.graph
    return found


def unique_graph(items: Any) -> Graph | None:
    """The one graph that operations and tensors are of; None of nothing.

    Raises:
      TypeError: something is no operation or tensor.
      ValueError: they are of several.
    """
    if isinstance(items, Graph):
        return items
    found = checked(items, (Operation, Tensor), one_graph=True)
    return found[0].graph if found else None


def make_list_of_op(
    ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
) -> list[Operation]:
    """Operations as a list.

    Args:
      ops: an operation, several, or a graph.
      check_graph: whether all must be of one graph.
      allow_graph: whether it may be a graph.
      ignore_ts: whether tensors are passed over.

    Raises:
      TypeError: something else is among them, or it is a graph and must not be.
    """
    if isinstance(ops, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return ops.get_operations()
    if ignore_ts and _is_iterable(ops):
        ops = [op for op in ops if not isinstance(op, Tensor)]
    return checked(ops, (Operation,), check_graph)


def make_list_of_t(
    ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
) -> list[Tensor]:
    """Tensors as a list.

    Args:
      ts: a tensor, several, or a graph.
      check_graph: whether all must be of one graph.
      allow_graph: whether it may be a graph.
      ignore_ops: whether operations are passed over.

    Raises:
      TypeError: something else is among them, or it is a graph and must not be.
    """
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    if ignore_ops and _is_iterable(ts):
        ts = [t for t in ts if not isinstance(t, Operation)]
    return checked(ts, (Tensor,), check_graph)


def get_tensors(graph: Any) -> list[Tensor]:
    """All tensors of a graph, in the order of creation.

    Raises:
      TypeError: it is no graph.
    """
    check_graph(graph)
    return [t for op in graph.get_operations() for t in op.outputs]


def get_generating_ops(ts: Any) -> list[Operation]:
    """The operation of each of some tensors.

    Raises:
      TypeError: they are no tensors.
    """
    return [t.op for t in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Any) -> list[Operation]:
    """The operations that take some of these tensors, each once.

    Raises:
      TypeError: they are no tensors.
    """
    tensors = make_list_of_t(ts, allow_graph=False)
    return list(dict.fromkeys(op for t in tensors for op in t.consumers()))


def without_repeats(items: Iterable[Any], keep: Callable[[Any], bool] = bool) -> list[Any]:
    """Items that are kept, each once, in order."""
    return [item for item in dict.fromkeys(items) if keep(item)]


class ControlOutputs:
    """Which operations wait for which, by control inputs.

    Args:
      graph: the graph.

    Raises:
      TypeError: it is no graph.
    """

    def __init__(self, graph: Any) -> None:
        check_graph(graph)
        self._graph: Graph = graph
        self._outputs: dict[Operation, list[Operation]] = {}
        self._version = (-1, -1)
        self.update()

    def update(self) -> ControlOutputs:
        """Looks at the graph again, if it has changed."""
        version = self._graph.version, self._graph.mutation_version
        if version != self._version:
            self._outputs = {}
            for op in self._graph.get_operations():
                for before in op.control_inputs:
                    self._outputs.setdefault(before, []).append(op)
            self._version = version
        return self

    def get_all(self) -> dict[Operation, list[Operation]]:
        """Those that wait, by what they wait for."""
        return self._outputs

    def get(self, op: Operation) -> Any:
        """Those that wait for an operation."""
        return self._outputs.get(op, ())

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph


def check_control_outputs(given: Any) -> None:
    """Checks that it is a ``ControlOutputs``."""
    if not isinstance(given, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(given)}")
