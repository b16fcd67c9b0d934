"""Recurrent networks as one op: layers, directions and dropout over all steps, and the gradients.

A step that is not trained runs on ATen's kernel of the whole network; one that is trained keeps
what the gradients want in ``reserve_space``, a flat tensor (``cudnn_steps``, layer by layer, then
the dropout's masks).  ``CudnnRNNV3`` has examples of different lengths, and inputs whose first dim
is the batch (states too, then).  ``host_reserved`` of V2 and V3 names an algorithm of cuDNN: empty.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.engine.resources import stream
from penstock.foundation.base import errors
from penstock.foundation.graph.build import make
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext
from penstock.ops.nn.cudnn_params import FLOATS, NETWORK, Layout, Weights, layout
from penstock.ops.nn.cudnn_steps import forward, gradients, saved_sizes

_ATEN = {
    "lstm": torch.lstm,
    "gru": torch.gru,
    "rnn_relu": torch.rnn_relu,
    "rnn_tanh": torch.rnn_tanh,
}


def _layout(input, input_h, rnn_mode, input_mode, direction, num_proj=0, units=None):
    directions = 2 if direction == "bidirectional" else 1
    count, units = input_h.shape[0], units or input_h.shape[2]
    if count % directions:
        raise errors.InvalidArgumentError(
            None, None, f"input_h of {count} states is not of layers in {directions} directions"
        )
    return layout(
        rnn_mode, count // directions, units, input.shape[2], direction, input_mode, num_proj
    )  # fmt: skip


# ---- forward -------------------------------------------------------------------------------------


def _run(of, input, input_h, input_c, params, mask, dropout, is_training, state):
    """Outputs, last states and reserve of time-major inputs."""
    _check(of, input, input_h, input_c)
    weights = of.weights(params)
    with_memory = of.mode == "lstm"
    if not (is_training or of.skips or mask is not None):
        return _aten(of, input, input_h, input_c, weights)
    saved, masks, reserve = _reserve(of, input, dropout if is_training else 0.0)
    x, hs, cs = input, [], []
    for layer in range(of.layers):
        if layer and masks:
            x = x * _dropped(masks[layer - 1], dropout, state)
        found = []
        for way in range(of.directions):
            k = layer * of.directions + way
            c = input_c[k] if with_memory else None
            found.append(
                forward(of.mode, x, input_h[k], c, weights[k], mask, way == 1, saved[k])
            )  # fmt: skip
        x = found[0].outputs if of.directions == 1 else torch.cat([f.outputs for f in found], 2)
        hs += [f.h for f in found]
        cs += [f.c for f in found]
    # The last layer's outputs lie in the reserve, or were made for it alone.
    outputs = x.clone() if of.directions == 1 and mask is None else x
    memories = torch.stack(cs) if with_memory else input.new_zeros(())
    return outputs, torch.stack(hs), memories, reserve if is_training else input.new_empty(0)


def _check(of, input, input_h, input_c):
    pseudo = of.layers * of.directions
    wanted = [("input_h", input_h, (pseudo, input.shape[1], of.outputs))]
    if of.mode == "lstm":
        wanted.append(("input_c", input_c, (pseudo, input.shape[1], of.units)))
    for name, found, shape in wanted:
        if tuple(found.shape) != shape:
            raise errors.InvalidArgumentError(
                None, None, f"Invalid {name} shape: {list(found.shape)} {list(shape)}"
            )


def _aten(of, input, input_h, input_c, weights):
    flat = []
    for one in weights:
        flat += [one.w, one.r, one.bw, one.br] + ([] if one.p is None else [one.p])
    both = of.directions == 2
    if of.mode == "lstm":
        states = (input_h, input_c)
        outputs, h, c = torch.lstm(input, states, flat, True, of.layers, 0.0, False, both, False)
    else:
        outputs, h = _ATEN[of.mode](input, input_h, flat, True, of.layers, 0.0, False, both, False)
        c = input.new_zeros(())
    return outputs, h, c, input.new_empty(0)


def _reserve(of: Layout, input: Any, dropout: float) -> tuple[list[list[Any]], list[Any], Any]:
    """Memory for what backward wants: a pseudo-layer each, the dropout's masks, all of it flat."""
    steps, batch, _ = input.shape
    sizes = saved_sizes(of.mode, of.units, of.outputs)
    pseudo = of.layers * of.directions
    wide = of.outputs * of.directions
    count = of.layers - 1 if dropout else 0
    reserve = input.new_empty(steps * batch * (pseudo * sum(sizes) + count * wide))
    return *_views(of, reserve, steps, batch, count), reserve


