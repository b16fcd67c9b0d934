"""ONNX rules: shapes, parts of tensors, and what is put together of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.interchange.onnx_writer import MOST, Rule, Writer


def known(w: Writer, tensor: Tensor, what: str) -> np.ndarray:
    """The value of an input that ONNX has as an attribute."""
    value = w.value(tensor)
    if value is None:
        raise ValueError(f"its {what} is no constant")
    return value


def rank_of(tensor: Tensor) -> int:
    """The rank of a tensor, where that must be known."""
    if tensor.sizes is None:
        raise ValueError(f"the rank of {tensor.name} is not known")
    return len(tensor.sizes)


def _out(op: Operation, index: int = 0) -> Any:
    return op.outputs[index].dtype.base_dtype


# ---- shapes --------------------------------------------------------------------------------------


def _shape(w: Writer, op: Operation) -> str:
    return w.short(w.node("Shape", w[op.inputs[0]]), _out(op))


def _shapes(w: Writer, op: Operation) -> list[str]:
    return [w.short(w.node("Shape", w[t]), _out(op)) for t in op.inputs]


def _size(w: Writer, op: Operation) -> str:
    return w.short(w.node("Size", w[op.inputs[0]]), _out(op))


def _rank(w: Writer, op: Operation) -> str:
    return w.short(w.node("Size", w.node("Shape", w[op.inputs[0]])), _out(op))


def _reshape(w: Writer, op: Operation) -> str:
    sizes, wanted = op.outputs[0].sizes, w.long(op.inputs[1])
    if w.value(op.inputs[1]) is None and sizes is not None and sizes.count(None) == 1:
        if 0 not in sizes:  # one size that is not known follows from the others
            wanted = w.ints(*(-1 if size is None else size for size in sizes))
    value = w.value(op.inputs[1])
    if value is not None and 0 in value and sizes is not None and None not in sizes:
        wanted, value = w.ints(*(int(size or 0) for size in sizes)), None
    zero = value is not None and -1 in value
    return w.node("Reshape", w[op.inputs[0]], wanted, allowzero=0 if zero else 1)


def _squeeze(w: Writer, op: Operation) -> str:
    axes = op.attrs["squeeze_dims"]
    if not axes:
        sizes = op.inputs[0].sizes
        if sizes is None or None in sizes:
            raise ValueError("which dims are 1 is not known")
        axes = [axis for axis, size in enumerate(sizes) if size == 1]
    if not axes:
        return w[op.inputs[0]]
    return w.node("Squeeze", w[op.inputs[0]], w.ints(*axes))


def _expand_dims(w: Writer, op: Operation) -> str:
    axis = int(known(w, op.inputs[1], "axis").reshape(()))
    return w.node("Unsqueeze", w[op.inputs[0]], w.ints(axis))


def _transpose(w: Writer, op: Operation) -> str:
    perm = known(w, op.inputs[1], "perm").tolist()
    name = w[op.inputs[0]]
    rank = len(perm)
    if perm == list(range(rank)):
        return name
    twin = w.twin(name)
    if twin is not None and perm == [0, rank - 1, *range(1, rank - 1)]:
        return twin
    if rank > 3 and perm == [0, *range(2, rank), 1]:
        return w.last(name, rank)
    return w.node("Transpose", name, perm=perm)


def _tile(w: Writer, op: Operation) -> str:
    return w.node("Tile", w[op.inputs[0]], w.long(op.inputs[1]))


def _broadcast_to(w: Writer, op: Operation) -> str:
    return w.node("Expand", w[op.inputs[0]], w.long(op.inputs[1]))


def _fill(w: Writer, op: Operation) -> str:
    return w.node("Expand", w[op.inputs[1]], w.long(op.inputs[0]))


def _like(value: float) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        return w.node("Expand", w.number(value, _out(op)), w.node("Shape", w[op.inputs[0]]))

    return rule


def _range(w: Writer, op: Operation) -> str:
    return w.node("Range", *[w[t] for t in op.inputs])


# ---- padding -------------------------------------------------------------------------------------


def pads(w: Writer, paddings: Tensor) -> str:
    """ONNX's form of paddings: all before, then all after."""
    value = w.value(paddings)
    if value is not None:
        return w.const(value.T.reshape(-1).astype(np.int64))
    turned = w.node("Transpose", w.long(paddings), perm=[1, 0])
    return w.node("Reshape", turned, w.ints(-1))


