"""Questions about the mode of execution, which is graph mode until a program asks for another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock.foundation.base.decorators import contextmanager
from penstock.foundation.formats import tensor_proto
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.tensor import Tensor


def executing_eagerly() -> bool:
    """Whether operations run as they are called; else nodes are built, and sessions run them.

    True after ``tf.enable_eager_execution()``, and in the body of a ``tf.py_function``.
    """
    return scopes.get_default_graph().tensor_class is not Tensor


def _already_so() -> None:
    """Does nothing: this is how Penstock always behaves."""


disable_eager_execution = disable_v2_behavior = disable_tensor_equality = _already_so
disable_control_flow_v2 = _already_so


def enable_tensor_equality() -> None:
    """Asks that ``==`` compare elements where operations run as they are called.

    Nodes of graphs are compared by identity, and are keys of dictionaries, whatever was asked: so
    it is in TensorFlow 1.15, too.

    Raises:
      NotImplementedError: under eager execution.
    """
    if executing_eagerly():
        raise NotImplementedError(
            "eager tensors are keys of dictionaries, by identity; write tf.equal(x, y)"
        )


def control_flow_v2_enabled() -> bool:
    """False: control flow is made of the primitive ops."""
    return False


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
