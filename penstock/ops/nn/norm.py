"""Normalisation ops: local response, and batch normalisation in its three versions.

``FusedBatchNorm`` is ATen's ``native_batch_norm`` on a channels-last view.  With momentum 1 it
writes the mean and the unbiased variance of the batch, which are TensorFlow's outputs, into what
ATen calls running statistics.  As in TensorFlow's CPU kernels the reserve spaces are the batch mean
and its *biased* variance; the gradient makes ``1 / sqrt(variance + epsilon)`` of the latter.

``BatchNormWithGlobalNormalization`` is the op of old graphs: normalisation with given statistics.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph import derivative
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, merged
from penstock.ops.array import nodes
from penstock.ops.nn.window import from_nchw, to_nchw

_EPSILON = "epsilon: float = 9.999999747378752e-05"
_FORMAT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_TRAINING = "is_training: bool = True"
_batch_norm_backward = torch.ops.aten.native_batch_norm_backward.default


# ---- local response normalisation ----------------------------------------------------------------


def _window_sum(x, radius):
    """Sums over 2 * radius + 1 neighbouring channels (the last dim)."""
    width = 2 * radius + 1
    if not x.numel():
        return torch.zeros_like(x)
    rows = x.reshape(1, -1, 1, x.shape[-1])
    sums = torch._C._nn.avg_pool2d(rows, (1, width), (1, 1), (0, radius), False, True, 1)
    return sums.view(x.shape)


def _power(x, exponent):
    """``x ** -exponent`` for positive x; square roots are much faster than powers."""
    if exponent == 0.5:
        return x.rsqrt_()
    if exponent == 0.75:
        root = x.rsqrt_()
        return root.sqrt().mul_(root)
    if exponent == 1:
        return x.reciprocal_()
    return x.pow_(-exponent)


def _scale(x, depth_radius, bias, alpha):
    return _window_sum(x * x, depth_radius).mul_(alpha).add_(bias)


def _lrn(input, depth_radius, bias, alpha, beta):
    return _power(_scale(input, depth_radius, bias, alpha), beta).mul_(input)


def _lrn_grad(input_grads, input_image, output_image, depth_radius, bias, alpha, beta):
    scale = _scale(input_image, depth_radius, bias, alpha)
    spread = _window_sum(input_grads * output_image / scale, depth_radius)
    direct = _power(scale, beta).mul_(input_grads)
    return direct.sub_(spread.mul_(input_image).mul_(2 * alpha * beta))


def _lrn_gradient(op: Any, grad: Tensor) -> Tensor:
    names = ("depth_radius", "bias", "alpha", "beta")
    return make("LRNGrad", grad, op.inputs[0], op.outputs[0], **{n: op.attrs[n] for n in names})


def _rank_four(*names: str) -> Any:
    same = merged(*names)

    def rule(ctx: ShapeContext) -> Any:
        for name in names:
            ctx.rank(name, 4)
        dims = same(ctx)
        return (None,) * 4 if dims is None else dims

    return rule


_LRN_ATTRS = [
    "depth_radius: int = 5",
    "bias: float = 1.0",
    "alpha: float = 1.0",
    "beta: float = 0.5",
    "T: {half, bfloat16, float} = float",
]

define_op(
    "LRN",
    "input: T -> output: T",
    attrs=_LRN_ATTRS,
    shape=_rank_four("input"),
    kernel=_lrn,
    gradient=_lrn_gradient,
)

define_op(
    "LRNGrad",
    "input_grads: T, input_image: T, output_image: T -> output: T",
    attrs=_LRN_ATTRS,
    shape=_rank_four("input_grads", "input_image", "output_image"),
    kernel=_lrn_grad,
    no_gradient="TensorFlow 1.15 defines none",
)


# ---- batch normalisation ------------------------------------------------------------------------


def _fused_batch_norm(x, scale, offset, mean, variance, epsilon, data_format, is_training):
    view = to_nchw(x, data_format)
    if not x.numel():  # ATen refuses it
        unknown, zeros = torch.full_like(scale, math.nan), torch.zeros_like(scale)
        return x.clone(), unknown, unknown.clone(), zeros, zeros.clone()
    if not is_training:
        y = torch.native_batch_norm(view, scale, offset, mean, variance, False, 0.0, epsilon)[0]
        y = from_nchw(y, data_format)
        return y, mean.clone(), variance.clone(), mean.clone(), variance.clone()
    batch_mean, batch_variance = torch.zeros_like(scale), torch.zeros_like(scale)
    y = torch.native_batch_norm(
        view, scale, offset, batch_mean, batch_variance, True, 1.0, epsilon
    )[0]
    count = x.numel() // max(x.shape[3 if data_format == "NHWC" else 1], 1)
    if count <= 1:
        batch_variance.zero_()  # ATen divides by zero where TensorFlow divides by one.
    biased = batch_variance * ((count - 1) / count) if count else batch_variance.clone()
    return from_nchw(y, data_format), batch_mean, batch_variance, batch_mean.clone(), biased


def _fused_batch_norm_v3(x, scale, offset, mean, variance, epsilon, data_format, is_training):
    outputs = _fused_batch_norm(x, scale, offset, mean, variance, epsilon, data_format, is_training)
    return (*outputs, scale.new_zeros(0))


def _fused_batch_norm_grad(
    y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training
):
    if not x.numel():
        rest = scale.new_zeros(0 if is_training else scale.shape)
        zeros = torch.zeros_like(scale)
        return x.clone(), zeros, zeros.clone(), rest, rest.clone()
    inverse = (reserve_space_2 + epsilon).rsqrt_()
    dx, dscale, doffset = _batch_norm_backward(
        to_nchw(y_backprop, data_format), to_nchw(x, data_format), scale,
        reserve_space_1, reserve_space_2, reserve_space_1, inverse, is_training, epsilon,
        (True, True, True),
    )  # fmt: skip
    rest = scale.new_zeros(0 if is_training else scale.shape)
    return from_nchw(dx, data_format), dscale, doffset, rest, rest.clone()


def _fused_batch_norm_grad_v3(
    y_backprop, x, scale, reserve_space_1, reserve_space_2, reserve_space_3,
    epsilon, data_format, is_training,
):  # fmt: skip
    return _fused_batch_norm_grad(
        y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training
    )


def _channels(ctx: ShapeContext, image: Any, names: tuple[str, ...]) -> int | None:
    """The number of channels that all operands agree on."""
    found = image[3 if ctx.attr("data_format") == "NHWC" else 1]
    for name in names:
        size = ctx.rank(name, 1)[0]
        if None not in (size, found) and size != found:
            raise ValueError(f"{name} has {size} element(s), but there are {found} channel(s)")
        found = found if found is not None else size
    return found


def _fused_shape(extra: int) -> Any:
    def rule(ctx: ShapeContext) -> Any:
        image = ctx.rank("x", 4)
        names = ("scale", "offset") if ctx.attr("is_training") else (
            "scale", "offset", "mean", "variance",
        )  # fmt: skip
        channels = _channels(ctx, image, names)
        axis = 3 if ctx.attr("data_format") == "NHWC" else 1
        y = (*image[:axis], channels, *image[axis + 1 :])
        return [y, *[(channels,)] * 4, *[None] * extra]

    return rule


def _fused_grad_shape(ctx: ShapeContext) -> Any:
    image = merged("y_backprop", "x")(ctx)
    if image is None:
        image = (None,) * 4
    if len(image) != 4:
        raise ValueError(f"x must have rank 4; found rank {len(image)}")
    channels = _channels(ctx, image, ("scale", "reserve_space_1", "reserve_space_2"))
    rest = (0,) if ctx.attr("is_training") else (channels,)
    return [image, (channels,), (channels,), rest, rest]


# ---- their gradients ----------------------------------------------------------------------------


def _fused_gradient(version: str) -> Any:
    def gradient(op: Any, grad: Tensor, *_: Any) -> Any:
        x, scale, _, mean, variance = op.inputs
        attrs = {n: op.attrs[n] for n in ("epsilon", "data_format", "is_training")}
        extra = [op.outputs[5]] if version == "V3" else []
        op_type = f"FusedBatchNormGrad{version}"
        if attrs["is_training"]:
            # The empty mean and variance get the op's empty outputs, as nodes of TF's graphs do.
            return make(op_type, grad, x, scale, *op.outputs[3:5], *extra, **attrs)
        nchw = attrs["data_format"] == "NCHW"
        if nchw:
            x = nodes.transpose(x, [0, 2, 3, 1])
            grad = nodes.transpose(grad, [0, 2, 3, 1])
            attrs["data_format"] = "NHWC"
        dx, dscale, doffset, _, _ = make(op_type, grad, x, scale, mean, variance, *extra, **attrs)
        if nchw:
            dx = nodes.transpose(dx, [0, 3, 1, 2])
        return dx, dscale, doffset, None, None

    return gradient


def _fused_grad_gradient(op: Any, *grads: Any) -> Any:
    """Second order: the gradient's formula is written out in nodes and differentiated."""
    # Nodes of their own: dy may be a function of x, through which this derivative must not go.
    dy, x, scale = (make("Identity", t) for t in op.inputs[:3])
    mean, variance = op.inputs[3:5]
    build = _training_formula if op.attrs["is_training"] else _inference_formula
    # Half precision is computed with in that of the scale.
    wide = [nodes.cast(t, scale.dtype) for t in (dy, x)]
    for_x, for_scale, for_offset = build(op, *wide, scale, mean, variance)
    formulas = [nodes.cast(for_x, x.dtype), for_scale, for_offset]
    weights = list(grads[:3])
    ddy, dx, dscale = derivative.differentiate(formulas, [dy, x, scale], weights)
    return [ddy, dx, dscale, *[None] * (len(op.inputs) - 3)]


