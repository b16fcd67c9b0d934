"""Positions of extrema: ArgMax and ArgMin."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make, one_operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array.unsigned import BARE_UNSIGNED, to_ordered_int64
from penstock.ops.math.reduction import NUMBERS, TIDX, renamed


def _arg_shape(ctx: ShapeContext) -> Dims:
    dims, axis = ctx["input"], ctx.value("dimension")
    ctx.rank("dimension", 0)
    if dims is None:
        return None
    if len(dims) <= 1:
        return ()
    if axis is None:
        return (None,) * (len(dims) - 1)
    axis = int(axis)
    if not -len(dims) <= axis < len(dims):
        raise ValueError(
            f"Dimension ({axis}) must be in the range [{-len(dims)}, {len(dims)}), where"
            f" {len(dims)} is the number of dimensions in the input: Expected dimension in the"
            f" range [{-len(dims)}, {len(dims)}), but got {axis}"
        )
    axis %= len(dims)
    return dims[:axis] + dims[axis + 1 :]


def _arg_kernel(method: str) -> Any:
    def kernel(input: Any, dimension: int, output_type: Any) -> Any:
        if not -input.dim() <= dimension < input.dim():
            raise ValueError(
                f"Expected dimension in the range [{-input.dim()}, {input.dim()}), but got"
                f" {dimension}"
            )
        if not input.shape[dimension]:
            raise ValueError(f"reduction axis {dimension} is empty in shape {list(input.shape)}")
        if input.dtype in BARE_UNSIGNED:
            input = to_ordered_int64(input)
        found = getattr(input, method)(dimension)
        if input.dtype.is_floating_point:
            found = _past_nan(input, dimension, found, method)
        return found.to(output_type)

    kernel.__name__ = f"_{method}"
    return kernel


def _past_nan(x: Any, axis: int, found: Any, method: str) -> Any:
    """TensorFlow's comparisons pass over NaN; ATen finds the first one."""
    # What is traced for export cannot look at values.
    looks = not torch.compiler.is_compiling()
    if looks and not bool(x.gather(axis, found.unsqueeze(axis)).isnan().any()):
        return found
    worst = -float("inf") if method == "argmax" else float("inf")
    return getattr(torch.where(x.isnan(), worst, x), method)(axis)


def _inline_arg(method: str) -> Any:
    def inline(call: Any) -> str | None:
        dims, axis = call.dims("input"), call.value("dimension")
        if dims is None or axis is None or None in dims or 0 in dims or not dims:
            return None
        if call.dtype("input") in (dtypes.uint16, dtypes.uint32, dtypes.uint64):
            return None
        if call.dtype("input").is_floating:
            return None
        narrow = ".int()" if call.attr("output_type") is dtypes.int32 else ""
        return f"{call.arg['input']}.{method}({int(axis)}){narrow}"

    return inline


for _name in ("ArgMax", "ArgMin"):
    define_op(
        _name,
        "input: T, dimension: Tidx -> output: output_type",
        attrs=[f"T: {NUMBERS}", TIDX, "output_type: {int32, int64} = int64"],
        shape=_arg_shape,
        kernel=_arg_kernel(_name.lower()),
        inline=_inline_arg(_name.lower()),
        host=("dimension",),
        flops=arithmetic.reduction(0),
        no_gradient="an index is piecewise constant",
    )


def _arg(op_type: str, x: Any, axis: Any, name: str | None, old: Any, kind: Any) -> Tensor:
    axis = renamed("axis", axis, "dimension", old)
    return make(op_type, x, 0 if axis is None else axis, name=name, output_type=kind)


@one_operation
def argmax(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dimension: Any = None,
    output_type: Any = dtypes.int64,
) -> Tensor:
    """Index of the largest element along ``axis``; the first of equal ones.

    Args:
      input: real tensor of rank at least 1.
      axis: one int, in ``[-rank, rank)``; 0 by default.
      dimension: former name of ``axis``.
      output_type: int32 or int64.

    Returns:
      A tensor of ``output_type``, ``axis`` removed from the shape.

    Example:
      >>> import penstock as tf
      >>> probabilities = tf.constant([[0.1, 0.7, 0.2], [0.8, 0.1, 0.1]])
      >>> with tf.Session() as session:
      ...     session.run(tf.argmax(probabilities, 1)).tolist()
      [1, 0]
    """
    return _arg("ArgMax", input, axis, name, dimension, output_type)


@one_operation
def argmin(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dimension: Any = None,
    output_type: Any = dtypes.int64,
) -> Tensor:
    """Index of the smallest element along ``axis``; arguments as of ``argmax``."""
    return _arg("ArgMin", input, axis, name, dimension, output_type)


def _check_given(dimension: Any) -> None:
    if dimension is None:
        raise ValueError(
            "Tried to convert 'dimension' to a tensor and failed. Error: None values not supported."
        )


def arg_max(
    input: Any, dimension: Any, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """``argmax`` under its former name and argument order; ``dimension`` must be given."""
    _check_given(dimension)
    return _arg("ArgMax", input, dimension, name, None, output_type)


def arg_min(
    input: Any, dimension: Any, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """``argmin`` under its former name and argument order; ``dimension`` must be given."""
    _check_given(dimension)
    return _arg("ArgMin", input, dimension, name, None, output_type)
