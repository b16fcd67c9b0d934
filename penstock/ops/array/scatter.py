"""ScatterNd and the TensorScatter ops: writing slices at indices into a new tensor.

All work on the leading dims flattened to one, where ``row_sums`` and torch's ``index_copy_`` do the
writing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import gather as gather_ops
from penstock.ops.array.gather import BAD_INDICES
from penstock.ops.array.movement import moving
from penstock.ops.array.row_sums import add_rows, subtract_rows
from penstock.ops.math import elementwise

_INDEX = "{int32, int64}"


def check_sides(indices: Dims, updates: Dims, output: Dims) -> None:
    """Refuses scalars, and anything to write where an output has no elements."""
    for name, dims in (("indices", indices), ("updates", updates)):
        # One index takes a scalar, which TensorFlow refuses, and with it a gradient of GatherNd.
        if dims == () and not (name == "updates" and indices is not None and len(indices) == 1):
            raise ValueError(
                f"Shape must be at least rank 1 but is rank 0: {name} must have at least one dim"
            )
    if output is not None and 0 in output and (_some(indices) or _some(updates)):
        raise ValueError(
            f"Indices and updates specified for empty output shape: output has shape {show(output)}"
        )


def _check_shapes(indices: Dims, updates: Dims, output: Dims) -> None:
    """Refuses updates that do not have shape ``indices.shape[:-1] + output.shape[d:]``."""
    check_sides(indices, updates, output)
    if indices is None or updates is None or indices[-1] is None:
        return
    lead = indices[:-1]
    fits = shapes.is_compatible_static(updates[: len(lead)], lead)
    depth = indices[-1]
    if fits and output is not None:
        fits = depth <= len(output) and shapes.is_compatible_static(
            updates[len(lead) :], output[depth:]
        )
    if not fits:
        raise ValueError(
            f"Must have updates.shape = indices.shape[:-1] + output.shape[indices.shape[-1]:]:"
            f" updates of shape {show(updates)} do not fit indices of shape {show(indices)} into"
            f" an output of shape {show(output)}"
        )


def _some(dims: Dims) -> bool:
    """Whether a tensor of that shape is known to have elements."""
    return dims is not None and None not in dims and 0 not in dims


def _scatter_nd_shape(ctx: ShapeContext) -> Dims:
    output = ctx.shape_value("shape")
    if output == ():
        raise ValueError("shape must name at least one dim")
    _check_shapes(ctx["indices"], ctx["updates"], output)
    return output


def _into_shape(source: str) -> Any:
    def rule(ctx: ShapeContext) -> Dims:
        output: Dims = ctx.rank_at_least(source, 1)
        _check_shapes(ctx["indices"], ctx["updates"], output)
        return output

    return rule


def _flattened(indices: Any, updates: Any, dims: Any) -> tuple[Any, Any, list[int]]:
    """Row numbers [n], updates [n, inner] and the flattened shape [rows, inner]."""
    depth = indices.shape[-1]
    rows = gather_ops.flat_index(indices, dims[:depth]).reshape(-1)
    form = [math.prod(dims[:depth]), math.prod(dims[depth:])]
    return rows, updates.reshape(rows.numel(), form[1]), form


def _added(flat: Any, rows: Any, values: Any) -> Any:
    return add_rows(flat, rows, values)


def _scatter_nd_kernel(indices: Any, updates: Any, shape: Any) -> Any:
    if isinstance(updates, np.ndarray):
        return _scatter_strings(indices, updates, shape)
    rows, values, form = _flattened(indices, updates, shape)
    return _added(updates.new_zeros(form), rows, values).reshape(shape)


def _scatter_strings(indices: Any, updates: np.ndarray, shape: list[int]) -> np.ndarray:
    depth = indices.shape[-1]
    rows = gather_ops.flat_index(indices, shape[:depth]).reshape(-1).tolist()
    result = np.full((math.prod(shape[:depth]), math.prod(shape[depth:])), b"", object)
    for row, update in zip(rows, updates.reshape(len(rows), -1), strict=True):
        result[row] += update
    return result.reshape(shape)


def _updating(write: Any, write_row: Any) -> Any:
    def kernel(tensor: Any, indices: Any, updates: Any) -> Any:
        if _is_one_row(tensor, indices):
            row = indices.item()
            if 0 <= row < tensor.shape[0]:
                result = tensor.clone(memory_format=torch.contiguous_format)
                write_row(result.select(0, row), updates.reshape(tensor.shape[1:]))
                return result
        sides = [math.prod(side.shape) for side in (indices, updates)]
        if any(sides) and not all([*sides, math.prod(tensor.shape)]):
            raise ValueError(
                f"Indices and updates specified for empty output shape: {list(indices.shape)} and"
                f" {list(updates.shape)} into {list(tensor.shape)}"
            )
        rows, values, form = _flattened(indices, updates, tensor.shape)
        if isinstance(tensor, np.ndarray):
            return write(tensor.reshape(form).copy(), rows, values).reshape(tensor.shape)
        flat = tensor.reshape(form).clone(memory_format=torch.contiguous_format)
        return write(flat, rows, values).reshape(tensor.shape)

    return kernel


def _is_one_row(tensor: Any, indices: Any) -> bool:
    """Whether one row of a tensor of floats in the host's memory is written, as loops do."""
    return (
        indices.numel() == 1
        and indices.dim() > 0
        and indices.shape[-1] == 1
        and isinstance(tensor, torch.Tensor)
        and tensor.dtype.is_floating_point
        and tensor.is_cpu
    )


