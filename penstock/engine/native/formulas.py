"""Functions of float32 as formulas, in which compiled loops take several numbers at once.

torch's compiler calls a library's ``tanh`` for eight numbers, or sixteen, at 4 ns each; what stands
here takes 0.3.  Tests hold its errors: less than six units in the last place.

Source of the coefficients: a rational function of x^2 with the least relative error of tanh(x) / x
up to 9, from where on tanh is 1 in float32, found by weighted least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    found = coefficients[-1] * x + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        found = found * x + coefficient
    return found


def _tanh_in_place(x: Any) -> Any:
    found = tanh(x)
    return found if found is NotImplemented else x.copy_(found)


# What operators of a traced graph are replaced by.
FORMULAS = {torch.ops.aten.tanh.default: tanh, torch.ops.aten.tanh_.default: _tanh_in_place}
