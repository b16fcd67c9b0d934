"""Image files as tensors and back: PNG, JPEG, GIF, BMP.

Pillow reads and writes them; it is imported when the first image is met.  PNG with 16 bits a
channel, which Pillow does not have for colours, is that of ``foundation/formats/png_deep.py``.
Images are [height, width, channels]; GIFs are [frames, height, width, 3].

As in TensorFlow, what a file begins with decides what it is: the ops for JPEG, PNG and GIF read
each of the three.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.errors import invalid
from penstock.foundation.formats import png_deep, png_layout
from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.ops.image import image_file
from penstock.ops.image.image_file import contents_of, opened
from penstock.ops.strings import string_text
from penstock.ops.strings.string_elements import boxed


def _image(array: np.ndarray) -> Any:
    """A Pillow image of uint8 pixels [height, width, channels]."""
    from PIL import Image

    height, width, channels = array.shape
    mode = image_file.MODES[channels]
    pixels = np.ascontiguousarray(array)
    return Image.frombuffer(mode, (width, height), pixels, "raw", mode, 0, 1)


# ---- PNG -----------------------------------------------------------------------------------


def png_bytes(image: np.ndarray, compression: int = -1) -> bytes:
    """A PNG file of uint8 or uint16 pixels [height, width, 1 to 4 channels].

    Args:
      image: the pixels.
      compression: zlib's level, 0 to 9; -1 means zlib's default.

    Raises:
      InvalidArgumentError: the shape is no image's.
    """
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    if image.ndim != 3 or image.shape[-1] not in image_file.MODES or not image.size:
        raise invalid(f"image must be [height, width, 1 to 4 channels]; found {list(image.shape)}")
    if image.dtype == np.uint16:
        return png_deep.encoded(image, compression)
    buffer = io.BytesIO()
    _image(image).save(buffer, "PNG", compress_level=6 if compression < 0 else compression)
    return buffer.getvalue()


def _with_channels(pixels: np.ndarray, channels: int) -> np.ndarray:
    """16-bit pixels with as many channels as are asked for; 0 means as they are."""
    found = pixels.shape[-1]
    if channels in (0, found):
        return pixels
    colors = pixels[..., : found - (found in (2, 4))]
    opaque = np.full((*pixels.shape[:2], 1), 65535, np.uint16)
    alpha = pixels[..., -1:] if found in (2, 4) else opaque
    if channels in (1, 2) and colors.shape[-1] == 3:
        weights = np.array([6968, 23434, 2366], np.uint32)
        colors = ((colors.astype(np.uint32) * weights).sum(-1, keepdims=True) >> 15).astype("u2")
    elif channels in (3, 4) and colors.shape[-1] == 1:
        colors = np.repeat(colors, 3, axis=-1)
    return np.concatenate((colors, alpha), -1) if channels in (2, 4) else colors


def _png_mode(image: Any) -> str:
    has_alpha = "transparency" in image.info or image.mode in ("RGBA", "LA", "PA")
    if image.mode in ("1", "L", "LA", "I", "I;16", "F"):
        return "LA" if has_alpha else "L"
    return "RGBA" if has_alpha else "RGB"


# Parts of 1 << 15: how bright red, green and blue are.
_BRIGHTNESS = np.array([9797, 19235, 3736], np.uint32)


def _grey(image: Any) -> np.ndarray:
    """The brightness of a coloured PNG with 8 bits a channel."""
    colors = image_file.pixels(image, "RGB").astype(np.uint32)
    grey: np.ndarray = (colors * _BRIGHTNESS).sum(-1, keepdims=True) >> 15
    return grey.astype(np.uint8)


def _png_pixels(data: bytes, channels: int, dtype: Any) -> Any:
    if channels not in (0, 1, 3, 4):
        raise invalid(f"channels must be 0, 1, 3, or 4, got {channels}")
    png_layout.checked(data)
    wide = png_deep.pixels(data)
    if wide is None:
        image = opened(data, "PNG")
        mode = _png_mode(image)
        if channels == 1 and mode.startswith("RGB"):
            pixels = _grey(image)
        else:
            pixels = image_file.pixels(image, image_file.MODES[channels] if channels else mode)
        result = pixels if dtype is torch.uint8 else pixels.astype(np.uint16) * 257
    else:
        wide = _with_channels(wide, channels)
        result = (wide >> 8).astype(np.uint8) if dtype is torch.uint8 else wide
    return torch.from_numpy(np.array(result))


# ---- whichever it is -----------------------------------------------------------------------

_FIRST_BYTES = {b"\xff\xd8\xff": "JPEG", b"\x89PN": "PNG", b"GIF": "GIF", b"BM": "BMP"}


def _format_of(data: bytes) -> str:
    return next((form for first, form in _FIRST_BYTES.items() if data.startswith(first)), "")


def _unlike_an_image(data: bytes) -> errors.InvalidArgumentError:
    found = f"unknown format starting with {data[:16]!r}" if data else "empty file"
    return invalid(f"Expected image (JPEG, PNG, or GIF), got {found}")


def _gif_frames(data: bytes, channels: int) -> Any:
    if channels not in (0, 3):
        raise invalid(f"channels must be 0 or 3 for GIF, got {channels}")
    return image_file.gif_frames(data)


def _still(
    data: bytes, channels: int, dtype: Any = torch.uint8, ratio: int = 1, fancy: bool = True,
    truncated: bool = False, method: str = "",
) -> Any:  # fmt: skip
    """The pixels [height, width, channels] of a JPEG, PNG or GIF with one frame."""
    form = _format_of(data)
    if form == "PNG":
        return _png_pixels(data, channels, dtype)
    if form == "JPEG":
        made = image_file.jpeg_pixels(data, channels, ratio, fancy, truncated, method)
        found = torch.from_numpy(made)
    elif form == "GIF":
        frames = _gif_frames(data, channels)
        if len(frames) != 1:
            raise invalid(
                f"Got {len(frames)} frames, but animated gifs can only be decoded by"
                " tf.image.decode_gif or tf.image.decode_image"
            )
        found = frames[0].clone()
    else:
        raise _unlike_an_image(data)
    return found if dtype is torch.uint8 else _wider(found)


def _wider(pixels: Any) -> Any:
    """uint8 pixels as uint16 ones."""
    return torch.from_numpy(pixels.numpy().astype(np.uint16) * 256)


def _decode_png(contents: Any, channels: int, dtype: Any) -> Any:
    return _still(contents_of(contents), channels, dtype)


def _decode_gif(contents: Any) -> Any:
    data = contents_of(contents)
    if _format_of(data) == "GIF":
        return image_file.gif_frames(data)
    return _still(data, 3)[None]


def _image_shape(ctx: Any) -> tuple[int | None, ...]:
    ctx.rank("contents", 0)
    channels = ctx.attr("channels")
    if channels < 0:
        raise ValueError(f"channels must be 0 or more; found {channels}")
    return None, None, channels or None


def encoded_shape(ctx: Any) -> tuple[int, ...]:
    ctx.rank("image", 3)
    return ()


define_op(
    "EncodePng",
    "image: T -> contents: string",
    attrs=["compression: int = -1", "T: {uint8, uint16} = uint8"],
    shape=encoded_shape,
    kernel=lambda image, compression: boxed(png_bytes(image.cpu().numpy(), compression)),
    no_gradient="its output is a string",
)
define_op(
    "DecodePng",
    "contents: string -> image: dtype",
    attrs=["channels: int = 0", "dtype: {uint8, uint16} = uint8"],
    shape=_image_shape,
    kernel=_decode_png,
    no_gradient="its input is a string",
)

# ---- JPEG ----------------------------------------------------------------------------------


def _jpeg_mode(image: np.ndarray, form: str) -> np.ndarray:
    channels = image.shape[-1] if image.ndim == 3 else 0
    wanted = {"grayscale": (1,), "rgb": (3,), "": (1, 3)}[form]
    if channels not in wanted or not image.size:
        raise invalid(
            f"image must be [height, width, {' or '.join(map(str, wanted))}] for format {form!r};"
            f" found {list(image.shape)}"
        )
    return image


def jpeg_file(
    image: Any, format: str, quality: int, progressive: bool, optimize_size: bool,
    chroma_downsampling: bool, density_unit: str, x_density: int, y_density: int,
    xmp_metadata: Any,
) -> np.ndarray:  # fmt: skip
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    pixels = _jpeg_mode(image.cpu().numpy(), format)
    scale = 2.54 if density_unit == "cm" else 1.0
    options: dict[str, Any] = {"dpi": (round(x_density * scale), round(y_density * scale))}
    if xmp_metadata:
        xmp = xmp_metadata.encode() if isinstance(xmp_metadata, str) else xmp_metadata
        options["xmp"] = xmp
    buffer = io.BytesIO()
    # Gray has no chroma: what would be written there is the sampling of its one component.
    sampling = 2 if chroma_downsampling and pixels.shape[-1] == 3 else 0
    _image(pixels).save(
        buffer, "JPEG", quality=quality, progressive=progressive, optimize=optimize_size,
        subsampling=sampling, **options,
    )  # fmt: skip
    return boxed(buffer.getvalue())


define_op(
    "EncodeJpeg",
    "image: uint8 -> contents: string",
    attrs=[
        "format: {'', 'grayscale', 'rgb'} = ''", "quality: int = 95", "progressive: bool = False",
        "optimize_size: bool = False", "chroma_downsampling: bool = True",
        "density_unit: {'in', 'cm'} = 'in'", "x_density: int = 300", "y_density: int = 300",
        'xmp_metadata: string = ""',
    ],
    shape=encoded_shape,
    kernel=jpeg_file,
    no_gradient="its output is a string",
)  # fmt: skip


def _decode_jpeg(
    contents: Any, channels: int, ratio: int, fancy_upscaling: bool, try_recover_truncated: bool,
    dct_method: str,
) -> Any:  # fmt: skip
    data = contents_of(contents)
    return _still(
        data, channels, torch.uint8, ratio, fancy_upscaling, try_recover_truncated, dct_method
    )


def _decode_and_crop_jpeg(
    contents: Any, crop_window: Any, channels: int, ratio: int, fancy_upscaling: bool,
    try_recover_truncated: bool, dct_method: str,
) -> Any:  # fmt: skip
    data = contents_of(contents)
    if (form := _format_of(data)) in ("PNG", "GIF"):
        # TensorFlow 1.15 decodes all of it, of another shape than it has said.
        raise invalid(f"DecodeAndCropJpeg operation can run on JPEG only, but detected {form}.")
    pixels = image_file.jpeg_pixels(
        data, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method
    )
    top, left, height, width = crop_window
    if (
        min(top, left) < 0
        or min(height, width) <= 0
        or top + height > pixels.shape[0]
        or left + width > pixels.shape[1]
    ):
        raise invalid(
            f"Invalid JPEG data or crop window: window {list(crop_window)} of an image of"
            f" {pixels.shape[0]} x {pixels.shape[1]}"
        )
    return torch.from_numpy(pixels[top : top + height, left : left + width].copy())


def _cropped_shape(ctx: Any) -> tuple[int | None, ...]:
    window = ctx.value("crop_window")
    channels = _image_shape(ctx)[2]
    return (None, None, channels) if window is None else (int(window[2]), int(window[3]), channels)


_JPEG_ATTRS = [
    "channels: int = 0", "ratio: int = 1", "fancy_upscaling: bool = True",
    "try_recover_truncated: bool = False", "acceptable_fraction: float = 1.0",
    'dct_method: string = ""',
]  # fmt: skip

define_op(
    "DecodeJpeg",
    "contents: string -> image: uint8",
    attrs=_JPEG_ATTRS,
    shape=_image_shape,
    kernel=_decode_jpeg,
    no_gradient="its input is a string",
)
define_op(
    "DecodeAndCropJpeg",
    "contents: string, crop_window: int32 -> image: uint8",
    attrs=_JPEG_ATTRS,
    shape=_cropped_shape,
    kernel=_decode_and_crop_jpeg,
    host=("crop_window",),
    no_gradient="its input is a string",
)


def _extract_jpeg_shape(contents: Any, output_type: Any) -> Any:
    image = opened(contents_of(contents), "JPEG")
    dims = (image.size[1], image.size[0], len(image.getbands()))
    return torch.tensor(dims, dtype=output_type)


def _three(ctx: Any) -> tuple[int, ...]:
    ctx.rank("contents", 0)
    return (3,)


define_op(
    "ExtractJpegShape",
    "contents: string -> image_shape: output_type",
    attrs=["output_type: {int32, int64} = int32"],
    shape=_three,
    kernel=_extract_jpeg_shape,
    no_gradient="its input is a string",
)

# ---- GIF and BMP ---------------------------------------------------------------------------


def _gif_shape(ctx: Any) -> tuple[int | None, ...]:
    ctx.rank("contents", 0)
    return None, None, None, 3


define_op(
    "DecodeGif",
    "contents: string -> image: uint8",
    shape=_gif_shape,
    kernel=_decode_gif,
    no_gradient="its input is a string",
)
define_op(
    "DecodeBmp",
    "contents: string -> image: uint8",
    attrs=["channels: int = 0"],
    shape=_image_shape,
    kernel=image_file.decode_bmp,
    no_gradient="its input is a string",
)


def _decode_image(contents: Any, channels: int, dtype: Any, expand_animations: bool) -> Any:
    data = contents_of(contents)
    form = _format_of(data)
    if form == "PNG":
        wide = dtype is not torch.uint8 and png_deep.pixels(data) is not None
        kind = torch.uint16 if wide or dtype is torch.uint16 else torch.uint8
        pixels = _png_pixels(data, channels, kind)
    elif form == "JPEG":
        pixels = _still(data, channels)
    elif form == "BMP":
        pixels = image_file.decode_bmp(contents, channels)
    elif form == "GIF":
        pixels = _gif_frames(data, channels)
        pixels = pixels if expand_animations else pixels[0].clone()
    else:
        raise invalid(
            "Unable to decode bytes as JPEG, PNG, GIF, or BMP: Unknown image file format; found"
            f" data that starts with {data[:8]!r}"
        )
    if dtype is pixels.dtype:
        return pixels
    if dtype is torch.uint16:
        return _wider(pixels)
    return pixels.to(dtype) * (1.0 / torch.iinfo(pixels.dtype).max)


def _any_image_shape(ctx: Any) -> tuple[int | None, ...] | None:
    channels = _image_shape(ctx)[2]
    return None if ctx.attr("expand_animations") else (None, None, channels)


# TensorFlow 2 has this op; 1.15 makes conditionals around one decoder for each format.
define_op(
    "DecodeImage",
    "contents: string -> image: dtype",
    attrs=[
        "channels: int = 0", "dtype: {uint8, uint16, float} = uint8",
        "expand_animations: bool = True",
    ],
    shape=_any_image_shape,
    kernel=_decode_image,
    no_gradient="its input is a string",
)  # fmt: skip

# ---- public functions ----------------------------------------------------------------------


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """A PNG file (a string scalar) of an image.

    Args:
      image: uint8 or uint16 [height, width, 1 to 4 channels].
      compression: zlib's level, 0 to 9; -1 for its default.
    """
    return make("EncodePng", image, compression=compression, name=name)


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Tensor:
    """The pixels [height, width, channels] of a PNG file, or of a JPEG or GIF of one frame.

    Args:
      contents: a string scalar.
      channels: channels wanted: 1 grey, 3 RGB, 4 RGBA; 0 as the file has.
      dtype: ``uint8`` or ``uint16``.

    Returns:
      A tensor [height, width, channels] of ``dtype``.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     pixels = tf.constant([[[1, 2, 3], [4, 5, 6]]], tf.uint8)
      ...     file = session.run(tf.image.encode_png(pixels))
      ...     session.run(tf.image.decode_png(file)).tolist()  # exactly what it was
      [[[1, 2, 3], [4, 5, 6]]]
    """
    return make("DecodePng", contents, channels=channels, dtype=dtype, name=name)


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: Any = "",
    name: str | None = None,
) -> Tensor:
    """A JPEG file (a string scalar) of a uint8 image [height, width, 1 or 3 channels].

    Args:
      image: the pixels.
      format: "grayscale", "rgb", or "" for what the channels say.
      quality: 0 to 100.
      progressive: whether the file can be shown coarsely first.
      optimize_size: spend more time for a smaller file.
      chroma_downsampling: whether colours get half the resolution.
      density_unit: "in" or "cm", of ``x_density`` and ``y_density`` (pixels per unit).
      x_density: see there.
      y_density: see there.
      xmp_metadata: stored in the file.
    """
    return make(
        "EncodeJpeg", image, format=format, quality=quality, progressive=progressive,
        optimize_size=optimize_size, chroma_downsampling=chroma_downsampling,
        density_unit=density_unit, x_density=x_density, y_density=y_density,
        xmp_metadata=xmp_metadata, name=name,
    )  # fmt: skip


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The uint8 pixels [height, width, channels] of a JPEG file, or a PNG, or a GIF of one frame.

    Args:
      contents: a string scalar.
      channels: 1 grey, 3 RGB, 0 as the file has.
      ratio: 1, 2, 4 or 8: how many times smaller the image is decoded.
      fancy_upscaling: whether the colours of neighbouring pixels are interpolated.
      acceptable_fraction: kept in the node.
      dct_method: "INTEGER_FAST" (the default) or "INTEGER_ACCURATE".
      try_recover_truncated: give what can be read of a file that is cut short.

    Returns:
      A uint8 tensor [height, width, channels].

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     grey = tf.constant(np.full([8, 16, 3], 128), tf.uint8)
      ...     file = session.run(tf.image.encode_jpeg(grey))
      ...     image = session.run(tf.image.decode_jpeg(file, channels=3))
      >>> file[:2], image.shape, int(image[0, 0, 0])
      (b'\\xff\\xd8', (8, 16, 3), 128)
    """
    return make(
        "DecodeJpeg", contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction,
        dct_method=dct_method, name=name,
    )  # fmt: skip


