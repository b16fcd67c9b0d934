"""TopK, NthElement, InTopK, and sort and argsort, which are top_k of everything.

Among equal elements TensorFlow puts the lower index first; ``torch.topk`` promises nothing, so its
answer is used only where no tie could show, else a stable sort.  With ``sorted=False`` the order is
free: TensorFlow gives the heap that it worked with, here they are in descending order all the same,
since that heap would take a Python loop over all elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import (
    constant as constant_ops,
    fill as fill_ops,
    gather as gather_ops,
    join,
    ranges,
    ranks,
    reshape as reshape_ops,
    shape as shape_ops,
    slicing,
)

_REAL = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
)
_SORTED_AT_ONCE = 256


# ---- TopK, TopKV2 ----------------------------------------------------------------------------


def _top_k_shape(ctx: ShapeContext) -> list[Dims]:
    dims = ctx.rank_at_least("input", 1)
    if ctx.op.type == "TopK":
        k: int | None = ctx.attr("k")
    else:
        value = ctx.value("k")
        if value is not None:  # of what is fed, TensorFlow looks at the rank when it runs
            ctx.rank("k", 0)
        k = None if value is None else int(value)
    if k is not None and k < 0:
        raise ValueError(
            "Dimension size, given by scalar input 1, must be non-negative but is"
            f" {k}: Need k >= 0, got {k}"
        )
    if dims is None:
        return [None, None]
    if None not in (k, dims[-1]) and dims[-1] < k:  # type: ignore[operator]
        raise ValueError(
            f"input must have last dimension >= k = {k} but is {dims[-1]}: input must have at least"
            f" k columns. Had {dims[-1]}, needed {k}"
        )
    return [(*dims[:-1], k)] * 2


def _top_k_kernel(input: Any, k: Any) -> Any:
    if isinstance(k, list):
        raise ValueError(f"k must be scalar; found {k}")
    if k < 0:
        raise ValueError(f"Need k >= 0, got {k}")
    if k > input.shape[-1]:
        raise ValueError(f"input must have at least k columns. Had {input.shape[-1]}, needed {k}")
    dtype = input.dtype
    work = input.int() if dtype is torch.uint16 else input
    if k and input.shape[-1] > _SORTED_AT_ONCE:
        values, indices = work.topk(k)
        if not _has_ties(work, values):
            return values.to(dtype), indices.int()
    values, indices = work.sort(dim=-1, descending=True, stable=True)
    return values.narrow(-1, 0, k).to(dtype), indices.narrow(-1, 0, k).int()


def _has_ties(rows: Any, top: Any) -> bool:
    """Whether equal elements (or NaNs) leave the order or the choice open."""
    if not (top[..., 1:] < top[..., :-1]).all():
        return True
    least = top[..., -1:]
    return bool(((rows == least).sum(-1) > 1).any())


def _top_k_grad(op: Any, grad: Tensor, *_: Any) -> list[Any]:
    source, chosen = op.inputs[0], op.outputs[1]
    in_shape, ind_shape = shape_ops.shape(source), shape_ops.shape(chosen)
    rows = reshape_ops.reshape(chosen, join.stack([-1, _last_dim(ind_shape)]))
    in_last = _last_dim(in_shape)
    outer = shape_ops.cast_to(slicing.getitem(shape_ops.shape(rows), 0), dtypes.int64)
    steps = ranges.range_(0, make("Mul", outer, in_last, name="mul"), in_last)
    offsets = shape_ops.cast_to(reshape_ops.expand_dims(steps, -1), dtypes.int32)
    flat = reshape_ops.reshape(make("AddV2", rows, offsets, name="add"), [-1])
    places = reshape_ops.expand_dims(flat, -1)
    values = reshape_ops.reshape(grad, [-1])
    count = make("Prod", in_shape, constant_ops.constant([0]))
    total = make("ScatterNd", places, values, [count])
    result = [reshape_ops.reshape(total, in_shape), fill_ops.zeros([], dtypes.int32)]
    return result[: len(op.inputs)]


def _last_dim(full: Tensor) -> Tensor:
    wide = shape_ops.cast_to(full, dtypes.int64)
    last = make("Sub", ranks.size(full), 1, name="sub")
    return gather_ops.gather(wide, last)


define_op(
    "TopK",
    "input: T -> values: T, indices: int32",
    attrs=["k: int >= 0", "sorted: bool = True", _REAL],
    shape=_top_k_shape,
    kernel=_top_k_kernel,
    aliases=(),
    gradient=_top_k_grad,
)

define_op(
    "TopKV2",
    "input: T, k: int32 -> values: T, indices: int32",
    attrs=["sorted: bool = True", _REAL],
    shape=_top_k_shape,
    kernel=_top_k_kernel,
    host=("k",),
    gradient=_top_k_grad,
    later=["Tk: type = int32", "index_type: type = int32"],
)


# ---- NthElement ------------------------------------------------------------------------------


def _nth_shape(ctx: ShapeContext) -> Dims:
    dims, value = ctx.rank_at_least("input", 1), ctx.value("n")
    ctx.rank("n", 0)
    if dims is None:
        return None
    if value is not None:
        if value < 0:
            raise ValueError(f"n must not be negative; found {value}")
        if dims[-1] is not None and value >= dims[-1]:
            raise ValueError(f"input of shape {show(dims)} has no element {value} in a row")
    return dims[:-1]


def _nth_kernel(input: Any, n: Any, reverse: Any) -> Any:
    size = input.shape[-1]
    if not 0 <= n < size:
        raise ValueError(f"nth_element: n is {n}, but the rows have {size} elements")
    dtype = input.dtype
    work = input.int() if dtype is torch.uint16 else input
    place = size - 1 - n if reverse else n
    return work.sort(dim=-1).values.select(-1, place).to(dtype)


def _nth_grad(op: Any, grad: Tensor) -> list[Any]:
    source, output = op.inputs[0], op.outputs[0]
    same = make("Equal", reshape_ops.expand_dims(output, -1), source)
    chosen = shape_ops.cast_to(same, grad.dtype.base_dtype)
    grad = reshape_ops.expand_dims(grad, -1)
    count = reshape_ops.expand_dims(make("Sum", chosen, -1), -1)
    share = make("RealDiv", chosen, count, name="truediv")
    return [make("Mul", share, grad, name="mul"), None]


define_op(
    "NthElement",
    "input: T, n: int32 -> values: T",
    attrs=["reverse: bool = False", _REAL],
    shape=_nth_shape,
    kernel=_nth_kernel,
    host=("n",),
    gradient=_nth_grad,
)


# ---- InTopK, InTopKV2 --------------------------------------------------------------------------


def _in_top_k_shape(ctx: ShapeContext) -> Dims:
    rows, targets = ctx.rank("predictions", 2), ctx.rank("targets", 1)
    if None not in (rows[0], targets[0]) and rows[0] != targets[0]:
        raise ValueError(f"{rows[0]} rows of predictions, but {targets[0]} targets")
    return (rows[0] if rows[0] is not None else targets[0],)


def _in_top_k_kernel(predictions: Any, targets: Any, k: Any) -> Any:
    classes = predictions.shape[1]
    inside = (targets >= 0) & (targets < classes)
    if not classes:
        return inside
    places = torch.where(inside, targets, 0).long().unsqueeze(1)
    own = predictions.gather(1, places)
    higher = (predictions > own).sum(1)
    return inside & predictions.isfinite().all(1) & (higher < k)


_NO_GRADIENT = "whether a class is among the first k is not differentiable"

define_op(
    "InTopK",
    "predictions: float, targets: T -> precision: bool",
    attrs=["k: int", "T: {int32, int64} = int32"],
    shape=_in_top_k_shape,
    kernel=_in_top_k_kernel,
    no_gradient=_NO_GRADIENT,
)

define_op(
    "InTopKV2",
    "predictions: float, targets: T, k: T -> precision: bool",
    attrs=["T: {int32, int64} = int32"],
    shape=_in_top_k_shape,
    kernel=_in_top_k_kernel,
    host=("k",),
    no_gradient=_NO_GRADIENT,
)


# ---- public functions ------------------------------------------------------------------------


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> Any:
    """The ``k`` largest elements of each row, and their positions.

    Args:
      input: tensor [..., n] of a real type.
      k: int32 scalar, at most n.
      sorted: whether they come in descending order (they do either way).

    Returns:
      ``(values, indices)``, both [..., k]; of equal elements the first comes first.

    Example:
      >>> import penstock as tf
      >>> values, places = tf.nn.top_k([1.0, 9.0, 5.0], k=2)
      >>> with tf.Session() as session:
      ...     session.run(values).tolist(), session.run(places).tolist()
      ([9.0, 5.0], [1, 2])
    """
    return make("TopKV2", input, k, name=name, sorted=sorted)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether each target is among the ``k`` highest predictions of its row.

    Args:
      predictions: float32 tensor [batch, classes].
      targets: int32 or int64 vector [batch].
      k: integer scalar.

    Returns:
      bool vector [batch].

    Example:
      >>> import penstock as tf
      >>> logits = tf.constant([[0.1, 0.5, 0.4], [0.6, 0.3, 0.1]])
      >>> with tf.Session() as session:
      ...     session.run(tf.nn.in_top_k(logits, [2, 2], 2)).tolist()
      [True, False]
    """
    with name_scope(name, "in_top_k"):
        return make("InTopKV2", predictions, targets, k)


