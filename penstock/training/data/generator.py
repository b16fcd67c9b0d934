"""Python generators as datasets: the functions that start, ask and end one.

State: the running generators by number, each until it ends or is given up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.control.py_func import here, iterating, py_func
from penstock.training.data import specs


class Source:
    """What a generator node calls.

    Args:
      function: returns something to iterate over.
      structure: nesting of specs of what it yields.
    """

    def __init__(self, function: Callable[..., Any], structure: Any) -> None:
        self._function, self.structure = function, structure
        self._lock = threading.Lock()
        self._running: dict[int, Iterator[Any]] = {}
        self._next = 0

    def start(self, *args: Tensor) -> Tensor:
        """The number of a new generator."""
        made: Tensor = py_func(self._start, list(args), dtypes.int64)
        made.set_shape([])
        return made

    @here
    def _start(self, *args: Any) -> np.int64:
        running = iterating(self._function, *args)
        with self._lock:
            self._next += 1
            self._running[self._next] = running
            return np.int64(self._next)

    def following(self, number: Tensor) -> Any:
        """The next element of a generator."""
        kinds, dims = specs.flat_types(self.structure), specs.flat_shapes(self.structure)
        flat = py_func(self._following, [number], kinds)
        for tensor, shape in zip(flat, dims, strict=True):
            tensor.set_shape(shape)
        return specs.pack(self.structure, flat)

    @here
    def _following(self, number: Any) -> tuple[Any, ...]:
        value = next(self._running[int(number)])
        try:
            flat = specs.flatten_as(self.structure, value)
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that did not match the expected structure. The"
                f" expected structure was {specs.legacy_types(self.structure)}, but the yielded"
                f" element was {value}."
            ) from None
        leaves = specs.flatten(self.structure)
        pairs = zip(flat, leaves, strict=True)
        return tuple([_array(v, spec.dtype, spec.shape, value) for v, spec in pairs])

    def final(self, number: Tensor) -> Any:
        """Gives a generator up."""
        return py_func(self._final, [number], dtypes.int64)

    @here
    def _final(self, number: Any) -> np.int64:
        running = self._running.pop(int(number), None)
        close = getattr(running, "close", None)
        if close is not None:
            close()
        return np.int64(0)


def _array(value: Any, dtype: dtypes.DType, shape: shapes.TensorShape, element: Any) -> Any:
    try:
        if dtype is dtypes.string:
            array = np.asarray(value, object)
        else:
            array = np.asarray(value)
            if array.dtype != dtype.as_numpy_dtype:
                array = _cast(array, value, dtype)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The"
            f" expected type was {dtype.name}, but the yielded element was {element}."
        ) from None
    if not shape.is_compatible_with(shapes.TensorShape(array.shape)):
        raise ValueError(
            f"`generator` yielded an element of shape {array.shape} where an element of shape"
            f" {shape} was expected."
        )
    return array


def _cast(array: np.ndarray, value: Any, dtype: dtypes.DType) -> np.ndarray:
    kind = np.dtype(dtype.as_numpy_dtype)
    if array.dtype == object or array.dtype.kind in "SU" or kind.kind == "b" != array.dtype.kind:
        raise TypeError
    if isinstance(value, np.ndarray | np.generic):
        # TF converts by `np.asarray(value, dtype)`, which an array survives with any kind.
        return np.asarray(value, kind)
    if array.size and array.dtype.kind in "fc" and kind.kind in "iu":
        raise TypeError
    return np.asarray(value, kind)
