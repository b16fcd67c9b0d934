"""GIF files as blocks: how large the frames are, and whether the file is whole.

TensorFlow's images are as large as the largest frame, whatever the screen is that the file claims;
a file without its trailer is refused.  Both are known from the blocks alone, before any memory is
taken for pixels.

Source: the GIF89a specification: blocks and sub-blocks; a code of LZW has up to 12 bits and stands
for fewer than 4,096 pixels.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from penstock.foundation.base import errors

_MAGIC = (b"GIF87a", b"GIF89a")
_MOST_PIXELS_A_BYTE = 4096 * 8 // 12
_EXTENSION, _IMAGE, _TRAILER = 0x21, 0x2C, 0x3B


class Layout(NamedTuple):
    """The frames of a file.

    Attributes:
      frames: how many.
      width, height: of the largest, in pixels.
    """

    frames: int
    width: int
    height: int


def refused(contents: bytes, what: str) -> errors.InvalidArgumentError:
    """The error for a damaged file."""
    return errors.invalid(f"Invalid GIF data (size {len(contents)}): {what}")


def _sub_blocks(contents: bytes, position: int) -> tuple[int, int]:
    """Where the sub-blocks that begin at a place end, and how many bytes they hold."""
    held = 0
    while size := contents[position]:
        held += size
        position += 1 + size
    return position + 1, held


def layout(contents: bytes) -> Layout:
    """The frames of a file.

    Raises:
      InvalidArgumentError: the file is damaged; with the offset.

    >>> layout(b"GIF89a")
    Traceback (most recent call last):
    penstock.foundation.base.errors.InvalidArgumentError: Invalid GIF data (size 6): truncated at 6
    """
    if not contents.startswith(_MAGIC):
        raise refused(contents, f"it starts with {contents[:6]!r}")
    try:
        return _layout(contents)
    except (IndexError, struct.error):
        raise refused(contents, f"truncated at {len(contents)}") from None


def _colors(flags: int) -> int:
    """The bytes of a colour table."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _layout(contents: bytes) -> Layout:
    frames, width, height = 0, 0, 0
    position = 13 + _colors(contents[10])
    while (kind := contents[position]) != _TRAILER:
        start = position
        if kind == _EXTENSION:
            position = _sub_blocks(contents, position + 2)[0]
            continue
        if kind != _IMAGE:
            raise refused(contents, f"there is no block {kind:#04x}, found at {position}")
        wide, high, flags = struct.unpack_from("<HHB", contents, position + 5)
        position, held = _sub_blocks(contents, position + 11 + _colors(flags))
        if wide * high > _MOST_PIXELS_A_BYTE * held:
            raise refused(
                contents, f"{held} bytes are too few for the frame at {start} of {wide} x {high}"
            )
        frames, width, height = frames + 1, max(width, wide), max(height, high)
    if not width or not height:
        raise refused(contents, f"{frames} frame(s), the largest of {width} x {height}")
    return Layout(frames, width, height)
