"""ONNX operators that come in: shapes, and what is picked out of tensors and put into them."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import numpy_helper

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.ops.array.constant import constant
from penstock.storage.interchange.model import Unportable
from penstock.storage.interchange.onnx_operands import (
    axes_of,
    flat_sizes,
    int_vector,
    is_known,
    number_like,
    rank_of,
    shape_tensor,
)
from penstock.storage.interchange.onnx_reader import Reader, Rule

_MOST = np.iinfo(np.int64).max


def _constant(r: Reader, node: Any, **attrs: Any) -> Any:
    ((key, value),) = attrs.items()
    if key == "value":
        return constant(numpy_helper.to_array(value))
    if key in ("value_float", "value_floats"):
        return constant(np.array(value, np.float32))
    if key in ("value_int", "value_ints"):
        return constant(np.array(value, np.int64))
    raise Unportable(f"a constant of {key}")


def _constant_of_shape(r: Reader, node: Any, shape: Any, value: Any = None) -> Any:
    return make("Fill", shape, constant(np.float32(0)) if value is None else _scalar(value))


def _shape_of(r: Reader, node: Any, x: Any, start: int = 0, end: int = _MOST) -> Any:
    made = shape_tensor(x)
    if start == 0 and end == _MOST:
        return made
    return make("StridedSlice", made, int_vector(start), int_vector(end), int_vector(1))


def _size(r: Reader, node: Any, x: Any) -> Any:
    return make("Size", x, out_type=dtypes.int64)


def _reshape(r: Reader, node: Any, x: Any, shape: Any, allowzero: int = 0) -> Any:
    if allowzero:
        return make("Reshape", x, shape)
    known = r.known(shape, "shape") if is_known(shape) else None
    if known is not None and 0 not in known:
        return make("Reshape", x, shape)
    if known is None:
        return make("Reshape", x, shape)
    parts = [_shape_of(r, node, x, i, i + 1) if size == 0 else int_vector(int(size))
             for i, size in enumerate(known)]  # fmt: skip
    return make("Reshape", x, make("ConcatV2", parts, constant(0)))


def _flatten(r: Reader, node: Any, x: Any, axis: int = 1) -> Any:
    return make("Reshape", x, int_vector(*flat_sizes(x, axis % (rank_of(x) + 1))))


def _squeeze(r: Reader, node: Any, x: Any, given: Any = None, axes: Any = None) -> Any:
    found = axes_of(r, axes if given is None else given)
    return make("Squeeze", x, squeeze_dims=found or [])


def _unsqueeze(r: Reader, node: Any, x: Any, given: Any = None, axes: Any = None) -> Any:
    found = axes_of(r, axes if given is None else given) or []
    rank = rank_of(x) + len(found)
    for axis in sorted(axis % rank for axis in found):
        x = make("ExpandDims", x, constant(axis))
    return x


def _transpose(r: Reader, node: Any, x: Any, perm: Any = None) -> Any:
    perm = list(range(rank_of(x)))[::-1] if perm is None else list(perm)
    return make("Transpose", x, constant(np.array(perm, np.int32)))


def _expand(r: Reader, node: Any, x: Any, shape: Any) -> Any:
    # Both sides are broadcast: a one in the shape leaves the dim of the input.
    ones = make("Fill", shape, number_like(1, x)) if x.dtype.base_dtype is not dtypes.bool else None
    if ones is not None:
        return make("Mul", x, ones)
    return make("LogicalAnd", x, make("Fill", shape, constant(True)))


def _tile(r: Reader, node: Any, x: Any, repeats: Any) -> Any:
    return make("Tile", x, repeats)


def _concat(r: Reader, node: Any, *parts: Any, axis: int) -> Any:
    return make("ConcatV2", list(parts), constant(axis))


def _split(
    r: Reader, node: Any, x: Any, given: Any = None, axis: int = 0, num_outputs: int | None = None,
    split: Any = None,
) -> Any:  # fmt: skip
    count = num_outputs or len(node.output)
    sizes = axes_of(r, split if given is None else given)
    if sizes is None:
        whole = x.sizes[axis]
        if whole is None or whole % count == 0:
            return make("Split", constant(axis), x, num_split=count)
        each = -(-whole // count)
        sizes = [each] * (count - 1) + [whole - each * (count - 1)]
    return make("SplitV", x, constant(np.array(sizes, np.int64)), constant(axis),
                num_split=len(sizes))  # fmt: skip


def _slice(
    r: Reader, node: Any, x: Any, starts: Any = None, ends: Any = None, axes: Any = None,
    steps: Any = None,
) -> Any:  # fmt: skip
    if isinstance(starts, list):  # attributes, before opset 10
        starts, ends = int_vector(*starts), int_vector(*ends)
    rank = rank_of(x)
    places = axes_of(r, axes) or list(range(rank if starts.sizes is None else starts.sizes[0]))
    strides = axes_of(r, steps) or [1] * len(places)
    places = [axis % rank for axis in places]
    begin, end, step, keep = [], [], [], 0
    for axis in range(rank):
        if axis not in places:
            keep |= 1 << axis
            begin.append(int_vector(0))
            end.append(int_vector(0))
            step.append(1)
            continue
        i = places.index(axis)
        begin.append(_element(starts, i))
        end.append(_element(ends, i))
        step.append(strides[i])
    return make("StridedSlice", x, _joined(begin), _joined(end), int_vector(*step), begin_mask=keep,
                end_mask=keep)  # fmt: skip


def _element(vector: Any, index: int) -> Any:
    if is_known(vector):
        return int_vector(int(vector.op.attrs["value"][index]))
    wide = make("Cast", vector, DstT=dtypes.int64)
    return make("StridedSlice", wide, int_vector(index), int_vector(index + 1), int_vector(1))


def _joined(parts: list[Any]) -> Any:
    if all(map(is_known, parts)):
        return int_vector(*(int(part.op.attrs["value"][0]) for part in parts))
    return make("ConcatV2", parts, constant(0))


def _pad(
    r: Reader, node: Any, x: Any, pads: Any = None, value: Any = None, axes: Any = None,
    mode: str = "constant", **attrs: Any,
) -> Any:  # fmt: skip
    if pads is None:
        pads = constant(np.array(attrs["pads"], np.int64))
    if axes is not None:
        raise Unportable("it names axes")
    paddings = make("Transpose", make("Reshape", pads, int_vector(2, -1)), constant([1, 0]))
    if mode == "constant":
        return make("PadV2", x, paddings, number_like(attrs.get("value", 0), x) if value is None
                    else make("Reshape", value, constant(np.array([], np.int32))))  # fmt: skip
    if mode == "reflect":
        return make("MirrorPad", x, paddings, mode="REFLECT")
    raise Unportable(f"its mode is {mode}")


def _scalar(value: Any) -> Any:
    return constant(np.asarray(numpy_helper.to_array(value)).reshape(()))


# ---- picking and putting -------------------------------------------------------------------------


def _wrapped(index: Any, x: Any, axis: int) -> Any:
    """Indices from the back as from the front."""
    if is_known(index):
        value = index.op.attrs["value"]
        if not value.size or value.min() >= 0:
            return index
    bounds = (int_vector(each) for each in (axis, axis + 1, 1))
    size = make("StridedSlice", shape_tensor(x), *bounds, shrink_axis_mask=1)
    size = make("Cast", size, DstT=index.dtype.base_dtype)
    below = make("Less", index, number_like(0, index))
    return make("SelectV2", below, make("AddV2", index, size), index)


def _gather(r: Reader, node: Any, x: Any, index: Any, axis: int = 0) -> Any:
    axis %= rank_of(x)
    return make("GatherV2", x, _wrapped(index, x, axis), constant(axis))


def _gather_nd(r: Reader, node: Any, x: Any, index: Any, batch_dims: int = 0) -> Any:
    if batch_dims:
        last = make("Squeeze", index, squeeze_dims=[-1])
        return make("GatherV2", x, last, constant(batch_dims), batch_dims=batch_dims)
    return make("GatherNd", x, index)


def _gather_elements(r: Reader, node: Any, x: Any, index: Any, axis: int = 0) -> Any:
    rank = rank_of(x)
    if axis % rank != rank - 1:
        raise Unportable("it picks along another dim than the last")
    return make("GatherV2", x, _wrapped(index, x, rank - 1), constant(rank - 1),
                batch_dims=rank - 1)  # fmt: skip


def _scatter_nd(
    r: Reader, node: Any, x: Any, index: Any, updates: Any, reduction: str = "none"
) -> Any:
    ops = {"none": "TensorScatterUpdate", "add": "TensorScatterAdd"}
    if reduction not in ops:
        raise Unportable(f"its reduction is {reduction}")
    return make(ops[reduction], x, index, updates)


def _scatter_elements(
    r: Reader, node: Any, x: Any, index: Any, updates: Any, axis: int = 0, reduction: str = "none"
) -> Any:
    if rank_of(x) != 1:
        raise Unportable("it is about more than a vector")
    wide = make("ExpandDims", _wrapped(index, x, 0), constant(-1))
    return _scatter_nd(r, node, x, wide, updates, reduction)


def _where(r: Reader, node: Any, test: Any, x: Any, y: Any) -> Any:
    return make("SelectV2", test, x, y)


def _non_zero(r: Reader, node: Any, x: Any) -> Any:
    return make("Transpose", make("Where", x), constant([1, 0]))


def _one_hot(r: Reader, node: Any, index: Any, depth: Any, values: Any, axis: int = -1) -> Any:
    off, on = (make("Reshape", _element_of(values, i), constant(np.array([], np.int32)))
               for i in (0, 1))  # fmt: skip
    size = make("Cast", make("Reshape", depth, constant(np.array([], np.int32))),
                DstT=dtypes.int32)  # fmt: skip
    return make("OneHot", make("Cast", index, DstT=dtypes.int64), size, on, off, axis=axis)


def _element_of(vector: Any, index: int) -> Any:
    return make("StridedSlice", vector, int_vector(index), int_vector(index + 1), int_vector(1))


def _top_k(
    r: Reader, node: Any, x: Any, k: Any, axis: int = -1, largest: int = 1, sorted: int = 1
) -> Any:
    if axis not in (-1, rank_of(x) - 1):
        raise Unportable("it is along another dim than the last")
    count = make("Cast", make("Reshape", k, constant(np.array([], np.int32))), DstT=dtypes.int32)
    given = x if largest else make("Neg", x)
    made = make("TopKV2", given, count)
    values = made.values if largest else make("Neg", made.values)
    return values, make("Cast", made.indices, DstT=dtypes.int64)


def _unique(r: Reader, node: Any, x: Any, sorted: int = 1, axis: Any = None) -> Any:
    if sorted or axis is not None and rank_of(x) != 1:
        raise Unportable("it sorts, or is about more than a vector")
    made = make("UniqueWithCountsV2", x, int_vector(0), out_idx=dtypes.int64)
    return made.y, None, made.idx, made.count


def _range(r: Reader, node: Any, start: Any, limit: Any, delta: Any) -> Any:
    return make("Range", start, limit, delta)


def _trilu(r: Reader, node: Any, x: Any, k: Any = None, upper: int = 1) -> Any:
    most = constant(np.int64(-1))
    k = constant(np.int64(0)) if k is None else make("Reshape", k, constant(np.array([], np.int32)))
    bound = int(r.known(k, "diagonal"))
    if upper and bound <= 0:
        return make("MatrixBandPart", x, constant(np.int64(-bound)), most)
    if not upper and bound >= 0:
        return make("MatrixBandPart", x, most, constant(np.int64(bound)))
    if upper:
        return make("Sub", x, make("MatrixBandPart", x, most, constant(np.int64(bound - 1))))
    return make("Sub", x, make("MatrixBandPart", x, constant(np.int64(-bound - 1)), most))


def _reverse_sequence(
    r: Reader, node: Any, x: Any, lengths: Any, batch_axis: int = 1, time_axis: int = 0
) -> Any:
    return make("ReverseSequence", x, lengths, seq_dim=time_axis, batch_dim=batch_axis)


def _dropout(r: Reader, node: Any, x: Any, *rest: Any, **attrs: Any) -> Any:
    return x, make("OnesLike", make("Cast", x, DstT=dtypes.bool))


RULES: dict[str, Rule] = {
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "Shape": _shape_of,
    "Size": _size,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": _transpose,
    "Expand": _expand,
    "Tile": _tile,
    "Concat": _concat,
    "Split": _split,
    "Slice": _slice,
    "Pad": _pad,
    "Gather": _gather,
    "GatherND": _gather_nd,
    "GatherElements": _gather_elements,
    "ScatterND": _scatter_nd,
    "ScatterElements": _scatter_elements,
    "Where": _where,
    "NonZero": _non_zero,
    "OneHot": _one_hot,
    "TopK": _top_k,
    "Unique": _unique,
    "Range": _range,
    "Trilu": _trilu,
    "ReverseSequence": _reverse_sequence,
    "Dropout": _dropout,
}