def _views(of, reserve, steps, batch, count):
    sizes = saved_sizes(of.mode, of.units, of.outputs)
    widths = sizes * (of.layers * of.directions) + [of.outputs * of.directions] * count
    parts = reserve.split([steps * batch * width for width in widths])
    parts = [part.view(steps, batch, width) for part, width in zip(parts, widths)]
    per = len(sizes)
    saved = [parts[k : k + per] for k in range(0, per * of.layers * of.directions, per)]
    return saved, parts[len(parts) - count :] if count else []


def _dropped(mask, rate, state):
    """Draws a mask: 0, or what keeps the expected sum."""
    draw = torch.rand(mask.shape, generator=state.generator)
    keep = (draw >= rate).to(mask.dtype)
    return mask.copy_(keep / (1 - rate) if rate < 1 else keep)


def _mask(lengths, steps, dtype):
    """[steps, batch, 1]: 1 before the end of an example; None where all are full."""
    if bool((lengths >= steps).all()):
        return None
    ahead = torch.arange(steps, device=lengths.device).unsqueeze(1) < lengths
    return ahead.to(dtype).unsqueeze(2)


def _rnn(
    input, input_h, input_c, params, rnn_mode, input_mode, direction, dropout, is_training, state
):
    of = _layout(input, input_h, rnn_mode, input_mode, direction)
    return _run(of, input, input_h, input_c, params, None, dropout, is_training, state)


def _rnn_v2(
    input, input_h, input_c, params, rnn_mode, input_mode, direction, dropout, is_training, state
):
    of = _layout(input, input_h, rnn_mode, input_mode, direction)
    found = _run(of, input, input_h, input_c, params, None, dropout, is_training, state)
    return *found, torch.empty(0, dtype=torch.int8, device=input.device)


def _major(time_major, *tensors):
    """The first two dims swapped where the batch is first."""
    return [t if time_major or t.dim() < 3 else t.transpose(0, 1).contiguous() for t in tensors]


def _of_v3(input, input_h, input_c, sequence_lengths, attrs):
    rnn_mode, input_mode, direction, num_proj = attrs
    units = input_c.shape[2] if rnn_mode == "lstm" else None
    if sequence_lengths.shape[0] != input.shape[1]:
        raise errors.InvalidArgumentError(
            None, None,
            f"sequence_lengths must have one element an example, {input.shape[1]}; found"
            f" {sequence_lengths.shape[0]}",
        )  # fmt: skip
    if bool(((sequence_lengths < 0) | (sequence_lengths > input.shape[0])).any()):
        raise errors.InvalidArgumentError(
            None, None, f"sequence_lengths must be from 0 to max_time, {input.shape[0]}"
        )
    return _layout(input, input_h, rnn_mode, input_mode, direction, num_proj, units)


