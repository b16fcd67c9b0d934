"""Python's own functions over tensors: ``len``, ``range``, ``abs``, ``int`` and ``float``."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.ops.array.cast import cast
from penstock.ops.array.ranges import range_ as tensor_range
from penstock.ops.array.shape import shape
from penstock.ops.math.elementwise import abs_


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) and not get_default_graph().executes


def _len(value: Any) -> Any:
    """The first dim; a number where it is known.

    Raises:
      ValueError: of a scalar.
    """
    if isinstance(value, TensorArray):
        return value.size()
    if not _is_tensor(value):
        return len(value)
    if value.shape.ndims == 0:
        raise ValueError("len requires a non-scalar tensor, got one of shape []")
    known = None if value.shape.dims is None else value.shape.dims[0].value
    return shape(value)[0] if known is None else known


def _abs(value: Any) -> Any:
    return abs_(value) if _is_tensor(value) else abs(value)


def _int(value: Any = 0, *base: Any) -> Any:
    return cast(value, dtypes.int32) if _is_tensor(value) else int(value, *base)


def _float(value: Any = 0.0) -> Any:
    return cast(value, dtypes.float32) if _is_tensor(value) else float(value)


def _range(*args: Any) -> Any:
    return tensor_range(*args) if any(map(_is_tensor, args)) else builtins.range(*args)


OVERLOADS: dict[Any, Callable[..., Any]] = {
    len: _len, abs: _abs, int: _int, float: _float, builtins.range: _range,
}  # fmt: skip
