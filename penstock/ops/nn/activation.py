"""Activations: element-wise nonlinearities and the ops of their gradients.

Alike ops are rows of ``_FORWARD`` and ``_BACKWARD``.  Kernels are single ATen calls where ATen has
the formula; unsigned types that ATen cannot compare go through int64.  A gradient op works in the
memory of a dying incoming gradient (``inplace``), which saves an allocation as large as the layer.

In TensorFlow ``EluGrad`` and ``SeluGrad`` take the activation's *output*; the others its input
(``ReluGrad`` takes either, and gets the output, so that the input may die early).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import entry_of, make, one_operation
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import first_input, merged
from penstock.ops.array import nodes

_REAL = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
)
_FLOATING = "T: {half, bfloat16, float, double}"
_ALPHA = "alpha: float = 0.20000000298023224"
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123
_UNSIGNED = (dtypes.uint16, dtypes.uint32, dtypes.uint64)
# log1p(exp(x)) equals x to double precision from here on.
_LINEAR_FROM = 40


# ---- kernels -----------------------------------------------------------------------------------


_UNSIGNED_TORCH = (torch.uint16, torch.uint32, torch.uint64)


def _by_int64(function: Any, *values: torch.Tensor) -> torch.Tensor:
    """``function``, by way of int64 for the unsigned types that ATen does not compute with."""
    if values[0].dtype not in _UNSIGNED_TORCH:
        return function(*values)
    return function(*(v.to(torch.int64) for v in values)).to(values[0].dtype)


def _relu(features):
    return _by_int64(torch.relu, features)


def _relu6(features):
    return _by_int64(lambda x: torch.clamp(x, 0, 6), features)


# As TensorFlow multiplies by whether x > 0: nothing passes where x is NaN.
_gated = torch.ops.aten.leaky_relu_backward.default


def _relu_grad(gradients, features):
    if gradients.dtype.is_floating_point:
        return _gated(gradients, features, 0, False)
    return _by_int64(lambda g, x: torch.where(x > 0, g, 0), gradients, features)


def _elu_of_half(features):
    # TensorFlow rounds after each operation; ATen's kernel rounds once.
    return torch.where(features < 0, torch.exp(features) - 1, features)


def _selu_of_half(features):
    scale, scale_alpha = features.new_tensor([_SELU_SCALE, _SELU_SCALE_ALPHA])
    return torch.where(features < 0, scale_alpha * (torch.exp(features) - 1), scale * features)


def _relu6_grad(gradients, features):
    if gradients.dtype.is_floating_point:
        return _gated(_gated(gradients, features, 0, False), 6 - features, 0, False)
    return _by_int64(lambda g, x: torch.where((x > 0) & (x < 6), g, 0), gradients, features)


def _elu_grad(gradients, outputs):
    return torch.where(outputs < 0, (outputs + 1) * gradients, gradients)


def _leaky_relu(features, alpha):
    return torch._C._nn.leaky_relu(features, alpha)


def _selu_grad(gradients, outputs):
    # ATen's elu_backward takes the exponential branch at 0, TensorFlow the linear one.
    scaled = gradients * (outputs + _SELU_SCALE_ALPHA)
    return torch.where(outputs < 0, scaled, gradients * _SELU_SCALE)


def _in_two_ways(of_half: Any, of_others: Any) -> Any:
    """A kernel for float16, and one for the other types."""

    def kernel(features):
        return (of_half if features.dtype is torch.float16 else of_others)(features)

    return kernel


def _unless_half(source: str) -> Any:
    """Inline source for the types that are rounded once."""

    def inline(call: Any) -> str | None:
        return None if call.attr("T") == dtypes.float16 else source.format(**call.arg)

    return inline


def _unless_unsigned(source: str, plain: tuple[Any, ...] = ()) -> Any:
    """Inline source for the types that ATen computes with."""

    def inline(call: Any) -> str | None:
        dtype = call.attr("T")
        if dtype in _UNSIGNED or (plain and dtype not in plain):
            return None
        return source.format(**call.arg)

    return inline


# ---- gradients ---------------------------------------------------------------------------------


def _zeros(tensor: Tensor) -> Tensor:
    """Zeros of the shape of ``tensor``: ``Shape``, ``zeros``."""
    return nodes.zeros(nodes.shape(tensor), tensor.dtype)


def _from_output(op_type: str) -> Any:
    return lambda op, grad: make(op_type, grad, op.outputs[0])


def _from_input(op_type: str) -> Any:
    return lambda op, grad: make(op_type, grad, op.inputs[0])


def _leaky_relu_gradient(op: Any, grad: Tensor) -> Tensor:
    return make("LeakyReluGrad", grad, op.inputs[0], alpha=op.attrs["alpha"])


def _leaky_relu_grad_gradient(op: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    x = op.inputs[1]
    return make("LeakyReluGrad", grad, x, alpha=op.attrs["alpha"]), _zeros(x)


def _piecewise_gradient(op_type: str) -> Any:
    """Of ReluGrad and Relu6Grad: linear in the gradient, flat in the features."""

    def gradient(op: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        x = op.inputs[1]
        return make(op_type, grad, x), _zeros(x)

    return gradient


def _exponential_gradient(op_type: str) -> Any:
    """Of EluGrad and SeluGrad: the slope is output + constant below zero."""

    def gradient(op: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        outputs = op.inputs[1]
        first = make(op_type, grad, outputs)
        below = make("Less", outputs, 0.0)
        slope = nodes.mul(grad, op.inputs[0])
        return first, make("Select", below, slope, nodes.zeros_like(outputs))

    return gradient


def _softplus_gradient(op: Any, grad: Tensor) -> Tensor:
    return nodes.mul(grad, make("Sigmoid", op.inputs[0]))


def _softplus_grad_gradient(op: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    dy, x = op.inputs
    with control_dependencies([grad]):
        first = make("SoftplusGrad", grad, x)
        above = nodes.mul(grad, dy)
        below = nodes.add(nodes.add(make("Exp", make("Neg", x)), 2.0), make("Exp", x))
        second = nodes.div(above, below)
    return first, second


def _if_float(source: str) -> Callable[[Any], str | None]:
    """In-place source for the types that ATen computes with in place."""
    return lambda op: source if op.outputs[0].dtype.is_floating else None


def _in_place_unless_half(source: str) -> Callable[[Any], str | None]:
    return lambda op: None if op.outputs[0].dtype == dtypes.float16 else source


# ---- the ops -----------------------------------------------------------------------------------

# op type: (kernel, inline, attrs, in-place source, gradient)
_FORWARD: dict[str, tuple[Any, Any, list[str], Any, Any]] = {
    "Relu": (
        _relu,
        _unless_unsigned("torch.relu({features})"),
        [_REAL[:-1] + ", qint8}"],
        _if_float("torch.relu_({features})"),
        _from_output("ReluGrad"),
    ),
    "Relu6": (
        _relu6,
        _unless_unsigned("torch.clamp({features}, 0, 6)"),
        [_REAL],
        None,
        _from_output("Relu6Grad"),
    ),
    "LeakyRelu": (
        _leaky_relu,
        None,
        [_ALPHA, _FLOATING + " = float"],
        "torch._C._nn.leaky_relu_({features}, {alpha})",
        _leaky_relu_gradient,
    ),
    "Elu": (
        _in_two_ways(_elu_of_half, torch._C._nn.elu),
        _unless_half("torch._C._nn.elu({features})"),
        [_FLOATING],
        _in_place_unless_half("torch._C._nn.elu_({features})"),
        _from_output("EluGrad"),
    ),
    "Selu": (
        _in_two_ways(_selu_of_half, torch.selu),
        _unless_half("torch.selu({features})"),
        [_FLOATING],
        _in_place_unless_half("torch.selu_({features})"),
        _from_output("SeluGrad"),
    ),
    "Softplus": (
        f"torch._C._nn.softplus({{features}}, 1, {_LINEAR_FROM})",
        None,
        [_FLOATING],
        None,
        _softplus_gradient,
    ),
    "Softsign": (
        "{features} / torch.abs({features}).add_(1)",
        None,
        [_FLOATING],
        None,
        _from_input("SoftsignGrad"),
    ),
}

# op type: (second input, kernel, inline, attrs, in-place source, gradient or reason for none)
_BACKWARD: dict[str, tuple[str, Any, Any, list[str], str | None, Any]] = {
    "ReluGrad": (
        "features",
        _relu_grad,
        _unless_unsigned(
            "torch.ops.aten.leaky_relu_backward.default({gradients}, {features}, 0, False)",
            (dtypes.float32, dtypes.float64, dtypes.half, dtypes.bfloat16),
        ),
        [_REAL],
        _if_float(
            "torch.ops.aten.leaky_relu_backward.grad_input"
            "({gradients}, {features}, 0, False, grad_input={gradients})"
        ),
        _piecewise_gradient("ReluGrad"),
    ),
    "Relu6Grad": (
        "features",
        _relu6_grad,
        None,
        [_REAL],
        None,
        _piecewise_gradient("Relu6Grad"),
    ),
    "LeakyReluGrad": (
        "features",
        "torch.ops.aten.leaky_relu_backward.default({gradients}, {features}, {alpha}, False)",
        None,
        [_ALPHA, _FLOATING + " = float"],
        None,
        _leaky_relu_grad_gradient,
    ),
    "EluGrad": (
        "outputs",
        _elu_grad,
        None,
        [_FLOATING],
        None,
        _exponential_gradient("EluGrad"),
    ),
    "SeluGrad": (
        "outputs",
        _selu_grad,
        None,
        [_FLOATING],
        None,
        _exponential_gradient("SeluGrad"),
    ),
    "SoftplusGrad": (
        "features",
        f"torch.ops.aten.softplus_backward.default({{gradients}}, {{features}}, 1, {_LINEAR_FROM})",
        None,
        [_FLOATING],
        None,
        _softplus_grad_gradient,
    ),
    "SoftsignGrad": (
        "features",
        "{gradients} / torch.abs({features}).add_(1).square_()",
        None,
        [_FLOATING],
        None,
        "TensorFlow 1.15 defines no second derivative of softsign",
    ),
}


def _define() -> None:
    for name, (kernel, inline, attrs, inplace, gradient) in _FORWARD.items():
        define_op(
            name,
            "features: T -> activations: T",
            attrs=attrs,
            shape=first_input,
            kernel=kernel,
            inline=inline,
            inplace={"features": inplace} if inplace else None,
            gradient=gradient,
        )
    for name, (second, kernel, inline, attrs, inplace, gradient) in _BACKWARD.items():
        define_op(
            name,
            f"gradients: T, {second}: T -> backprops: T",
            attrs=attrs,
            shape=merged("gradients", second),
            kernel=kernel,
            inline=inline,
            inplace={"gradients": inplace} if inplace else None,
            gradient=None if isinstance(gradient, str) else gradient,
            no_gradient=gradient if isinstance(gradient, str) else None,
        )


_define()


# ---- public functions --------------------------------------------------------------------------


def relu(features: Any, name: str | None = None) -> Tensor:
    """``max(features, 0)``.

    Args:
      features: a real tensor.

    Returns:
      A tensor of the same type and shape.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.nn.relu([-1.0, 2.0])).tolist()
      [0.0, 2.0]
    """
    entry = entry_of("Relu", features)
    return entry(features) if entry else make("Relu", features, name=name)


@one_operation
def relu6(features: Any, name: str | None = None) -> Tensor:
    """``min(max(features, 0), 6)`` of a real tensor."""
    with name_scope(name, "Relu6", [features]) as scope:
        features = convert.convert_to_tensor(features, name="features")
        return make("Relu6", features, name=scope)


@one_operation
def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """``features`` where positive, ``alpha * features`` elsewhere.

    Args:
      features: a floating tensor; integers become float32.
      alpha: slope for negative values: a number or a 0-d array.

    Returns:
      A floating tensor of the same shape.
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert.convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = make("Cast", features, DstT=dtypes.float32)
        return make("LeakyRelu", features, alpha=float(alpha), name=scope)


