"""What the integers of a quantized tensor stand for: floats evenly spaced between two ends.

A quantized tensor comes with two float scalars.  The least integer of its type stands for the lower
end, the greatest for the upper one; 0.0 falls on one of the steps between, for the lower end is
taken for the nearest multiple of a step.  Kernels that keep the rule compute with float32 where
TensorFlow does, and with doubles where it does, operation by operation: results are the same
integers.

Rounding is half away from zero, as C's ``round``; ATen's and Python's is half to even.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base.errors import invalid

F32 = np.float32
_ALMOST_HALF = torch.tensor(float(np.nextafter(F32(0.5), F32(0))))
# The ends of int32 as floats that can be made int32 again.
_LEAST, _GREATEST = -2147483648.0, 2147483520.0


def limits(dtype: torch.dtype) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    info = torch.iinfo(dtype)
    return info.min, info.max


def end(value: Any) -> np.float32:
    """An end of a range, given as a scalar (or, by old graphs, as a vector of one)."""
    while isinstance(value, list):
        if len(value) != 1:
            raise invalid(f"an end of a range must be a scalar; found {len(value)} elements")
        value = value[0]
    return F32(value)


def ends(like: torch.Tensor, *values: Any) -> tuple[torch.Tensor, ...]:
    """Ends of a range as tensors beside ``like``."""
    return tuple(torch.tensor(float(v), dtype=torch.float32, device=like.device) for v in values)


def rounded(x: torch.Tensor) -> torch.Tensor:
    """The nearest integers of float32 numbers, halves away from zero."""
    return torch.trunc(x + torch.copysign(_ALMOST_HALF.to(x.device), x))


def round_number(x: Any) -> float:
    """The same of one number."""
    size = abs(float(x))
    whole = math.floor(size)
    return math.copysign(whole + (size - whole >= 0.5), x)


def _steps(dtype: torch.dtype) -> float:
    return float(1 << (8 * dtype.itemsize))


# ---- tensors -------------------------------------------------------------------------------------


def to_float(values: torch.Tensor, low: np.float32, high: np.float32) -> torch.Tensor:
    """The floats that integers stand for."""
    least = F32(limits(values.dtype)[0])
    scale = F32(float(high - low) / (_steps(values.dtype) - 1.0))
    first = low if low == high else F32(round_number(low / scale)) * scale
    return float(first - least * scale) + values.to(torch.float32) * float(scale)


def from_float(
    x: torch.Tensor, low: np.float32, high: np.float32, dtype: torch.dtype
) -> torch.Tensor:
    """The integers of a type that stand for float32 numbers, or for the nearest end."""
    least, greatest = limits(dtype)
    scale = F32(0.0 if low == high else (_steps(dtype) - 1.0) / float(high - low))
    first = F32(round_number(low * scale)) - F32(least)
    places = rounded(x * float(scale)) - float(first)
    places = places.clamp(max(float(least), _LEAST), min(float(greatest), _GREATEST))
    return places.to(torch.int32).to(dtype)


def requantized(
    values: torch.Tensor,
    given: tuple[np.float32, np.float32],
    wanted: tuple[np.float32, np.float32],
    dtype: torch.dtype,
) -> torch.Tensor:
    """Integers of one range as those of another range and type."""
    if (values.dtype, dtype) == (torch.int32, torch.uint8):
        return _narrowed(values, given, wanted)
    return from_float(to_float(values, *given), *wanted, dtype)


# Bits behind the point, where 32 bits become 8.
_POINT = 16


def _narrowed(
    values: torch.Tensor,
    given: tuple[np.float32, np.float32],
    wanted: tuple[np.float32, np.float32],
) -> torch.Tensor:
    """int32 as uint8, in fixed point of 64 bits: multiplied, shifted, rounded half up.

    Where the new range is so much narrower that the product has more bits, it wraps.
    """
    width, new_width = given[1] - given[0], wanted[1] - wanted[0]
    scale = offset = new_offset = 0
    if new_width:
        scale = int(255.0 * (1 << _POINT) * float(width) / float(new_width))
        middle = F32(float(given[0] + given[1]) / 2.0)
        offset = int(middle * F32(255.0 / float(new_width)) * F32(1 << _POINT))
        new_offset = int((1 << _POINT) * (float(wanted[0]) * 255.0) / float(new_width))
    rounding = 1 << (_POINT - 1)
    places = ((values.to(torch.int64) * scale) >> 32) + (offset - new_offset + rounding)
    return (places >> _POINT).clamp(0, 255).to(torch.uint8)


# ---- numbers -------------------------------------------------------------------------------------


def unclamped(x: Any, low: np.float32, high: np.float32, dtype: torch.dtype) -> int:
    """The integer that stands for a number, were the type without ends."""
    least = limits(dtype)[0]
    if low == high:
        return least
    steps = _steps(dtype)
    scale = steps / (float(high - low) * (steps / (steps - 1.0)))
    return int(round_number(float(x) * scale) - round_number(float(low) * scale)) + least


def quantized(x: Any, low: np.float32, high: np.float32, dtype: torch.dtype) -> int:
    """The integer of a type that stands for a number, or for the nearest end."""
    least, greatest = limits(dtype)
    return min(max(unclamped(x, low, high, dtype), least), greatest)


def number(value: int, low: np.float32, high: np.float32, dtype: torch.dtype) -> np.float32:
    """The number that an integer of a type stands for."""
    if low == high:
        return low
    steps = _steps(dtype)
    scale = float(high - low) * (steps / (steps - 1.0)) / steps
    single = F32(scale)
    first = F32(round_number(low / single)) * single
    return F32(float(first) + (float(value) - limits(dtype)[0]) * scale)


def number_tensor(values: torch.Tensor, low: np.float32, high: np.float32) -> torch.Tensor:
    """``number`` of each element, computed in doubles, as float32."""
    if low == high:
        return torch.full(values.shape, float(low), device=values.device)
    least, steps = limits(values.dtype)[0], _steps(values.dtype)
    scale = float(high - low) * (steps / (steps - 1.0)) / steps
    single = F32(scale)
    first = float(F32(round_number(low / single)) * single)
    return (first + (values.to(torch.float64) - least) * scale).to(torch.float32)


def quantized_tensor(
    x: torch.Tensor, low: np.float32, high: np.float32, dtype: torch.dtype
) -> torch.Tensor:
    """``quantized`` of each element."""
    least, greatest = limits(dtype)
    if low == high:
        return torch.full(x.shape, least, dtype=dtype, device=x.device)
    steps = _steps(dtype)
    scale = steps / (float(high - low) * (steps / (steps - 1.0)))
    places = x.to(torch.float64) * scale
    # Ties go away from zero, and nothing else is touched.
    places = torch.where(places.frac().abs() == 0.5, places + 0.5 * places.sign(), places.round())
    places = places - round_number(float(low) * scale) + least
    return places.clamp(least, greatest).to(torch.int64).to(dtype)


def requantized_exactly(
    values: torch.Tensor,
    given: tuple[np.float32, np.float32],
    wanted: tuple[np.float32, np.float32],
    dtype: torch.dtype,
) -> torch.Tensor:
    """``requantized`` with doubles in both steps, as kernels that go element by element have it."""
    return quantized_tensor(number_tensor(values, *given), *wanted, dtype)


# ---- ranges of results ---------------------------------------------------------------------------


def of_sum(
    one: tuple[np.float32, np.float32], other: tuple[np.float32, np.float32], headroom: int
) -> tuple[np.float32, np.float32]:
    """The range of a sum: symmetrical, so that zero and zero make zero, and ``headroom`` bits wider
    than the wider of both."""
    high = max(one[1], -one[0], other[1], -other[0]) * F32(1 << headroom)
    return -high, high


def of_product(
    one: tuple[np.float32, np.float32],
    other: tuple[np.float32, np.float32],
    types: tuple[torch.dtype, torch.dtype, torch.dtype],
) -> tuple[np.float32, np.float32]:
    """The range of a product of two types in a third: a step of it is a step times a step."""
    size = _one_step(one, types[0]) * _one_step(other, types[1])
    least, greatest = limits(types[2])
    return size * F32(least), size * F32(greatest)


def _one_step(pair: tuple[np.float32, np.float32], dtype: torch.dtype) -> np.float32:
    least, greatest = limits(dtype)
    return (pair[1] - pair[0]) / F32(greatest - least)