def _pad(mode: Callable[[Operation], str]) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        name, rest = w[op.inputs[0]], [w[t] for t in op.inputs[2:]]
        twin, value = w.twin(name), w.value(op.inputs[1])
        if twin is not None and value is not None:
            moved = value[[0, len(value) - 1, *range(1, len(value) - 1)]]
            places = w.const(moved.T.reshape(-1).astype(np.int64))
            return w.last(w.node("Pad", twin, places, *rest, mode=mode(op)), len(value))
        return w.node("Pad", name, pads(w, op.inputs[1]), *rest, mode=mode(op))

    return rule


def _mirror(op: Operation) -> str:
    if op.attrs["mode"] == "REFLECT":
        return "reflect"
    raise ValueError("ONNX has no symmetric padding")


def _symmetric(w: Writer, op: Operation) -> str:
    if op.attrs["mode"] == "REFLECT":
        return str(_pad(_mirror)(w, op))
    value, sizes = known(w, op.inputs[1], "paddings"), op.inputs[0].sizes
    name = w[op.inputs[0]]
    for axis, (before, after) in enumerate(value.tolist()):
        if before or after:
            size = None if sizes is None else sizes[axis]
            if size is None:
                raise ValueError("a padded dim is not known")
            index = [*range(before - 1, -1, -1), *range(size),
                     *range(size - 1, size - 1 - after, -1)]  # fmt: skip
            name = w.node("Gather", name, w.ints(*index), axis=axis)
    return name


# ---- parts ---------------------------------------------------------------------------------------


def _slice(w: Writer, op: Operation) -> str:
    begin, size = (w.value(t) for t in op.inputs[1:])
    name = w[op.inputs[0]]
    if not rank_of(op.outputs[0]):
        return name
    axes = w.ints(*range(rank_of(op.outputs[0])))
    starts = w.long(op.inputs[1])
    if begin is not None and size is not None:
        ends = [MOST if s < 0 else b + s for b, s in zip(begin.tolist(), size.tolist())]
        return w.node("Slice", name, starts, w.ints(*ends), axes)
    sizes = w.long(op.inputs[2])
    rest = w.node("Less", sizes, w.const(np.int64(0)))
    ends_of = w.node("Where", rest, w.const(np.int64(MOST)), w.node("Add", starts, sizes))
    return w.node("Slice", name, starts, ends_of, axes)


def _strided_slice(w: Writer, op: Operation) -> str:
    """Bounds, dim by dim of the spec; then the dims that go and come."""
    mask = {key: int(op.attrs[f"{key}_mask"]) for key in
            ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}  # fmt: skip
    steps = known(w, op.inputs[3], "strides").tolist()
    bounds = [_elements(w, op.inputs[i], len(steps)) for i in (1, 2)]
    starts: list[str] = []
    ends: list[str] = []
    axes: list[int] = []
    used: list[int] = []
    gone: list[int] = []
    made: list[int] = []
    axis, out = 0, 0
    for i, step in enumerate(steps):
        bit = 1 << i
        if mask["ellipsis"] & bit:
            rest = sum(not mask["new_axis"] & (1 << j) for j in range(i + 1, len(steps)))
            skipped = rank_of(op.inputs[0]) - axis - rest
            axis, out = axis + skipped, out + skipped
            continue
        if mask["new_axis"] & bit:
            made.append(out)
            out += 1
            continue
        shrinks = bool(mask["shrink_axis"] & bit)
        if shrinks:
            first, last = bounds[0][i], _after(w, bounds[0][i])
            step = 1
            gone.append(axis)
        else:
            first = w.ints(0 if step > 0 else MOST) if mask["begin"] & bit else bounds[0][i]
            last = w.ints(MOST if step > 0 else -MOST) if mask["end"] & bit else bounds[1][i]
            out += 1
        starts.append(first)
        ends.append(last)
        axes.append(axis)
        used.append(step)
        axis += 1
    name = w[op.inputs[0]]
    if axes:
        name = w.node("Slice", name, joined(w, starts), joined(w, ends), w.ints(*axes),
                      w.ints(*used))  # fmt: skip
    if gone:
        name = w.node("Squeeze", name, w.ints(*gone))
    return w.node("Unsqueeze", name, w.ints(*made)) if made else name


