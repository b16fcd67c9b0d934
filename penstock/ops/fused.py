"""Nodes that only passes make: several TF nodes in one ATen call.

They never appear in a user's graph or in a GraphDef.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.opdef import define_op
from penstock.opdef.inference import ShapeContext, same_as
from penstock.ops import products

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


def _linear_shape(ctx: ShapeContext) -> Any:
    a, b = ctx.rank("a", 2), ctx.rank("b", 2)
    rows = a[1] if ctx.attr("transpose_a") else a[0]
    columns = b[0] if ctx.attr("transpose_b") else b[1]
    return (rows, columns)


def _linear(a, b, bias, transpose_a, transpose_b, activation):
    result = torch.addmm(bias, a.t() if transpose_a else a, b.t() if transpose_b else b)
    return result.relu_() if activation == "relu" else result


def _inline_linear(call: Any) -> str | None:
    left = f"{call.arg['a']}.t()" if call.attr("transpose_a") else call.arg["a"]
    right = call.arg["b"] if call.attr("transpose_b") else f"{call.arg['b']}.t()"
    activation = call.attr("activation")
    if products.prefers_onednn(call):
        function = call.function(products.linear, "linear")
        return f'{function}({left}, {right}, {call.arg["bias"]}, "{activation}", [], "")'
    right = f"{call.arg['b']}.t()" if call.attr("transpose_b") else call.arg["b"]
    text = f"torch.addmm({call.arg['bias']}, {left}, {right})"
    return f"{text}.relu_()" if activation == "relu" else text


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