def _training_formula(op: Any, dy: Tensor, x: Tensor, scale: Tensor, *_: Any) -> Any:
    nchw = op.attrs["data_format"] == "NCHW"
    axes = [0, 2, 3] if nchw else [0, 1, 2]
    epsilon = op.attrs["epsilon"]
    if nchw:
        scale = nodes.reshape(scale, [1, nodes.size(scale), 1, 1])
    mean_dy = make("Mean", dy, axes, keep_dims=True)
    mean_x = make("Mean", x, axes, keep_dims=True)
    spread = make("SquaredDifference", x, make("StopGradient", mean_x))
    variance = make("Mean", spread, axes, keep_dims=True)
    dy_centered, x_centered = nodes.sub(dy, mean_dy), nodes.sub(x, mean_x)
    product = make("Mean", nodes.mul(dy, x_centered), axes, keep_dims=True)
    factor = nodes.mul(scale, make("Rsqrt", nodes.add(variance, epsilon)))
    share = nodes.mul(make("Reciprocal", nodes.add(variance, epsilon)), product)
    dx = nodes.mul(factor, nodes.sub(dy_centered, nodes.mul(share, x_centered)))
    total = make("Sum", nodes.mul(dy, x_centered), axes, keep_dims=True)
    dscale = nodes.mul(make("Rsqrt", nodes.add(variance, epsilon)), total)
    dscale = make("Squeeze", dscale, squeeze_dims=axes)
    return dx, dscale, make("Sum", dy, axes)