def _elements(w: Writer, tensor: Tensor, count: int) -> list[str]:
    """The elements of a vector of integers, each a vector of one."""
    value = w.value(tensor)
    if value is not None:
        return [w.ints(int(each)) for each in value]
    whole = w.long(tensor)
    return [w.node("Slice", whole, w.ints(i), w.ints(i + 1)) for i in range(count)]


def joined(w: Writer, parts: list[str]) -> str:
    """Vectors one after another."""
    arrays = [w.known_ints(part) for part in parts]
    if all(array is not None for array in arrays):
        return w.ints(*(int(each) for array in arrays for each in array or ()))
    return parts[0] if len(parts) == 1 else w.node("Concat", *parts, axis=0)


def _after(w: Writer, index: str) -> str:
    """One more than an index from the front or the back."""
    value = w.known_ints(index)
    if value is not None:
        return w.ints(MOST if value[0] == -1 else value[0] + 1)
    following = w.node("Add", index, w.ints(1))
    return w.node("Where", w.node("Equal", index, w.ints(-1)), w.ints(MOST), following)


def _gather(w: Writer, op: Operation) -> str:
    axis, batch = 0, int(op.attrs.get("batch_dims") or 0)
    if len(op.inputs) > 2:
        axis = int(known(w, op.inputs[2], "axis").reshape(()))
    if not batch:
        return w.node("Gather", w[op.inputs[0]], w[op.inputs[1]], axis=axis)
    if axis != batch:
        raise ValueError("ONNX gathers behind batch dims along the first dim after them alone")
    last = w.node("Unsqueeze", w.long(op.inputs[1]), w.ints(-1))
    return w.node("GatherND", w[op.inputs[0]], last, batch_dims=batch)


def _gather_nd(w: Writer, op: Operation) -> str:
    return w.node("GatherND", w[op.inputs[0]], w.long(op.inputs[1]))


def scattered(w: Writer, size: str, index: str, values: str, dtype: Any, how: str = "add") -> str:
    """Zeros of a size, with values put at rows.

    Args:
      size: dims of the result, int64.
      index: [..., k] of int64.
      values: [..., rest].
      dtype: of the values.
      how: what is done where rows meet.
    """
    zeros = w.node("Expand", w.number(0, dtype), size)
    return w.node("ScatterND", zeros, index, values, reduction=how)


def _scatter_nd(w: Writer, op: Operation) -> str:
    index, values, size = op.inputs
    return scattered(w, w.long(size), w.long(index), w[values], _out(op))


def _tensor_scatter(how: str) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        tensor, index, values = op.inputs
        return w.node("ScatterND", w[tensor], w.long(index), w[values], reduction=how)

    return rule


def _one_hot(w: Writer, op: Operation) -> str:
    index, depth, on, off = op.inputs
    axis = int(op.attrs["axis"])
    rank = rank_of(index)
    axis = rank if axis < 0 else axis
    zero, one = w.const(np.int64(0)), w.const(np.int64(1))
    places = w.node("Range", zero, w.long(depth), one)
    if axis != rank:
        places = w.node("Reshape", places, w.ints(-1, *[1] * (rank - axis)))
    hot = w.node("Equal", w.node("Unsqueeze", w.long(index), w.ints(axis)), places)
    return w.node("Where", hot, w[on], w[off])


