"""OneHot, and the masks and grids that are built from ranges: sequence_mask, meshgrid, repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
from penstock.ops.array import (
    constant as constant_ops,
    fill as fill_ops,
    join,
    ranks,
    reshape as reshape_ops,
    shape as shape_ops,
    slicing,
)

# Up to this depth comparing with a range is quicker than zeros and a scatter.
_COMPARED = 256


# ---- OneHot ----------------------------------------------------------------------------------


def _one_hot_shape(ctx: ShapeContext) -> Dims:
    dims, axis, depth = ctx["indices"], ctx.attr("axis"), ctx.value("depth")
    if depth is not None:
        ctx.rank("depth", 0)
    if axis < -1:
        raise ValueError(f"axis must be at least -1; found {axis}")
    if depth is not None and depth < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {depth}: depth"
            f" must be non-negative, got: {depth}"
        )
    if dims is not None and axis > len(dims):
        raise FailsAtRun(
            f"Expected axis to be -1 or between [0, {len(dims) + 1}).  But received: {axis}"
        )
    result: Dims = None
    if dims is not None:
        at = len(dims) if axis == -1 else axis
        result = (*dims[:at], None if depth is None else int(depth), *dims[at:])
    for name in ("depth", "on_value", "off_value"):
        if ctx[name]:
            raise FailsAtRun(f"{name} must be a scalar, but got: {show(ctx[name])}", result)
    return result


def _hot(indices: Any, depth: Any, axis: Any) -> Any:
    """Bool tensor, true where the position along ``axis`` is the index."""
    steps = torch.arange(depth, dtype=indices.dtype, device=indices.device)
    at = indices.dim() if axis == -1 else axis
    if at < indices.dim():
        steps = steps.reshape(-1, *[1] * (indices.dim() - at))
    return indices.unsqueeze(at) == steps


def _one_hot_kernel(indices: Any, depth: Any, on_value: Any, off_value: Any, axis: Any) -> Any:
    if isinstance(on_value, np.ndarray):
        chosen = _hot(indices, depth, axis).numpy()
        return np.where(chosen, on_value, off_value).astype(object)
    wide = indices.int() if indices.dtype is torch.uint8 else indices
    return torch.where(_hot(wide, depth, axis), on_value, off_value)


def _ones_and_zeros(indices: Any, depth: Any, axis: Any, T: Any) -> Any:
    if depth <= _COMPARED:
        return _hot(indices, depth, axis).to(T)
    at = indices.dim() if axis == -1 else axis
    safe = indices.clamp(0, depth - 1).long()
    dims = list(indices.shape)
    dims.insert(at, depth)
    result = torch.zeros(dims, dtype=T, device=indices.device)
    inside = (safe == indices).to(T).unsqueeze(at)
    return result.scatter_(at, safe.unsqueeze(at), inside)


def _one_hot_inline(call: Any) -> str | None:
    on, off = call.value("on_value"), call.value("off_value")
    if on is None or off is None or on.dtype == object or on != 1 or off != 0:
        return None
    if call.dtype("indices") is dtypes.uint8:
        return None
    arg = call.arg
    kernel = call.function(_ones_and_zeros, "one_hot_of_ones")
    return f"{kernel}({arg['indices']}, {arg['depth']}, {arg['axis']}, {arg['T']})"


define_op(
    "OneHot",
    "indices: TI, depth: int32, on_value: T, off_value: T -> output: T",
    attrs=["axis: int = -1", "T: type", "TI: {uint8, int32, int64} = int64"],
    shape=_one_hot_shape,
    kernel=_one_hot_kernel,
    inline=_one_hot_inline,
    host=("depth",),
    gradient=lambda op, grad: [None, None, None, None],
)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """A new dim that is ``on_value`` at each index and ``off_value`` elsewhere.

    Args:
      indices: integer tensor; an index outside [0, depth) gives ``off_value`` all along.
      depth: int32 scalar, size of the new dim.
      on_value: scalar, 1 by default.
      off_value: scalar, 0 by default.
      axis: where the new dim goes; -1, the default, is last.
      dtype: type of the result; by default that of on_value or off_value, else float32.

    Returns:
      A tensor of one dim more than ``indices``.

    Raises:
      TypeError: the types of ``on_value``, ``off_value`` and ``dtype`` differ.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.one_hot([1, 0], 3).shape.as_list()
      [2, 3]
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        kinds = {
            label: convert_to_tensor(value).dtype.base_dtype
            for label, value in (("on_value", on_value), ("off_value", off_value))
            if value is not None
        }
        kind = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        for label, found in kinds.items():
            if kind is not None and found is not kind:
                raise TypeError(f"one_hot: {label} is {found.name}; {kind.name} is wanted")
            kind = kind or found
        kind = kind or dtypes.float32
        if on_value is None:
            on_value = convert_to_tensor(_number(1, kind), kind, "on_value")
        if off_value is None:
            off_value = convert_to_tensor(_number(0, kind), kind, "off_value")
        return make(
            "OneHot", indices, depth, on_value, off_value, name=scope,
            axis=-1 if axis is None else axis,
        )  # fmt: skip


