"""Gather and GatherNd: picking rows and entries by index.

Indices out of range are errors, as in TensorFlow on CPU.  Gathers along one dim let torch find them
(``index_select`` checks anyway), so the check costs nothing; the message is made only then.
The gradient of a gather of rows is IndexedSlices: only the rows that were read.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import colocate_with, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import (
    fill as fill_ops,
    join,
    ranges,
    ranks,
    reshape as reshape_ops,
    shape as shape_ops,
    slicing,
    squeeze,
)
from penstock.ops.array.movement import moving
from penstock.ops.array.unsigned import SIGNED

_INDEX = "{int32, int64}"
# What a later TensorFlow's ops that go by index tuples say of those out of range.
BAD_INDICES = 'bad_indices_policy: string = ""'


# ---- Gather, GatherV2 --------------------------------------------------------------------------


def _gather_shape(ctx: ShapeContext) -> Dims:
    params, indices = ctx["params"], ctx["indices"]
    if params is not None and not params:
        raise ValueError("params must have at least one dim; found a scalar")
    if params is None or indices is None:
        return None
    return (*indices, *params[1:])


def _gather_v2_shape(ctx: ShapeContext) -> Dims:
    params, indices, batch = ctx["params"], ctx["indices"], ctx.attr("batch_dims")
    ctx.rank("axis", 0)
    if params is not None and not params:
        raise ValueError("params must have at least one dim; found a scalar")
    value = ctx.value("axis")
    if params is not None and value is not None and not -len(params) <= value < len(params):
        rank = int(value + 1 if value >= 0 else -value)
        raise ValueError(
            f"Shape must be at least rank {rank} but is rank {len(params)}: axis {int(value)} is"
            f" out of range for params of shape {show(params)}"
        )
    if params is None or indices is None:
        return None
    if batch < 0:
        batch += len(indices)
    if not 0 <= batch <= len(indices):
        raise ValueError(f"batch_dims {batch} is not in the rank of indices {show(indices)}")
    if value is None:
        return (None,) * (len(params) + len(indices) - 1 - batch)
    axis = int(value) % len(params)
    if batch > axis:
        raise ValueError(f"batch_dims {batch} must not be greater than axis {axis}")
    lead = shapes.merge_static(params[:batch], indices[:batch])
    assert lead is not None
    return (*lead, *params[batch:axis], *indices[batch:], *params[axis + 1 :])


def rows_at(params: Any, indices: Any) -> Any:
    """Rows of ``params``; the common case, and what programs call directly."""
    try:
        if indices.dim() == 1:
            return params.index_select(0, indices)
        if not indices.dim() and params.is_cpu:
            row = indices.item()
            if 0 <= row < params.shape[0]:
                return params.select(0, row).clone(memory_format=torch.contiguous_format)
        if params.dim() == 2:
            return torch.embedding(params, indices)
        flat = params.index_select(0, indices.reshape(-1))
        return flat.view((*indices.shape, *params.shape[1:]))
    except (IndexError, RuntimeError) as error:
        if params.dtype in SIGNED and not isinstance(error, IndexError):
            return rows_at(params.view(SIGNED[params.dtype]), indices).view(params.dtype)
        raise rows_out_of_range(indices, params.shape[0]) or error from None


def rows_out_of_range(indices: Any, limit: int) -> Exception | None:
    flat = np.asarray(indices.cpu() if isinstance(indices, torch.Tensor) else indices)
    bad = (flat < 0) | (flat >= limit)
    if not bad.any():
        return None
    where = np.argwhere(bad)[0].tolist()
    place = f"[{','.join(map(str, where))}]" if where else ""
    return IndexError(f"indices{place} = {flat[tuple(where)]} is not in [0, {limit})")


def _check_range(indices: Any, limit: int) -> None:
    if indices.numel():
        low, high = torch.aminmax(indices)
        if low < 0 or high >= limit:
            raise rows_out_of_range(indices, limit)  # type: ignore[misc]


def _gather_kernel(params: Any, indices: Any) -> Any:
    return _gather_v2_kernel(params, indices, 0, 0)


def _gather_v2_kernel(params: Any, indices: Any, axis: Any, batch_dims: Any) -> Any:
    rank = len(params.shape)
    if not -rank <= axis < rank:
        raise ValueError(f"Expected axis in the range [{-rank}, {rank}), but got {axis}")
    axis %= rank
    if isinstance(params, np.ndarray):
        return _gather_strings(params, indices.numpy(), axis, batch_dims)
    if batch_dims:
        return _batched(params, indices, axis, batch_dims % indices.dim())
    if axis == 0:
        return rows_at(params, indices)
    try:
        taken = params.index_select(axis, indices.reshape(-1))
    except (IndexError, RuntimeError) as error:
        raise rows_out_of_range(indices, params.shape[axis]) or error from None
    if indices.dim() == 1:
        return taken
    return taken.reshape((*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :]))


def _batched(params: Any, indices: Any, axis: int, batch: int) -> Any:
    limit = params.shape[axis]
    _check_range(indices, limit)
    lead, middle, inner = params.shape[:batch], params.shape[batch:axis], params.shape[axis + 1 :]
    count = math.prod(lead)
    rows = params.movedim(axis, batch).reshape(count, limit, *middle, *inner)
    picked = indices.reshape(count, -1).long()
    batches = torch.arange(count, device=params.device).unsqueeze(1)
    own = indices.shape[batch:]
    taken = rows[batches, picked].reshape((*lead, *own, *middle, *inner))
    source = list(range(batch, batch + len(own)))
    return taken.movedim(source, [s + len(middle) for s in source])


def _gather_strings(params: np.ndarray, indices: np.ndarray, axis: int, batch: int) -> Any:
    error = rows_out_of_range(indices, params.shape[axis])
    if error is not None:
        raise error
    if not batch:
        return np.asarray(np.take(params, indices, axis), object)
    places = torch.arange(params.size).reshape(params.shape)
    where = _batched(places, torch.from_numpy(indices), axis, batch % indices.ndim)
    return params.reshape(-1)[where.numpy()]


def _gather_handles(params: np.ndarray, indices: Any, axis: int, batch_dims: int) -> Any:
    taken = _gather_v2_kernel(params, indices, axis, batch_dims)
    return taken if taken.ndim else taken.item()  # one handle is the state itself


def _gather_inline(call: Any) -> str | None:
    params = call.dims("params")
    if call.dtype("params") is dtypes.resource and call.op.type == "GatherV2":
        axis = call.arg["axis"] if call.value("axis") is None else literal(int(call.value("axis")))
        operands = f"{call.arg['params']}, {call.arg['indices']}, {axis}"
        return f"{call.function(_gather_handles)}({operands}, {literal(call.attr('batch_dims'))})"
    if call.dtype("params") is dtypes.string or params is None:
        return None
    if call.op.type == "GatherV2":
        known = call.value("axis")
        if known is None or int(known) % len(params) or call.attr("batch_dims"):
            return None
    row = _known_row(call, params)
    if row is not None:
        return f"{call.arg['params']}.select(0, {literal(row)}).clone()"
    return f"{call.function(rows_at, 'gather_rows')}({call.arg['params']}, {call.arg['indices']})"


def _known_row(call: Any, params: Dims) -> int | None:
    """The one row that is taken, where it is known and certainly there."""
    index, rows = call.value("indices"), params[0] if params else None
    if index is None or index.ndim or rows is None or not 0 <= index < rows:
        return None
    return int(index) if call.dtype("params").is_floating or len(params or ()) == 1 else None


def _fold_gather(ctx: ShapeContext, params: Any, indices: Any, axis: Any = 0) -> Any:
    if indices is None or axis is None or ctx.op.attrs.get("batch_dims"):
        return None
    if params is None:
        dims = ctx["params"]
        known = None
        if dims is not None and len(dims) == 1 and ctx.tensor("params").dtype.is_integer:
            known = ctx.shape_value("params")
        if known is None or len(known) != dims[0]:
            return None
        params = np.array(known, object)
    if indices.size and (indices.min() < 0 or indices.max() >= params.shape[int(axis)]):
        return None
    taken = np.asarray(np.take(params, indices, int(axis)))
    if any(v is None for v in taken.ravel()):
        return None
    return taken.astype(ctx.op.outputs[0].dtype.as_numpy_dtype)


def _params_shape(params: Tensor) -> Tensor:
    with colocate_with(params):
        return shape_ops.cast_to(shape_ops.shape(params, out_type=dtypes.int64), dtypes.int32)


def _rows_grad(op: Any, grad: Tensor, full: Tensor) -> IndexedSlices:
    indices = op.inputs[1]
    size = reshape_ops.expand_dims(ranks.size(indices), 0)
    tail = slicing.getitem(full, slice(1, None))
    values = reshape_ops.reshape(grad, join.concat([size, tail], 0))
    return IndexedSlices(values, reshape_ops.reshape(indices, size), full)


def _gather_grad(op: Any, grad: Tensor) -> list[Any]:
    return [_rows_grad(op, grad, _params_shape(op.inputs[0])), None]


def _gather_v2_grad(op: Any, grad: Tensor) -> list[Any]:
    params, indices, axis = op.inputs
    batch = int(op.attrs["batch_dims"])
    if batch < 0:
        batch += len(indices.sizes)
    full = _params_shape(params)
    known = static.constant_value(axis)
    if known is not None and int(known) == 0:
        return [_rows_grad(op, grad, full), None, None]
    if batch:
        return [_batched_grad(grad, full, indices, axis, batch), None, None]
    return [_axis_grad(grad, full, indices, axis), None, None]


def _axis_grad(grad: Tensor, full: Tensor, indices: Tensor, axis: Tensor) -> Tensor:
    """Moves the gathered dim to the front, sums the pieces of each index, and moves it back."""
    item = slicing.getitem
    # TensorFlow makes these two nodes and does not use them; they keep the later names the same.
    reshape_ops.expand_dims(ranks.size(indices), 0)
    outer = item(full, slice(None, axis))
    inner = item(item(full, slice(axis, None)), slice(1, None))
    values_shape = join.concat([outer, [-1], inner], 0)
    outer_dims, inner_dims = ranks.size(values_shape), ranks.size(outer)
    return _summed(grad, full, indices, axis, values_shape, inner_dims, outer_dims, 0)


def _summed(
    grad: Tensor, full: Tensor, indices: Tensor, axis: Tensor, values_shape: Tensor,
    gathered: Tensor, rank: Tensor, batch: int,
) -> Tensor:  # fmt: skip
    lead = ranges.range_(batch)
    outer = ranges.range_(batch, gathered)
    inner = ranges.range_(make("AddV2", gathered, 1, name="add"), rank)
    values = reshape_ops.reshape(grad, values_shape)
    order = join.concat([lead, [gathered], outer, inner], 0)
    moved = make("Transpose", values, order, name="transpose")
    count = slicing.getitem(full, axis)
    flat = reshape_ops.reshape(indices, reshape_ops.expand_dims(ranks.size(indices), 0))
    total = make("UnsortedSegmentSum", moved, flat, count)
    back = join.concat([lead, make("AddV2", outer, 1, name="add"), [batch], inner], 0)
    return make("Transpose", total, back, name="transpose")


def _batched_grad(grad: Tensor, full: Tensor, indices: Tensor, axis: Tensor, batch: int) -> Tensor:
    """Scatters into one tensor whose first dim runs over batches and the gathered dim."""
    rank = _known_rank(full)
    position = static.constant_value(axis)
    if rank is None or position is None or indices.sizes is None:
        raise ValueError(
            "the gradient of a gather with batch_dims needs a constant axis and known ranks"
        )
    at = int(position) % rank
    own = len(indices.sizes) - batch
    # grad: [batch, outer, own, inner] -> [batch, own, outer, inner].
    order = [
        *range(batch), *range(at, at + own), *range(batch, at), *range(at + own, rank + own - 1)
    ]  # fmt: skip
    values = make("Transpose", grad, order, name="transpose")
    rest = [*range(batch, at), *range(at + 1, rank)]
    tail = gather(full, np.array(rest, np.int32)) if rest else None
    lead = make("Prod", slicing.getitem(full, slice(None, batch)), [0])
    limit = slicing.getitem(full, at)
    flat = reshape_ops.reshape(indices, join.stack([lead, -1]))
    steps = make("Mul", ranges.range_(lead), limit, name="mul")
    steps = shape_ops.cast_to(steps, indices.dtype.base_dtype)
    flat = make("AddV2", flat, reshape_ops.expand_dims(steps, 1), name="add")
    flat = reshape_ops.reshape(flat, [-1])
    rows = [[-1]] if tail is None else [[-1], tail]
    values = reshape_ops.reshape(values, join.concat(rows, 0))
    total = make("UnsortedSegmentSum", values, flat, make("Mul", lead, limit, name="mul"))
    sizes = slicing.getitem(full, slice(None, batch))
    parts = [sizes, [limit]] if tail is None else [sizes, [limit], tail]
    stacked = reshape_ops.reshape(total, join.concat(parts, 0))
    back = [*range(batch), *range(batch + 1, at + 1), batch, *range(at + 1, rank)]
    return make("Transpose", stacked, back, name="transpose")


def _known_rank(shape_vector: Tensor) -> int | None:
    dims = shape_vector.sizes
    return None if dims is None else dims[0]


define_op(
    "Gather",
    "params: Tparams, indices: Tindices -> output: Tparams",
    attrs=["validate_indices: bool = True", "Tparams: type", f"Tindices: {_INDEX}"],
    shape=_gather_shape,
    kernel=_gather_kernel,
    inline=_gather_inline,
    fold=_fold_gather,
    gradient=_gather_grad,
    moves=True,
)

define_op(
    "GatherV2",
    "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
    attrs=["batch_dims: int = 0", "Tparams: type", f"Tindices: {_INDEX}", f"Taxis: {_INDEX}"],
    shape=_gather_v2_shape,
    kernel=moving(_gather_v2_kernel),
    inline=_gather_inline,
    fold=_fold_gather,
    host=("axis",),
    gradient=_gather_v2_grad,
    moves=True,
)


# ---- GatherNd ----------------------------------------------------------------------------------


def _gather_nd_shape(ctx: ShapeContext) -> Dims:
    params, indices = ctx["params"], ctx.rank_at_least("indices", 1)
    if params is None or indices is None or indices[-1] is None:
        return None
    depth = indices[-1]
    if depth > len(params):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {show(indices)} and"
            f" params shape: {show(params)}: index innermost dimension length must be <= params"
            f" rank; saw: {depth} vs. {len(params)}"
        )
    dims = (*indices[:-1], *params[depth:])
    if not params:
        raise FailsAtRun("params must be at least a vector: they are a scalar", dims)
    return dims


def _of_nothing(indices: Any, dims: Any, what: str) -> str:
    if what == "shape":
        return (
            "Indices and updates specified for empty output.  indices shape:"
            f" {show(tuple(indices.shape))}"
        )
    return (
        "Requested more than 0 entries, but params is empty.  Params shape begins with"
        f" {show(tuple(dims))}"
    )


def flat_index(indices: Any, dims: Any, what: str = "shape") -> Any:
    """Row numbers in a tensor whose leading ``dims`` are flattened, range-checked.

    Args:
      indices: integer tensor [..., len(dims)].
      dims: sizes of the leading dims.
      what: what ``dims`` are of, for the message.

    Returns:
      int64 tensor of the shape of ``indices`` without its last dim.
    """
    flat = None
    for column, size in zip(indices.unbind(-1), dims, strict=True):
        if column.numel():
            low, high = torch.aminmax(column)
            if low < 0 or high >= size:
                rows = indices.reshape(-1, len(dims)).cpu().numpy()
                bad = ((rows < 0) | (rows >= np.array(dims))).any(1)
                row = int(np.argmax(bad))
                place = np.unravel_index(row, tuple(indices.shape[:-1]))
                at = f"[{','.join(map(str, place))}]" if place else ""
                if 0 in dims:
                    raise IndexError(_of_nothing(indices, dims, what))
                raise IndexError(
                    f"indices{at} = {rows[row].tolist()} does not index into {what}"
                    f" {show(tuple(dims))}"
                )
        flat = column.long() if flat is None else flat * size + column
    if flat is None:
        return torch.zeros(indices.shape[:-1], dtype=torch.int64, device=indices.device)
    return flat


def _gather_nd_kernel(params: Any, indices: Any) -> Any:
    if not params.ndim:
        raise ValueError("params must be at least a vector: they are a scalar")
    depth = indices.shape[-1]
    rows = flat_index(indices, params.shape[:depth], "param shape")
    if 0 in params.shape and rows.numel():
        raise ValueError(f"params of shape {list(params.shape)} have no entries to gather")
    if isinstance(params, np.ndarray):
        flat = params.reshape(math.prod(params.shape[:depth]), *params.shape[depth:])
        return flat[rows.numpy()] if rows.dim() else np.asarray(flat[int(rows)], object)
    flat = params.reshape(math.prod(params.shape[:depth]), *params.shape[depth:])
    taken = flat.index_select(0, rows.reshape(-1))
    return taken if rows.dim() == 1 else taken.reshape((*rows.shape, *params.shape[depth:]))


def _gather_nd_grad(op: Any, grad: Tensor) -> list[Any]:
    params, indices = op.inputs
    full = shape_ops.shape(params, out_type=indices.dtype.base_dtype)
    dims = indices.sizes
    if dims is not None and len(dims) == 2 and dims[-1] == 1:
        return [IndexedSlices(grad, squeeze.squeeze(indices, axis=-1), full), None]
    return [make("ScatterNd", indices, grad, full), None]


define_op(
    "GatherNd",
    "params: Tparams, indices: Tindices -> output: Tparams",
    attrs=["Tparams: type", f"Tindices: {_INDEX}"],
    shape=_gather_nd_shape,
    kernel=moving(_gather_nd_kernel),
    gradient=_gather_nd_grad,
    moves=True,
    later=[BAD_INDICES],
)


# ---- public functions ------------------------------------------------------------------------


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """Slices of ``params`` along ``axis``, picked by ``indices``.

    Args:
      params: tensor or variable.
      indices: int32 or int64 tensor; every one in ``[0, params.shape[axis])``.
      validate_indices: ignored; they are always checked.
      axis: scalar; by default ``batch_dims``.
      batch_dims: number of leading dims that params and indices share.

    Returns:
      Tensor of shape ``params.shape[:axis] + indices.shape[batch_dims:] +
      params.shape[axis + 1:]``.

    Raises:
      InvalidArgumentError: at run time, when an index is out of range.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.gather(tf.zeros([5, 3]), [0, 4]).shape.as_list()
      [2, 3]
    """
    if axis is None:
        axis = batch_dims
    known = static.constant_value(axis) if isinstance(axis, Tensor) else np.asarray(axis)
    if not batch_dims and known is not None and not known.ndim and known == 0:
        sparse_read = getattr(params, "sparse_read", None)
        if sparse_read is not None:
            return sparse_read(indices, name=name)
    made = make("GatherV2", params, indices, axis, name=name, batch_dims=batch_dims)
    return made


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """Entries or slices of ``params`` at positions given by the last dim of ``indices``.

    Args:
      params: a tensor.
      indices: int32 or int64 tensor; its last dim, of size d, indexes the first d dims.
      batch_dims: number of leading dims that params and indices share, an int or a constant.

    Returns:
      Tensor of shape ``indices.shape[:-1] + params.shape[d:]``.

    Raises:
      TypeError: ``batch_dims`` is a tensor whose value is not known.

    Example:
      >>> import penstock as tf
      >>> table = tf.constant([[1, 2], [3, 4]])
      >>> with tf.Session() as session:
      ...     session.run(tf.gather_nd(table, [[0, 1], [1, 0]])).tolist()
      [2, 3]
    """
    if isinstance(batch_dims, Tensor):
        known = static.constant_value(batch_dims)
        if known is None:
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        batch_dims = int(known)
    if batch_dims:
        return _batch_gather_nd(params, indices, batch_dims, name)
    gather_from = getattr(params, "gather_nd", None)
    if gather_from is not None:
        return gather_from(indices, name=name)
    made = make("GatherNd", params, indices, name=name)
    return made


def _batch_gather_nd(params: Any, indices: Any, batch_dims: int, name: str | None) -> Tensor:
    """Prefixes every index with its position in the batch dims, then gathers."""
    with name_scope(name, "BatchGatherNd", [params, indices]):
        params = convert_to_tensor(params, name="params")
        indices = convert_to_tensor(indices, name="indices")
        rank = indices.rank
        if batch_dims < 0 or rank is not None and batch_dims >= rank:
            raise ValueError(
                f"batch_dims = {batch_dims} must be less than rank(indices) and not negative;"
                f" indices have shape {show(indices.sizes)}"
            )
        if params.rank is not None and batch_dims >= params.rank:
            raise ValueError(
                f"batch_dims = {batch_dims} must be less than rank(params) = {params.rank}"
            )
        if params.rank is None:
            raise ValueError("Cannot infer num from shape (?,): the rank of params must be known")
        full = shape_ops.shape(indices)
        columns = [
            _batch_position(full, axis, rank, indices.dtype.base_dtype)
            for axis in range(batch_dims)
        ]
        return gather_nd(params, join.concat([*columns, indices], -1 if rank is None else rank - 1))


def _batch_position(full: Tensor, axis: int, rank: int | None, dtype: Any) -> Tensor:
    """Positions along dim ``axis``, of the shape ``full`` but with a last dim of 1."""
    count = slicing.getitem(full, axis)
    if rank is None:
        more = fill_ops.ones(ranks.size(full) - (axis + 1), dtypes.int32)
        form: Any = join.concat([[1] * axis + [-1], more], 0)
    else:
        form = [1] * axis + [-1] + [1] * (rank - axis - 1)
    steps = reshape_ops.reshape(shape_ops.cast_to(ranges.range_(count), dtype), form)
    form = join.concat([slicing.getitem(full, slice(None, -1)), [1]], 0)
    return make("BroadcastTo", steps, form)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """Gathers along the last dim of ``indices``, separately for each of the dims before it.

    Args:
      params: tensor of at least the rank of ``indices``.
      indices: int32 or int64 tensor.

    Returns:
      Tensor of shape ``indices.shape + params.shape[indices.rank:]``.

    Raises:
      ValueError: the rank of ``indices`` is unknown.
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices.rank is None:
            raise ValueError("batch_gather: the rank of indices must be known")
        return _flattened_gather(params, indices, indices.rank)


