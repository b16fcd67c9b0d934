"""Image files read by what they begin with, whichever op is asked; how JPEGs are decoded."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

import penstock as tf

_RNG = np.random.default_rng(0)
_PIXELS = np.kron(_RNG.integers(0, 256, (8, 8, 3)), np.ones((4, 4, 1))).astype(np.uint8)


def _file(form: str, mode: str = "RGB", frames: int = 1) -> bytes:
    images = [Image.fromarray(np.roll(_PIXELS, n, 0)).convert(mode) for n in range(frames)]
    buffer = io.BytesIO()
    more: dict[str, Any] = {"save_all": True, "append_images": images[1:]} if frames > 1 else {}
    images[0].save(buffer, form, **more)
    return buffer.getvalue()


_FILES = {"jpeg": _file("JPEG"), "png": _file("PNG"), "gif": _file("GIF", "P")}
_OPS: dict[str, Callable[..., Any]] = {
    "jpeg": tf.image.decode_jpeg,
    "png": tf.image.decode_png,
    "gif": tf.image.decode_gif,
    "image": tf.image.decode_image,
}


def _decoded(op: Callable[..., Any], contents: bytes, **how: Any) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        made: np.ndarray = session.run(op(contents, **how))
        return made


@pytest.mark.parametrize("form", ["jpeg", "png", "gif"])
@pytest.mark.parametrize("op", ["jpeg", "png", "gif", "image"])
def test_every_decoder_reads_every_format(op: str, form: str) -> None:
    own, found = (_decoded(_OPS[name], _FILES[form]) for name in (form, op))
    has_frames = op == "gif" or (op == "image" and form == "gif")
    assert (found.dtype, found.ndim) == (np.uint8, 4 if has_frames else 3)
    np.testing.assert_array_equal(found.reshape(-1), own.reshape(-1))


def test_decode_image_decodes_jpegs_as_decode_jpeg_does() -> None:
    plain = _decoded(tf.image.decode_jpeg, _FILES["jpeg"])
    accurate = _decoded(tf.image.decode_jpeg, _FILES["jpeg"], dct_method="INTEGER_ACCURATE")
    assert (plain != accurate).any()
    np.testing.assert_array_equal(_decoded(tf.image.decode_image, _FILES["jpeg"]), plain)
    floats = _decoded(tf.image.decode_image, _FILES["jpeg"], dtype=tf.float32)
    np.testing.assert_allclose(floats, plain / 255.0, rtol=1e-6)


def test_channels_of_another_format() -> None:
    rgba = _file("PNG", "RGBA")
    assert _decoded(tf.image.decode_jpeg, rgba).shape[-1] == 4
    assert _decoded(tf.image.decode_gif, rgba).shape == (1, 32, 32, 3)
    assert _decoded(tf.image.decode_png, _FILES["jpeg"], channels=1).shape[-1] == 1
    for op, form, channels, match in (
        ("png", "jpeg", 4, "0, 1, or 3 for JPEG, got 4"),
        ("jpeg", "gif", 1, "0 or 3 for GIF, got 1"),
        ("png", "png", 2, "0, 1, 3, or 4, got 2"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=match):
            _decoded(_OPS[op], _FILES[form], channels=channels)


@pytest.mark.parametrize("op", ["jpeg", "png"])
def test_animations_have_more_than_one_image(op: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Got 3 frames, but animated gifs"):
        _decoded(_OPS[op], _file("GIF", "P", frames=3))
    assert _decoded(tf.image.decode_gif, _file("GIF", "P", frames=3)).shape == (3, 32, 32, 3)


@pytest.mark.parametrize("op", ["jpeg", "png", "gif"])
def test_what_is_no_image(op: str) -> None:
    for contents, found in ((b"", "empty file"), (b"text of more than one line", "unknown format")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Expected image.* got {found}"):
            _decoded(_OPS[op], contents)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to decode bytes as JPEG"):
        _decoded(tf.image.decode_image, b"text")


def test_only_jpegs_are_cropped_while_they_are_decoded() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="JPEG only, but detected PNG"):
        _decoded(tf.image.decode_and_crop_jpeg, _FILES["png"], crop_window=[0, 0, 2, 2])


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L", "LA"])
def test_the_brightness_of_a_png(mode: str) -> None:
    """As TensorFlow 1.15 weighs colours: rounded down."""
    contents = _file("PNG", mode)
    found = _decoded(tf.image.decode_png, contents, channels=1)
    if mode in ("L", "LA"):
        wanted = np.asarray(Image.open(io.BytesIO(contents)).convert("L"))
    else:
        colors = np.asarray(Image.open(io.BytesIO(contents)).convert("RGB")).astype(int)
        wanted = (colors @ [9797, 19235, 3736]) >> 15
    np.testing.assert_array_equal(found[..., 0], wanted)


@pytest.mark.parametrize(("channels", "sampling"), [(1, 0x11), (3, 0x22)])
def test_a_jpeg_of_gray_has_no_chroma_to_sample(channels: int, sampling: int) -> None:
    contents: Any = _decoded(tf.image.encode_jpeg, _PIXELS[..., :channels])
    frame = contents.index(b"\xff\xc0")
    # Length, bits, height, width, count of components; then of each its number and sampling.
    assert contents[frame + 9] == channels and contents[frame + 11] == sampling
