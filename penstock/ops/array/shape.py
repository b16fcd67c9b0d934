"""Shapes of tensors, as tensors.

What is statically known never reaches the graph as an op: ``shape`` of a fully known tensor is a
constant, as in TensorFlow 1.15, and the folds here let shape rules see through what remains.  The
kernels make small host tensors, which the consumers of shapes want anyway.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant as make_constant, make
from penstock.foundation.graph.composite import SparseTensor, SparseTensorValue
from penstock.foundation.graph.convert import convert_n_to_tensor, convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext

INDEX = "{int32, int64}"


# ---- Shape, ShapeN ---------------------------------------------------------------------------


def _vector_of_rank(dims: Dims) -> Dims:
    return (None if dims is None else len(dims),)


def _fold_shape(ctx: ShapeContext, *_: Any) -> np.ndarray | None:
    dims = ctx.shape("input")
    if dims is None or None in dims:
        return None
    return np.array(dims, ctx.attr("out_type").as_numpy_dtype)


def _fold_shape_n(ctx: ShapeContext, *_: Any) -> list[np.ndarray | None]:
    dtype = ctx.attr("out_type").as_numpy_dtype
    return [
        None if dims is None or None in dims else np.array(dims, dtype) for dims in ctx["input"]
    ]


def _shape_n_kernel(input: Any, out_type: Any) -> list[torch.Tensor]:
    return [torch.tensor(one.shape, dtype=out_type) for one in input]


define_op(
    "Shape",
    "input: T -> output: out_type",
    attrs=["T: type", f"out_type: {INDEX} = int32"],
    shape=lambda ctx: _vector_of_rank(ctx["input"]),
    kernel="torch.tensor({input}.shape, dtype={out_type})",
    fold=_fold_shape,
    gradient=lambda op, grad: None,
    on_host=True,
    role="shape",
)
static.partial_value("Shape")(lambda ctx: ctx.shape("input"))

define_op(
    "ShapeN",
    "input: N * T -> output: N * out_type",
    attrs=["N: int >= 1", "T: type", f"out_type: {INDEX} = int32"],
    shape=lambda ctx: [_vector_of_rank(dims) for dims in ctx["input"]],
    kernel=_shape_n_kernel,
    fold=_fold_shape_n,
    gradient=lambda op, *grads: [None] * len(op.inputs),
    on_host=True,
)


# ---- public functions ------------------------------------------------------------------------


def shape(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The shape of a tensor, as a 1-D tensor.

    Args:
      input: Tensor, SparseTensor or SparseTensorValue.
      out_type: int32 or int64.

    Returns:
      Tensor of ``out_type`` with one element a dim.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.shape(tf.zeros([2, 3])).op.type
      'Const'
    """
    return shape_internal(input, name, True, out_type)


def shape_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32
) -> Tensor:
    """``shape``, or the op of that name even where the shape is known, as ``array_ops`` has it."""
    out_type = dtypes.as_dtype(out_type)
    with name_scope(name, "Shape", [input]) as scope:
        if isinstance(input, SparseTensor | SparseTensorValue):
            input = SparseTensor.from_value(input)
            return cast_to(input.dense_shape, out_type)
        tensor = convert_to_tensor(input)
        dims = tensor.sizes
        if optimize and dims is not None and None not in dims:
            return make_constant(np.array(dims, out_type.as_numpy_dtype), out_type, scope)
        return make("Shape", tensor, name=scope, out_type=out_type)


def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors.

    Args:
      input: list of tensors of one type.
      out_type: int32 or int64.

    Returns:
      A list of 1-D tensors.
    """
    return make("ShapeN", input, name=name, out_type=out_type)


def cast_to(tensor: Tensor, dtype: Any) -> Tensor:
    """``tensor`` as ``dtype``: itself when it is of that type, else a Cast node."""
    dtype = dtypes.as_dtype(dtype)
    if tensor.dtype.base_dtype is dtype:
        return tensor
    return make("Cast", tensor, DstT=dtype)


def known_shapes(tensors: list[Any]) -> list[Tensor]:
    """Shapes of several tensors for a gradient: constants where all are known, else one ShapeN."""
    found = []
    for tensor in tensors:
        one = shape(tensor)
        if one.op_type not in ("Const", ""):
            return shape_n(convert_n_to_tensor(tensors))
        found.append(one)
    return found
