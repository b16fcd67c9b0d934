"""Sums of a list of tensors: AddN and AccumulateNV2."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch

from penstock.engine.resources import tensor_list
from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, merged
from penstock.ops.array import unsigned
from penstock.ops.math.binary import COMPLEX, FLOATS, part_by_part

# A longer sum is a loop: a line of thousands of terms would be more than Python's compiler takes.
_INLINE_TERMS = 8


def _sum_of(inputs: Sequence[Any]) -> Any:
    if isinstance(inputs[0], tensor_list.TensorList):
        return functools.reduce(tensor_list.add, inputs)
    dtype = inputs[0].dtype
    signed = unsigned.SIGNED.get(dtype)
    parts = list(inputs) if signed is None else [t.view(signed) for t in inputs]
    shape = parts[0].shape
    for part in parts:
        if part.shape != shape:
            found = ", ".join(str(list(p.shape)) for p in parts)
            raise ValueError(f"inputs must all have one shape; found {found}")
    if len(parts) == 1:
        total = parts[0].clone()
    elif dtype.is_complex:
        total = functools.reduce(functools.partial(part_by_part, torch.add), parts)
    else:
        total = torch.add(parts[0], parts[1])
        for part in parts[2:]:
            total.add_(part)
    return total if signed is None else total.view(dtype)


def _sum_inline(call: Any) -> str | None:
    tensors = call.tensors["inputs"]
    dims = tensors[0].sizes
    same = dims is not None and None not in dims and all(t.sizes == dims for t in tensors)
    if tensors[0].dtype is dtypes.variant or tensors[0].dtype.is_complex:
        return None
    if not same or tensors[0].dtype.base_dtype in unsigned.INDIRECT:
        return None
    if not 2 <= len(tensors) <= _INLINE_TERMS:
        return None
    first, second, *rest = call.arg["inputs"]
    return f"torch.add({first}, {second})" + "".join(f".add_({part})" for part in rest)


def _each_grad(op: Any, grad: Any) -> list[Any]:
    return [grad] * len(op.inputs)


def _accumulated_shape(ctx: ShapeContext) -> Dims:
    # The shape is what the node says; TF does not hold it against the inputs.
    merged("inputs")(ctx)
    return ctx.attr("shape").sizes


_SUMMED = (
    f"{FLOATS}, int32, uint8, int16, int8, {COMPLEX}, int64, qint8, quint8, qint32, uint16,"
    " uint32, uint64"
)
define_op(
    "AddN",
    "inputs: N * T -> sum: T",
    attrs=["N: int >= 1", f"T: {{{_SUMMED}, variant}}"],
    shape=merged("inputs"),
    kernel=_sum_of,
    inline=_sum_inline,
    gradient=_each_grad,
    commutative=True,
    flops=lambda at: math.prod(at.input(0)) * (len(at.op.inputs) - 1),
)
define_op(
    "AccumulateNV2",
    "inputs: N * T -> sum: T",
    attrs=["N: int >= 1", f"T: {{{_SUMMED}}}", "shape: shape"],
    shape=_accumulated_shape,
    kernel=_sum_of,
    inline=_sum_inline,
    gradient=_each_grad,
    commutative=True,
)


_ADDENDS = "inputs must be a list of at least one Tensor{} of one dtype and shape; found {!r}"


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of tensors of one shape.

    Args:
      inputs: list of tensors or IndexedSlices, of one type and shape.

    Returns:
      The sum; of a list of one without a name, that tensor itself.

    Raises:
      ValueError: an empty list, or shapes that differ.
      TypeError: types that differ.

    Example:
      >>> import penstock as tf
      >>> parts = [tf.constant([1.0, 2.0]), tf.constant([10.0, 20.0]), tf.constant([100.0, 200.0])]
      >>> with tf.Session() as session:
      ...     session.run(tf.add_n(parts)).tolist()
      [111.0, 222.0]
    """
    if not inputs or not isinstance(inputs, list | tuple):
        raise ValueError(f"add_n: {_ADDENDS.format('/IndexedSlices', inputs)}")
    if len(inputs) == 1:
        value = convert_to_tensor(inputs[0])
        return make("Identity", value, name=name) if name else value
    tensors = [t if isinstance(t, IndexedSlices) else convert_to_tensor(t) for t in inputs]
    return make("AddN", tensors, name=name)


def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The sum of tensors of one shape; like ``add_n``.

    Args:
      inputs: list of tensors of one type and shape.
      shape: expected shape, if it is not to be found from the inputs.
      tensor_dtype: expected element type.

    Returns:
      The sum; of a list of one without a name, that tensor itself.

    Raises:
      ValueError: an empty list, or shapes that differ.
      TypeError: ``tensor_dtype`` is not the type of the inputs.
    """
    if not inputs or not isinstance(inputs, list | tuple):
        raise ValueError(f"accumulate_n: {_ADDENDS.format('', inputs)}")
    tensors = [convert_to_tensor(t) for t in inputs]
    if any(t.dtype.base_dtype is not tensors[0].dtype.base_dtype for t in tensors):
        raise ValueError(f"accumulate_n: {_ADDENDS.format('', tensors)}")
    total = shapes.as_shape(shape)
    for tensor in tensors:
        total = total.merge_with(tensor.shape)
    wanted = None if tensor_dtype is None else dtypes.as_dtype(tensor_dtype)
    if wanted is not None and wanted is not tensors[0].dtype.base_dtype:
        raise TypeError(
            f"accumulate_n: tensor_dtype is {wanted.name}, but the inputs are of type"
            f" {tensors[0].dtype.name}"
        )
    if len(tensors) == 1:
        return make("Identity", tensors[0], name=name) if name else tensors[0]
    return make("AccumulateNV2", tensors, name=name, shape=total)
