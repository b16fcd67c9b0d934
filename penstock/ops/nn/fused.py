"""Nodes that only passes make: several TF nodes in one ATen call.

They never appear in a user's graph or in a GraphDef.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import dtypes
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import same_as
from penstock.foundation.opdef.registry import OPS
from penstock.ops.linalg import product_forms
from penstock.ops.nn import conv

MADE_BY_PASSES = "made by passes only, after gradients are built"


def _sum_to_shape(grad, target):
    return grad if grad.shape == target.shape else grad.sum_to_size(target.shape)


define_op(
    "_SumToShape",
    "grad: T, target: T -> output: T",
    attrs=["T: type"],
    shape=same_as("target"),
    kernel=_sum_to_shape,
    aliases=("grad",),
    no_gradient=MADE_BY_PASSES,
    internal=True,
)


define_op(
    "_FiniteOr",
    "x: T -> y: T",
    attrs=["T: {float, double}", "other: float"],
    shape=same_as("x"),
    kernel="torch.nan_to_num({x}, {other}, {other}, {other})",
    inplace={"x": "{x}.nan_to_num_({other}, {other}, {other})"},
    no_gradient=MADE_BY_PASSES,
    internal=True,
)


def _conv_bias(
    input, filter, bias, strides, padding, explicit_paddings, data_format, dilations, activation
):
    x, w = input.permute(0, 3, 1, 2), filter.permute(3, 2, 0, 1)
    geometry = conv.Geometry(
        x.shape[2:], w.shape[2:], strides, padding, explicit_paddings, data_format, dilations
    )
    groups = x.shape[1] // w.shape[1]
    result = conv.conv_nchw(x, w, geometry, groups, bias).permute(0, 2, 3, 1).contiguous()
    return result.relu_() if activation == "relu" else result


def _inline_conv_bias(call: Any) -> str | None:
    bias, relu = call.arg["bias"], call.attr("activation") == "relu"
    if relu and call.dtype("input") is dtypes.float32 and product_forms.onednn_runs():
        text = conv.inline_pointwise(call, bias, "relu")
        if text is not None:
            return text
    text = conv.inline_convolution(call, bias)
    return f"{text}.relu_()" if relu and text is not None else text


define_op(
    "_ConvBias",
    "input: T, filter: T, bias: T -> output: T",
    attrs=[*conv.ATTRS, "activation: string = 'none'"],
    shape=OPS["Conv2D"].shape,
    kernel=_conv_bias,
    inline=_inline_conv_bias,
    layouts=OPS["Conv2D"].layouts,
    no_gradient=MADE_BY_PASSES,
    internal=True,
)


# ---- the logistic loss ---------------------------------------------------------------------------


def _sigmoid_xent(logits, labels):
    # log(1 + exp(-|x|)) is -logsigmoid(|x|), exact for large |x|, where softplus(x) - x z cancels.
    loss = torch.relu(logits).addcmul_(logits, labels, value=-1)
    return loss.sub_(torch._C._nn.log_sigmoid(logits.abs()))


define_op(
    "_SigmoidXent",
    "logits: T, labels: T -> loss: T",
    attrs=["T: type"],
    shape=same_as("logits"),
    kernel=_sigmoid_xent,
    no_gradient=MADE_BY_PASSES,
    internal=True,
)

define_op(
    "_SigmoidXentGrad",
    "grad: T, logits: T, labels: T -> backprop: T",
    attrs=["T: type"],
    shape=same_as("logits"),
    kernel="torch.sigmoid({logits}).sub_({labels}).mul_({grad})",
    no_gradient=MADE_BY_PASSES,
    internal=True,
)
