"""Constants that are made where they are used, again and again: a number, a short list.

Each is a tensor of its own, as a tape watches one and not another; those of equal values share
their memory, which nothing changes.

State: the values of small constants.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.engine.runtime import values
from penstock.engine.runtime.program import InferenceMode
from penstock.foundation.base import dtypes
from penstock.library.eager.tensor import EagerTensor, eager_tensor

_new = object.__new__
_MOST_KEPT = 1 << 12
_MOST_ELEMENTS = 8


class Constants:
    """The values of small constants, by what they are of."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, dtypes.DType]] = {}

    def of_number(
        self, value: Any, dtype: Any, array_of: Callable[[Any, Any], np.ndarray]
    ) -> EagerTensor:
        """A new tensor of a Python number; see ``Graph.number_apart``."""
        kind = id(dtype) if type(dtype) is dtypes.DType else dtype
        # 0.0 and -0.0 are equal, and so are 0 and False; what takes an array may do so modulo.
        key = (type(value), value or repr(value), kind, array_of)
        found = self._known.get(key)
        if found is None:
            array = array_of(value, dtype)
            made = self.of_array(array, array.dtype if dtype is None else dtype)
            found = self._keep(key, made.value, made.dtype)
        tensor = _new(EagerTensor)
        tensor.value, tensor.dtype = found
        return tensor

    def of_array(self, value: Any, dtype: Any) -> EagerTensor:
        """A new tensor of an array."""
        array = np.asarray(value)
        kind = dtypes.as_dtype(dtype).base_dtype
        if array.size > _MOST_ELEMENTS or array.dtype.kind not in "biufc":
            return eager_tensor(_copy_of(array), kind)
        key = (id(kind), array.dtype.char, array.shape, array.tobytes())
        found = self._known.get(key) or self._keep(key, _copy_of(array), kind)
        return eager_tensor(*found)

    def _keep(self, key: Any, value: Any, dtype: dtypes.DType) -> tuple[Any, dtypes.DType]:
        if len(self._known) > _MOST_KEPT:
            self._known.clear()
        self._known[key] = found = value, dtype
        return found


def _copy_of(array: np.ndarray) -> Any:
    guard = InferenceMode(True)
    try:
        return values.from_array(array, copy=True)
    finally:
        del guard
