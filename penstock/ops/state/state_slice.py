"""Assigning to a strided slice of a variable, or of a copy of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.ops.array import nodes, strided_slice
from penstock.ops.math import reduction
from penstock.ops.state.state import apart
from penstock.ops.state.state_scatter import UPDATE


def _part(target: Any, spec: tuple[Any, ...]) -> tuple[Any, list[int]]:
    """The part of ``target`` that a strided slice names, and the dims of it that run backwards."""
    begin, end, strides, *masks = spec
    key = strided_slice.python_key(begin, end, strides, tuple(masks))
    strided_slice.check_rank(key, target.shape)
    forward, flipped = strided_slice.forward_key(key, target.shape)
    if isinstance(target, np.ndarray) and Ellipsis not in forward:
        # An ellipsis keeps a fully indexed object array an array.
        forward = (*forward, Ellipsis)
    return target[forward], flipped


def _assign_part(state: Any, value: Any, *spec: Any) -> None:
    part, flipped = _part(state.value, spec)
    if 0 in part.shape:
        return
    if not _fits(tuple(value.shape), tuple(part.shape)):
        raise ValueError(
            f"the slice of variable {state.name!r} has shape {list(part.shape)}; a value of shape"
            f" {list(value.shape)} was assigned"
        )
    _spread(part, value if isinstance(part, np.ndarray) else apart(state.value, value), flipped)


_SLICE_ATTRS = [
    "T: type", "Index: {int32, int64}", "begin_mask: int = 0", "end_mask: int = 0",
    "ellipsis_mask: int = 0", "new_axis_mask: int = 0", "shrink_axis_mask: int = 0",
]  # fmt: skip


def _assign_slice(
    ref: Any, begin: Any, end: Any, strides: Any, value: Any, begin_mask: int, end_mask: int,
    ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> None:  # fmt: skip
    _assign_part(
        ref, value, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
        shrink_axis_mask,
    )  # fmt: skip


def _assign_resource_slice(
    ref: Any, begin: Any, end: Any, strides: Any, value: Any, begin_mask: int, end_mask: int,
    ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> None:  # fmt: skip
    with ref.lock:
        _assign_part(
            ref, value, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
            shrink_axis_mask,
        )  # fmt: skip


define_op(
    "StridedSliceAssign",
    "ref: Ref(T), begin: Index, end: Index, strides: Index, value: T -> output_ref: Ref(T)",
    attrs=_SLICE_ATTRS,
    shape=lambda ctx: ctx["ref"],
    kernel=_assign_slice,
    host=("begin", "end", "strides"),
    writes=("ref",),
    no_gradient=UPDATE,
)
define_op(
    "ResourceStridedSliceAssign",
    "ref: resource, begin: Index, end: Index, strides: Index, value: T ->",
    attrs=_SLICE_ATTRS,
    shape=lambda ctx: [],
    kernel=_assign_resource_slice,
    host=("begin", "end", "strides"),
    writes=("ref",),
    stateful=True,
    no_gradient=UPDATE,
)


def _updated_slice(
    input: Any, begin: Any, end: Any, strides: Any, value: Any, begin_mask: int, end_mask: int,
    ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> Any:  # fmt: skip
    made = input.copy() if isinstance(input, np.ndarray) else input.clone()
    part, flipped = _part(
        made,
        (begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask),
    )
    dims = tuple(part.shape)
    if 0 in dims:
        return made  # a value of any shape
    if not _fits(tuple(value.shape), dims):
        raise ValueError(
            f"the slice of input has shape {list(dims)}; value has shape {list(value.shape)}"
        )
    _spread(part, value, flipped)
    return made


def _spread(part: Any, value: Any, flipped: list[int]) -> None:
    """Writes a value, or copies of it, over a slice."""
    if isinstance(part, np.ndarray):
        value = np.broadcast_to(value, part.shape)
        part[...] = np.flip(value, flipped) if flipped else value
    else:
        value = value.expand(part.shape)
        part.copy_(value.flip(flipped) if flipped else value)


def _fits(given: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    """Whether a value can be spread over a slice of ``dims``."""
    last = dims[len(dims) - len(given) :]
    return len(given) <= len(dims) and all(a in (1, b) for a, b in zip(given, last))


def _updated_slice_grad(op: Any, grad: Tensor) -> list[Any]:
    """What was replaced gets none; the value gets that of its place, summed where it was spread."""
    _, begin, end, strides, value = op.inputs
    masks = {name: op.attrs[name] for name in op.op_def.attrs if name.endswith("_mask")}
    place = begin, end, strides
    none = make("ZerosLike", value)
    of_input = make("TensorStridedSliceUpdate", grad, *place, none, **masks)
    of_value = make("StridedSlice", grad, *place, **masks)
    if value.sizes is None or None in value.sizes or value.sizes != of_value.sizes:
        dims, wanted = nodes.shape(of_value), nodes.shape(value)
        _, over = make("BroadcastGradientArgs", dims, wanted)
        of_value = nodes.reshape(reduction.reduce_sum(of_value, over), wanted)
    return [of_input, None, None, None, of_value]


define_op(
    "TensorStridedSliceUpdate",
    "input: T, begin: Index, end: Index, strides: Index, value: T -> output: T",
    attrs=_SLICE_ATTRS,
    shape=lambda ctx: ctx["input"],
    kernel=_updated_slice,
    host=("begin", "end", "strides"),
    gradient=_updated_slice_grad,
)
