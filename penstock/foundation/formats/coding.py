"""Numbers and strings as bytes: varints, and LevelDB-like keys whose byte order is their own order.

Source: protobuf's varints; TensorFlow's ordered code, by which the keys of slices are made.
"""

from __future__ import annotations

import re

_VARINT_BYTES = 10
_SIXTY_FOUR_BITS = 1 << 64


def varint(value: int) -> bytes:
    """A non-negative number as a varint.

    >>> varint(300).hex()
    'ac02'
    """
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The varint at `at`, and where what follows begins.

    Raises:
      ValueError: the data ends within it, or it has more than 64 bits.

    >>> read_varint(varint(300) + b"x", 0)
    (300, 2)
    """
    value = 0
    for position in range(at, min(at + _VARINT_BYTES, len(data))):
        byte = data[position]
        value |= (byte & 0x7F) << (7 * (position - at))
        if byte < 0x80:
            if value >= _SIXTY_FOUR_BITS:
                break
            return value, position + 1
    raise ValueError(f"no varint at byte {at} of {len(data)}")


def read_varints(data: bytes, count: int) -> tuple[list[int], int]:
    """`count` varints from the front of `data`, and where what follows begins.

    Raises:
      ValueError: there are not so many.
    """
    values = []
    at = 0
    for _ in range(count):
        # Almost all lengths of strings take one byte.
        if at < len(data) and data[at] < 0x80:
            values.append(data[at])
            at += 1
        else:
            value, at = read_varint(data, at)
            values.append(value)
    return values, at


def ordered_number(value: int) -> bytes:
    """A non-negative number: how many bytes, then the bytes, the highest first."""
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


def ordered_string(text: bytes) -> bytes:
    """A string with a mark behind it that sorts before all its continuations."""
    return re.sub(b"[\0\xff]", lambda at: at[0] + bytes([at[0][0] ^ 0xFF]), text) + b"\0\x01"


def ordered_signed(value: int) -> bytes:
    """A signed number: as many leading ones as it has bytes, inverted where it is negative.

    >>> ordered_signed(-1).hex(), ordered_signed(0).hex(), ordered_signed(64).hex()
    ('7f', '80', 'c040')
    """
    magnitude = ~value if value < 0 else value
    size = 1
    while magnitude >= 1 << (7 * size - 1):
        size += 1
    header = ((1 << size) - 1) << (7 * size)
    bits = 8 * size
    return ((value & ((1 << bits) - 1)) ^ header).to_bytes(size, "big")
