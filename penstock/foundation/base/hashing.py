"""MurmurHash64A with TensorFlow's seed: the buckets of strings that graphs and files rely on."""

from __future__ import annotations

_MASK = (1 << 64) - 1
_MULTIPLIER = 0xC6A4A7935BD1E995
_SEED = 0xDECAFCAFFE


def murmur64(data: bytes) -> int:
    """The hash of a string, an unsigned integer of 64 bits."""
    made = (_SEED ^ (len(data) * _MULTIPLIER)) & _MASK
    whole = len(data) & ~7
    for start in range(0, whole, 8):
        word = int.from_bytes(data[start : start + 8], "little") * _MULTIPLIER & _MASK
        word = (word ^ (word >> 47)) * _MULTIPLIER & _MASK
        made = (made ^ word) * _MULTIPLIER & _MASK
    if whole < len(data):
        made = (made ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    made = (made ^ (made >> 47)) * _MULTIPLIER & _MASK
    return made ^ (made >> 47)