def nth_element(input: Any, n: Any, reverse: bool = False, name: str | None = None) -> Tensor:
    """The n-th smallest element of each row.

    Args:
      input: tensor [..., size] of a real type.
      n: int32 scalar in [0, size).
      reverse: count from the largest instead.

    Returns:
      Tensor [...].
    """
    return make("NthElement", input, n, name=name, reverse=reverse)


def sort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """``values`` sorted along a dim.

    Args:
      values: tensor of a real type.
      axis: the dim, a Python int.
      direction: "ASCENDING" or "DESCENDING".

    Returns:
      A tensor like ``values``.

    Raises:
      ValueError: ``axis`` is not a constant, or an unknown direction.
    """
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, False)


def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """Positions that sort ``values`` along a dim.

    Args:
      values: tensor of a real type.
      axis: the dim, a Python int.
      direction: "ASCENDING" or "DESCENDING".
      stable: ignored: equal elements always keep their order.

    Returns:
      int32 tensor of the shape of ``values``.

    Raises:
      ValueError: ``axis`` is not a constant, or an unknown direction.
    """
    del stable
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, True)


def _sorted(values: Any, axis: Any, direction: str, positions: bool) -> Tensor:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be ASCENDING or DESCENDING; found {direction!r}")
    axis = convert_to_tensor(axis, name="axis")
    known = static.constant_value(axis)
    if axis.sizes != () or known is None:
        raise ValueError("axis must be a constant scalar")
    values = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(values, int(known), positions)
    flipped = _flipped(values)
    result = _descending(flipped, int(known), positions)
    return result if positions else _flipped(result)


