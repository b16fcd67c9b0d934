"""Numbers at equal distances: Range, LinSpace."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array import shape as shape_ops

_INDEX = "{int32, int64}"


def _range_size(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise ValueError("Requires delta != 0: 0: delta of a range must not be 0")
    if (delta > 0 and start > limit) or (delta < 0 and start < limit):
        sign, side = ("<=", ">") if delta > 0 else (">=", "<")
        raise ValueError(
            f"Requires start {sign} limit when delta {side} 0: {start}/{limit}: delta is {delta}"
        )
    if isinstance(start, int):
        return -((start - limit) // delta)
    return math.ceil(abs((limit - start) / delta))


def _range_shape(ctx: ShapeContext) -> Dims:
    for name in ("start", "limit", "delta"):
        ctx.rank(name, 0)
    values = [ctx.value(n) for n in ("start", "limit", "delta")]
    if any(v is None for v in values):
        return (None,)
    return (_range_size(*[v.item() for v in values]),)  # type: ignore[union-attr]


def _fold_range(ctx: ShapeContext, *values: Any) -> np.ndarray | None:
    if any(v is None for v in values):
        return None
    start, limit, delta = (v.item() for v in values)
    count = np.arange(_range_size(start, limit, delta), dtype=values[0].dtype)
    # NumPy widens bfloat16 times a number.
    return (start + delta * count).astype(values[0].dtype)


def _range_kernel(start: Any, limit: Any, delta: Any, Tidx: Any) -> torch.Tensor:
    count = _range_size(start, limit, delta)
    if Tidx in (torch.int32, torch.int64):
        return torch.arange(start, start + delta * count, delta, dtype=Tidx)
    steps = torch.arange(count, dtype=Tidx)
    return steps.mul_(delta).add_(start)


define_op(
    "Range",
    "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
    attrs=["Tidx: {bfloat16, float, double, int32, int64} = int32"],
    shape=_range_shape,
    kernel=_range_kernel,
    fold=_fold_range,
    host=("start", "limit", "delta"),
    no_gradient="its length is not differentiable; TensorFlow has none either",
    on_host=True,
)


def _linspace_shape(ctx: ShapeContext) -> Dims:
    for name in ("start", "stop", "num"):
        ctx.rank(name, 0)
    num = ctx.value("num")
    if num is None:
        return (None,)
    if num <= 0:
        raise ValueError(f"Requires num > 0: {num}: num of a linspace")
    return (int(num),)


def _linspace_kernel(start: Any, stop: Any, num: Any, T: Any) -> torch.Tensor:
    if num <= 0:
        raise ValueError(f"Requires num > 0: {num}: num of a linspace")
    if num == 1:
        return torch.full((1,), start, dtype=T)
    step = (stop - start) / (num - 1)
    result = torch.arange(num, dtype=T).mul_(step).add_(start)
    result[0], result[-1] = start, stop
    return result


define_op(
    "LinSpace",
    "start: T, stop: T, num: Tidx -> output: T",
    attrs=["T: {bfloat16, float, double}", f"Tidx: {_INDEX} = int32"],
    shape=_linspace_shape,
    kernel=_linspace_kernel,
    host=("start", "stop", "num"),
    no_gradient="TensorFlow has none",
    on_host=True,
)


_HIERARCHY = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def range_(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Tensor:
    """Numbers from ``start`` (0 if only one number is given) to below ``limit``.

    Args:
      start: scalar; the limit when ``limit`` is None.
      limit: scalar.
      delta: scalar, the step.
      dtype: int32, int64, float32 or float64; by default the widest of the arguments.

    Returns:
      1-D tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.range(3, 18, 3).shape.as_list()
      [5]
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        given = {"start": start, "limit": limit, "delta": delta}
        parts = [convert_to_tensor(v, dtype, n) for n, v in given.items()]
        if dtype is None:
            kinds = [p.dtype.base_dtype for p in parts]
            for kind in kinds:
                if kind not in _HIERARCHY:
                    raise TypeError(
                        f"range: arguments may be {[d.name for d in _HIERARCHY]}; found {kind.name}"
                    )
            widest = max(kinds, key=_HIERARCHY.index)
            parts = [shape_ops.cast_to(p, widest) for p in parts]
        return make("Range", *parts, name=scope)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, both included.

    Args:
      start: floating scalar.
      stop: scalar of that type.
      num: positive integer scalar.

    Returns:
      1-D tensor of ``num`` elements.
    """
    return make("LinSpace", start, stop, num, name=name)


lin_space = linspace
