"""Nodes that only passes make: several TF nodes in one ATen call.

They never appear in a user's graph or in a GraphDef.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import dtypes
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, no_outputs, same_as
from penstock.foundation.opdef.registry import OPS
from penstock.ops.linalg import product_forms, products
from penstock.ops.nn import conv

_MADE_BY_PASSES = "made by passes only, after gradients are built"


def _sum_to_shape(grad, target):
    return grad if grad.shape == target.shape else grad.sum_to_size(target.shape)


define_op(
    "_SumToShape",
    "grad: T, target: T -> output: T",
    attrs=["T: type"],
    shape=same_as("target"),
    kernel=_sum_to_shape,
    aliases=("grad",),
    no_gradient=_MADE_BY_PASSES,
    internal=True,
)


define_op(
    "_FiniteOr",
    "x: T -> y: T",
    attrs=["T: {float, double}", "other: float"],
    shape=same_as("x"),
    kernel="torch.nan_to_num({x}, {other}, {other}, {other})",
    inplace={"x": "{x}.nan_to_num_({other}, {other}, {other})"},
    no_gradient=_MADE_BY_PASSES,
    internal=True,
)


def _linear_shape(ctx: ShapeContext) -> Any:
    a, b = ctx.rank("a", 2), ctx.rank("b", 2)
    rows = a[1] if ctx.attr("transpose_a") else a[0]
    columns = b[0] if ctx.attr("transpose_b") else b[1]
    return (rows, columns)


def _linear(a, b, bias, transpose_a, transpose_b, activation):
    result = torch.addmm(bias, a.t() if transpose_a else a, b.t() if transpose_b else b)
    return result.relu_() if activation == "relu" else result


def _inline_linear(call: Any) -> str:
    return products.Product(call, call.arg["bias"], call.attr("activation") == "relu").source()


define_op(
    "_Linear",
    "a: T, b: T, bias: T -> product: T",
    attrs=[
        "T: type", "transpose_a: bool = False", "transpose_b: bool = False",
        "activation: string = 'none'",
    ],
    shape=_linear_shape,
    kernel=_linear,
    inline=_inline_linear,
    no_gradient=_MADE_BY_PASSES,
    internal=True,
)  # fmt: skip


def _inline_add_product(call: Any) -> str:
    a, b = _factors(call.attr)
    return f"torch.addmm({{sum}}, {a}, {b})".format(**call.arg)


def _factors(attr: Any) -> tuple[str, str]:
    return (
        "{a}.t()" if attr("transpose_a") else "{a}",
        "{b}.t()" if attr("transpose_b") else "{b}",
    )


def _add_product(sum, a, b, transpose_a, transpose_b):
    return torch.addmm(sum, a.t() if transpose_a else a, b.t() if transpose_b else b)


def _into_sum(op: Any) -> str:
    a, b = _factors(op.attrs.__getitem__)
    return f"{{sum}}.addmm_({a}, {b})"


# What a loop adds up over its rounds, the gradient of a weight, grows where it lies.
define_op(
    "_AddProduct",
    "sum: T, a: T, b: T -> total: T",
    attrs=["T: type", "transpose_a: bool = False", "transpose_b: bool = False"],
    shape=same_as("sum"),
    kernel=_add_product,
    inline=_inline_add_product,
    inplace={"sum": _into_sum},
    no_gradient=_MADE_BY_PASSES,
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
    no_gradient=_MADE_BY_PASSES,
    internal=True,
)


def _descend_along_product(var, alpha, a, b, transpose_a, transpose_b):
    var.value.addmm_(a.t() if transpose_a else a, b.t() if transpose_b else b, alpha=-alpha)


def _inline_descent(call: Any) -> str:
    target, alpha = f"{call.arg['var']}.value", f"-{call.arg['alpha']}"
    return products.Product(call).added(target, call.lies("var"), alpha)


for _kind, _prefix in (("Ref(T)", ""), ("resource", "Resource")):
    define_op(
        f"_{_prefix}DescendAlongProduct",
        f"var: {_kind}, alpha: T, a: T, b: T ->",
        attrs=["T: type", "transpose_a: bool = False", "transpose_b: bool = False"],
        shape=no_outputs,
        kernel=_descend_along_product,
        inline=_inline_descent,
        host=("alpha",),
        writes=("var",),
        no_gradient=_MADE_BY_PASSES,
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
    no_gradient=_MADE_BY_PASSES,
    internal=True,
)

define_op(
    "_SigmoidXentGrad",
    "grad: T, logits: T, labels: T -> backprop: T",
    attrs=["T: type"],
    shape=same_as("logits"),
    kernel="torch.sigmoid({logits}).sub_({labels}).mul_({grad})",
    no_gradient=_MADE_BY_PASSES,
    internal=True,
)
