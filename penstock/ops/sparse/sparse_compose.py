"""Functions on sparse tensors that are made of several ops: entries chosen, merged, transposed.

Also what makes sparse tensors: placeholders, unit matrices, and dense tensors' nonzero elements.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes as static_shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor, SparseTensorValue
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import (
    constant as constants,
    fill,
    gather,
    join,
    nodes,
    ranges,
    reshape,
    shape as shapes,
)
from penstock.ops.array.cast import cast
from penstock.ops.array.slicing import slice_
from penstock.ops.array.transpose import transpose
from penstock.ops.control import check, control
from penstock.ops.math import binary, comparison, elementwise, reductions, select, sums
from penstock.ops.sparse.sparse import sparse_tensor_to_dense
from penstock.ops.sparse.sparse_entries import as_sparse
from penstock.ops.sparse.sparse_functions import sparse_reorder

# ---- making them ---------------------------------------------------------------------------------


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A SparseTensor that a step is fed, as a SparseTensorValue or a tuple of its three parts.

    Args:
      dtype: type of the entries.
      shape: dense shape; where it is fully known, it need not be fed.
      name: prefix of the names of the placeholders.

    Returns:
      A SparseTensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     x = tf.sparse_placeholder(tf.float32)
      ...     fed = tf.SparseTensorValue([[1, 2]], [3.0], [2, 4])
      ...     session.run(tf.sparse_reduce_sum(x), {x: fed}).item()
      3.0
    """
    prefix = "" if name is None else f"{name}/"
    names = {part: f"{prefix}{part}" if prefix else None for part in ("shape", "values", "indices")}
    dense, rank = _placeholder_shape(shape, names["shape"])
    if dense is None:
        dense = constants.placeholder(dtypes.int64, [rank], name=names["shape"])
    values = constants.placeholder(dtype, [None], name=names["values"])
    indices = constants.placeholder(dtypes.int64, [None, rank], name=names["indices"])
    return SparseTensor(indices, values, dense)


def _placeholder_shape(shape: Any, name: str | None) -> tuple[Any, int | None]:
    if shape is None:
        return None, None
    rank = shape.shape.with_rank(1).dims[0].value if isinstance(shape, Tensor) else len(shape)
    if not isinstance(shape, Tensor):
        dims = static_shapes.as_shape(shape).as_list()
        if None in dims:
            return None, rank
        shape = np.array(dims, np.int64)
    return convert_to_tensor(shape, dtypes.int64, name), rank


def sparse_eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> SparseTensor:
    """A sparse unit matrix, of ``num_columns`` (default ``num_rows``) columns."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _int64(num_columns, "num_columns")
        size = make("Minimum", rows, columns)
        diagonal = ranges.range_(size, dtype=dtypes.int64)
        indices = join.stack([diagonal, diagonal], axis=1)
        return SparseTensor(indices, fill.ones(size, dtype=dtype), [rows, columns])


def _int64(value: Any, name: str) -> Tensor:
    if isinstance(value, Tensor):
        return cast(value, dtypes.int64)
    if not isinstance(value, int | np.integer):
        raise TypeError(
            f"{name} must be an integer value: an int or a tensor; found {value!r}, which is of"
            f" type {type(value).__name__}"
        )
    return convert_to_tensor(value, dtypes.int64, name)


def sparse_from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a dense tensor that are not 0 (or empty strings)."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        nothing = constants.constant(b"" if tensor.dtype is dtypes.string else 0, tensor.dtype)
        indices = select.where_v2(comparison.not_equal(tensor, nothing))
        values = gather.gather_nd(tensor, indices)
        return SparseTensor(indices, values, shapes.shape(tensor, out_type=dtypes.int64))


# ---- choosing, merging ---------------------------------------------------------------------------


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The entries whose element of ``to_retain`` (bool ``[n]``) is true.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     x = tf.SparseTensor([[0], [3]], [1.0, 2.0], [5])
      ...     session.run(tf.sparse_retain(x, [False, True])).indices.tolist()
      [[3]]
    """
    sp_input = as_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    kept = to_retain.shape.with_rank(1)
    sp_input.values.shape.with_rank(1)[0].merge_with(kept[0])
    chosen = reshape.reshape(select.where_v2(to_retain), [-1])
    indices = gather.gather(sp_input.indices, chosen)
    values = gather.gather(sp_input.values, chosen)
    return SparseTensor(indices, values, control.identity(sp_input.dense_shape))