def _flipped(values: Tensor) -> Tensor:
    """The elements in opposite order: negated, unsigned ones taken from the largest."""
    kind = values.dtype.base_dtype
    if kind in (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64):
        top = np.array(np.iinfo(kind.as_numpy_dtype).max, kind.as_numpy_dtype)
        made: Tensor = make("Sub", top, values, name="sub", T=kind)
    else:
        made = make("Neg", values)
    return made


def _descending(values: Tensor, axis: int, positions: bool) -> Tensor:
    count = slicing.getitem(shape_ops.shape(values), axis)
    rank = ranks.rank(values)
    known = values.rank
    order = None
    if axis != -1 and axis + 1 != known:
        order = _last_exchanged(rank, known, axis)
        values = make("Transpose", values, order, name="transpose")
    result = top_k(values, count)[1 if positions else 0]
    if order is not None:
        result = make("Transpose", result, order, name="transpose")
    return result


def _last_exchanged(rank: Tensor, known: int | None, axis: int) -> Any:
    """The order of dims that exchanges ``axis`` and the last."""
    if known is not None:
        axis %= known
        order = np.arange(known)
        order[[axis, known - 1]] = order[[known - 1, axis]]
        return constant_ops.constant(order, name="transposition")
    at: Any = axis if axis >= 0 else make("AddV2", rank, axis, name="add")
    last = make("Sub", rank, 1, name="sub")
    middle = ranges.range_(make("AddV2", at, 1, name="add") if axis < 0 else at + 1, last)
    return join.concat([ranges.range_(at), [last], middle, [at]], 0)
