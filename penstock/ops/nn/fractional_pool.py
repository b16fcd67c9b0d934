"""Pools whose windows differ in size, so that an image shrinks by a ratio that is no integer.

Windows along height and width are drawn (or follow from the ratio where it is an integer), and are
outputs of the op, so that the gradient knows them.  Both directions gather the windows: ``[batch,
rows, window height, columns, window width, channels]``, with a mask where windows are smaller than
the largest one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.engine.resources import stream
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import nodes

_TYPES = "T: {float, double, int32, int64}"


# ---- sequences of windows ------------------------------------------------------------------------


def _sequence(size: int, outputs: int, pseudo: bool, draw: np.random.Generator) -> np.ndarray:
    """Starts of the windows, and ``size`` behind them."""
    each, more = divmod(size, outputs)
    if not more:
        steps = np.full(outputs, each)
    elif pseudo:
        ratio = size / outputs
        most = min((each + 2) / ratio - 1, (size + 1 - each) / ratio - (outputs - 1))
        start = draw.random() * most
        marks = (ratio * (np.arange(outputs) + start)).astype(np.int64)
        marks = np.append(marks - marks[0], size)
        return marks
    else:
        steps = np.full(outputs, each)
        steps[draw.permutation(outputs)[:more]] += 1
    return np.concatenate([[0], np.cumsum(steps)])


def _outputs(size: int, ratio: float) -> int:
    return int(size / ratio)


def _draws(state: Any, deterministic: bool, seed: int, seed2: int) -> np.random.Generator:
    """What draws the windows of one run; a deterministic op draws the same ones in each."""
    if deterministic:
        return np.random.Generator(np.random.SFC64(state.seed))
    if seed or seed2:
        raise ValueError(
            f"Both seed and seed2 should be 0 if deterministic is false; found {seed} and {seed2}"
        )
    return state.numpy


def _drawn(
    value: Any, pooling_ratio: Any, pseudo_random: bool, draw: np.random.Generator
) -> tuple[Any, Any]:
    made = []
    for axis in (1, 2):
        size = value.shape[axis]
        outputs = _outputs(size, pooling_ratio[axis])
        if outputs < 1:
            raise ValueError(f"ratio {pooling_ratio[axis]} leaves nothing of {size} element(s)")
        made.append(torch.from_numpy(_sequence(size, outputs, pseudo_random, draw)))
    return made[0], made[1]


# ---- windows -------------------------------------------------------------------------------------


def _places(sequence: Any, size: int, overlapping: bool) -> tuple[Any, Any]:
    """Positions ``[windows, largest window]`` and which of them count."""
    marks = sequence.to(torch.int64)
    ends = (marks[1:] + int(overlapping)).clamp_max(size)
    if overlapping:
        ends[-1] = size
    width = int((ends - marks[:-1]).max())
    places = marks[:-1, None] + torch.arange(width, device=marks.device)
    inside = places < ends[:, None]
    return places.clamp_max(size - 1), inside


def _windows(x: Any, rows: Any, columns: Any, overlapping: bool) -> tuple[Any, Any, Any]:
    """Windows ``[n, rows, columns, window, channels]``, their mask and positions in the image."""
    row, row_in = _places(rows, x.shape[1], overlapping)
    column, column_in = _places(columns, x.shape[2], overlapping)
    flat = row[:, None, :, None] * x.shape[2] + column[None, :, None, :]
    inside = (row_in[:, None, :, None] & column_in[None, :, None, :]).flatten(2)
    flat = flat.flatten(2)
    picked = x.flatten(1, 2)[:, flat]
    return picked, inside[None, :, :, :, None], flat


def _lowest(dtype: Any) -> Any:
    return -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _max_pool(value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, state):
    draw = _draws(state, deterministic, seed, seed2)
    rows, columns = _drawn(value, pooling_ratio, pseudo_random, draw)
    picked, inside, _ = _windows(value, rows, columns, overlapping)
    return picked.masked_fill(~inside, _lowest(value.dtype)).amax(3), rows, columns


def _avg_pool(value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, state):
    draw = _draws(state, deterministic, seed, seed2)
    rows, columns = _drawn(value, pooling_ratio, pseudo_random, draw)
    picked, inside, _ = _windows(value, rows, columns, overlapping)
    total = (picked * inside).sum(3, dtype=value.dtype)
    count = inside.sum(3).to(value.dtype)
    mode = None if value.dtype.is_floating_point else "trunc"
    return torch.div(total, count, rounding_mode=mode), rows, columns


def _check_grad(grad: Any, rows: Any, columns: Any) -> None:
    wanted = [len(rows) - 1, len(columns) - 1]
    if list(grad.shape[1:3]) != wanted:
        raise ValueError(
            f"out_backprop has height and width {list(grad.shape[1:3])}, but the sequences have"
            f" {wanted} window(s)"
        )


def _max_pool_grad(
    orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence, overlapping
):
    picked, inside, flat = _windows(
        orig_input, row_pooling_sequence, col_pooling_sequence, overlapping
    )
    most, best = picked.masked_fill(~inside, _lowest(orig_input.dtype)).max(3)
    if not torch.equal(most, orig_output):
        raise ValueError(
            "orig_output is not what pooling orig_input by the sequences gives; their shapes are"
            f" {list(orig_output.shape)} and {list(orig_input.shape)}"
        )
    if out_backprop.numel() > best.numel():
        raise ValueError(
            f"out_backprop has shape {list(out_backprop.shape)}, and more elements than"
            f" orig_output, whose shape is {list(orig_output.shape)}"
        )
    n, h, w, c = orig_input.shape
    place = (
        flat.flatten(0, 1)
        .gather(1, best.permute(1, 2, 0, 3).flatten(0, 1).flatten(1))
        .view(*flat.shape[:2], n, c)
        .permute(2, 0, 1, 3)
    )
    image, channel = (torch.arange(size, device=place.device) for size in (n, c))
    place = (image.view(n, 1, 1, 1) * (h * w) + place) * c + channel
    # As in TensorFlow, gradients go by their number: fewer are those of the first maxima.
    grads = out_backprop.reshape(-1)
    made = orig_input.new_zeros(orig_input.numel())
    made.index_add_(0, place.reshape(-1)[: len(grads)], grads)
    return made.view(orig_input.shape)


def _avg_pool_grad(
    orig_input_tensor_shape, out_backprop, row_pooling_sequence, col_pooling_sequence, overlapping
):
    n, h, w, c = orig_input_tensor_shape
    _check_grad(out_backprop, row_pooling_sequence, col_pooling_sequence)
    row, row_in = _places(row_pooling_sequence, h, overlapping)
    column, column_in = _places(col_pooling_sequence, w, overlapping)
    flat = (row[:, None, :, None] * w + column[None, :, None, :]).flatten(2)
    inside = (row_in[:, None, :, None] & column_in[None, :, None, :]).flatten(2)
    # Shares are summed in double precision, also those of integers.
    each = out_backprop.double() / inside.sum(2)[None, :, :, None]
    share = each[:, :, :, None] * inside[None, :, :, :, None]
    made = share.new_zeros((n, h * w, c))
    made.index_add_(1, flat.reshape(-1), share.reshape(n, -1, c))
    return made.view(n, h, w, c).to(out_backprop.dtype)


# ---- shape rules, gradients, ops -----------------------------------------------------------------


def _pool_shape(ctx: ShapeContext) -> list[Dims]:
    image, ratio = ctx.rank("value", 4), ctx.attr("pooling_ratio")
    if len(ratio) != 4 or ratio[0] != 1 or ratio[3] != 1 or min(ratio) < 1:
        raise ValueError(
            "pooling_ratio must have 4 entries of at least 1, and 1 for batch and channels; found"
            f" {list(ratio)}"
        )
    sizes = [None if d is None else _outputs(d, r) for d, r in zip(image, ratio, strict=True)]
    out = (image[0], sizes[1], sizes[2], image[3])
    # TensorFlow's rule says one element less than there is at run time.
    marks: list[Dims] = [(None if s is None else s + 1,) for s in sizes[1:3]]
    return [out, *marks]


def _max_grad_shape(ctx: ShapeContext) -> Dims:
    return ctx.rank("orig_input", 4)


def _avg_grad_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.shape_value("orig_input_tensor_shape")
    if dims is None:
        return (None,) * 4
    if len(dims) != 4:
        raise ValueError(f"orig_input_tensor_shape must have 4 elements; found {show(dims)}")
    return dims


def _max_gradient(op: Any, grad: Tensor, _: Any, __: Any) -> Tensor:
    y, rows, columns = op.outputs
    return make(
        "FractionalMaxPoolGrad", op.inputs[0], y, grad, rows, columns,
        overlapping=op.attrs["overlapping"],
    )  # fmt: skip


def _avg_gradient(op: Any, grad: Tensor, _: Any, __: Any) -> Tensor:
    x = op.inputs[0]
    known = nodes.is_known(x)
    shape = np.array(x.sizes, np.int64) if known else nodes.cast(nodes.shape(x), "int64")
    return make(
        "FractionalAvgPoolGrad", shape, grad, *op.outputs[1:], overlapping=op.attrs["overlapping"]
    )


for _kind, _kernel, _gradient in (
    ("Max", _max_pool, _max_gradient), ("Avg", _avg_pool, _avg_gradient)
):  # fmt: skip
    define_op(
        f"Fractional{_kind}Pool",
        "value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64",
        attrs=[
            "pooling_ratio: list(float) >= 4", "pseudo_random: bool = False",
            "overlapping: bool = False", "deterministic: bool = False", "seed: int = 0",
            "seed2: int = 0", _TYPES,
        ],
        shape=_pool_shape,
        kernel=_kernel,
        gradient=_gradient,
        state=stream.of_op,
        random=True,
        stateful=True,
    )  # fmt: skip
_SEQUENCES = "row_pooling_sequence: int64, col_pooling_sequence: int64 -> output: T"
define_op(
    "FractionalMaxPoolGrad",
    f"orig_input: T, orig_output: T, out_backprop: T, {_SEQUENCES}",
    attrs=["overlapping: bool = False", _TYPES],
    shape=_max_grad_shape,
    kernel=_max_pool_grad,
    no_gradient="TensorFlow defines none",
)
define_op(
    "FractionalAvgPoolGrad",
    f"orig_input_tensor_shape: int64, out_backprop: T, {_SEQUENCES}",
    attrs=["overlapping: bool = False", _TYPES],
    shape=_avg_grad_shape,
    kernel=_avg_pool_grad,
    host=("orig_input_tensor_shape",),
    no_gradient="TensorFlow defines none",
)
