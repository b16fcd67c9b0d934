"""Resizing quantized images, whose range stays as it is.

Weights of pixels are integers here: of 7 bits for 8-bit pixels, of 30 for 32-bit ones, which count
as float32 numbers do.  Quotients drop their fraction, also below 0.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import each, scalar
from penstock.ops.image import image_resize
from penstock.ops.quantized.quantized import NO_GRADIENT

_WEIGHT_BITS = {torch.uint8: 7, torch.int32: 30}


def _neighbours(
    found: int, length: int, align_corners: bool, half_pixel_centers: bool, bits: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """For each of ``length`` pixels the two among ``found`` around it, and the second's weight."""
    aligned = align_corners and length > 1
    parts = (found - 1, length - 1) if aligned else (found, length)
    scale = torch.tensor(float(parts[0])) / torch.tensor(float(parts[1]))
    places = torch.arange(length, dtype=torch.float32)
    places = (places + 0.5) * scale - 0.5 if half_pixel_centers else places * scale
    low = places.floor()
    weights = ((places - low) * float(1 << bits)).to(torch.int64)
    first, second = low.to(torch.int64), low.to(torch.int64) + 1
    return first.clamp_(min=0), second.clamp_(max=found - 1), weights


def _quotient(values: torch.Tensor, by: int) -> torch.Tensor:
    return torch.div(values, by, rounding_mode="trunc")


def _integers(images: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    height, width = images.shape[1:3]
    image_resize.check((height, width), size, align_corners, half_pixel_centers)
    bits = _WEIGHT_BITS[images.dtype]
    one = 1 << bits
    rules = align_corners, half_pixel_centers, bits
    above, below, down = (t.to(images.device) for t in _neighbours(height, size[0], *rules))
    left, right, across = (t.to(images.device) for t in _neighbours(width, size[1], *rules))
    across, down = across.view(-1, 1), down.view(-1, 1, 1)
    pixels = images.to(torch.float32).to(torch.int64)

    def row(rows: torch.Tensor) -> torch.Tensor:
        chosen = pixels.index_select(1, rows)
        first = chosen.index_select(2, left)
        return first * one + (chosen.index_select(2, right) - first) * across

    upper, lower = row(above), row(below)
    made = upper + _quotient(lower - upper, one) * down
    return _quotient(made + one // 2, one).to(images.dtype)


def _resized(
    images: Any, size: Any, min: Any, max: Any, align_corners: bool, half_pixel_centers: bool
) -> Any:
    resize = image_resize.bilinear if images.dtype.is_floating_point else _integers
    return resize(images, size, align_corners, half_pixel_centers), min, max


define_op(
    "QuantizedResizeBilinear",
    "images: T, size: int32, min: float, max: float"
    " -> resized_images: T, out_min: float, out_max: float",
    attrs=[
        "T: {quint8, qint32, float}", "align_corners: bool = False",
        "half_pixel_centers: bool = False",
    ],
    shape=each(image_resize.resized_shape, scalar, scalar),
    kernel=_resized,
    host=("size",),
    aliases=("min", "max"),
    no_gradient=NO_GRADIENT,
)  # fmt: skip
