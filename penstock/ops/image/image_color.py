"""Colours of images: hue, saturation, value; contrast.

The hue is a position on a circle of six: 0 red, 1 yellow, 2 green, 3 cyan, 4 blue, 5 magenta.  On
it each colour's share is a trapezoid, so both directions are arithmetic over whole channels,
without cases for the six sectors.  The gradient of RGB to HSV is that of the sector a pixel lies
in; where two channels are equal TensorFlow's choice decides (the largest: red before green before
blue).
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, RefusedAtBuild, ShapeContext
from penstock.ops.array import slicing

_FLOATS = "T: {half, bfloat16, float, double} = float"


def _channels(images: Any, least: int = 1) -> tuple[Any, Any, Any]:
    if images.dim() < least or not images.dim():
        raise errors.invalid(f"input must be at least {least}-D, got shape {list(images.shape)}")
    if images.shape[-1] != 3:
        raise errors.invalid(
            f"input must have 3 channels but instead has {images.shape[-1]} channels."
        )
    red, green, blue = images.unbind(-1)
    return red, green, blue


def _hue(red: Any, green: Any, blue: Any, high: Any, span: Any) -> Any:
    """Position on the circle of six, in [0, 6); 0 for greys."""
    sixth = torch.where(
        red == high, green - blue, torch.where(green == high, blue - red, red - green)
    )
    start = torch.where(red == high, 0.0, torch.where(green == high, 2.0, 4.0)).to(red.dtype)
    colored = span > 0
    hue = start + sixth / torch.where(colored, span, 1)
    return torch.where(colored, torch.where(hue < 0, hue + 6, hue), 0)


def _shares(hue: Any) -> Any:
    """How much of red, green and blue a fully saturated colour has: [..., 3]."""
    red = (hue - 3).abs() - 1
    green, blue = 2 - (hue - 2).abs(), 2 - (hue - 4).abs()
    return torch.stack((red, green, blue), -1).clamp_(0, 1)


def _to_hsv(images: Any) -> tuple[Any, Any, Any]:
    """Hue on the circle of six, saturation, value."""
    red, green, blue = _channels(images)
    low, high = images.amin(-1), images.amax(-1)
    span = high - low
    saturation = torch.where(high > 0, span / torch.where(high > 0, high, 1), 0)
    return _hue(red, green, blue, high, span), saturation, high


def _from_hsv(hue: Any, saturation: Any, value: Any) -> Any:
    saturation, value = saturation.unsqueeze(-1), value.unsqueeze(-1)
    return ((1 - saturation) + saturation * _shares(hue)) * value


def _three_channels(ctx: ShapeContext) -> Dims:
    dims = ctx.rank_at_least("images", 1)
    if dims is None:
        return None
    if dims[-1] not in (None, 3):
        raise RefusedAtBuild(
            f"input must have 3 channels but input only has {dims[-1]} channels.",
            "FailedPreconditionError",
        )
    return (*dims[:-1], 3)


def _rgb_to_hsv(images: Any) -> Any:
    hue, saturation, value = _to_hsv(images)
    return torch.stack((hue / 6, saturation, value), -1)


def _hsv_to_rgb(images: Any) -> Any:
    hue, saturation, value = _channels(images)
    return _from_hsv(hue * 6, saturation, value)


def _sector(channels: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """1.0 where red, green or blue is the largest, and the smallest, of a pixel."""
    red, green, blue = channels
    largest = [
        (red >= blue, red >= green), (green > red, green >= blue), (blue > red, blue > green),
    ]  # fmt: skip
    smallest = [
        (red < blue, red < green), (green <= red, green < blue), (blue <= red, blue <= green),
    ]  # fmt: skip
    high, low = (
        [make("Cast", make("LogicalAnd", *pair), DstT=red.dtype) for pair in pairs]
        for pairs in (largest, smallest)
    )
    return high, low


def _rgb_to_hsv_grad(op: Any, grad: Any) -> Any:
    def channel(tensor: Any, i: int) -> Any:
        return slicing.getitem(tensor, (..., i))

    def over(value: Any) -> Any:
        return make("DivNoNan", convert_to_tensor(1.0, value.dtype), value)

    x = [channel(op.inputs[0], i) for i in range(3)]
    high, low = _sector(x)
    lit = [make("Cast", c > 0, DstT=c.dtype) for c in x]
    value = high[0] * x[0] + high[1] * x[1] + high[2] * x[2]
    least = low[0] * x[0] + low[1] * x[1] + low[2] * x[2]
    span = over(value - least)
    steep = span * span
    parts = []
    for i in range(3):
        after, last = (i + 1) % 3, (i + 2) % 3
        of_saturation = lit[i] * (high[i] * least * over(value * value) - low[i] * over(value))
        # The hue is linear in the middle channel; it turns the other way as another is largest.
        turn = lit[i] * high[i] * (x[last] - x[after]) * steep
        turn += lit[after] * high[after] * _turned(x, low, i, last, after, span, steep, -1.0)
        turn += lit[last] * high[last] * _turned(x, low, i, after, last, span, steep, 1.0)
        parts.append(
            channel(grad, 2) * high[i]
            + channel(grad, 1) * of_saturation
            + channel(grad, 0) * turn / 6.0
        )
    return make("Pack", parts, axis=-1)


def _turned(
    x: list[Tensor], low: list[Tensor], i: int, other: int, largest: int, span: Any, steep: Any,
    sign: float,
) -> Any:  # fmt: skip
    """The slope of the hue in channel ``i``, where ``largest`` is another one."""
    as_least = low[i] * (x[other] - x[largest]) * steep
    return sign * (low[other] * span - as_least)


define_op(
    "RGBToHSV",
    "images: T -> output: T",
    attrs=[_FLOATS],
    shape=_three_channels,
    kernel=_rgb_to_hsv,
    gradient=_rgb_to_hsv_grad,
)
define_op(
    "HSVToRGB",
    "images: T -> output: T",
    attrs=[_FLOATS],
    shape=_three_channels,
    kernel=_hsv_to_rgb,
    no_gradient="TensorFlow has none",
)

# ---- adjustments ---------------------------------------------------------------------------


def _at_least_3d(ctx: ShapeContext) -> Dims:
    for name in ctx.op.inputs_by_name():
        if name != "images":
            ctx.rank(name, 0)
    return ctx.rank_at_least("images", 3)


def _scaled(images: Any, factor: Any) -> Any:
    if images.dim() < 3:
        raise errors.invalid(f"input must be at least 3-D, got shape {list(images.shape)}")
    wide = images.to(torch.float32)
    mean = wide.mean((-3, -2), keepdim=True)
    return ((wide - mean) * factor + mean).to(images.dtype)


def _adjust_contrast(images: Any, contrast_factor: Any, min_value: Any, max_value: Any) -> Any:
    made = _scaled(images.to(torch.float32), contrast_factor)
    return torch.minimum(torch.maximum(made, min_value), max_value)


def _adjust_contrast_v2(images: Any, contrast_factor: Any) -> Any:
    return _scaled(images, contrast_factor)


def _adjust_hue(images: Any, delta: Any) -> Any:
    wide = images.to(torch.float32)
    red, green, blue = _channels(wide, 3)
    low, high = wide.amin(-1), wide.amax(-1)
    span = high - low
    hue = torch.remainder(_hue(red, green, blue, high, span) + 6 * delta, 6)
    return (low.unsqueeze(-1) + span.unsqueeze(-1) * _shares(hue)).to(images.dtype)


def _adjust_saturation(images: Any, scale: Any) -> Any:
    _channels(images, 3)
    hue, saturation, value = _to_hsv(images.to(torch.float32))
    return _from_hsv(hue, (saturation * scale).clamp_(0, 1), value).to(images.dtype)


define_op(
    "AdjustContrast",
    "images: T, contrast_factor: float, min_value: float, max_value: float -> output: float",
    attrs=["T: {uint8, int8, int16, int32, int64, float, double}"],
    shape=_at_least_3d,
    kernel=_adjust_contrast,
    no_gradient="TensorFlow has none",
)
for _name, _factor, _kernel in (
    ("AdjustContrastv2", "contrast_factor", _adjust_contrast_v2),
    ("AdjustHue", "delta", _adjust_hue),
    ("AdjustSaturation", "scale", _adjust_saturation),
):
    define_op(
        _name,
        f"images: T, {_factor}: float -> output: T",
        attrs=["T: {half, float} = float"],
        shape=_at_least_3d,
        kernel=_kernel,
        no_gradient="TensorFlow has none",
    )

# ---- public functions ----------------------------------------------------------------------


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value, all in [0, 1], of red, green and blue in [0, 1].

    Args:
      images: [..., 3] of a floating type.

    Returns:
      The shape and type of ``images``.
    """
    return make("RGBToHSV", images, name=name)


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Red, green and blue in [0, 1] of hue, saturation and value in [0, 1].

    Args:
      images: [..., 3] of a floating type.

    Returns:
      The shape and type of ``images``.
    """
    return make("HSVToRGB", images, name=name)