def _rnn_v3(
    input, input_h, input_c, params, sequence_lengths, rnn_mode, input_mode, direction, dropout,
    num_proj, is_training, time_major, state,
):  # fmt: skip
    input, input_h, input_c = _major(time_major, input, input_h, input_c)
    attrs = (rnn_mode, input_mode, direction, num_proj)
    of = _of_v3(input, input_h, input_c, sequence_lengths, attrs)
    mask = _mask(sequence_lengths, input.shape[0], input.dtype)
    *found, reserve = _run(of, input, input_h, input_c, params, mask, dropout, is_training, state)
    return (
        *_major(time_major, *found),
        reserve,
        torch.empty(0, dtype=torch.int8, device=input.device),
    )


# ---- backward ------------------------------------------------------------------------------------


def _run_back(of, input, input_h, input_c, params, mask, dropout, reserve, grads):
    """Gradients of time-major inputs, of states and of parameters."""
    steps, batch, _ = input.shape
    outputs_grad, h_grads, c_grads = grads
    weights, with_memory = of.weights(params), of.mode == "lstm"
    saved, masks = _views(of, reserve, steps, batch, of.layers - 1 if dropout else 0)
    xs = _inputs(of, input, mask, saved, masks)
    pseudo = of.layers * of.directions
    found: list[Any] = [None] * pseudo
    above = outputs_grad
    for layer in reversed(range(of.layers)):
        parts = above.split(of.outputs, 2)
        below = None
        for way in range(of.directions):
            k = layer * of.directions + way
            c, c_grad = (input_c[k], c_grads[k]) if with_memory else (None, None)
            found[k] = gradients(
                of.mode, xs[layer], input_h[k], c, weights[k], mask, way == 1, saved[k],
                parts[way], h_grads[k], c_grad,
            )  # fmt: skip
            below = found[k].x if below is None else below + found[k].x
        above = below * masks[layer - 1] if layer and masks else below
    memories = torch.stack([f.c for f in found]) if with_memory else torch.zeros_like(input_c)
    return above, torch.stack([f.h for f in found]), memories, _flat([f.weights for f in found])


def _inputs(of, input, mask, saved, masks):
    """The input of each layer, from what is saved."""
    found = [input]
    for layer in range(1, of.layers):
        first = (layer - 1) * of.directions
        states = [saved[first + way][1] for way in range(of.directions)]
        x = states[0] if of.directions == 1 else torch.cat(states, 2)
        x = x if mask is None else x * mask
        found.append(x * masks[layer - 1] if masks else x)
    return found


def _flat(found: list[Weights]) -> Any:
    matrices = [m.reshape(-1) for one in found for m in one[:3] if m is not None]
    return torch.cat([*matrices, *(b for one in found for b in (one.bw, one.br))])


def _back(
    input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop,
    reserve_space, rnn_mode, input_mode, direction, dropout,
):  # fmt: skip
    of = _layout(input, input_h, rnn_mode, input_mode, direction)
    grads = (output_backprop, output_h_backprop, output_c_backprop)
    return _run_back(of, input, input_h, input_c, params, None, dropout, reserve_space, grads)


def _back_v3(
    input, input_h, input_c, params, sequence_lengths, output_backprop, output_h_backprop,
    output_c_backprop, reserve_space, rnn_mode, input_mode, direction, dropout, num_proj,
    time_major,
):  # fmt: skip
    input, input_h, input_c = _major(time_major, input, input_h, input_c)
    grads = _major(time_major, output_backprop, output_h_backprop, output_c_backprop)
    attrs = (rnn_mode, input_mode, direction, num_proj)
    of = _of_v3(input, input_h, input_c, sequence_lengths, attrs)
    mask = _mask(sequence_lengths, input.shape[0], input.dtype)
    *found, params_grad = _run_back(
        of, input, input_h, input_c, params, mask, dropout, reserve_space, grads
    )
    return *_major(time_major, *found), params_grad


# ---- shape rules, gradients, definitions ---------------------------------------------------------


