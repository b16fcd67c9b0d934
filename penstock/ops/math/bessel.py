"""Modified Bessel functions of the first kind, and the next number of floating point.

The ops are the exponentially scaled functions ``exp(-|x|) I(x)``, which do not overflow; float16
and bfloat16 are computed as float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import broadcast, first_input
from penstock.ops.array import fill, nodes, reshape
from penstock.ops.math import elementwise, reduction

# ---- Bessel functions ----------------------------------------------------------------------------


def _wide(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        narrow = x.dtype in (torch.float16, torch.bfloat16)
        return function(x.float()).to(x.dtype) if narrow else function(x)

    return kernel


def _i0e_grad(op: Any, grad: Any) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        slope: Any = make("BesselI1e", x) - make("Sign", x) * y
        return grad * slope


def _i1e_grad(op: Any, grad: Any) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        least = np.finfo(x.dtype.base_dtype.as_numpy_dtype).eps
        zeros = elementwise.zeros_like(x)
        large = make("Greater", make("Abs", x), least)
        safe = make("Select", large, x, least + zeros)
        slope = make("BesselI0e", safe) - y * (make("Sign", safe) + make("Reciprocal", safe))
        # The slope at 0, where 1 / x has no value.
        return grad * make("Select", large, slope, 0.5 + zeros)


for _name, _function, _gradient in (
    ("BesselI0e", torch.special.i0e, _i0e_grad),
    ("BesselI1e", torch.special.i1e, _i1e_grad),
):
    define_op(
        _name,
        "x: T -> y: T",
        attrs=["T: {bfloat16, half, float, double}"],
        shape=first_input,
        kernel=_wide(_function),
        gradient=_gradient,
    )


def bessel_i0e(x: Any, name: str | None = None) -> Tensor:
    """``exp(-|x|) I0(x)``, element by element; ``x`` is of a floating type."""
    return make("BesselI0e", x, name=name)


def bessel_i1e(x: Any, name: str | None = None) -> Tensor:
    """``exp(-|x|) I1(x)``, element by element; ``x`` is of a floating type."""
    return make("BesselI1e", x, name=name)


def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """Modified Bessel function of order 0; ``bessel_i0e`` is safe for large ``x``."""
    return _unscaled(bessel_i0e, "bessel_i0", x, name)


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """Modified Bessel function of order 1; ``bessel_i1e`` is safe for large ``x``."""
    return _unscaled(bessel_i1e, "bessel_i1", x, name)


def _unscaled(function: Callable[..., Tensor], default: str, x: Any, name: str | None) -> Tensor:
    with name_scope(name, default, [x]):
        x = convert_to_tensor(x)
        return make("Exp", make("Abs", x)) * function(x)


# ---- the next number -----------------------------------------------------------------------------


def _nextafter_grad(op: Any, grad: Any) -> list[Any]:
    """1 for the number, 0 for the direction; TF 1.15's nodes."""
    x1, x2 = op.inputs
    shapes = [nodes.shape(x) for x in (x1, x2)]
    axes = make("BroadcastGradientArgs", *shapes)
    with control_dependencies([grad]):
        slopes = [fill.ones(shapes[0], x1.dtype), fill.zeros(shapes[1], x2.dtype)]
        return [
            reshape.reshape(reduction.reduce_sum(slope * grad, over), shape)
            for slope, over, shape in zip(slopes, axes, shapes, strict=True)
        ]


define_op(
    "NextAfter",
    "x1: T, x2: T -> output: T",
    attrs=["T: {double, float} = float"],
    shape=broadcast,
    kernel="torch.nextafter({x1}, {x2})",
    gradient=_nextafter_grad,
)


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """The number of floating point next to ``x1`` in the direction of ``x2``; they broadcast."""
    return make("NextAfter", x1, x2, name=name)
