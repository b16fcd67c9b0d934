"""Sparse tensors put in order, reshaped, joined, split, cut, and with empty rows filled.

Kernels move entries and never look at values, so they take every dtype, strings included.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
from penstock.ops.array import gather, ranges, shape as shape_ops, transpose
from penstock.ops.sparse import sparse_entries as entries, sparse_functions

# ---- order and shape ---------------------------------------------------------------------------


def _reorder_shape(ctx: ShapeContext) -> list[Dims]:
    indices, values, _ = entries.entry_shapes(ctx)
    return [indices, values]


def _reorder(input_indices: Any, input_values: Any, input_shape: list[int]) -> Any:
    entries.check(input_indices, input_values, input_shape)
    order = entries.order(input_indices, input_shape)
    if order is None:
        return input_indices, input_values
    return input_indices[order], entries.taken(input_values, order)


def _reorder_grad(op: Any, _: Any, grad: Tensor) -> list[Any]:
    indices, dense_shape = op.inputs[0], op.inputs[2]
    count = shape_ops.shape(indices)[0]
    numbered = SparseTensor(indices, ranges.range_(count), dense_shape)
    ordered = sparse_functions.sparse_reorder(numbered)
    back = transpose.invert_permutation(ordered.values)
    return [None, gather.gather(grad, back), None]


def _reshape_shape(ctx: ShapeContext) -> list[Dims]:
    indices = ctx.rank("input_indices", 2)
    ctx.rank("input_shape", 1)
    new = ctx.rank("new_shape", 1)
    return [(indices[0], new[0]), new]


def _reshape(input_indices: Any, input_shape: list[int], new_shape: list[int]) -> Any:
    entries.check(input_indices, None, input_shape)
    size = math.prod(input_shape)
    dims = list(new_shape)
    unknown = [i for i, d in enumerate(dims) if d == -1]
    if len(unknown) > 1 or min(dims, default=0) < -1:
        raise ValueError(f"new_shape may have one -1 and no other negative size; found {dims}")
    if unknown:
        rest = math.prod(d for d in dims if d != -1)
        if rest == 0 and size:
            raise ValueError(f"the size for -1 in {dims} is not determined")
        if rest and size % rest:
            raise ValueError(
                f"{size} element(s) of shape {input_shape} do not fill {dims}: not a multiple of"
                f" {rest}"
            )
        dims[unknown[0]] = size // rest if rest else 0
    if math.prod(dims) != size:
        raise ValueError(f"shape {input_shape} has {size} element(s), new_shape {dims} has not")
    shape = torch.tensor(dims, dtype=torch.int64)
    if dims == input_shape:
        return input_indices, shape
    flat = entries.keys(input_indices, input_shape)
    if flat is None:
        raise ValueError(f"shape {input_shape} has too many elements")
    columns = []
    for axis in range(len(dims)):
        # What is out of bounds leaves the first dim, or is negative in all.
        step = max(math.prod(dims[axis + 1 :]), 1)
        columns.append(torch.div(flat, step, rounding_mode="trunc"))
        flat = flat.fmod(step)
    made = torch.stack(columns, 1) if columns else input_indices[:, :0]
    return made, shape


# ---- joining and splitting ---------------------------------------------------------------------


def _concat_shape(ctx: ShapeContext) -> list[Dims]:
    rows: int | None = 0
    rank: int | None = None
    for indices, values, shape in zip(ctx["indices"], ctx["values"], ctx["shapes"], strict=True):
        for what, dims, wanted in (
            ("indices", indices, 2), ("values", values, 1), ("shapes", shape, 1)
        ):  # fmt: skip
            if dims is not None and len(dims) != wanted:
                raise ValueError(f"each of {what} must have rank {wanted}; found {dims}")
        count, columns = indices if indices is not None else (None, None)
        count = count if count is not None else (values[0] if values is not None else None)
        rows = None if rows is None or count is None else rows + count
        for known in (columns, shape[0] if shape is not None else None):
            if known is not None and rank is not None and known != rank:
                raise ValueError(f"the sparse tensors differ in rank: {rank} and {known}")
            rank = known if rank is None else rank
    return [(rows, rank), (rows,), (rank,)]


def _concat(indices: Any, values: Any, shapes: list[list[int]], concat_dim: int) -> Any:
    rank = len(shapes[0])
    if not -rank <= concat_dim < rank:
        raise ValueError(f"concat_dim must be in [{-rank}, {rank}); found {concat_dim}")
    axis = concat_dim % rank
    moved, offset = [], 0
    for number, (where, what, shape) in enumerate(zip(indices, values, shapes, strict=True)):
        entries.check(where, what, shape, f"the {number}th")
        for other in range(rank):
            if len(shape) != rank or other != axis and shape[other] != shapes[0][other]:
                raise ValueError(
                    f"sparse tensors of shapes {shapes[0]} and {shape} cannot be joined along"
                    f" dim {axis}"
                )
        shifted = where.clone()
        shifted[:, axis] += offset
        moved.append(shifted)
        offset += shape[axis]
    dims = [*shapes[0][:axis], offset, *shapes[0][axis + 1 :]]
    made, joined = torch.cat(moved), entries.joined(values)
    order = entries.order(made, dims)
    if order is not None:
        made, joined = made[order], entries.taken(joined, order)
    return made, joined, torch.tensor(dims, dtype=torch.int64)


def _split_shape(ctx: ShapeContext) -> list[Dims]:
    count = ctx.attr("num_split")
    ctx.rank("split_dim", 0)
    indices, _, shape = entries.entry_shapes(ctx, "")
    rank = indices[1] if indices[1] is not None else shape[0]
    return [(None, rank)] * count + [(None,)] * count + [ctx["shape"]] * count


def _split(split_dim: int, indices: Any, values: Any, shape: list[int], num_split: int) -> Any:
    entries.check(indices, values, shape, "the")
    rank = len(shape)
    if not 0 <= split_dim < rank:
        raise ValueError(f"split_dim must be in [0, {rank}); found {split_dim}")
    if num_split > shape[split_dim]:
        raise ValueError(f"cannot split {shape[split_dim]} element(s) of dim {split_dim}"
                         f" into {num_split} parts")  # fmt: skip
    if min(shape) < 0 or math.prod(shape) >= 1 << 63:
        raise ValueError(f"shape must hold sizes of fewer than 2^63 elements; found {shape}")
    entries.check_bounds(indices, shape)
    size, more = divmod(shape[split_dim], num_split)
    column = indices[:, split_dim]
    parts: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    start = 0
    for number in range(num_split):
        end = start + size + (number < more)
        chosen = ((column >= start) & (column < end)).nonzero()[:, 0]
        where = indices[chosen]
        where[:, split_dim] -= start
        parts[0].append(where)
        parts[1].append(entries.taken(values, chosen))
        dims = [*shape[:split_dim], end - start, *shape[split_dim + 1 :]]
        parts[2].append(torch.tensor(dims, dtype=torch.int64))
        start = end
    return parts


# ---- cutting -----------------------------------------------------------------------------------


def _slice_shape(ctx: ShapeContext) -> list[Dims]:
    indices, _, shape = entries.entry_shapes(ctx, "")
    parts = [ctx["start"], ctx["size"]]
    vectors = [dims for dims in parts if dims is not None and len(dims) == 1]
    sizes = [shape[0], *(dims[0] for dims in vectors), indices[1]]
    rank = next((d for d in sizes if d is not None), None)
    result = [(None, rank), (None,), ctx["shape"]]
    for name, dims in zip(("start", "size"), parts, strict=True):
        if dims is not None and len(dims) != 1:
            raise FailsAtRun(
                f"Input {name} should be a vector but received shape {show(dims)}", result
            )
    return result


def _slice(indices: Any, values: Any, shape: list[int], start: list[int], size: list[int]) -> Any:
    entries.check(indices, values, shape, "the")
    if not len(start) == len(size) == len(shape):
        raise ValueError(
            f"start and size must have {len(shape)} element(s), one for each dim; found {start}"
            f" and {size}"
        )
    if min(size, default=0) < 0:
        raise ValueError(f"size must not be negative; found {size}")
    begin = torch.tensor(start, dtype=torch.int64, device=indices.device)
    end = begin + torch.tensor(size, dtype=torch.int64, device=indices.device)
    chosen = ((indices >= begin) & (indices < end)).all(1).nonzero()[:, 0]
    dims = [
        max(0, min(s + n, d) - s) if s < d else 0
        for s, n, d in zip(start, size, shape, strict=True)
    ]
    made = indices[chosen] - begin, entries.taken(values, chosen)
    return *made, torch.tensor(dims, dtype=torch.int64)


def _slice_grad(op: Any, _: Any, grad: Tensor, __: Any) -> list[Any]:
    indices, start = op.inputs[0], op.inputs[3]
    values = make("SparseSliceGrad", grad, indices, start, op.outputs[0])
    values.set_shape(op.inputs[1].shape)
    return [None, values, None, None, None]


def _slice_grad_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("backprop_val_grad", 1)
    ctx.rank("input_start", 1)
    ctx.rank("output_indices", 2)
    return (ctx.rank("input_indices", 2)[0],)


def _slice_grad_kernel(
    backprop_val_grad: Any, input_indices: Any, input_start: Any, output_indices: Any
) -> Any:
    if len(backprop_val_grad) != len(output_indices):
        raise ValueError(
            f"backprop_val_grad has {len(backprop_val_grad)} element(s), output_indices"
            f" {len(output_indices)} row(s)"
        )
    if len(output_indices) > len(input_indices):
        raise ValueError(
            f"output_indices has {len(output_indices)} row(s), more than the"
            f" {len(input_indices)} of input_indices"
        )
    ranks = input_indices.shape[1], output_indices.shape[1], len(input_start)
    if len(set(ranks)) > 1:
        raise ValueError(
            "input_indices and output_indices must have a column, and input_start an element, for"
            f" each dim; found {ranks[0]}, {ranks[1]} and {ranks[2]}"
        )
    if not len(output_indices):
        return backprop_val_grad.new_zeros(len(input_indices))
    place, there = entries.positions_in(input_indices - input_start, output_indices)
    found = entries.taken(backprop_val_grad, place)
    return torch.where(there, found, torch.zeros((), dtype=found.dtype, device=found.device))


# ---- empty rows --------------------------------------------------------------------------------


def _fill_shape(ctx: ShapeContext) -> list[Dims]:
    indices = ctx.rank("indices", 2)
    ctx.rank("values", 1)
    ctx.rank("default_value", 0)
    shape = ctx.rank("dense_shape", 1)
    dims = ctx.shape_value("dense_shape")
    rank = indices[1] if indices[1] is not None else shape[0]
    if None not in (indices[1], shape[0]) and indices[1] != shape[0]:
        raise ValueError(f"indices has {indices[1]} column(s), dense_shape {shape[0]} element(s)")
    return [(None, rank), (None,), (dims[0] if dims else None,), (indices[0],)]


def _fill(indices: Any, values: Any, dense_shape: list[int], default_value: Any) -> Any:
    entries.check(indices, values, dense_shape, "the")
    if not dense_shape:
        raise ValueError("dense_shape must have at least one element")
    rows, count = dense_shape[0], len(indices)
    row = indices[:, 0]
    if count:
        low, high = (int(v) for v in row.aminmax())
        if low < 0 or high >= rows:
            bad = low if low < 0 else high
            raise ValueError(f"indices holds row {bad}, which is not in [0, {rows})")
    here = torch.bincount(row, minlength=rows) if rows else row
    empty = here == 0
    if count >= rows and not bool(empty.any()) and bool((row[1:] >= row[:-1]).all()):
        return indices, values, empty, torch.arange(count, device=indices.device)
    ends = here.clamp_min(1).cumsum(0)
    order = torch.sort(row, stable=True)[1]
    # The i-th entry of a row goes i places behind the row's first place.
    first_entry = here.cumsum(0) - here
    ranked = torch.arange(count, device=indices.device) - first_entry[row[order]]
    place = torch.empty_like(row)
    place[order] = (ends - here.clamp_min(1))[row[order]] + ranked
    total = int(ends[-1]) if rows else 0
    made = indices.new_zeros((total, indices.shape[1]))
    made[place] = indices
    holes = (ends - 1)[empty]
    made[holes, 0] = empty.nonzero()[:, 0]
    return made, _filled(values, total, place, default_value), empty, place


def _filled(values: Any, total: int, place: Any, default: Any) -> Any:
    if isinstance(values, np.ndarray):
        text = np.full(total, default[()] if isinstance(default, np.ndarray) else default, object)
        text[place.cpu().numpy()] = values
        return text
    signed = entries.SIGNED.get(values.dtype, values.dtype)
    made = default.view(signed).expand(total).clone()
    made[place] = values.view(signed)
    return made.view(values.dtype)


def _fill_grad(op: Any, _: Any, grad: Tensor, __: Any, ___: Any) -> list[Any]:
    values, default = make("SparseFillEmptyRowsGrad", op.outputs[3], grad)
    return [None, values, None, default]


def _fill_grad_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("grad_values", 1)
    return [ctx.rank("reverse_index_map", 1), ()]


def _fill_grad_kernel(reverse_index_map: Any, grad_values: Any) -> Any:
    if len(reverse_index_map):
        low, high = (int(v) for v in reverse_index_map.aminmax())
        if low < 0 or high >= len(grad_values):
            raise ValueError(
                f"reverse_index_map holds {low if low < 0 else high}, which is not in"
                f" [0, {len(grad_values)})"
            )
    visited = torch.zeros(len(grad_values), dtype=torch.bool, device=grad_values.device)
    visited[reverse_index_map] = True
    rest = entries.taken(grad_values, (~visited).nonzero()[:, 0])
    if rest.dtype in entries.SIGNED:
        total = rest.to(torch.int64).sum().to(rest.dtype)
    else:
        total = rest.sum(dtype=rest.dtype)
    return entries.taken(grad_values, reverse_index_map), total


# ---- the ops -----------------------------------------------------------------------------------

define_op(
    "SparseReorder",
    "input_indices: int64, input_values: T, input_shape: int64"
    " -> output_indices: int64, output_values: T",
    attrs=["T: type"],
    shape=_reorder_shape,
    kernel=_reorder,
    host=("input_shape",),
    aliases=("input_indices", "input_values"),
    gradient=_reorder_grad,
)
define_op(
    "SparseReshape",
    "input_indices: int64, input_shape: int64, new_shape: int64"
    " -> output_indices: int64, output_shape: int64",
    shape=_reshape_shape,
    kernel=_reshape,
    host=("input_shape", "new_shape"),
    aliases=("input_indices",),
    no_gradient="indices are integers",
)
define_op(
    "SparseConcat",
    "indices: N * int64, values: N * T, shapes: N * int64"
    " -> output_indices: int64, output_values: T, output_shape: int64",
    attrs=["concat_dim: int", "N: int >= 2", "T: type"],
    shape=_concat_shape,
    kernel=_concat,
    host=("shapes",),
    no_gradient="TensorFlow defines none",
    on_host=True,
)
define_op(
    "SparseSplit",
    "split_dim: int64, indices: int64, values: T, shape: int64"
    " -> output_indices: num_split * int64, output_values: num_split * T,"
    " output_shape: num_split * int64",
    attrs=["num_split: int >= 1", "T: type"],
    shape=_split_shape,
    kernel=_split,
    host=("split_dim", "shape"),
    no_gradient="TensorFlow defines none",
    on_host=True,
)
define_op(
    "SparseSlice",
    "indices: int64, values: T, shape: int64, start: int64, size: int64"
    " -> output_indices: int64, output_values: T, output_shape: int64",
    attrs=["T: type"],
    shape=_slice_shape,
    kernel=_slice,
    host=("shape", "start", "size"),
    gradient=_slice_grad,
    on_host=True,
)
define_op(
    "SparseSliceGrad",
    "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64"
    " -> val_grad: T",
    attrs=[entries.NUMBERS],
    shape=_slice_grad_shape,
    kernel=_slice_grad_kernel,
    no_gradient="TensorFlow defines none",
)
define_op(
    "SparseFillEmptyRows",
    "indices: int64, values: T, dense_shape: int64, default_value: T"
    " -> output_indices: int64, output_values: T, empty_row_indicator: bool,"
    " reverse_index_map: int64",
    attrs=["T: type"],
    shape=_fill_shape,
    kernel=_fill,
    host=("dense_shape",),
    aliases=("indices", "values"),
    gradient=_fill_grad,
)
define_op(
    "SparseFillEmptyRowsGrad",
    "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    attrs=["T: type"],
    shape=_fill_grad_shape,
    kernel=_fill_grad_kernel,
    no_gradient="TensorFlow defines none",
)
