"""Floats as they are after being stored in few bits: simulated quantization.

Two families.  ``FakeQuant...`` rounds to ``2 ** num_bits`` (one less if the range is narrow) steps
between a least and a greatest value, both moved a little so that 0 is one of the steps; its
gradient goes through where values are in the range, and to the ends where they are beyond.
``QuantizeAndDequantize...`` scales by the end that is farther from 0; its gradient goes through.

Tensors that are stored as integers are in ``quantized`` and ``quantized_layers``.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import errors, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, first_input, show

# ---- fake quantization ---------------------------------------------------------------------


def _nudged(low: Any, high: Any, num_bits: int, narrow_range: bool) -> tuple[Any, Any, Any]:
    """The ends moved so that 0 is a step, and the size of a step; tensors of one shape."""
    if not 2 <= num_bits <= 16:
        raise errors.invalid(f"num_bits must be between 2 and 16, inclusive; found {num_bits}")
    least, most = int(narrow_range), (1 << num_bits) - 1
    step = (high - low) / (most - least)
    zero = least - low / step
    # Halves go away from zero, other than with torch.round.
    zero = torch.where(zero < least, least, torch.where(zero > most, most, (zero + 0.5).floor()))
    return (least - zero) * step, (most - zero) * step, step


def _rounded(inputs: Any, low: Any, high: Any, num_bits: int, narrow_range: bool) -> Any:
    begin, end, step = _nudged(low, high, num_bits, narrow_range)
    # A range that ends before it begins is its begin, which is why the end comes first here.
    shifted = torch.maximum(torch.minimum(inputs, end), begin) - begin
    # Values halfway between two steps show that TensorFlow divides where there are channels.
    steps = shifted / step if low.dim() else shifted * (1 / step)
    made = (steps + 0.5).floor() * step + begin
    return torch.where((low == 0) & (high == 0), 0, made)


def _parts(
    gradients: Any, inputs: Any, low: Any, high: Any, num_bits: int, narrow_range: bool
) -> tuple[Any, Any, Any]:
    """Gradients of the values in the range, below it and above it."""
    if gradients.shape != inputs.shape:
        raise errors.invalid(
            "Inputs to operation must have the same size and shape: gradients has"
            f" {list(gradients.shape)}, inputs has {list(inputs.shape)}"
        )
    begin, end, _ = _nudged(low, high, num_bits, narrow_range)
    no_range = (low == 0) & (high == 0)
    below, above = (inputs < begin) & ~no_range, (inputs > end) & ~no_range
    # NaN is nowhere; and TensorFlow multiplies, so that no infinity is hidden.
    between = ((inputs >= begin) & (inputs <= end)) | no_range
    return gradients * between, torch.where(below, gradients, 0), torch.where(above, gradients, 0)


def _ends(min: float, max: float, like: Any) -> tuple[Any, Any]:
    if not min < max:
        raise errors.invalid(f"min has to be smaller than max, was: {min} >= {max}")
    ends = (torch.tensor(end, dtype=torch.float32, device=like.device) for end in (min, max))
    return next(ends), next(ends)


def _by_args(inputs: Any, min: float, max: float, num_bits: int, narrow_range: bool) -> Any:
    return _rounded(inputs, *_ends(min, max, inputs), num_bits, narrow_range)


def _by_args_back(
    gradients: Any, inputs: Any, min: float, max: float, num_bits: int, narrow_range: bool
) -> Any:
    low, high = _ends(min, max, inputs)
    return _parts(gradients, inputs, low, high, num_bits, narrow_range)[0]


def _by_vars(inputs: Any, min: Any, max: Any, num_bits: int, narrow_range: bool) -> Any:
    return _rounded(inputs, min, max, num_bits, narrow_range)


def _by_vars_back(
    gradients: Any, inputs: Any, min: Any, max: Any, num_bits: int, narrow_range: bool
) -> Any:
    inside, below, above = _parts(gradients, inputs, min, max, num_bits, narrow_range)
    return inside, below.sum(), above.sum()


def _by_channel_back(
    gradients: Any, inputs: Any, min: Any, max: Any, num_bits: int, narrow_range: bool
) -> Any:
    _check_channels(inputs, min, max)
    inside, below, above = _parts(gradients, inputs, min, max, num_bits, narrow_range)
    channels = min.shape[0]
    rows = inputs.numel() // channels if channels else 0
    return inside, *(part.reshape(rows, channels).sum(0) for part in (below, above))


def _by_channel(inputs: Any, min: Any, max: Any, num_bits: int, narrow_range: bool) -> Any:
    _check_channels(inputs, min, max)
    return _rounded(inputs, min, max, num_bits, narrow_range)


def _check_channels(inputs: Any, min: Any, max: Any) -> None:
    for name, end in (("min", min), ("max", max)):
        if end.dim() != 1 or end.shape[0] != inputs.shape[-1]:
            raise errors.invalid(
                f"{name} has incorrect size, expected {inputs.shape[-1]} was {list(end.shape)}"
            )


def _alike(ctx: ShapeContext) -> Dims:
    if not shapes.is_compatible_static(ctx["gradients"], ctx["inputs"]):
        raise ValueError(
            f"gradients and inputs must have one shape; found {show(ctx['gradients'])} and"
            f" {show(ctx['inputs'])}"
        )
    return shapes.merge_static(ctx["gradients"], ctx["inputs"])


def _like_gradients(ctx: ShapeContext) -> Dims:
    """That the inputs have the same shape is looked at by the run only, as in TensorFlow."""
    return ctx["gradients"]


def _scalars(ctx: ShapeContext) -> None:
    ctx.rank("min", 0)
    ctx.rank("max", 0)


def _like_inputs(ctx: ShapeContext) -> Dims:
    _scalars(ctx)
    return ctx["inputs"]


def _back_shape(ctx: ShapeContext) -> list[Dims]:
    _scalars(ctx)
    return [_alike(ctx), (), ()]


def _channels(ctx: ShapeContext) -> tuple[Dims, int | None]:
    dims = ctx.rank_at_least("inputs", 1)
    found = [ctx.rank("min", 1)[0], ctx.rank("max", 1)[0], None if dims is None else dims[-1]]
    known = {size for size in found if size is not None}
    if len(known) > 1:
        raise ValueError(f"min and max must have one entry a channel; found sizes {found}")
    count = known.pop() if known else None
    return (None if dims is None else (*dims[:-1], count)), count


def _like_channels(ctx: ShapeContext) -> Dims:
    return _channels(ctx)[0]


def _channels_back_shape(ctx: ShapeContext) -> list[Dims]:
    dims, count = _channels(ctx)
    _alike(ctx)
    return [dims, (count,), (count,)]


def _back_of(op_type: str, *names: str) -> Any:
    def gradient(op: Any, grad: Any) -> Any:
        attrs = {name: op.attrs[name] for name in names}
        made = make(op_type, grad, *op.inputs, **attrs)
        return made if isinstance(made, Tensor) else list(made)

    return gradient


_BITS = ("num_bits", "narrow_range")
_BIT_ATTRS = ["num_bits: int = 8", "narrow_range: bool = False"]
_END_ATTRS = ["min: float = -6.0", "max: float = 6.0"]
_BACKS = "backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float"
_NONE = "TensorFlow has none"

for _name, _inputs, _outputs, _attrs, _rule, _kernel, _gradient in (
    (
        "FakeQuantWithMinMaxArgs", "inputs: float", "outputs: float", _END_ATTRS, first_input,
        _by_args, _back_of("FakeQuantWithMinMaxArgsGradient", "min", "max", *_BITS),
    ),
    (
        "FakeQuantWithMinMaxArgsGradient", "gradients: float, inputs: float", "backprops: float",
        _END_ATTRS, _like_gradients, _by_args_back, None,
    ),
    (
        "FakeQuantWithMinMaxVars", "inputs: float, min: float, max: float", "outputs: float", [],
        _like_inputs, _by_vars, _back_of("FakeQuantWithMinMaxVarsGradient", *_BITS),
    ),
    (
        "FakeQuantWithMinMaxVarsGradient",
        "gradients: float, inputs: float, min: float, max: float", _BACKS, [], _back_shape,
        _by_vars_back, None,
    ),
    (
        "FakeQuantWithMinMaxVarsPerChannel", "inputs: float, min: float, max: float",
        "outputs: float", [], _like_channels, _by_channel,
        _back_of("FakeQuantWithMinMaxVarsPerChannelGradient", *_BITS),
    ),
    (
        "FakeQuantWithMinMaxVarsPerChannelGradient",
        "gradients: float, inputs: float, min: float, max: float", _BACKS, [],
        _channels_back_shape, _by_channel_back, None,
    ),
):  # fmt: skip
    define_op(
        _name,
        f"{_inputs} -> {_outputs}",
        attrs=[*_attrs, *_BIT_ATTRS],
        shape=_rule,
        kernel=_kernel,
        gradient=_gradient,
        no_gradient=None if _gradient else _NONE,
    )

# ---- quantize and dequantize ---------------------------------------------------------------


def _steps(
    low: float, high: float, signed: bool, num_bits: int, narrow_range: bool, far: float
) -> tuple[float, float, float, float]:
    """Steps in 1, size of a step, and the ends of the range that the integers reach.

    ``far``: how many steps are in 1 where no end says so, as of negative numbers for unsigned
    integers: the type's greatest number, with which TensorFlow computes on.
    """
    if not (num_bits > 0 and num_bits < (62 if signed else 63)):
        raise errors.invalid(f"num_bits is out of range: {num_bits} with signed_input {signed}")
    least = -(1 << (num_bits - 1)) + int(narrow_range) if signed else 0
    most = (1 << (num_bits - 1)) - 1 if signed else (1 << num_bits) - 1
    by_low = least / low if least * low > 0 else far
    by_high = most / high if most * high > 0 else far
    if by_low < by_high:
        return by_low, low / least, low, most * (low / least)
    return by_high, high / most, least * (high / most), high


def _there_and_back(
    input: Any, low: Any, high: Any, signed: bool, num_bits: int, given: bool, narrow_range: bool,
    half_up: bool,
) -> Any:  # fmt: skip
    if not input.numel():
        return input.clone()
    if not given:
        low, high = float(input.min()), float(input.max())
    elif not low <= high:
        raise errors.invalid(f"Invalid range: input_min {low} > input_max {high}")
    far = torch.finfo(input.dtype).max
    scale, size, low, high = _steps(low, high, signed, num_bits, narrow_range, far)
    # The lower end wins where it is the greater one.
    values = input.clamp(max=high).clamp(min=low) if given else input
    values = values * scale
    values = (values + 0.5).floor() if half_up else values.round()
    return values * size


def _v1(
    input: Any, signed_input: bool, num_bits: int, range_given: bool, input_min: float,
    input_max: float,
) -> Any:  # fmt: skip
    limits = (signed_input, num_bits, range_given, False, False)
    return _there_and_back(input, input_min, input_max, *limits)


def _v2(
    input: Any, input_min: float, input_max: float, signed_input: bool, num_bits: int,
    range_given: bool, round_mode: str, narrow_range: bool,
) -> Any:  # fmt: skip
    limits = (signed_input, num_bits, range_given, narrow_range, round_mode == "HALF_UP")
    return _there_and_back(input, input_min, input_max, *limits)


def _v3(
    input: Any, input_min: float, input_max: float, num_bits: int, signed_input: bool,
    range_given: bool, narrow_range: bool,
) -> Any:  # fmt: skip
    limits = (signed_input, num_bits, range_given, narrow_range, False)
    return _there_and_back(input, input_min, input_max, *limits)


def _ranged(ctx: ShapeContext) -> Dims:
    for name in ctx.op.inputs_by_name():
        if name != "input":
            ctx.rank(name, 0)
    return ctx["input"]


_T = "T: {bfloat16, half, float, double}"
_SIGNED = "signed_input: bool = True"
for _name, _inputs, _attrs, _kernel, _host in (
    (
        "QuantizeAndDequantize", "",
        [_SIGNED, "num_bits: int = 8", "range_given: bool = False", "input_min: float = 0.0",
         "input_max: float = 0.0", _T],
        _v1, (),
    ),
    (
        "QuantizeAndDequantizeV2", ", input_min: T, input_max: T",
        [_SIGNED, "num_bits: int = 8", "range_given: bool = False", _T,
         "round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'", "narrow_range: bool = False"],
        _v2, ("input_min", "input_max"),
    ),
    (
        "QuantizeAndDequantizeV3", ", input_min: T, input_max: T, num_bits: int32",
        [_SIGNED, "range_given: bool = True", _T, "narrow_range: bool = False"],
        _v3, ("input_min", "input_max", "num_bits"),
    ),
):  # fmt: skip
    define_op(
        _name,
        f"input: T{_inputs} -> output: T",
        attrs=_attrs,
        later=["axis: int = -1"] if _inputs else (),
        shape=_ranged,
        kernel=_kernel,
        host=_host,
        gradient=lambda op, grad: [grad] + [None] * (len(op.inputs) - 1),
    )

# ---- public functions ----------------------------------------------------------------------


def fake_quant_with_min_max_args(
    inputs: Any, min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Values rounded to what ``num_bits`` can say between two numbers.

    Args:
      inputs: a float32 tensor.
      min, max: ends of the range; both are moved so that 0 is one of the steps.
      num_bits: 2 to 16.
      narrow_range: leave out the least of the integers.

    Returns:
      float32 of the shape of ``inputs``.
    """
    return make(
        "FakeQuantWithMinMaxArgs", inputs, min=min, max=max, num_bits=num_bits,
        narrow_range=narrow_range, name=name,
    )  # fmt: skip


