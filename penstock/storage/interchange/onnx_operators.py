"""What ONNX's operators are in Penstock: one rule an operator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from onnx import numpy_helper

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.library.control_flow.cond import cond
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.ops.array.constant import constant
from penstock.storage.interchange.model import Unportable
from penstock.storage.interchange.onnx_reader import Reader, Rule, dtype_of

_MOST = np.iinfo(np.int64).max
_UNARY = {
    "Abs": "Abs", "Acos": "Acos", "Acosh": "Acosh", "Asin": "Asin", "Asinh": "Asinh",
    "Atan": "Atan", "Atanh": "Atanh", "BitwiseNot": "Invert", "Ceil": "Ceil", "Cos": "Cos",
    "Cosh": "Cosh", "Erf": "Erf", "Exp": "Exp", "Floor": "Floor", "IsInf": "IsInf",
    "IsNaN": "IsNan", "Log": "Log", "Neg": "Neg", "Not": "LogicalNot",
    "Reciprocal": "Reciprocal", "Relu": "Relu", "Round": "Round", "Sigmoid": "Sigmoid",
    "Sign": "Sign", "Sin": "Sin", "Sinh": "Sinh", "Softplus": "Softplus",
    "Softsign": "Softsign", "Sqrt": "Sqrt", "Tan": "Tan", "Tanh": "Tanh", "Identity": "Identity",
}  # fmt: skip
_BINARY = {
    "Add": "AddV2", "Sub": "Sub", "Mul": "Mul", "Pow": "Pow", "Equal": "Equal", "Less": "Less",
    "LessOrEqual": "LessEqual", "Greater": "Greater", "GreaterOrEqual": "GreaterEqual",
    "And": "LogicalAnd", "Or": "LogicalOr", "Xor": "NotEqual", "BitwiseAnd": "BitwiseAnd",
    "BitwiseOr": "BitwiseOr", "BitwiseXor": "BitwiseXor",
}  # fmt: skip
_SUMS = {"ReduceSum": "Sum", "ReduceMean": "Mean", "ReduceProd": "Prod", "ReduceMax": "Max",
         "ReduceMin": "Min"}  # fmt: skip


def _ints(*values: int) -> Any:
    return constant(np.array(values, np.int64))


def _number(value: float, like: Any) -> Any:
    return constant(np.array(value, like.dtype.base_dtype.as_numpy_dtype))


def _rank(x: Any) -> int:
    if x.sizes is None:
        raise Unportable("the rank of an input is not known")
    return len(x.sizes)


def _shape(x: Any) -> Any:
    return make("Shape", x, out_type=dtypes.int64)


def _unary(op: str) -> Rule:
    return lambda r, node, x, **attrs: make(op, x)


def _binary(op: str) -> Rule:
    return lambda r, node, x, y, **attrs: make(op, x, y)


def _folded(op: str) -> Rule:
    return lambda r, node, *parts, **attrs: reduce(lambda a, b: make(op, a, b), parts)


def _div(r: Reader, node: Any, x: Any, y: Any) -> Any:
    return make("TruncateDiv" if x.dtype.is_integer else "RealDiv", x, y)


def _mod(r: Reader, node: Any, x: Any, y: Any, fmod: int = 0) -> Any:
    return make("TruncateMod" if fmod else "FloorMod", x, y)


def _mean_of(r: Reader, node: Any, *parts: Any) -> Any:
    return make("RealDiv", make("AddN", list(parts)), _number(len(parts), parts[0]))


def _cast(r: Reader, node: Any, x: Any, to: int, **attrs: Any) -> Any:
    return make("Cast", x, DstT=dtype_of(to))


def _clip(r: Reader, node: Any, x: Any, low: Any = None, high: Any = None, **attrs: Any) -> Any:
    low = _number(attrs["min"], x) if "min" in attrs else low
    high = _number(attrs["max"], x) if "max" in attrs else high
    x = x if low is None else make("Maximum", x, low)
    return x if high is None else make("Minimum", x, high)


def _leaky(r: Reader, node: Any, x: Any, alpha: float = 0.01) -> Any:
    return make("LeakyRelu", x, alpha=alpha)


def _prelu(r: Reader, node: Any, x: Any, slope: Any) -> Any:
    zero = _number(0, x)
    return make("AddV2", make("Maximum", x, zero), make("Mul", slope, make("Minimum", x, zero)))


def _elu(r: Reader, node: Any, x: Any, alpha: float = 1.0) -> Any:
    made = make("Elu", x)
    if alpha == 1.0:
        return made
    below = make("Less", x, _number(0, x))
    return make("SelectV2", below, make("Mul", made, _number(alpha, x)), x)


def _selu(r: Reader, node: Any, x: Any, **attrs: Any) -> Any:
    if attrs and not (
        math.isclose(attrs.get("alpha", 1.6732632), 1.6732632, rel_tol=1e-5)
        and math.isclose(attrs.get("gamma", 1.0507010), 1.0507010, rel_tol=1e-5)
    ):
        raise Unportable("its alpha and gamma are not the usual ones")
    return make("Selu", x)


def _gelu(r: Reader, node: Any, x: Any, approximate: str = "none") -> Any:
    half, one = _number(0.5, x), _number(1, x)
    if approximate == "tanh":
        cube = make("Mul", make("Mul", x, x), make("Mul", x, _number(0.044715, x)))
        inner = make("Mul", _number(math.sqrt(2 / math.pi), x), make("AddV2", x, cube))
        curve = make("Tanh", inner)
    else:
        curve = make("Erf", make("Mul", x, _number(math.sqrt(0.5), x)))
    return make("Mul", make("Mul", half, x), make("AddV2", one, curve))


def _hard_sigmoid(r: Reader, node: Any, x: Any, alpha: float = 0.2, beta: float = 0.5) -> Any:
    line = make("AddV2", make("Mul", x, _number(alpha, x)), _number(beta, x))
    return make("Minimum", make("Maximum", line, _number(0, x)), _number(1, x))


def _hard_swish(r: Reader, node: Any, x: Any) -> Any:
    return make("Mul", x, _hard_sigmoid(r, node, x, 1 / 6, 0.5))


def _softmax(op: str) -> Rule:
    def rule(r: Reader, node: Any, x: Any, axis: int | None = None) -> Any:
        rank = _rank(x)
        if r.opset < 13:  # all dims from the axis on are one
            first = 1 if axis is None else axis % rank
            flat = make("Reshape", x, _ints(*_flat(x, first)))
            return make("Reshape", make(op, flat), _shape(x))
        axis = -1 if axis is None else axis
        if axis % rank == rank - 1:
            return make(op, x)
        perm = list(range(rank))
        perm[axis % rank], perm[-1] = perm[-1], perm[axis % rank]
        turned = make("Transpose", x, constant(np.array(perm, np.int32)))
        return make("Transpose", make(op, turned), constant(np.array(perm, np.int32)))

    return rule


def _flat(x: Any, axis: int) -> tuple[int, int]:
    """The two sizes of a tensor with its dims before and from an axis on as one each."""
    sizes = x.sizes
    outer, inner = sizes[:axis], sizes[axis:]
    if None in outer and None in inner:
        raise Unportable("the shape of its input is not known")
    left = -1 if None in outer else math.prod(outer)
    return left, -1 if None in inner else math.prod(inner)


# ---- products ------------------------------------------------------------------------------------


def _matmul(r: Reader, node: Any, a: Any, b: Any) -> Any:
    ranks = _rank(a), _rank(b)
    if ranks == (2, 2):
        return make("MatMul", a, b)
    a = make("ExpandDims", a, constant(0)) if ranks[0] == 1 else a
    b = make("ExpandDims", b, constant(1)) if ranks[1] == 1 else b
    made = make("BatchMatMulV2", a, b)
    gone = [axis for axis, rank in ((-2, ranks[0]), (-1, ranks[1])) if rank == 1]
    return make("Squeeze", made, squeeze_dims=gone) if gone else made


def _gemm(
    r: Reader, node: Any, a: Any, b: Any, c: Any = None, alpha: float = 1.0, beta: float = 1.0,
    transA: int = 0, transB: int = 0, **attrs: Any,
) -> Any:  # fmt: skip
    made = make("MatMul", a, b, transpose_a=bool(transA), transpose_b=bool(transB))
    made = made if alpha == 1.0 else make("Mul", made, _number(alpha, made))
    if c is None:
        return made
    return make("AddV2", made, c if beta == 1.0 else make("Mul", c, _number(beta, c)))


def _einsum(r: Reader, node: Any, *parts: Any, equation: str) -> Any:
    return make("Einsum", list(parts), equation=equation)


# ---- images --------------------------------------------------------------------------------------


def _pairs(
    x: Any, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int],
    auto_pad: str, pads: Sequence[int] | None,
) -> list[tuple[int, int]]:  # fmt: skip
    """What is padded before and after each spatial dim."""
    count = len(kernel)
    if auto_pad in ("NOTSET", "VALID"):
        pads = list(pads) if pads and auto_pad == "NOTSET" else [0] * (2 * count)
        return [(pads[i], pads[count + i]) for i in range(count)]
    sizes = list(x.sizes[2:])
    if None in sizes:
        raise Unportable("it is padded by the size of its input, which is not known")
    found = []
    for size, width, step, wide in zip(sizes, kernel, strides, dilations, strict=True):
        total = max((-(-size // step) - 1) * step + (width - 1) * wide + 1 - size, 0)
        less, more = total // 2, total - total // 2
        found.append((less, more) if auto_pad == "SAME_UPPER" else (more, less))
    return found


def _padded(x: Any, pairs: list[tuple[int, int]], value: float = 0.0) -> Any:
    if not any(map(any, pairs)):
        return x
    paddings = constant(np.array([(0, 0), (0, 0), *pairs], np.int32))
    return make("PadV2", x, paddings, _number(value, x))


def _conv(
    r: Reader, node: Any, x: Any, w: Any, b: Any = None, auto_pad: str = "NOTSET",
    dilations: Any = None, group: int = 1, kernel_shape: Any = None, pads: Any = None,
    strides: Any = None,
) -> Any:  # fmt: skip
    count = _rank(w) - 2
    kernel = list(w.sizes[2:])
    strides, dilations = list(strides or [1] * count), list(dilations or [1] * count)
    pairs = _pairs(x, kernel, strides, dilations, auto_pad, pads)
    if count == 1:  # a line is an image of one row
        x, w = (make("ExpandDims", each, constant(2)) for each in (x, w))
        pairs, strides, dilations = [(0, 0), *pairs], [1, *strides], [1, *dilations]
    if count > 3 or count == 3 and group != 1:
        raise Unportable(f"a convolution over {count} dims with {group} groups")
    x = _padded(x, pairs)
    perm = [*range(2, _rank(w)), 1, 0]
    filters = make("Transpose", w, constant(np.array(perm, np.int32)))
    if count == 3:
        wide: dict[str, Any] = {
            "strides": [1, *strides, 1], "dilations": [1, *dilations, 1], "padding": "VALID",
        }  # fmt: skip
        made = _last(x, lambda each: make("Conv3D", each, filters, **wide))
    else:
        made = make("Conv2D", x, filters, strides=[1, 1, *strides], padding="VALID",
                    dilations=[1, 1, *dilations], data_format="NCHW")  # fmt: skip
    made = make("Squeeze", made, squeeze_dims=[2]) if count == 1 else made
    return made if b is None else make("AddV2", made, _by_channel(b, count))


def _last(x: Any, function: Any) -> Any:
    """A function of images with channels last, of one with channels first."""
    rank = _rank(x)
    there = constant(np.array([0, *range(2, rank), 1], np.int32))
    back = constant(np.array([0, rank - 1, *range(1, rank - 1)], np.int32))
    return make("Transpose", function(make("Transpose", x, there)), back)


def _by_channel(b: Any, count: int) -> Any:
    return make("Reshape", b, _ints(-1, *[1] * count))


def _conv_transpose(
    r: Reader, node: Any, x: Any, w: Any, b: Any = None, auto_pad: str = "NOTSET",
    dilations: Any = None, group: int = 1, kernel_shape: Any = None, output_padding: Any = None,
    output_shape: Any = None, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    count = _rank(w) - 2
    if count != 2 or group != 1 or output_shape is not None or auto_pad != "NOTSET":
        raise Unportable("only images, one group and numbers of padding are imported")
    strides, dilations = list(strides or [1, 1]), list(dilations or [1, 1])
    pads, extra = list(pads or [0] * 4), list(output_padding or [0, 0])
    sizes = x.sizes
    if None in sizes[2:]:
        raise Unportable("height and width of its input are not known")
    kernel = list(w.sizes[2:])
    whole = [
        (n - 1) * s + (k - 1) * d + 1
        for n, s, k, d in zip(sizes[2:], strides, kernel, dilations, strict=True)
    ]
    filters = make("Transpose", w, constant(np.array([2, 3, 1, 0], np.int32)))
    batch = make("StridedSlice", _shape(x), _ints(0), _ints(1), _ints(1))
    # What is added behind counts as more of the result's size.
    full = [size + more for size, more in zip(whole, extra, strict=True)]
    dims = make("ConcatV2", [batch, _ints(w.sizes[1], *full)], constant(0))
    made = make("Conv2DBackpropInput", make("Cast", dims, DstT=dtypes.int32), filters, x,
                strides=[1, 1, *strides], padding="VALID", data_format="NCHW",
                dilations=[1, 1, *dilations])  # fmt: skip
    begin = constant(np.array([0, 0, *pads[:2]], np.int64))
    end = [size - cut for size, cut in zip(full, pads[2:], strict=True)]
    made = make("StridedSlice", made, begin, _ints(0, 0, *end), _ints(1, 1, 1, 1), begin_mask=3,
                end_mask=3)  # fmt: skip
    return made if b is None else make("AddV2", made, _by_channel(b, 2))


def _pool(op: str) -> Rule:
    def rule(
        r: Reader, node: Any, x: Any, kernel_shape: Any, auto_pad: str = "NOTSET",
        ceil_mode: int = 0, count_include_pad: int = 0, dilations: Any = None, pads: Any = None,
        storage_order: int = 0, strides: Any = None,
    ) -> Any:  # fmt: skip
        count = len(kernel_shape)
        strides = list(strides or [1] * count)
        if any(d != 1 for d in dilations or ()) or ceil_mode:
            raise Unportable("windows with dilations, or rounded up, are not imported")
        pairs = _pairs(x, kernel_shape, strides, [1] * count, auto_pad, pads)

        def pooled(image: Any) -> Any:
            window: dict[str, Any] = {
                "ksize": [1, *kernel_shape, 1], "strides": [1, *strides, 1], "padding": "VALID",
            }  # fmt: skip
            return _pooled(f"{op}3D" if count == 3 else op, image, window, count)

        if op == "MaxPool":
            return pooled(_padded(x, pairs, -math.inf))
        padded = any(map(any, pairs))
        made = pooled(_padded(x, pairs))
        if not padded or count_include_pad:
            return made
        share = pooled(_padded(make("OnesLike", x), pairs))
        return make("RealDiv", made, share)

    return rule


def _pooled(op: str, image: Any, window: dict[str, Any], count: int) -> Any:
    if count == 1:
        wide: dict[str, Any] = {
            k: [1, 1, *v[1:]] if isinstance(v, list) else v for k, v in window.items()
        }
        row = make("ExpandDims", image, constant(2))
        return make("Squeeze", _last(row, lambda each: make(op, each, **wide)), squeeze_dims=[2])
    return _last(image, lambda each: make(op, each, **window))


def _global(op: str) -> Rule:
    def rule(r: Reader, node: Any, x: Any) -> Any:
        axes = constant(np.arange(2, _rank(x), dtype=np.int32))
        return make(op, x, axes, keep_dims=True)

    return rule


def _normal(x: Any, mean: Any, variance: Any, epsilon: float) -> Any:
    spread = make("Rsqrt", make("AddV2", variance, _number(epsilon, variance)))
    return make("Mul", make("Sub", x, mean), spread)


def _batch_norm(
    r: Reader, node: Any, x: Any, scale: Any, bias: Any, mean: Any, variance: Any,
    epsilon: float = 1e-5, training_mode: int = 0, **attrs: Any,
) -> Any:  # fmt: skip
    if training_mode:
        raise Unportable("it is in training mode")
    count = _rank(x) - 2
    wide = [_by_channel(each, count) for each in (scale, bias, mean, variance)]
    return make("AddV2", make("Mul", _normal(x, wide[2], wide[3], epsilon), wide[0]), wide[1])


def _moments(x: Any, axes: Sequence[int]) -> tuple[Any, Any]:
    where = constant(np.array(axes, np.int32))
    mean = make("Mean", x, where, keep_dims=True)
    squares = make("SquaredDifference", x, mean)
    return mean, make("Mean", squares, where, keep_dims=True)


def _instance_norm(
    r: Reader, node: Any, x: Any, scale: Any, bias: Any, epsilon: float = 1e-5
) -> Any:
    count = _rank(x) - 2
    made = _normal(x, *_moments(x, range(2, _rank(x))), epsilon)
    return make("AddV2", make("Mul", made, _by_channel(scale, count)), _by_channel(bias, count))


def _layer_norm(
    r: Reader, node: Any, x: Any, scale: Any, bias: Any = None, axis: int = -1,
    epsilon: float = 1e-5, **attrs: Any,
) -> Any:  # fmt: skip
    rank = _rank(x)
    made = make("Mul", _normal(x, *_moments(x, range(axis % rank, rank)), epsilon), scale)
    return made if bias is None else make("AddV2", made, bias)


def _lrn(
    r: Reader, node: Any, x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75,
    bias: float = 1.0,
) -> Any:  # fmt: skip
    if size % 2 == 0:
        raise Unportable("its window is even")
    return _last(x, lambda each: make("LRN", each, depth_radius=size // 2, bias=bias, beta=beta,
                                      alpha=alpha / size))  # fmt: skip


def _resize(
    r: Reader, node: Any, x: Any, roi: Any = None, scales: Any = None, sizes: Any = None,
    mode: str = "nearest", coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor", **attrs: Any,
) -> Any:  # fmt: skip
    wanted: Any
    if sizes is not None:
        wanted = r.known(sizes, "sizes")[-2:]
    else:
        found = r.known(scales, "scales")[-2:]
        if None in x.sizes[2:]:
            raise Unportable("height and width of its input are not known")
        wanted = [math.floor(n * s) for n, s in zip(x.sizes[2:], found, strict=True)]
    way = coordinate_transformation_mode
    ways = ("asymmetric", "align_corners", "half_pixel")
    if way not in ways or mode not in ("nearest", "linear"):
        raise Unportable(f"{mode} by {way} is not imported")
    usual = {"asymmetric": "floor", "align_corners": "round_prefer_ceil",
             "half_pixel": "round_prefer_ceil"}  # fmt: skip
    if mode == "nearest" and nearest_mode != usual[way]:
        whole = all(n and w % n == 0 for n, w in zip(x.sizes[2:], wanted, strict=True))
        if not (whole and way == "half_pixel"):
            raise Unportable(f"nearest by {way} and {nearest_mode} is not imported")
    op = "ResizeBilinear" if mode == "linear" else "ResizeNearestNeighbor"
    return _last(x, lambda each: make(
        op, each, constant(np.array(wanted, np.int32)), align_corners=way == "align_corners",
        half_pixel_centers=way == "half_pixel",
    ))  # fmt: skip


def _depth_to_space(r: Reader, node: Any, x: Any, blocksize: int, mode: str = "DCR") -> Any:
    if mode != "DCR":
        raise Unportable(f"its mode is {mode}")
    return _last(x, lambda each: make("DepthToSpace", each, block_size=blocksize))


def _space_to_depth(r: Reader, node: Any, x: Any, blocksize: int) -> Any:
    return _last(x, lambda each: make("SpaceToDepth", each, block_size=blocksize))


# ---- shapes --------------------------------------------------------------------------------------


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
    made = _shape(x)
    if start == 0 and end == _MOST:
        return made
    return make("StridedSlice", made, _ints(start), _ints(end), _ints(1))


def _size(r: Reader, node: Any, x: Any) -> Any:
    return make("Size", x, out_type=dtypes.int64)


def _reshape(r: Reader, node: Any, x: Any, shape: Any, allowzero: int = 0) -> Any:
    if allowzero:
        return make("Reshape", x, shape)
    known = r.known(shape, "shape") if _is_known(shape) else None
    if known is not None and 0 not in known:
        return make("Reshape", x, shape)
    if known is None:
        return make("Reshape", x, shape)
    parts = [_shape_of(r, node, x, i, i + 1) if size == 0 else _ints(int(size))
             for i, size in enumerate(known)]  # fmt: skip
    return make("Reshape", x, make("ConcatV2", parts, constant(0)))


def _is_known(tensor: Any) -> bool:
    return bool(tensor.op.op_def.role == "constant")


def _flatten(r: Reader, node: Any, x: Any, axis: int = 1) -> Any:
    return make("Reshape", x, _ints(*_flat(x, axis % (_rank(x) + 1))))


def _axes(r: Reader, axes: Any) -> list[int] | None:
    if axes is None or isinstance(axes, list | tuple):
        return None if axes is None else list(axes)
    return [int(axis) for axis in r.known(axes, "axes").reshape(-1)]


def _squeeze(r: Reader, node: Any, x: Any, given: Any = None, axes: Any = None) -> Any:
    found = _axes(r, axes if given is None else given)
    return make("Squeeze", x, squeeze_dims=found or [])


def _unsqueeze(r: Reader, node: Any, x: Any, given: Any = None, axes: Any = None) -> Any:
    found = _axes(r, axes if given is None else given) or []
    rank = _rank(x) + len(found)
    for axis in sorted(axis % rank for axis in found):
        x = make("ExpandDims", x, constant(axis))
    return x


def _transpose(r: Reader, node: Any, x: Any, perm: Any = None) -> Any:
    perm = list(range(_rank(x)))[::-1] if perm is None else list(perm)
    return make("Transpose", x, constant(np.array(perm, np.int32)))


def _expand(r: Reader, node: Any, x: Any, shape: Any) -> Any:
    # Both sides are broadcast: a one in the shape leaves the dim of the input.
    ones = make("Fill", shape, _number(1, x)) if x.dtype.base_dtype is not dtypes.bool else None
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
    sizes = _axes(r, split if given is None else given)
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
        starts, ends = _ints(*starts), _ints(*ends)
    rank = _rank(x)
    places = _axes(r, axes) or list(range(rank if starts.sizes is None else starts.sizes[0]))
    strides = _axes(r, steps) or [1] * len(places)
    places = [axis % rank for axis in places]
    begin, end, step, keep = [], [], [], 0
    for axis in range(rank):
        if axis not in places:
            keep |= 1 << axis
            begin.append(_ints(0))
            end.append(_ints(0))
            step.append(1)
            continue
        i = places.index(axis)
        begin.append(_element(starts, i))
        end.append(_element(ends, i))
        step.append(strides[i])
    return make("StridedSlice", x, _joined(begin), _joined(end), _ints(*step), begin_mask=keep,
                end_mask=keep)  # fmt: skip


def _element(vector: Any, index: int) -> Any:
    if _is_known(vector):
        return _ints(int(vector.op.attrs["value"][index]))
    wide = make("Cast", vector, DstT=dtypes.int64)
    return make("StridedSlice", wide, _ints(index), _ints(index + 1), _ints(1))


def _joined(parts: list[Any]) -> Any:
    if all(map(_is_known, parts)):
        return _ints(*(int(part.op.attrs["value"][0]) for part in parts))
    return make("ConcatV2", parts, constant(0))


def _pad(
    r: Reader, node: Any, x: Any, pads: Any = None, value: Any = None, axes: Any = None,
    mode: str = "constant", **attrs: Any,
) -> Any:  # fmt: skip
    if pads is None:
        pads = constant(np.array(attrs["pads"], np.int64))
    if axes is not None:
        raise Unportable("it names axes")
    paddings = make("Transpose", make("Reshape", pads, _ints(2, -1)), constant([1, 0]))
    if mode == "constant":
        return make("PadV2", x, paddings, _number(attrs.get("value", 0), x) if value is None
                    else make("Reshape", value, constant(np.array([], np.int32))))  # fmt: skip
    if mode == "reflect":
        return make("MirrorPad", x, paddings, mode="REFLECT")
    raise Unportable(f"its mode is {mode}")


# ---- picking and putting -------------------------------------------------------------------------


def _wrapped(index: Any, x: Any, axis: int) -> Any:
    """Indices from the back as from the front."""
    if _is_known(index):
        value = index.op.attrs["value"]
        if not value.size or value.min() >= 0:
            return index
    size = make("StridedSlice", _shape(x), _ints(axis), _ints(axis + 1), _ints(1),
                shrink_axis_mask=1)  # fmt: skip
    size = make("Cast", size, DstT=index.dtype.base_dtype)
    below = make("Less", index, _number(0, index))
    return make("SelectV2", below, make("AddV2", index, size), index)


def _gather(r: Reader, node: Any, x: Any, index: Any, axis: int = 0) -> Any:
    axis %= _rank(x)
    return make("GatherV2", x, _wrapped(index, x, axis), constant(axis))


def _gather_nd(r: Reader, node: Any, x: Any, index: Any, batch_dims: int = 0) -> Any:
    if batch_dims:
        last = make("Squeeze", index, squeeze_dims=[-1])
        return make("GatherV2", x, last, constant(batch_dims), batch_dims=batch_dims)
    return make("GatherNd", x, index)


def _gather_elements(r: Reader, node: Any, x: Any, index: Any, axis: int = 0) -> Any:
    rank = _rank(x)
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
    if _rank(x) != 1:
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
    return make("StridedSlice", vector, _ints(index), _ints(index + 1), _ints(1))


def _top_k(
    r: Reader, node: Any, x: Any, k: Any, axis: int = -1, largest: int = 1, sorted: int = 1
) -> Any:
    if axis not in (-1, _rank(x) - 1):
        raise Unportable("it is along another dim than the last")
    count = make("Cast", make("Reshape", k, constant(np.array([], np.int32))), DstT=dtypes.int32)
    given = x if largest else make("Neg", x)
    made = make("TopKV2", given, count)
    values = made.values if largest else make("Neg", made.values)
    return values, make("Cast", made.indices, DstT=dtypes.int64)


def _unique(r: Reader, node: Any, x: Any, sorted: int = 1, axis: Any = None) -> Any:
    if sorted or axis is not None and _rank(x) != 1:
        raise Unportable("it sorts, or is about more than a vector")
    made = make("UniqueWithCountsV2", x, _ints(0), out_idx=dtypes.int64)
    return made.y, None, made.idx, made.count


def _arg(op: str) -> Rule:
    def rule(
        r: Reader, node: Any, x: Any, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
    ) -> Any:
        if select_last_index:
            raise Unportable("it gives the last of equal ones")
        made = make(op, x, constant(axis), output_type=dtypes.int64)
        return make("ExpandDims", made, constant(axis)) if keepdims else made

    return rule


def _reduced(op: str, before: str | None = None, after: str | None = None) -> Rule:
    def rule(
        r: Reader, node: Any, x: Any, given: Any = None, axes: Any = None, keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Any:  # fmt: skip
        x = x if before is None else make(before, x)
        where = axes if given is None else given
        if where is not None and not isinstance(where, list | tuple) and not _is_known(where):
            made = make(op, x, where, keep_dims=bool(keepdims))
        else:
            found = _axes(r, where)
            if not found and noop_with_empty_axes:
                return x
            found = list(range(_rank(x))) if not found else found
            made = make(op, x, constant(np.array(found, np.int32)), keep_dims=bool(keepdims))
        return made if after is None else make(after, made)

    return rule


def _cumsum(r: Reader, node: Any, x: Any, axis: Any, exclusive: int = 0, reverse: int = 0) -> Any:
    return make("Cumsum", x, axis, exclusive=bool(exclusive), reverse=bool(reverse))


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


# ---- quantization --------------------------------------------------------------------------------


def _along(scale: Any, x: Any, axis: int) -> Any:
    """A scale for each slice along an axis, in a form that broadcasts."""
    if _rank(scale) == 0:
        return scale
    rank = _rank(x)
    return make("Reshape", scale, _ints(*(-1 if i == axis % rank else 1 for i in range(rank))))


def _dequantize(
    r: Reader, node: Any, x: Any, scale: Any, zero: Any = None, axis: int = 1, **attrs: Any
) -> Any:
    made = make("Cast", x, DstT=scale.dtype.base_dtype)
    if zero is not None:
        low = make("Cast", _along(zero, x, axis), DstT=scale.dtype.base_dtype)
        made = make("Sub", made, low)
    return make("Mul", made, _along(scale, x, axis))


def _quantize(
    r: Reader, node: Any, x: Any, scale: Any, zero: Any = None, axis: int = 1, **attrs: Any
) -> Any:
    kind = dtypes.uint8 if zero is None else zero.dtype.base_dtype
    made = make("Round", make("RealDiv", x, _along(scale, x, axis)))
    if zero is not None:
        made = make("AddV2", made, make("Cast", _along(zero, x, axis), DstT=x.dtype.base_dtype))
    low, high = np.iinfo(kind.as_numpy_dtype).min, np.iinfo(kind.as_numpy_dtype).max
    made = make("Minimum", make("Maximum", made, _number(low, x)), _number(high, x))
    return make("Cast", made, DstT=kind)


# ---- control flow --------------------------------------------------------------------------------


def _if(r: Reader, node: Any, test: Any, then_branch: Any, else_branch: Any) -> Any:
    test = make("Reshape", test, constant(np.array([], np.int32)))
    made = cond(test, lambda: r.within(then_branch, []), lambda: r.within(else_branch, []))
    return made if isinstance(made, list | tuple) else [made]


def _loop(r: Reader, node: Any, most: Any, going: Any, *first: Any, body: Any) -> Any:
    """A loop; what its rounds give beside the variables is gathered in arrays."""
    limit = constant(np.int64(_MOST)) if most is None else _as_scalar(most)
    test = constant(True) if going is None else _as_scalar(going)
    count = len(first)
    kinds = [dtype_of(each.type.tensor_type.elem_type) for each in body.output[1 + count :]]
    arrays = [TensorArray(kind, 0, dynamic_size=True, infer_shape=False) for kind in kinds]
    size = len(arrays)

    def goes_on(i: Any, test: Any, *rest: Any) -> Any:
        return make("LogicalAnd", test, make("Less", i, limit))

    def one_round(i: Any, test: Any, *rest: Any) -> Any:
        made = r.within(body, [i, test, *rest[:count]])
        place = make("Cast", i, DstT=dtypes.int32)
        kept = [a.write(place, v) for a, v in zip(rest[count:], made[1 + count :], strict=True)]
        step = make("AddV2", i, constant(np.int64(1)))
        return [step, _as_scalar(made[0]), *made[1 : 1 + count], *kept]

    start = [constant(np.int64(0)), test, *first, *arrays]
    open_shapes = [t.get_shape() if i < 2 else _any_of(t) for i, t in enumerate(start[: 2 + count])]
    invariants = [*open_shapes, *(None for _ in arrays)]
    made = while_loop(
        goes_on, one_round, start,
        shape_invariants=None if size else list(invariants),
    )  # fmt: skip
    return [*made[2 : 2 + count], *(array.stack() for array in made[2 + count :])]


def _any_of(tensor: Any) -> Any:
    """The shape that a variable of a loop may have: of its rank, or any."""
    shape = tensor.get_shape()
    return type(shape)([None] * len(shape)) if shape.ndims is not None else shape


def _as_scalar(x: Any) -> Any:
    return make("Reshape", x, constant(np.array([], np.int32)))


def _scalar(value: Any) -> Any:
    return constant(np.asarray(numpy_helper.to_array(value)).reshape(()))


RULES: dict[str, Rule] = {
    **{name: _unary(op) for name, op in _UNARY.items()},
    **{name: _binary(op) for name, op in _BINARY.items()},
    **{name: _reduced(op) for name, op in _SUMS.items()},
    "ReduceL1": _reduced("Sum", "Abs"),
    "ReduceL2": _reduced("Sum", "Square", "Sqrt"),
    "ReduceSumSquare": _reduced("Sum", "Square"),
    "ReduceLogSum": _reduced("Sum", None, "Log"),
    "ReduceLogSumExp": _reduced("Sum", "Exp", "Log"),
    "Max": _folded("Maximum"), "Min": _folded("Minimum"), "Sum": _folded("AddV2"),
    "Mean": _mean_of, "Div": _div, "Mod": _mod, "Cast": _cast, "Clip": _clip,
    "LeakyRelu": _leaky, "PRelu": _prelu, "Elu": _elu, "Selu": _selu, "Gelu": _gelu,
    "HardSigmoid": _hard_sigmoid, "HardSwish": _hard_swish, "Softmax": _softmax("Softmax"),
    "LogSoftmax": _softmax("LogSoftmax"), "MatMul": _matmul, "Gemm": _gemm, "Einsum": _einsum,
    "Conv": _conv, "ConvTranspose": _conv_transpose, "MaxPool": _pool("MaxPool"),
    "AveragePool": _pool("AvgPool"), "GlobalAveragePool": _global("Mean"),
    "GlobalMaxPool": _global("Max"), "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm, "LayerNormalization": _layer_norm, "LRN": _lrn,
    "Resize": _resize, "DepthToSpace": _depth_to_space, "SpaceToDepth": _space_to_depth,
    "Constant": _constant, "ConstantOfShape": _constant_of_shape, "Shape": _shape_of,
    "Size": _size, "Reshape": _reshape, "Flatten": _flatten, "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze, "Transpose": _transpose, "Expand": _expand, "Tile": _tile,
    "Concat": _concat, "Split": _split, "Slice": _slice, "Pad": _pad, "Gather": _gather,
    "GatherND": _gather_nd, "GatherElements": _gather_elements, "ScatterND": _scatter_nd,
    "ScatterElements": _scatter_elements, "Where": _where, "NonZero": _non_zero,
    "OneHot": _one_hot, "TopK": _top_k, "Unique": _unique, "ArgMax": _arg("ArgMax"),
    "ArgMin": _arg("ArgMin"), "CumSum": _cumsum, "Range": _range, "Trilu": _trilu,
    "ReverseSequence": _reverse_sequence, "Dropout": _dropout,
    "DequantizeLinear": _dequantize, "QuantizeLinear": _quantize, "If": _if, "Loop": _loop,
}  # fmt: skip
