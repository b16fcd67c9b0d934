"""Broadcasting as an op of its own: BroadcastTo, BroadcastArgs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
from penstock.ops.array.broadcasting import shape_of


def _broadcast_to_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.shape_value("shape")
    given = ctx["input"]
    if dims is None or given is None:
        return dims
    if len(given) > len(dims):
        raise ValueError(f"input has shape {show(given)}, which has more dims than {show(dims)}")
    for own, wanted in zip(reversed(given), reversed(dims), strict=False):
        if own not in (None, 1) and wanted is not None and own != wanted:
            text = (
                f"Dimensions must be equal, but are {own} and {wanted}: Incompatible shapes:"
                f" {show(given)} vs. {show(dims)}: input does not broadcast"
            )
            raise FailsAtRun(text, dims) if own == 0 else ValueError(text)
    # A dim that is not 1 cannot be repeated, so the result has it too.
    lead = len(dims) - len(given)
    known = [d if own in (None, 1) else own for own, d in zip(given, dims[lead:], strict=True)]
    return (*dims[:lead], *known)


def _broadcast_to(input: Any, shape: list[int]) -> Any:
    if isinstance(input, np.ndarray):
        return np.broadcast_to(input, shape)
    if any(d < 0 for d in shape):
        raise ValueError(f"shape {shape} has a negative dim")
    return input.expand(shape)


def _broadcast_to_grad(op: Any, grad: Any) -> list[Any]:
    value, target = op.inputs
    shape = shape_of(value)
    if target.dtype.base_dtype is not dtypes.int32:
        target = make("Cast", target, DstT=dtypes.int32)
    _, axes = make("BroadcastGradientArgs", target, shape)
    kept = make("Sum", grad, axes, keep_dims=True)
    return [make("Reshape", kept, shape), None]


define_op(
    "BroadcastTo",
    "input: T, shape: Tidx -> output: T",
    attrs=["T: type", "Tidx: {int32, int64} = int32"],
    shape=_broadcast_to_shape,
    kernel=_broadcast_to,
    host=("shape",),
    aliases=("input",),
    gradient=_broadcast_to_grad,
    moves=True,
)


def _broadcast_args(s0: list[int], s1: list[int], T: Any) -> Any:
    return torch.tensor(_broadcast_sizes(s0, s1), dtype=T)


def _broadcast_sizes(s0: Any, s1: Any) -> list[int]:
    """As ``np.broadcast_shapes``, of any numbers: TensorFlow does not ask for sizes."""
    sizes = []
    for a, b in itertools.zip_longest(reversed(list(s0)), reversed(list(s1)), fillvalue=1):
        if a != b and 1 not in (a, b):
            raise ValueError(
                f"Incompatible shapes: {list(s0)} vs. {list(s1)}: {a} and {b} do not broadcast"
            )
        sizes.append(int(b if a == 1 else a))
    return sizes[::-1]


def _broadcast_args_shape(ctx: ShapeContext) -> Dims:
    lengths = [ctx.rank(name, 1)[0] for name in ("s0", "s1")]
    return (None if None in lengths else max(n for n in lengths if n is not None),)


def _broadcast_args_fold(ctx: ShapeContext, s0: Any, s1: Any) -> Any:
    if s0 is None or s1 is None:
        return None
    try:
        return np.array(_broadcast_sizes(s0, s1), s0.dtype)
    except ValueError:
        return None  # for the run to say


define_op(
    "BroadcastArgs",
    "s0: T, s1: T -> r0: T",
    attrs=["T: {int32, int64} = int32"],
    shape=_broadcast_args_shape,
    kernel=_broadcast_args,
    host=("s0", "s1"),
    fold=_broadcast_args_fold,
    no_gradient="its output is a shape",
)


@static.partial_value("BroadcastArgs")
def _partly_known(ctx: ShapeContext) -> Dims:
    return shapes.broadcast_static(ctx.shape_value("s0"), ctx.shape_value("s1"))


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """``input`` repeated along dims of size 1 and new leading dims until it has ``shape``.

    Args:
      input: a tensor.
      shape: int32 or int64 vector.

    Returns:
      A tensor of the given shape.

    Raises:
      ValueError: ``input`` does not broadcast to ``shape``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.broadcast_to([1.0, 2.0], [3, 2]).shape.as_list()
      [3, 2]
    """
    return make("BroadcastTo", input, shape, name=name)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> shapes.TensorShape:
    """The shape that two static shapes broadcast to.

    Raises:
      ValueError: they do not broadcast.
    """
    first, second = shapes.as_shape(shape_x), shapes.as_shape(shape_y)
    return shapes.TensorShape(shapes.broadcast_static(first.sizes, second.sizes))


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that two shapes, given as int32 or int64 vectors, broadcast to, as a vector."""
    return make("BroadcastArgs", shape_x, shape_y)
