"""Normalization of quantized tensors: by given statistics, or by those of each image's channels."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base.errors import invalid
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, first_input
from penstock.ops.quantized import quantized_range as ranges
from penstock.ops.quantized.quantized import NO_GRADIENT, TYPES, with_ends
from penstock.ops.quantized.quantized_range import F32, end, ends

# ---- by given statistics -------------------------------------------------------------------------

# Results have about 10 bits behind the point, and room to a million.
_FIXED_POINT = (F32(-(1 << 20)), F32(1 << 20))


def _batch_norm(
    t: Any, t_min: Any, t_max: Any, m: Any, m_min: Any, m_max: Any, v: Any, v_min: Any, v_max: Any,
    beta: Any, beta_min: Any, beta_max: Any, gamma: Any, gamma_min: Any, gamma_max: Any,
    out_type: Any, variance_epsilon: float, scale_after_normalization: bool,
) -> Any:  # fmt: skip
    if not m.numel():
        raise invalid("m, v, beta and gamma must have at least one element; found none")
    mean, variance, offset, factor = (
        ranges.number_tensor(values, end(low), end(high))
        for values, low, high in (
            (m, m_min, m_max), (v, v_min, v_max), (beta, beta_min, beta_max),
            (gamma, gamma_min, gamma_max),
        )
    )  # fmt: skip
    scale = 1.0 / (variance + float(F32(variance_epsilon))).sqrt()
    if scale_after_normalization:
        scale = scale * factor
    offset = -mean * scale + offset
    scale, offset = (
        ranges.quantized_tensor(x, *_FIXED_POINT, torch.int32) for x in (scale, offset)
    )
    given = end(t_min), end(t_max)
    values = ranges.requantized_exactly(t, given, _FIXED_POINT, torch.int32)
    one = ranges.quantized(1.0, *_FIXED_POINT, torch.int32)
    made = torch.div(values * scale, one, rounding_mode="trunc") + offset
    return made.to(out_type), *ends(t, *_FIXED_POINT)


def _batch_norm_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank("t", 4)
    depth = dims[3]
    for name in ("m", "v", "beta", "gamma"):
        size = ctx.rank(name, 1)[0]
        if None not in (depth, size) and depth != size:
            raise ValueError(f"{name} has {size} element(s); t has {depth} channel(s)")
        depth = size if depth is None else depth
    return (*dims[:3], depth)


_PAIRS = {name: (f"{name}_min", f"{name}_max") for name in ("t", "m", "v", "beta", "gamma")}

define_op(
    "QuantizedBatchNormWithGlobalNormalization",
    ", ".join(f"{n}: Tinput, {low}: float, {high}: float" for n, (low, high) in _PAIRS.items())
    + " -> result: out_type, result_min: float, result_max: float",
    attrs=[
        f"Tinput: {TYPES}", f"out_type: {TYPES}", "variance_epsilon: float",
        "scale_after_normalization: bool",
    ],
    shape=with_ends(_batch_norm_shape),
    kernel=_batch_norm,
    host=[name for pair in _PAIRS.values() for name in pair],
    no_gradient=NO_GRADIENT,
)  # fmt: skip


# ---- by each image's channels --------------------------------------------------------------------


def _instance_norm(
    x: Any, x_min: Any, x_max: Any, output_range_given: bool, given_y_min: float,
    given_y_max: float, variance_epsilon: float, min_separation: float,
) -> Any:  # fmt: skip
    low, high = end(x_min), end(x_max)
    if not low < high:
        raise invalid(f"input_min must be less than input_max : {low} >= {high}")
    if x.dim() != 4:
        raise invalid(f"x must have 4 dims; it has shape {list(x.shape)}")
    scale = (high - low) / F32(255)
    values = (x.to(torch.float32) * float(scale) + float(low)).to(torch.float64)
    variance, mean = torch.var_mean(values, (1, 2), correction=0, keepdim=True)
    normal = ((values - mean) * (variance + variance_epsilon).rsqrt()).to(torch.float32)
    if output_range_given:
        found = F32(given_y_min), F32(given_y_max)
    else:
        first, last = (F32(float(v)) for v in torch.aminmax(normal))
        found = first, max(last, first + F32(min_separation))
    return ranges.from_float(normal, *found, x.dtype), *ends(x, *found)


define_op(
    "QuantizedInstanceNorm",
    "x: T, x_min: float, x_max: float -> y: T, y_min: float, y_max: float",
    attrs=[
        f"T: {TYPES}", "output_range_given: bool = False", "given_y_min: float = 0.0",
        "given_y_max: float = 0.0", "variance_epsilon: float = 1e-05",
        "min_separation: float = 0.001",
    ],
    shape=with_ends(first_input),
    kernel=_instance_norm,
    host=("x_min", "x_max"),
    no_gradient=NO_GRADIENT,
)  # fmt: skip