def _inference_formula(
    op: Any, dy: Tensor, x: Tensor, scale: Tensor, mean: Tensor, variance: Tensor
) -> Any:
    nchw = op.attrs["data_format"] == "NCHW"
    axes = [0, 2, 3] if nchw else [0, 1, 2]
    if nchw:
        per_channel = [1, nodes.size(scale), 1, 1]
        scale, mean, variance = (nodes.reshape(t, per_channel) for t in (scale, mean, variance))
    doffset = make("Sum", dy, axes)
    inverse = make("Rsqrt", nodes.add(variance, op.attrs["epsilon"]))
    product = nodes.mul(nodes.mul(dy, nodes.sub(x, mean)), inverse)
    dscale = make("Sum", product, axes)
    dx = nodes.mul(nodes.mul(dy, scale), inverse)
    return dx, dscale, doffset


_PLAIN = ["T: {float}"]
_MIXED = ["T: {half, bfloat16, float}", "U: {float}"]
_COMMON = [_EPSILON, _FORMAT, _TRAINING]

for _version, _types, _u in (("", _PLAIN, "T"), ("V2", _MIXED, "U"), ("V3", _MIXED, "U")):
    _third = ", reserve_space_3: U" if _version == "V3" else ""
    define_op(
        f"FusedBatchNorm{_version}",
        f"x: T, scale: {_u}, offset: {_u}, mean: {_u}, variance: {_u} -> y: T, batch_mean: {_u},"
        f" batch_variance: {_u}, reserve_space_1: {_u}, reserve_space_2: {_u}{_third}",
        attrs=[*_types, *_COMMON],
        shape=_fused_shape(1 if _third else 0),
        kernel=_fused_batch_norm_v3 if _third else _fused_batch_norm,
        gradient=_fused_gradient(_version),
        later=["exponential_avg_factor: float = 1.0"],
    )
    _scale_type = "T" if not _version else "float"
    _last = ("4", "5") if _third else ("3", "4")
    define_op(
        f"FusedBatchNormGrad{_version}",
        f"y_backprop: T, x: T, scale: {_scale_type}, reserve_space_1: {_u}, reserve_space_2: {_u}"
        f"{_third} -> x_backprop: T, scale_backprop: {_u}, offset_backprop: {_u},"
        f" reserve_space_{_last[0]}: {_u}, reserve_space_{_last[1]}: {_u}",
        attrs=[*_types, *_COMMON],
        shape=_fused_grad_shape,
        kernel=_fused_batch_norm_grad_v3 if _third else _fused_batch_norm_grad,
        gradient=_fused_grad_gradient,
    )