def sparse_mask(a: IndexedSlices, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """IndexedSlices without the rows named in ``mask_indices``."""
    with name_scope(name, "sparse_mask", [a.values, mask_indices]) as scope:
        indices, chosen = make("ListDiff", a.indices, mask_indices)
        return IndexedSlices(gather.gather(a.values, chosen, name=scope), indices, a.dense_shape)


_LISTS = {
    "sp_ids": "a SparseTensor or list thereof",
    "vocab_size": "a list of Tensors or Python ints",
}


def sparse_merge(
    sp_ids: Any,
    sp_values: Any,
    vocab_size: Any,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """Values put in the columns that ids name: ``[..., ids[i]] = values[i]``.

    Args:
      sp_ids: SparseTensor of int ids, or a list of them, one for each dim that they index.
      sp_values: SparseTensor of values at the same places.
      vocab_size: size of the dim of ids; a list where ``sp_ids`` is one.
      already_sorted: whether the result is in order without sorting.

    Returns:
      A SparseTensor: the last dim of ``sp_ids`` replaced by the dims of ids.

    Raises:
      TypeError: ``sp_ids`` or ``vocab_size`` of a wrong kind.
      ValueError: lists of different lengths.
    """
    single = isinstance(sp_ids, SparseTensor | SparseTensorValue)
    if single:
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    for what, value in (("sp_ids", sp_ids), ("vocab_size", vocab_size)):
        if not isinstance(value, Iterable) or isinstance(value, Tensor):
            raise TypeError(f"{what} has to be {_LISTS[what]}. Found {type(value)}")
    for size in vocab_size:
        if not isinstance(size, Tensor | numbers.Integral):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(size)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError(
            f"sp_ids and vocab_size have to have equal lengths. Found {len(sp_ids)} and"
            f" {len(vocab_size)}"
        )
    with name_scope(name, "SparseMerge"):
        every = [as_sparse(ids, "sp_ids") for ids in sp_ids]
        values = as_sparse(sp_values, "sp_values").values
        columns = [
            reshape.expand_dims(nodes.cast(ids.values, dtypes.int64), axis=1) for ids in every
        ]
        sizes = [cast(size, dtypes.int64) for size in vocab_size]
        kept: Any = every[0].indices[:, :-1]
        indices = join.concat([kept, *columns], 1)
        shape = join.concat([every[0].dense_shape[:-1], sizes], 0)
        merged = SparseTensor(indices, values, shape)
        if already_sorted:
            return merged
        ordered = sparse_reorder(merged)
        return SparseTensor(ordered.indices, ordered.values, shape)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """A dense bool tensor that is true at the ids that each row of ``sp_input`` holds.

    Args:
      sp_input: SparseTensor of int ids ``[..., n]``.
      vocab_size: size of the last dim of the result.

    Returns:
      A bool tensor ``[..., vocab_size]``.
    """
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input.indices]) as scope:
        count: Any = shapes.shape(sp_input.indices)[0]
        trues = fill.fill(reshape.expand_dims(count, 0), True)
        flags = SparseTensor(sp_input.indices, trues, sp_input.dense_shape)
        merged = sparse_merge(sp_input, flags, vocab_size, scope)
        return sparse_tensor_to_dense(
            merged, default_value=False, validate_indices=False, name=scope
        )


