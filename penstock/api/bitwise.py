"""``tf.bitwise``: bit operations; explicit re-exports, no logic."""

from penstock.ragged_tensors.dispatched import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    invert,
    left_shift,
    right_shift,
)

__all__ = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
]