def _select(w: Writer, op: Operation) -> str:
    test, x, y = op.inputs
    name = w[test]
    if op.type == "Select" and test.sizes is not None and len(test.sizes) == 1:
        rank = rank_of(x)
        if rank > 1:
            name = w.node("Reshape", name, w.ints(-1, *[1] * (rank - 1)))
    return w.node("Where", name, w[x], w[y])


def _where(w: Writer, op: Operation) -> str:
    x = w[op.inputs[0]]
    if op.inputs[0].dtype is not dtypes.bool:
        x = w.node("Not", w.node("Equal", x, w.number(0, op.inputs[0].dtype)))
    return w.node("Transpose", w.node("NonZero", x), perm=[1, 0])


def _top_k(w: Writer, op: Operation) -> list[str]:
    count = w.long(op.inputs[1]) if len(op.inputs) > 1 else w.const(np.int64(op.attrs["k"]))
    values, places = w.nodes(
        "TopK", [w[op.inputs[0]], w.node("Reshape", count, w.ints(1))], 2,
        axis=-1, largest=1, sorted=1,
    )  # fmt: skip
    return [values, w.short(places, _out(op, 1))]


def _reverse(w: Writer, op: Operation) -> str:
    axes = known(w, op.inputs[1], "axis").reshape(-1).tolist()
    if op.type == "Reverse":  # the first form has a truth for each dim
        axes = [axis for axis, turned in enumerate(axes) if turned]
    if not axes:
        return w[op.inputs[0]]
    count = len(axes)
    return w.node(
        "Slice", w[op.inputs[0]], w.ints(*[MOST] * count), w.ints(*[-MOST] * count),
        w.ints(*axes), w.ints(*[-1] * count),
    )  # fmt: skip


def _reverse_sequence(w: Writer, op: Operation) -> str:
    batch, time = int(op.attrs["batch_dim"]), int(op.attrs["seq_dim"])
    if {batch, time} != {0, 1}:
        raise ValueError("ONNX reverses sequences along the first two dims alone")
    return w.node("ReverseSequence", w[op.inputs[0]], w.long(op.inputs[1]), batch_axis=batch,
                  time_axis=time)  # fmt: skip


def _invert_permutation(w: Writer, op: Operation) -> str:
    index = w.long(op.inputs[0])
    size = w.node("Size", index)
    places = w.node("Range", w.const(np.int64(0)), size, w.const(np.int64(1)))
    made = w.node("ScatterElements", places, index, places, axis=0)
    return w.short(made, _out(op))


# ---- put together --------------------------------------------------------------------------------


def _concat(w: Writer, op: Operation) -> str:
    first = op.type == "Concat"
    axis = int(known(w, op.inputs[0 if first else -1], "axis").reshape(()))
    parts = op.inputs[1:] if first else op.inputs[:-1]
    names = [w[t] for t in parts]
    twins = [w.twin(name) for name in names]
    sizes = op.outputs[0].sizes
    if None not in twins and sizes is not None:
        moved = [0, *range(2, len(sizes)), 1][axis]
        return w.last(w.node("Concat", *map(str, twins), axis=moved), len(sizes))
    return w.node("Concat", *names, axis=axis)


def _pack(w: Writer, op: Operation) -> str:
    axis = int(op.attrs["axis"])
    parts = [w.node("Unsqueeze", w[t], w.ints(axis)) for t in op.inputs]
    return parts[0] if len(parts) == 1 else w.node("Concat", *parts, axis=axis)


def _unpack(w: Writer, op: Operation) -> list[str]:
    axis, count = int(op.attrs["axis"]), len(op.outputs)
    places = (w.const(np.int64(i)) for i in range(count))
    return [w.node("Gather", w[op.inputs[0]], place, axis=axis) for place in places]


def _split(w: Writer, op: Operation) -> list[str]:
    axis = int(known(w, op.inputs[0], "axis"))
    count = len(op.outputs)
    return w.nodes("Split", [w[op.inputs[1]]], count, axis=axis, num_outputs=count)