# ---- the op of old graphs -----------------------------------------------------------------------

_NUMBERS = (
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32,"
    " bfloat16, uint16, complex128, half, uint32, uint64}"
)
_GLOBAL = ["variance_epsilon: float", "scale_after_normalization: bool"]


def _global_norm(t, m, v, beta, gamma, variance_epsilon, scale_after_normalization):
    factor = torch.rsqrt(v + variance_epsilon)
    if scale_after_normalization:
        factor = factor * gamma
    return (t - m) * factor + beta


def _global_norm_grad(t, m, v, gamma, backprop, variance_epsilon, scale_after_normalization):
    axes = tuple(range(t.dim() - 1))
    inverse = torch.rsqrt(v + variance_epsilon)
    factor = inverse * gamma if scale_after_normalization else inverse
    db = torch.sum(backprop, axes)
    centered = torch.sum(backprop * (t - m), axes)
    dv = -0.5 * centered * factor * inverse * inverse
    dg = centered * inverse if scale_after_normalization else torch.zeros_like(gamma)
    return backprop * factor, -factor * db, dv, db, dg


def _global_shape(ctx: ShapeContext) -> Any:
    image = ctx.rank("t", 4)
    channels = image[3]
    for name in ("m", "v", "beta", "gamma"):
        size = ctx.rank(name, 1)[0]
        if None not in (size, channels) and size != channels:
            raise ValueError(f"{name} has {size} element(s), but t has {channels} channel(s)")
        channels = channels if channels is not None else size
    return (*image[:3], channels)


def _global_grad_shape(ctx: ShapeContext) -> Any:
    image = shapes.merge_static(ctx.rank("t", 4), ctx.rank("backprop", 4))
    channel: Dims = (None,)
    for name in ("m", "v", "gamma"):
        channel = shapes.merge_static(channel, ctx.rank(name, 1))
    return [image, channel, channel, channel, channel]


def _global_gradient(op: Any, grad: Tensor) -> Any:
    t, m, v, _, gamma = op.inputs
    attrs = {n: op.attrs[n] for n in ("variance_epsilon", "scale_after_normalization")}
    return make("BatchNormWithGlobalNormalizationGrad", t, m, v, gamma, grad, **attrs)


define_op(
    "BatchNormWithGlobalNormalization",
    "t: T, m: T, v: T, beta: T, gamma: T -> result: T",
    attrs=[_NUMBERS, *_GLOBAL],
    shape=_global_shape,
    kernel=_global_norm,
    gradient=_global_gradient,
)

define_op(
    "BatchNormWithGlobalNormalizationGrad",
    "t: T, m: T, v: T, gamma: T, backprop: T -> dx: T, dm: T, dv: T, db: T, dg: T",
    attrs=[_NUMBERS, *_GLOBAL],
    shape=_global_grad_shape,
    kernel=_global_norm_grad,
    no_gradient="TensorFlow 1.15 defines none",
)
