"""StridedSlice and its gradient: NumPy's basic indexing, written as bounds and bit masks.

A strided slice is said by three vectors and five masks.  One function, :func:`python_key`, turns
them into a Python index; the shape rule, the fold, the kernels and the source that the programs
contain all read that one form.  Torch has no negative steps: such a dim is sliced forwards and
flipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import shape as shape_ops
from penstock.ops.array.unsigned import SIGNED

INDEX = "{int32, int64}"
MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
MASK_ATTRS = [f"{m}: int = 0" for m in MASKS]
Key = tuple[Any, ...]


# ---- strided slices as Python keys -----------------------------------------------------------


def python_key(begin: Any, end: Any, strides: Any, masks: tuple[int, int, int, int, int]) -> Key:
    """The Python index (slices, ints, None, Ellipsis) that a strided slice stands for.

    Args:
      begin: list of ints, or None when unknown; an index of an unknown begin is the int 0.
      end: list of ints, or None when unknown.
      strides: list of ints.
      masks: begin, end, ellipsis, new-axis and shrink masks.

    Returns:
      A tuple to index an array with.

    Raises:
      ValueError: a stride of 0, more than one ellipsis, or lengths that differ.
    """
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = masks
    if ellipsis_mask & (ellipsis_mask - 1):
        raise ValueError(
            "Multiple ellipses in slice spec not allowed: only one ellipsis may be given"
        )
    lengths = [len(v) if isinstance(v, list) else None for v in (begin, end, strides)
               if v is not None]  # fmt: skip
    if len(set(lengths)) > 1 or None in lengths:
        raise ValueError("begin, end and strides must be vectors of one length")
    items: list[Any] = []
    for index, step in enumerate(strides):
        bit = 1 << index
        if ellipsis_mask & bit:
            items.append(Ellipsis)
        elif new_axis_mask & bit:
            items.append(None)
        elif step == 0:
            raise ValueError(f"strides[{index}] must be non-zero: strides[{index}] must not be 0")
        elif shrink_mask & bit:
            if step < 0:
                raise ValueError(f"an index takes a positive stride; strides[{index}] is {step}")
            items.append(0 if begin is None else begin[index])
        else:
            start = None if begin_mask & bit or begin is None else begin[index]
            stop = None if end_mask & bit or end is None else end[index]
            items.append(slice(start, stop, step))
    return tuple(items)


def forward_key(key: Key, dims: Any) -> tuple[Key, list[int]]:
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


def check_rank(key: Key, dims: Any) -> None:
    taken = sum(1 for k in key if k is not None and k is not Ellipsis)
    if taken > len(dims):
        raise ValueError(
            f"Index out of range using input dim {len(dims)}; input has only {len(dims)} dims:"
            f" {taken} dims are indexed, but the input has shape {show(tuple(dims))}"
        )


def _index(value: Any, key: Key) -> Any:
    if isinstance(value, np.ndarray):
        # An ellipsis keeps a fully indexed object array an array.
        return value[key] if Ellipsis in key else value[(*key, Ellipsis)]
    if any(isinstance(k, slice) and k.step < 0 for k in key):
        forward, flips = forward_key(key, value.shape)
        signed = SIGNED.get(value.dtype)
        if signed is not None:  # ATen turns none of these round
            return value.view(signed)[forward].flip(flips).view(value.dtype)
        return value[forward].flip(flips)
    return value[key]


def _strided_kernel(
    input: Any, begin: Any, end: Any, strides: Any, begin_mask: Any, end_mask: Any,
    ellipsis_mask: Any, new_axis_mask: Any, shrink_axis_mask: Any,
) -> Any:  # fmt: skip
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    key = python_key(begin, end, strides, masks)
    check_rank(key, input.shape)
    return _index(input, key)


def _masks_of(op: Any) -> Any:
    return tuple(op.attrs[m] for m in MASKS)


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
    check_rank(key, dims)
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
                    f"slice index {item} of dimension {source} out of bounds: the input has shape"
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
    if not key:
        return str(call.arg["input"])
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
            text += f".narrow({literal(axis)}, {literal(start)}, {literal(max(stop - start, 0))})"
            dims = (*dims[:axis], max(stop - start, 0), *dims[axis + 1 :])
            axis += 1
        else:
            text += f".select({literal(axis)}, {literal(item)})"
            dims = (*dims[:axis], *dims[axis + 1 :])
        calls += 1
    return text if 0 < calls <= 2 else None


def _item_text(item: Any) -> str:
    if item is Ellipsis:
        return "..."
    if not isinstance(item, slice):
        return literal(item)
    parts = (item.start, item.stop, item.step)
    start, stop, step = ("" if v is None else literal(v) for v in parts)
    return f"{start}:{stop}" if step == "1" else f"{start}:{stop}:{step}"


def _strided_grad(op: Any, grad: Tensor) -> list[Any]:
    source, begin, end, strides = op.inputs
    full = shape_ops.shape(source, out_type=begin.dtype.base_dtype)
    masks = dict(zip(MASKS, _masks_of(op), strict=True))
    return [make("StridedSliceGrad", full, begin, end, strides, grad, **masks), None, None, None]


define_op(
    "StridedSlice",
    "input: T, begin: Index, end: Index, strides: Index -> output: T",
    attrs=["T: type", f"Index: {INDEX}", *MASK_ATTRS],
    shape=_strided_shape,
    kernel=_strided_kernel,
    inline=_strided_inline,
    fold=_fold_strided,
    host=("begin", "end", "strides"),
    aliases=("input",),
    gradient=_strided_grad,
    moves=True,
)


# ---- StridedSliceGrad --------------------------------------------------------------------------


def _strided_grad_kernel(
    shape: Any, begin: Any, end: Any, strides: Any, dy: Any, begin_mask: Any, end_mask: Any,
    ellipsis_mask: Any, new_axis_mask: Any, shrink_axis_mask: Any,
) -> Any:  # fmt: skip
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    key, flips = forward_key(python_key(begin, end, strides, masks), shape)
    if isinstance(dy, np.ndarray):
        result = np.full(shape, b"", object)
        result[key] = np.flip(dy, flips) if flips else dy
        return result
    result = dy.new_zeros(shape)
    result[key] = dy.flip(flips) if flips else dy
    return result


def _strided_grad_grad(op: Any, grad: Tensor) -> list[Any]:
    _, begin, end, strides, _ = op.inputs
    masks = dict(zip(MASKS, _masks_of(op), strict=True))
    return [None, None, None, None, make("StridedSlice", grad, begin, end, strides, **masks)]


define_op(
    "StridedSliceGrad",
    "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T",
    attrs=["T: type", f"Index: {INDEX}", *MASK_ATTRS],
    shape=lambda ctx: ctx.shape_value("shape"),
    kernel=_strided_grad_kernel,
    host=("shape", "begin", "end", "strides"),
    gradient=_strided_grad_grad,
)
