"""Decoding of snappy blocks, which are what TensorFlow's V1 checkpoints hold.

Source: the format description of the snappy project.
"""

from __future__ import annotations

from penstock.foundation.formats.coding import read_varint

# A copy of two bytes makes at most 11, one of three bytes at most 64.
MOST_PER_BYTE = 22
_SHORT_LITERAL = 60


def decompress(data: bytes) -> bytes:
    """The content of one snappy block.

    Raises:
      ValueError: it is not one.

    >>> decompress(bytes([9, 2 << 2]) + b"abc" + bytes([2 | 5 << 2, 3, 0]))
    b'abcabcabc'
    """
    size, at = read_varint(data, 0)
    if size > MOST_PER_BYTE * len(data):
        raise ValueError(f"a snappy block of {len(data)} bytes cannot hold {size}")
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            length, at = _literal(data, tag, at)
            out += data[at : at + length]
            at += length
            continue
        length, offset, at = _copy(data, tag, at)
        if not 0 < offset <= len(out):
            raise ValueError(f"a snappy copy goes back {offset} bytes of {len(out)}")
        start = len(out) - offset
        if offset >= length:
            out += out[start : start + length]
        else:  # a copy that reaches into what it writes repeats its source
            out += (out[start:] * (length // offset + 1))[:length]
    if len(out) != size or at != len(data):
        raise ValueError(f"a snappy block has {len(out)} bytes where it says {size}")
    return bytes(out)


def _literal(data: bytes, tag: int, at: int) -> tuple[int, int]:
    length = (tag >> 2) + 1
    if length > _SHORT_LITERAL:
        extra = length - _SHORT_LITERAL
        length = int.from_bytes(data[at : at + extra], "little") + 1
        at += extra
    return length, at


def _copy(data: bytes, tag: int, at: int) -> tuple[int, int, int]:
    """Length and offset of a copy, and where the next tag stands."""
    kind = tag & 3
    extra = (0, 1, 2, 4)[kind]
    offset = int.from_bytes(data[at : at + extra], "little")
    if kind == 1:
        return ((tag >> 2) & 7) + 4, (tag >> 5) << 8 | offset, at + extra
    return (tag >> 2) + 1, offset, at + extra
