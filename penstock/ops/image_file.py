"""Image files opened, and the kernels that read GIF and BMP; see ``image_codec``.

Pillow opens all but BMP, whose few bytes of header TensorFlow reads in a way of its own.
"""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import torch

from penstock.base import errors
from penstock.formats import gif_layout

_MOST_GIF_VALUES = 1 << 31


def refused(message: str) -> errors.InvalidArgumentError:
    """An image file that cannot be read, or was asked to be what it is not."""
    return errors.InvalidArgumentError(None, None, message)


def contents_of(value: Any) -> bytes:
    """The bytes of a string scalar."""
    if value.shape != ():
        raise refused(f"contents must be a scalar; found shape {list(value.shape)}")
    found: bytes = value.item()
    return found


def opened(contents: bytes, form: str) -> Any:
    """The Pillow image of a file of one format."""
    from PIL import Image

    try:
        return Image.open(io.BytesIO(contents), formats=[form])
    except MemoryError:
        raise
    except Exception as error:  # Pillow meets damage in many ways, and refuses what is too large
        raise refused(
            f"Invalid {form} data, size {len(contents)}: it starts with {contents[:8]!r} ({error})"
        ) from None


def decode_gif(contents: Any) -> Any:
    """The frames of a GIF, [frames, height, width, 3]."""
    from PIL import ImageSequence

    data = contents_of(contents)
    found = gif_layout.layout(data)
    if found.frames * found.height * found.width * 3 > _MOST_GIF_VALUES:
        raise gif_layout.refused(data, f"{found} has too many pixels")
    # Pillow's images are as large as the screen that the file claims.
    screen = struct.pack("<HH", found.width, found.height)
    image = opened(data[:6] + screen + data[10:], "GIF")
    try:
        frames = [np.array(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)]
    except MemoryError:
        raise
    except Exception as error:
        raise gif_layout.refused(data, str(error)) from None
    if len(frames) != found.frames:
        raise gif_layout.refused(data, f"only {len(frames)} of {found.frames} frames are readable")
    return torch.from_numpy(np.stack(frames))


def decode_bmp(contents: Any, channels: int) -> Any:
    """The pixels of a BMP, seen as TensorFlow does: without palettes and compression."""
    data = contents_of(contents)
    if len(data) < 32:
        raise refused(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width,"
            f" height, and bpp, got {len(data)} bytes"
        )
    start, width, height, bits = struct.unpack_from("<i4xii2xh", data, 10)
    found = bits // 8
    if start < 0 or width <= 0 or not height:
        raise refused(
            "header size must be nonnegative, width positive and height not zero; found"
            f" {start}, {width} and {height}"
        )
    if channels not in (0, found):
        raise refused(f"channels attribute {channels} does not match bits per pixel: {bits}")
    if found not in (1, 3, 4):
        raise refused(f"Number of channels must be 1, 3 or 4, was {found}")
    line, rows = (found * width + 3) // 4 * 4, abs(height)
    needed = start + (rows - 1) * line + width * found
    if needed > len(data):
        raise refused(
            f"Incomplete bmp content, requires at least {needed} bytes, got {len(data)} bytes"
        )
    # The last line may lack its padding.
    values = np.frombuffer(data, np.uint8, offset=start)
    places = (line, found, 1)
    pixels = np.lib.stride_tricks.as_strided(values, (rows, width, found), places)
    pixels = pixels if height < 0 else pixels[::-1]
    if found > 1:  # blue, green, red
        pixels = pixels[..., [2, 1, 0, 3][:found]]
    return torch.from_numpy(np.array(pixels))
