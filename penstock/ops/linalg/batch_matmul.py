"""Products of matrices, many at a time: BatchMatMul, BatchMatMulV2."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array import nodes
from penstock.ops.linalg.matmul import RULES, TYPES, check_inner, swapped


def _batch_shape(ctx: ShapeContext) -> Dims:
    x, y = ctx.rank_at_least("x", 2), ctx.rank_at_least("y", 2)
    if x is None or y is None:
        return None
    x, y = swapped(x, ctx.attr("adj_x")), swapped(y, ctx.attr("adj_y"))
    check_inner(x, y, "x and y")
    if ctx.op.type == "BatchMatMul":
        batch = shapes.merge_static(x[:-2], y[:-2])
    else:
        batch = shapes.broadcast_static(x[:-2], y[:-2])
    return (*(batch or ()), x[-2], y[-1])


def _adjoint(x: Any) -> Any:
    return x.mT.conj_physical() if x.dtype.is_complex else x.mT


def _batch_matmul(x: Any, y: Any, adj_x: bool, adj_y: bool) -> Any:
    if x.dim() < 2 or y.dim() < 2:
        raise ValueError(
            f"x and y must have rank at least 2; their shapes are {list(x.shape)} and"
            f" {list(y.shape)}"
        )
    return torch.matmul(_adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y)


def _strict_batch_matmul(x: Any, y: Any, adj_x: bool, adj_y: bool) -> Any:
    if x.shape[:-2] != y.shape[:-2]:
        raise ValueError(
            f"batch dims of x and y must be equal; the shapes are {list(x.shape)} and"
            f" {list(y.shape)}"
        )
    return _batch_matmul(x, y, adj_x, adj_y)


def _inline_batch_matmul(call: Any) -> str | None:
    x, y = call.dims("x"), call.dims("y")
    if x is None or y is None or call.dtype("x").is_complex:
        return None
    same = x[:-2] == y[:-2] and None not in x[:-2]
    if call.op.type == "BatchMatMul" and not same:
        return None
    function = "bmm" if same and len(x) == 3 else "matmul"
    x_text = call.arg["x"] + (".mT" if call.attr("adj_x") else "")
    y_text = call.arg["y"] + (".mT" if call.attr("adj_y") else "")
    return f"torch.{function}({x_text}, {y_text})"


def _batch_products(op: Any, grad: Tensor) -> list[Tensor]:
    operands = {"a": op.inputs[0], "b": op.inputs[1], "g": grad}
    rules = RULES[op.attrs["adj_x"], op.attrs["adj_y"]]
    return [
        make(op.type, operands[first], operands[second], name="MatMul", adj_x=ta, adj_y=tb)
        for first, second, ta, tb in rules
    ]


def _batch_matmul_grad(op: Any, grad: Tensor) -> list[Tensor]:
    grads = _batch_products(op, grad)
    x, y = op.inputs
    if op.type == "BatchMatMul":
        return grads
    # TF asks for equal shapes, not only equal batch dims; the nodes are to be the same.
    if nodes.is_known(x) and x.sizes == y.sizes:
        return grads
    # Where one operand was broadcast, its gradient is summed over the batch dims it lacked.
    shapes = nodes.shape(x), nodes.shape(y)
    batches = [nodes.head(s, -2) for s in shapes]
    axes = make("BroadcastGradientArgs", *batches)
    return [
        nodes.reshape(make("Sum", g, a), s) for g, a, s in zip(grads, axes, shapes, strict=True)
    ]


for _name, _kernel in (("BatchMatMul", _strict_batch_matmul), ("BatchMatMulV2", _batch_matmul)):
    define_op(
        _name,
        "x: T, y: T -> output: T",
        attrs=[TYPES, "adj_x: bool = False", "adj_y: bool = False"],
        shape=_batch_shape,
        kernel=_kernel,
        inline=_inline_batch_matmul,
        gradient=_batch_matmul_grad,
        # The attr by which TensorFlow's formula would look, "transpose_a", is "adj_x" here.
        flops=arithmetic.product("adj_x"),
        later=["grad_x: bool", "grad_y: bool"],
    )
