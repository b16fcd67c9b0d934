"""The gradients of element-wise functions that TensorFlow has ops of their own for.

They compute from the function's result, and their own gradients are made of other nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.inference import merged
from penstock.ops.math.elementwise import FLOATS_COMPLEX, conj


def _tanh_grad(y: Any, dy: Any) -> Any:
    if not y.dtype.is_complex:
        return torch.ops.aten.tanh_backward.default(dy, y)
    # ATen conjugates; the graph has conjugated already.
    return dy * (1 - y * y)


def _sigmoid_grad(y: Any, dy: Any) -> Any:
    if not y.dtype.is_complex:
        return torch.ops.aten.sigmoid_backward.default(dy, y)
    return dy * y * (1 - y)


def _kept_zeros(product: Any, dy: Any) -> Any:
    """As in TensorFlow a gradient of 0 stays 0 where the slope is infinite."""
    return product.masked_fill_(dy == 0, 0)


def _sqrt_grad(y: Any, dy: Any) -> Any:
    product = torch.div(dy, torch.conj_physical(y) if y.dtype.is_complex else y).mul_(0.5)
    return _kept_zeros(product, dy)


def _rsqrt_grad(y: Any, dy: Any) -> Any:
    y = torch.conj_physical(y) if y.dtype.is_complex else y
    return _kept_zeros(torch.mul(dy, y).mul_(torch.square(y)).mul_(-0.5), dy)


def _inverse_grad(y: Any, dy: Any) -> Any:
    y = torch.conj_physical(y) if y.dtype.is_complex else y
    return _kept_zeros(torch.square(y).mul_(dy).neg_(), dy)


def _tanh_grad_grad(op: Any, grad: Any) -> list[Any]:
    grad = convert_to_tensor(grad)
    with control_dependencies([grad]):
        y, dy = conj(op.inputs[0]), conj(op.inputs[1])
        return [grad * -2.0 * dy * y, make("TanhGrad", y, grad)]


def _sigmoid_grad_grad(op: Any, grad: Any) -> list[Any]:
    with control_dependencies([grad]):
        y, dy = conj(op.inputs[0]), conj(op.inputs[1])
        product = grad * dy
        return [product - 2.0 * product * y, make("SigmoidGrad", y, grad)]


def _sqrt_grad_grad(op: Any, grad: Any) -> list[Any]:
    with control_dependencies([grad]):
        quotient = grad / op.inputs[0]
        return [-conj(quotient) * op.outputs[0], 0.5 * quotient]


def _rsqrt_grad_grad(op: Any, grad: Any) -> list[Any]:
    grad = convert_to_tensor(grad)
    with control_dependencies([grad]):
        y, conjugate = conj(op.inputs[0]), conj(grad)
        first = -1.5 * conjugate * op.inputs[1] * make("Square", y)
        return [first, make("RsqrtGrad", y, grad)]


def _inverse_grad_grad(op: Any, grad: Any) -> list[Any]:
    grad = convert_to_tensor(grad)
    with control_dependencies([grad]):
        y, conjugate = conj(op.inputs[0]), conj(grad)
        return [conjugate * -2.0 * op.inputs[1] * y, make("ReciprocalGrad", y, grad)]


def _real_only(source: str) -> Callable[[Any], str | None]:
    def inline(call: Any) -> str | None:
        return None if call.dtype("y").is_complex else source.format(**call.arg)

    return inline


for _name, _kernel, _source, _gradient in (
    ("TanhGrad", _tanh_grad, "torch.ops.aten.tanh_backward.default({dy}, {y})", _tanh_grad_grad),
    ("SigmoidGrad", _sigmoid_grad, "torch.ops.aten.sigmoid_backward.default({dy}, {y})",
     _sigmoid_grad_grad),
    ("SqrtGrad", _sqrt_grad, None, _sqrt_grad_grad),
    ("RsqrtGrad", _rsqrt_grad, None, _rsqrt_grad_grad),
    ("ReciprocalGrad", _inverse_grad, None, _inverse_grad_grad),
    ("InvGrad", _inverse_grad, None, _inverse_grad_grad),
):  # fmt: skip
    define_op(
        _name,
        "y: T, dy: T -> z: T",
        attrs=[f"T: {{{FLOATS_COMPLEX}}}"],
        shape=merged("y", "dy"),
        kernel=_kernel,
        inline=_real_only(_source) if _source else None,
        gradient=_gradient,
        flops=arithmetic.each_output(4) if _name == "RsqrtGrad" else None,
    )
