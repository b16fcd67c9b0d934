"""Static values: what a tensor is known to hold while the graph is being built.

Shape rules need the values of small tensors (a reshape's target, a reduction's axes).  An op takes
part by giving a ``fold`` in its definition (all of a value) or by registering with
``partial_value`` (a shape vector of which some entries are known).  Values are kept on the tensor,
which is sound because nodes do not change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from penstock.graph.tensor import Tensor

Dims = tuple[int | None, ...] | None
UNSET: Any = object()
_MAX_FOLDED = 1 << 16
_PARTIAL: dict[str, Callable[[Any], Dims]] = {}


def partial_value(op_type: str) -> Callable[[Callable[[Any], Dims]], Callable[[Any], Dims]]:
    """Registers how ``op_type`` gives a partly known shape vector: ``rule(ctx) -> dims``."""

    def register(rule: Callable[[Any], Dims]) -> Callable[[Any], Dims]:
        _PARTIAL[op_type] = rule
        return rule

    return register


def elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A ``fold`` that applies a NumPy function when every input is known."""

    def fold(ctx: Any, *values: np.ndarray | None) -> np.ndarray | None:
        if any(v is None or v.dtype.fields for v in values):  # NumPy computes with none of these
            return None
        with np.errstate(all="ignore"):
            result = np.asarray(function(*values))
        return result.astype(ctx.op.outputs[0].dtype.as_numpy_dtype, copy=False)

    return fold


def constant_value(tensor: Tensor) -> np.ndarray | None:
    """The statically known value of ``tensor``, or None.

    The array must not be written to.
    """
    value = tensor.static_value
    if value is UNSET:
        value = tensor.static_value = _evaluate(tensor)
    return value  # type: ignore[no-any-return]


def _evaluate(tensor: Tensor) -> np.ndarray | None:
    from penstock.opdef.inference import ShapeContext

    op = tensor.op
    fold = op.op_def.fold
    if fold is None:
        return None
    size = 1
    for dim in tensor.sizes or ():
        size *= dim or 1
    if size > _MAX_FOLDED and op.inputs:
        return None
    values = [constant_value(t) for t in op.inputs]
    try:
        result = fold(ShapeContext(op), *values)
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return None  # the node fails when it runs, if it runs, and says so then
    if op.op_def.has_list_output or len(op.outputs) > 1:
        result = None if result is None else result[tensor.value_index]
    return None if result is None else np.asarray(result)


def constant_value_as_shape(tensor: Tensor, strict: bool = True) -> Dims:
    """``tensor`` read as a shape: a tuple with None for unknown dims, None for unknown rank.

    A value of -1 stands for an unknown dim.  A smaller one is refused, as TensorFlow's shape rules
    do; its Python, ``strict=False``, takes it for an unknown dim, too.
    """
    from penstock.opdef.inference import ShapeContext

    value = constant_value(tensor)
    if value is not None:
        if value.ndim == 0:
            if value == -1:
                return None
            raise ValueError(
                f"Shape must be rank 1 but is rank 0: {tensor.name} is used as a shape, but is the"
                f" scalar {value}"
            )
        if value.ndim > 1:
            raise ValueError(
                f"Shape must be rank 1 but is rank {value.ndim}: {tensor.name} is used as a shape"
            )
        if strict and value.size and value.min() < -1:
            raise ValueError(
                f"Invalid value in tensor used for shape: {int(value.min())}: {tensor.name} holds"
                f" {value.tolist()}; -1 stands for an unknown dim"
            )
        return tuple(None if d < 0 else int(d) for d in value.tolist())
    if tensor.sizes is not None and len(tensor.sizes) > 1:
        raise ValueError(
            f"Shape must be rank 1 but is rank {len(tensor.sizes)}: {tensor.name} is used as a"
            " shape"
        )
    rule = _PARTIAL.get(tensor.op.type)
    dims = rule(ShapeContext(tensor.op)) if rule is not None and tensor.value_index == 0 else None
    if dims is None and tensor.sizes is not None and len(tensor.sizes) == 1:
        rank = tensor.sizes[0]
        return None if rank is None else (None,) * rank
    return dims
