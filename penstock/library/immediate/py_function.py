"""``tf.py_function``: Python functions of tensors that have values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import get_default_graph
from penstock.library.autodiff.gradients import gradients
from penstock.library.immediate.tensor import ImmediateGraph
from penstock.ops.control.py_func import called, here


def py_function(func: Any, inp: Any, Tout: Any, name: str | None = None) -> Any:
    """Calls a Python function on tensors that have values, and can be differentiated.

    The body may use ``tf`` functions, ``x.numpy()``, and ``if``, ``for`` and ``len`` of tensors.
    Each value that Python looks at is computed by a small step of its own: use ``tf.py_func``
    where NumPy does all the work.

    Args:
      func: takes one tensor an input; returns a tensor or array an output, or None for none.
      inp: the inputs, a list.
      Tout: the dtype of the output, or a list of dtypes of several.

    Returns:
      A tensor of unknown shape, with a gradient; a list where ``Tout`` is one; the Operation where
      that is empty.

    Raises:
      tf.errors.InvalidArgumentError: when it runs, if the function returns other types.

    >>> def clipped(x):
    ...     return x if tf.reduce_max(x) < 10 else 10 * x / tf.reduce_max(x)
    >>> x = tf.constant([5.0, 20.0])
    >>> y = tf.py_function(clipped, [x], tf.float32)
    >>> with tf.Session() as session:
    ...     session.run(y).tolist()
    [2.5, 10.0]
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    if get_default_graph().executes:
        return func(*[convert_to_tensor(x) for x in inp])
    types = Tout if isinstance(Tout, list | tuple) else [Tout]
    body = _Body(func, [dtypes.as_dtype(t) for t in types])
    return called(here(body), inp, Tout, name, "EagerPyFunc")


class _Body:
    """A function of arrays that calls the user's function of tensors.

    The graph of the last call is kept, for its gradient: a step computes that after the values.
    """

    def __init__(self, function: Callable[..., Any], types: Sequence[dtypes.DType]) -> None:
        self._function, self._types = function, types
        self._last: tuple[ImmediateGraph, list[Any], list[Any]] | None = None

    def __call__(self, *arrays: Any) -> Any:
        graph = ImmediateGraph()
        with graph.as_default():
            inputs = [constant(np.asarray(array)) for array in arrays]
            given = self._function(*inputs)
            outputs = self._outputs(given)
            values = graph.values_of(outputs)
        if self._last is not None:
            self._last[0].close()
        self._last = graph, inputs, outputs
        return values

    def _outputs(self, given: Any) -> list[Any]:
        if given is None:
            return []
        if not isinstance(given, list | tuple):
            given = [given]
        if len(given) != len(self._types):
            return [convert_to_tensor(one) for one in given]  # their number is refused
        return [convert_to_tensor(one, t) for one, t in zip(given, self._types, strict=True)]

    @here
    def backward(self, *arrays: Any) -> Any:
        """The gradients of the last call's inputs, given those and its outputs' gradients."""
        assert self._last is not None
        graph, inputs, outputs = self._last
        with graph.as_default():
            grads = [constant(np.asarray(array)) for array in arrays[len(inputs) :]]
            pairs = [(y, g) for y, g in zip(outputs, grads, strict=True) if y.dtype.is_floating]
            found = gradients([y for y, _ in pairs], inputs, [g for _, g in pairs])
            zeros = [np.zeros(x.shape.as_list(), x.dtype.as_numpy_dtype) for x in inputs]
            wanted = [g for g in found if g is not None]
            values = iter(graph.values_of([convert_to_tensor(g) for g in wanted]))
            return [z if g is None else next(values) for g, z in zip(found, zeros, strict=True)]