def _split_v(w: Writer, op: Operation) -> list[str]:
    axis = int(known(w, op.inputs[2], "axis"))
    sizes = known(w, op.inputs[1], "sizes").tolist()
    if -1 in sizes:
        dims = op.inputs[0].sizes
        whole = None if dims is None else dims[axis]
        if whole is None:
            raise ValueError("the size of the dim that is split is not known")
        sizes[sizes.index(-1)] = whole - sum(sizes) - 1
    return w.nodes("Split", [w[op.inputs[0]], w.ints(*sizes)], len(op.outputs), axis=axis)


def _unique(w: Writer, op: Operation) -> list[str]:
    if len(op.inputs) > 1 and known(w, op.inputs[1], "axis").size:
        if int(known(w, op.inputs[1], "axis").reshape(-1)[0]) or rank_of(op.inputs[0]) != 1:
            raise ValueError("only the elements of vectors are made unique")
    dtype = op.inputs[0].dtype.base_dtype
    name = w[op.inputs[0]]
    if dtype.is_integer:
        name = w.long_of(name, dtype)
    values, _, places, counts = w.nodes("Unique", [name], 4, sorted=0)
    if dtype.is_integer:
        values = w.short(values, dtype)
    short = [w.short(name, _out(op, 1)) for name in (places, counts)]
    return [values, *short[: len(op.outputs) - 1]]


def _band_part(w: Writer, op: Operation) -> str:
    low, high = (int(known(w, t, "number of diagonals")) for t in op.inputs[1:])
    name = w[op.inputs[0]]
    if high >= 0:
        name = w.node("Trilu", name, w.const(np.int64(high)), upper=0)
    if low >= 0:
        name = w.node("Trilu", name, w.const(np.int64(-low)), upper=1)
    return name


def _bucketize(w: Writer, op: Operation) -> str:
    """How many boundaries a number reaches."""
    x = op.inputs[0]
    bounds = w.const(np.array(op.attrs["boundaries"], np.float32))
    name = w[x] if x.dtype.base_dtype is dtypes.float32 else w.cast(w[x], dtypes.float32)
    reached = w.node("GreaterOrEqual", w.node("Unsqueeze", name, w.ints(-1)), bounds)
    return w.node("ReduceSum", w.cast(reached, dtypes.int32), w.ints(-1), keepdims=0)


RULES: dict[str, Rule] = {
    "Bucketize": _bucketize,
    "Shape": _shape,
    "ShapeN": _shapes,
    "Size": _size,
    "Rank": _rank,
    "Reshape": _reshape,
    "Squeeze": _squeeze,
    "ExpandDims": _expand_dims,
    "Transpose": _transpose,
    "Tile": _tile,
    "BroadcastTo": _broadcast_to,
    "Fill": _fill,
    "ZerosLike": _like(0),
    "OnesLike": _like(1),
    "Range": _range,
    "Pad": _pad(lambda op: "constant"),
    "PadV2": _pad(lambda op: "constant"),
    "MirrorPad": _symmetric,
    "Slice": _slice,
    "StridedSlice": _strided_slice,
    "Gather": _gather,
    "GatherV2": _gather,
    "GatherNd": _gather_nd,
    "ScatterNd": _scatter_nd,
    "TensorScatterUpdate": _tensor_scatter("none"),
    "TensorScatterAdd": _tensor_scatter("add"),
    "OneHot": _one_hot,
    "Select": _select,
    "SelectV2": _select,
    "Where": _where,
    "TopK": _top_k,
    "TopKV2": _top_k,
    "Reverse": _reverse,
    "ReverseV2": _reverse,
    "ReverseSequence": _reverse_sequence,
    "InvertPermutation": _invert_permutation,
    "Concat": _concat,
    "ConcatV2": _concat,
    "Pack": _pack,
    "Unpack": _unpack,
    "Split": _split,
    "SplitV": _split_v,
    "Unique": _unique,
    "UniqueV2": _unique,
    "UniqueWithCounts": _unique,
    "UniqueWithCountsV2": _unique,
    "MatrixBandPart": _band_part,
}
