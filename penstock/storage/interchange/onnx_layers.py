"""ONNX rules: convolutions, pooling, normalization, resizing, losses, simulated quantization."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.interchange.onnx_arrays import joined, known, rank_of
from penstock.storage.interchange.onnx_writer import Rule, Writer


def _is_last(op: Operation) -> bool:
    return op.attrs.get("data_format", "NHWC") in ("NHWC", "NDHWC")


def _image(w: Writer, op: Operation, tensor: Tensor) -> str:
    """An image with channels first."""
    return w.first(w[tensor], rank_of(tensor)) if _is_last(op) else w[tensor]


def _back(w: Writer, op: Operation, name: str, rank: int) -> str:
    return w.last(name, rank) if _is_last(op) else name


def _spatial(op: Operation, values: Sequence[Any]) -> list[Any]:
    """What is about height and width of a list with one entry a dim."""
    return list(values[1:-1]) if _is_last(op) else list(values[2:])


def _window(
    op: Operation, image: Tensor, kernel: Sequence[int], steps: list[int], reach: list[int]
) -> dict[str, Any]:
    """Attributes for a window that goes over an image: its padding, in numbers where known.

    Args:
      image: the image.
      kernel: sizes of the window.
      steps: its strides.
      reach: its dilations.
    """
    attrs: dict[str, Any] = {"strides": steps}
    if any(each != 1 for each in reach):
        attrs["dilations"] = reach
    padding = op.attrs["padding"]
    if padding == "VALID":
        return attrs
    if padding == "EXPLICIT":
        given = op.attrs["explicit_paddings"]
        pairs = _spatial(op, [tuple(given[i : i + 2]) for i in range(0, len(given), 2)])
        return {**attrs, "pads": [p[0] for p in pairs] + [p[1] for p in pairs]}
    sizes = _spatial(op, image.sizes) if image.sizes is not None else [None]
    if None in sizes:
        return {**attrs, "auto_pad": "SAME_UPPER"}
    before, after = [], []
    for size, width, step, wide in zip(sizes, kernel, steps, reach, strict=True):
        total = max((-(-size // step) - 1) * step + (width - 1) * wide + 1 - size, 0)
        before.append(total // 2)
        after.append(total - total // 2)
    if any(before) or any(after):
        attrs["pads"] = before + after
    return attrs


def _weights(w: Writer, tensor: Tensor, perm: list[int]) -> str:
    """A filter in ONNX's order of dims."""
    value = w.value(tensor)
    if value is not None:
        return w.turned(tensor, perm)
    return w.node("Transpose", w[tensor], perm=perm)


def _known_dims(tensor: Tensor) -> list[int]:
    sizes = tensor.sizes
    if sizes is None or None in sizes:
        raise ValueError(f"the shape of {tensor.name} is not known")
    return [int(size or 0) for size in sizes]


