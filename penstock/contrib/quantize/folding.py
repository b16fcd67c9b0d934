"""Batch normalization moved into the weights and the bias of the layer before it.

``(conv(x, w) - mean) * gamma / sigma + beta`` is ``conv(x, w * gamma / sigma) + bias``.  In
training the weights are scaled with the moving sigma instead, which does not jump from batch to
batch, and what comes out is corrected by the quotient of both; after ``freeze_delay`` steps by
nothing, and the moving averages stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from penstock.contrib.quantize.rerouting import quantization_step, reroute
from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.scopes import device, name_scope
from penstock.library.autodiff.register import RegisterGradient
from penstock.library.control_flow.cond import smart_cond
from penstock.library.nn.conv import conv2d
from penstock.library.nn.dilation import depthwise_conv2d
from penstock.library.ragged_tensors.dispatched import (
    cast,
    divide,
    greater_equal,
    multiply,
    reciprocal,
    rsqrt,
    size,
    subtract,
)
from penstock.ops.array.fill import ones, zeros
from penstock.ops.array.reshape import reshape
from penstock.ops.control.control import identity
from penstock.ops.linalg.matmul import matmul

LAYERS = ("Conv2D", "DepthwiseConv2dNative", "MatMul")
_UNFUSED = re.compile(r"^(.*)/BatchNorm/(batchnorm(?:_1)?)/add_1$")


@dataclass(frozen=True)
class _Norm:
    """A layer with batch normalization after it; tensors unless said otherwise."""

    layer: Any  # the op
    op: Any  # the op of the normalization
    output: Any
    gamma: Any
    beta: Any
    mean: Any
    variance: Any
    epsilon: Any  # a tensor or a float
    moving_mean: Any = None
    moving_variance: Any = None
    # What the steps of the moving averages are multiplied with.
    mean_decay: Any = None
    variance_decay: Any = None


@dataclass(frozen=True)
class _Correction:
    """Of the weights, of the output, and what is added to that."""

    scale: Any
    reciprocal: Any
    offset: Any


def fold_batch_norms(graph: Graph, is_training: bool, freeze_delay: int | None) -> None:
    """Folds all batch normalizations of a graph that follow a layer.

    Args:
      graph: the graph, which is the current one.
      is_training: whether the batches' statistics are used.
      freeze_delay: number of steps after which the moving averages are; None never.
    """
    for norm in _fused(graph, is_training):
        _fold_fused(norm, is_training, freeze_delay)
    for scope, inner in _unfused_scopes(graph):
        _fold_unfused(graph, scope, inner, is_training, freeze_delay)


# ---- fused ---------------------------------------------------------------------------------------

_GRADIENT = "FoldFusedBatchNormGrad"


@RegisterGradient(_GRADIENT)
def _fold_gradient(op: Any, _: Any, mean_grad: Any, variance_grad: Any, *__: Any) -> Any:
    """Of the input, through mean and variance, which an unfolded normalization hands nothing."""
    x = op.inputs[0]
    n = cast(size(x) / size(mean_grad), dtypes.float32)
    through_mean = mean_grad / n
    through_variance = 2 * variance_grad * (x - op.outputs[1]) / (n - 1)
    return through_mean + through_variance, None, None, None, None


def _fused(graph: Graph, is_training: bool) -> Iterator[_Norm]:
    for op in list(graph.get_operations()):
        if not op.type.startswith("FusedBatchNorm") or "Grad" in op.type:
            continue
        output = op.outputs[0]
        below = op.inputs[0].op
        if below.type == "Reshape" and below.inputs[0].op.type == "MatMul":
            # Of a dense layer the normalization is between two reshapes.
            below = below.inputs[0].op
            after = [one for one in output.consumers() if one.type == "Reshape"]
            output = after[0].outputs[0] if after else output
        weighted = below.type in LAYERS and len(below.inputs) == 2
        if not weighted or not output.consumers():
            continue
        gamma, beta, mean, variance = op.inputs[1:5]
        norm = _Norm(below, op, output, gamma, beta, mean, variance, op.get_attr("epsilon"))
        if is_training:
            found = _with_moving(norm)
            if found is None:
                continue
            norm = found
        yield norm


def _with_moving(norm: _Norm) -> _Norm | None:
    """With the batch's statistics, and those that follow them; None where nothing does."""
    moving: list[Any] = []
    for output in norm.op.outputs[1:3]:
        found = _follower(output)
        if found is None:
            return None
        moving.append(found)
    scope = norm.op.name.rpartition("/")[0]
    with name_scope(f"{scope}/" if scope else None):
        # The variance that comes out is that of a sample; what is folded is that of the batch.
        n = cast(size(norm.layer.outputs[0]) / size(norm.op.outputs[1]), dtypes.float32)
        variance = multiply(norm.op.outputs[2], (n - 1) / n, name="Undo_Bessel_Correction")
    (mean, mean_decay), (moving_variance, variance_decay) = moving
    return replace(
        norm, mean=norm.op.outputs[1], variance=variance, moving_mean=mean,
        moving_variance=moving_variance, mean_decay=mean_decay, variance_decay=variance_decay,
    )  # fmt: skip


