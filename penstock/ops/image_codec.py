"""Image files as tensors and back: PNG, JPEG, GIF, BMP.

Pillow reads and writes them; it is imported when the first image is met.  JPEGs are decoded by
libjpeg-turbo (simplejpeg), whose methods of decoding are those of TensorFlow; what it refuses or
would decode smaller (``ratio``) is Pillow's, which has the accurate method alone.  PNG with 16 bits
a channel, which Pillow does not have for colours, is that of ``formats/png_deep.py``.  Images are
[height, width, channels]; GIFs are [frames, height, width, 3].
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import torch

from penstock.base import dtypes
from penstock.formats import png_deep, png_layout
from penstock.graph.build import make
from penstock.graph.scopes import name_scope
from penstock.graph.tensor import Tensor
from penstock.opdef import define_op
from penstock.ops import image_file, string_text
from penstock.ops.image_file import contents_of, opened, refused

__all__ = [
    "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg",
    "decode_png", "encode_jpeg", "encode_png", "extract_jpeg_shape", "is_jpeg",
]  # fmt: skip

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
# TensorFlow decodes no image with more values than this.
_MOST_VALUES = 1 << 29


def _boxed(data: bytes) -> np.ndarray:
    result = np.empty((), dtype=object)
    result[()] = data
    return result


def _image(array: np.ndarray) -> Any:
    """A Pillow image of uint8 pixels [height, width, channels]."""
    from PIL import Image

    height, width, channels = array.shape
    mode = _MODES[channels]
    pixels = np.ascontiguousarray(array)
    return Image.frombuffer(mode, (width, height), pixels, "raw", mode, 0, 1)


def _pixels(image: Any, mode: str) -> np.ndarray:
    try:
        array = np.asarray(image if image.mode == mode else image.convert(mode))
    except MemoryError:
        raise
    except Exception as error:
        raise refused(f"Invalid {image.format} data: {error}") from None
    return array[..., None] if array.ndim == 2 else array


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
        raise refused(f"compression should be in [-1,9], got {compression}")
    if image.ndim != 3 or image.shape[-1] not in _MODES or not image.size:
        raise refused(f"image must be [height, width, 1 to 4 channels]; found {list(image.shape)}")
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


def _decode_png(contents: Any, channels: int, dtype: Any) -> Any:
    data = contents_of(contents)
    png_layout.checked(data)
    wide = png_deep.pixels(data)
    if wide is None:
        image = opened(data, "PNG")
        pixels = _pixels(image, _MODES[channels] if channels else _png_mode(image))
        result = pixels if dtype is torch.uint8 else pixels.astype(np.uint16) * 257
    else:
        wide = _with_channels(wide, channels)
        result = (wide >> 8).astype(np.uint8) if dtype is torch.uint8 else wide
    return torch.from_numpy(np.array(result))


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
    kernel=lambda image, compression: _boxed(png_bytes(image.cpu().numpy(), compression)),
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
        raise refused(
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
        raise refused(f"quality must be in [0,100], got {quality}")
    pixels = _jpeg_mode(image.cpu().numpy(), format)
    scale = 2.54 if density_unit == "cm" else 1.0
    options: dict[str, Any] = {"dpi": (round(x_density * scale), round(y_density * scale))}
    if xmp_metadata:
        xmp = xmp_metadata.encode() if isinstance(xmp_metadata, str) else xmp_metadata
        options["xmp"] = xmp
    buffer = io.BytesIO()
    _image(pixels).save(
        buffer, "JPEG", quality=quality, progressive=progressive, optimize=optimize_size,
        subsampling=2 if chroma_downsampling else 0, **options,
    )  # fmt: skip
    return _boxed(buffer.getvalue())


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


_ACCURATE = "INTEGER_ACCURATE"  # TensorFlow's default is the fast one
_JPEG_COLORS = {1: "GRAY", 3: "RGB"}


def _jpeg_pixels(
    data: bytes, channels: int, ratio: int, fancy_upscaling: bool, truncated: bool, dct_method: str
) -> np.ndarray:
    """The pixels of a JPEG file, in memory of their own."""
    if ratio == 1 and channels in (0, 1, 3):
        import simplejpeg

        try:
            height, width, space, _ = simplejpeg.decode_jpeg_header(data)
            _check_jpeg_size(data, height, width, channels)
            colors = _JPEG_COLORS.get(channels) or ("GRAY" if space == "Gray" else "RGB")
            found: np.ndarray = simplejpeg.decode_jpeg(
                data, colors, dct_method != _ACCURATE, not fancy_upscaling
            )
            return found
        except ValueError:  # truncated, of four colours, or no JPEG at all
            pass
    return np.array(_any_jpeg_pixels(data, channels, ratio, truncated))


def _check_jpeg_size(data: bytes, height: int, width: int, channels: int) -> None:
    if height * width * (channels or 3) >= _MOST_VALUES:
        raise refused(
            f"Invalid JPEG data or crop window, data size {len(data)}: {height} x {width} pixels"
            " are too many"
        )


def _any_jpeg_pixels(data: bytes, channels: int, ratio: int, truncated: bool) -> np.ndarray:
    from PIL import ImageFile

    image = opened(data, "JPEG")
    if channels not in (0, 1, 3):
        raise refused(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    if ratio not in (1, 2, 4, 8):
        raise refused(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    mode = _MODES[channels] if channels else ("L" if image.mode == "L" else "RGB")
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
        raise refused(f"Invalid JPEG data or crop window, data size {len(data)}: {error}") from None
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = before
    return _pixels(image, mode)


def _decode_jpeg(
    contents: Any, channels: int, ratio: int, fancy_upscaling: bool, try_recover_truncated: bool,
    dct_method: str,
) -> Any:  # fmt: skip
    data = contents_of(contents)
    return torch.from_numpy(
        _jpeg_pixels(data, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method)
    )


def _decode_and_crop_jpeg(
    contents: Any, crop_window: Any, channels: int, ratio: int, fancy_upscaling: bool,
    try_recover_truncated: bool, dct_method: str,
) -> Any:  # fmt: skip
    data = contents_of(contents)
    pixels = _jpeg_pixels(
        data, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method
    )
    top, left, height, width = crop_window
    if (
        min(top, left) < 0
        or min(height, width) <= 0
        or top + height > pixels.shape[0]
        or left + width > pixels.shape[1]
    ):
        raise refused(
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
    kernel=image_file.decode_gif,
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

# ---- whichever it is -----------------------------------------------------------------------

_FIRST_BYTES = {b"\xff\xd8\xff": "JPEG", b"\x89PN": "PNG", b"GIF": "GIF", b"BM": "BMP"}


def _decode_image(contents: Any, channels: int, dtype: Any, expand_animations: bool) -> Any:
    data = contents_of(contents)
    form = next((f for first, f in _FIRST_BYTES.items() if data.startswith(first)), "")
    if form == "PNG":
        wide = dtype is not torch.uint8 and png_deep.pixels(data) is not None
        kind = torch.uint16 if wide or dtype is torch.uint16 else torch.uint8
        pixels = _decode_png(contents, channels, kind)
    elif form == "JPEG":
        pixels = torch.from_numpy(_jpeg_pixels(data, channels, 1, True, False, _ACCURATE))
    elif form == "BMP":
        pixels = image_file.decode_bmp(contents, channels)
    elif form == "GIF":
        if channels not in (0, 3):
            raise refused(f"channels must be 0 or 3 for GIF, got {channels}")
        pixels = image_file.decode_gif(contents)
        pixels = pixels if expand_animations else pixels[0].clone()
    else:
        raise refused(
            "Unknown image file format. One of JPEG, PNG, GIF, BMP required; found data that"
            f" starts with {data[:8]!r}"
        )
    if dtype is pixels.dtype:
        return pixels
    if dtype is torch.uint16:
        return torch.from_numpy(pixels.numpy().astype(np.uint16) * 256)
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
      name: name of the node.
    """
    made: Tensor = make("EncodePng", image, compression=compression, name=name)
    return made


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Tensor:
    """The pixels [height, width, channels] of a PNG file.

    Args:
      contents: a string scalar.
      channels: channels wanted: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; 0 as the file has.
      dtype: ``uint8`` or ``uint16``.
      name: name of the node.
    """
    made: Tensor = make("DecodePng", contents, channels=channels, dtype=dtype, name=name)
    return made


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
      name: name of the node.
    """
    made: Tensor = make(
        "EncodeJpeg", image, format=format, quality=quality, progressive=progressive,
        optimize_size=optimize_size, chroma_downsampling=chroma_downsampling,
        density_unit=density_unit, x_density=x_density, y_density=y_density,
        xmp_metadata=xmp_metadata, name=name,
    )  # fmt: skip
    return made


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
    """The uint8 pixels [height, width, channels] of a JPEG file.

    Args:
      contents: a string scalar.
      channels: 1 grey, 3 RGB, 0 as the file has.
      ratio: 1, 2, 4 or 8: how many times smaller the image is decoded.
      fancy_upscaling, acceptable_fraction, dct_method: kept in the node; the decoder has one way.
      try_recover_truncated: give what can be read of a file that is cut short.
      name: name of the node.
    """
    made: Tensor = make(
        "DecodeJpeg", contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction,
        dct_method=dct_method, name=name,
    )  # fmt: skip
    return made


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
    made: Tensor = make(
        "DecodeAndCropJpeg", contents, crop_window, channels=channels, ratio=ratio,
        fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction, dct_method=dct_method, name=name,
    )  # fmt: skip
    return made


def extract_jpeg_shape(
    contents: Any, output_type: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """[height, width, channels] of a JPEG file, from its head alone."""
    made: Tensor = make("ExtractJpegShape", contents, output_type=output_type, name=name)
    return made


def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """The uint8 frames [frames, height, width, 3] of a GIF file."""
    made: Tensor = make("DecodeGif", contents, name=name)
    return made


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The uint8 pixels [height, width, channels] of a BMP file."""
    made: Tensor = make("DecodeBmp", contents, channels=channels, name=name)
    return made


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
      name: name of the node.
      expand_animations: whether a GIF gives [frames, height, width, 3]; otherwise its first frame.

    Returns:
      [height, width, channels], or [frames, height, width, 3].
    """
    made: Tensor = make(
        "DecodeImage", contents, channels=channels or 0, dtype=dtype,
        expand_animations=expand_animations, name=name,
    )  # fmt: skip
    return made


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether a file's bytes begin as those of a JPEG do.

    Args:
      contents: a string scalar.
      name: name of the scope.

    Returns:
      A bool scalar.
    """
    with name_scope(name, "is_jpeg"):
        first = string_text.substr(contents, 0, 3)
        made: Tensor = make("Equal", first, b"\xff\xd8\xff", name=name)
        return made
