"""Models from ``tf.keras.Input`` where operations run as they are called.

Inputs are placeholders of a graph beside the eager context, which is never run: it says which
layers follow which.  A layer that is called on tensors of that graph adds nodes to it, while its
variables are made in the context, with values.  Called on values, the same layer computes.

State of the eager context: that graph; of a graph: whether models' inputs are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.creation import variable_creator_scope

_GRAPH = "layer_base.symbolic_graph"
_INPUTS = "layer_base.has_inputs"


@contextmanager
def inputs_scope() -> Iterator[None]:
    """Where the placeholders of models are made, for a ``with`` block."""
    graph = scopes.get_default_graph()
    if not graph.executes:
        graph.attached[_INPUTS] = True
        yield
        return
    found = graph.attached.get(_GRAPH)
    if found is None:
        found = graph.attached[_GRAPH] = FunctionGraph("keras_graph", outer=graph)
        found.takes_calls = found.attached[_INPUTS] = True
    with _inside(found):
        yield


def has_inputs() -> bool:
    """Whether the default graph has placeholders of models."""
    graph = scopes.get_default_graph()
    inside = isinstance(graph, FunctionGraph) and not graph.takes_calls
    return not graph.executes and not inside and _INPUTS in graph.attached


@contextmanager
def scope_of(inputs: Any) -> Iterator[None]:
    """Where a layer is called on ``inputs``: their graph, if calls run and these have no values."""
    if scopes.get_default_graph().executes:
        for one in nest.flatten(inputs):
            if isinstance(one, Tensor) and not one.has_value:
                with _inside(one.graph):
                    yield
                return
    yield


@contextmanager
def _inside(graph: Any) -> Iterator[None]:
    with default_graph_scope(graph), variable_creator_scope(_made_outside):
        yield


def _made_outside(creator: Callable[..., Any], **kwargs: Any) -> Any:
    graph: Any = scopes.get_default_graph()
    scope, outer = graph.get_name_scope(), graph.outer
    with default_graph_scope(outer), outer.name_scope(f"{scope}/" if scope else None):
        return creator(**kwargs)
