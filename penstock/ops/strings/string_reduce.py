"""Strings joined along dims, and by segments."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors
from penstock.foundation.base.errors import invalid
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, RefusedAtBuild, ShapeContext, show
from penstock.ops.array import constant, ranges, ranks
from penstock.ops.strings.string_elements import REASON, as_bytes, strings

# ---- along dims ----------------------------------------------------------------------------------


def _axes(indices: Any, rank: int) -> list[int]:
    found = []
    for index in np.asarray(indices).ravel().tolist():
        if not -rank <= index < rank:
            raise errors.OutOfRangeError(
                None,
                None,
                f"Invalid reduction dimension {index} for input with {rank} dimension(s)",
            )
        if index % rank in found:
            raise invalid(f"Duplicate reduction dimension {index}")
        found.append(index % rank)
    return found


def _reduce_join(inputs: Any, reduction_indices: Any, keep_dims: bool, separator: Any) -> Any:
    array = np.asarray(inputs, dtype=object)
    axes = _axes(reduction_indices, array.ndim)
    kept = [d for d in range(array.ndim) if d not in axes]
    # The dim that is named first varies fastest.
    moved = array.transpose([*kept, *reversed(axes)])
    lead = [array.shape[d] for d in kept]
    size = int(np.prod([array.shape[d] for d in axes], dtype=np.int64))
    rows = moved.reshape(int(np.prod(lead, dtype=np.int64)), size)
    between = as_bytes(separator)
    if keep_dims:
        lead = [1 if d in axes else n for d, n in enumerate(array.shape)]
    return strings([between.join(row) for row in rows], lead)


def _reduce_shape(ctx: ShapeContext) -> Dims:
    dims, indices = ctx["inputs"], ctx.value("reduction_indices")
    where = ctx["reduction_indices"]
    if where is not None and len(where) > 1:
        raise ValueError(f"reduction_indices must have rank at most 1; found {show(where)}")
    if dims is None:
        return None
    if indices is None:
        return (None,) * len(dims) if ctx.attr("keep_dims") else None
    rank, axes = len(dims), []
    for index in indices.ravel().tolist():
        if not -rank <= index < rank:
            raise RefusedAtBuild(
                f"Invalid reduction dimension {index} for input with {rank} dimension(s): its shape"
                f" is {show(dims)}"
            )
        axes.append(index % rank)
    if ctx.attr("keep_dims"):
        return tuple(1 if d in axes else n for d, n in enumerate(dims))
    return tuple(n for d, n in enumerate(dims) if d not in axes)


define_op(
    "ReduceJoin",
    "inputs: string, reduction_indices: int32 -> output: string",
    attrs=["keep_dims: bool = False", 'separator: string = ""'],
    shape=_reduce_shape,
    kernel=_reduce_join,
    host=("reduction_indices",),
    no_gradient=REASON,
)


# ---- by segments ---------------------------------------------------------------------------------


def _segment_join(
    inputs: Any, segment_ids: torch.Tensor, num_segments: Any, separator: Any
) -> np.ndarray:
    array, ids = np.asarray(inputs, dtype=object), segment_ids.tolist()
    rank = segment_ids.dim()
    if isinstance(num_segments, list):
        if len(num_segments) != 1:
            raise invalid(f"Number of segments must be one number; found {num_segments}")
        num_segments = num_segments[0]
    if not rank:
        raise invalid("Segment_id cannot have rank 0; found a scalar segment_ids")
    if num_segments < 0:
        raise invalid(f"Number of segments must be at least 0; found {num_segments}")
    if array.shape[:rank] != tuple(segment_ids.shape):
        raise invalid(
            f"The shape of segment_ids, {list(segment_ids.shape)}, must be a prefix of the shape of"
            f" inputs, {list(array.shape)}"
        )
    rest = array.shape[rank:]
    columns = int(np.prod(rest, dtype=np.int64))
    flat = array.reshape(segment_ids.numel(), columns)
    pieces: list[list[list[bytes]]] = [[[] for _ in range(columns)] for _ in range(num_segments)]
    for segment, row in zip(np.asarray(ids).ravel().tolist(), flat, strict=True):
        if not 0 <= segment < num_segments:
            raise invalid(
                f"segment_ids has {segment}; ids are at least 0 and below num_segments,"
                f" {num_segments}"
            )
        for column, text in enumerate(row):
            pieces[segment][column].append(text)
    between = as_bytes(separator)
    joined = [between.join(texts) for segment in pieces for texts in segment]
    return strings(joined, (num_segments, *rest))


def _segment_shape(ctx: ShapeContext) -> Dims:
    dims, ids = ctx["inputs"], ctx["segment_ids"]
    count = ctx.value("num_segments")
    if ctx["num_segments"]:  # which the kernel takes where only a run shows it
        raise RefusedAtBuild(
            f"Shape must be rank 0 but is rank {len(ctx['num_segments'])}: num_segments must be a"
            " scalar"
        )
    if dims is None or ids is None:
        return None
    fits = len(ids) <= len(dims) and all(
        None in pair or pair[0] == pair[1] for pair in zip(ids, dims, strict=False)
    )
    if not fits:
        raise RefusedAtBuild(
            f"Shape must be at least rank {len(ids)}, and begin with that of segment_ids,"
            f" {show(ids)}; inputs has {show(dims)}",
            at_run="OutOfRangeError" if len(ids) > len(dims) else "InvalidArgumentError",
        )
    return (None if count is None else int(count), *dims[len(ids) :])


define_op(
    "UnsortedSegmentJoin",
    "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    attrs=[
        'separator: string = ""',
        "Tindices: {int32, int64}",
        "Tnumsegments: {int32, int64} = int32",
    ],
    shape=_segment_shape,
    kernel=_segment_join,
    host=("num_segments",),
    no_gradient=REASON,
)


# ---- public functions ----------------------------------------------------------------------------


def reduce_join(
    inputs: Any, axis: Any = None, keep_dims: bool | None = None, separator: str = "",
    name: str | None = None, reduction_indices: Any = None, keepdims: bool | None = None,
) -> Tensor:  # fmt: skip
    """Strings joined along dims.

    Args:
      inputs: string tensor.
      axis: the dims, in the order in which they are joined: the first varies fastest.  Default
        all, from the last to the first, so that elements come in row-major order.
      keep_dims, keepdims: leaves them as dims of size 1; two names of one argument.
      separator: between strings.
      reduction_indices: old name of ``axis``.

    Returns:
      A string tensor.

    Raises:
      ValueError: both names of an argument are given.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.reduce_join([["a", "b"], ["c", "d"]], 1, separator="-")).tolist()
      [b'a-b', b'c-d']
    """
    for first, second, names in (
        (axis, reduction_indices, "'axis' and 'reduction_indices'"),
        (keepdims, keep_dims, "'keepdims' and 'keep_dims'"),
    ):
        if first is not None and second is not None:
            raise ValueError(f"Cannot specify both {names}")
    given = reduction_indices if axis is None else axis
    attrs = {"keep_dims": bool(keepdims or keep_dims), "separator": separator}
    with scopes.name_scope("ReduceJoin"):
        texts = convert_to_tensor(inputs)
        axes = _all_axes(texts) if given is None else given
        return make("ReduceJoin", texts, axes, name=name, **attrs)


def _all_axes(texts: Tensor) -> Any:
    rank = texts.get_shape().ndims
    if rank is not None:
        return constant.constant(np.arange(rank - 1, -1, -1, dtype=np.int32))
    return ranges.range_(make("Sub", ranks.rank(texts), 1, name="sub"), -1, -1)


def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Tensor:
    """Strings joined by segments, in order.

    Args:
      inputs: string tensor.
      segment_ids: for each string its segment; its shape is a prefix of that of ``inputs``.
      num_segments: how many segments there are.
      separator: between strings.

    Returns:
      A string tensor of shape [num_segments, ...].
    """
    return make(
        "UnsortedSegmentJoin", inputs, segment_ids, num_segments, separator=separator, name=name
    )
