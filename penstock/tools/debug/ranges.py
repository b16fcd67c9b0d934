"""What a report says of a tensor's values: shape, range, how many NaN and Inf.

Taken when a value is made and kept in its place, since the program overwrites and frees values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Range:
    """The values of one tensor, in numbers; ``low`` and ``high`` are of the finite ones."""

    dtype: str
    shape: tuple[int, ...]
    count: int
    nans: int = 0
    positive: int = 0
    negative: int = 0
    low: float | None = None
    high: float | None = None

    @property
    def finite(self) -> bool:
        """Whether there is no NaN and no Inf."""
        return not (self.nans or self.positive or self.negative)

    def bad(self) -> str:
        """How many of the elements are NaN, +Inf and -Inf."""
        return (
            f"{self.nans} NaN, {self.positive} +Inf and {self.negative} -Inf of {self.count}"
            f" element{'' if self.count == 1 else 's'}"
        )

    def __str__(self) -> str:
        lead = f"{self.dtype}{list(self.shape)}"
        if self.count == 0:
            return f"{lead}, no elements"
        span = "" if self.low is None else f" from {self.low:.6g} to {self.high:.6g}"
        if self.finite:
            return f"{lead},{span}{', all finite' if self._floating else ''}"
        rest = f"; the finite ones{span}" if span else "; none is finite"
        return f"{lead}, {self.bad()}{rest}"

    @property
    def _floating(self) -> bool:
        return "float" in self.dtype or "complex" in self.dtype


def range_of(value: Any) -> Range | None:
    """The range of a run-time value.

    Args:
      value: a torch tensor, or whatever else a program holds.

    Returns:
      Its range (of a complex tensor, of real and imaginary parts); None for what is no tensor of
      numbers.
    """
    if not isinstance(value, torch.Tensor):
        return None
    shape, kind = tuple(value.shape), str(value.dtype).removeprefix("torch.")
    count = value.numel()
    if count == 0 or value.dtype is torch.bool:
        return Range(kind, shape, count)
    parts = torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
    if not parts.is_floating_point():
        wide = parts.to(torch.int64)
        return Range(kind, shape, count, low=int(wide.min()), high=int(wide.max()))
    low, high = (float(v) for v in torch.aminmax(parts.float() if _narrow(parts) else parts))
    if low - low == 0 == high - high:  # both finite, hence all
        return Range(kind, shape, count, low=low, high=high)
    return _counted(kind, shape, parts)


def _narrow(value: torch.Tensor) -> bool:
    return value.dtype in (torch.float16, torch.bfloat16)


def _counted(kind: str, shape: tuple[int, ...], parts: torch.Tensor) -> Range:
    good = parts[torch.isfinite(parts)]
    return Range(
        kind,
        shape,
        parts.numel(),
        nans=int(torch.isnan(parts).sum()),
        positive=int(torch.isposinf(parts).sum()),
        negative=int(torch.isneginf(parts).sum()),
        low=float(good.min()) if good.numel() else None,
        high=float(good.max()) if good.numel() else None,
    )
