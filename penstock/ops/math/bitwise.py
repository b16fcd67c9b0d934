"""Bit patterns of integers: the public names live in ``tf.bitwise``.

Shifts by less than 0 or by the width and more are clamped, as in TF; right shifts of signed
integers copy the sign.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import broadcast
from penstock.ops.array import unsigned

_INTS = "int8, int16, int32, int64, uint8, uint16, uint32, uint64"


def _left_shift(x: Any, y: Any) -> Any:
    signed = unsigned.SIGNED.get(x.dtype, x.dtype)
    return torch.bitwise_left_shift(x.view(signed), _amount(y, signed)).view(x.dtype)


def _right_shift(x: Any, y: Any) -> Any:
    if x.dtype is not torch.uint64:
        wider = unsigned.WIDER.get(x.dtype, x.dtype)
        amount = _amount(y, unsigned.SIGNED.get(x.dtype, x.dtype)).to(wider)
        return torch.bitwise_right_shift(x.to(wider), amount).to(x.dtype)
    value, amount = x.view(torch.int64), _amount(y, torch.int64)
    once = torch.bitwise_right_shift(value, 1) & 0x7FFFFFFFFFFFFFFF
    moved = torch.bitwise_right_shift(once, (amount - 1).clamp_(min=0))
    return torch.where(amount == 0, value, moved).view(torch.uint64)


def _amount(y: Any, signed: Any) -> Any:
    """How far to shift: an unsigned amount too large for the signed type is clamped like others."""
    most = y.dtype.itemsize * 8 - 1
    value = y.view(signed)
    if y.dtype in unsigned.SIGNED:
        value = torch.where(value < 0, most, value)
    return value.clamp(0, most)


for _name, _function in (
    ("BitwiseAnd", "bitwise_and"), ("BitwiseOr", "bitwise_or"), ("BitwiseXor", "bitwise_xor")
):  # fmt: skip
    define_op(
        _name,
        "x: T, y: T -> z: T",
        attrs=[f"T: {{{_INTS}}}"],
        shape=broadcast,
        kernel=f"torch.{_function}({{x}}, {{y}})",
        inplace={"x": f"{{x}}.{_function}_({{y}})", "y": f"{{y}}.{_function}_({{x}})"},
        commutative=True,
        no_gradient="a function of integers",
    )

for _name, _kernel in (("LeftShift", _left_shift), ("RightShift", _right_shift)):
    define_op(
        _name,
        "x: T, y: T -> z: T",
        attrs=[f"T: {{{_INTS}}}"],
        shape=broadcast,
        kernel=_kernel,
        no_gradient="a function of integers",
    )


def bitwise_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Bits set in both; integer tensors of one type, which broadcast."""
    return make("BitwiseAnd", x, y, name=name)


def bitwise_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Bits set in either; integer tensors of one type, which broadcast."""
    return make("BitwiseOr", x, y, name=name)


def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Bits set in one only; integer tensors of one type, which broadcast."""
    return make("BitwiseXor", x, y, name=name)


def invert(x: Any, name: str | None = None) -> Tensor:
    """All bits flipped; an integer tensor."""
    return make("Invert", x, name=name)


def left_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x shifted left by y bits (clamped to the width); integer tensors of one type."""
    return make("LeftShift", x, y, name=name)


def right_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x shifted right by y bits (clamped to the width); integer tensors of one type."""
    return make("RightShift", x, y, name=name)
