"""Functions of float32 as formulas, in which compiled loops take several numbers at once.

torch's compiler calls a library's ``tanh`` for eight numbers, or sixteen, at 4 ns each, and its
``sigmoid`` takes one; what stands here takes 0.3.  Tests hold the errors: less than six units in
the last place.

Source of the coefficients: of tanh a rational function of x^2 with the least relative error of
tanh(x) / x up to 9, from where on it is 1 in float32, found by weighted least squares; of exp its
series.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

_LARGE = 9.0
# By rising powers of x^2.
_ABOVE = (
    1.0, 0.13680855929851532, 0.0038695065304636955, 2.8031281544826925e-05, 3.0642464565744376e-08,
    -1.2246204050825327e-11,
)  # fmt: skip
_BELOW = (
    1.0, 0.4701418876647949, 0.027250150218605995, 0.0003940710739698261, 1.2890330935988459e-06,
)  # fmt: skip


def tanh(x: Any) -> Any:
    """The hyperbolic tangent; of other types than float32 as torch has it.

    >>> tanh(torch.tensor([0.5, -20.0])).tolist() == torch.tensor([0.5, -20.0]).tanh().tolist()
    True
    """
    if x.dtype is not torch.float32:
        return NotImplemented
    bounded = x.clamp(-_LARGE, _LARGE)
    square = bounded * bounded
    found = bounded * _polynomial(square, _ABOVE) / _polynomial(square, _BELOW)
    return found.clamp(-1.0, 1.0)


# Where exp is 0 and infinite in float32.
_LEAST, _MOST = -104.0, 89.0
_LOG2_E = 1.4426950408889634
# log(2) in two parts: whole numbers up to 150 times the first are exact in float32.
_LOG_2, _REST = 0.693359375, -2.12194440e-4
_SERIES = (1.0, 1.0, 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720)
# Of float32's exponent: what is added to it, and where it lies.
_BIAS, _PLACE = 127, 23


def sigmoid(x: Any) -> Any:
    """The logistic function; of other types than float32 as torch has it."""
    return 1.0 / (1.0 + _exp(-x)) if x.dtype is torch.float32 else NotImplemented


def _exp(x: Any) -> Any:
    bounded = x.clamp(_LEAST, _MOST)
    whole = torch.round(bounded * _LOG2_E)
    found = _polynomial(bounded - whole * _LOG_2 - whole * _REST, _SERIES)
    # By two powers of two: one alone would not reach the ends.
    power = whole.to(torch.int32)
    half = power >> 1
    return found * _power_of_two(half) * _power_of_two(power - half)


def _power_of_two(power: Any) -> Any:
    return ((power + _BIAS) << _PLACE).view(torch.float32)


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    found = coefficients[-1] * x + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        found = found * x + coefficient
    return found


def _in_place(formula: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decomposed(x: Any) -> Any:
        found = formula(x)
        return found if found is NotImplemented else x.copy_(found)

    return decomposed


# What operators of a traced graph are replaced by.
FORMULAS = {
    torch.ops.aten.tanh.default: tanh,
    torch.ops.aten.tanh_.default: _in_place(tanh),
    torch.ops.aten.sigmoid.default: sigmoid,
    torch.ops.aten.sigmoid_.default: _in_place(sigmoid),
}
