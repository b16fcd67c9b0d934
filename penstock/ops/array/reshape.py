"""Reshape and ExpandDims: the same elements under another shape.

Both are views at run time.  The shape rule of Reshape finds the one missing dim (``-1``) when the
rest is known, as TensorFlow's does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.graph.build import make, one_operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import shape as shape_ops

_INDEX = "{int32, int64}"


# ---- Reshape ---------------------------------------------------------------------------------


def _known_part(dims: tuple[int | None, ...]) -> tuple[int, list[int]]:
    """Product of the known dims, and where the unknown ones are; none where some dim is 0."""
    if 0 in dims:
        return 0, []
    known, unknown = 1, []
    for index, dim in enumerate(dims):
        if dim is None:
            unknown.append(index)
        else:
            known *= dim
    return known, unknown


def _reshape_shape(ctx: ShapeContext) -> Dims:
    wanted, given = ctx.shape_value("shape"), ctx["tensor"]
    if wanted is None or given is None:
        return wanted
    have, have_unknown = _known_part(given)
    want, want_unknown = _known_part(wanted)
    if len(have_unknown) > 1 or len(want_unknown) > 1:
        return wanted
    if not have_unknown and not want_unknown:
        fits = have == want
    elif not have_unknown and want > 0:
        if have % want:
            raise ValueError(
                f"Dimension size must be evenly divisible by {want} but is {have}: a tensor of"
                f" shape {show(given)} cannot be reshaped to {show(wanted)}"
            )
        fits = True
        hole = want_unknown[0]
        wanted = (*wanted[:hole], have // want, *wanted[hole + 1 :])
    elif not want_unknown and have > 0:
        fits = want % have == 0
    else:
        fits = True
    if not fits:
        said = f"a tensor of shape {show(given)} cannot be reshaped to {show(wanted)}"
        if not have_unknown and not want_unknown:
            said = (
                f"Cannot reshape a tensor with {have} elements to shape {show(wanted)} ({want}"
                f" elements): Input to reshape is a tensor with {have} values, but the requested"
                f" shape has {want}: {said}"
            )
        raise ValueError(said)
    return wanted


def _fold_reshape(ctx: ShapeContext, tensor: Any, shape: Any) -> np.ndarray | None:
    if tensor is None or shape is None:
        return None
    return _reshape_kernel(tensor, shape.tolist())


def _reshape_kernel(tensor: Any, shape: Any) -> Any:
    if -1 in shape and 0 in shape:
        # TensorFlow leaves dims of size 0 out where it solves for the open one; ATen refuses.
        known = math.prod(d for d in shape if d > 0)
        size = math.prod(d for d in tensor.shape if d)
        shape = [size // known if d == -1 else d for d in shape]
    # Both torch tensors and string arrays have a method of that name.
    return tensor.reshape(shape)


def _reshape_inline(call: Any) -> str | None:
    value = call.value("shape")
    if value is not None and (value == 0).any() and (value == -1).any():
        return None
    return "{tensor}.reshape({shape})".format(**call.arg) if value is not None else None


def _reshape_grad(op: Any, grad: Tensor) -> list[Any]:
    return [reshape(grad, shape_ops.shape(op.inputs[0])), None]


define_op(
    "Reshape",
    "tensor: T, shape: Tshape -> output: T",
    attrs=["T: type", f"Tshape: {_INDEX} = int32"],
    shape=_reshape_shape,
    kernel=_reshape_kernel,
    inline=_reshape_inline,
    fold=_fold_reshape,
    host=("shape",),
    aliases=("tensor",),
    gradient=_reshape_grad,
    moves=True,
)


def partial_reshape(ctx: ShapeContext) -> Dims:
    """A known vector stays one when only its form is restated, as ``reshape(x, [-1])`` does."""
    dims = ctx["tensor"]
    if dims is None or len(dims) != 1 or len(ctx.op.outputs[0].sizes or ()) != 1:
        return None
    return ctx.shape_value("tensor")


static.partial_value("Reshape")(partial_reshape)


# ---- ExpandDims ------------------------------------------------------------------------------


def _expand_shape(ctx: ShapeContext) -> Dims:
    dims, value = ctx["input"], ctx.value("dim")
    if dims is None:
        return None
    if value is None:
        return None
    if value.size != 1:
        raise ValueError(
            "'dim' input must be a tensor with a single value:"
            f" dim must be one number; found {value.tolist()}"
        )
    axis = int(value.reshape(()))
    if not -len(dims) - 1 <= axis <= len(dims):
        raise ValueError(
            f"dim {axis} not in the interval [{-len(dims) - 1}, {len(dims)}]: Tried to expand dim"
            f" index {axis} for tensor with {len(dims)} dimensions: input has shape {show(dims)}"
        )
    axis += len(dims) + 1 if axis < 0 else 0
    return (*dims[:axis], 1, *dims[axis:])


def _fold_expand(ctx: ShapeContext, value: Any, dim: Any) -> np.ndarray | None:
    if value is None or dim is None:
        return None
    return np.expand_dims(value, int(dim.reshape(())))


def _expand_kernel(input: Any, dim: Any) -> Any:
    while isinstance(dim, list):
        (dim,) = dim
    if isinstance(input, np.ndarray):
        return np.expand_dims(input, dim)
    return input.unsqueeze(dim)


def _expand_inline(call: Any) -> str | None:
    value = call.value("dim")
    if value is None or call.dtype("input").name == "string":
        return None
    return f"{call.arg['input']}.unsqueeze({int(value.reshape(()))})"


def reshape_back(op: Any, grad: Tensor) -> Tensor:
    return reshape(grad, shape_ops.shape(op.inputs[0]))


define_op(
    "ExpandDims",
    "input: T, dim: Tdim -> output: T",
    attrs=["T: type", f"Tdim: {_INDEX} = int32"],
    shape=_expand_shape,
    kernel=_expand_kernel,
    inline=_expand_inline,
    fold=_fold_expand,
    host=("dim",),
    aliases=("input",),
    gradient=lambda op, grad: [reshape_back(op, grad), None],
    moves=True,
)


# ---- public functions ------------------------------------------------------------------------


@one_operation
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of ``tensor``, in the same order, under another shape.

    Args:
      tensor: a tensor.
      shape: int32 or int64 vector; one dim may be -1 and is then computed.

    Returns:
      Tensor of ``shape``.

    Raises:
      ValueError: the numbers of elements differ.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.reshape(tf.zeros([2, 6]), [3, -1]).shape.as_list()
      [3, 4]
    """
    return make("Reshape", tensor, shape, name=name)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """``input`` with a dim of size 1 put in at ``axis``.

    Args:
      input: a tensor.
      axis: where, in [-rank-1, rank].
      dim: deprecated synonym of ``axis``.

    Returns:
      A tensor of one dim more.

    Example:
      >>> import penstock as tf
      >>> image = tf.zeros([28, 28, 3])
      >>> tf.expand_dims(image, 0).shape.as_list(), tf.expand_dims(image, -1).shape.as_list()
      ([1, 28, 28, 3], [28, 28, 3, 1])
    """
    axis = one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError(
            "Must specify an axis argument to tf.expand_dims(): expand_dims: axis must be given"
        )
    return make("ExpandDims", input, axis, name=name)


def one_of(name: str, value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that has a deprecated synonym."""
    if value is not None and old_value is not None:
        raise ValueError(
            f"Cannot specify both {old_name!r} and {name!r}:"
            f" both {name!r} and its deprecated synonym {old_name!r} are given"
        )
    return old_value if value is None else value