def _flattened_gather(params: Tensor, indices: Tensor, rank: int) -> Tensor:
    item, kind = slicing.getitem, indices.dtype.base_dtype
    indices_shape, params_shape = shape_ops.shape(indices), shape_ops.shape(params)
    full = indices
    stride = fill_ops.ones([], kind)
    sizes = make("Cast", params_shape, DstT=kind)
    for axis in range(rank - 1, 0, -1):
        size = item(sizes, axis - 1)
        stride = make("Mul", stride, item(sizes, axis), name="mul")
        steps = make("Range", fill_ops.zeros([], kind), size, fill_ops.ones([], kind))
        steps = make("Mul", steps, stride, name="mul")
        form = join.stack([1] * (axis - 1) + [size] + [1] * (rank - axis))
        full = make("AddV2", full, reshape_ops.reshape(steps, form), name="add")
    flat_indices = reshape_ops.reshape(full, [-1])
    outer = item(params_shape, slice(rank, None))
    count = make("Prod", item(params_shape, slice(None, rank)), [0])
    flat_params = reshape_ops.reshape(params, join.concat([[count], outer], 0))
    taken = gather(flat_params, flat_indices)
    result = reshape_ops.reshape(taken, join.concat([indices_shape, outer], 0))
    if params.sizes is not None:
        lead = shapes.merge_static(indices.sizes[:-1], params.sizes[: rank - 1])
        result.set_shape((*(lead or ()), indices.sizes[-1], *params.sizes[rank:]))
    return result
