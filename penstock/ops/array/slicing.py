"""Slice, and Python indexing of tensors.

Indexing in Python (``x[1:, ..., None]``) builds one StridedSlice, whose op is in ``strided_slice``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext, show
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import (
    join,
    nodes,
    ranks,
    reshape as reshape_ops,
    shape as shape_ops,
    squeeze,
)
from penstock.ops.array.strided_slice import INDEX, MASKS
from penstock.ops.math import elementwise

# ---- Slice -----------------------------------------------------------------------------------


def _slice_shape(ctx: ShapeContext) -> Dims:
    dims = ctx["input"]
    vector = shapes.merge_static(ctx.rank("begin", 1), ctx.rank("size", 1))
    rank = None if vector is None else vector[0]
    if rank is not None:
        dims = ctx.rank("input", rank)
    begin, size = ctx.shape_value("begin"), ctx.value("size")
    if size is None:
        partial = ctx.shape_value("size")
        if partial is not None:
            # A -1 among the sizes would mean "the rest", and shows as unknown here.
            return partial
        return None if dims is None else (None,) * len(dims)
    begin = begin if begin is not None else (None,) * len(size)
    dims = dims if dims is not None else (None,) * len(size)
    rows = list(zip(dims, begin, size.tolist(), strict=True))
    result = tuple(_slice_dim(*row) for row in rows)
    for axis, (dim, start, count) in enumerate(rows):
        if dim is not None and start is not None and (start < 0 or start + max(count, 0) > dim):
            raise FailsAtRun(_out_of_dim(axis, dim, start, count), result)
    return result


def _slice_dim(dim: int | None, begin: int | None, size: int) -> int | None:
    if size < -1:
        raise ValueError(
            f"Invalid value in tensor used for shape: {size}: size must be at least -1"
        )
    if begin is not None and dim is not None:
        if size == -1 and begin > dim:
            raise ValueError(f"Dimension {dim - begin} must be >= 0: the slice begins at {begin}")
    if size != -1:
        return size
    return None if dim is None or begin is None else dim - begin


def _out_of_dim(axis: int, dim: int, begin: int, size: int) -> str:
    if not 0 <= begin <= dim:
        return f"Expected begin[{axis}] in [0, {dim}], but got {begin}"
    return f"Expected size[{axis}] in [0, {dim - begin}], but got {size}"


def _slice_kernel(input: Any, begin: Any, size: Any) -> Any:
    key = []
    for axis, (start, count) in enumerate(zip(begin, size, strict=True)):
        dim = input.shape[axis]
        count = dim - start if count == -1 else count
        if start < 0 or count < 0 or start + count > dim:
            raise ValueError(_out_of_dim(axis, dim, start, count))
        key.append(slice(start, start + count))
    return input[tuple(key)] if key else input


def _slice_inline(call: Any) -> str | None:
    begin, size, dims = call.value("begin"), call.value("size"), call.dims("input")
    if begin is None or size is None or dims is None:
        return None
    text = call.arg["input"]
    for axis, (start, count, dim) in enumerate(
        zip(begin.tolist(), size.tolist(), dims, strict=True)
    ):
        if start == 0 and (count == -1 or count == dim):
            continue
        if dim is None or start < 0:
            return None
        count = dim - start if count == -1 else count
        if call.dtype("input") is dtypes.string:
            return None
        text += f".narrow({axis}, {literal(start)}, {literal(count)})"
    return text


def _fold_slice(ctx: ShapeContext, value: Any, begin: Any, size: Any) -> np.ndarray | None:
    if value is None or begin is None or size is None:
        return None
    return _slice_kernel(value, begin.tolist(), size.tolist())


def _partial_slice(ctx: ShapeContext) -> Dims:
    known, begin, size = ctx.shape_value("input"), ctx.value("begin"), ctx.value("size")
    if known is None or begin is None or size is None or len(ctx["input"] or ()) != 1:
        return None
    start, count = int(begin[0]), int(size[0])
    return known[start:] if count == -1 else known[start : start + count]


static.partial_value("Slice")(_partial_slice)


def _slice_grad(op: Any, grad: Tensor) -> list[Any]:
    source, begin = op.inputs[0], op.inputs[1]
    rank = ranks.rank(source)
    kind = begin.dtype.base_dtype  # TensorFlow 1.15 takes int32 here and refuses int64
    size = shape_ops.shape(op.outputs[0], out_type=kind)
    form = join.stack([rank, 1])
    before = reshape_ops.reshape(begin, form)
    full = shape_ops.shape(source, out_type=kind)
    left = make("Sub", make("Sub", full, size, name="sub"), begin, name="sub")
    after = reshape_ops.reshape(left, form)
    paddings = join.concat([before, after], 1)
    return [make("Pad", grad, paddings), None, None]


define_op(
    "Slice",
    "input: T, begin: Index, size: Index -> output: T",
    attrs=["T: type", f"Index: {INDEX}"],
    shape=_slice_shape,
    kernel=_slice_kernel,
    inline=_slice_inline,
    fold=_fold_slice,
    host=("begin", "size"),
    aliases=("input",),
    gradient=_slice_grad,
    moves=True,
)


# ---- public functions ------------------------------------------------------------------------


def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The block of ``input_`` that starts at ``begin`` and has ``size``.

    Args:
      input_: a tensor.
      begin: int32 or int64 vector, one start a dim.
      size: vector of that type; -1 means all that is left of a dim.

    Returns:
      A tensor of the rank of ``input_``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.slice(tf.zeros([4, 6]), [1, 2], [2, -1]).shape.as_list()
      [2, 4]
    """
    return make("Slice", input_, begin, size, name=name)


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """A slice with steps, as ``input_[begin:end:strides]`` of NumPy; see ``Tensor[...]``.

    Args:
      input_: a tensor.
      begin: int32 or int64 vector.
      end: vector of that type.
      strides: vector of that type; by default ones.
      begin_mask: bit i: ignore ``begin[i]``, start at the end that the stride says.
      end_mask: bit i: ignore ``end[i]``.
      ellipsis_mask: bit i: entry i stands for as many whole dims as are left.
      new_axis_mask: bit i: entry i is a new dim of size 1.
      shrink_axis_mask: bit i: entry i is an index, and the dim goes away.
      var: the variable that was sliced, if any; gives the result an ``assign``.

    Returns:
      A tensor.
    """
    if strides is None:
        strides = elementwise.ones_like(begin)
    return make(
        "StridedSlice", input_, begin, end, strides, name=name or "StridedSlice",
        begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask, shrink_axis_mask=shrink_axis_mask,
    )  # fmt: skip


