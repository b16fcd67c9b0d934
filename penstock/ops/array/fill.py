"""Tensors of one number: Fill, and zeros and ones of a shape.

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
from penstock.ops.array import constant as constant_ops
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


# ---- public functions ------------------------------------------------------------------------


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of one value everywhere.

    Args:
      dims: int32 or int64 vector, the shape.
      value: scalar.

    Returns:
      Tensor of shape ``dims`` and the type of ``value``.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     session.run(tf.fill([2, 3], 7)).tolist()
      [[7, 7, 7], [7, 7, 7]]
    """
    return make("Fill", dims, value, name=name)


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

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     session.run(tf.ones([2, 3], tf.int32)).tolist()
      [[1, 1, 1], [1, 1, 1]]
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