def _follower(statistic: Any) -> tuple[Any, Any] | None:
    """The moving average of a statistic, and the factor of its steps."""
    for sub in statistic.consumers():
        if sub.type != "Sub":
            continue
        for product in sub.outputs[0].consumers():
            if product.type == "Mul":
                return sub.inputs[0], product.inputs[1]
    return None


def _fold_fused(norm: _Norm, is_training: bool, freeze_delay: int | None) -> None:
    scope, sep, _ = norm.layer.name.rpartition("/")
    with name_scope(scope + sep), device(norm.op.device):
        with name_scope(f"{scope}{sep}BatchNorm_Fold{sep}"):
            multiplier = norm.gamma * rsqrt(norm.variance + norm.epsilon)
            bias = subtract(norm.beta, norm.mean * multiplier, name="bias")
            correction = None
            if is_training:
                norm.op._set_attr("_gradient_op_type", _GRADIENT.encode())
                correction = _corrected(norm, "batch_norm_correction", freeze_delay)
            weights = norm.layer.inputs[1]
            scale = None if correction is None else correction.scale
            if norm.layer.type == "DepthwiseConv2dNative":
                shape = weights.get_shape().as_list()[2:]
                multiplier = reshape(multiplier, shape, name="scale_reshape")
                if scale is not None:
                    scale = reshape(scale, shape, name="correction_reshape")
        if scale is not None:
            weights = multiply(scale, weights, name="correction_mult")
        weights = multiply(weights, multiplier, name="mul_fold")
        out = _again(norm.layer, weights, norm.layer.name.rpartition("/")[2] + "_Fold")
        if correction is not None:
            out = multiply(correction.reciprocal, out, name="post_conv_mul")
            out = make("Add", out, correction.offset, name="correction_add")
        reroute(make("Add", out, bias, name="add_fold"), norm.output)


def _again(layer: Any, weights: Any, name: str) -> Any:
    """The layer's op with other weights."""
    x = layer.inputs[0]
    if layer.type == "MatMul":
        return matmul(
            x, weights, transpose_a=layer.get_attr("transpose_a"),
            transpose_b=layer.get_attr("transpose_b"), name=name,
        )  # fmt: skip
    padding, form = (_text(layer.get_attr(key)) for key in ("padding", "data_format"))
    if layer.type == "Conv2D":
        return conv2d(
            x, weights, strides=layer.get_attr("strides"), padding=padding,
            use_cudnn_on_gpu=layer.get_attr("use_cudnn_on_gpu"), data_format=form, name=name,
        )  # fmt: skip
    return depthwise_conv2d(
        x, weights, strides=layer.get_attr("strides"), padding=padding, name=name
    )


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


# ---- what training needs -------------------------------------------------------------------------


def _corrected(norm: _Norm, name: str, freeze_delay: int | None) -> _Correction:
    with name_scope(name):
        moving_sigma = rsqrt(norm.moving_variance + norm.epsilon)
        sigma = rsqrt(norm.variance + norm.epsilon)
        scale = divide(moving_sigma, sigma, name="scale_compute")
        scale = identity(scale, name="correction_scale")
        inverse = reciprocal(scale, name="reciprocal_compute")
        shift = norm.mean * sigma - norm.moving_mean * moving_sigma
        offset = multiply(norm.gamma, shift, name="offset_compute")
        frozen: Any = False
        if freeze_delay is not None:
            frozen = greater_equal(quantization_step(), freeze_delay, name="use_moving_average")
        for decay, what in ((norm.mean_decay, "mean"), (norm.variance_decay, "var")):
            if decay is None or frozen is False:
                continue
            consumers = decay.consumers()
            kept = smart_cond(frozen, lambda: 0.0, _always(decay), name=f"freeze_moving_{what}")
            reroute(kept, decay, consumers)
        inverse = smart_cond(
            frozen, lambda: ones(scale.get_shape()), _always(inverse), name="correction_recip"
        )
        offset = smart_cond(
            frozen, _always(offset), lambda: zeros(shift.get_shape()), name="correction_offset"
        )
    return _Correction(scale, inverse, offset)


