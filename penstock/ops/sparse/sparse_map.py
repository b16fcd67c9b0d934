"""Sparse tensors through queues: a map keeps them, and their int64 handles travel.

The state is ``resources.sparse_map.SparseTensorsMap``; all nodes of one container and shared name
(else the node's own name) have the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.engine.resources.sparse_map import Parts, SparseTensorsMap
from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.foundation.opdef.shared_state import SharedState

_REASON = "moves sparse tensors between steps"
_SHARED = ['container: string = ""', 'shared_name: string = ""']


def _make_state(attrs: dict[str, Any], name: str) -> SparseTensorsMap:
    return SparseTensorsMap(attrs["shared_name"] or name)


# ---- putting in ----------------------------------------------------------------------------------


def _check(indices: Any, values: Any, shape: Any) -> None:
    found = [list(part.shape) for part in (indices, values, shape)]
    if [len(dims) for dims in found] != [2, 1, 1]:
        raise errors.invalid(
            "a sparse tensor is a matrix of indices, a vector of values and a vector of its"
            f" shape; found shapes {found}"
        )
    if found[0][0] != found[1][0]:
        raise errors.invalid(
            "indices and values rows (indexing dimension) must match. (indices ="
            f" {found[0][0]}, values = {found[1][0]})"
        )
    if found[0][1] != found[2][0]:
        raise errors.invalid(
            f"a sparse tensor of shape {shape.tolist()} needs {found[2][0]} column(s) of indices;"
            f" found {found[0][1]}"
        )


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value.copy()


def _add(
    state: SparseTensorsMap, sparse_indices: Any, sparse_values: Any, sparse_shape: Any
) -> torch.Tensor:
    parts = sparse_indices, sparse_values, sparse_shape
    _check(*parts)
    indices, values, shape = map(_copy, parts)
    return torch.tensor(state.add([(indices, values, shape)])[0])


def _check_order(indices: torch.Tensor, shape: torch.Tensor) -> None:
    outside = ((indices < 0) | (indices >= shape)).any(1).nonzero()
    if len(outside):
        at = int(outside[0])
        limits = ",".join(map(str, shape.tolist()))
        raise errors.invalid(
            f"indices[{at}] = {indices[at].tolist()} is out of bounds: need 0 <= index < [{limits}]"
        )
    steps = (indices[1:] - indices[:-1]).sign()
    # The sign of the first column that differs decides.
    weights = 2 ** torch.arange(indices.shape[1] - 1, -1, -1)
    order = (steps * weights).sum(1)
    wrong = (order <= 0).nonzero()
    if len(wrong):
        at = int(wrong[0]) + 1
        what = "repeated" if order[at - 1] == 0 else "out of order"
        raise errors.invalid(
            f"indices[{at}] = {indices[at].tolist()} is {what}. Many sparse ops require sorted"
            " indices; use `tf.sparse_reorder` to create a correctly ordered copy"
        )


def _add_many(
    state: SparseTensorsMap, sparse_indices: Any, sparse_values: Any, sparse_shape: Any
) -> torch.Tensor:
    _check(sparse_indices, sparse_values, sparse_shape)
    rank = len(sparse_shape)
    if rank <= 1:
        raise errors.invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {rank}")
    _check_order(sparse_indices, sparse_shape)
    count = int(sparse_shape[0])
    rows = sparse_indices[:, 0].contiguous()
    ends = torch.searchsorted(rows, torch.arange(count + 1)).tolist()
    parts: list[Parts] = [
        (
            sparse_indices[start:end, 1:].clone(),
            _copy(sparse_values[start:end]),
            sparse_shape[1:].clone(),
        )
        for start, end in zip(ends[:-1], ends[1:], strict=True)
    ]
    return torch.tensor(state.add(parts), dtype=torch.int64)


def _one_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("sparse_indices", 2), ctx.rank("sparse_values", 1), ctx.rank("sparse_shape", 1)
    return ()


def _many_shape(ctx: ShapeContext) -> Dims:
    _one_shape(ctx)
    return (None,)


# ---- taking out ----------------------------------------------------------------------------------


def _take(state: SparseTensorsMap, sparse_handles: list[int], dtype: Any) -> Parts:
    taken = state.take(sparse_handles)
    if not taken:
        raise errors.invalid("Must have at least 1 serialized SparseTensor, but input has 0 rows")
    rank = len(taken[0][2])
    for number, (_, values, shape) in enumerate(taken):
        kind = values.dtype if isinstance(values, torch.Tensor) else object
        if kind is not dtype:
            wanted, found = (str(t).removeprefix("torch.") for t in (dtype, kind))
            raise errors.invalid(
                f"Requested SparseTensor of type {wanted} but SparseTensor[{number}] has {found}"
            )
        if len(shape) != rank:
            raise errors.invalid(
                f"Inconsistent rank across SparseTensors: SparseTensor[0] has rank {rank}, but"
                f" SparseTensor[{number}] has rank {len(shape)}"
            )
    counts = torch.tensor([len(indices) for indices, _, _ in taken])
    rows = torch.arange(len(taken)).repeat_interleave(counts)
    indices = torch.cat([rows[:, None], torch.cat([i for i, _, _ in taken])], 1)
    all_values: Any = [values for _, values, _ in taken]
    joined = np.concatenate(all_values) if dtype is object else torch.cat(all_values)
    largest = torch.stack([shape for _, _, shape in taken]).amax(0)
    return indices, joined, torch.cat([torch.tensor([len(taken)]), largest])


def _taken_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("sparse_handles", 1)
    return [(None, None), (None,), (None,)]


_STATE = SharedState("sparse tensors map", _make_state)
_TENSOR = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
for _name, _output, _shape, _kernel in (
    ("AddSparseToTensorsMap", "sparse_handle", _one_shape, _add),
    ("AddManySparseToTensorsMap", "sparse_handles", _many_shape, _add_many),
):
    define_op(
        _name,
        f"{_TENSOR} -> {_output}: int64",
        attrs=["T: type", *_SHARED],
        shape=_shape,
        kernel=_kernel,
        state=_STATE,
        stateful=True,
        no_gradient=_REASON,
    )
define_op(
    "TakeManySparseFromTensorsMap",
    "sparse_handles: int64 -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    attrs=["dtype: type", *_SHARED],
    shape=_taken_shape,
    kernel=_take,
    host=("sparse_handles",),
    state=_STATE,
    stateful=True,
    no_gradient=_REASON,
)
