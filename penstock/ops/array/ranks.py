"""The number of dims and of elements of a tensor, as tensors; constants where they are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import constant as make_constant, make
from penstock.foundation.graph.composite import SparseTensor, SparseTensorValue
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, scalar
from penstock.ops.array.shape import INDEX, cast_to


def _fold_rank(ctx: ShapeContext, *_: Any) -> np.ndarray | None:
    dims = ctx.shape("input")
    return None if dims is None else np.array(len(dims), np.int32)


def _fold_size(ctx: ShapeContext, *_: Any) -> np.ndarray | None:
    count = shapes.num_elements_static(ctx.shape("input"))
    return None if count is None else np.array(count, ctx.attr("out_type").as_numpy_dtype)


def _rank_kernel(input: Any) -> torch.Tensor:
    return torch.tensor(input.ndim, dtype=torch.int32)


def _size_kernel(input: Any, out_type: Any) -> torch.Tensor:
    count = input.size if isinstance(input, np.ndarray) else input.numel()
    return torch.tensor(count, dtype=out_type)


define_op(
    "Rank",
    "input: T -> output: int32",
    attrs=["T: type"],
    shape=scalar,
    kernel=_rank_kernel,
    fold=_fold_rank,
    gradient=lambda op, grad: None,
    on_host=True,
    role="shape",
)


define_op(
    "Size",
    "input: T -> output: out_type",
    attrs=["T: type", f"out_type: {INDEX} = int32"],
    shape=scalar,
    kernel=_size_kernel,
    fold=_fold_size,
    gradient=lambda op, grad: None,
    on_host=True,
    role="shape",
)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dims of a tensor, as an int32 scalar.

    Args:
      input: Tensor, SparseTensor or SparseTensorValue.

    Returns:
      int32 scalar; a constant when the rank is known.
    """
    with name_scope(name, "Rank", [input]) as scope:
        if isinstance(input, SparseTensor | SparseTensorValue):
            input = SparseTensor.from_value(input)
            return size(input.dense_shape, name=scope)
        tensor = convert_to_tensor(input)
        if tensor.sizes is not None:
            return make_constant(np.int32(len(tensor.sizes)), dtypes.int32, scope)
        return make("Rank", tensor, name=scope)


def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The number of elements of a tensor, as a scalar.

    Args:
      input: Tensor, SparseTensor or SparseTensorValue.
      out_type: int32 or int64.

    Returns:
      Scalar of ``out_type``.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     int(session.run(tf.size(tf.zeros([2, 3, 4]))))
      24
    """
    return size_internal(input, name, True, out_type)


def size_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32
) -> Tensor:
    """``size``, or the op of that name even where the size is known, as ``array_ops`` has it."""
    out_type = dtypes.as_dtype(out_type)
    with name_scope(name, "Size", [input]) as scope:
        if isinstance(input, SparseTensor | SparseTensorValue):
            input = SparseTensor.from_value(input)
            dense = cast_to(input.dense_shape, out_type)
            return make("Prod", dense, [0], name=scope)
        tensor = convert_to_tensor(input)
        count = shapes.num_elements_static(tensor.sizes)
        if optimize and count is not None:
            return make_constant(np.array(count), out_type, scope)
        return make("Size", tensor, name=scope, out_type=out_type)
