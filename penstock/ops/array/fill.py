"""Tensors made from numbers: Fill, Range, LinSpace, and zeros and ones of a shape.

Small zeros and ones are constants and big ones are Fill nodes, so that graphs stay small.
TensorFlow 1.15 with an old NumPy leaves two dead nodes (``zeros/mul``, ``zeros/Less``) where the
shape is a list that holds tensors, and with a new one refuses such a list; neither is followed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.foundation.opdef.opdef import torch_dtype_name
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import constant as constant_ops, shape as shape_ops
from penstock.ops.math import reduction

_INDEX = "{int32, int64}"
_SMALL = 1000


# ---- Fill ------------------------------------------------------------------------------------


def _fill_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("dims", 1)
    ctx.rank("value", 0)
    value = ctx.value("dims")
    if value is not None and (value < 0).any():
        raise ValueError(
            f"Fill dimensions must be >= 0: dims must not be negative; found {value.tolist()}"
        )
    return ctx.shape_value("dims")


def _fold_fill(ctx: ShapeContext, dims: Any, value: Any) -> np.ndarray | None:
    if dims is None or value is None:
        return None
    return np.full(dims.tolist(), value[()], value.dtype)


def _fill_kernel(dims: Any, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.full(dims, value[()], dtype=object)
    # A stride-0 expand would be free, but consumers want memory of their own to overwrite.
    return torch.empty(dims, dtype=value.dtype, device=value.device).fill_(value)


def _fill_inline(call: Any) -> str | None:
    value = call.value("value")
    dtype = call.dtype("value")
    if value is None or value.size != 1 or value.dtype.kind not in "fiub":
        return None
    number = value.item()
    if isinstance(number, float) and not math.isfinite(number):
        return None
    kind = torch_dtype_name(dtype)
    if number in (0, 1) and not (number == 0 and math.copysign(1, number) < 0):
        return f"torch.{'ones' if number else 'zeros'}({call.arg['dims']}, dtype={kind})"
    return f"torch.full({call.arg['dims']}, {literal(number)}, dtype={kind})"


define_op(
    "Fill",
    "dims: index_type, value: T -> output: T",
    attrs=["T: type", f"index_type: {_INDEX} = int32"],
    shape=_fill_shape,
    kernel=_fill_kernel,
    inline=_fill_inline,
    fold=_fold_fill,
    host=("dims",),
    gradient=lambda op, grad: [None, _sum_all(grad)],
    on_host=True,
    moves=True,
)


def _sum_all(grad: Tensor) -> Tensor:
    return reduction.reduce_sum(grad)


# ---- Range -----------------------------------------------------------------------------------


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


# ---- LinSpace --------------------------------------------------------------------------------


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


# ---- public functions ------------------------------------------------------------------------


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of one value everywhere.

    Args:
      dims: int32 or int64 vector, the shape.
      value: scalar.

    Returns:
      Tensor of shape ``dims`` and the type of ``value``.
    """
    return make("Fill", dims, value, name=name)


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


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Zeros (False, empty strings) of a shape.

    Args:
      shape: list of ints, TensorShape, or integer vector tensor.
      dtype: element type.

    Returns:
      Tensor of ``shape`` and ``dtype``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.zeros([2, 3]).shape.as_list()
      [2, 3]
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    empty = False if kind is dtypes.bool else "" if kind is dtypes.string else 0
    with name_scope(name, "zeros", [shape]) as scope:
        return _of_shape(empty, shape, kind, scope)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Ones (True) of a shape.

    Args:
      shape: list of ints, TensorShape, or integer vector tensor.
      dtype: element type; not string.

    Returns:
      Tensor of ``shape`` and ``dtype``.
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "ones", [shape]) as scope:
        return _of_shape(kind is dtypes.bool or 1, shape, kind, scope)


def _of_shape(value: Any, shape: Any, dtype: dtypes.DType, scope: str) -> Tensor:
    if not isinstance(shape, Tensor):
        try:
            dims = shapes.as_shape(shape)
        except (TypeError, ValueError):
            dims = None
        if dims is not None and dims.is_fully_defined():
            # A bare number is no list of dims: TensorFlow does not store the result.
            listed = isinstance(shape, shapes.TensorShape) or np.ndim(shape) > 0
            if listed and math.prod(dims.as_list()) < _SMALL:
                return constant_ops.constant(value, dtype, dims, scope)
            shape = convert_to_tensor(dims)
        else:
            shape = convert_to_tensor(shape, dtypes.int32)
    if not shape.sizes:  # a scalar, or of unknown rank
        shape = make("Reshape", shape, [-1])
    return fill(shape, constant_ops.constant(value, dtype), name=scope)