def _of_floats(kernel: Any) -> Any:
    """The source of a call that need not look for unsigned integers."""

    def inline(call: Any) -> str | None:
        if not call.dtype("tensor").is_floating:
            return None
        operands = "{tensor}, {indices}, {updates}".format(**call.arg)
        return f"{call.function(kernel, f'scatter_{kernel.__name__}')}({operands})"

    return inline


def _copied(flat: Any, rows: Any, values: Any) -> Any:
    if isinstance(flat, np.ndarray):
        flat[rows.numpy()] = values
        return flat
    return flat.index_copy_(0, rows, values)


def _subtracted(flat: Any, rows: Any, values: Any) -> Any:
    if flat.is_complex():
        # ATen multiplies by its alpha, which makes nan of an infinity's 0.
        parts = torch.view_as_real(flat)
        parts.index_add_(0, rows, torch.view_as_real(values.resolve_conj()), alpha=-1)
        return flat
    return subtract_rows(flat, rows, values)


# The same bits as signed integers add up alike.
_add_kernel = moving(_updating(_added, torch.Tensor.add_))


def _non_aliasing_kernel(input: Any, indices: Any, updates: Any) -> Any:
    return _add_kernel(input, indices, updates)


def _taken(op: Any, grad: Tensor, indices: Tensor) -> Tensor:
    return make("GatherNd", grad, indices)


def _update_grad(op: Any, grad: Tensor) -> list[Any]:
    indices, updates = op.inputs[1], op.inputs[2]
    updates_grad = _taken(op, grad, indices)
    zeros = make("Identity", grad), elementwise.zeros_like(updates, grad.dtype.base_dtype)
    return [make("TensorScatterUpdate", zeros[0], indices, zeros[1]), None, updates_grad]


def _add_grad(op: Any, grad: Tensor) -> list[Any]:
    updates_grad = _taken(op, grad, op.inputs[1])
    return [make("Identity", grad), None, updates_grad]


def _sub_grad(op: Any, grad: Tensor) -> list[Any]:
    updates_grad = _taken(op, grad, op.inputs[1])
    return [make("Identity", grad), None, make("Neg", updates_grad)]


define_op(
    "ScatterNd",
    "indices: Tindices, updates: T, shape: Tindices -> output: T",
    attrs=["T: type", f"Tindices: {_INDEX}"],
    shape=_scatter_nd_shape,
    kernel=moving(_scatter_nd_kernel),
    host=("shape",),
    gradient=lambda op, grad: [None, _taken(op, grad, op.inputs[0]), None],
    later=[BAD_INDICES],
)

define_op(
    "ScatterNdNonAliasingAdd",
    "input: T, indices: Tindices, updates: T -> output: T",
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32,"
        " bfloat16, uint16, complex128, half, uint32, uint64, bool}",
        f"Tindices: {_INDEX}",
    ],
    shape=_into_shape("input"),
    kernel=_non_aliasing_kernel,
    gradient=lambda op, grad: [grad, None, _taken(op, grad, op.inputs[1])],
    later=[BAD_INDICES],
)

for _type, _write, _write_row, _gradient in (
    ("TensorScatterUpdate", _copied, torch.Tensor.copy_, _update_grad),
    ("TensorScatterAdd", _added, torch.Tensor.add_, _add_grad),
    ("TensorScatterSub", _subtracted, torch.Tensor.sub_, _sub_grad),
):
    _kernel = _updating(_write, _write_row)
    define_op(
        _type,
        "tensor: T, indices: Tindices, updates: T -> output: T",
        attrs=["T: type", f"Tindices: {_INDEX}"],
        shape=_into_shape("tensor"),
        kernel=moving(_kernel),
        inline=_of_floats(_kernel),
        moves=_write is _copied,
        later=[BAD_INDICES],
        gradient=_gradient,
    )


# ---- public functions ------------------------------------------------------------------------


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """A tensor of zeros with ``updates`` added at ``indices``.

    Args:
      indices: int32 or int64 tensor; its last dim, of size d, indexes the first d dims.
      updates: tensor of shape ``indices.shape[:-1] + shape[d:]``.
      shape: vector of the type of ``indices``.

    Returns:
      Tensor of ``shape``; updates at the same place add up.
    """
    return make("ScatterNd", indices, updates, shape, name=name)


def tensor_scatter_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """A copy of ``tensor`` with ``updates`` written at ``indices``.

    Args:
      tensor: a tensor.
      indices: int32 or int64 tensor; its last dim, of size d, indexes the first d dims.
      updates: tensor of shape ``indices.shape[:-1] + tensor.shape[d:]``.

    Returns:
      A tensor like ``tensor``.
    """
    return make("TensorScatterUpdate", tensor, indices, updates, name=name)


def tensor_scatter_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of ``tensor`` with ``updates`` added at ``indices``; see tensor_scatter_update."""
    return make("TensorScatterAdd", tensor, indices, updates, name=name)


def tensor_scatter_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of ``tensor`` less ``updates`` at ``indices``; see tensor_scatter_update."""
    return make("TensorScatterSub", tensor, indices, updates, name=name)


tensor_scatter_nd_update = tensor_scatter_update
tensor_scatter_nd_add = tensor_scatter_add
tensor_scatter_nd_sub = tensor_scatter_sub
