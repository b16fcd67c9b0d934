"""Slice and StridedSlice, and Python indexing of tensors.

A strided slice is said by three vectors and five masks.  One function, :func:`python_key`, turns
them into a Python index; the shape rule, the fold, the kernels and the source that the programs
contain all read that one form.  Torch has no negative steps: such a dim is sliced forwards and
flipped.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from penstock.base import dtypes, shapes
from penstock.graph import convert
from penstock.graph.build import make
from penstock.graph.convert import convert_to_tensor
from penstock.graph.scopes import name_scope
from penstock.graph.tensor import Tensor
from penstock.opdef import define_op, static
from penstock.opdef.inference import Dims, ShapeContext, show
from penstock.ops import join
from penstock.ops import reshape as reshape_ops
from penstock.ops import shape as shape_ops

__all__ = ["boolean_mask", "slice_", "strided_slice"]

_INDEX = "{int32, int64}"
_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
_MASK_ATTRS = [f"{m}: int = 0" for m in _MASKS]
Key = tuple[Any, ...]


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
    return tuple(
        _slice_dim(d, b, s) for d, b, s in zip(dims, begin, size.tolist(), strict=True)
    )


def _slice_dim(dim: int | None, begin: int | None, size: int) -> int | None:
    if size < -1:
        raise ValueError(f"size must be at least -1; found {size}")
    if begin is not None and dim is not None:
        if begin > dim or (size != -1 and begin + size > dim):
            raise ValueError(f"a slice from {begin} of size {size} leaves a dim of size {dim}")
    if size != -1:
        return size
    return None if dim is None or begin is None else dim - begin


def _slice_kernel(input: Any, begin: Any, size: Any) -> Any:
    key = []
    for axis, (start, count) in enumerate(zip(begin, size, strict=True)):
        dim = input.shape[axis]
        count = dim - start if count == -1 else count
        if start < 0 or count < 0 or start + count > dim:
            raise ValueError(
                f"slice begin {begin} size {size} leaves dim {axis} of shape"
                f" {list(input.shape)}"
            )
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
        text += f".narrow({axis}, {start}, {count})"
    return text


def _fold_slice(ctx: ShapeContext, value: Any, begin: Any, size: Any) -> np.ndarray | None:
    if value is None or begin is None or size is None:
        return None
    result: np.ndarray = _slice_kernel(value, begin.tolist(), size.tolist())
    return result


def _partial_slice(ctx: ShapeContext) -> Dims:
    known, begin, size = ctx.shape_value("input"), ctx.value("begin"), ctx.value("size")
    if known is None or begin is None or size is None or len(ctx["input"] or ()) != 1:
        return None
    start, count = int(begin[0]), int(size[0])
    return known[start:] if count == -1 else known[start : start + count]


static.partial_value("Slice")(_partial_slice)


def _slice_grad(op: Any, grad: Tensor) -> list[Any]:
    source, begin = op.inputs[0], op.inputs[1]
    rank = shape_ops.rank(source)
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
    attrs=["T: type", f"Index: {_INDEX}"],
    shape=_slice_shape,
    kernel=_slice_kernel,
    inline=_slice_inline,
    fold=_fold_slice,
    host=("begin", "size"),
    aliases=("input",),
    gradient=_slice_grad,
)


# ---- strided slices as Python keys -----------------------------------------------------------


def python_key(
    begin: Any, end: Any, strides: Any, masks: tuple[int, int, int, int, int]
) -> Key:
    """The Python index (slices, ints, None, Ellipsis) that a strided slice stands for.

    Args:
      begin: list of ints, or None when unknown; an index of an unknown begin is the int 0.
      end: list of ints, or None when unknown.
      strides: list of ints.
      masks: begin, end, ellipsis, new-axis and shrink masks.

    Returns:
      A tuple to index an array with.

    Raises:
      ValueError: a stride of 0, or more than one ellipsis.
    """
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = masks
    if ellipsis_mask & (ellipsis_mask - 1):
        raise ValueError("only one ellipsis may be given")
    items: list[Any] = []
    for index, step in enumerate(strides):
        bit = 1 << index
        if ellipsis_mask & bit:
            items.append(Ellipsis)
        elif new_axis_mask & bit:
            items.append(None)
        elif step == 0:
            raise ValueError(f"strides[{index}] must not be 0")
        elif shrink_mask & bit:
            if step < 0:
                raise ValueError(f"an index takes a positive stride; strides[{index}] is {step}")
            items.append(0 if begin is None else begin[index])
        else:
            start = None if begin_mask & bit or begin is None else begin[index]
            stop = None if end_mask & bit or end is None else end[index]
            items.append(slice(start, stop, step))
    return tuple(items)


def _forward_key(key: Key, dims: Any) -> tuple[Key, list[int]]:
    """``key`` with positive steps only, and the dims of the result to flip afterwards."""
    taken = sum(1 for k in key if k is not None and k is not Ellipsis)
    source = target = 0
    items: list[Any] = []
    flips = []
    for item in key:
        if item is None:
            items.append(item)
            target += 1
            continue
        if item is Ellipsis:
            skipped = len(dims) - taken
            source, target = source + skipped, target + skipped
        elif isinstance(item, slice):
            if item.step < 0:
                steps = range(*item.indices(dims[source]))
                if steps:
                    item = slice(steps[-1], steps[0] + 1, -item.step)
                else:
                    item = slice(0, 0)
                flips.append(target)
            source, target = source + 1, target + 1
        else:
            source += 1
        items.append(item)
    return tuple(items), flips


def _check_rank(key: Key, dims: Any) -> None:
    taken = sum(1 for k in key if k is not None and k is not Ellipsis)
    if taken > len(dims):
        raise ValueError(f"{taken} dims are indexed, but the input has shape {show(tuple(dims))}")


def _index(value: Any, key: Key) -> Any:
    if isinstance(value, np.ndarray):
        # An ellipsis keeps a fully indexed object array an array.
        return value[key] if Ellipsis in key else value[(*key, Ellipsis)]
    if any(isinstance(k, slice) and k.step < 0 for k in key):
        forward, flips = _forward_key(key, value.shape)
        return value[forward].flip(flips)
    return value[key]


def _strided_kernel(
    input: Any, begin: Any, end: Any, strides: Any, begin_mask: Any, end_mask: Any,
    ellipsis_mask: Any, new_axis_mask: Any, shrink_axis_mask: Any,
) -> Any:  # fmt: skip
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    key = python_key(begin, end, strides, masks)
    _check_rank(key, input.shape)
    return _index(input, key)


def _masks_of(op: Any) -> Any:
    return tuple(op.attrs[m] for m in _MASKS)


# ---- StridedSlice: shape, fold, source ---------------------------------------------------------


def _strided_shape(ctx: ShapeContext) -> Dims:
    dims, strides = ctx["input"], ctx.value("strides")
    vector = shapes.merge_static(ctx.rank("begin", 1), ctx.rank("end", 1))
    vector = shapes.merge_static(vector, ctx.rank("strides", 1))
    if dims is None or strides is None:
        return None
    if len(strides) >= 32:
        raise ValueError(f"at most 31 index terms are allowed; found {len(strides)}")
    begin, end = (None if v is None else v.tolist() for v in map(ctx.value, ("begin", "end")))
    key = python_key(begin, end, strides.tolist(), _masks_of(ctx.op))
    _check_rank(key, dims)
    known = begin is not None and end is not None
    return _sliced_dims(ctx.op, key, dims, known)


def _sliced_dims(op: Any, key: Key, dims: Any, known: bool) -> Dims:
    begin_mask, end_mask, *_, shrink_mask = _masks_of(op)
    taken = sum(1 for k in key if k is not None and k is not Ellipsis)
    result: list[int | None] = []
    source = 0
    if Ellipsis not in key:
        key = (*key, Ellipsis)
    for index, item in enumerate(key):
        if item is None:
            result.append(1)
        elif item is Ellipsis:
            skipped = len(dims) - taken
            result.extend(dims[source : source + skipped])
            source += skipped
        elif isinstance(item, slice):
            bit = 1 << index
            # As in TensorFlow, one unknown entry makes all of begin and end unknown.
            whole = begin_mask & bit and end_mask & bit
            dim = dims[source] if known or whole else None
            result.append(None if dim is None else len(range(*item.indices(dim))))
            source += 1
        else:
            dim = dims[source]
            if known and dim is not None and not -dim <= item < dim:
                raise ValueError(
                    f"index {item} of dim {source} is out of bounds: the input has shape"
                    f" {show(tuple(dims))}"
                )
            source += 1
    return tuple(result)


def _static_key(ctx: ShapeContext) -> Key | None:
    parts = [ctx.value(n) for n in ("begin", "end", "strides")]
    if any(p is None for p in parts):
        return None
    return python_key(*[p.tolist() for p in parts], _masks_of(ctx.op))  # type: ignore[union-attr]


def _fold_strided(ctx: ShapeContext, value: Any, *_: Any) -> np.ndarray | None:
    key = _static_key(ctx)
    if key is None:
        return None
    if value is not None:
        return np.asarray(_index(value, key))
    dims = ctx["input"]
    if dims is None or len(dims) != 1 or ctx.tensor("input").dtype not in dtypes_of_shapes:
        return None
    known = ctx.shape_value("input")
    if known is None or len(known) != dims[0]:
        return None
    chosen = _index(np.array(known, object), key)
    if any(d is None for d in np.ravel(chosen)):
        return None
    kind = ctx.op.outputs[0].dtype.as_numpy_dtype
    return np.asarray(chosen).astype(kind)


dtypes_of_shapes = (dtypes.int32, dtypes.int64)


def _partial_strided(ctx: ShapeContext) -> Dims:
    key, dims = _static_key(ctx), ctx["input"]
    if key is None or dims is None or len(dims) != 1:
        return None
    known = ctx.shape_value("input")
    if known is None:
        return None
    chosen = np.array(known, object)[key]
    return tuple(chosen) if np.ndim(chosen) == 1 else None


static.partial_value("StridedSlice")(_partial_strided)


def _strided_inline(call: Any) -> str | None:
    parts = [call.value(n) for n in ("begin", "end", "strides")]
    dims = call.dims("input")
    if any(p is None for p in parts) or dims is None or call.dtype("input") is dtypes.string:
        return None
    key = python_key(*[p.tolist() for p in parts], _masks_of(call.op))
    if any(isinstance(k, slice) and k.step < 0 for k in key):
        return None
    return call.arg["input"] + (_views(key, dims) or f"[{', '.join(map(_item_text, key))}]")


def _views(key: Key, dims: Any) -> str | None:
    """Method calls for a key that selects or narrows at most two dims; cheaper than indexing."""
    if Ellipsis in key[:-1] or None in key:
        return None
    text, axis, calls = "", 0, 0
    for item in key:
        if item is Ellipsis:
            break
        if isinstance(item, slice):
            size = dims[axis]
            if item.step != 1:
                return None
            if item.start in (None, 0) and item.stop is None:
                axis += 1
                continue
            if size is None:
                return None
            start, stop, _ = item.indices(size)
            text += f".narrow({axis}, {start}, {max(stop - start, 0)})"
            dims = (*dims[:axis], max(stop - start, 0), *dims[axis + 1 :])
            axis += 1
        else:
            text += f".select({axis}, {item})"
            dims = (*dims[:axis], *dims[axis + 1 :])
        calls += 1
    return text if 0 < calls <= 2 else None


def _item_text(item: Any) -> str:
    if item is Ellipsis:
        return "..."
    if not isinstance(item, slice):
        return repr(item)
    start, stop, step = ("" if v is None else str(v) for v in (item.start, item.stop, item.step))
    return f"{start}:{stop}" if step == "1" else f"{start}:{stop}:{step}"


def _strided_grad(op: Any, grad: Tensor) -> list[Any]:
    source, begin, end, strides = op.inputs
    full = shape_ops.shape(source, out_type=begin.dtype.base_dtype)
    masks = dict(zip(_MASKS, _masks_of(op), strict=True))
    return [make("StridedSliceGrad", full, begin, end, strides, grad, **masks), None, None, None]


define_op(
    "StridedSlice",
    "input: T, begin: Index, end: Index, strides: Index -> output: T",
    attrs=["T: type", f"Index: {_INDEX}", *_MASK_ATTRS],
    shape=_strided_shape,
    kernel=_strided_kernel,
    inline=_strided_inline,
    fold=_fold_strided,
    host=("begin", "end", "strides"),
    aliases=("input",),
    gradient=_strided_grad,
)


# ---- StridedSliceGrad --------------------------------------------------------------------------


def _strided_grad_kernel(
    shape: Any, begin: Any, end: Any, strides: Any, dy: Any, begin_mask: Any, end_mask: Any,
    ellipsis_mask: Any, new_axis_mask: Any, shrink_axis_mask: Any,
) -> Any:  # fmt: skip
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    key, flips = _forward_key(python_key(begin, end, strides, masks), shape)
    result = dy.new_zeros(shape)
    result[key] = dy.flip(flips) if flips else dy
    return result


def _strided_grad_grad(op: Any, grad: Tensor) -> list[Any]:
    _, begin, end, strides, _ = op.inputs
    masks = dict(zip(_MASKS, _masks_of(op), strict=True))
    return [None, None, None, None, make("StridedSlice", grad, begin, end, strides, **masks)]


define_op(
    "StridedSliceGrad",
    "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T",
    attrs=["T: type", f"Index: {_INDEX}", *_MASK_ATTRS],
    shape=lambda ctx: ctx.shape_value("shape"),
    kernel=_strided_grad_kernel,
    host=("shape", "begin", "end", "strides"),
    gradient=_strided_grad_grad,
)


# ---- public functions ------------------------------------------------------------------------


def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The block of ``input_`` that starts at ``begin`` and has ``size``.

    Args:
      input_: a tensor.
      begin: int32 or int64 vector, one start a dim.
      size: vector of that type; -1 means all that is left of a dim.
      name: name of the node.

    Returns:
      A tensor of the rank of ``input_``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.slice(tf.zeros([4, 6]), [1, 2], [2, -1]).shape.as_list()
      [2, 4]
    """
    made: Tensor = make("Slice", input_, begin, size, name=name)
    return made


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
      name: name of the node.

    Returns:
      A tensor.
    """
    if strides is None:
        from penstock.ops import elementwise

        strides = elementwise.ones_like(begin)
    made: Tensor = make(
        "StridedSlice", input_, begin, end, strides, name=name or "StridedSlice",
        begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask, shrink_axis_mask=shrink_axis_mask,
    )  # fmt: skip
    return made


def getitem(tensor: Any, key: Any, var: Any = None) -> Tensor:
    """``tensor[key]``: slices, ints, scalar tensors, ``...``, ``tf.newaxis`` or a boolean mask.

    Args:
      tensor: a tensor.
      key: what stands in the brackets.
      var: the variable that is sliced, if any.

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
    masks = dict.fromkeys(_MASKS, 0)
    for index, term in enumerate(terms):
        start, stop, step = _term(term, 1 << index, masks)
        begin.append(start)
        end.append(stop)
        strides.append(step)
    with name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as scope:
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