def _conv(w: Writer, op: Operation) -> str:
    image, filters = op.inputs[:2]
    rank = rank_of(filters)
    dims = _known_dims(filters)
    channels = None if image.sizes is None else image.sizes[-1 if _is_last(op) else 1]
    if channels is None:
        raise ValueError("the number of channels is not known")
    steps = _spatial(op, op.attrs["strides"])
    reach = _spatial(op, op.attrs.get("dilations") or [1] * rank)
    attrs = _window(op, image, dims[:-2], steps, reach)
    perm = [rank - 1, rank - 2, *range(rank - 2)]
    made = w.node("Conv", _image(w, op, image), _weights(w, filters, perm),
                  group=channels // dims[-2], **attrs)  # fmt: skip
    return _back(w, op, made, rank)


def _depthwise(w: Writer, op: Operation) -> str:
    image, filters = op.inputs
    height, width, channels, times = _known_dims(filters)
    attrs = _window(op, image, (height, width), _spatial(op, op.attrs["strides"]),
                    _spatial(op, op.attrs.get("dilations") or [1] * 4))  # fmt: skip
    turned = _weights(w, filters, [2, 3, 0, 1])
    shape = (channels * times, 1, height, width)
    made = w.node("Conv", _image(w, op, image), w.reshaped(turned, shape), group=channels, **attrs)
    return _back(w, op, made, 4)


def _conv_transpose(w: Writer, op: Operation) -> str:
    _, filters, image = op.inputs
    sizes = op.outputs[0].sizes
    rank = rank_of(filters)
    if sizes is None or image.sizes is None:
        raise ValueError("the shape of the result is not known")
    outs, ins = _spatial(op, sizes), _spatial(op, image.sizes)
    if None in outs or None in ins:
        raise ValueError("height and width of the result are not known")
    steps = _spatial(op, op.attrs["strides"])
    reach = _spatial(op, op.attrs.get("dilations") or [1] * rank)
    given = op.attrs.get("explicit_paddings") or [0] * (2 * rank)
    explicit = _spatial(op, [given[i : i + 2] for i in range(0, len(given), 2)])
    before, after, extra = [], [], []
    for out, size, width, step, wide, pair in zip(
        outs, ins, _known_dims(filters), steps, reach, explicit, strict=False
    ):
        whole = (size - 1) * step + (width - 1) * wide + 1
        first, last = pair
        if op.attrs["padding"] == "SAME":
            cut = max((-(-out // step) - 1) * step + (width - 1) * wide + 1 - out, 0)
            first, last = cut // 2, cut - cut // 2
        before.append(first)
        after.append(last)
        extra.append(out - (whole - first - last))
    perm = [rank - 1, rank - 2, *range(rank - 2)]
    made = w.node(
        "ConvTranspose", _image(w, op, image), _weights(w, filters, perm), strides=steps,
        dilations=reach, pads=before + after, output_padding=extra if any(extra) else None,
    )  # fmt: skip
    return _back(w, op, made, rank)


def _pool(kind: str, **attrs: Any) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        image = op.inputs[0]
        size = _spatial(op, op.attrs["ksize"])
        if math.prod(op.attrs["ksize"]) != math.prod(size):
            raise ValueError("it pools over batch or channels")
        window = _window(op, image, size, _spatial(op, op.attrs["strides"]), [1] * len(size))
        made = w.node(kind, _image(w, op, image), kernel_shape=size, **window, **attrs)
        return _back(w, op, made, len(size) + 2)

    return rule


def _bias(w: Writer, op: Operation) -> str:
    x, bias = op.inputs
    name = w[x]
    twin = w.twin(name)
    rank = rank_of(x)
    if twin is not None and _is_last(op):
        return w.last(w.with_bias(twin, bias, rank), rank)
    if _is_last(op) or op.type == "BiasAddV1":
        return w.node("Add", name, w[bias])
    return w.with_bias(name, bias, rank)


def _batch_norm(w: Writer, op: Operation) -> list[str]:
    x, scale, offset, mean, variance = op.inputs
    rank = rank_of(x)
    image = _image(w, op, x)
    epsilon = float(op.attrs["epsilon"])
    if not op.attrs["is_training"]:
        names = [w[t] for t in (scale, offset, mean, variance)]
        made = w.node("BatchNormalization", image, *names, epsilon=epsilon)
        return [_back(w, op, made, rank), names[2], names[3], names[2], names[3]]
    axes = w.ints(0, *range(2, rank))
    middle = w.node("ReduceMean", image, axes, keepdims=1)
    centered = w.node("Sub", image, middle)
    spread = w.node("ReduceMean", w.node("Mul", centered, centered), axes, keepdims=1)
    flat = [w.node("Reshape", each, w.ints(-1)) for each in (middle, spread)]
    made = w.node("BatchNormalization", image, w[scale], w[offset], *flat, epsilon=epsilon)
    sizes = w.node("Gather", w.node("Shape", image), axes, axis=0)
    count = w.cast(w.node("ReduceProd", sizes, keepdims=0), dtypes.float32)
    rest = w.node("Max", w.node("Sub", count, w.number(1, dtypes.float32)),
                  w.number(1, dtypes.float32))  # fmt: skip
    unbiased = w.node("Mul", flat[1], w.node("Div", count, rest))
    return [_back(w, op, made, rank), flat[0], unbiased]


def _lrn(w: Writer, op: Operation) -> str:
    size = 2 * int(op.attrs["depth_radius"]) + 1
    made = w.node(
        "LRN", w.first(w[op.inputs[0]], 4), size=size, alpha=float(op.attrs["alpha"]) * size,
        beta=float(op.attrs["beta"]), bias=float(op.attrs["bias"]),
    )  # fmt: skip
    return w.last(made, 4)


def _softmax(kind: str) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        return w.node(kind, w[op.inputs[0]], axis=-1)

    return rule


def _resize(mode: str) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        image = op.inputs[0]
        name = w.first(w[image], 4)
        if image.dtype.base_dtype is not dtypes.float32 and mode == "linear":
            name = w.cast(name, dtypes.float32)
        where, nearest = "asymmetric", "floor"
        if op.attrs["align_corners"]:
            where, nearest = "align_corners", "round_prefer_ceil"
        elif op.attrs.get("half_pixel_centers"):
            where, nearest = "half_pixel", "round_prefer_ceil"
        sizes = image.sizes
        if sizes is not None and None not in (sizes[0], sizes[3]):
            outer = w.ints(int(sizes[0] or 0), int(sizes[3] or 0))
        else:
            outer = w.node("Slice", w.node("Shape", name), w.ints(0), w.ints(2))
        made = w.node(
            "Resize", name, "", "", joined(w, [outer, w.long(op.inputs[1])]), mode=mode,
            coordinate_transformation_mode=where,
            nearest_mode=nearest if mode == "nearest" else None,
        )  # fmt: skip
        return w.last(made, 4)

    return rule


def _depth_to_space(w: Writer, op: Operation) -> str:
    size = int(op.attrs["block_size"])
    made = w.node("DepthToSpace", _image(w, op, op.inputs[0]), blocksize=size, mode="DCR")
    return _back(w, op, made, 4)


def _space_to_depth(w: Writer, op: Operation) -> str:
    size = int(op.attrs["block_size"])
    return _back(w, op, w.node("SpaceToDepth", _image(w, op, op.inputs[0]), blocksize=size), 4)


def _space_to_batch(w: Writer, op: Operation) -> str:
    block = known(w, op.inputs[1], "block shape").tolist()
    borders = known(w, op.inputs[2], "paddings")
    dims, count = op.inputs[0].sizes, len(block)
    if dims is None or None in dims[1:]:
        raise ValueError("dims besides the batch's are not known")
    around = np.zeros((len(dims), 2), np.int64)
    around[1 : count + 1] = borders
    name = w.node("Pad", w[op.inputs[0]], w.const(around.T.reshape(-1)))
    sizes = [int(d or 0) + int(sum(b)) for d, b in zip(dims[1 : count + 1], borders, strict=True)]
    rest = [int(d or 0) for d in dims[count + 1 :]]
    split = [part for size, each in zip(sizes, block, strict=True) for part in (size // each, each)]
    name = w.node("Reshape", name, w.ints(-1, *split, *rest))
    odd, even = [2 * i + 2 for i in range(count)], [2 * i + 1 for i in range(count)]
    tail = range(2 * count + 1, 2 * count + 1 + len(rest))
    name = w.node("Transpose", name, perm=[*odd, 0, *even, *tail])
    return w.node("Reshape", name, w.ints(-1, *split[::2], *rest))


def _batch_to_space(w: Writer, op: Operation) -> str:
    block = known(w, op.inputs[1], "block shape").tolist()
    crops = known(w, op.inputs[2], "crops").tolist()
    dims, count = op.inputs[0].sizes, len(block)
    if dims is None or None in dims[1:]:
        raise ValueError("dims besides the batch's are not known")
    inner = [int(d or 0) for d in dims[1:]]
    name = w.node("Reshape", w[op.inputs[0]], w.ints(*block, -1, *inner))
    pairs = [axis for i in range(count) for axis in (count + 1 + i, i)]
    tail = range(2 * count + 1, count + 1 + len(inner))
    name = w.node("Transpose", name, perm=[count, *pairs, *tail])
    sizes = [size * each for size, each in zip(inner, block, strict=False)]
    name = w.node("Reshape", name, w.ints(-1, *sizes, *inner[count:]))
    if not any(map(any, crops)):
        return name
    starts = [crop[0] for crop in crops]
    ends = [size - crop[1] for size, crop in zip(sizes, crops, strict=True)]
    return w.node("Slice", name, w.ints(*starts), w.ints(*ends), w.ints(*range(1, count + 1)))


# ---- losses --------------------------------------------------------------------------------------


def _cross_entropy(w: Writer, op: Operation) -> list[str]:
    features, labels = (w[t] for t in op.inputs)
    likely = w.node("LogSoftmax", features, axis=-1)
    total = w.node("ReduceSum", w.node("Mul", labels, likely), w.ints(-1), keepdims=0)
    return [w.node("Neg", total), w.node("Sub", w.node("Exp", likely), labels)]


def _sparse_cross_entropy(w: Writer, op: Operation) -> list[str]:
    features, labels = op.inputs
    likely = w.node("LogSoftmax", w[features], axis=-1)
    places = w.node("Unsqueeze", w.long(labels), w.ints(-1))
    picked = w.node("GatherElements", likely, places, axis=-1)
    return [w.node("Neg", w.node("Squeeze", picked, w.ints(-1)))]


def _in_top_k(w: Writer, op: Operation) -> str:
    scores, targets = op.inputs[:2]
    count = w.long(op.inputs[2]) if len(op.inputs) > 2 else w.const(np.int64(op.attrs["k"]))
    places = w.node("Unsqueeze", w.long(targets), w.ints(-1))
    own = w.node("GatherElements", w[scores], places, axis=-1)
    above = w.cast(w.node("Greater", w[scores], own), dtypes.int64)
    return w.node("Less", w.node("ReduceSum", above, w.ints(-1), keepdims=0), count)


# ---- simulated quantization ----------------------------------------------------------------------


def nudged(low: float, high: float, bits: int, narrow: bool) -> tuple[float, int]:
    """Scale and zero point of a range whose zero is a whole number of steps."""
    least, most = int(narrow), (1 << bits) - 1
    scale = (high - low) / (most - least)
    zero = least - low / scale
    return scale, int(np.clip(np.floor(zero + 0.5), least, most))


def _fake_quant(w: Writer, op: Operation) -> str:
    if len(op.inputs) > 1:
        low, high = (float(known(w, t, "range").reshape(())) for t in op.inputs[1:])
    else:
        low, high = float(op.attrs["min"]), float(op.attrs["max"])
    bits = int(op.attrs["num_bits"])
    if bits != 8:
        raise ValueError(f"{bits} bits; ONNX quantizes to 8")
    narrow = bool(op.attrs["narrow_range"])
    if low == high:
        return w.node("Mul", w[op.inputs[0]], w.number(0, dtypes.float32))
    scale, zero = nudged(low, high, bits, narrow)

    def both(x: str) -> str:
        if narrow:  # no value is the least integer
            floor = w.number((int(narrow) - zero) * scale, dtypes.float32)
            x = w.node("Max", x, floor)
        around = [w.const(np.float32(scale)), w.const(np.uint8(zero))]
        return w.node("DequantizeLinear", w.node("QuantizeLinear", x, *around), *around)

    return w.each(op, both) if len(op.inputs) == 1 else w.each_of(op.inputs[0], both)


RULES: dict[str, Rule] = {
    "Conv2D": _conv,
    "Conv3D": _conv,
    "DepthwiseConv2dNative": _depthwise,
    "Conv2DBackpropInput": _conv_transpose,
    "MaxPool": _pool("MaxPool"),
    "MaxPool3D": _pool("MaxPool"),
    "AvgPool": _pool("AveragePool", count_include_pad=0),
    "AvgPool3D": _pool("AveragePool", count_include_pad=0),
    "BiasAdd": _bias,
    "BiasAddV1": _bias,
    "FusedBatchNorm": _batch_norm,
    "FusedBatchNormV2": _batch_norm,
    "FusedBatchNormV3": _batch_norm,
    "LRN": _lrn,
    "Softmax": _softmax("Softmax"),
    "LogSoftmax": _softmax("LogSoftmax"),
    "ResizeBilinear": _resize("linear"),
    "ResizeNearestNeighbor": _resize("nearest"),
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
    "SpaceToBatchND": _space_to_batch,
    "BatchToSpaceND": _batch_to_space,
    "SoftmaxCrossEntropyWithLogits": _cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": _sparse_cross_entropy,
    "InTopK": _in_top_k,
    "InTopKV2": _in_top_k,
    "FakeQuantWithMinMaxVars": _fake_quant,
    "FakeQuantWithMinMaxArgs": _fake_quant,
}
