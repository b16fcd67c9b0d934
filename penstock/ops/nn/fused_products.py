"""Products of matrices with what follows them, which passes put in the place of several nodes."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, no_outputs, same_as
from penstock.ops.linalg import products
from penstock.ops.nn.fused import MADE_BY_PASSES


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
    no_gradient=MADE_BY_PASSES,
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
    no_gradient=MADE_BY_PASSES,
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
        no_gradient=MADE_BY_PASSES,
        internal=True,
    )
