"""CRC-32C as TensorFlow's files hold it: masked, so that a CRC of data with CRCs in it is sound.

Source: the Castagnoli polynomial by the ``crc32c`` package; LevelDB's masking (rotate right by 15
bits, add a constant).
"""

from __future__ import annotations

import crc32c as _crc32c

Bytes = bytes | bytearray | memoryview

# The polynomial with its lowest power in the highest bit.
_POLYNOMIAL = 0x82F63B78
_DELTA = 0xA282EAD8
_ALL = 0xFFFFFFFF


def extend(crc: int, data: Bytes) -> int:
    """The CRC of what `crc` covers with `data` behind it; 0 is the CRC of nothing."""
    return _crc32c.crc32c(data, crc)


def combine(first: int, second: int, length: int) -> int:
    """The CRC of two pieces of data one behind the other, from the CRC of each.

    Args:
      first: the CRC of the first piece.
      second: the CRC of the second piece.
      length: the size of the second piece in bytes.

    >>> combine(extend(0, b"pen"), extend(0, b"stock"), 5) == extend(0, b"penstock")
    True
    """
    # Data behind a piece multiplies its remainder by x, once a bit: here by repeated squaring.
    power = 1 << 23  # x ** 8: one byte
    while length:
        if length & 1:
            first = _product(first, power)
        power = _product(power, power)
        length >>= 1
    return first ^ second


def _product(a: int, b: int) -> int:
    """The product of two polynomials modulo that of the CRC."""
    result = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            result ^= b
        b = b >> 1 ^ (_POLYNOMIAL if b & 1 else 0)
    return result


def mask(crc: int) -> int:
    """The form in which a CRC is stored.

    >>> hex(unmask(mask(0x12345678)))
    '0x12345678'
    """
    return (((crc >> 15) | (crc << 17)) + _DELTA) & _ALL


def unmask(masked: int) -> int:
    """The inverse of `mask`."""
    rotated = (masked - _DELTA) & _ALL
    return ((rotated >> 17) | (rotated << 15)) & _ALL


def masked_crc32c(data: Bytes) -> int:
    """The masked CRC-32C of `data`.

    >>> hex(masked_crc32c(b"penstock")) == hex(mask(extend(extend(0, b"pen"), b"stock")))
    True
    """
    return mask(extend(0, data))
