"""PNG files as chunks: what TensorFlow refuses of a damaged file, and Pillow would let pass.

Checked before any memory is taken for pixels: the chunks up to IEND are whole, those that are
needed have the CRC that is written behind them, and there is enough data for the size that the
header claims (deflate makes data at most 1032 times as small).

Source: the PNG specification: chunks, critical chunks, scan lines.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from penstock.foundation.base import errors

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Samples a pixel, by colour type.
_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_MOST_DEFLATED = 1032
_HEADER = ">IIBBBBB"


class Header(NamedTuple):
    """What the first chunk says.

    Attributes:
      width, height: in pixels.
      bits: of a sample.
      color: the colour type.
      compression, filtering: 0.
      interlaced: 0 or 1.
    """

    width: int
    height: int
    bits: int
    color: int
    compression: int
    filtering: int
    interlaced: int


def refused(contents: bytes, what: str) -> errors.InvalidArgumentError:
    """The error for a damaged file."""
    return errors.invalid(f"Invalid PNG data, size {len(contents)}: {what}")


def _chunks(contents: bytes) -> Iterator[tuple[bytes, memoryview]]:
    position, view = len(SIGNATURE), memoryview(contents)
    kind = b""
    while kind != b"IEND":
        if position + 12 > len(contents):
            raise refused(contents, f"truncated at {position}, where a chunk should be")
        size, kind = struct.unpack_from(">I4s", contents, position)
        end = position + 12 + size
        if end > len(contents):
            raise refused(contents, f"chunk {kind!r} at {position} has {size} bytes: truncated")
        needed = not kind[0] & 0x20  # a capital letter: readers must know the chunk
        (stored,) = struct.unpack_from(">I", contents, end - 4)
        if needed and stored != zlib.crc32(view[position + 4 : end - 4]):
            raise refused(contents, f"chunk {kind!r} at {position} has a wrong CRC")
        yield kind, view[position + 8 : end - 4]
        position = end


def checked(contents: bytes) -> tuple[Header, list[memoryview]]:
    """The header, and the parts of the compressed pixels.

    Raises:
      InvalidArgumentError: the file is damaged; with the offset.

    >>> checked(SIGNATURE)
    Traceback (most recent call last):
    penstock.foundation.base.errors.InvalidArgumentError: Invalid PNG data, size 8: truncated ...
    """
    if not contents.startswith(SIGNATURE):
        raise refused(contents, f"it starts with {contents[:8]!r}")
    header: Header | None = None
    packed = []
    for kind, data in _chunks(contents):
        if header is None:
            if kind != b"IHDR" or len(data) != struct.calcsize(_HEADER):
                raise refused(contents, f"the first chunk is {kind!r} of {len(data)} bytes")
            header = Header(*struct.unpack(_HEADER, data))
        elif kind == b"IDAT":
            packed.append(data)
    if header is None or not header.width or not header.height or header.color not in _SAMPLES:
        raise refused(contents, f"there can be no such image: {header}")
    bits = header.width * _SAMPLES[header.color] * header.bits
    needed = header.height * (1 + (bits + 7) // 8)
    found = sum(map(len, packed))
    # The interlaced have more lines, each with a byte of its own: a little more data.
    if needed > _MOST_DEFLATED * found:
        raise refused(
            contents,
            f"{found} bytes of compressed pixels are too few for {header.width} x"
            f" {header.height} pixels",
        )
    return header, packed