def getitem(tensor: Any, key: Any, var: Any = None, name: str = "strided_slice") -> Tensor:
    """``tensor[key]``: slices, ints, scalar tensors, ``...``, ``tf.newaxis`` or a boolean mask.

    Args:
      tensor: a tensor.
      key: what stands in the brackets.
      var: the variable that is sliced, if any.
      name: of the node; made unique.

    Returns:
      A tensor.

    Raises:
      TypeError: an index that is neither an integer, a slice, an ellipsis nor newaxis.
    """
    if isinstance(key, bool | np.bool_) or getattr(key, "dtype", None) in (dtypes.bool, np.bool_):
        return boolean_mask(tensor, key)
    terms = list(key) if isinstance(key, list | tuple) else [key]
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks = dict.fromkeys(MASKS, 0)
    for index, term in enumerate(terms):
        start, stop, step = _term(term, 1 << index, masks)
        begin.append(start)
        end.append(stop)
        strides.append(step)
    with name_scope(None, name, [tensor, *begin, *end, *strides]) as scope:
        if begin:
            packed = [join.stack(v) for v in (begin, end, strides)]
            if any(p.dtype is dtypes.int64 for p in packed):
                packed = [shape_ops.cast_to(p, dtypes.int64) for p in packed]
        else:
            packed = [make("Const", value=np.zeros(0, np.int32), dtype=dtypes.int32)] * 3
        return strided_slice(tensor, *packed, **masks, var=var, name=scope)


