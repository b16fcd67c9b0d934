"""Reading rows and elements of resource variables without reading the whole."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, show
from penstock.ops.array import join, ranks, reshape, shape, slicing, squeeze
from penstock.ops.state.state import state_dims
from penstock.ops.state.state_scatter import check_range, check_tuple


def _gather_shape(ctx: ShapeContext) -> Any:
    held, indices = state_dims(ctx.tensor("resource")), ctx["indices"]
    batch = ctx.attr("batch_dims")
    if held is None or indices is None:
        return None
    if len(held) < 1 + batch:
        raise ValueError(f"the variable must have rank at least {1 + batch}")
    if len(indices) < batch:
        raise ValueError(f"indices must have rank at least {batch}; found {show(indices)}")
    lead = shapes.merge_static(held[:batch], indices[:batch])
    return (*lead, *indices[batch:], *held[1 + batch :])


def _gather(resource: Any, indices: torch.Tensor, batch_dims: int) -> Any:
    params = resource.value
    rest = params.shape[batch_dims + 1 :]
    flat = indices.reshape(-1)
    if batch_dims:
        lead, size = params.shape[:batch_dims], params.shape[batch_dims]
        if tuple(indices.shape[:batch_dims]) != tuple(lead):
            raise ValueError(
                f"indices of shape {list(indices.shape)} do not begin with the {batch_dims} batch"
                f" dims of a variable of shape {list(params.shape)}"
            )
        check_range(flat, size)
        batches, each = math.prod(lead), math.prod(indices.shape[batch_dims:])
        offsets = torch.arange(batches, dtype=flat.dtype, device=flat.device) * size
        flat = flat + offsets.repeat_interleave(each)
        params = params.reshape(batches * size, *rest)
    if isinstance(params, np.ndarray):
        check_range(flat, params.shape[0])
        return params[flat.numpy()].reshape((*indices.shape, *rest))
    try:
        rows = params.index_select(0, flat)
    except (IndexError, RuntimeError):
        check_range(flat, params.shape[0])
        raise
    return rows if indices.dim() == 1 else rows.reshape((*indices.shape, *rest))


def _gather_grad(op: Any, grad: Any) -> Any:
    handle, indices = op.inputs
    if op.get_attr("batch_dims"):
        return _batched_gather_grad(op, grad), None
    dims = state_dims(handle)
    if dims is None or None in dims:
        params_shape = make("VariableShape", handle)
    else:
        params_shape = convert_to_tensor(list(dims), name="Const")
    size = reshape.expand_dims(ranks.size(indices), 0)
    row_shape = slicing.getitem(params_shape, slice(1, None))
    values_shape = join.concat([size, row_shape], 0)
    values = reshape.reshape(grad, values_shape)
    return IndexedSlices(values, reshape.reshape(indices, size), params_shape), None


def _batched_gather_grad(op: Any, grad: Any) -> Any:
    """Sums the gradient rows with the batch dims flattened into the dim that is gathered from."""
    handle, indices = op.inputs
    batch, kind = op.get_attr("batch_dims"), indices.dtype
    held = make("VariableShape", handle, out_type=kind)
    batches = make("Prod", slicing.getitem(held, slice(None, batch)), 0)
    size = slicing.getitem(held, batch)
    rows = slicing.getitem(held, slice(batch + 1, None))
    offsets = make("Mul", make("Range", 0, batches, 1, Tidx=kind), size)
    flat = reshape.reshape(indices, join.stack([batches, -1]))
    places = reshape.reshape(make("AddV2", flat, reshape.expand_dims(offsets, 1)), [-1])
    count = shape.shape(places, out_type=kind)
    values = reshape.reshape(grad, join.concat([count, rows], 0))
    summed = make("UnsortedSegmentSum", values, places, make("Mul", batches, size))
    return reshape.reshape(summed, held)


define_op(
    "ResourceGather",
    "resource: resource, indices: Tindices -> output: dtype",
    attrs=[
        "batch_dims: int = 0", "validate_indices: bool = true", "dtype: type",
        "Tindices: {int32, int64}",
    ],
    shape=_gather_shape,
    kernel=_gather,
    reads=("resource",),
    stateful=True,
    gradient=_gather_grad, moves=True, role="read_rows",
)  # fmt: skip


def _gather_nd_shape(ctx: ShapeContext) -> Any:
    held, indices = state_dims(ctx.tensor("resource")), ctx["indices"]
    if held is None or indices is None or not indices or indices[-1] is None:
        return None
    if indices[-1] > len(held):
        raise ValueError(f"index tuples of length {indices[-1]} are too long for rank {len(held)}")
    return (*indices[:-1], *held[indices[-1] :])


def _gather_nd(resource: Any, indices: torch.Tensor) -> Any:
    params = resource.value
    depth = indices.shape[-1]
    tuples = indices.reshape(-1, depth)
    sizes = torch.tensor(params.shape[:depth], dtype=tuples.dtype, device=tuples.device)
    bad = ((tuples < 0) | (tuples >= sizes)).any(dim=1)
    if bool(bad.any()):
        check_tuple(tuples[int(bad.nonzero()[0, 0])].tolist(), params.shape)
    shape = (*indices.shape[:-1], *params.shape[depth:])
    if 0 in params.shape and tuples.shape[0]:
        raise ValueError(f"params of shape {list(params.shape)} have no entries to gather")
    if depth == 0:
        return params.expand(shape).clone()
    if isinstance(params, np.ndarray):
        return params[tuple(tuples.numpy().T)].reshape(shape)
    return params[tuple(tuples.long().unbind(1))].reshape(shape)


def _gather_nd_grad(op: Any, grad: Any) -> Any:
    handle, indices = op.inputs
    held = make("VariableShape", handle, out_type=indices.dtype)
    dims = indices.sizes
    if dims is not None and len(dims) == 2 and dims[-1] == 1:
        return IndexedSlices(grad, squeeze.squeeze(indices, axis=-1), held), None
    return make("ScatterNd", indices, grad, held), None


define_op(
    "ResourceGatherNd",
    "resource: resource, indices: Tindices -> output: dtype",
    attrs=["dtype: type", "Tindices: {int32, int64}"],
    shape=_gather_nd_shape,
    kernel=_gather_nd,
    reads=("resource",),
    stateful=True,
    gradient=_gather_nd_grad,
    moves=True,
    role="read_rows",
)
