"""Dims of size 1 dropped: Squeeze."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array.reshape import one_of, reshape_back


def _squeeze_axes(axes: list[int], rank: int) -> set[int]:
    for place, axis in enumerate(axes):
        if not -rank <= axis < rank:
            raise ValueError(
                f"squeeze_dims[{place}] not in [{-rank},{rank}).: squeeze dim {axis} is not there"
            )
    return {axis % rank for axis in axes}


def _squeeze_shape(ctx: ShapeContext) -> Dims:
    dims, axes = ctx["input"], ctx.attr("squeeze_dims")
    if dims is None or (not axes and None in dims):
        return None
    chosen = _squeeze_axes(axes, len(dims))
    for axis in chosen:
        if dims[axis] not in (1, None):
            raise ValueError(
                f"Can not squeeze dim[{axis}], expected a dimension of 1, got {dims[axis]}: dim"
                f" {axis} of an input of shape {show(dims)} is not 1"
            )
    if axes:
        return tuple(d for i, d in enumerate(dims) if i not in chosen)
    return tuple(d for d in dims if d != 1)


def _fold_squeeze(ctx: ShapeContext, value: Any) -> np.ndarray | None:
    if value is None:
        return None
    return np.squeeze(value, _named_once(ctx.attr("squeeze_dims"), value.ndim) or None)


def _named_once(axes: list[int], rank: int) -> tuple[int, ...]:
    """The axes, each once: TensorFlow lets them be named again, NumPy and torch do not."""
    return tuple(axes) if len(axes) < 2 else tuple(dict.fromkeys(a % rank for a in axes))


def _squeeze_kernel(input: Any, squeeze_dims: Any) -> Any:
    dims = input.shape
    chosen = _squeeze_axes(squeeze_dims, len(dims))
    for axis in chosen:
        if dims[axis] != 1:
            raise ValueError(f"squeeze of dim {axis}: its size is {dims[axis]}, not 1")
    axes = _named_once(squeeze_dims, len(dims))
    if isinstance(input, np.ndarray):
        return np.squeeze(input, axes or None)
    return input.squeeze(axes) if axes else input.squeeze()


def _squeeze_inline(call: Any) -> str | None:
    dims, axes = call.dims("input"), call.attr("squeeze_dims")
    if dims is None or not axes or call.dtype("input").name == "string":
        return None
    if any(dims[axis] != 1 for axis in axes):
        return None
    named = _named_once(axes, len(dims))
    chosen = named[0] if len(named) == 1 else named
    return f"{call.arg['input']}.squeeze({literal(chosen)})"


define_op(
    "Squeeze",
    "input: T -> output: T",
    attrs=["T: type", "squeeze_dims: list(int) = []"],
    shape=_squeeze_shape,
    kernel=_squeeze_kernel,
    inline=_squeeze_inline,
    fold=_fold_squeeze,
    aliases=("input",),
    gradient=reshape_back,
    moves=True,
)


def squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Tensor:
    """``input`` without dims of size 1.

    Args:
      input: a tensor.
      axis: int or list of ints, the dims to remove; by default all of size 1.
      squeeze_dims: deprecated synonym of ``axis``.

    Returns:
      A tensor with the same elements.

    Raises:
      ValueError: a named dim is not of size 1.

    Example:
      >>> import penstock as tf
      >>> x = tf.zeros([1, 3, 1])
      >>> tf.squeeze(x).shape.as_list(), tf.squeeze(x, [0]).shape.as_list()
      ([3], [3, 1])
    """
    axis = one_of("axis", axis, "squeeze_dims", squeeze_dims)
    axes = [] if axis is None else [axis] if np.isscalar(axis) else axis
    if not isinstance(axes, list | tuple):
        raise TypeError(
            f"Expected list for 'axis' argument to 'squeeze' Op, not {axis!r}: an int or a list of"
            " ints is allowed"
        )
    return make("Squeeze", input, name=name, squeeze_dims=[int(a) for a in axes])
