"""Reductions over segments named by unsorted ids, in a number that is given.

Rows of negative ids are dropped; segments that nothing falls into hold the neutral element.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.families import UnsortedSegments
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import nodes
from penstock.ops.array.row_sums import by_scattering
from penstock.ops.math.reduction import (
    NUMBERS,
)
from penstock.ops.math.segment import COUNT, IDS, REAL_NUMBERS, scatter_rows, segment_count


def _unsorted_shape(ctx: ShapeContext) -> Dims:
    data, ids = ctx["data"], ctx["segment_ids"]
    ctx.rank("num_segments", 0)
    if ids is None:  # TensorFlow leaves all else to the run
        return None
    count = segment_count(ctx)
    if data is None:
        return None
    fits = len(data) >= len(ids) and all(
        a is None or b is None or a == b for a, b in zip(ids, data, strict=False)
    )
    if not fits:
        raise ValueError(
            f"data.shape = {show(data)} does not start with segment_ids.shape = {show(ids)}:"
            " Dimensions must be equal"
        )
    return (count, *data[len(ids) :])


def _neutral(kind: str, dtype: torch.dtype) -> Any:
    if kind in ("sum", "prod"):
        return int(kind == "prod")
    info = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    return info.min if kind == "amax" else info.max


def _unsorted_kernel(kind: str) -> Any:
    def kernel(data: Any, segment_ids: Any, num_segments: int) -> Any:
        if num_segments < 0:
            raise ValueError(f"Input num_segments == {num_segments} must not be negative.")
        rank = segment_ids.dim()
        if data.shape[:rank] != segment_ids.shape:
            raise ValueError(
                f"data.shape = {show(tuple(data.shape))} does not start with segment_ids.shape ="
                f" {show(tuple(segment_ids.shape))}"
            )
        ids = segment_ids.reshape(-1).to(torch.int64)
        rows = data.reshape(ids.shape[0], *data.shape[rank:])
        if ids.numel():
            low, high = (int(v) for v in ids.aminmax())
            # Of rows without elements, TensorFlow looks at no id.
            if high >= num_segments and rows.numel():
                raise ValueError(
                    f"segment_ids[{int((ids == high).nonzero()[0, 0])}] = {high} is out of range"
                    f" [0, {num_segments})"
                )
            if low < 0 or high >= num_segments:
                kept = ((ids >= 0) & (ids < num_segments)).nonzero().reshape(-1)
                ids, rows = ids[kept], rows[kept]
        neutral = _neutral(kind, data.dtype)
        if kind in ("amax", "amin") and data.dtype.is_floating_point:
            # TensorFlow compares with the extreme finite number, not with infinity.
            bounds = {"min": neutral} if kind == "amax" else {"max": neutral}
            return scatter_rows(kind, rows, ids, num_segments, neutral).clamp_(**bounds)
        return scatter_rows(kind, rows, ids, num_segments, neutral)

    kernel.__name__ = f"_unsorted_segment_{kind}"
    return kernel


_summed = _unsorted_kernel("sum")


def _unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: int) -> Any:
    return _summed(data, segment_ids, num_segments)


def _traced_sum(data: Any, segment_ids: Any, num_segments: int) -> Any:
    """Of ids that a native call has found to be in range."""
    rank = segment_ids.dim()
    if not data.dtype.is_floating_point or data.shape[:rank] != segment_ids.shape:
        return _summed(data, segment_ids, num_segments)
    rows = data.reshape(-1, *data.shape[rank:])
    total = data.new_zeros((num_segments, *rows.shape[1:]))
    return by_scattering(total, segment_ids.reshape(-1), rows)


_unsorted_segment_sum.traced = _traced_sum  # type: ignore[attr-defined]


def _gather_or_zero(
    params: Tensor, ids: Tensor, clipped: Tensor | None = None, valid: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of ``params`` by id, zeros for negative ids; the clipped ids and the mask, for reuse."""
    if clipped is None:
        clipped = nodes.maximum(ids, nodes.zeros_like(ids))
    gathered = nodes.gather(params, clipped)
    if valid is None:
        valid = nodes.greater_equal(ids, 0)
        missing = 0
        if gathered.sizes is not None and valid.sizes is not None:
            missing = len(gathered.sizes) - len(valid.sizes)
        for _ in range(missing):
            valid = make("ExpandDims", valid, -1)
        if gathered.sizes is None or ids.sizes is None:
            valid = _expanded(valid, gathered)
        valid = make("LogicalAnd", valid, nodes.ones_like(gathered, dtypes.bool), name="and")
    return make("Select", valid, gathered, nodes.zeros_like(gathered)), clipped, valid


def _expanded(mask: Tensor, like: Tensor) -> Tensor:
    """``mask`` with trailing dims of size 1 up to the rank of ``like``, found at run time."""
    missing = nodes.sub(nodes.rank(like), nodes.rank(mask))
    ones = make("Fill", make("ExpandDims", missing, 0), 1)
    return nodes.reshape(mask, nodes.concat([nodes.shape(mask), ones], 0))


def _unsorted_sum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    return [_gather_or_zero(grad, op.inputs[1])[0], None, None]


