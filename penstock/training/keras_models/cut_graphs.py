"""Parts of the graph of layers as functions of values, where operations run as they are called.

That graph (``layer_base.symbolic``) is never run itself; what ``tf.keras.backend.function`` asks
of it, and what an operation between layers was given, is cut out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.tensor import Tensor
from penstock.library.eager.wrapped import WrappedFunction


def is_cut(tensor: Any) -> bool:
    """Whether a tensor is one of the graph of layers, and operations run as they are called."""
    if not isinstance(tensor, Tensor) or not scopes.get_default_graph().executes:
        return False
    return not tensor.has_value and tensor.graph.building_function


def cut(inputs: Sequence[Any], outputs: Sequence[Any]) -> Callable[..., list[Any]]:
    """A function of values of some tensors that gives those of others, as arrays.

    Raises:
      UnliftableError: an output needs an input that is not among these.
    """
    graph = outputs[0].graph
    outside = {inner: outer for outer, inner in graph.captured_values().items()}
    whole = WrappedFunction(graph, [outside[one] for one in graph.inputs], ((), {}), None, [], 0)
    part = whole.prune(list(inputs), list(outputs))
    return lambda *values: [one.numpy() for one in part(*values)]
