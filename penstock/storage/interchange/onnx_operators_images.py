"""ONNX operators that come in: convolutions, pooling, normalization, resizing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.ops.array.constant import constant
from penstock.storage.interchange.model import Unportable
from penstock.storage.interchange.onnx_operands import (
    int_vector,
    number_like,
    rank_of,
    shape_tensor,
)
from penstock.storage.interchange.onnx_reader import Reader, Rule


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
    return make("PadV2", x, paddings, number_like(value, x))


def _conv(
    r: Reader, node: Any, x: Any, w: Any, b: Any = None, auto_pad: str = "NOTSET",
    dilations: Any = None, group: int = 1, kernel_shape: Any = None, pads: Any = None,
    strides: Any = None,
) -> Any:  # fmt: skip
    count = rank_of(w) - 2
    kernel = list(w.sizes[2:])
    strides, dilations = list(strides or [1] * count), list(dilations or [1] * count)
    pairs = _pairs(x, kernel, strides, dilations, auto_pad, pads)
    if count == 1:  # a line is an image of one row
        x, w = (make("ExpandDims", each, constant(2)) for each in (x, w))
        pairs, strides, dilations = [(0, 0), *pairs], [1, *strides], [1, *dilations]
    if count > 3 or count == 3 and group != 1:
        raise Unportable(f"a convolution over {count} dims with {group} groups")
    x = _padded(x, pairs)
    perm = [*range(2, rank_of(w)), 1, 0]
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
    rank = rank_of(x)
    there = constant(np.array([0, *range(2, rank), 1], np.int32))
    back = constant(np.array([0, rank - 1, *range(1, rank - 1)], np.int32))
    return make("Transpose", function(make("Transpose", x, there)), back)


def _by_channel(b: Any, count: int) -> Any:
    return make("Reshape", b, int_vector(-1, *[1] * count))


def _conv_transpose(
    r: Reader, node: Any, x: Any, w: Any, b: Any = None, auto_pad: str = "NOTSET",
    dilations: Any = None, group: int = 1, kernel_shape: Any = None, output_padding: Any = None,
    output_shape: Any = None, pads: Any = None, strides: Any = None,
) -> Any:  # fmt: skip
    count = rank_of(w) - 2
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
    batch = make("StridedSlice", shape_tensor(x), int_vector(0), int_vector(1), int_vector(1))
    # What is added behind counts as more of the result's size.
    full = [size + more for size, more in zip(whole, extra, strict=True)]
    dims = make("ConcatV2", [batch, int_vector(w.sizes[1], *full)], constant(0))
    made = make("Conv2DBackpropInput", make("Cast", dims, DstT=dtypes.int32), filters, x,
                strides=[1, 1, *strides], padding="VALID", data_format="NCHW",
                dilations=[1, 1, *dilations])  # fmt: skip
    begin = constant(np.array([0, 0, *pads[:2]], np.int64))
    end = [size - cut for size, cut in zip(full, pads[2:], strict=True)]
    bounds = begin, int_vector(0, 0, *end), int_vector(1, 1, 1, 1)
    made = make("StridedSlice", made, *bounds, begin_mask=3, end_mask=3)
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
        axes = constant(np.arange(2, rank_of(x), dtype=np.int32))
        return make(op, x, axes, keep_dims=True)

    return rule


def _normal(x: Any, mean: Any, variance: Any, epsilon: float) -> Any:
    spread = make("Rsqrt", make("AddV2", variance, number_like(epsilon, variance)))
    return make("Mul", make("Sub", x, mean), spread)


def _batch_norm(
    r: Reader, node: Any, x: Any, scale: Any, bias: Any, mean: Any, variance: Any,
    epsilon: float = 1e-5, training_mode: int = 0, **attrs: Any,
) -> Any:  # fmt: skip
    if training_mode:
        raise Unportable("it is in training mode")
    count = rank_of(x) - 2
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
    count = rank_of(x) - 2
    made = _normal(x, *_moments(x, range(2, rank_of(x))), epsilon)
    return make("AddV2", make("Mul", made, _by_channel(scale, count)), _by_channel(bias, count))


def _layer_norm(
    r: Reader, node: Any, x: Any, scale: Any, bias: Any = None, axis: int = -1,
    epsilon: float = 1e-5, **attrs: Any,
) -> Any:  # fmt: skip
    rank = rank_of(x)
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


RULES: dict[str, Rule] = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "MaxPool": _pool("MaxPool"),
    "AveragePool": _pool("AvgPool"),
    "GlobalAveragePool": _global("Mean"),
    "GlobalMaxPool": _global("Max"),
    "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "LRN": _lrn,
    "Resize": _resize,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
}