def _unsorted_extremum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    data, ids, count = op.inputs
    found, clipped, valid = _gather_or_zero(op.outputs[0], ids)
    chosen = make("LogicalAnd", nodes.equal(data, found), valid)
    number = make("UnsortedSegmentSum", nodes.cast(chosen, grad.dtype), ids, count)
    shared = _gather_or_zero(nodes.div(grad, number), ids, clipped, valid)[0]
    return [make("Select", chosen, shared, nodes.zeros_like(shared)), None, None]


def _unsorted_prod_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    data, ids, count = op.inputs
    # A segment with two zeros has gradient 0 everywhere; with one, only at that zero.
    is_zero = nodes.equal(data, 0)
    zeros = make("UnsortedSegmentSum", nodes.cast(is_zero, dtypes.int32), ids, count)
    grad = make("Select", nodes.greater(zeros, 1), nodes.zeros_like(grad), grad)
    nonzero = make("Select", is_zero, nodes.ones_like(data), data)
    rest = make("UnsortedSegmentProd", nonzero, ids, count)
    clipped = nodes.maximum(ids, nodes.zeros_like(ids))
    product = nodes.gather(op.outputs[0], clipped)
    rest = nodes.gather(rest, clipped)
    partial = make("Select", is_zero, rest, nodes.div(product, data))
    return [nodes.mul(_gather_or_zero(grad, ids, clipped)[0], partial), None, None]


for _name, _types, _kernel, _gradient in (
    ("UnsortedSegmentSum", NUMBERS, _unsorted_segment_sum, _unsorted_sum_grad),
    ("UnsortedSegmentProd", NUMBERS, _unsorted_kernel("prod"), _unsorted_prod_grad),
    ("UnsortedSegmentMax", REAL_NUMBERS, _unsorted_kernel("amax"), _unsorted_extremum_grad),
    ("UnsortedSegmentMin", REAL_NUMBERS, _unsorted_kernel("amin"), _unsorted_extremum_grad),
):
    define_op(
        _name,
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
        attrs=[f"T: {_types}", IDS, COUNT],
        shape=_unsorted_shape,
        kernel=_kernel,
        host=("num_segments",),
        gradient=_gradient,
    )
_UNSORTED_DOC = """{what} of each segment of ``data``, ids in any order.

    Args:
      data: tensor whose shape starts with that of ``segment_ids``.
      segment_ids: int32 or int64 tensor; elements with negative ids are dropped.
      num_segments: how many rows the result has.

    Returns:
      A tensor of shape ``[num_segments, ...]``; segments without elements hold {empty}.

    Raises:
      InvalidArgumentError: at run time, for an id that is not below ``num_segments``.
    """


def _unsorted_function(kind: str, what: str, empty: str) -> UnsortedSegments:
    def segment(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
        return make(f"UnsortedSegment{kind}", data, segment_ids, num_segments, name=name)

    doc = _UNSORTED_DOC.format(what=what, empty=empty)
    return named(f"unsorted_segment_{kind.lower()}", doc)(segment)


unsorted_segment_sum = _unsorted_function("Sum", "Sum", "0")
unsorted_segment_prod = _unsorted_function("Prod", "Product", "1")
unsorted_segment_max = _unsorted_function("Max", "Largest element", "the lowest finite number")
unsorted_segment_min = _unsorted_function("Min", "Smallest element", "the highest finite number")


def _unsorted_scaled(kind: str, data: Any, ids: Any, count: Any, name: str | None) -> Tensor:
    with name_scope(name, f"UnsortedSegment{kind}"):
        data, ids = convert_to_tensor(data), convert_to_tensor(ids)
        dtype = data.dtype.base_dtype
        ids_shape = nodes.shape(ids)
        with name_scope("ones") as scope:
            one = constant(np.ones((), dtype.as_numpy_dtype), dtype)
            ones = make("Fill", ids_shape, one, name=scope)
        number = make("UnsortedSegmentSum", ones, ids, count)
        number = nodes.reshape(number, _divisor_shape(data, ids, count))
        number = nodes.maximum(number, 1)
        total = make("UnsortedSegmentSum", data, ids, count)
        return total / (number if kind == "Mean" else make("Sqrt", number))


def _divisor_shape(data: Tensor, ids: Tensor, count: Any) -> Any:
    if data.sizes is not None and ids.sizes is not None:
        missing = len(data.sizes) - len(ids.sizes)
        if not isinstance(count, Tensor):
            return [int(count), *[1] * missing]
        one = constant(np.ones((), count.dtype.as_numpy_dtype), count.dtype)
        return [count, *[one] * missing]
    missing = nodes.sub(nodes.rank(data), nodes.rank(ids))
    tail = make("Fill", make("ExpandDims", missing, 0), 1)
    rows = convert_to_tensor(count, dtypes.int32)
    return nodes.concat([make("ExpandDims", rows, 0), tail], 0)


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """Mean of each segment of ``data``; arguments as of ``unsorted_segment_sum``."""
    return _unsorted_scaled("Mean", data, segment_ids, num_segments, name)


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """Sum of each segment over the square root of its size; as ``unsorted_segment_sum``."""
    return _unsorted_scaled("SqrtN", data, segment_ids, num_segments, name)
