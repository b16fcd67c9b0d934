"""Ops of ragged tensors, which travel as row splits, one vector a ragged dim, and flat values.

Row i of a ragged dim holds what is at ``splits[i]`` to ``splits[i + 1]`` of the next dim.  Splits
are numbers of positions and are computed on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import nodes

_SPLITS = "Tsplits: {int32, int64} = int64"
_INTEGERS = "they are positions"


# ---- RaggedRange ---------------------------------------------------------------------------------


def _range_shape(ctx: ShapeContext) -> list[Dims]:
    rows: int | None = None
    vectors = False
    for name in ("starts", "limits", "deltas"):
        dims = ctx[name]
        if dims is None:
            vectors = True
            continue
        if len(dims) > 1:
            raise ValueError(f"{name} must be a scalar or vector; its shape is {show(dims)}")
        if not dims:
            continue
        vectors = True
        if None not in (rows, dims[0]) and rows != dims[0]:
            raise ValueError(
                "Dimensions must be equal: starts, limits, and deltas must have the same shape;"
                f" found {rows} and {dims[0]} rows"
            )
        rows = dims[0] if rows is None else rows
    count = rows if vectors else 1
    return [(None if count is None else count + 1,), (None,)]


def _range_kernel(starts: Any, limits: Any, deltas: Any, Tsplits: Any) -> list[Any]:
    sizes = {tuple(t.shape) for t in (starts, limits, deltas) if t.dim()}
    if len(sizes) > 1:
        raise invalid(
            "starts, limits, and deltas must have the same shape; found"
            f" {', '.join(map(show, sorted(sizes)))}"
        )
    size = sizes.pop() if sizes else (1,)
    starts, limits, deltas = (t.expand(size) for t in (starts, limits, deltas))
    if bool((deltas == 0).any()):
        raise invalid("Requires delta != 0")
    if starts.dtype.is_floating_point:
        steps = torch.ceil((limits - starts) / deltas)
    else:
        steps = -torch.div(starts - limits, deltas, rounding_mode="floor")
    counts = steps.clamp(min=0).to(torch.int64)
    splits = torch.zeros(len(counts) + 1, dtype=torch.int64)
    torch.cumsum(counts, 0, out=splits[1:])
    within = torch.arange(int(splits[-1])) - splits[:-1].repeat_interleave(counts)
    first, step = starts.repeat_interleave(counts), deltas.repeat_interleave(counts)
    return [splits.to(Tsplits), first + within.to(first.dtype) * step]


define_op(
    "RaggedRange",
    "starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T",
    attrs=["T: {bfloat16, float, double, int32, int64} = int32", _SPLITS],
    shape=_range_shape,
    kernel=_range_kernel,
    no_gradient=_INTEGERS,
)


# ---- RaggedGather --------------------------------------------------------------------------------


def _gather_shape(ctx: ShapeContext) -> list[Dims]:
    values = ctx["params_dense_values"]
    splits: list[Dims] = [(None,)] * ctx.attr("OUTPUT_RAGGED_RANK")
    return [*splits, None if values is None else (None, *values[1:])]


def _picked(splits: Any, rows: Any) -> tuple[Any, Any]:
    """The splits of chosen rows, and the positions that they hold."""
    starts, counts = splits[:-1][rows], (splits[1:] - splits[:-1])[rows]
    made = torch.zeros(len(rows) + 1, dtype=torch.int64)
    torch.cumsum(counts, 0, out=made[1:])
    offsets = (starts - made[:-1]).repeat_interleave(counts)
    return made, torch.arange(int(made[-1])) + offsets


def _check_splits(splits: Any, size: int) -> None:
    if not len(splits):
        raise invalid("Ragged splits may not be empty")
    if int(splits[0]) < 0:
        raise invalid(f"Ragged splits must be non-negative; the first is {int(splits[0])}")
    if int(splits[-1]) > size:
        raise invalid(
            f"Ragged splits must not point past values: the last is {int(splits[-1])} of {size}"
        )
    if bool((splits[1:] < splits[:-1]).any()):
        raise invalid(f"Ragged splits must be sorted; they are {splits.tolist()}")


def _gather_kernel(
    params_nested_splits: Any, params_dense_values: Any, indices: Any, Tsplits: Any
) -> list[Any]:
    sizes = [len(splits) - 1 for splits in params_nested_splits[1:]]
    for splits, size in zip(params_nested_splits, [*sizes, len(params_dense_values)], strict=True):
        _check_splits(splits, size)
    outer = params_nested_splits[0]
    rows = indices.reshape(-1).to(torch.int64)
    wrong = (rows < 0) | (rows >= len(outer) - 1)
    if bool(wrong.any()):
        at = int(wrong.nonzero()[0])
        place = np.unravel_index(at, tuple(indices.shape))
        where = f"[{','.join(map(str, place))}]" if place else ""
        raise invalid(f"indices{where} = {int(rows[at])} is not in [0, {len(outer) - 1})")
    made = []
    # The splits of the outer dims of several: all rows are of one length.
    for count, size in zip(np.cumprod(indices.shape[:-1]), indices.shape[1:]):
        made.append(torch.arange(int(count) + 1) * size)
    for splits in params_nested_splits:
        chosen, rows = _picked(splits.to(torch.int64), rows)
        made.append(chosen)
    if indices.dim() == 0:
        made = made[1:]
    places = rows.numpy() if isinstance(params_dense_values, np.ndarray) else rows
    return [[splits.to(Tsplits) for splits in made], params_dense_values[places]]


def _gather_grad(op: Any, *grads: Any) -> list[Any]:
    *splits, values, indices = op.inputs
    dims = nodes.shape(values)
    # Where each value came from: what the same rows hold of the positions.
    *_, positions = make(
        "RaggedGather",
        splits,
        nodes.range_to(nodes.element(dims, 0)),
        indices,
        OUTPUT_RAGGED_RANK=op.attrs["OUTPUT_RAGGED_RANK"],
    )
    return [*(None for _ in splits), IndexedSlices(grads[-1], positions, dims), None]


define_op(
    "RaggedGather",
    "params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues,"
    " indices: Tindices"
    " -> output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues",
    attrs=[
        "Tvalues: type", "Tindices: {int32, int64}", _SPLITS, "PARAMS_RAGGED_RANK: int >= 1",
        "OUTPUT_RAGGED_RANK: int >= 0",
    ],
    shape=_gather_shape,
    kernel=_gather_kernel,
    gradient=_gather_grad,
)  # fmt: skip


# ---- RaggedTensorToSparse ------------------------------------------------------------------------


def _to_sparse_shape(ctx: ShapeContext) -> list[Dims]:
    values = ctx["rt_dense_values"]
    if values is None:
        return [(None, None), (None,), (None,)]
    rank = len(values) + ctx.attr("RAGGED_RANK")
    count: int | None = 1
    for dim in values:
        count = None if None in (count, dim) else count * dim
    return [(count, rank), (count,), (rank,)]


def _to_sparse_kernel(rt_nested_splits: Any, rt_dense_values: Any) -> list[Any]:
    values = rt_dense_values
    nested = [splits.to(torch.int64) for splits in rt_nested_splits]
    for splits in nested:
        if not len(splits) or int(splits[0]):
            raise invalid("First value of ragged splits must be 0.")
    if int(nested[-1][-1]) != values.shape[0]:
        raise invalid(
            "Final value of ragged splits must match the length the corresponding ragged values."
        )
    columns, shape = [torch.arange(len(nested[0]) - 1)], [len(nested[0]) - 1]
    for splits in nested:
        counts = splits[1:] - splits[:-1]
        rows = torch.arange(len(counts)).repeat_interleave(counts)
        columns = [column[rows] for column in columns]
        columns.append(torch.arange(len(rows)) - splits[:-1][rows])
        shape.append(int(counts.max()) if len(counts) else 0)
    inner = tuple(values.shape[1:])
    size = int(np.prod(inner, dtype=np.int64))
    columns = [column.repeat_interleave(size) for column in columns]
    within = np.indices(inner).reshape(len(inner), size)
    columns += [torch.from_numpy(w.copy()).repeat(values.shape[0]) for w in within]
    return [
        torch.stack(columns, 1), values.reshape(-1), torch.tensor([*shape, *inner])
    ]  # fmt: skip


def _to_sparse_gradient(op: Any, *grads: Any) -> list[Any]:
    values = op.inputs[-1]
    shape = make("Shape", values)
    return [*[None] * (len(op.inputs) - 1), make("Reshape", grads[1], shape)]


define_op(
    "RaggedTensorToSparse",
    "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T"
    " -> sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64",
    attrs=["RAGGED_RANK: int >= 1", "T: type", _SPLITS],
    shape=_to_sparse_shape,
    kernel=_to_sparse_kernel,
    aliases=("rt_dense_values",),
    gradient=_to_sparse_gradient,
)


# ---- RaggedTensorToVariant, RaggedTensorFromVariant ----------------------------------------------
# A variant holds (splits of each ragged dim, flat values); several make a tensor of variants.


def _rows_of(nested: list[Any], values: Any) -> list[tuple[list[Any], Any]]:
    outer, rest = nested[0].tolist(), nested[1:]
    found = []
    for start, end in zip(outer, outer[1:]):
        inner = []
        for splits in rest:
            piece = splits[start : end + 1]
            start, end = int(piece[0]), int(piece[-1])
            inner.append(piece - piece[0])
        found.append((inner, values[start:end]))
    return found


def _owned(values: Any) -> Any:
    return values.copy() if isinstance(values, np.ndarray) else values.clone()


def _to_variant_kernel(rt_nested_splits: Any, rt_dense_values: Any, batched_input: Any) -> Any:
    nested = [splits.clone() for splits in rt_nested_splits]
    if not batched_input:
        made = np.empty((), object)
        made[()] = nested, _owned(rt_dense_values)
        return made
    rows = _rows_of(nested, rt_dense_values)
    made = np.empty(len(rows), object)
    for index, (splits, values) in enumerate(rows):
        made[index] = splits, _owned(values)
    return made


define_op(
    "RaggedTensorToVariant",
    "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues -> encoded_ragged: variant",
    attrs=[
        "RAGGED_RANK: int >= 1", "Tvalues: type", "Tsplits: {int32, int64}", "batched_input: bool",
    ],
    shape=lambda ctx: (None,) if ctx.attr("batched_input") else (),
    kernel=_to_variant_kernel,
    stateful=True,  # a variant is no constant
    no_gradient="it packs tensors",
)  # fmt: skip


def _joined(parts: list[Any], empty: Any) -> Any:
    if not parts:
        return empty
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else torch.cat(parts)


def _from_variant_kernel(
    encoded_ragged: Any, output_ragged_rank: int, Tvalues: Any, Tsplits: Any
) -> list[Any]:
    if not encoded_ragged.ndim:
        nested, values = encoded_ragged[()]
        return [[splits.to(Tsplits) for splits in nested], values]
    cells = encoded_ragged.ravel().tolist()
    inner = output_ragged_rank - encoded_ragged.ndim
    made = []
    for count, size in zip(np.cumprod(encoded_ragged.shape[:-1]), encoded_ragged.shape[1:]):
        made.append(torch.arange(int(count) + 1) * size)
    levels = [[cell[0][i] for cell in cells] for i in range(inner)]
    counts = [len(n) - 1 for n in levels[0]] if inner else [c[1].shape[0] for c in cells]
    made.append(torch.tensor([0, *np.cumsum(counts, dtype=np.int64)]))
    for splits in levels:
        parts, offset = [torch.zeros(1, dtype=torch.int64)], 0
        for one in splits:
            parts.append(one[1:].to(torch.int64) + offset)
            offset += int(one[-1])
        made.append(torch.cat(parts))
    nothing = np.empty(0, object) if Tvalues is object else torch.zeros(0, dtype=Tvalues)
    return [[splits.to(Tsplits) for splits in made], _joined([c[1] for c in cells], nothing)]


define_op(
    "RaggedTensorFromVariant",
    "encoded_ragged: variant"
    " -> output_nested_splits: output_ragged_rank * Tsplits, output_dense_values: Tvalues",
    attrs=[
        "input_ragged_rank: int >= -1", "output_ragged_rank: int >= 0", "Tvalues: type",
        "Tsplits: {int32, int64}",
    ],
    shape=lambda ctx: [*[(None,)] * ctx.attr("output_ragged_rank"), None],
    kernel=_from_variant_kernel,
    no_gradient="it unpacks tensors",
)  # fmt: skip