def _number(value: int, kind: dtypes.DType) -> Any:
    return bool(value) if kind is dtypes.bool else value


# ---- sequence_mask, meshgrid, repeat -----------------------------------------------------------


def _const(value: int, dtype: Any) -> Tensor:
    return constant_ops.constant(value, dtype.base_dtype)


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None
) -> Tensor:
    """For each length, a row that is true up to it.

    Args:
      lengths: integer tensor.
      maxlen: integer scalar, length of the rows; by default the largest of ``lengths``.
      dtype: type of the result.

    Returns:
      Tensor of shape ``lengths.shape + [maxlen]``.

    Raises:
      ValueError: ``maxlen`` is not a scalar.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.sequence_mask([1, 3], 4).shape.as_list()
      [2, 4]
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            axes = constant_ops.constant(np.arange(lengths.rank or 0, dtype=np.int32))
            if lengths.rank is None:
                axes = make("Range", 0, ranks.rank(lengths), 1)
            longest = make("Max", lengths, axes)
            maxlen = make("Maximum", _const(0, longest.dtype), longest)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.sizes not in (None, ()):
            raise ValueError(f"sequence_mask: maxlen must be a scalar, not {show(maxlen.sizes)}")
        steps = make("Range", _const(0, maxlen.dtype), maxlen, _const(1, maxlen.dtype))
        column = make("Cast", reshape_ops.expand_dims(lengths, -1), DstT=maxlen.dtype)
        result: Tensor = make("Less", steps, column)
        wanted = dtypes.as_dtype(dtype)
        return result if wanted is dtypes.bool else make("Cast", result, DstT=wanted)


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinates of a grid from one vector an axis.

    Args:
      *args: vectors.
      indexing: "xy" (the default: the first two axes exchanged, as in plots) or "ij".

    Returns:
      A list of tensors of the rank of the number of vectors.

    Raises:
      ValueError: ``indexing`` is neither "xy" nor "ij".
      TypeError: an unknown keyword.
    """
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"meshgrid: unknown keyword {next(iter(kwargs))!r}")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            "indexing parameter must be either 'xy' or 'ij':"
            f" meshgrid: indexing must be 'xy' or 'ij'; found {indexing!r}"
        )
    with name_scope(name, values=args):
        rank = len(args)
        columns = []
        for axis, one in enumerate(args):
            form = [1] * rank
            form[axis] = -1
            columns.append(
                reshape_ops.reshape(join.stack(one) if isinstance(one, list | tuple) else one, form)
            )
        sizes = [ranks.size(one) for one in args]
        kind = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and rank > 1:
            rest = [1] * (rank - 2)
            columns[0] = reshape_ops.reshape(columns[0], [1, -1, *rest])
            columns[1] = reshape_ops.reshape(columns[1], [-1, 1, *rest])
            sizes[0], sizes[1] = sizes[1], sizes[0]
        full = fill_ops.ones(sizes, kind)
        return [make("Mul", column, full, name="mul") for column in columns]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each element (or slice along ``axis``) repeated a number of times.

    Args:
      input: a tensor.
      repeats: integer scalar, or vector with one number a slice.
      axis: the dim; by default ``input`` is flattened first.

    Returns:
      A tensor.

    Raises:
      TypeError: ``axis`` is no int.
      ValueError: ``axis`` is out of range, or ``repeats`` does not fit the dim.
    """
    if axis is None:
        input, axis = reshape_ops.reshape(input, [-1]), 0
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        times = make("Cast", convert_to_tensor(repeats, name="repeats"), DstT=dtypes.int32)
        if data.sizes is None or times.sizes is not None and len(times.sizes) > 1:
            raise ValueError(
                f"repeat: the rank of the input must be known and repeats a scalar or vector;"
                f" found {show(data.sizes)} and {show(times.sizes)}"
            )
        if not data.sizes:
            data = reshape_ops.reshape(data, [-1])
        if not -len(data.sizes) <= axis < len(data.sizes):
            raise ValueError(f"repeat: axis {axis} is out of range for {show(data.sizes)}")
        _check_times(data.sizes[axis], times)
        if times.sizes == (1,):
            times = reshape_ops.reshape(times, [])
        return _repeated(data, times, axis % len(data.sizes))


def _check_times(size: int | None, times: Tensor) -> None:
    if times.sizes and None not in (size, times.sizes[0]) and size != times.sizes[0]:
        raise ValueError(
            f"Dimensions {size} and {times.sizes[0]} are not compatible: repeats must have one"
            " number for each slice, or be a scalar"
        )


def _repeated(data: Tensor, times: Tensor, axis: int) -> Tensor:
    full = shape_ops.shape(data)
    rank = len(data.sizes or ())
    if times.sizes == ():
        tiled = _tiled(reshape_ops.expand_dims(data, axis + 1), axis + 1, times, rank + 1)
        return reshape_ops.reshape(tiled, _with_hole(full, axis))
    if times.sizes is None:  # a scalar or a vector, as a run will show
        lead = make("Slice", full, [0], [axis + 1 - ranks.rank(times)])
        form = join.concat([lead, shape_ops.shape(times)], 0)
        times = make("BroadcastTo", times, form)
        times.set_shape([None] * (axis + 1))
    elif axis:
        shapes.merge_static(times.sizes, (data.sizes or ())[axis : axis + 1])
        lead = slicing.getitem(full, slice(None, axis))
        form = join.concat([lead, shape_ops.shape(times)], 0)
        times = make("BroadcastTo", times, form)
        times.set_shape([None] * (axis + 1))
    axes = constant_ops.constant(np.arange(axis + 1, dtype=np.int32))
    longest = make("Maximum", 0, make("Max", times, axes))
    mask = sequence_mask(times, longest)
    tiled = _tiled(reshape_ops.expand_dims(data, axis + 1), axis + 1, longest, rank + 1)
    result = slicing.boolean_mask(tiled, mask)
    if axis:
        result = reshape_ops.reshape(result, _with_hole(full, axis))
    dims = data.sizes or ()
    result.set_shape([*dims[:axis], None, *dims[axis + 1 :]])
    return result


def _tiled(data: Tensor, axis: int, times: Tensor, rank: int) -> Tensor:
    multiples: list[Any] = [1] * rank
    multiples[axis] = times
    return make("Tile", data, multiples)


def _with_hole(full: Tensor, axis: int) -> Tensor:
    before = slicing.getitem(full, slice(None, axis))
    after = slicing.getitem(full, slice(axis + 1, None))
    return join.concat([before, [-1], after], 0)
