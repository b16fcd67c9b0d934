"""Split, SplitV and Unpack: taking tensors apart, as views."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dimension
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import join

_INDEX = "{int32, int64}"


# ---- Unpack ----------------------------------------------------------------------------------


def _unpack_shape(ctx: ShapeContext) -> list[Dims]:
    dims, num = ctx["value"], ctx.attr("num")
    if dims is None:
        return [None] * num
    axis = join.checked_axis(ctx.attr("axis"), len(dims))
    if dims[axis] not in (None, num):
        raise ValueError(
            f"Dimension must be {num} but is {dims[axis]}: Input shape axis {axis} must equal"
            f" {num}, got shape {show(dims)}"
        )
    return [(*dims[:axis], *dims[axis + 1 :])] * num


def _unpack_kernel(value: Any, num: Any, axis: Any) -> Any:
    if value.shape[axis] != num:
        raise ValueError(f"unpack into {num}: dim {axis} of {tuple(value.shape)} is another")
    if isinstance(value, np.ndarray):
        return [np.asarray(one, object) for one in np.moveaxis(value, axis, 0)[..., None][..., 0]]
    return value.unbind(axis)


def _unpack_inline(call: Any) -> str | None:
    dims, axis = call.dims("value"), call.attr("axis")
    if dims is None or dims[axis] is None or join.is_string(call, "value"):
        return None
    return f"{call.arg['value']}.unbind({literal(axis)})"


define_op(
    "Unpack",
    "value: T -> output: num * T",
    attrs=["num: int >= 0", "T: type", "axis: int = 0"],
    shape=_unpack_shape,
    kernel=_unpack_kernel,
    inline=_unpack_inline,
    aliases=("value",),
    gradient=lambda op, *grads: join.stack(list(grads), axis=op.attrs["axis"]),
    moves=True,
)


# ---- Split, SplitV ---------------------------------------------------------------------------


def _split_shape(ctx: ShapeContext) -> list[Dims]:
    num, dims, value = ctx.attr("num_split"), ctx["value"], ctx.value("split_dim")
    if dims is None:
        return [None] * num
    if value is None:
        return [(None,) * len(dims)] * num
    axis = join.checked_axis(int(value), len(dims))
    size = dims[axis]
    if size is not None and size % num:
        raise ValueError(
            f"Dimension size must be evenly divisible by {num} but is {size}:"
            f" {_uneven(axis, size, num)}"
        )
    part = None if size is None else size // num
    return [(*dims[:axis], part, *dims[axis + 1 :])] * num


def _uneven(axis: int, size: int, num: int) -> str:
    return (
        "Number of ways to split should evenly divide the split dimension, but got split_dim"
        f" {axis} (size = {size}) and num_split {num}"
    )


def _split_kernel(split_dim: Any, value: Any, num_split: Any) -> Any:
    rank = len(value.shape)
    if not -rank <= split_dim < rank:
        raise ValueError(f"split_dim {split_dim} is not in [{-rank}, {rank})")
    size = value.shape[split_dim]
    if size % num_split:
        raise ValueError(_uneven(split_dim, size, num_split))
    if isinstance(value, np.ndarray):
        return np.split(value, num_split, split_dim)
    if not size:
        return [value] * num_split
    return value.split(size // num_split, split_dim)


def _split_inline(call: Any) -> str | None:
    dims, value = call.dims("value"), call.value("split_dim")
    if dims is None or value is None or join.is_string(call, "value"):
        return None
    size = dims[int(value)]
    if not size:
        return None
    part = size // call.attr("num_split")
    return f"{call.arg['value']}.split({literal(part)}, {int(value)})"


define_op(
    "Split",
    "split_dim: int32, value: T -> output: num_split * T",
    attrs=["num_split: int >= 1", "T: type"],
    shape=_split_shape,
    kernel=_split_kernel,
    inline=_split_inline,
    host=("split_dim",),
    aliases=("value",),
    gradient=lambda op, *grads: [None, join.concat(list(grads), op.inputs[0])],
    moves=True,
)


def _split_v_shape(ctx: ShapeContext) -> list[Dims]:
    num, dims, value = ctx.attr("num_split"), ctx["value"], ctx.value("split_dim")
    (count,) = ctx.rank("size_splits", 1)
    if count not in (None, num):
        raise ValueError(f"size_splits has {count} element(s); num_split is {num}")
    if dims is None:
        return [None] * num
    if value is None:
        return [(None,) * len(dims)] * num
    axis = join.checked_axis(int(value), len(dims))
    sizes = ctx.value("size_splits")
    if sizes is None:
        parts: list[int | None] = [None] * num
    else:
        if sizes.shape != (num,):
            raise ValueError(f"size_splits {sizes.tolist()} must be a vector of {num} sizes")
        parts = _resolved(sizes.tolist(), dims[axis])
    return [(*dims[:axis], part, *dims[axis + 1 :]) for part in parts]


def _resolved(sizes: list[int], total: int | None) -> list[int | None]:
    """Sizes with the one -1 replaced by what is left of ``total``."""
    holes = sizes.count(-1)
    known = sum(s for s in sizes if s != -1)
    if holes > 1:
        raise ValueError(
            f"size_splits can only have one -1: size_splits {sizes} has more than one -1"
        )
    if total is None:
        return [None if s == -1 else s for s in sizes]
    if (holes and known > total) or (not holes and known != total):
        raise ValueError(
            f"can't split axis of size {total} into pieces of size {_shown(sizes)}:"
            " they do not add up to it"
        )
    return [total - known if s == -1 else s for s in sizes]


def _shown(sizes: list[int]) -> str:
    return f"[{','.join(map(str, sizes))}]"


def _split_v_kernel(value: Any, size_splits: Any, split_dim: Any) -> Any:
    rank = len(value.shape)
    if not -rank <= split_dim < rank:
        raise ValueError(f"split_dim {split_dim} is not in [{-rank}, {rank})")
    sizes = _resolved(size_splits, value.shape[split_dim])
    if isinstance(value, np.ndarray):
        return np.split(value, np.cumsum(sizes)[:-1], split_dim)
    return value.split(sizes, split_dim)


def _fold_split_v(ctx: ShapeContext, value: Any, sizes: Any, axis: Any) -> list[np.ndarray] | None:
    if value is None or sizes is None or axis is None:
        return None
    axis = join.checked_axis(int(axis), value.ndim)
    return np.split(value, np.cumsum(_resolved(sizes.tolist(), value.shape[axis]))[:-1], axis)


define_op(
    "SplitV",
    "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split * T",
    attrs=["num_split: int >= 1", "T: type", f"Tlen: {_INDEX} = int64"],
    shape=_split_v_shape,
    kernel=_split_v_kernel,
    fold=_fold_split_v,
    host=("size_splits", "split_dim"),
    aliases=("value",),
    gradient=lambda op, *grads: [join.concat(list(grads), op.inputs[2]), None, None],
    moves=True,
)


# ---- public functions ------------------------------------------------------------------------


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> Any:
    """A tensor taken apart along a dim.

    Args:
      value: a tensor.
      num: how many; by default the dim's static size.
      axis: the dim.

    Returns:
      A list of ``num`` tensors of one dim less.

    Raises:
      ValueError: the dim's size is unknown and ``num`` is not given, or ``axis`` is out of range.

    Example:
      >>> import penstock as tf
      >>> first, second = tf.unstack(tf.constant([[1, 2], [3, 4]]))
      >>> with tf.Session() as session:
      ...     session.run(first).tolist(), session.run(second).tolist()
      ([1, 2], [3, 4])
    """
    if num is None:
        value = convert_to_tensor(value)
        if value.sizes is not None:
            num = value.sizes[join.checked_axis(axis, len(value.sizes))]
        if num is None:
            raise ValueError(
                f"Cannot infer num from shape {show(value.sizes)} of {value.name}; give num"
            )
    return make("Unpack", value, name=name, num=num, axis=axis)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> Any:
    """A tensor cut into pieces along a dim.

    Args:
      value: a tensor.
      num_or_size_splits: an int (that many equal pieces), or a vector of sizes, one of which may
        be -1 (the rest).
      axis: the dim.
      num: how many pieces, when ``num_or_size_splits`` is a tensor of unknown length.

    Returns:
      A list of tensors.

    Raises:
      ValueError: the number of pieces is not known.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     [t.shape.as_list() for t in tf.split(tf.zeros([5, 3]), [1, -1], 0)]
      [[1, 3], [4, 3]]
    """
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, int | np.integer | dimension.Dimension):
        return make("Split", axis, value, name=name, num_split=int(num_or_size_splits))
    if sizes.sizes == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split.:"
            " split: num_or_size_splits must be a Python int or a vector; found the scalar tensor"
            f" {sizes.name}"
        )
    if num is None:
        num = sizes.sizes[0] if sizes.sizes else None
        if num is None:
            raise ValueError(
                f"Cannot infer num from shape {sizes}: its length is unknown; give sizes of known"
                " length, or num"
            )
    return make("SplitV", value, sizes, axis, name=name, num_split=num)