def fake_quant_with_min_max_args_gradient(
    gradients: Any, inputs: Any, min: float = -6, max: float = 6, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Gradient of ``fake_quant_with_min_max_args``: ``gradients`` where inputs are in the range."""
    return make(
        "FakeQuantWithMinMaxArgsGradient", gradients, inputs, min=min, max=max, num_bits=num_bits,
        narrow_range=narrow_range, name=name,
    )  # fmt: skip


def fake_quant_with_min_max_vars(
    inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """As ``fake_quant_with_min_max_args``, with float32 scalars as ends, which may be learned."""
    return make(
        "FakeQuantWithMinMaxVars", inputs, min, max, num_bits=num_bits, narrow_range=narrow_range,
        name=name,
    )  # fmt: skip


def fake_quant_with_min_max_vars_gradient(
    gradients: Any, inputs: Any, min: Any, max: Any, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Gradients of ``fake_quant_with_min_max_vars`` in its inputs and both ends."""
    return make(
        "FakeQuantWithMinMaxVarsGradient", gradients, inputs, min, max, num_bits=num_bits,
        narrow_range=narrow_range, name=name,
    )  # fmt: skip


def fake_quant_with_min_max_vars_per_channel(
    inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """As ``fake_quant_with_min_max_vars``, with a range for each place of the last dim."""
    return make(
        "FakeQuantWithMinMaxVarsPerChannel", inputs, min, max, num_bits=num_bits,
        narrow_range=narrow_range, name=name,
    )  # fmt: skip


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any, inputs: Any, min: Any, max: Any, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Gradients of ``fake_quant_with_min_max_vars_per_channel`` in its inputs and both ends."""
    return make(
        "FakeQuantWithMinMaxVarsPerChannelGradient", gradients, inputs, min, max,
        num_bits=num_bits, narrow_range=narrow_range, name=name,
    )  # fmt: skip


def quantize_and_dequantize(
    input: Any, input_min: Any, input_max: Any, signed_input: bool = True, num_bits: int = 8,
    range_given: bool = False, round_mode: str = "HALF_TO_EVEN", name: str | None = None,
    narrow_range: bool = False,
) -> Tensor:  # fmt: skip
    """Values as they are after being stored as integers of ``num_bits``.

    Args:
      input: a tensor of a floating type.
      input_min, input_max: scalars of that type: the range, if ``range_given``; otherwise it is
        that of the values.
      signed_input: whether the integers are signed.
      num_bits: how many bits they have.
      range_given: whether the range is given; values beyond it are cut off.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      narrow_range: leave out the least of signed integers.

    Returns:
      The shape and type of ``input``.
    """
    return make(
        "QuantizeAndDequantizeV2", input, input_min, input_max, signed_input=signed_input,
        num_bits=num_bits, range_given=range_given, round_mode=round_mode,
        narrow_range=narrow_range, name=name,
    )  # fmt: skip
