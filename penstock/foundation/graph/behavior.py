"""Questions about the mode of execution, which is graph mode until a program asks for another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock.foundation.base.decorators import contextmanager
from penstock.foundation.formats import tensor_proto
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.tensor import Tensor


def executing_eagerly() -> bool:
    """Whether operations run as they are called; else nodes are built, and sessions run them.

    True after ``tf.enable_eager_execution()``, and in the body of a ``tf.py_function``.
    """
    return scopes.get_default_graph().tensor_class is not Tensor


def _already_so() -> None:
    """Does nothing: this is how Penstock always behaves."""


disable_eager_execution = disable_v2_behavior = disable_tensor_equality = _already_so
disable_v2_tensorshape = disable_control_flow_v2 = _already_so


def control_flow_v2_enabled() -> bool:
    """False: control flow is made of the primitive ops."""
    return False


@contextmanager
def init_scope() -> Iterator[None]:
    """Lifts nodes out of control dependencies and functions, into the outermost graph."""
    graph = scopes.get_default_graph()
    scope = graph.get_name_scope()
    while isinstance(graph, FunctionGraph):
        graph = graph.outer
    with (
        scopes.default_graph_scope(graph),
        graph.control_dependencies(None),
        graph.name_scope(f"{scope}/" if scope else None),
    ):
        yield


def is_tensor(x: Any) -> bool:
    """Whether ``x`` is a tensor, a sparse tensor, slices or a variable."""
    known = isinstance(x, Tensor | SparseTensor | IndexedSlices)
    return known or getattr(x, "_is_dense_tensor_like", False) is True


def make_ndarray(tensor: Any) -> np.ndarray:
    """The NumPy array of a ``TensorProto``."""
    return tensor_proto.to_array(tensor)


@contextmanager
def op_scope(values: Any, name: str | None, default_name: str | None = None) -> Iterator[str]:
    """The older form of ``name_scope``, with its arguments in another order."""
    with scopes.name_scope(name, default_name, values) as scope:
        yield scope