def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """As ``decode_jpeg``, cut to ``crop_window``: [top, left, height, width]."""
    return make(
        "DecodeAndCropJpeg", contents, crop_window, channels=channels, ratio=ratio,
        fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction, dct_method=dct_method, name=name,
    )  # fmt: skip


def extract_jpeg_shape(
    contents: Any, output_type: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """[height, width, channels] of a JPEG file, from its head alone."""
    return make("ExtractJpegShape", contents, output_type=output_type, name=name)


def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """The uint8 frames [frames, height, width, 3] of a GIF file; a JPEG or PNG is one frame."""
    return make("DecodeGif", contents, name=name)


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The uint8 pixels [height, width, channels] of a BMP file."""
    return make("DecodeBmp", contents, channels=channels, name=name)


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The pixels of a JPEG, PNG, GIF or BMP file; its first bytes say which it is.

    Args:
      contents: a string scalar.
      channels: channels wanted; None or 0 as the file has.
      dtype: ``uint8``, ``uint16``, or ``float32`` for values in [0, 1].
      expand_animations: whether a GIF gives [frames, height, width, 3]; otherwise its first frame.

    Returns:
      [height, width, channels], or [frames, height, width, 3].
    """
    return make(
        "DecodeImage", contents, channels=channels or 0, dtype=dtype,
        expand_animations=expand_animations, name=name,
    )  # fmt: skip


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether a file's bytes begin as those of a JPEG do.

    Args:
      contents: a string scalar.

    Returns:
      A bool scalar.
    """
    with name_scope(name, "is_jpeg"):
        first = string_text.substr(contents, 0, 3)
        return make("Equal", first, b"\xff\xd8\xff", name=name)