# ---- shapes --------------------------------------------------------------------------------------


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same entries in a larger shape, or in the smallest that holds them.

    Args:
      sp_input: SparseTensor.
      new_shape: vector of sizes, none smaller than before; None for the smallest.

    Returns:
      A SparseTensor.

    Raises:
      ValueError: a size is known to be too small.
    """
    sp_input = as_sparse(sp_input)
    indices, values, shape = (
        control.identity(x) for x in (sp_input.indices, sp_input.values, sp_input.dense_shape)
    )
    if new_shape is None:
        lowest = reductions.reduce_max(indices, axis=0)
        zero = constants.constant(0, dtypes.int64)
        wanted: Any = binary.maximum(zero, sums.add(lowest, elementwise.ones_like(shape)))
        return SparseTensor(indices, values, wanted)
    wanted = convert_to_tensor(new_shape)
    wanted.shape.with_rank(1)
    wanted = cast(wanted, dtypes.int64)
    wanted.shape.merge_with(shape.shape)
    known = static.constant_value(wanted)
    if known is not None and sp_input.shape.is_fully_defined():
        before = np.array(sp_input.shape.as_list())
        if not np.all(before <= known):
            raise ValueError(
                f"new_shape must be at least sp_input's shape in each dim; found {known} for"
                f" {before}"
            )
        return SparseTensor(indices, values, known)
    same = check.assert_equal(shapes.shape(shape), shapes.shape(wanted))
    wanted = control.with_dependencies([same], wanted)
    wanted = control.with_dependencies([check.assert_less_equal(shape, wanted)], wanted)
    return SparseTensor(indices, values, wanted)


def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """Dims in the order ``perm``; default is the reverse order."""
    with name_scope(name, "SparseTranspose", [sp_input.indices]):
        known = None
        if perm is None:
            rank: Any = make("Size", sp_input.dense_shape, name="Rank")
            perm = (rank - 1) - ranges.range_(0, rank, 1)
        else:
            known = static.constant_value(convert_to_tensor(perm))
        flipped = transpose(gather.gather(transpose(sp_input.indices), perm))
        if known is not None and sp_input.shape.is_fully_defined():
            dims = sp_input.shape.as_list()
            if known.ndim == 1 and known.size != len(dims):
                raise ValueError(
                    f"Dimensions {known.size} and {len(dims)} are not compatible: perm"
                    f" {known.tolist()} must name each dim of {dims}"
                )
            shape: Any = [dims[int(p)] for p in known]
        else:
            # TensorFlow does not look through this node: the shape stays one.
            shape = gather.gather(sp_input.dense_shape, perm)
            indices, values = make("SparseReorder", flipped, sp_input.values, shape)
            return SparseTensor(indices, values, control.identity(shape))
        return sparse_reorder(SparseTensor(flipped, sp_input.values, shape))


def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A dim of size 1 put in at ``axis`` (default last), which counts from the end if negative."""
    dims = sp_input.dense_shape.sizes
    rank = None if dims is None else dims[0]
    axis = -1 if axis is None else axis
    if not isinstance(axis, int | np.integer | Tensor):
        raise TypeError(f"axis must be an int in [-rank - 1, rank] or a tensor; found {axis!r}")
    if rank is None:
        raise ValueError(
            "Cannot convert an unknown Dimension to a Tensor: sparse.expand_dims must know the rank"
            " of the sparse tensor"
        )
    with name_scope(name, "expand_dims", [sp_input.indices]):
        known = static.constant_value(axis) if isinstance(axis, Tensor) else np.array(axis)
        if known is not None and known.ndim == 0:
            axis = int(known) if known >= 0 else int(known) + rank + 1
        else:
            axis = select.where_v2(axis >= 0, axis, axis + rank + 1)
        count: Any = shapes.shape(sp_input.indices)[0]
        column = fill.zeros([count, 1], dtype=dtypes.int64)
        before = slice_(sp_input.indices, [0, 0], [-1, axis])
        after = slice_(sp_input.indices, [0, axis], [-1, -1])
        indices = join.concat([before, column, after], axis=1)
        shape_before = slice_(sp_input.dense_shape, [0], [axis])
        shape_after = slice_(sp_input.dense_shape, [axis], [-1])
        one = convert_to_tensor([1], dtypes.int64, "new_shape")
        shape = join.concat([shape_before, one, shape_after], axis=0)
        return SparseTensor(indices, sp_input.values, shape)
