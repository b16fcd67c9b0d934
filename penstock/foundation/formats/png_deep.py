"""PNG files with 16 bits a channel, which Pillow does not have for colours.

Source: the PNG specification: chunks, scan lines, and the five filters of a scan line.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from penstock.foundation.formats.png_layout import SIGNATURE, checked, refused

# Colour types, by channels.
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
_CHANNELS = {color: channels for channels, color in _COLOR_TYPES.items()}


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def encoded(image: np.ndarray, compression: int = -1) -> bytes:
    """A PNG file of uint16 pixels.

    Args:
      image: [height, width, 1 to 4 channels].
      compression: zlib's level; -1 is its default.
    """
    height, width, channels = image.shape
    lines = image.astype(">u2").reshape(height, -1).view(np.uint8)
    rows = _filtered(lines, 2 * channels)
    head = struct.pack(">IIBBBBB", width, height, 16, _COLOR_TYPES[channels], 0, 0, 0)
    packer = zlib.compressobj(compression, zlib.DEFLATED, 15, 8, zlib.Z_FILTERED)
    data = packer.compress(rows.tobytes()) + packer.flush()
    chunks = _chunk(b"IHDR", head) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")
    return SIGNATURE + chunks


# Scan lines that are filtered at once: what their five forms take stays in the cache.
_LINES = 64


def _filtered(lines: np.ndarray, step: int) -> np.ndarray:
    """Scan lines [height, 1 + width], each by the filter that leaves the smallest numbers.

    The specification's rule: the least sum of the bytes as signed numbers.
    """
    height, width = lines.shape
    made = np.empty((height, 1 + width), np.uint8)
    around = np.zeros((height + 1, width + step), np.uint8)
    around[1:, step:] = lines
    for start in range(0, height, _LINES):
        some = around[start : start + _LINES + 1]
        line, left = some[1:, step:], some[1:, :-step]
        above, corner = some[:-1, step:], some[:-1, :-step]
        mean = ((left.astype(np.uint16) + above) >> 1).astype(np.uint8)
        guesses = (np.uint8(0), left, above, mean, _nearest(left, above, corner))
        forms = np.stack([line - guess for guess in guesses])
        size = np.abs(forms.view(np.int8).astype(np.int16)).sum(2)
        best = size.argmin(0)
        made[start : start + _LINES, 0] = best
        made[start : start + _LINES, 1:] = forms[best, np.arange(len(best))]
    return made


def _nearest(left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Whichever of the three is nearest to left + above - corner (Paeth's predictor)."""
    a, b, c = (x.astype(np.int16) for x in (left, above, corner))
    from_a, from_b, from_c = np.abs(b - c), np.abs(a - c), np.abs(a + b - 2 * c)
    first = (from_a <= from_b) & (from_a <= from_c)
    return np.where(first, left, np.where(from_b <= from_c, above, corner))


def _unfiltered(rows: np.ndarray, step: int) -> np.ndarray:
    """The bytes of PNG scan lines [height, 1 + width]; the first of each says how it is coded."""
    height, width = rows.shape[0], rows.shape[1] - 1
    result = np.zeros((height + 1, width + step), np.uint8)
    for y in range(height):
        kind, line = int(rows[y, 0]), rows[y, 1:]
        above, now = result[y], result[y + 1]
        if kind == 0:
            now[step:] = line
        elif kind == 2:
            now[step:] = line + above[step:]
        elif kind == 1:
            for start in range(step):
                now[step + start :: step] = np.cumsum(line[start::step], dtype=np.uint8)
        else:
            _unfilter_slowly(kind, line, above, now, step)
    return result[1:, step:]


def _unfilter_slowly(
    kind: int, line: np.ndarray, above: np.ndarray, now: np.ndarray, step: int
) -> None:
    source, up, out = line.tolist(), above.tolist(), [0] * len(now)
    for i, value in enumerate(source):
        left, top, corner = out[i], up[i + step], up[i]
        if kind == 3:
            guess = (left + top) >> 1
        else:
            estimate = left + top - corner
            distance = (abs(estimate - left), abs(estimate - top), abs(estimate - corner))
            guess = (left, top, corner)[distance.index(min(distance))]
        out[i + step] = (value + guess) & 255
    now[:] = out


def pixels(contents: bytes) -> np.ndarray | None:
    """The uint16 pixels [height, width, channels] of a PNG file with 16 bits a channel.

    None for other files, and for interlaced ones.

    Raises:
      InvalidArgumentError: the file is damaged.

    >>> image = np.arange(12, dtype=np.uint16).reshape(2, 2, 3) * 5000
    >>> bool((pixels(encoded(image)) == image).all())
    True
    """
    if len(contents) < 29 or not contents.startswith(SIGNATURE):
        return None
    bits, color, _, _, interlaced = contents[24:29]
    if bits != 16 or color not in _CHANNELS or interlaced:
        return None
    header, packed = checked(contents)
    step = 2 * _CHANNELS[color]
    width, height = header.width, header.height
    size = height * (1 + width * step)
    try:
        rows = np.frombuffer(zlib.decompressobj().decompress(b"".join(packed), size), np.uint8)
        rows = rows.reshape(height, 1 + width * step)
    except (zlib.error, ValueError) as error:
        raise refused(contents, str(error)) from None
    if rows[:, 0].max() > 4:
        raise refused(contents, f"there is no filter {rows[:, 0].max()}")
    plain = np.ascontiguousarray(_unfiltered(rows, step)).view(">u2").astype(np.uint16)
    return plain.reshape(height, width, _CHANNELS[color])
