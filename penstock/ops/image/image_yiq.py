"""Hue, saturation and value turned and scaled in the colour space YIQ.

There hue is an angle in the plane of I and Q and saturation the distance from its origin, so that
the whole change is one matrix of 3 by 3 for all pixels, without the cases of HSV's six sectors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext

_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
_FROM_YIQ = np.linalg.inv(_TO_YIQ)


def _matrix(delta_h: float, scale_s: float, scale_v: float) -> np.ndarray:
    across, along = scale_s * math.cos(delta_h), scale_s * math.sin(delta_h)
    turned = np.array([[1, 0, 0], [0, across, -along], [0, along, across]])
    return scale_v * (_FROM_YIQ @ turned @ _TO_YIQ)


def _kernel(images: Any, delta_h: Any, scale_s: Any, scale_v: Any) -> Any:
    if images.dim() < 3 or images.shape[-1] != 3:
        raise errors.invalid(
            "input must be at least 3-D and have 3 channels; got shape " + str(list(images.shape))
        )
    matrix = torch.from_numpy(_matrix(float(delta_h), float(scale_s), float(scale_v)).T)
    wide = images.to(torch.float32) @ matrix.to(images.device, torch.float32)
    return wide.to(images.dtype)


def _shape(ctx: ShapeContext) -> Dims:
    for name in ("delta_h", "scale_s", "scale_v"):
        ctx.rank(name, 0)
    return ctx.rank_at_least("images", 3)


define_op(
    "AdjustHsvInYiq",
    "images: T, delta_h: float, scale_s: float, scale_v: float -> output: T",
    attrs=["T: {uint8, int8, int16, int32, int64, half, float, double}"],
    shape=_shape,
    kernel=_kernel,
    host=("delta_h", "scale_s", "scale_v"),
    no_gradient="TensorFlow has none",
)
