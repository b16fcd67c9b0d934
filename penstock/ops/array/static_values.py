"""What programs are told of values before anything runs: what TensorFlow 1.15's Python knows.

Its shape rules, which are C++, know more, as do the folds here (``foundation.opdef.static``).  What
a program learns of a value, and what an assertion refuses while the graph is built, is held to what
its Python sees through: the op types below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import shapes
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static

_ALWAYS = frozenset(("Const", "Rank", "Shape", "Size"))
_OF_INPUTS = frozenset(("Cast", "Concat", "ConcatV2", "Equal", "NotEqual", "Pack", "Range"))


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor where TensorFlow 1.15 knows it before running, else None.

    A tensor whose value was given may not be fed any more.

    Args:
      tensor: a tensor; anything else is its own value.
      partial: also give what is known of stacked tensors, with None for the rest.

    Returns:
      A NumPy array, or None.
    """
    if not isinstance(tensor, Tensor):
        return tensor
    value = seen_value(tensor, partial)
    return None if value is None else value.copy()


def get_static_shape(tensor: Any) -> TensorShape:
    """A tensor read as a shape: dims that are not known before running are unknown."""
    dims = static.constant_value_as_shape(convert_to_tensor(tensor), strict=False)
    return shapes.from_static(dims)


def seen_value(tensor: Tensor, partial: bool = False) -> np.ndarray | None:
    """``get_static_value`` of a tensor; the array must not be written to."""
    if tensor.has_value:
        return static.constant_value(tensor)
    value = _seen(tensor, partial)
    if value is not None:
        tensor.graph.prevent_feeding(tensor)
    return value


def _seen(tensor: Tensor, partial: bool) -> np.ndarray | None:
    op = tensor.op
    if op.type in _ALWAYS:
        return static.constant_value(tensor)
    if op.type == "Fill":
        return _filled(tensor.sizes, seen_value(op.inputs[1]))
    if op.type not in _OF_INPUTS or (op.type == "Pack" and op.attrs["axis"] != 0):
        return None
    partial = partial and op.type == "Pack"
    values = [seen_value(t, partial) for t in op.inputs]
    parts = [None if value is None else value.tolist() for value in values]
    if not partial:
        return None if None in parts else _folded(tensor, values)
    entries = np.array(parts, dtype=object)
    return entries if None in entries.ravel().tolist() else _folded(tensor, values)


def _folded(tensor: Tensor, values: list[np.ndarray | None]) -> np.ndarray | None:
    fold = tensor.op.op_def.fold
    assert fold is not None  # all op types of _OF_INPUTS have one
    try:
        result = fold(static.ShapeContext(tensor.op), *values)
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return None  # the node fails when it runs
    return None if result is None else np.asarray(result)


def _filled(dims: static.Dims, value: np.ndarray | None) -> np.ndarray | None:
    if dims is None or value is None:
        return None
    known = [dim for dim in dims if dim is not None]
    return np.full(known, value, value.dtype) if len(known) == len(dims) else None
