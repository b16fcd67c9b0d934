"""Image files opened: what reads JPEG, GIF and BMP; see ``image_codec``.

Pillow opens all but BMP, whose few bytes of header TensorFlow reads in a way of its own.  JPEGs are
decoded by libjpeg-turbo (simplejpeg), whose methods of decoding are those of TensorFlow; what it
refuses or would decode smaller (``ratio``) is Pillow's, which has the accurate method alone.
"""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import torch

from penstock.foundation.base.errors import invalid
from penstock.foundation.formats import gif_layout

# Pillow's names, by channels.
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
# TensorFlow decodes no image with more values than this, but for a GIF.
_MOST_VALUES = 1 << 29
_MOST_GIF_VALUES = 1 << 31


def contents_of(value: Any) -> bytes:
    """The bytes of a string scalar."""
    if value.shape != ():
        raise invalid(f"contents must be a scalar; found shape {list(value.shape)}")
    return value.item()


def opened(contents: bytes, form: str) -> Any:
    """The Pillow image of a file of one format."""
    from PIL import Image

    try:
        return Image.open(io.BytesIO(contents), formats=[form])
    except MemoryError:
        raise
    except Exception as error:  # Pillow meets damage in many ways, and refuses what is too large
        raise invalid(
            f"Invalid {form} data, size {len(contents)}: it starts with {contents[:8]!r} ({error})"
        ) from None


def gif_frames(data: bytes) -> Any:
    """The frames of a GIF, [frames, height, width, 3]."""
    from PIL import ImageSequence

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
        raise invalid(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width,"
            f" height, and bpp, got {len(data)} bytes"
        )
    start, width, height, bits = struct.unpack_from("<i4xii2xh", data, 10)
    found = bits // 8
    if start < 0 or width <= 0 or not height:
        raise invalid(
            "header size must be nonnegative, width positive and height not zero; found"
            f" {start}, {width} and {height}"
        )
    if channels not in (0, found):
        raise invalid(f"channels attribute {channels} does not match bits per pixel: {bits}")
    if found not in (1, 3, 4):
        raise invalid(f"Number of channels must be 1, 3 or 4, was {found}")
    line, rows = (found * width + 3) // 4 * 4, abs(height)
    needed = start + (rows - 1) * line + width * found
    if needed > len(data):
        raise invalid(
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


def pixels(image: Any, mode: str) -> np.ndarray:
    """The pixels [height, width, channels] of a Pillow image, as those of ``mode``."""
    try:
        array = np.asarray(image if image.mode == mode else image.convert(mode))
    except MemoryError:
        raise
    except Exception as error:
        raise invalid(f"Invalid {image.format} data: {error}") from None
    return array[..., None] if array.ndim == 2 else array


_JPEG_COLORS = {1: "GRAY", 3: "RGB"}


def jpeg_pixels(
    data: bytes, channels: int, ratio: int, fancy_upscaling: bool, truncated: bool, dct_method: str
) -> np.ndarray:
    """The pixels of a JPEG file, in memory of their own.

    Args:
      data: the file.
      channels: 1, 3, or 0 for as many as it has.
      ratio: 1, 2, 4 or 8: how many times smaller it is decoded.
      fancy_upscaling: whether colours are interpolated.
      truncated: whether a file that is cut short gives what can be read of it.
      dct_method: "INTEGER_ACCURATE", or anything else for the fast one, TensorFlow's default.
    """
    if ratio == 1 and channels in (0, 1, 3):
        import simplejpeg

        try:
            height, width, space, _ = simplejpeg.decode_jpeg_header(data)
            _check_jpeg_size(data, height, width, channels)
            colors = _JPEG_COLORS.get(channels) or ("GRAY" if space == "Gray" else "RGB")
            return simplejpeg.decode_jpeg(
                data, colors, dct_method != "INTEGER_ACCURATE", not fancy_upscaling
            )
        except ValueError:  # truncated, of four colours, or no JPEG at all
            pass
    return np.array(_any_jpeg_pixels(data, channels, ratio, truncated))


def _check_jpeg_size(data: bytes, height: int, width: int, channels: int) -> None:
    if height * width * (channels or 3) >= _MOST_VALUES:
        raise invalid(
            f"Invalid JPEG data or crop window, data size {len(data)}: {height} x {width} pixels"
            " are too many"
        )


def _any_jpeg_pixels(data: bytes, channels: int, ratio: int, truncated: bool) -> np.ndarray:
    from PIL import ImageFile

    image = opened(data, "JPEG")
    if channels not in (0, 1, 3):
        raise invalid(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    mode = MODES[channels] if channels else ("L" if image.mode == "L" else "RGB")
    width, height = image.size
    _check_jpeg_size(data, -(-height // ratio), -(-width // ratio), channels)
    if ratio > 1 or (mode == "L" and image.mode == "RGB"):
        # The decoder scales, and gives luminance as it is stored.
        image.draft(mode, (-(-width // ratio), -(-height // ratio)))
    try:
        ImageFile.LOAD_TRUNCATED_IMAGES, before = truncated, ImageFile.LOAD_TRUNCATED_IMAGES
        image.load()
    except MemoryError:
        raise
    except Exception as error:
        raise invalid(f"Invalid JPEG data or crop window, data size {len(data)}: {error}") from None
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = before
    return pixels(image, mode)
