"""Gradients of a loop's invariants: sums over the rounds of the backward loop.

Dense gradients are added to a variable of the backward loop that starts with zeros.  Of
IndexedSlices the rows are concatenated, after one row of zeros, as TensorFlow does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make, make_tensor
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.control_flow_loop import GradContext, LoopVariables
from penstock.library.autodiff.control_flow_walk import inside
from penstock.ops.array import fill, nodes


def sum_over_rounds(context: GradContext, enter: Operation, grad: Any) -> Any:
    """The sum of ``grad``, the gradient of what ``enter`` gives, over all rounds of ``context``."""
    if isinstance(grad, IndexedSlices):
        return _sum_of_slices(context, enter, grad)
    graph = context.grad_state.graph
    with inside(graph, context.outer_context):
        start = _zeros(context, enter.inputs[0], grad)
    with inside(graph, context):
        total = LoopVariables(context, [start], "b_acc", "b_acc")
        if grad.dtype is dtypes.variant:
            return total.close([make("AddN", [total.now[0], grad])])[0]
        return total.close([make("Add", total.now[0], grad)])[0]


def _zeros(context: GradContext, source: Tensor, grad: Tensor) -> Tensor:
    """Zeros shaped like the gradient of ``source``."""
    dtype = grad.dtype.base_dtype
    if dtype is dtypes.variant:
        return make_tensor("ZerosLike", source)
    if nodes.is_known(grad):
        dims = [int(d or 0) for d in grad.sizes or ()]
        return constant(np.zeros(dims, dtype.as_numpy_dtype), dtype, name="b_acc")
    result = fill.zeros(_shape_outside(context, source), dtype)
    result.set_shape(grad.shape)
    return result


def shape_of(source: Tensor) -> Tensor:
    """The shape of a tensor or of the variable behind a handle, computed when the step runs."""
    op_type = "VariableShape" if source.dtype is dtypes.resource else "Shape"
    return make_tensor(op_type, source)


def _shape_outside(context: GradContext, source: Tensor) -> Tensor:
    """The shape of ``source``, which enters the forward loop, where the backward loop begins."""
    shape, around = shape_of(source), context.outer_context
    return shape if around is None else around.AddValue(shape)


def _sum_of_slices(context: GradContext, enter: Operation, grad: Any) -> IndexedSlices:
    graph, source = context.grad_state.graph, enter.inputs[0]
    parts = [grad.indices, grad.values]
    with inside(graph, context.outer_context):
        rows = _one_row(context, source, grad.values)
        starts = [constant(np.zeros(1), grad.indices.dtype), rows]
        if grad.dense_shape is not None:
            parts.append(grad.dense_shape)
            starts.append(_zero_shape(context, source, grad.dense_shape))
    with inside(graph, context):
        totals = LoopVariables(context, starts, "b_acc", "b_acc", keep_shape=False)
        for index, part in enumerate(parts[:2]):
            _relax(totals, index, part)
        following = [
            nodes.concat([now, part], 0)
            for now, part in zip(totals.now[:2], parts[:2], strict=True)
        ]
        if len(parts) == 3:
            following.append(make("Maximum", parts[2], totals.now[2]))
        sums = totals.close(following)
    return IndexedSlices(sums[1], sums[0], sums[2] if len(sums) == 3 else None)


def _relax(totals: LoopVariables, index: int, part: Tensor) -> None:
    """Says what is known of the shape of rows that become more with each round."""
    if part.sizes:
        for tensor in (totals.merged[index], totals.now[index], totals.last[index]):
            tensor.sizes = (None, *part.sizes[1:])


def _one_row(context: GradContext, source: Tensor, values: Tensor) -> Tensor:
    dtype = values.dtype.base_dtype
    inner = None if values.sizes is None else values.sizes[1:]
    if inner is not None and None not in inner:
        dims = [1, *(int(d or 0) for d in inner)]
        return constant(np.zeros(dims, dtype.as_numpy_dtype), dtype, name="b_acc")
    shape = _shape_outside(context, source)
    one = constant([1], dtypes.int32)
    tail = make("StridedSlice", shape, one, [0], [1], end_mask=1, name="strided_slice")
    return fill.zeros(nodes.concat([one, tail], 0), dtype)


def _zero_shape(context: GradContext, source: Tensor, dense_shape: Tensor) -> Tensor:
    dtype = dense_shape.dtype.base_dtype
    if nodes.is_known(dense_shape):
        return constant(np.zeros([int(d or 0) for d in dense_shape.sizes or ()]), dtype)
    shape = make("ZerosLike", _shape_outside(context, source), name="zeros_like")
    return shape if dtype is dtypes.int32 else nodes.cast(shape, dtype)