def _checked_index(value: Any) -> Any:
    if isinstance(value, shapes.Dimension):
        value = value.value
    if isinstance(value, bool | np.bool_) or not (
        isinstance(value, int | np.integer)
        or (convert.is_dense_tensor_like(value) and value.dtype.base_dtype.is_integer)
        or (isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu")
    ):
        raise TypeError(
            "a tensor is indexed with integers, slices, ..., tf.newaxis, scalar int32 or int64"
            f" tensors, or one boolean mask; found {value!r}"
        )
    # Every NumPy integer counts as a Python int: the constants stay int32.
    return value if convert.is_dense_tensor_like(value) else int(value)


def boolean_mask(
    tensor: Any, mask: Any, name: str | None = "boolean_mask", axis: int | None = None
) -> Tensor:
    """The entries of ``tensor`` where ``mask`` is true.

    Args:
      tensor: a tensor.
      mask: bool tensor of known rank; its shape is that of ``tensor`` from dim ``axis`` on.
      name: name of the scope.
      axis: first masked dim, 0 by default.

    Returns:
      Tensor in which the masked dims have become one.

    Raises:
      ValueError: the rank of ``mask`` is unknown or 0, or the shapes do not fit.
    """
    from penstock.ops import gather

    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        rank = mask._rank
        if rank == 0:
            raise ValueError("boolean_mask: mask must not be a scalar")
        if rank is None:
            raise ValueError(f"boolean_mask: the rank of the mask {mask.name} must be known")
        axis = 0 if axis is None else axis
        last = axis + rank
        covered = None if tensor._dims is None else tensor._dims[axis:last]
        if not shapes.is_compatible_static(covered, mask._dims):
            raise ValueError(
                f"boolean_mask: mask of shape {show(mask._dims)} does not fit dims {axis} to"
                f" {last} of a tensor of shape {show(tensor._dims)}"
            )
        leading = make("Prod", getitem(shape_ops.shape(tensor), slice(axis, last)), [0])
        before = getitem(shape_ops.shape(tensor), slice(None, axis))
        after = getitem(shape_ops.shape(tensor), slice(last, None))
        flat = reshape_ops.reshape(tensor, join.concat([before, [leading], after], 0))
        if tensor._dims is not None and covered is not None:
            count = shapes.num_elements_static(covered)
            flat.set_shape([*tensor._dims[:axis], count, *tensor._dims[last:]])
        mask = reshape_ops.reshape(mask, [-1])
        indices = reshape_ops.squeeze(make("Where", mask), axis=[1])
        return gather.gather(flat, indices, axis=axis)