def _always(tensor: Any) -> Callable[[], Any]:
    return lambda: tensor


# ---- unfused -------------------------------------------------------------------------------------


def _unfused_scopes(graph: Graph) -> list[tuple[str, str]]:
    """Scopes of layers with unfused normalization, and that of its arithmetic within."""
    found = []
    for op in graph.get_operations():
        match = _UNFUSED.match(op.name)
        if match and op.outputs[0].consumers():
            found.append((match[1], match[2]))
    return found


def _fold_unfused(
    graph: Graph, scope: str, inner: str, is_training: bool, freeze_delay: int | None
) -> None:
    norm, shift, scaled = _unfused(graph, scope, inner, is_training)
    if norm is None:
        return
    correction = None
    with name_scope(None):
        if is_training:
            correction = _corrected(norm, f"{scope}/batch_norm_correction", freeze_delay)
        weights, scale = norm.layer.inputs[1], scaled
        corrected = None if correction is None else correction.scale
        if norm.layer.type == "DepthwiseConv2dNative":
            shape = weights.get_shape().as_list()[2:]
            scale = reshape(scale, shape, name=f"{scope}/scale_reshape")
            if corrected is not None:
                corrected = reshape(corrected, shape, name=f"{scope}/correction_reshape")
        if corrected is not None:
            weights = multiply(corrected, weights, name=f"{scope}/correction_mult")
        weights = multiply(weights, scale, name=f"{scope}/mul_fold")
        out = _again(norm.layer, weights, norm.layer.name + "_Fold")
        if correction is not None:
            out = multiply(correction.reciprocal, out, name=f"{scope}/post_conv_mul")
            out = make("Add", out, correction.offset, name=f"{scope}/correction_add")
        folded = make("Add", out, shift, name=f"{scope}/add_fold")
    reroute(folded, norm.output)


def _unfused(
    graph: Graph, scope: str, inner: str, is_training: bool
) -> tuple[_Norm | None, Any, Any]:
    """The normalization, what it adds at last, and what weights of its layer are multiplied by."""
    prefix = f"{scope}/BatchNorm"
    names = {op.name: op for op in graph.get_operations() if op.name.startswith(f"{scope}/")}
    has_scaling = f"{prefix}/gamma" in names
    arithmetic = f"{prefix}/{inner}/"
    product = names[arithmetic + ("mul_1" if has_scaling else "mul")]
    layer = product.inputs[0].op
    if layer.type not in LAYERS:
        return None, None, None
    output = names[arithmetic + "add_1"].outputs[0]

    def tensor(*candidates: str) -> Any:
        full = (f"{prefix}/{one}" for one in candidates)
        return next((names[one].outputs[0] for one in full if one in names), None)

    moving_mean, moving_variance = tensor("moving_mean/read"), tensor("moving_variance/read")
    mean, variance = moving_mean, moving_variance
    if is_training:
        mean, variance = tensor("moments/Squeeze", "moments/mean"), tensor(
            "moments/Squeeze_1", "moments/variance"
        )  # fmt: skip
        if mean is None or variance is None:
            return None, None, None
    with name_scope(None):
        gamma = tensor("gamma") if has_scaling else ones(moving_mean.get_shape())
    norm = _Norm(
        layer, names[arithmetic + "add_1"], output, gamma, None, mean, variance,
        tensor(f"{inner}/add/y"), moving_mean, moving_variance,
        tensor("AssignMovingAvg/decay"), tensor("AssignMovingAvg_1/decay"),
    )  # fmt: skip
    scaled = product.inputs[1]
    if layer.type == "DepthwiseConv2dNative":
        scaled = names[arithmetic + ("mul" if has_scaling else "Rsqrt")].outputs[0]
    return norm, names[arithmetic + "sub"].outputs[0], scaled
