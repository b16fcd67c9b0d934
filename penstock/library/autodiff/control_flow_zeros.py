"""Zeros for the outputs that get no gradient while another output of their op does.

A Switch whose one branch is not differentiated needs zeros that live exactly when that branch would
have been taken: they are made from what the Switch takes, led through a Switch of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make, make_tensor
from penstock.foundation.graph.handles import handles_of
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import control_dependencies
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.control_flow_loop import GradContext
from penstock.library.autodiff.control_flow_sums import shape_of
from penstock.library.autodiff.control_flow_walk import (
    context_of,
    is_branch_switch,
    is_loop_switch,
    within_branch,
)
from penstock.library.control_flow.context import CondContext
from penstock.ops.array import fill, nodes
from penstock.ops.control import control_flow as primitives


def zeros_like_output(op: Operation, index: int) -> Tensor | None:
    """Zeros for output ``index`` of ``op``, outside of loops that are differentiated."""
    output = op.outputs[index]
    if is_branch_switch(op):
        return None if within_branch(op) else _zeros_of_branch(op, context_of(op))
    if output.dtype is dtypes.resource:
        return fill.zeros(shape_of(output), zeros_dtype(output))
    return make_tensor("ZerosLike", output, name="zeros_like")


def _zeros_of_branch(op: Operation, branch: Any) -> Tensor:
    """Zeros that live when the branch that ``op`` does not stand in is taken."""
    taken = primitives.switch(op.inputs[0], branch.pred)[1 - branch.branch]
    # Constants have no inputs, so they must wait for a node that is dead with the branch.
    pivot = make("Identity", taken)
    if taken.dtype is dtypes.resource:
        with control_dependencies([pivot]):
            return fill.zeros(shape_of(taken), zeros_dtype(taken))
    if taken.dtype is dtypes.variant:
        return make_tensor("ZerosLike", taken)
    shape = shape_of(taken)
    with control_dependencies([pivot]):
        return fill.zeros(shape, taken.dtype.base_dtype)


def zeros_in_loop(context: GradContext, op: Operation, index: int) -> Tensor | None:
    """Zeros for output ``index`` of ``op``, made in the backward loop of the loop ``op`` is in."""
    if is_loop_switch(op):
        return None
    if not is_branch_switch(op):
        # A Switch's outputs may be dead; what it takes has the same shape.
        like = op.inputs[0] if op.op_def.control == "switch" else op.outputs[index]
        return _zeros_like(context, like)
    branch = context_of(op)
    assert isinstance(branch, CondContext)
    predicate = context.grad_state.value_of(branch.pred)
    data = op.inputs[0]
    if nodes.is_known(data) and data.dtype is not dtypes.resource:
        return _taken(_zeros_like(context, data), predicate, branch)
    if data.dtype is dtypes.resource:
        handle = _taken(context.AddValue(data), predicate, branch)
        return fill.zeros(shape_of(handle), zeros_dtype(data))
    # Shape is computed in the forward loop, where the context puts it.
    shape = _taken(context.AddValue(shape_of(data)), predicate, branch)
    return fill.zeros(shape, data.dtype.base_dtype)


def _taken(data: Tensor, predicate: Tensor, branch: Any) -> Tensor:
    """``data`` when the branch on the other side of ``branch`` is taken."""
    made: Tensor = primitives.switch(data, predicate)[1 - branch.branch]
    return made


def _zeros_like(context: GradContext, tensor: Tensor) -> Tensor:
    if tensor.dtype is dtypes.resource:
        return fill.zeros(shape_of(tensor), zeros_dtype(tensor))
    dtype = tensor.dtype.base_dtype
    if dtype is dtypes.variant:
        return make_tensor("ZerosLike", context.AddValue(tensor))
    if nodes.is_known(tensor):
        dims = [int(d or 0) for d in tensor.sizes or ()]
        return constant(np.zeros(dims, dtype.as_numpy_dtype), dtype)
    return fill.zeros(context.AddValue(shape_of(tensor)), dtype)


def zeros_dtype(tensor: Tensor) -> dtypes.DType:
    """The type of zeros for ``tensor``: of a handle, that of its variable."""
    if tensor.dtype is not dtypes.resource:
        return tensor.dtype.base_dtype
    for op in handles_of(tensor):
        if "dtype" in op.attrs:
            found: dtypes.DType = op.attrs["dtype"]
            return found
    return dtypes.float32
