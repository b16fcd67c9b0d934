"""Reductions along axes: sums, means, extrema, products, norms, and logical ones.

TF and ATen differ in what this file hides: no axes mean "reduce nothing" in TF and "reduce all" in
ATen; integer sums keep their dtype in TF; extrema over empty dims are allowed.  With constant axes
the emitted line is the ATen method itself (``x.sum((0, 1), True)``).

Gradients build TF 1.15's nodes with one exception: where shape and axes of a Sum or Mean are known,
TF leaves a dozen nodes in the graph that nothing reads (it evaluates them while building); here the
two constants they lead to are computed directly.  The nodes that are read have the same names.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import example, named
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.families import Reduction
from penstock.foundation.graph.scopes import colocate_with
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import nodes
from penstock.ops.array.unsigned import BARE_UNSIGNED

NUMBERS = (
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16,"
    " uint16, complex128, half, uint32, uint64}"
)
TIDX = "Tidx: {int32, int64} = int32"


# ---- shape rules and folds -------------------------------------------------------------------


def _axes_of(value: np.ndarray | None, rank: int) -> set[int] | None:
    if value is None:
        return None
    axes = set()
    for axis in np.atleast_1d(value).tolist():
        if not -rank <= axis < rank:
            raise ValueError(
                f"Invalid reduction dimension {axis} for input with {rank} dimensions:"
                f" axes are in [{-rank}, {rank})"
            )
        axes.add(axis % rank)
    return axes


def reduced_dims(ctx: ShapeContext) -> Dims:
    dims = ctx["input"]
    keep = ctx.attr("keep_dims")
    axes_dims = ctx["reduction_indices"]
    if axes_dims is not None and len(axes_dims) > 1:
        raise ValueError(
            f"reduction_indices must be a scalar or a vector, not of rank {len(axes_dims)}"
        )
    value = ctx.value("reduction_indices")
    if dims is None:
        # Without a rank only "everything is reduced" could be known, and TF does not look for it.
        return () if not keep and _reduces_all(ctx) else None
    axes = _axes_of(value, len(dims))
    if axes is None:
        if keep:
            return (None,) * len(dims)
        return () if _reduces_all(ctx) else None
    if keep:
        return tuple(1 if i in axes else d for i, d in enumerate(dims))
    return tuple(d for i, d in enumerate(dims) if i not in axes)


def _reduces_all(ctx: ShapeContext) -> bool:
    """Whether the axes are ``range(rank(input))``, as the public functions make them."""
    tensor = ctx.tensor("reduction_indices")
    if tensor.op_type != "Range":
        return False
    axes = tensor.op
    if axes.inputs[1].op.type != "Rank":
        return False
    return axes.inputs[1].op.inputs[0] is ctx.tensor("input")


def folded(function: Any) -> Any:
    def fold(ctx: ShapeContext, x: np.ndarray | None, axes: np.ndarray | None) -> Any:
        if x is None or axes is None or x.dtype.kind not in "iub":
            return None
        kept = tuple(_axes_of(axes, x.ndim) or ())
        if not kept:
            return x
        try:
            result = function(x, axis=kept, keepdims=ctx.attr("keep_dims"))
        except ValueError:
            return None
        return np.asarray(result).astype(x.dtype, copy=False)

    return fold


# ---- kernels ---------------------------------------------------------------------------------


def as_axes(axes: Any, rank: int) -> list[int]:
    """The axes in [0, rank), each once: TensorFlow 1.15 lets them be named again."""
    axes = axes if isinstance(axes, list) else [axes]
    for axis in axes:
        if not -rank <= axis < rank:
            raise ValueError(
                f"invalid reduction dimension {axis} for an input with {rank} dimension(s)"
            )
    return list({axis % rank: None for axis in axes})


def _sum(input: Any, reduction_indices: Any, keep_dims: bool) -> Any:
    axes = as_axes(reduction_indices, input.dim())
    if not axes:
        return input
    if input.dtype in BARE_UNSIGNED:
        return input.to(torch.int64).sum(axes, keep_dims).to(input.dtype)
    return input.sum(axes, keep_dims, dtype=input.dtype)


def _mean(input: Any, reduction_indices: Any, keep_dims: bool) -> Any:
    axes = as_axes(reduction_indices, input.dim())
    if not axes:
        return input.clone()
    if input.dtype.is_floating_point or input.dtype.is_complex:
        return input.mean(axes, keep_dims)
    count = 1
    for axis in axes:
        count *= input.shape[axis]
    total = input.to(torch.int64).sum(axes, keep_dims).to(input.dtype).to(torch.int64)
    return torch.div(total, max(count, 1), rounding_mode="trunc").to(input.dtype)


def inline_reduction(method: str, *, fits: Any, suffix: str = "") -> Any:
    """The ATen method itself, where the axes are constant and the dtype needs no care."""

    def inline(call: Any) -> str | None:
        value, dims = call.value("reduction_indices"), call.dims("input")
        if value is None or value.size == 0 or not fits(call, dims):
            return None
        rank = None if dims is None else len(dims)
        axes = np.atleast_1d(value).tolist()
        if len(axes) > 1 and (rank is None or len({a % rank for a in axes}) < len(axes)):
            return None
        keep = call.attr("keep_dims")
        if rank is not None and not keep and len({a % rank for a in axes}) == rank:
            return f"{call.arg['input']}.{method}({suffix.lstrip(', ')})"
        where = axes[0] if len(axes) == 1 else tuple(axes)
        return f"{call.arg['input']}.{method}({literal(where)}{', True' if keep else ''}{suffix})"

    return inline


def _float_like(call: Any, dims: Dims) -> bool:
    dtype = call.dtype("input")
    return bool(dtype.is_floating or dtype.is_complex)


# ---- gradients -------------------------------------------------------------------------------


def reduced_shape(input_shape: Tensor, axes: Tensor) -> Tensor:
    """The shape that a reduction over ``axes`` would have if it kept its dims (TF's nodes)."""
    axes = nodes.cast(axes, dtypes.int32)
    rank = nodes.size(input_shape)
    axes = nodes.mod(nodes.add(axes, rank), rank)
    axes_shape = nodes.shape(axes)
    every = nodes.range_to(rank)
    ones = make("Fill", axes_shape, 1)
    return make("DynamicStitch", [every, axes], [input_shape, ones])


def safe_div(x: Tensor, y: Tensor) -> Tensor:
    return nodes.floordiv(x, nodes.maximum(y, 1))


def _spread(op: Any, grad: Tensor) -> Tensor:
    """The gradient of a sum, where tensors have values: no node is to be TensorFlow's."""
    dims = op.inputs[0].sizes
    axes = _axes_of(static.constant_value(op.inputs[1]), len(dims)) or set()
    if not op.attrs["keep_dims"] and 0 < len(axes) < len(dims):
        grad = nodes.reshape(grad, [1 if i in axes else d for i, d in enumerate(dims)])
    made: Tensor = make("BroadcastTo", grad, np.array(dims, np.int32))
    return made


def _sum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    x, axes_tensor = op.inputs[0], op.inputs[1]
    if x.has_value:
        return [_spread(op, grad), None]
    dims = x.sizes
    if dims is not None:
        axes = static.constant_value(axes_tensor)
        if axes is not None and np.array_equal(axes, np.arange(len(dims))):
            grad = nodes.reshape(grad, [1] * len(dims))
            if None in dims:
                shape = nodes.shape(x)
            else:
                shape = constant(np.array(dims, np.int32), dtypes.int32)
            return [make("Tile", grad, shape), None]
        if axes is not None and None not in dims:
            reduced = _axes_of(axes, len(dims)) or set()
            kept = [1 if i in reduced else d for i, d in enumerate(dims)]
            tiles = [d // max(k, 1) for d, k in zip(dims, kept, strict=True)]
            grad = nodes.reshape(grad, kept)
            return [make("Tile", grad, np.array(tiles, np.int32)), None]
    shape = nodes.shape(x)
    with colocate_with(shape):
        kept_shape = reduced_shape(shape, axes_tensor)
        scaling = safe_div(shape, kept_shape)
    return [make("Tile", nodes.reshape(grad, kept_shape), scaling), None]


def _mean_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    x, y = op.inputs[0], op.outputs[0]
    if x.has_value:
        count = math.prod(x.sizes) // max(math.prod(y.sizes), 1)
        return [_spread(op, nodes.div(grad, float(count))), None]
    total = _sum_grad(op, grad)[0]
    assert total is not None
    if nodes.is_known(x) and nodes.is_known(y):
        count = int(np.prod(x.sizes, dtype=np.int64)) // max(
            int(np.prod(y.sizes, dtype=np.int64)), 1
        )
        kind = total.dtype.base_dtype
        factor = constant(np.asarray(count, kind.as_numpy_dtype), kind)
    else:
        shapes = nodes.shape(x), nodes.shape(y)
        sizes = [reduce_by("Prod", s, None, None, None, None, None) for s in shapes]
        factor = nodes.cast(safe_div(*sizes), total.dtype)
    return [nodes.div(total, factor), None]


def define_reduction(op_type: str, **rest: Any) -> None:
    """Defines a reduction of numbers."""
    define_op(
        op_type,
        "input: T, reduction_indices: Tidx -> output: T",
        attrs=["keep_dims: bool = False", f"T: {NUMBERS}", TIDX],
        shape=reduced_dims,
        host=("reduction_indices",),
        **rest,
    )


define_reduction(
    "Sum", kernel=_sum, inline=inline_reduction("sum", fits=_float_like), gradient=_sum_grad,
    fold=folded(np.sum), aliases=("input",), flops=arithmetic.reduction(0),
)  # fmt: skip
define_reduction(
    "Mean", kernel=_mean, inline=inline_reduction("mean", fits=_float_like), gradient=_mean_grad,
    flops=arithmetic.reduction(1),
)  # fmt: skip


# ---- public functions ------------------------------------------------------------------------


def renamed(new: str, value: Any, old: str, old_value: Any) -> Any:
    """The one of two synonymous arguments that was given.

    Raises:
      ValueError: both were.
    """
    if old_value is None:
        return value
    if value is not None:
        raise ValueError(f"{old!r} is the former name of {new!r}: give one of them, not both")
    return old_value


def axes_argument(x: Any, axis: Any) -> Any:
    """``axis``, or all axes: a constant for a tensor of known rank, else ``range(rank(x))``."""
    if axis is not None:
        return axis
    if isinstance(x, Tensor) and x.sizes is not None:
        return constant(np.arange(len(x.sizes), dtype=np.int32), dtypes.int32)
    return nodes.range_to(nodes.rank(x))


def reduce_by(
    op_type: str, x: Any, axis: Any, keep: Any, name: str | None, old_axis: Any, old_keep: Any
) -> Tensor:
    axis = renamed("axis", axis, "reduction_indices", old_axis)
    keep = bool(renamed("keepdims", keep, "keep_dims", old_keep))
    if axis is None and getattr(x, "has_value", False):  # no node is to be named
        axis = list(range(x.value.ndim))
    result: Tensor = make(op_type, x, axes_argument(x, axis), name=name, keep_dims=keep)
    if axis is None and not keep:
        result.set_shape(())
    return result


_REDUCE_DOC = """{what} over ``axis``.

    Args:
      input_tensor: {dtype} tensor of any shape.
      axis: int, list of ints or integer tensor, each in ``[-rank, rank)``; None reduces all dims,
        an empty list none.
      keepdims: whether reduced dims stay, with size 1.
      reduction_indices: former name of ``axis``.
      keep_dims: former name of ``keepdims``.

    Returns:
      A tensor of the dtype of ``input_tensor``.

    Raises:
      ValueError: an axis out of range, or an argument given under both of its names.
    """


def reduction(
    op_type: str, what: str, dtype: str = "numeric", call: str = "", gives: str = ""
) -> Reduction:
    def reduce(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Tensor:
        return reduce_by(op_type, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)

    doc = _REDUCE_DOC.format(what=what, dtype=dtype).rstrip(" ") + example(call, gives)
    return named(f"reduce_{op_type.lower()}", doc)(reduce)


reduce_sum = reduction(
    "Sum", "Sum of elements",
    call="tf.reduce_sum([[1, 2], [3, 4]], axis=1)", gives="[3, 7]",
)  # fmt: skip
reduce_mean = reduction(
    "Mean", "Mean of elements; integer means truncate",
    call="tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=0)", gives="[2.0, 3.0]",
)  # fmt: skip