def elu(features: Any, name: str | None = None) -> Tensor:
    """``exp(features) - 1`` where negative, ``features`` elsewhere.

    Args:
      features: tensor of a floating type.

    Returns:
      A tensor of its shape and type.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     print(session.run(tf.nn.elu([-1.0, 0.0, 2.0])).round(3))
      [-0.632  0.     2.   ]
    """
    return make("Elu", features, name=name)


def selu(features: Any, name: str | None = None) -> Tensor:
    """``scale * alpha * (exp(features) - 1)`` where negative, ``scale * features`` elsewhere."""
    return make("Selu", features, name=name)


def softplus(features: Any, name: str | None = None) -> Tensor:
    """``log(exp(features) + 1)``.

    Args:
      features: tensor of a floating type.

    Returns:
      A tensor of its shape and type.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     print(session.run(tf.nn.softplus([-100.0, 0.0, 100.0])).round(4))
      [  0.       0.6931 100.    ]
    """
    return make("Softplus", features, name=name)


def softsign(features: Any, name: str | None = None) -> Tensor:
    """``features / (abs(features) + 1)``."""
    return make("Softsign", features, name=name)


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """The rectified input beside the rectified negated input.

    Args:
      features: a real tensor.
      axis: where both halves are joined; that dim doubles.

    Returns:
      A tensor of the same type.
    """
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert.convert_to_tensor(features, name="features")
        negated = make("Neg", features)
        both = make("ConcatV2", [features, negated], axis, name=scope)
        return make("Relu", both)
