"""CRC-32C as TensorFlow's files hold it: masked, so that a CRC of data with CRCs in it is sound.

Source: the Castagnoli polynomial by the ``crc32c`` package; LevelDB's masking (rotate right by 15
bits, add a constant).
"""

from __future__ import annotations

import crc32c as _crc32c

Bytes = bytes | bytearray | memoryview

_DELTA = 0xA282EAD8
_ALL = 0xFFFFFFFF


def extend(crc: int, data: Bytes) -> int:
    """The CRC of what `crc` covers with `data` behind it; 0 is the CRC of nothing."""
    return _crc32c.crc32c(data, crc)


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
