"""uint16, uint32 and uint64, for which ATen has few kernels, over the memory of signed integers.

Sums, products and bit patterns are the same for signed and unsigned integers of one width, so these
ops run on a signed view of the memory and wrap as TF's do.  What depends on order or quotient runs
in a wider type (uint16, uint32) or on values shifted by half the range (uint64).

``inline`` of the ops that use this module writes the plain ATen call for all other dtypes, so only
these three pay for the detour.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from penstock.foundation.base import dtypes

SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
WIDER = {torch.uint16: torch.int32, torch.uint32: torch.int64}
# Dtypes of which plain ATen source is not written: these three, and strings, which are NumPy's.
INDIRECT = frozenset((dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.quint16, dtypes.string))
_LEAST = -(1 << 63)
# Unsigned types for which ATen has storage but no arithmetic.
BARE_UNSIGNED = tuple(SIGNED)


def wrapping(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A binary kernel for functions that do not tell signed from unsigned."""

    def kernel(x: Any, y: Any) -> Any:
        signed = SIGNED.get(x.dtype)
        if signed is None:
            return function(x, y)
        return function(x.view(signed), y.view(signed)).view(x.dtype)

    kernel.__name__ = f"_{name}"
    return kernel


def ordered(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A binary kernel for comparisons."""

    def kernel(x: Any, y: Any) -> Any:
        if x.dtype is torch.uint64:
            return function(x.view(torch.int64) ^ _LEAST, y.view(torch.int64) ^ _LEAST)
        wider = WIDER.get(x.dtype)
        return function(x, y) if wider is None else function(x.to(wider), y.to(wider))

    kernel.__name__ = f"_{name}"
    return kernel


def widened(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A binary kernel that computes in a wider type and casts back (uint16, uint32)."""

    def kernel(x: Any, y: Any) -> Any:
        wider = WIDER.get(x.dtype)
        return function(x, y) if wider is None else function(x.to(wider), y.to(wider)).to(x.dtype)

    kernel.__name__ = f"_{name}"
    return kernel


def direct(source: str, operand: str = "x") -> Callable[[Any], str | None]:
    """An ``inline`` that writes ``source`` unless the dtype needs the kernel function."""

    def inline(call: Any) -> str | None:
        if call.dtype(operand) in INDIRECT:
            return None
        return source.format(**call.arg)

    return inline


def direct_inplace(source: str) -> Callable[[Any], str | None]:
    """An ``inplace`` entry that applies unless the dtype needs the kernel function."""

    def choose(op: Any) -> str | None:
        return None if op.outputs[0].dtype.base_dtype in INDIRECT else source

    return choose


def to_ordered_int64(x: torch.Tensor) -> torch.Tensor:
    """Unsigned values as int64 in the same order (uint64 is shifted by half its range)."""
    wide = x.to(torch.int64)
    return wide ^ _LEAST if x.dtype is torch.uint64 else wide


def from_ordered_int64(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Inverse of ``to_ordered_int64``."""
    return (x ^ _LEAST if dtype is torch.uint64 else x).to(dtype)
