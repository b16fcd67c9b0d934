"""Kernels that only move elements, run for unsigned integers on a signed view of their memory.

ATen has few kernels for uint16, uint32 and uint64; where elements are moved and not looked at, the
signed kernels of the same width do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from penstock.ops.array.unsigned import SIGNED

_UNSIGNED = {signed: unsigned for unsigned, signed in SIGNED.items()}


def _signed(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.contiguous().view(SIGNED[value.dtype]) if value.dtype in SIGNED else value
    return [_signed(v) for v in value] if isinstance(value, list) else value


def _is_unsigned(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_unsigned(value[0])
    return isinstance(value, torch.Tensor) and value.dtype in SIGNED


def moving(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """``kernel`` with its unsigned inputs, and the one output, seen as signed while it runs."""

    @functools.wraps(kernel)
    def run(*args: Any) -> Any:
        for value in args:
            if _is_unsigned(value):
                break
        else:
            return kernel(*args)
        result = kernel(*[_signed(a) for a in args])
        return result.view(_UNSIGNED[result.dtype])

    return run
