"""Resizing by weighted sums of rows and columns: bicubic, area, any scale and translation.

All are separable and linear: output row ``i`` is a sum of few input rows, given by ``Taps``.  Few
taps are summed one by one; many (an image made much smaller) are a product with a matrix.  The
gradient spreads each output row over the same input rows.

Bicubic takes its weights, as TensorFlow does, from a table of 1024 steps between two pixels.

State: that table, for both forms of the curve.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np
import torch

from penstock.foundation.base import errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import same_as
from penstock.ops.image import image_resize

_NUMBERS = "int8, uint8, int16, uint16, int32, int64, half, float, double"
_FEW = 8
_STEPS = 1024
# Sums of weights smaller than this are not divided by.
_TINY = 1000 * np.finfo(np.float32).tiny


class Taps(NamedTuple):
    """Which inputs make each output along one dim, and how much of each: both [outputs, taps]."""

    index: np.ndarray
    weight: np.ndarray


def _matrix(taps: Taps, size: int, dtype: Any) -> Any:
    rows = np.zeros((len(taps.index), size), np.float64)
    np.add.at(rows, (np.arange(len(taps.index))[:, None], taps.index), taps.weight)
    return torch.from_numpy(rows).to(dtype)


def _gathered(x: Any, dim: int, taps: Taps) -> Any:
    """``x`` with dim ``dim`` made anew from its weighted sums."""
    outputs, count = taps.index.shape
    if count > _FEW:
        made = torch.tensordot(_matrix(taps, x.shape[dim], x.dtype).to(x.device), x, ([1], [dim]))
        return made.movedim(0, dim)
    spread = [-1 if i == dim else 1 for i in range(x.dim())]
    index = torch.from_numpy(taps.index).to(x.device)
    weight = torch.from_numpy(taps.weight).to(x.device, x.dtype)
    total = x.index_select(dim, index[:, 0]).mul_(weight[:, 0].view(spread))
    for tap in range(1, count):
        total.addcmul_(x.index_select(dim, index[:, tap]), weight[:, tap].view(spread))
    return total


def _spread(x: Any, dim: int, taps: Taps, size: int) -> Any:
    """The transpose of ``_gathered``: ``size`` rows that the rows of ``x`` were made of."""
    if taps.index.shape[1] > _FEW:
        made = torch.tensordot(_matrix(taps, size, x.dtype).to(x.device), x, ([0], [dim]))
        return made.movedim(0, dim)
    shape = list(x.shape)
    shape[dim] = size
    total = x.new_zeros(shape)
    spread = [-1 if i == dim else 1 for i in range(x.dim())]
    index = torch.from_numpy(taps.index).to(x.device)
    weight = torch.from_numpy(taps.weight).to(x.device, x.dtype)
    for tap in range(taps.index.shape[1]):
        total.index_add_(dim, index[:, tap], x * weight[:, tap].view(spread))
    return total


def _both(images: Any, rows: Taps, columns: Taps) -> Any:
    return _gathered(_gathered(images.to(torch.float32), 1, rows), 2, columns).contiguous()


def _both_back(grads: Any, original: Any, rows: Taps, columns: Taps) -> Any:
    grads = grads.to(original.dtype)
    made = _spread(grads, 2, columns, original.shape[2])
    return _spread(made, 1, rows, original.shape[1]).contiguous()


def _scale(found: int, length: int, align_corners: bool) -> np.float32:
    if align_corners and length > 1:
        return np.float32((found - 1) / np.float32(length - 1))
    return np.float32(found / np.float32(length))


# ---- bicubic -------------------------------------------------------------------------------


@functools.cache
def _curve(a: float) -> np.ndarray:
    """float32 [1025, 2]: weights of pixels at distance ``x`` and ``1 + x``, x = i / 1024."""
    real = np.float32
    slope = real(a)
    near = np.arange(_STEPS + 1, dtype=real) / real(_STEPS)
    far = near + real(1)
    inner = ((slope + 2) * near - (slope + 3)) * near * near + 1
    outer = ((slope * far - 5 * slope) * far + 8 * slope) * far - 4 * slope
    return np.stack((inner, outer), 1).astype(real)


@functools.lru_cache(maxsize=256)
def _cubic_taps(found: int, length: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    real = np.float32
    scale = _scale(found, length, align_corners)
    places = np.arange(length, dtype=real)
    places = (places + real(0.5)) * scale - real(0.5) if half_pixel_centers else places * scale
    first = np.floor(places)
    step = np.rint((places - first) * real(_STEPS)).astype(np.int64)
    table = _curve(-0.5 if half_pixel_centers else -0.75)
    weight = np.stack(
        (table[step, 1], table[step, 0], table[_STEPS - step, 0], table[_STEPS - step, 1]), 1
    )
    wanted = first.astype(np.int64)[:, None] + np.arange(-1, 3)
    index = np.clip(wanted, 0, found - 1)
    if half_pixel_centers:
        weight = np.where(index == wanted, weight, real(0))
        total = weight.sum(1, keepdims=True, dtype=real)
        weight = np.where(np.abs(total) >= _TINY, weight / total, weight)
    return Taps(index, weight)


def _cubic(
    images: Any, size: Any, align_corners: bool, half_pixel_centers: bool
) -> tuple[Taps, Taps]:
    image_resize.check(images.shape[1:3], size, align_corners, half_pixel_centers)
    rules = (align_corners, half_pixel_centers)
    rows, columns = (_cubic_taps(images.shape[i + 1], size[i], *rules) for i in (0, 1))
    return rows, columns


def _bicubic(images: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    taps = _cubic(images, size, align_corners, half_pixel_centers)
    image_resize.check_channels(images)
    return _both(images, *taps)


def _bicubic_back(
    grads: Any, original_image: Any, align_corners: bool, half_pixel_centers: bool
) -> Any:
    size = list(grads.shape[1:3])
    taps = _cubic(original_image, size, align_corners, half_pixel_centers)
    return _both_back(grads, original_image, *taps)


def _bicubic_grad(op: Any, grad: Any) -> list[Any]:
    if op.inputs[0].dtype.name not in ("float32", "float64"):
        return [None, None]
    rules = {name: op.attrs[name] for name in ("align_corners", "half_pixel_centers")}
    return [make("ResizeBicubicGrad", grad, op.inputs[0], **rules), None]


_RULES = ["align_corners: bool = False", "half_pixel_centers: bool = False"]
define_op(
    "ResizeBicubic",
    "images: T, size: int32 -> resized_images: float",
    attrs=[f"T: {{{_NUMBERS}}}", *_RULES],
    shape=image_resize.resized_shape,
    kernel=_bicubic,
    host=("size",),
    gradient=_bicubic_grad,
)
define_op(
    "ResizeBicubicGrad",
    "grads: float, original_image: T -> output: T",
    attrs=["T: {float, double}", *_RULES],
    shape=same_as("original_image"),
    kernel=_bicubic_back,
    no_gradient="TensorFlow has none",
)

# ---- area ----------------------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def _area_taps(found: int, length: int, align_corners: bool) -> Taps:
    """Each output covers [i * scale, (i + 1) * scale); a pixel counts by what is covered of it."""
    scale = _scale(found, length, align_corners)
    begin = np.arange(length, dtype=np.float32) * scale
    end = np.arange(1, length + 1, dtype=np.float32) * scale
    first, last = np.floor(begin).astype(np.int64), np.ceil(end).astype(np.int64)
    pixels = first[:, None] + np.arange(max(int((last - first).max()), 1))
    low, high = np.maximum(pixels, begin[:, None]), np.minimum(pixels + 1, end[:, None])
    covered = np.where(pixels < last[:, None], high - low, 0)
    # Where a pixel is cut at both ends TensorFlow takes the whole width.
    inside = (pixels < begin[:, None]) & (pixels + 1 > end[:, None])
    covered = np.where(inside, scale, covered).astype(np.float32)
    with np.errstate(invalid="ignore"):  # an area of nothing, whose mean is NaN
        return Taps(np.clip(pixels, 0, found - 1), covered / scale)


def _area(images: Any, size: Any, align_corners: bool) -> Any:
    image_resize.check(images.shape[1:3], size, align_corners, False)
    image_resize.check_channels(images)
    rows, columns = (_area_taps(images.shape[i + 1], size[i], align_corners) for i in (0, 1))
    return _both(images, rows, columns)


define_op(
    "ResizeArea",
    "images: T, size: int32 -> resized_images: float",
    attrs=[f"T: {{{_NUMBERS}}}", "align_corners: bool = False"],
    shape=image_resize.resized_shape,
    kernel=_area,
    host=("size",),
    no_gradient="TensorFlow has none",
)

# ---- scale and translate -------------------------------------------------------------------


def _lanczos(radius: float) -> Any:
    def weight(x: np.ndarray) -> np.ndarray:
        near = np.pi * np.maximum(x, 1e-3)
        inside = radius * np.sin(near) * np.sin(near / radius) / (near * near)
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, inside))

    return weight


def _gaussian(x: np.ndarray) -> np.ndarray:
    return np.where(x >= 1.5, 0, np.exp(-x * x / 0.5))


def _box(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - x, 0)


def _piecewise(inner: tuple[float, ...], outer: tuple[float, ...]) -> Any:
    """Two cubics, given by their coefficients: one up to 1, one up to 2."""

    def weight(x: np.ndarray) -> np.ndarray:
        return np.where(x < 1, np.polyval(inner, x), np.where(x < 2, np.polyval(outer, x), 0))

    return weight


# How far a kernel reaches, and its weight at a distance.
_KERNELS: dict[str, tuple[float, Any]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, _box),
    "triangle": (1.0, _triangle),
    "keyscubic": (2.0, _piecewise((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2))),
    "mitchellcubic": (
        2.0, _piecewise((7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9)),
    ),
}  # fmt: skip


def _sampled_taps(
    found: int, length: int, scale: float, shift: float, kernel: str, antialias: bool
) -> Taps:
    if not scale > 0:
        raise errors.invalid(f"scale must be positive; found {scale}")
    radius, weigh = _KERNELS[kernel]
    real = np.float32
    inverse = real(1) / real(scale)
    offset = -inverse * real(shift)
    wide = max(float(inverse), 1.0) if antialias else 1.0
    places = (np.arange(length, dtype=real) + real(0.5)) * inverse + offset
    reach = radius * wide
    first = np.clip(np.ceil(places - reach - 0.5), 0, found - 1).astype(np.int64)
    last = np.clip(np.floor(places + reach - 0.5), 0, found - 1).astype(np.int64)
    pixels = first[:, None] + np.arange(min(2 * math.ceil(reach) + 1, found))
    distance = np.abs((pixels + real(0.5) - places[:, None]) / real(wide))
    weight = np.where(pixels <= last[:, None], weigh(distance), 0)
    outside = (places < 0) | (places > found)
    weight = np.where(outside[:, None], 0, weight)
    total = weight.sum(1, keepdims=True)
    weight = np.divide(weight, total, out=weight.copy(), where=np.abs(total) >= _TINY)
    return Taps(np.clip(pixels, 0, found - 1), weight.astype(real))


def _sampled(
    in_size: Any, size: Any, scale: Any, translation: Any, kernel_type: str, antialias: bool
) -> tuple[Taps, Taps]:
    if kernel_type not in _KERNELS:
        raise errors.invalid(
            f"Unrecognized kernel type: {kernel_type!r}; allowed are {list(_KERNELS)}"
        )
    image_resize.check(in_size, size, False, False)
    rows, columns = (
        _sampled_taps(in_size[i], size[i], scale[i], translation[i], kernel_type, antialias)
        for i in (0, 1)
    )
    return rows, columns


def _scale_and_translate(
    images: Any, size: Any, scale: Any, translation: Any, kernel_type: str, antialias: bool
) -> Any:
    taps = _sampled(images.shape[1:3], size, scale, translation, kernel_type, antialias)
    return _both(images, *taps)


def _scale_and_translate_back(
    grads: Any, original_image: Any, scale: Any, translation: Any, kernel_type: str,
    antialias: bool,
) -> Any:  # fmt: skip
    taps = _sampled(
        original_image.shape[1:3], grads.shape[1:3], scale, translation, kernel_type, antialias
    )
    return _both_back(grads, original_image, *taps)


def _scale_and_translate_grad(op: Any, grad: Any) -> list[Any]:
    images, _, scale, translation = op.inputs
    attrs = {name: op.attrs[name] for name in ("kernel_type", "antialias")}
    back = make("ScaleAndTranslateGrad", grad, images, scale, translation, **attrs)
    return [back, None, None, None]


_SAMPLING = ["kernel_type: string = 'lanczos3'", "antialias: bool = True"]
define_op(
    "ScaleAndTranslate",
    "images: T, size: int32, scale: float, translation: float -> resized_images: float",
    attrs=[
        "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}", *_SAMPLING,
    ],
    shape=image_resize.resized_shape,
    kernel=_scale_and_translate,
    host=("size", "scale", "translation"),
    gradient=_scale_and_translate_grad,
)  # fmt: skip
define_op(
    "ScaleAndTranslateGrad",
    "grads: T, original_image: T, scale: float, translation: float -> output: T",
    attrs=["T: {float}", *_SAMPLING],
    shape=same_as("original_image"),
    kernel=_scale_and_translate_back,
    host=("scale", "translation"),
    no_gradient="TensorFlow has none",
)

# ---- public functions ----------------------------------------------------------------------


resize_bicubic = image_resize.resizing(
    "resize_bicubic",
    "ResizeBicubic",
    "Images of another size, by cubic curves through the four pixels around a place.",
    image_resize.resize_bilinear,
)


def resize_area(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None
) -> Tensor:
    """Images of another size, each pixel the mean of the area that it covers.

    Args:
      images: [batch, height, width, channels] of any number type.
      size: int32 [2]: new height and width.
      align_corners: the centres of the corner pixels keep their place.

    Returns:
      float32 [batch, *size, channels].
    """
    return make("ResizeArea", images, size, name=name, align_corners=align_corners)
