"""One direction of one layer of a recurrent network over all steps, forward and backward.

The products of all inputs are one product; each step adds the product of the state.  Forward keeps
in ``saved`` what backward wants: the gates after their activations, the states after each step, of
an LSTM the memories, of a GRU the product that its reset gate is multiplied with.  Backward finds
the gradients of all gates step by step and the gradients of weights by one product over all steps.

Steps past the end of an example leave its state alone and give zeros; so the backward direction
starts at each example's own last step.  ``mask`` is 1 before the end: [steps, batch, 1], or None.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from penstock.ops.nn.cudnn_params import Weights


class Found(NamedTuple):
    """Outputs [steps, batch, size] and the last states [batch, size] of one direction."""

    outputs: Any
    h: Any
    c: Any


class Gradients(NamedTuple):
    """Gradients of one direction, in the shapes of what they are of; None where there is none."""

    x: Any
    h: Any
    c: Any
    weights: Weights


def saved_sizes(mode: str, units: int, outputs: int) -> list[int]:
    """Sizes of what is kept of one step and example: gates, states, and what the cell adds."""
    if mode == "lstm":
        return [4 * units, outputs, units]
    if mode == "gru":
        return [3 * units, units, units]
    return [units, units]


def _products(x: Any, weights: Weights, bias: Any, out: Any) -> None:
    """Products of all inputs, with a bias, into ``out``."""
    steps, batch, width = x.shape
    if weights.w is None:
        torch.add(x.repeat(1, 1, out.shape[2] // width), bias, out=out)
        return
    flat = out.view(steps * batch, out.shape[2])
    torch.addmm(bias, x.reshape(steps * batch, width), weights.w.t(), out=flat)


def _order(steps: int, backward: bool) -> Any:
    return range(steps - 1, -1, -1) if backward else range(steps)


def _kept(new: Any, old: Any, mask: Any) -> Any:
    return new if mask is None else torch.where(mask > 0, new, old)


# ---- forward -------------------------------------------------------------------------------------


def forward(
    mode: str, x: Any, h: Any, c: Any, weights: Weights, mask: Any, backward: bool,
    saved: list[Any],
) -> Found:  # fmt: skip
    """Runs over all steps.

    Args:
      mode: kind of cell.
      x: [steps, batch, inputs].
      h, c: states [batch, size]; ``c`` of an LSTM.
      weights: its parameters.
      mask: [steps, batch, 1] or None.
      backward: whether it goes from the last step to the first.
      saved: memory for what backward wants, [steps, batch, size] each, of ``saved_sizes``.
    """
    gates, states = saved[:2]
    # The bias of a GRU's candidate is added to the state's product before the reset gate.
    bias = weights.bw if mode == "gru" else weights.bw + weights.br
    _products(x, weights, bias, gates)
    recurrent = weights.r.t()
    for t in _order(x.shape[0], backward):
        if mode == "lstm":
            new, memory = _lstm_step(gates[t], h, c, recurrent, weights.p)
            c = _kept(memory, c, None if mask is None else mask[t])
            saved[2][t] = c
        elif mode == "gru":
            new = _gru_step(gates[t], h, recurrent, weights.br, saved[2][t])
        else:
            gates[t].addmm_(h, recurrent)
            new = gates[t].relu_() if mode == "rnn_relu" else gates[t].tanh_()
        h = _kept(new, h, None if mask is None else mask[t])
        states[t] = h
    return Found(states if mask is None else states * mask, h, c)


def _lstm_step(gates, h, c, recurrent, projection):
    gates.addmm_(h, recurrent)
    size = c.shape[1]
    gates[:, : 2 * size].sigmoid_()
    gates[:, 2 * size : 3 * size].tanh_()
    gates[:, 3 * size :].sigmoid_()
    i, f, g, o = gates.split(size, 1)
    memory = torch.addcmul(f * c, i, g)
    new = o * memory.tanh()
    return (new if projection is None else new.mm(projection.t())), memory


def _gru_step(gates, h, recurrent, bias, candidate):
    size = h.shape[1]
    product = torch.addmm(bias, h, recurrent)
    candidate.copy_(product[:, 2 * size :])
    gates[:, : 2 * size].add_(product[:, : 2 * size]).sigmoid_()
    r, z, n = gates.split(size, 1)
    n.addcmul_(r, candidate).tanh_()
    return n + z * (h - n)


# ---- backward ------------------------------------------------------------------------------------


def gradients(
    mode: str, x: Any, h: Any, c: Any, weights: Weights, mask: Any, backward: bool,
    saved: list[Any], outputs_grad: Any, h_grad: Any, c_grad: Any,
) -> Gradients:  # fmt: skip
    """The gradients of ``forward``: arguments as there, and the gradients of what it found."""
    steps, batch, _ = x.shape
    gates, states = saved[:2]
    if mask is not None:
        outputs_grad = outputs_grad * mask
    before = _before(states, h, backward)
    memories = _before(saved[2], c, backward) if mode == "lstm" else None
    gates_grad = torch.empty_like(gates)
    # Of a GRU the product of the state has other gradients than that of the input.
    state_grad = torch.empty_like(gates) if mode == "gru" else gates_grad
    projected = [None] * steps
    for t in _order(steps, not backward):
        at = None if mask is None else mask[t]
        new = outputs_grad[t] + (h_grad if at is None else h_grad * at)
        projected[t] = new
        if mode == "lstm":
            if weights.p is not None:
                new = new.mm(weights.p)
            kept = c_grad if at is None else c_grad * at
            through = _lstm_step_grad(gates[t], memories[t], saved[2][t], new, kept, gates_grad[t])
            c_grad = through if at is None else c_grad * (1 - at) + through
            through = None
        elif mode == "gru":
            through = _gru_step_grad(
                gates[t], before[t], saved[2][t], new, gates_grad[t], state_grad[t]
            )
        else:
            _simple_step_grad(mode, gates[t], new, gates_grad[t])
            through = None
        stays = None if at is None else h_grad * (1 - at)
        h_grad = state_grad[t].mm(weights.r)
        for part in (through, stays):
            if part is not None:
                h_grad += part
    flat = gates_grad.view(steps * batch, -1)
    of_state = state_grad.view(steps * batch, -1)
    x_grad, w_grad = _inputs_grad(x, weights, flat)
    p_grad = None
    if weights.p is not None:
        outputs = gates[:, :, 3 * weights.p.shape[1] :] * saved[2].tanh()
        p_grad = torch.stack(projected).flatten(0, 1).t().mm(outputs.flatten(0, 1))
    bias_grad = flat.sum(0)
    found = Weights(
        w_grad, of_state.t().mm(before.flatten(0, 1)), p_grad, bias_grad,
        of_state.sum(0) if mode == "gru" else bias_grad,
    )  # fmt: skip
    return Gradients(x_grad, h_grad, c_grad, found)


def _before(states, first, backward):
    """The state before each step, from those after each."""
    first = first.unsqueeze(0)
    return torch.cat((states[1:], first) if backward else (first, states[:-1]))


def _inputs_grad(x, weights, flat):
    if weights.w is None:
        return flat.view(*x.shape[:2], -1, x.shape[2]).sum(2), None
    rows = x.reshape(-1, x.shape[2])
    return flat.mm(weights.w).view(x.shape), flat.t().mm(rows)


def _lstm_step_grad(gates, c, memory, new, c_grad, out):
    size = c.shape[1]
    i, f, g, o = gates.split(size, 1)
    bent = memory.tanh()
    whole = c_grad + new * o * (1 - bent * bent)
    torch.cat(
        (
            whole * g * i * (1 - i), whole * c * f * (1 - f), whole * i * (1 - g * g),
            new * bent * o * (1 - o),
        ),
        1, out=out,
    )  # fmt: skip
    return whole * f


def _gru_step_grad(gates, h, candidate, new, out, of_state):
    size = h.shape[1]
    r, z, n = gates.split(size, 1)
    dn = new * (1 - z) * (1 - n * n)
    dz = new * (h - n) * z * (1 - z)
    dr = dn * candidate * r * (1 - r)
    torch.cat((dr, dz, dn), 1, out=out)
    torch.cat((dr, dz, dn * r), 1, out=of_state)
    return new * z


def _simple_step_grad(mode, value, new, out):
    factor = (value > 0).to(new.dtype) if mode == "rnn_relu" else 1 - value * value
    torch.mul(new, factor, out=out)
