"""Fetch handlers: from any nesting that users ask for to a flat list, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from penstock.engine.session.fetch_nests import Assemble, Nests
from penstock.foundation.graph.composite import (
    CompositeTensor,
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
)
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor

_EXPANSIONS: list[tuple[type, Callable[[Any], tuple[list[Any], Callable[[list[Any]], Any]]]]] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Callable[[Any], Any],
    feed_function: Callable[..., Any] | None = None,
    feed_function_for_partial_run: Callable[..., Any] | None = None,
) -> None:
    """Lets sessions fetch objects of ``tensor_type``.

    Args:
      tensor_type: a class.
      fetch_function: ``f(object) -> (list of elements, function from their values to a result)``.
      feed_function, feed_function_for_partial_run: accepted for compatibility.

    Raises:
      ValueError: the type is registered already.
    """
    if any(kind is tensor_type for kind, _ in _EXPANSIONS):
        raise ValueError(f"{tensor_type.__name__} has conversion functions already")
    _EXPANSIONS.insert(0, (tensor_type, fetch_function))


class FetchPlan(Nests):
    """The flat tensors and operations of a nested fetch, and how to put values back together.

    State: ``tensors`` (each once), ``operations`` (each once), ``assemble(values of tensors)``.

    Args:
      graph: the session's graph.
      fetches: what is fetched.
      kept: ``(value, dtype) -> object`` for handles of tensors that stay with the session.
    """

    def __init__(
        self, graph: Graph, fetches: Any, kept: Callable[[Any, Any], Any] | None = None
    ) -> None:
        self._graph = graph
        self._kept = kept
        self.tensors: list[Tensor] = []
        self.operations: list[Operation] = []
        self._positions: dict[Tensor, int] = {}
        self._path = ["fetches"]
        self.assemble: Assemble = self._handler(fetches)

    def _handler(self, fetch: Any) -> Assemble:
        if isinstance(fetch, Tensor | Operation | str | bytes):
            return self._element(fetch)
        if fetch is None:
            raise TypeError(
                f"Fetch argument None has invalid type {type(None)}: {''.join(self._path)} is None;"
                " tf.gradients gives None where nothing leads from x to the ys, and a function"
                " without a return statement gives None"
            )
        if isinstance(fetch, list | tuple):
            return self._sequence(fetch)
        if isinstance(fetch, Mapping):
            return self._mapping(fetch)
        for kind, expand in _EXPANSIONS:
            if isinstance(fetch, kind):
                return self._expanded(fetch, expand)
        if hasattr(type(fetch), "__attrs_attrs__"):
            return self._attrs(fetch)
        return self._element(fetch)

    def _element(self, fetch: Any) -> Assemble:
        try:
            element = self._graph.as_graph_element(fetch)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or"
                f" Tensor. ({error}){self._was_run(fetch)}"
            ) from None
        except (ValueError, KeyError) as error:
            reason = error.args[0] if error.args else error
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({reason})"
                f"{of_another_graph(self._graph, fetch)}"
            ) from None
        if not self._graph.is_fetchable(element):
            raise ValueError(f"{element.name!r} may not be fetched{_inside(element)}")
        if isinstance(element, Operation):
            if element not in self.operations:
                self.operations.append(element)
            return lambda values: None
        position = self._positions.get(element)
        if position is None:
            position = self._positions[element] = len(self.tensors)
            self.tensors.append(element)
        index, kept = position, self._kept
        if kept is not None and element.op.op_def.role == "session_handle":
            dtype = element.op.inputs[0].dtype.base_dtype
            return lambda values: kept(values[index], dtype)
        return lambda values: values[index]


def _expand_sparse(fetch: SparseTensor) -> Any:
    return [fetch.indices, fetch.values, fetch.dense_shape], lambda v: SparseTensorValue(*v)


def _expand_slices(fetch: IndexedSlices) -> Any:
    parts = [fetch.values, fetch.indices]
    if fetch.dense_shape is not None:
        parts.append(fetch.dense_shape)
    return parts, lambda v: IndexedSlicesValue(v[0], v[1], v[2] if len(v) > 2 else None)


def _expand_composite(fetch: CompositeTensor) -> Any:
    spec = fetch._type_spec
    parts = spec._to_components(fetch)
    return parts, lambda values: spec._from_components([np.asarray(v) for v in values])


register_session_run_conversion_functions(CompositeTensor, _expand_composite)
register_session_run_conversion_functions(SparseTensor, _expand_sparse)
register_session_run_conversion_functions(IndexedSlices, _expand_slices)


def fetch_key(fetches: Any) -> Any:
    """A hashable key that is equal for equal nestings of the same elements."""
    kind = type(fetches)
    if kind is Tensor or kind is Operation or kind is str:
        return fetches
    if isinstance(fetches, list | tuple):
        for item in fetches:
            if type(item) is not Tensor and type(item) is not Operation:
                return (kind, *map(fetch_key, fetches))
        return (kind, *fetches)
    if isinstance(fetches, Mapping):
        return (kind, *((key, fetch_key(item)) for key, item in fetches.items()))
    hash(fetches)
    return fetches


def of_another_graph(graph: Graph, element: Any) -> str:
    """Where a tensor's graph is not the session's: how that comes about, for errors."""
    other = getattr(element, "graph", None)
    if other is None or other is graph or element is graph:
        return ""
    made = "a session runs the graph that was the default when it was made"
    if other is get_default_graph():
        return (
            f"; {made}, and the default is another one now: make the session after"
            " tf.reset_default_graph() and inside of `with graph.as_default():`"
        )
    return f"; {made}: was tf.reset_default_graph() called since this tensor was?"


def _inside(element: Any) -> str:
    """Why what is inside a conditional or loop has no value outside it."""
    op = element if isinstance(element, Operation) else element.op
    context = op._get_control_flow_context()
    if context is None:
        return ""
    return f": it is inside {context.described()}; fetch what that returns"
