"""Special functions of several arguments: incomplete gamma and beta, Hurwitz zeta, polygamma.

What ATen lacks is computed in float64 whatever the input: the regularized incomplete beta function
by its continued fraction (modified Lentz), the derivative of the incomplete gamma function in its
parameter by differentiating its power series, whose terms are all positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import control_dependencies
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, broadcast
from penstock.ops.array import broadcasting

_TYPES = "T: {float, double}"
# Makes no difference but to 0, of which the continued fraction takes the reciprocal.
_TINY = 1e-300
_MOST_TERMS = 10000
_MOST_ROUNDS = 1000
_ROUNDS_AT_ONCE, _SMALL = 8, 4096
# Factors of the continued fraction as near to 1 as this change nothing more; a factor that has
# converged differs from 1 by what two roundings of float64 make of it.
_ACCURACY = {torch.float32: 1e-10, torch.float64: 1e-15}


# ---- kernels ------------------------------------------------------------------------------------


def _polygamma(a: Any, x: Any) -> Any:
    order, wide = torch.broadcast_tensors(a.double(), x.double())
    sign = torch.where(order.remainder(2) == 1, 1.0, -1.0)
    value = sign * torch.exp(torch.lgamma(order + 1)) * torch.special.zeta(order + 1, wide)
    value = torch.where(order == 0, torch.digamma(wide), value)
    natural = (order >= 0) & (order == torch.floor(order))
    return torch.where(natural, value, torch.nan).to(x.dtype)


def _igamma(a: Any, x: Any) -> Any:
    value = torch.where(a == 0, torch.nan, torch.special.gammainc(a, x))
    return torch.where(x == 0, 0, value)


def _igammac(a: Any, x: Any) -> Any:
    return torch.where(a == 0, torch.nan, torch.special.gammaincc(a, x))


def _igamma_grad_a(a: Any, x: Any) -> Any:
    """Derivative in ``a`` of P(a, x) = x^a e^-x / Gamma(a + 1) * sum x^n / ((a+1)...(a+n))."""
    dtype = x.dtype
    a, x = torch.broadcast_tensors(a.double(), x.double())
    term, total = torch.ones_like(x), torch.ones_like(x)
    harmonic, slope = torch.zeros_like(x), torch.zeros_like(x)
    for n in range(1, _MOST_TERMS):
        harmonic = harmonic + 1 / (a + n)
        term = term * x / (a + n)
        total = total + term
        slope = slope - term * harmonic
        # NaN compares false with everything: what will stay NaN is not waited for.
        if n > 2 and not bool((term * harmonic > 1e-17 * slope.abs()).any()):
            break
    scale = torch.exp(a * torch.log(x) - x - torch.lgamma(a + 1))
    value = scale * (total * (torch.log(x) - torch.digamma(a + 1)) + slope)
    return torch.where(x == 0, 0.0, value).to(dtype)


def _betainc(a: Any, b: Any, x: Any) -> Any:
    dtype = x.dtype
    a, b, x = torch.broadcast_tensors(*(t.double() for t in (a, b, x)))
    # The fraction converges fast below the mean; beyond it, use I(a, b, x) = 1 - I(b, a, 1 - x).
    swap = x > (a + 1) / (a + b + 2)
    a, b = torch.where(swap, b, a), torch.where(swap, a, b)
    x = torch.where(swap, 1 - x, x)
    logs = torch.lgamma(a + b) - torch.lgamma(a) - torch.lgamma(b)
    front = torch.exp(logs + torch.xlogy(a, x) + torch.xlogy(b, 1 - x)) / a
    value = front * _beta_fraction(a, b, x, _ACCURACY[dtype])
    value = torch.where(swap, 1 - value, value)
    outside = (a <= 0) | (b <= 0) | (x < 0) | (x > 1)
    return torch.where(outside, torch.nan, value).to(dtype)


def _beta_fraction(a: Any, b: Any, x: Any, accuracy: float) -> Any:
    c = torch.ones_like(x)
    d = (1 - (a + b) * x / (a + 1)).add_(_TINY).reciprocal_()
    value = d.clone()
    for pair in _beta_factors(a, b, x):
        for factor in pair:
            d = (factor * d).add_(1).add_(_TINY).reciprocal_()
            c = (factor / c).add_(1).add_(_TINY)
            change = c * d
            value *= change
        # NaN compares false with everything: what will stay NaN is not waited for.
        if not bool(change.sub_(1).abs_().gt(accuracy).any()):
            break
    return value


def _beta_factors(a: Any, b: Any, x: Any) -> Iterator[tuple[Any, Any]]:
    """The numerators of the continued fraction in pairs, those of a few rounds made at once."""
    rounds = _ROUNDS_AT_ONCE if x.numel() <= _SMALL else 1
    for first in range(1, _MOST_ROUNDS, rounds):
        m = torch.arange(first, first + rounds, dtype=x.dtype, device=x.device)
        m = m.view(-1, *[1] * x.ndim)
        last = a + 2 * m
        even = m * (b - m) * x / ((last - 1) * last)
        odd = (a + m) * (a + b + m) * x / (last * (last + 1)).neg_()
        yield from zip(even.unbind(), odd.unbind(), strict=True)


# ---- gradients ----------------------------------------------------------------------------------


def _igamma_grad(op: Any, grad: Any) -> list[Any]:
    a, x = op.inputs
    first, second = broadcasting.dynamic(a, x)
    with control_dependencies([grad]):
        for_a = make("IgammaGradA", a, x)
        for_x = make("Exp", -x + (a - 1) * make("Log", x) - make("Lgamma", a))
        return [first(for_a * grad), second(for_x * grad)]


def _igammac_grad(op: Any, grad: Any) -> list[Any]:
    for_a, for_x = _igamma_grad(op, grad)
    return [-for_a, -for_x]


def _zeta_grad(op: Any, grad: Any) -> list[Any]:
    x, q = op.inputs
    _, second = broadcasting.dynamic(x, q)
    with control_dependencies([grad]):
        for_q = -x * make("Zeta", x + 1, q)
        return [None, second(for_q * grad)]


def _polygamma_grad(op: Any, grad: Any) -> list[Any]:
    n, x = op.inputs
    _, second = broadcasting.dynamic(n, x)
    with control_dependencies([grad]):
        for_x = make("Polygamma", n + 1, x)
        return [None, second(for_x * grad)]


def _betainc_grad(op: Any, grad: Any) -> list[Any]:
    a, b, x = op.inputs
    _, share = broadcasting.dynamic(a, x)
    log_beta = make("Lgamma", a) + make("Lgamma", b) - make("Lgamma", a + b)
    exponent = (b - 1) * make("Log", 1 - x) + (a - 1) * make("Log", x) - log_beta
    return [None, None, share(make("Exp", exponent) * grad)]


# ---- definitions --------------------------------------------------------------------------------


def _betainc_shape(ctx: ShapeContext) -> Dims:
    """The common shape of the operands that are not scalars."""
    dims: Dims = ()
    for name in ("a", "b", "x"):
        one = ctx[name]
        if one != ():
            dims = one if dims == () else shapes.merge_static(dims, one)
    return dims


for _name, _inputs, _kernel, _gradient, _reason in (
    ("Igamma", "a: T, x: T", _igamma, _igamma_grad, None),
    ("Igammac", "a: T, x: T", _igammac, _igammac_grad, None),
    ("IgammaGradA", "a: T, x: T", _igamma_grad_a, None, "TF has no second derivative of igamma"),
    ("Zeta", "x: T, q: T", "torch.special.zeta({x}, {q})", _zeta_grad, None),
    ("Polygamma", "a: T, x: T", _polygamma, _polygamma_grad, None),
    ("Betainc", "a: T, b: T, x: T", _betainc, _betainc_grad, None),
):
    define_op(
        _name,
        f"{_inputs} -> z: T",
        attrs=[_TYPES],
        shape=_betainc_shape if _name == "Betainc" else broadcast,
        kernel=_kernel,
        gradient=_gradient,
        no_gradient=_reason,
    )


# ---- public functions ---------------------------------------------------------------------------


def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """Lower regularized incomplete gamma function P(a, x); float32 or float64, broadcasting."""
    return _make("Igamma")(a, x, name=name)


def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """Upper regularized incomplete gamma function 1 - P(a, x); float32 or float64, broadcasting."""
    return _make("Igammac")(a, x, name=name)


def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """Hurwitz zeta function, the sum of (q + n)^-x over n; float32 or float64, broadcasting."""
    return _make("Zeta")(x, q, name=name)


def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """Derivative of order ``a`` (a natural number) of digamma at ``x``; NaN for other orders."""
    return _make("Polygamma")(a, x, name=name)


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """Regularized incomplete beta function I_x(a, b); operands are scalars or of one shape."""
    return _make("Betainc")(a, b, x, name=name)


def _make(op_type: str) -> Callable[..., Tensor]:
    def function(*operands: Any, name: str | None) -> Tensor:
        return make(op_type, *operands, name=name)

    return function