def _shape(reserves: int, with_lengths: bool = False) -> Any:
    def rule(ctx: ShapeContext) -> Any:
        first, second, _ = ctx.rank("input", 3)
        states = ctx.rank("input_h", 3)
        ctx.rank("params", 1)
        with_memory = ctx.attr("rnn_mode") == "lstm"
        memories: Any = states if with_memory else ()
        if with_lengths:
            ctx.rank("sequence_lengths", 1)
            memories = ctx.rank("input_c", 3) if with_memory else ()
        ways = 2 if ctx.attr("direction") == "bidirectional" else 1
        size = None if states[2] is None else states[2] * ways
        return [(first, second, size), states, memories] + [None] * reserves

    return rule


def _backprop_shape(ctx: ShapeContext) -> Any:
    return [ctx[name] for name in ("input", "input_h", "input_c", "params")]


_KEPT = ("rnn_mode", "input_mode", "direction", "dropout", "seed", "seed2")


def _gradient_by(backprop: str, count: int, kept: tuple[str, ...]) -> Any:
    """The gradient function of an op of ``count`` inputs, whose gradients ``backprop`` makes."""

    def gradient(op: Any, *grads: Any) -> Any:
        if not op.attrs["is_training"]:
            raise ValueError(
                f"To use {op.type} in gradients, is_training must be set to True."
            )  # fmt: skip
        reserves = op.outputs[3:]
        found = make(
            backprop, *op.inputs, *op.outputs[:3], *grads[:3], *reserves,
            **{name: op.attrs[name] for name in kept},
        )  # fmt: skip
        return [*found, *[None] * (count - 4)]

    return gradient


_INPUTS = "input: T, input_h: T, input_c: T, params: T"
_OUTPUTS = "output: T, output_h: T, output_c: T"
_GRADS = "output_backprop: T, output_h_backprop: T, output_c_backprop: T"
_INPUT_GRADS = "input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T"
_TRAINING = "is_training: bool = True"
_V3 = ["num_proj: int = 0"]
_MAJOR = "time_major: bool = True"

for _version, _kernel, _back_kernel in (("", _rnn, _back), ("V2", _rnn_v2, _back)):
    _reserves = "reserve_space: T" + (", host_reserved: int8" if _version else "")
    define_op(
        f"CudnnRNN{_version}",
        f"{_INPUTS} -> {_OUTPUTS}, {_reserves}",
        attrs=[FLOATS, *NETWORK, _TRAINING],
        shape=_shape(2 if _version else 1),
        kernel=_kernel,
        stateful=True,
        state=stream.of_op,
        gradient=_gradient_by(f"CudnnRNNBackprop{_version}", 4, _KEPT),
    )
    define_op(
        f"CudnnRNNBackprop{_version}",
        f"{_INPUTS}, {_OUTPUTS}, {_GRADS}, {_reserves} -> {_INPUT_GRADS}",
        attrs=[FLOATS, *NETWORK],
        shape=_backprop_shape,
        kernel=_back_kernel,
        stateful=True,
        no_gradient="TensorFlow 1.15 defines none",
    )

define_op(
    "CudnnRNNV3",
    f"{_INPUTS}, sequence_lengths: int32 -> {_OUTPUTS}, reserve_space: T, host_reserved: int8",
    attrs=[FLOATS, *NETWORK, *_V3, _TRAINING, _MAJOR],
    shape=_shape(2, with_lengths=True),
    kernel=_rnn_v3,
    stateful=True,
    state=stream.of_op,
    gradient=_gradient_by("CudnnRNNBackpropV3", 5, (*_KEPT, "num_proj", "time_major")),
)

define_op(
    "CudnnRNNBackpropV3",
    f"{_INPUTS}, sequence_lengths: int32, {_OUTPUTS}, {_GRADS}, reserve_space: T,"
    f" host_reserved: int8 -> {_INPUT_GRADS}",
    attrs=[FLOATS, *NETWORK, *_V3, _MAJOR],
    shape=_backprop_shape,
    kernel=_back_v3,
    stateful=True,
    no_gradient="TensorFlow 1.15 defines none",
)
