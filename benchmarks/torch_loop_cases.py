"""Loops in PyTorch eager: a packed ``nn.LSTM``, and Python loops over tensors.

The gates of ``nn.LSTM`` come in the order i, f, j, o where TensorFlow's are i, j, f, o. It adds two
biases: one is trained, the other is held at the forget bias of the cell.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np
import torch
from torch.nn import functional
from torch.nn.utils import rnn

from benchmarks import data
from benchmarks.program import Program


def lstm_module(w: np.ndarray, b: np.ndarray) -> torch.nn.LSTM:
    """The weights of a TF1 cell, [2 units, 4 units] and [4 units], as a module."""

    def gates(value: np.ndarray) -> torch.Tensor:
        i, j, f, o = np.split(value, 4, -1)
        return torch.from_numpy(np.ascontiguousarray(np.concatenate([i, f, j, o], -1).T))

    units = len(b) // 4
    lstm = torch.nn.LSTM(units, units, batch_first=True)
    forget = np.repeat(np.array([0, 0, 1, 0], np.float32), units)
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(gates(w[:units]))
        lstm.weight_hh_l0.copy_(gates(w[units:]))
        lstm.bias_ih_l0.copy_(gates(b))
        lstm.bias_hh_l0.copy_(gates(forget)).requires_grad_(False)
    return lstm


def dynamic_rnn() -> Program:
    parameters, batches = data.dynamic_rnn()
    lstm = lstm_module(parameters["w"], parameters["b"])
    out_w, out_b = (
        torch.from_numpy(parameters[name].copy()).requires_grad_() for name in ("out_w", "out_b")
    )
    trained = [out_w, out_b, *(v for v in lstm.parameters() if v.requires_grad)]
    embedding = torch.from_numpy(parameters["embedding"].copy())
    optimizer = torch.optim.SGD(trained, lr=data.RNN_RATE, fused=True)
    cycle = data.Cycle(
        [
            (words.astype(np.int64), lengths.astype(np.int64), classes.astype(np.int64))
            for words, lengths, classes in batches
        ]
    )

    def step() -> float:
        words, lengths, classes = (torch.from_numpy(array) for array in cycle())
        # The ids are packed, not their rows: padding is never looked up.
        packed = rnn.pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        rows = embedding.index_select(0, packed.data).requires_grad_()
        _, (hidden, _) = lstm(packed._replace(data=rows))
        loss = functional.cross_entropy(torch.addmm(out_b, hidden[0], out_w), classes)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([rows, *trained], data.RNN_CLIP_NORM)
        optimizer.step()
        embedding.index_add_(0, packed.data, rows.grad, alpha=-data.RNN_RATE)
        return loss.item()

    return Program(step)


def loop_empty() -> Program:
    def step() -> int:
        i, limit = torch.tensor(0), torch.tensor(data.EMPTY_ROUNDS)
        with torch.inference_mode():
            while i < limit:
                i = i + 1
        return int(i)

    return Program(step)


def loop_gradient() -> Program:
    parameters, batches = data.loop_gradient()
    weights = parameters["w"]
    cycle = data.Cycle(batches)

    def step() -> float:
        w = torch.from_numpy(weights).requires_grad_()
        start = torch.from_numpy(cycle()[0]).requires_grad_()
        y: Any = start
        for _ in range(data.GRADIENT_ROUNDS):
            y = torch.tanh(y @ w)
        y.square().sum().backward()
        return data.along(w.grad.numpy(), weights)

    return Program(step)


CASES: Dict[str, Callable[[], Program]] = {
    case.__name__: case for case in (dynamic_rnn, loop_empty, loop_gradient)
}