def _term(term: Any, bit: int, masks: dict[str, int]) -> tuple[Any, Any, Any]:
    """Begin, end and stride of one term of a key; its bits go into ``masks``."""
    if isinstance(term, slice):
        start, stop = _bound(term.start), _bound(term.stop)
        if start is None:
            masks["begin_mask"] |= bit
        if stop is None:
            masks["end_mask"] |= bit
        step = 1 if term.step is None else _checked_index(term.step)
        return 0 if start is None else start, 0 if stop is None else stop, step
    if term is Ellipsis:
        masks["ellipsis_mask"] |= bit
        return 0, 0, 1
    if term is None:
        masks["new_axis_mask"] |= bit
        return 0, 0, 1
    masks["shrink_axis_mask"] |= bit
    index = _checked_index(term)
    if convert.is_dense_tensor_like(index):
        return index, make("AddV2", index, 1, name="add"), 1
    return index, index + 1, 1


def _bound(value: Any) -> Any:
    if value is None or (isinstance(value, int) and value == sys.maxsize):
        return None
    return _checked_index(value)


def _no_index(value: Any) -> TypeError:
    return TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar"
        f" tf.int32/tf.int64 tensors are valid indices, got {value!r}: a tensor is indexed with"
        " those or with one boolean mask"
    )


def _checked_index(value: Any) -> Any:
    if isinstance(value, dimension.Dimension):
        value = value.value
    if isinstance(value, bool | np.bool_) or not (
        isinstance(value, int | np.integer)
        or (convert.is_dense_tensor_like(value) and value.dtype.base_dtype.is_integer)
        or (isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu")
    ):
        raise _no_index(value)
    if convert.is_dense_tensor_like(value) and getattr(value, "rank", None):
        raise _no_index(value)
    # Every NumPy integer counts as a Python int: the constants stay int32.
    return value if convert.is_dense_tensor_like(value) else int(value)


def boolean_mask(
    tensor: Any, mask: Any, name: str | None = "boolean_mask", axis: int | None = None
) -> Tensor:
    """The entries of ``tensor`` where ``mask`` is true.

    Args:
      tensor: a tensor.
      mask: bool tensor of known rank; its shape is that of ``tensor`` from dim ``axis`` on.
      axis: first masked dim, 0 by default.

    Returns:
      Tensor in which the masked dims have become one.

    Raises:
      ValueError: the rank of ``mask`` is unknown or 0, or the shapes do not fit.

    Example:
      >>> import penstock as tf
      >>> scores = tf.constant([0.9, 0.2, 0.7])
      >>> with tf.Session() as session:
      ...     session.run(tf.boolean_mask(scores, scores > 0.5)).tolist()
      [0.8999999761581421, 0.699999988079071]
    """
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        rank = mask.rank
        if rank == 0:
            raise ValueError("mask cannot be scalar.: boolean_mask: mask must not be a scalar")
        if rank is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.:"
                f" the rank of {mask.name} is unknown"
            )
        axis = 0 if axis is None else axis
        last = axis + rank
        covered = None if tensor.sizes is None else tensor.sizes[axis:last]
        if not shapes.is_compatible_static(covered, mask.sizes):
            raise ValueError(
                f"Shapes {tensor.shape[axis:last]} and {mask.shape} are incompatible: a mask of"
                f" shape {show(mask.sizes)} does not fit dims {axis} to {last} of a tensor of shape"
                f" {show(tensor.sizes)}"
            )
        leading = make("Prod", getitem(shape_ops.shape(tensor), slice(axis, last)), [0])
        before = getitem(shape_ops.shape(tensor), slice(None, axis))
        after = getitem(shape_ops.shape(tensor), slice(last, None))
        flat = reshape_ops.reshape(tensor, join.concat([before, [leading], after], 0))
        if tensor.sizes is not None and covered is not None:
            count = shapes.num_elements_static(covered)
            flat.set_shape([*tensor.sizes[:axis], count, *tensor.sizes[last:]])
        mask = reshape_ops.reshape(mask, [-1])
        indices = squeeze.squeeze(make("Where", mask), axis=[1])
        return nodes.gather(flat, indices, axis)
