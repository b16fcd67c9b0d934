"""Rows of the image codecs: what is encoded is compared by its pixels."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from penstock.ops.image.image_codec import png_bytes
from tests.ops.opcase import OpCase, const, ints, strings

_RNG = np.random.default_rng(3)
_RGB = _RNG.integers(0, 256, (8, 10, 3)).astype(np.uint8)
_X, _Y = np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 24))
_SMOOTH = (np.stack([_X, _Y, 1 - _X * _Y], -1) * 255).astype(np.uint8)


def _file(pixels: np.ndarray, form: str, mode: str | None = None, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image = Image.fromarray(pixels.squeeze())
    (image.convert(mode) if mode else image).save(buffer, form, **options)
    return buffer.getvalue()


def _gif() -> bytes:
    frames = [Image.fromarray(_RNG.integers(0, 256, (6, 5), dtype=np.uint8)) for _ in range(3)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    return buffer.getvalue()


def pixels(index: int, array: np.ndarray) -> np.ndarray:
    """The pixels of an encoded image."""
    return np.asarray(Image.open(io.BytesIO(array.item()))).astype(np.int64)


_JPEG, _GREY = _file(_SMOOTH, "JPEG", quality=95), _file(_SMOOTH, "JPEG", "L", quality=90)
# With colours at full resolution: TensorFlow interpolates across the edge of a crop otherwise.
_FULL = _file(_SMOOTH, "JPEG", quality=95, subsampling=0)
_WIDE = png_bytes(_RNG.integers(0, 65536, (4, 5, 3)).astype(np.uint16))
# Where Pillow decodes there is this one method; TensorFlow's default is up to 5 levels off.
_ACCURATE = {"dct_method": "INTEGER_ACCURATE"}
# Two encoders of JPEG agree but for rounding.
_ROUNDING: dict[str, Any] = {
    "atol": 2.0, "rtol": 0.0, "tol_reason": "builds of libjpeg round colours differently",
}  # fmt: skip

CASES = [
    *(
        OpCase(
            "EncodePng", [ints(5, 7, channels, hi=256, dtype="T")], {"T": "T"},
            ("uint8",), compare=pixels, oracle="tf1",
        )
        for channels in (1, 2, 3, 4)
    ),
    OpCase(
        "EncodePng", [ints(5, 7, 1, hi=65536, dtype="T")], {"T": "T"}, ("uint16",), compare=pixels,
        oracle="tf1",
    ),
    OpCase("EncodePng", [ints(5, 7, hi=256, dtype="T")], {"T": "T"}, ("uint8",), raises=True),
    OpCase("EncodePng", [ints(5, 7, 5, hi=256, dtype="T")], {"T": "T"}, ("uint8",), raises=True),
    *(
        OpCase(
            "DecodePng", [strings(_file(_RGB, "PNG", mode))],
            {"channels": channels, "dtype": "T"}, ("uint8", "uint16"), type_attr="dtype",
        )
        for mode, channels in (
            ("RGB", 0), ("RGB", 3), ("RGB", 4), ("L", 0), ("L", 3), ("RGBA", 0), ("RGBA", 3),
            ("LA", 0), ("P", 0), ("1", 0),
        )
    ),
    *(
        OpCase("DecodePng", [strings(_WIDE)], {"channels": channels, "dtype": "T"},
               ("uint8", "uint16"), type_attr="dtype")
        for channels in (0, 3, 4)
    ),
    OpCase("DecodePng", [strings(b"no image")], raises=True),
    OpCase("EncodeJpeg", [ints(8, 8, 3, lo=100, hi=120, dtype="uint8")], {"quality": 90},
           compare=pixels, **_ROUNDING),
    OpCase("EncodeJpeg", [ints(8, 8, 1, lo=100, hi=120, dtype="uint8")], {"format": "grayscale"},
           compare=pixels, **_ROUNDING),
    OpCase("EncodeJpeg", [ints(8, 8, 2, hi=9, dtype="uint8")], raises=True),
    *(
        OpCase("DecodeJpeg", [strings(data)],
               {"channels": channels, "dct_method": method, "fancy_upscaling": fancy})
        for data in (_JPEG, _GREY)
        for channels in (0, 1, 3)
        for method in ("", "INTEGER_FAST", "INTEGER_ACCURATE")
        for fancy in (True, False)
    ),
    OpCase("DecodeJpeg", [strings(_JPEG)], {"ratio": 2, **_ACCURATE}),
    OpCase("DecodeJpeg", [strings(_JPEG[:100])], raises=True),
    OpCase("DecodeAndCropJpeg", [strings(_FULL), const([2, 3, 8, 9])], _ACCURATE),
    OpCase("DecodeAndCropJpeg", [strings(_JPEG), const([2, 3, 80, 9])], raises=True),
    OpCase("ExtractJpegShape", [strings(_JPEG)], {"output_type": "T"}, ("int32", "int64"),
           type_attr="output_type"),
    OpCase("ExtractJpegShape", [strings(_GREY)]),
    OpCase("DecodeGif", [strings(_gif())]),
    *(
        OpCase("DecodeImage", [strings(data)], {"channels": channels, "dtype": "T"},
               ("uint8", "uint16", "float32"), type_attr="dtype")
        for data, channels in (
            (_file(_RGB, "PNG"), 0), (_WIDE, 3), (_gif(), 0), (_file(_RGB, "BMP"), 3),
            (_file(_RGB, "PNG", "RGBA"), 3),
        )
    ),
    OpCase("DecodeImage", [strings(_gif())], {"expand_animations": False}),
    OpCase("DecodeImage", [strings(b"text")], raises=True),
    OpCase("DecodeBmp", [strings(_file(_RGB, "BMP"))]),
    OpCase("DecodeBmp", [strings(_file(_RGB, "BMP"))], {"channels": 3}),
    OpCase("DecodeBmp", [strings(_file(_RGB, "BMP"))], {"channels": 4}, raises=True,
           oracle="tf1"),
]  # fmt: skip
