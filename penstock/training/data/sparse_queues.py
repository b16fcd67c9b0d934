"""Sparse tensors through the queues of the batching functions.

A queue takes dense tensors, so a sparse one goes into a map that the graph keeps beside the queue,
and its int64 handle goes through.  ``stored`` puts the nodes in front of the queue, ``restored``
those behind it; tensors that are dense pass both as they are.

Source: the batching functions of TensorFlow 1.15 (nodes, names, checks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.foundation.base import dtypes, shapes as static_shapes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import smart_cond
from penstock.ops.array import fill, gather, reshape, shape, squeeze
from penstock.ops.control import control
from penstock.ops.math.select import where

_ADDERS = ("AddSparseToTensorsMap", "AddManySparseToTensorsMap")


@dataclass(frozen=True)
class Stored:
    """What is known of a component that was sparse.

    Args:
      map_op: the node whose map keeps it.
      dtype: of its values.
      rank: of one example; None where it is not known.
    """

    map_op: Any
    dtype: dtypes.DType
    rank: int | None


def stored(
    values: list[Any], enqueue_many: bool, keep: Tensor, like: Sequence[Stored | None] | None = None
) -> tuple[list[Tensor], list[Stored | None]]:
    """The values as dense tensors, the sparse ones as handles.

    Args:
      values: what goes into the queue.
      enqueue_many: whether each is several examples.
      keep: whether the examples count.
      like: of another list that goes into the same queue: the maps to share.

    Returns:
      The tensors, and for each what it was, None for dense ones.
    """
    made = [v if isinstance(v, SparseTensor) else convert_to_tensor(v) for v in values]
    tensors: list[Tensor] = []
    known: list[Stored | None] = []
    for index, value in enumerate(made):
        if not isinstance(value, SparseTensor):
            tensors.append(value)
            known.append(None)
            continue
        first = like[index] if like is not None and index < len(like) else None
        shared = "" if first is None else first.map_op.name
        handle = _handle(value, enqueue_many, keep, shared)
        tensors.append(reshape.expand_dims(handle, [-1]))
        dims = value.dense_shape.shape.with_rank(1)[0].value
        rank = dims if dims is None or not enqueue_many else dims - 1
        known.append(Stored(_map_op(handle), value.dtype, rank))
    return tensors, known


def _handle(value: SparseTensor, enqueue_many: bool, keep: Tensor, shared: str) -> Tensor:
    op_type = _ADDERS[enqueue_many]
    if keep.shape.ndims == 1:
        indices: Any = value.indices
        value = _retained(value, gather.gather(keep, indices[:, 0]))
        return _added(op_type, value, shared)
    handle: Tensor = smart_cond(
        keep,
        lambda: _added(op_type, value, shared),
        lambda: _no_handles(value, enqueue_many),
    )
    return handle


def _no_handles(value: SparseTensor, enqueue_many: bool) -> Tensor:
    """As many handles of nothing: the enqueue does not run either."""
    if not enqueue_many:
        return convert_to_tensor(-1, dtypes.int64)
    dims: Any = shape.shape(value)
    ones: Any = fill.ones(dims[0:1], dtype=dtypes.int64)
    nothing: Tensor = -1 * ones
    return nothing


def _added(op_type: str, value: SparseTensor, shared: str) -> Tensor:
    return make_tensor(op_type, value.indices, value.values, value.dense_shape, shared_name=shared)


def _retained(value: SparseTensor, keep: Tensor) -> SparseTensor:
    chosen = reshape.reshape(where(keep), [-1])
    return SparseTensor(
        gather.gather(value.indices, chosen),
        gather.gather(value.values, chosen),
        control.identity(value.dense_shape),
    )


def _map_op(handle: Tensor) -> Any:
    """The node that put the tensor into a map; a conditional's is found behind its end."""
    if handle.op.op_def.control == "merge":
        found = [t.op for t in handle.op.inputs if t.op.type in _ADDERS]
        return found[0] if found else handle.op
    return handle.op


def check_alike(all_known: Sequence[list[Stored | None]], lists: Sequence[Any]) -> None:
    """Refuses lists of which one has a sparse tensor where another has none, or of another rank.

    Raises:
      ValueError: they differ so.
    """
    first = all_known[0]
    for known, values in zip(all_known[1:], lists[1:], strict=True):
        if not all(map(_alike, first, known)):
            raise ValueError(f"Inconsistent SparseTensors list: {lists[0]} vs. {values}")


def _alike(one: Stored | None, two: Stored | None) -> bool:
    if one is None or two is None:
        return one is two
    return None in (one.rank, two.rank) or one.rank == two.rank


def restored(tensors: list[Tensor], all_known: Sequence[list[Stored | None]]) -> list[Any]:
    """The tensors with those that were sparse taken out of their maps, as batches.

    All are available together, so that no handle is left behind when only one is fetched.

    Raises:
      TypeError: what went in was never put in a map.
    """
    if all(known is None for known in all_known[0]):
        return tensors
    made: list[Any] = [
        t if known[0] is None else _taken(squeeze.squeeze(t, [1]), known)
        for t, known in zip(tensors, zip(*all_known, strict=True), strict=True)
    ]
    wanted = [v.indices.op if isinstance(v, SparseTensor) else v.op for v in made]
    joined = [_together(value, wanted) for value in made]
    # TensorFlow gives a single component as it came out of the map.
    return joined if len(joined) > 1 else made


def _taken(handles: Tensor, known: Sequence[Stored | None]) -> SparseTensor:
    first = known[0]
    assert first is not None
    op = first.map_op
    if op.type not in _ADDERS:
        raise TypeError(
            f"sparse_map_op must be one of {' or '.join(_ADDERS)}. Instead, found `{op.type}`."
        )
    indices, values, dense_shape = make(
        "TakeManySparseFromTensorsMap",
        handles,
        dtype=first.dtype,
        container=op.attrs["container"],
        shared_name=op.attrs["shared_name"] or op.name,
    )
    ranks = [k.rank for k in known if k is not None and k.rank is not None]
    rank = ranks[0] + 1 if ranks else None
    indices.set_shape(static_shapes.TensorShape([None, rank]))
    dense_shape.set_shape(static_shapes.TensorShape([rank]))
    return SparseTensor(indices, values, dense_shape)


def _together(value: Any, wanted: list[Any]) -> Any:
    if not isinstance(value, SparseTensor):
        return control.with_dependencies(wanted, value)
    parts = (value.indices, value.values, value.dense_shape)
    return SparseTensor(*(control.with_dependencies(wanted, part) for part in parts))
