"""PNG with 16 bits a channel: filters against Pillow's encoder, which uses all of them."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from penstock.foundation.base import errors
from penstock.foundation.formats import png_deep


def _rows(contents: bytes, width: int) -> np.ndarray:
    packed, position = b"", 8
    while position < len(contents):
        size, kind = struct.unpack_from(">I4s", contents, position)
        if kind == b"IDAT":
            packed += contents[position + 8 : position + 8 + size]
        position += 12 + size
    return np.frombuffer(zlib.decompress(packed), np.uint8).reshape(-1, 1 + width)


def test_every_filter_is_undone() -> None:
    x, y = np.meshgrid(np.arange(50), np.arange(80))
    rng = np.random.default_rng(0)
    ramps = np.stack([x * y // 16, x + 2 * y, (x - y) ** 2 // 9], -1)
    smooth = ramps + rng.integers(0, 3, (80, 50, 3))
    noise = rng.integers(0, 256, (20, 50, 3))
    level = np.repeat(rng.integers(0, 256, (1, 50, 3)), 20, 0)
    pixels = np.concatenate([smooth, noise, level, np.sqrt(smooth * 200)]).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    rows = _rows(buffer.getvalue(), 150)
    assert len(set(rows[:, 0].tolist())) >= 3
    plain = png_deep._unfiltered(rows, 3)
    np.testing.assert_array_equal(plain.reshape(pixels.shape), pixels)


@pytest.mark.parametrize("kind", range(5))
def test_a_filter_by_the_book(kind: int) -> None:
    lines = np.random.default_rng(kind).integers(0, 256, (6, 12)).astype(np.uint8)
    step, rows = 4, np.zeros((6, 13), np.uint8)
    for i in range(6):
        for j in range(12):
            left = int(lines[i, j - step]) if j >= step else 0
            up = int(lines[i - 1, j]) if i else 0
            corner = int(lines[i - 1, j - step]) if i and j >= step else 0
            paeth = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            guess = (0, left, up, (left + up) // 2, paeth)[kind]
            rows[i, 0], rows[i, j + 1] = kind, (int(lines[i, j]) - guess) % 256
    np.testing.assert_array_equal(png_deep._unfiltered(rows, step), lines)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_round_trip(channels: int) -> None:
    image = np.random.default_rng(1).integers(0, 65536, (5, 7, channels)).astype(np.uint16)
    np.testing.assert_array_equal(png_deep.pixels(png_deep.encoded(image)), image)


def test_damage_is_an_error() -> None:
    whole = png_deep.encoded(np.zeros((9, 9, 3), np.uint16))
    with pytest.raises(errors.InvalidArgumentError, match="Invalid PNG"):
        png_deep.pixels(whole[:50])
    assert png_deep.pixels(b"something else") is None


def test_lines_are_written_with_the_filter_that_leaves_least() -> None:
    y, x = np.mgrid[0:200, 0:300]
    image = ((x + y)[..., None] * np.array([100, 50, 200])).astype(np.uint16)
    contents = png_deep.encoded(image)
    # TensorFlow 1.15 (libpng) writes as many bytes, with these filters.
    kinds = _rows(contents, 1800)[:, 0]
    assert np.bincount(kinds).tolist() == [0, 23, 167, 10]
    assert len(contents) == 4510 + 57
    np.testing.assert_array_equal(png_deep.pixels(contents), image)


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 1, 2), (65, 5, 3), (129, 7, 4)])
def test_other_readers_read_it(shape: tuple[int, ...]) -> None:
    image = np.random.default_rng(2).integers(0, 300, shape).cumsum(1).astype(np.uint16)
    contents = png_deep.encoded(image)
    np.testing.assert_array_equal(png_deep.pixels(contents), image)
    if shape[2] == 1:  # Pillow has 16 bits for grey alone
        found = np.asarray(Image.open(io.BytesIO(contents)))
        np.testing.assert_array_equal(found.astype(np.uint16), image[..., 0])
