"""Running sums, products and log-sum-exps along an axis, from either end, with or without self."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
from penstock.ops.array import nodes
from penstock.ops.array.unsigned import BARE_UNSIGNED
from penstock.ops.math.reduction import NUMBERS, TIDX


def _running_shape(ctx: ShapeContext) -> Dims:
    dims: Dims = ctx["x"]
    if ctx["axis"]:
        raise FailsAtRun(f"ScanOp: axis must be a scalar, not {show(ctx['axis'])}", dims)
    axis = ctx.value("axis")
    if dims is not None and axis is not None and not -len(dims) <= axis < len(dims):
        raise FailsAtRun(_out_of_range(len(dims), int(axis)), dims)
    return dims


def _out_of_range(rank: int, axis: int) -> str:
    return f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis}"


def _running(function: Any, x: Any, axis: int, exclusive: bool, reverse: bool, start: Any) -> Any:
    if not -x.dim() <= axis < x.dim():
        raise ValueError(_out_of_range(x.dim(), axis))
    if reverse:
        x = x.flip(axis)
    if exclusive and x.shape[axis]:
        first = torch.full_like(x.narrow(axis, 0, 1), start)
        x = torch.cat([first, x.narrow(axis, 0, x.shape[axis] - 1)], axis)
    result = function(x, axis)
    return result.flip(axis) if reverse else result


def _wide(x: Any) -> Any:
    return x.to(torch.int64) if x.dtype in BARE_UNSIGNED else x


def _cumsum(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    def run(y: Any, dim: int) -> Any:
        return torch.cumsum(y, dim, dtype=y.dtype)

    return _running(run, _wide(x), axis, exclusive, reverse, 0).to(x.dtype)


def _cumprod(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    def run(y: Any, dim: int) -> Any:
        return torch.cumprod(y, dim, dtype=y.dtype)

    return _running(run, _wide(x), axis, exclusive, reverse, 1).to(x.dtype)


def _cumulative_logsumexp(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    return _running(torch.logcumsumexp, x, axis, exclusive, reverse, -float("inf"))


def _cumsum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    attrs = op.attrs
    made = make(
        "Cumsum", grad, op.inputs[1], exclusive=attrs["exclusive"], reverse=not attrs["reverse"]
    )
    return [made, None]


def _cumprod_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    x, axis = op.inputs[0], op.inputs[1]
    exclusive, reverse = op.attrs["exclusive"], op.attrs["reverse"]
    products = make("Cumprod", x, axis, exclusive=exclusive, reverse=reverse)
    weighted = nodes.mul(products, grad)
    total = make("Cumsum", weighted, axis, exclusive=exclusive, reverse=not reverse)
    # TF 1.15 divides truly for all types, and so gives NaN where x is 0.
    divide = "RealDiv" if x.dtype.base_dtype is dtypes.bfloat16 else "DivNoNan"
    return [make(divide, total, x, name="truediv"), None]


def _cumulative_logsumexp_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    x, axis, y = op.inputs[0], op.inputs[1], op.outputs[0]
    kind = grad.dtype.base_dtype
    lowest = kind.min

    def run(values: Tensor) -> Tensor:
        shifted = nodes.sub(values, y)
        made = make(
            "CumulativeLogsumexp",
            shifted,
            axis,
            exclusive=op.attrs["exclusive"],
            reverse=not op.attrs["reverse"],
        )
        return make("Exp", nodes.add(made, x))

    def logs(positive: Tensor, values: Tensor) -> Tensor:
        return make("SelectV2", positive, make("Log", values), lowest)

    # The logarithms of the positive and of the negative part of the gradient run separately.
    above = logs(nodes.greater(grad, 0), grad)
    below_zero = nodes.less(grad, 0)
    below = logs(below_zero, make("Neg", grad))
    return [nodes.sub(run(above), run(below)), None]


def _inline_plain(method: str) -> Any:
    def inline(call: Any) -> str | None:
        axis = call.value("axis")
        plain = not call.attr("exclusive") and not call.attr("reverse")
        if axis is None or not plain or not call.dtype("x").is_floating:
            return None
        return f"{call.arg['x']}.{method}({int(axis)})"

    return inline


for _name, _kernel, _grad, _types, _inline in (
    ("Cumsum", _cumsum, _cumsum_grad, NUMBERS, _inline_plain("cumsum")),
    ("Cumprod", _cumprod, _cumprod_grad, NUMBERS, _inline_plain("cumprod")),
    ("CumulativeLogsumexp", _cumulative_logsumexp, _cumulative_logsumexp_grad,
     "{half, float, double}", None),
):  # fmt: skip
    define_op(
        _name,
        "x: T, axis: Tidx -> out: T",
        attrs=["exclusive: bool = False", "reverse: bool = False", f"T: {_types}", TIDX],
        shape=_running_shape,
        kernel=_kernel,
        inline=_inline,
        host=("axis",),
        gradient=_grad,
    )


def _scan(op_type: str, x: Any, axis: Any, exclusive: bool, reverse: bool, name: Any) -> Tensor:
    with name_scope(name, op_type, [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return make(op_type, x, axis, name=scope, exclusive=bool(exclusive), reverse=bool(reverse))


def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Running sum along ``axis``.

    Args:
      x: numeric tensor.
      axis: one int in ``[-rank, rank)``.
      exclusive: element i sums those before it, without itself.
      reverse: run from the end.

    Returns:
      A tensor of the shape and dtype of ``x``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.cumsum([1, 2, 3], exclusive=True)).tolist()
      [0, 1, 3]
    """
    return _scan("Cumsum", x, axis, exclusive, reverse, name)


def cumprod(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Running product along ``axis``; arguments as of ``cumsum``."""
    return _scan("Cumprod", x, axis, exclusive, reverse, name)


def cumulative_logsumexp(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Running ``log(sum(exp(x)))`` along ``axis``, without overflow; arguments as of ``cumsum``."""
    return _scan("CumulativeLogsumexp", x, axis, exclusive, reverse, name)
