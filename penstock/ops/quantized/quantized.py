"""From floats to quantized integers and back, and from wide integers to narrow ones.

``QuantizeV2`` has three modes: ``MIN_COMBINED`` stretches the range over the integers as it is,
``MIN_FIRST`` moves it so that 0.0 is a step (the rule of ``quantized_range``, which the quantized
layers share), ``SCALED`` multiplies by one factor, so that 0.0 is 0.  All widen a range that does
not hold 0.0, or that is too narrow.

A result of 32 bits, as products and sums make it, goes back to 8 by ``Requantize`` into a range
that is given (``RequantizationRange`` finds the one that is used), or by
``QuantizeDownAndShrinkRange``, which is both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.quantized import quantized_range as ranges
from penstock.ops.quantized.quantized_range import F32, end, ends

TYPES = "{qint8, quint8, qint32, qint16, quint16}"
NO_GRADIENT = "TensorFlow has none"
_MODES = "mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'"
_ROUND_MODES = "round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'"
_GREATEST = np.finfo(F32).max


def check_ends(ctx: ShapeContext) -> None:
    """Refuses ends of ranges that are not scalars: the float inputs beside quantized ones."""
    for arg in ctx.op.op_def.inputs:
        if arg.dtype is not None and arg.dtype.name == "float32" and arg.name != "input":
            shapes = ctx[arg.name] if arg.is_list else [ctx[arg.name]]
            for dims in shapes:
                if dims is not None and len(dims):
                    raise ValueError(f"{arg.name} must be a scalar; it has rank {len(dims)}")


def with_ends(rule: Any) -> Any:
    """A rule of the first output as one of an op with quantized values and two ends."""

    def shapes(ctx: ShapeContext) -> list[Dims]:
        check_ends(ctx)
        return [rule(ctx), (), ()]

    return shapes


def _first(ctx: ShapeContext) -> Dims:
    check_ends(ctx)
    return ctx[ctx.op.op_def.inputs[0].name]


# ---- floats to integers --------------------------------------------------------------------------


def _wide_enough(low: np.float32, high: np.float32) -> tuple[np.float32, np.float32]:
    """The range with 0.0 in it, and not so narrow that all integers stand for one number."""
    if high < low:
        raise invalid(f"input_max_range must be larger than input_min_range; found {low} to {high}")
    least = max(F32(1), abs(low), abs(high)) / F32(100)
    low = min(F32(0), low)
    return low, max(F32(0), high, low + least)


def _combined(x: torch.Tensor, low: np.float32, high: np.float32, T: torch.dtype) -> torch.Tensor:
    least, greatest = ranges.limits(T)
    scale = F32((float(greatest) - float(least)) / float(high - low))
    places = (x.clamp(float(low), float(high)) - float(low)) * float(scale)
    if least:
        places = ranges.rounded(places - float(F32(-least)))
    else:
        places = places + 0.5
    return places.to(torch.int32).to(T)


def _factor(low: np.float32, high: np.float32, T: torch.dtype) -> np.float32:
    """Integers in 1.0, by the end that needs more of them."""
    least, greatest = ranges.limits(T)
    by_low = F32(least) / low if F32(least) * low > 0 else _GREATEST
    by_high = F32(greatest) / high if F32(greatest) * high > 0 else _GREATEST
    return min(by_low, by_high)


def _quantize_v2(
    input: Any, min_range: Any, max_range: Any, T: Any, mode: str, round_mode: str
) -> Any:
    if mode != "SCALED" and round_mode == "HALF_TO_EVEN":
        raise invalid(f"round_mode HALF_TO_EVEN goes with mode SCALED only; mode is {mode}")
    low, high = _wide_enough(end(min_range), end(max_range))
    if mode == "MIN_COMBINED":
        made = _combined(input, low, high, T)
    elif mode == "MIN_FIRST":
        made = ranges.from_float(input, low, high, T)
    else:
        factor = _factor(low, high, T)
        low, high = (F32(limit) / factor for limit in ranges.limits(T))
        places = input.clamp(float(low), float(high)) * float(factor)
        places = places.round() if round_mode == "HALF_TO_EVEN" else ranges.rounded(places)
        made = places.to(torch.int32).to(T)
    return made, *ends(input, low, high)


define_op(
    "QuantizeV2",
    "input: float, min_range: float, max_range: float"
    " -> output: T, output_min: float, output_max: float",
    attrs=[f"T: {TYPES}", _MODES, _ROUND_MODES],
    later=["narrow_range: bool = False", "axis: int = -1", "ensure_minimum_range: float = 0.01"],
    shape=with_ends(_first),
    kernel=_quantize_v2,
    host=("min_range", "max_range"),
    no_gradient=NO_GRADIENT,
)


# ---- integers to floats --------------------------------------------------------------------------


def _dequantize(input: Any, min_range: Any, max_range: Any, mode: str) -> Any:
    low, high = end(min_range), end(max_range)
    if mode == "MIN_FIRST":
        return ranges.to_float(input, low, high)
    least, greatest = ranges.limits(input.dtype)
    values = input.to(torch.float32)
    if mode == "SCALED":
        scale = high / F32(greatest)
        return values * float(max(low / F32(least), scale) if least else scale)
    scale = (high - low) / (F32(greatest) - F32(least))
    half = (F32(greatest) - F32(least) + F32(1)) / F32(2) if least else F32(0)
    return (values + float(half)) * float(scale) + float(low)


define_op(
    "Dequantize",
    "input: T, min_range: float, max_range: float -> output: float",
    attrs=[f"T: {TYPES}", _MODES],
    later=["narrow_range: bool = False", "axis: int = -1", "dtype: type = float"],
    shape=_first,
    kernel=_dequantize,
    host=("min_range", "max_range"),
    no_gradient=NO_GRADIENT,
)


# ---- wide integers to narrow ones ----------------------------------------------------------------


def _used(input: Any, low: np.float32, high: np.float32) -> tuple[np.float32, np.float32]:
    """The range that the values use, 0.0 or what is less its lower end."""
    if input.numel():
        least, greatest = (int(v) for v in torch.aminmax(input.to(torch.int32)))
    else:
        greatest, least = ranges.limits(input.dtype)
    first, last = (ranges.number(v, low, high, input.dtype) for v in (least, greatest))
    return min(F32(0), first), last


def _requantization_range(input: Any, input_min: Any, input_max: Any) -> Any:
    return ends(input, *_used(input, end(input_min), end(input_max)))


def _requantize(
    input: Any, input_min: Any, input_max: Any, requested_output_min: Any,
    requested_output_max: Any, out_type: Any,
) -> Any:  # fmt: skip
    low, high = end(requested_output_min), end(requested_output_max)
    if low > 0:
        raise invalid(f"requested_output_min must be <= 0, but got {low}")
    if high < low:
        raise invalid(
            f"requested_output_max must be >= requested_output_min ({low}), but got {high}"
        )
    given = end(input_min), end(input_max)
    return ranges.requantized(input, given, (low, high), out_type), *ends(input, low, high)


def _shrink(input: Any, input_min: Any, input_max: Any, out_type: Any) -> Any:
    given = end(input_min), end(input_max)
    used = _used(input, *given)
    return ranges.requantized(input, given, used, out_type), *ends(input, *used)


def _two_ends(ctx: ShapeContext) -> list[Dims]:
    check_ends(ctx)
    return [(), ()]


_IN = "input: Tinput, input_min: float, input_max: float"
_ENDS = "output_min: float, output_max: float"
_TINPUT, _OUT_TYPE = f"Tinput: {TYPES}", f"out_type: {TYPES}"
_HOST = ("input_min", "input_max")
_REQUESTED = ("requested_output_min", "requested_output_max")

for _name, _signature, _attrs, _rule, _kernel, _host in (
    (
        "RequantizationRange", f"{_IN} -> {_ENDS}", [_TINPUT], _two_ends, _requantization_range,
        _HOST,
    ),
    (
        "Requantize",
        f"{_IN}, {_REQUESTED[0]}: float, {_REQUESTED[1]}: float -> output: out_type, {_ENDS}",
        [_TINPUT, _OUT_TYPE], with_ends(_first), _requantize, (*_HOST, *_REQUESTED),
    ),
    (
        "QuantizeDownAndShrinkRange", f"{_IN} -> output: out_type, {_ENDS}", [_TINPUT, _OUT_TYPE],
        with_ends(_first), _shrink, _HOST,
    ),
):  # fmt: skip
    define_op(
        _name,
        _signature,
        attrs=_attrs,
        shape=_rule,
        kernel=_kernel,
        host=_host,
        no_gradient=NO_GRADIENT,
    )

# ---- public functions ----------------------------------------------------------------------------


def quantize(
    input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO", name: str | None = None,
) -> Any:  # fmt: skip
    """Floats as integers of few bits, and the range that these stand for.

    Args:
      input: a float32 tensor.
      min_range, max_range: float32 scalars: what the least and the greatest integer stand for;
        values beyond are cut off.  A range without 0.0, or one that is very narrow, is widened.
      T: ``tf.qint8``, ``tf.quint8``, ``tf.qint16``, ``tf.quint16`` or ``tf.qint32``.
      mode: "MIN_COMBINED" stretches the range over all integers, "MIN_FIRST" moves its lower end so
        that 0.0 is a step, "SCALED" multiplies by a factor.
      round_mode: "HALF_AWAY_FROM_ZERO", or for mode "SCALED" also "HALF_TO_EVEN".

    Returns:
      A namedtuple ``(output, output_min, output_max)``: a tensor of type ``T``, which ``run``
      gives as NumPy integers, and the float32 ends of its range.

    Raises:
      tf.errors.InvalidArgumentError: (in a step) ``max_range`` is less than ``min_range``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8).output).tolist()
      [0, 128, 255]
    """
    return make(
        "QuantizeV2", input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name
    )


def quantize_v2(
    input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED",
    name: str | None = None, round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> Any:  # fmt: skip
    """As ``quantize``, which is the newer name."""
    return quantize(input, min_range, max_range, T, mode, round_mode, name)


def dequantize(
    input: Any, min_range: Any, max_range: Any, mode: str = "MIN_COMBINED", name: str | None = None
) -> Tensor:
    """The floats that quantized integers stand for.

    Args:
      input: a tensor of a quantized type.
      min_range, max_range: float32 scalars: what the least and the greatest integer stand for.
      mode: what ``quantize`` was given.

    Returns:
      float32 of the shape of ``input``.
    """
    return make("Dequantize", input, min_range, max_range, mode=mode, name=name)
