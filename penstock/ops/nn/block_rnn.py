"""Recurrent steps as single ops: an LSTM step, an LSTM over all steps, a GRU step.

The gates of an LSTM are columns of one product in the order i, ci, f, o: input gate, new input,
forget gate, output gate.  ``wci``, ``wcf`` and ``wco`` are peepholes, not looked at unless
``use_peephole``.  ``BlockLSTM`` multiplies the inputs of all steps at once, and its gradient makes
the weights' gradients with one product over all steps.  Gradients take no notice of ``cell_clip``,
as TensorFlow's do not.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext, show
from penstock.ops.array import nodes

_HALF_OR_FLOAT = "T: {half, float}"
_CELL_ATTRS = [
    "forget_bias: float = 1.0", "cell_clip: float = 3.0", "use_peephole: bool = False",
    _HALF_OR_FLOAT,
]  # fmt: skip
_GRAD_ATTRS = ["use_peephole: bool", _HALF_OR_FLOAT]
_WEIGHTS = "w: T, wci: T, wcf: T, wco: T, b: T"
_GATES = "i: T, cs: T, f: T, o: T, ci: T, co: T"


# ---- one LSTM step -------------------------------------------------------------------------------


def _lstm_gates(product, cs_prev, peepholes, forget_bias, cell_clip):
    """i, cs, f, o, ci, co, h from the product of inputs and weights, bias included."""
    i, ci, f, o = product.chunk(4, 1)
    f = f + forget_bias
    if peepholes is not None:
        i, f = i + cs_prev * peepholes[0], f + cs_prev * peepholes[1]
    i, f, ci = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(ci)
    cs = (ci * i).add_(cs_prev * f)
    if cell_clip > 0:
        cs = cs.clamp_(-cell_clip, cell_clip)
    o = torch.sigmoid(o if peepholes is None else o + cs * peepholes[2])
    co = torch.tanh(cs)
    return i, cs, f, o, ci, co, o * co


def _lstm_block_cell(x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole):
    product = torch.addmm(b, torch.cat((x, h_prev), 1), w)
    peepholes = (wci, wcf, wco) if use_peephole else None
    return _lstm_gates(product, cs_prev, peepholes, forget_bias, cell_clip)


def _lstm_gates_grad(cs_prev, peepholes, i, cs, f, o, ci, co, cs_grad, h_grad):
    """Gradients of the previous memory, and of the gates before their activations."""
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if peepholes is not None:
        dcs = dcs + do * peepholes[2]
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * cs_prev
    di = i * (1 - i) * dcs * ci
    before = dcs * f
    if peepholes is not None:
        before = before + di * peepholes[0] + df * peepholes[1]
    return before, torch.cat((di, dci, df, do), 1)


def _peephole_grads(peepholes, dicfo, cs_prev, cs, use_peephole):
    """Gradients of the peepholes; rows are examples, of one step or of several."""
    if not use_peephole:
        return tuple(torch.zeros_like(one) for one in peepholes)
    di, _, df, do = dicfo.chunk(4, 1)
    return (di * cs_prev).sum(0), (df * cs_prev).sum(0), (do * cs).sum(0)


def _lstm_block_cell_grad(
    x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole
):
    peepholes = (wci, wcf, wco) if use_peephole else None
    before, dicfo = _lstm_gates_grad(cs_prev, peepholes, i, cs, f, o, ci, co, cs_grad, h_grad)
    return before, dicfo, *_peephole_grads((wci, wcf, wco), dicfo, cs_prev, cs, use_peephole)


def _check_operands(ctx: ShapeContext, wanted: dict[str, tuple[int | None, ...]]) -> None:
    """Refuses what ATen would broadcast."""
    for name, dims in wanted.items():
        found = ctx[name]
        if not shapes.is_compatible_static(found, dims):
            raise ValueError(f"{name} must have shape {show(dims)}, but has {show(found)}")


def _check_lstm(
    ctx: ShapeContext, batch: int | None, cell: int | None, gates: str = "", peepholes: bool = True
) -> None:
    wide = None if cell is None else 4 * cell
    states = ["cs_prev", "h_prev", *gates.split()]
    size = cell if peepholes else None
    _check_operands(
        ctx,
        {
            **dict.fromkeys(states, (batch, cell)), "w": (None, wide),
            **dict.fromkeys(("wci", "wcf", "wco"), (size,)), "b": (wide,),
        },
    )  # fmt: skip


def _lstm_cell_shape(ctx: ShapeContext) -> Any:
    batch, cell = ctx.rank("x", 2)[0], ctx.rank("cs_prev", 2)[1]
    # What is not looked at may have any size.
    _check_lstm(ctx, batch, cell, peepholes=ctx.attr("use_peephole"))
    return [(batch, cell)] * 7


def _lstm_cell_grad_shape(ctx: ShapeContext) -> Any:
    (batch, width), cell = ctx.rank("x", 2), ctx.rank("cs_prev", 2)[1]
    gates, peepholes = "i cs f o ci co cs_grad h_grad", ctx.attr("use_peephole")
    _check_lstm(ctx, batch, cell, gates, peepholes)
    if width is not None and cell is not None:
        _check_operands(ctx, {"w": (width + cell, 4 * cell)})
    wide = None if cell is None else 4 * cell
    return [(batch, cell), (batch, wide), (cell,), (cell,), (cell,)]


def _lstm_block_cell_gradient(op: Any, *grads: Any) -> Any:
    x, cs_prev, h_prev, w, wci, wcf, wco, b = op.inputs
    i, cs, f, o, ci, co, _ = op.outputs
    width = x.get_shape().with_rank(2).as_list()[1]
    batch = x.get_shape().as_list()[0]
    cell = cs_prev.get_shape().with_rank(2).as_list()[1]
    batch = -1 if batch is None else batch
    before, dgates, wci_grad, wcf_grad, wco_grad = make(
        "LSTMBlockCellGrad", *op.inputs, i, cs, f, o, ci, co, grads[1], grads[6],
        use_peephole=op.attrs["use_peephole"],
    )  # fmt: skip
    joined_grad = make("MatMul", dgates, w, transpose_b=True)
    x_grad = make("Slice", joined_grad, [0, 0], [batch, width])
    h_prev_grad = make("Slice", joined_grad, [0, width], [batch, cell])
    w_grad = make("MatMul", nodes.concat([x, h_prev], 1), dgates, transpose_a=True)
    b_grad = make("BiasAddGrad", dgates)
    return [x_grad, before, h_prev_grad, w_grad, wci_grad, wcf_grad, wco_grad, b_grad]


define_op(
    "LSTMBlockCell",
    f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS} -> {_GATES}, h: T",
    attrs=_CELL_ATTRS,
    shape=_lstm_cell_shape,
    kernel=_lstm_block_cell,
    gradient=_lstm_block_cell_gradient,
)

define_op(
    "LSTMBlockCellGrad",
    f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS}, {_GATES}, cs_grad: T, h_grad: T"
    " -> cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T",
    attrs=_GRAD_ATTRS,
    shape=_lstm_cell_grad_shape,
    kernel=_lstm_block_cell_grad,
    no_gradient="TensorFlow 1.15 defines none",
)


# ---- an LSTM over all steps ----------------------------------------------------------------------


def _block_lstm(
    seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole
):
    steps, batch, width = x.shape
    peepholes = (wci, wcf, wco) if use_peephole else None
    count = min(max(int(seq_len_max), 0), steps)
    rows = x[:count].reshape(-1, width)
    products = torch.addmm(b, rows, w[:width]).view(count, batch, b.shape[0])
    recurrent, cs, h = w[width:], cs_prev, h_prev
    # Steps past the longest sequence are zero.
    outputs = [x.new_zeros((steps, *cs_prev.shape)) for _ in range(7)]
    for step in range(count):
        product = torch.addmm(products[step], h, recurrent)
        found = _lstm_gates(product, cs, peepholes, forget_bias, cell_clip)
        for output, one in zip(outputs, found):
            output[step] = one
        cs, h = found[1], found[6]
    return tuple(outputs)


def _block_lstm_grad(
    seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad,
    use_peephole,
):  # fmt: skip
    steps, batch, width = x.shape
    peepholes = (wci, wcf, wco) if use_peephole else None
    count = min(max(int(seq_len_max), 0), steps)
    recurrent = w[width:].t()
    dcs, dh = torch.zeros_like(cs_prev), torch.zeros_like(h_prev)
    gates = x.new_zeros((steps, batch, w.shape[1]))
    for step in reversed(range(count)):
        before = cs[step - 1] if step else cs_prev
        dcs, dicfo = _lstm_gates_grad(
            before, peepholes, i[step], cs[step], f[step], o[step], ci[step], co[step],
            cs_grad[step] + dcs, h_grad[step] + dh,
        )  # fmt: skip
        gates[step] = dicfo
        dh = torch.mm(dicfo, recurrent)
    flat = gates.view(-1, gates.shape[2])
    x_grad = torch.mm(flat, w[:width].t()).view(x.shape)
    h_before, cs_before = (
        torch.cat((first.unsqueeze(0), rest[:-1])).reshape(-1, first.shape[1])
        for first, rest in ((h_prev, h), (cs_prev, cs))
    )
    joined = torch.cat((x.reshape(-1, width), h_before), 1)
    w_grad = torch.mm(joined.t(), flat)
    of_peepholes = _peephole_grads(
        (wci, wcf, wco), flat, cs_before, cs.reshape(-1, cs.shape[2]), use_peephole
    )
    return x_grad, dcs, dh, w_grad, *of_peepholes, flat.sum(0)


def _block_lstm_shape(ctx: ShapeContext) -> Any:
    steps, batch, _ = ctx.rank("x", 3)
    (wide,) = ctx.rank("b", 1)
    _check_lstm(ctx, batch, ctx.rank("cs_prev", 2)[1])
    return [(steps, batch, None if wide is None else wide // 4)] * 7


_RANKS = {"x": 3, "cs_prev": 2, "h_prev": 2, "w": 2, "wci": 1, "wcf": 1, "wco": 1, "b": 1}


def _block_lstm_grad_shape(ctx: ShapeContext) -> Any:
    steps, batch, _ = ctx.rank("x", 3)
    cell = ctx.rank("cs_prev", 2)[1]
    _check_lstm(ctx, batch, cell, peepholes=ctx.attr("use_peephole"))
    outputs = "i cs f o ci co h cs_grad h_grad".split()
    _check_operands(ctx, dict.fromkeys(outputs, (steps, batch, cell)))
    return [ctx.rank(name, rank) for name, rank in _RANKS.items()]


def _block_lstm_gradient(op: Any, *grads: Any) -> Any:
    found = make(
        "BlockLSTMGrad", *op.inputs, *op.outputs, grads[1], grads[6],
        use_peephole=op.attrs["use_peephole"],
    )  # fmt: skip
    return [None, *found]


define_op(
    "BlockLSTM",
    f"seq_len_max: int64, x: T, cs_prev: T, h_prev: T, {_WEIGHTS} -> {_GATES}, h: T",
    attrs=_CELL_ATTRS,
    shape=_block_lstm_shape,
    kernel=_block_lstm,
    host=("seq_len_max",),
    gradient=_block_lstm_gradient,
)

define_op(
    "BlockLSTMGrad",
    f"seq_len_max: int64, x: T, cs_prev: T, h_prev: T, {_WEIGHTS}, {_GATES}, h: T, cs_grad: T,"
    " h_grad: T -> x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T,"
    " wcf_grad: T, wco_grad: T, b_grad: T",
    attrs=_GRAD_ATTRS,
    shape=_block_lstm_grad_shape,
    kernel=_block_lstm_grad,
    host=("seq_len_max",),
    no_gradient="TensorFlow 1.15 defines none",
)


# ---- one GRU step --------------------------------------------------------------------------------


def _gru_block_cell(x, h_prev, w_ru, w_c, b_ru, b_c):
    gates = torch.sigmoid(torch.addmm(b_ru, torch.cat((x, h_prev), 1), w_ru))
    r, u = (gate.contiguous() for gate in gates.chunk(2, 1))
    c = torch.tanh(torch.addmm(b_c, torch.cat((x, r * h_prev), 1), w_c))
    return r, u, c, u * h_prev + (1 - u) * c


def _gru_block_cell_grad(x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h):
    width = x.shape[1]
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    of_candidate = torch.mm(d_c_bar, w_c.t())
    d_hr = of_candidate[:, width:]
    d_r_bar = d_hr * h_prev * r * (1 - r)
    d_r_bar_u_bar = torch.cat((d_r_bar, d_u_bar), 1)
    of_gates = torch.mm(d_r_bar_u_bar, w_ru.t())
    d_x = of_candidate[:, :width] + of_gates[:, :width]
    return d_x, of_gates[:, width:] + d_hr * r + d_h * u, d_c_bar, d_r_bar_u_bar


def _check_gru(ctx: ShapeContext, batch: int | None, cell: int | None, states: str) -> None:
    wide = None if cell is None else 2 * cell
    _check_operands(
        ctx,
        {
            **dict.fromkeys(states.split(), (batch, cell)), "w_ru": (None, wide),
            "w_c": (None, cell), "b_ru": (wide,), "b_c": (cell,),
        },
    )  # fmt: skip


def _gru_shape(ctx: ShapeContext) -> Any:
    batch, cell = ctx.rank("x", 2)[0], ctx.rank("h_prev", 2)[1]
    _check_gru(ctx, batch, cell, "h_prev")
    return [(batch, cell)] * 4


def _gru_grad_shape(ctx: ShapeContext) -> Any:
    (batch, width), cell = ctx.rank("x", 2), ctx.rank("h_prev", 2)[1]
    _check_gru(ctx, batch, cell, "h_prev r u c d_h")
    wide = None if cell is None else 2 * cell
    return [(batch, width), (batch, cell), (batch, cell), (batch, wide)]


def _gru_block_cell_gradient(op: Any, *grads: Any) -> Any:
    x, h_prev = op.inputs[:2]
    r, u, c, _ = op.outputs
    d_x, d_h_prev, d_c_bar, d_gates = make("GRUBlockCellGrad", *op.inputs, r, u, c, grads[3])
    seen: Tensor = nodes.concat([x, h_prev], 1)
    d_w_ru = make("MatMul", seen, d_gates, transpose_a=True)
    reset = nodes.concat([x, nodes.mul(h_prev, r)], 1)
    d_w_c = make("MatMul", reset, d_c_bar, transpose_a=True)
    d_b_ru, d_b_c = make("BiasAddGrad", d_gates), make("BiasAddGrad", d_c_bar)
    return [d_x, d_h_prev, d_w_ru, d_w_c, d_b_ru, d_b_c]


define_op(
    "GRUBlockCell",
    "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T -> r: T, u: T, c: T, h: T",
    attrs=["T: {float}"],
    shape=_gru_shape,
    kernel=_gru_block_cell,
    gradient=_gru_block_cell_gradient,
)

define_op(
    "GRUBlockCellGrad",
    "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T"
    " -> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T",
    attrs=["T: {float}"],
    shape=_gru_grad_shape,
    kernel=_gru_block_cell_grad,
    no_gradient="TensorFlow 1.15 defines none",
)
