"""The losses that dual coordinate ascent knows: of one example, in its score and its dual variable.

An example with label ``y``, weight ``c``, score ``s`` (its features times the shrunk weights) and
dual variable ``a`` has the primal loss ``c * f(s)`` and the dual loss ``c * f*(-a)``.  A step moves
``a`` to where the dual objective is largest along it.  How far that is depends on the ``pull``: by
how much the score grows with ``a``, which is the example's squared norm over l2, times its weight
and the number of partitions that move the weights at once.

Source: Shalev-Shwartz and Zhang, Stochastic Dual Coordinate Ascent Methods for Regularized Loss
Minimization; the closed forms and Newton's steps are TensorFlow 1.15's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from penstock.foundation.base.errors import invalid

Number = np.float64
_NEWTON_STEPS = 10  # it doubles the digits each time
_LARGEST = np.finfo(np.float64).max
_ZERO, _ONE = np.float64(0), np.float64(1)


class Loss(NamedTuple):
    """One loss: functions of numbers, each without the example's weight."""

    label: Callable[[Number], Number]  # what is computed with, of what the user gave
    dual: Callable[[Number, Number, Number, Number], Number]  # of (y, a, s, pull): the new ``a``
    primal_loss: Callable[[Number, Number], Number]  # of (y, s)
    dual_loss: Callable[[Number, Number], Number]  # of (y, a)
    slope: Callable[[Number, Number], Number]  # derivative of the primal loss by the score
    smoothness: float  # adaptive sampling adds that many l2 to an example's squared norm


def _any(label: Number) -> Number:
    return label


def _sign(label: Number) -> Number:
    if label not in (0, 1):
        raise invalid(
            "Only labels of 0.0 or 1.0 are supported right now. Found example with label:"
            f" {label:g}"
        )
    return _ONE if label else -_ONE


def _count(label: Number) -> Number:
    if label < 0:
        raise invalid(
            "Only non-negative labels can be used with the Poisson log loss. Found example with"
            f" label: {label:g}"
        )
    return label


# ---- (s - y)^2 / 2 -------------------------------------------------------------------------------


def _squared_dual(y: Number, a: Number, s: Number, pull: Number) -> Number:
    return a + (y - a - s) / (1 + pull)


_squared = Loss(
    label=_any,
    dual=_squared_dual,
    primal_loss=lambda y, s: 0.5 * (s - y) ** 2,
    dual_loss=lambda y, a: a * (0.5 * a - y),
    slope=lambda y, s: s - y,
    smoothness=1,
)


# ---- log(1 + exp(-y s)) --------------------------------------------------------------------------


def _logistic_dual(y: Number, a: Number, s: Number, pull: Number) -> Number:
    """With ``a = (1 + tanh x) / 2y``, which keeps ``y a`` in [0, 1], by Newton's steps in x."""
    x = _ZERO
    for _ in range(_NEWTON_STEPS):
        t = np.tanh(x)
        value = -2 * y * x - s - pull * (0.5 * (1 + t) / y - a)
        x = x - value / (-2 * y - pull * (1 - t * t) * 0.5 / y)
    return 0.5 * (1 + np.tanh(x)) / y


def _logistic(y: Number, s: Number) -> Number:
    margin = y * s
    return np.log1p(np.exp(-margin)) if margin > 0 else np.log1p(np.exp(margin)) - margin


def _negative_entropy(y: Number, a: Number) -> Number:
    parts = (y * a, 1 - y * a)
    return sum((p * np.log(p) if p > 0 else _ZERO for p in parts), _ZERO)


_logistic_loss = Loss(
    label=_sign,
    dual=_logistic_dual,
    primal_loss=_logistic,
    dual_loss=_negative_entropy,
    slope=lambda y, s: -y / (1 + np.exp(y * s)),
    smoothness=4,
)


# ---- max(0, 1 - y s), and its corner rounded -----------------------------------------------------


def _boxed(y: Number, a: Number) -> Number:
    """The nearest ``a`` with ``y a`` in [0, 1]."""
    if y * a < 0:
        return _ZERO
    return y if y * a > 1 else a


def _outside(y: Number, a: Number) -> bool:
    return y * a < 0 or y * a > 1  # and NaN is not


def _hinge_dual(y: Number, a: Number, s: Number, pull: Number) -> Number:
    return _boxed(y, a + (y - s) / pull)


def _smooth_hinge_dual(y: Number, a: Number, s: Number, pull: Number) -> Number:
    return _boxed(y, a + (y - s - a) / (pull + 1))


def _hinge_dual_loss(y: Number, a: Number) -> Number:
    return _LARGEST if _outside(y, a) else -y * a


def _smooth_hinge_dual_loss(y: Number, a: Number) -> Number:
    return _LARGEST if _outside(y, a) else -y * a + 0.5 * a * a


def _smooth_hinge(y: Number, s: Number) -> Number:
    gap = 1 - y * s
    if gap <= 0:
        return _ZERO
    return gap - 0.5 if gap >= 1 else 0.5 * gap * gap


_hinge_loss = Loss(
    label=_sign,
    dual=_hinge_dual,
    primal_loss=lambda y, s: max(_ZERO, 1 - y * s),
    dual_loss=_hinge_dual_loss,
    slope=lambda y, s: -y if y * s < 1 else _ZERO,
    smoothness=0,
)

_smooth_hinge_loss = Loss(
    label=_sign,
    dual=_smooth_hinge_dual,
    primal_loss=_smooth_hinge,
    dual_loss=_smooth_hinge_dual_loss,
    slope=lambda y, s: -y * min(max(1 - y * s, _ZERO), _ONE),
    smoothness=1,
)


# ---- exp(s) - y s --------------------------------------------------------------------------------


def _poisson_dual(y: Number, a: Number, s: Number, pull: Number) -> Number:
    """With ``a = y - exp x``, which keeps it below ``y``, by Newton's steps in x."""
    x = np.log(y - a) if y > a else _ZERO
    for _ in range(_NEWTON_STEPS):
        e = np.exp(x)
        x = x - (x - s - pull * (y - a - e)) / (1 + pull * e)
    return y - np.exp(x)


def _poisson_dual_loss(y: Number, a: Number) -> Number:
    below = y - a
    if below == 0:
        return _ZERO
    return _LARGEST if below < 0 else below * (np.log(below) - 1)


_poisson = Loss(
    label=_count,
    dual=_poisson_dual,
    primal_loss=lambda y, s: np.exp(s) - s * y,
    dual_loss=_poisson_dual_loss,
    slope=lambda y, s: np.exp(s) - y,
    smoothness=1,
)

LOSSES = {
    "logistic_loss": _logistic_loss,
    "squared_loss": _squared,
    "hinge_loss": _hinge_loss,
    "smooth_hinge_loss": _smooth_hinge_loss,
    "poisson_loss": _poisson,
}
